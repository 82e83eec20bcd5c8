"""PostgreSQL with streaming replicas, and Redis."""

import shutil
import signal
import socket
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import Any

import psycopg

from tests.servers.process import IS_ROOT, TIMEOUT, Server, free_port

REDIS = shutil.which("redis-server")
# The folder of PostgreSQL's programs, of the newest version that is installed.
POSTGRES = max(
    Path("/usr/lib/postgresql").glob("*/bin"), key=lambda p: int(p.parent.name), default=None
)


class Redis(Server):
    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        folder.mkdir()
        self.port = free_port()
        self.command = [
            str(REDIS),
            "--port",
            str(self.port),
            "--bind",
            "127.0.0.1",
            "--save",
            "",
            "--appendonly",
            "no",
            "--dir",
            str(folder),
        ]

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    def is_up(self) -> bool:
        with suppress(OSError):
            socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
            return True
        return False


class Postgres(Server):
    """A primary, or a replica of `primary`. Uses the data in `folder` if there are some. Its only
    role is postgres. `options` override the configuration.
    """

    user = "postgres" if IS_ROOT else None
    stop_signal = signal.SIGQUIT  # immediate shutdown, without a checkpoint
    database = "postgres"

    def __init__(self, folder: Path, primary: "Postgres | None" = None, **options: str) -> None:
        super().__init__(folder)
        self.port = free_port()
        if primary:
            self.copy(primary)
        elif not (folder / "PG_VERSION").exists():
            self._make_folder()
            self._run(
                "initdb",
                "-D",
                str(folder),
                "-A",
                "trust",
                "-U",
                "postgres",
                "--no-sync",
                "-E",
                "UTF8",
                "--locale=C",
            )
        local = {
            "port": str(self.port),
            "listen_addresses": "127.0.0.1",
            "unix_socket_directories": "",
        }
        small = {"fsync": "off", "shared_buffers": "16MB", "max_connections": "40"}
        # A backend that starts during an immediate shutdown can miss it, and waits for its client.
        waits = {"wal_retrieve_retry_interval": "200ms", "authentication_timeout": "10s"}
        options = local | small | waits | options
        switches = [word for name, value in options.items() for word in ("-c", f"{name}={value}")]
        self.command = [f"{POSTGRES}/postgres", "-D", str(folder), *switches]

    def copy(self, primary: "Postgres") -> None:
        """Replace the data by a base backup of `primary`. The server must not run."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self._make_folder()
        self._run("pg_basebackup", "-d", primary.url, "-D", str(self.folder), "-R", "-c", "fast")
        self.database = primary.database

    def _make_folder(self) -> None:
        """Make the folder of the data: PostgreSQL's user may have no right to."""
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if self.user:
            shutil.chown(self.folder, self.user, self.user)

    def promote(self) -> None:
        assert self.sql("SELECT pg_promote()"), "not promoted"

    def _run(self, program: str, *words: str) -> None:
        subprocess.run(
            [f"{POSTGRES}/{program}", *words],
            check=True,
            capture_output=True,
            cwd="/",
            timeout=30 * TIMEOUT,
            user=self.user,
            group=self.user,
            extra_groups=[] if self.user else None,
        )

    @property
    def url(self) -> str:
        return f"postgres://postgres@127.0.0.1:{self.port}/{self.database}"

    def sql(self, statement: str) -> Any:
        """Run a statement; return the first value of its first row, if there is one."""
        with psycopg.connect(self.url, autocommit=True, connect_timeout=2) as connection:
            cursor = connection.execute(statement)
            row = cursor.fetchone() if cursor.description else None
            return row and row[0]

    def is_up(self) -> bool:
        with suppress(psycopg.Error):
            return bool(self.sql("SELECT 1"))
        return False
