"""A migrated SQLite file that tests copy:
`migrate` takes three seconds, a copy some milliseconds.
"""

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import time
from functools import cache
from pathlib import Path

import django
from django.conf import settings

from tests.servers.process import ROOT

FOLDER = ROOT / ".pytest_cache" / "databases"
DAY = 24 * 60 * 60


@cache
def _key() -> str:
    """A digest of what determines the content: the applications, and all of their code."""
    found = hashlib.sha256(
        f"{django.VERSION} {sys.version_info} {settings.INSTALLED_APPS}".encode()
    )
    for package in ("jobsite", "vacancies", "applications", "forms_structure"):
        for path in sorted((ROOT / package).rglob("*")):
            if path.suffix in (".py", ".sql"):
                found.update(f"{path}".encode() + path.read_bytes())
    return found.hexdigest()[:16]


def copy_template(target: Path) -> None:
    """Copy the migrated database to `target`.
    The first process after a change of the code creates it.
    """
    FOLDER.mkdir(parents=True, exist_ok=True)
    template = FOLDER / f"{_key()}.sqlite3"
    with (FOLDER / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not template.exists():
            for path in FOLDER.glob("*.sqlite3*"):
                if path.stat().st_mtime < time.time() - DAY:
                    path.unlink()
            made = template.with_suffix(".new")
            made.unlink(missing_ok=True)
            subprocess.run(
                [sys.executable, "manage.py", "migrate", "-v0"],
                cwd=ROOT,
                env=os.environ | {"DATABASE_URL": f"sqlite:///{made}"},
                check=True,
            )
            made.rename(template)
        shutil.copy(template, target)
