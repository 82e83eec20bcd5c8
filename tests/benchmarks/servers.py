"""The processes of a benchmark, each ended by whoever started it, and what they cost."""

import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.servers import PLAIN, POSTGRES, ROOT, Postgres, free_port

TICKS = os.sysconf("SC_CLK_TCK")  # of /proc, a second


def get(url: str, headers: dict[str, str] | None = None) -> tuple[int, dict[str, str], bytes]:
    """Return status, headers by lower-case name and body of the answer, whatever the status."""
    asked = urllib.request.Request(url, headers=headers or {})
    try:
        answer = urllib.request.urlopen(asked, timeout=60)
    except urllib.error.HTTPError as error:
        answer = error
    with answer:
        return answer.status, {k.lower(): v for k, v in answer.headers.items()}, answer.read()


@contextmanager
def running(*command: str | Path, env: dict[str, str], log: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A process in the project's folder until the block ends; what it says goes to `log`."""
    with log.open("wb") as out:
        process = subprocess.Popen(
            [*map(str, command)], cwd=ROOT, env=PLAIN | env, stdout=out, stderr=subprocess.STDOUT
        )
        try:
            yield process
        finally:
            process.terminate()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


class App:
    """A running application: `url` without a slash at the end, and the id of its first process."""

    def __init__(self, port: int, pid: int) -> None:
        self.url, self.pid = f"http://127.0.0.1:{port}", pid

    def peak_mib(self) -> float:
        """MiB of memory that its largest worker ever had."""
        lines = (Path(f"/proc/{pid}/status").read_text().splitlines() for pid in children(self.pid))
        return max(int(line.split()[1]) for own in lines for line in own if line.startswith("VmHWM")) / 1024


@contextmanager
def serving(name: str, *command: str | Path, env: dict[str, str], folder: Path, path: str) -> Iterator[App]:
    """An application for as long as the block runs, from when it answers `path`. "PORT" in `command`
    stands for its port."""
    port, log = free_port(), folder / f"{name}.log"
    filled = [str(part).replace("PORT", str(port)) for part in command]
    with running(*filled, env=env, log=log) as process:
        app, deadline = App(port, process.pid), time.monotonic() + 60
        while True:
            try:
                status = get(app.url + path)[0]
            except OSError:
                status = 0
            if status == 200:
                break
            if process.poll() is not None or time.monotonic() > deadline:
                sys.exit(f"{name} does not answer {path} ({status}): {log.read_text()[-3000:]}")
            time.sleep(0.1)
        yield app


def gunicorn(module: str) -> list[str]:
    """The command that serves `module`, the same for all."""
    options = ["-w", "2", "-b", "127.0.0.1:PORT", "--timeout", "120", "--no-control-socket"]
    return [sys.executable, "-m", "gunicorn", *options, module]


@contextmanager
def postgresql(folder: Path) -> Iterator[Callable[[str], str]]:
    """The PostgreSQL whose data is in `folder`, made when it is missing; yields what gives the URL of a
    database of it, through its Unix socket (docs/operations/install.md)."""
    if not POSTGRES:
        sys.exit("PostgreSQL is missing: apt-get install postgresql.")
    server = Postgres(folder, shared_buffers="512MB", max_wal_size="4GB", unix_socket_directories=str(folder))
    server.end = signal.SIGINT  # in order, so that the data can be used again
    server.start()
    try:
        yield lambda name: f"postgres://postgres@/{name}?host={folder}&port={server.port}"
    finally:
        server.stop()


def children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def cpu_seconds(pid: int | None) -> float:
    """Seconds of processor time of a process, those of its children that ended, and its living ones."""
    if pid is None:
        return 0

    def ticks(one: int, fields: slice) -> int:
        try:
            stat = Path(f"/proc/{one}/stat").read_text()
        except OSError:  # it ended just now
            return 0
        return sum(map(int, stat.rpartition(")")[2].split()[fields]))

    own, with_ended = slice(11, 13), slice(11, 15)
    return (ticks(pid, with_ended) + sum(ticks(child, own) for child in children(pid))) / TICKS
