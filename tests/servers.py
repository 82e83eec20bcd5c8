"""Real servers of the tests' own, to be killed and frozen: PostgreSQL with streaming replicas, Redis."""

import os
import random
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import psycopg

REDIS = shutil.which("redis-server")
POSTGRES = max(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda p: int(p.parent.name), default=None)
# PostgreSQL refuses to run as root.
_ROOT = os.getuid() == 0
PATIENCE = 20  # seconds for something that takes a moment, on a machine that does much else


def until(condition: Callable[[], Any], within: float = PATIENCE) -> float:
    """Wait until `condition()`; return how many seconds it took."""
    start = time.monotonic()
    while not condition():
        assert time.monotonic() - start < within, f"not so within {within} s"
        time.sleep(0.02)
    return time.monotonic() - start


def free_port() -> int:
    """A port of loopback below the range that the system hands to clients; by chance, as others look for
    one too."""
    while True:
        port = random.randrange(20_000, 32_000)
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


class Server:
    """A process that is ours, with its children."""

    command: list[str]
    user: str | None = None
    end = signal.SIGTERM

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.process: subprocess.Popen | None = None

    def is_up(self) -> bool:
        raise NotImplementedError

    def start(self) -> None:
        """Start it, again and again: what was killed a moment ago may still hold its port or its lock."""
        deadline = time.monotonic() + PATIENCE
        while True:
            with open(f"{self.folder}.log", "ab") as log:
                self.process = subprocess.Popen(
                    self.command, stdout=log, stderr=log, cwd="/", user=self.user, group=self.user,
                    extra_groups=[] if self.user else None, start_new_session=True,
                )  # fmt: skip
            while self.process.poll() is None:
                if self.is_up():
                    return
                assert time.monotonic() < deadline, Path(f"{self.folder}.log").read_text()[-2000:]
                time.sleep(0.05)
            assert time.monotonic() < deadline, Path(f"{self.folder}.log").read_text()[-2000:]

    def _pids(self) -> list[int]:
        """The process, then its children: they do not come back in between once it stands still."""
        assert self.process
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        return [self.process.pid, *map(int, children.read_text().split())]

    def _signal(self, number: int) -> None:
        assert self.process
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGSTOP)
            for pid in reversed(self._pids()):
                with suppress(ProcessLookupError):
                    os.kill(pid, number)

    def freeze(self) -> None:
        """Like a host that hangs: connections stay, nobody answers."""
        self._signal(signal.SIGSTOP)

    def thaw(self) -> None:
        self._signal(signal.SIGCONT)

    def crash(self) -> None:
        self._signal(signal.SIGKILL)
        assert self.process
        self.process.wait()

    def stop(self) -> None:
        if self.process:
            self.thaw()
            self.process.send_signal(self.end)
            self.process.wait(timeout=PATIENCE)


class Redis(Server):
    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        folder.mkdir()
        self.port = free_port()
        self.command = [
            str(REDIS), "--port", str(self.port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no",
            "--dir", str(folder),
        ]  # fmt: skip

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    def is_up(self) -> bool:
        with suppress(OSError):
            socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
            return True
        return False


class Postgres(Server):
    """A primary, or with one a replica of it; its only role is postgres, its only database too."""

    user = "postgres" if _ROOT else None
    end = signal.SIGQUIT  # at once, without a checkpoint

    def __init__(self, folder: Path, primary: "Postgres | None" = None) -> None:
        super().__init__(folder)
        self.port = free_port()
        if primary:
            self._run("pg_basebackup", "-d", primary.url, "-D", str(folder), "-R", "-c", "fast")
        else:
            self._run("initdb", "-D", str(folder), "-A", "trust", "-U", "postgres", "--no-sync", "-E", "UTF8",
                      "--locale=C")  # fmt: skip
        options = {
            "port": self.port,
            "listen_addresses": "127.0.0.1",
            "unix_socket_directories": "",
            "fsync": "off",
            "shared_buffers": "16MB",
            "max_connections": 40,
            "wal_retrieve_retry_interval": "200ms",
        }
        switches = [word for name, value in options.items() for word in ("-c", f"{name}={value}")]
        self.command = [f"{POSTGRES}/postgres", "-D", str(folder), *switches]

    def _run(self, program: str, *words: str) -> None:
        subprocess.run(
            [f"{POSTGRES}/{program}", *words], check=True, capture_output=True, cwd="/", timeout=60,
            user=self.user, group=self.user, extra_groups=[] if self.user else None,
        )  # fmt: skip

    @property
    def url(self) -> str:
        return f"postgres://postgres@127.0.0.1:{self.port}/postgres"

    def sql(self, statement: str) -> Any:
        """Run it; return the first value of its first row, if there is one."""
        with psycopg.connect(self.url, autocommit=True, connect_timeout=2) as connection:
            cursor = connection.execute(statement)
            row = cursor.fetchone() if cursor.description else None
            return row and row[0]

    def is_up(self) -> bool:
        with suppress(psycopg.Error):
            return bool(self.sql("SELECT 1"))
        return False


def folder() -> Path:
    """A folder that PostgreSQL's user may write to."""
    path = Path(tempfile.mkdtemp(prefix="servers-"))
    if _ROOT:
        with suppress(LookupError):
            shutil.chown(path, "postgres")
    path.chmod(0o755)
    return path
