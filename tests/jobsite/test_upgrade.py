"""From an older schema to the newest."""

import os
import subprocess
import sys


def test_tables_that_triggers_name_can_be_made_anew(tmp_path):
    """As migrations do on SQLite; what is listed is right afterwards."""
    environment = os.environ | {"DATABASE_URL": f"sqlite:///{tmp_path / 'db.sqlite3'}"}

    def manage(*arguments: str) -> str:
        command = [sys.executable, "manage.py", *arguments]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    manage("migrate", "-v0")
    manage("generate_vacancies", "3")
    manage("migrate", "-v0", "jobsite", "0001")
    manage("migrate", "-v0")
    said = manage("shell", "-c", "from vacancies.models import Listing; print(Listing.objects.count())")
    assert said.split()[-1] == "3"
