"""A second instance of this service: its own processes and its own database."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.servers.process import ROOT
from tests.servers.template import copy_template
from tests.servers.web import Gunicorn


class Instance:
    """An instance with a SQLite file in `folder`."""

    def __init__(self, folder: Path, **env: str) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        own = {"DATABASE_URL": f"sqlite:///{folder / 'db.sqlite3'}", "ALLOWED_HOSTS": "127.0.0.1"}
        own |= {"SECRET_KEY": "only-for-this-test-" * 4, "RATE_LIMIT": "off"}
        self.env = {**os.environ, **own, "DJANGO_SETTINGS_MODULE": "jobsite.settings", **env}
        copy_template(folder / "db.sqlite3")

    def manage(
        self, *words: str, check: bool = True, **kwargs: object
    ) -> subprocess.CompletedProcess:
        """Run manage.py with `words`; its output is text."""
        done = subprocess.run(
            [sys.executable, "manage.py", *words],
            cwd=ROOT,
            env=self.env,
            capture_output=True,
            text=True,
            timeout=120,
            **kwargs,
        )
        if check:
            assert done.returncode == 0, done.stderr
        return done

    @contextmanager
    def serve(self) -> Iterator[str]:
        """Serve it with one worker of gunicorn; yield its base URL."""
        env = self.env | {"WEB_CONCURRENCY": "1"}
        with Gunicorn(self.folder / "gunicorn", env, "--log-level", "warning") as server:
            yield server.url
