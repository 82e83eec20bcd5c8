"""Processes that tests start: the base class of all servers, ports, folders and waiting."""

import os
import random
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Self

ROOT = Path(__file__).resolve().parent.parent.parent
IS_ROOT = os.getuid() == 0  # PostgreSQL refuses to run as root
# The variables that a server inherits from this process. Others, such as DATABASE_URL, must not
# leak in.
_INHERITED = ("PATH", "HOME", "LANG", "TMPDIR", "COVERAGE_PROCESS_START")
SYSTEM_ENV = {name: os.environ[name] for name in _INHERITED if name in os.environ}
TIMEOUT = 60  # seconds for an action that takes less than one on an idle machine


def until(condition: Callable[[], Any], within: float | None = None) -> float:
    """Wait for `condition()` to hold, `within` seconds (TIMEOUT).
    Return how many seconds it took.
    """
    start, within = time.monotonic(), TIMEOUT if within is None else within
    while not condition():
        assert time.monotonic() - start < within, f"condition not met within {within} s"
        time.sleep(0.02)
    return time.monotonic() - start


def free_port() -> int:
    """Return an unused loopback port below the ephemeral range. It is random, because other test
    processes search at the same time.
    """
    while True:
        port = random.randrange(20_000, 32_000)
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


def children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


class Server:
    """A process and its children. As a context manager, it runs for as long as the block."""

    command: list[str]
    env: dict[str, str] | None = None  # None: the environment of this process
    user: str | None = None
    cwd: str | Path = "/"
    stop_signal = signal.SIGTERM

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.log = Path(f"{folder}.log")
        self.process: subprocess.Popen | None = None

    def __enter__(self) -> Self:
        try:
            self.start()
        except BaseException:
            self.crash()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def is_up(self) -> bool:
        raise NotImplementedError

    def start(self) -> None:
        """Start the process and wait for it to respond. Retries: a process that was killed just now
        may still hold its port or its lock.
        """
        deadline = time.monotonic() + TIMEOUT
        while True:
            with self.log.open("ab") as log:
                self.process = subprocess.Popen(
                    self.command,
                    env=self.env,
                    stdout=log,
                    stderr=log,
                    cwd=self.cwd,
                    user=self.user,
                    group=self.user,
                    extra_groups=[] if self.user else None,
                    start_new_session=True,
                )
            while self.process.poll() is None:
                if self.is_up():
                    return
                assert time.monotonic() < deadline, self.log.read_text()[-2000:]
                time.sleep(0.05)
            assert time.monotonic() < deadline, self.log.read_text()[-2000:]

    def pids(self) -> list[int]:
        """The process, then its children."""
        assert self.process
        return [self.process.pid, *children(self.process.pid)]

    def _signal(self, number: int) -> None:
        assert self.process
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGSTOP)  # first, so that it cannot start new children
            for pid in reversed(self.pids()):
                with suppress(ProcessLookupError):
                    os.kill(pid, number)

    def freeze(self) -> None:
        """Simulate a host that hangs: connections stay open and get no response."""
        self._signal(signal.SIGSTOP)

    def thaw(self) -> None:
        self._signal(signal.SIGCONT)

    def crash(self) -> None:
        if self.process:
            self._signal(signal.SIGKILL)
            self.process.wait()

    def stop(self) -> None:
        if self.process:
            self.thaw()
            self.process.send_signal(self.stop_signal)
            self.process.wait(timeout=TIMEOUT)


def folder() -> Path:
    """Create a folder that PostgreSQL's user may write to."""
    path = Path(tempfile.mkdtemp(prefix="servers-"))
    if IS_ROOT:
        with suppress(LookupError):
            shutil.chown(path, "postgres")
    path.chmod(0o755)
    return path


@contextmanager
def folder_with_logs(logs: Path | None = None) -> Iterator[Path]:
    """Create such a folder and delete it at the end of the block; its logs are copied to `logs`."""
    path = folder()
    try:
        yield path
    finally:
        if logs:
            logs.mkdir(exist_ok=True)
            for log in path.glob("*.log"):
                shutil.copy(log, logs)
        shutil.rmtree(path, ignore_errors=True)
