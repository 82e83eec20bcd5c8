"""The processes of a benchmark and their CPU time."""

import json
import os
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType

from tests.servers import POSTGRES, ROOT, SYSTEM_ENV, Application, Postgres, children

TICKS = os.sysconf("SC_CLK_TCK")  # of /proc, a second


def get(url: str, headers: dict[str, str] | None = None) -> tuple[int, dict[str, str], bytes]:
    """Return status, headers by lower-case name and body, whatever the status."""
    requested = urllib.request.Request(url, headers=headers or {})
    try:
        answer = urllib.request.urlopen(requested, timeout=60)
    except urllib.error.HTTPError as error:
        answer = error
    with answer:
        return answer.status, {k.lower(): v for k, v in answer.headers.items()}, answer.read()


@contextmanager
def running(*command: str | Path, env: dict[str, str], log: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Run a process in the project's folder until the block ends; its output goes to `log`."""
    with log.open("wb") as out:
        process = subprocess.Popen(
            [*map(str, command)], cwd=ROOT, env=SYSTEM_ENV | env, stdout=out, stderr=subprocess.STDOUT
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


def gunicorn(module: str) -> list[str]:
    """Return the command that serves `module`, with the same options for all applications."""
    options = ["-w", "2", "-b", "127.0.0.1:PORT", "--timeout", "120", "--no-control-socket"]
    return [sys.executable, "-m", "gunicorn", *options, module]


@contextmanager
def postgresql(folder: Path) -> Iterator[Callable[[str], str]]:
    """Run PostgreSQL with the data in `folder`, created if missing. Yield a function from the name of a
    database to its URL, by Unix socket as on a machine of one's own (docs/operations/install.md)."""
    if not POSTGRES:
        sys.exit("PostgreSQL is missing: apt-get install postgresql.")
    server = Postgres(folder, shared_buffers="512MB", max_wal_size="4GB", unix_socket_directories=str(folder))
    server.stop_signal = signal.SIGINT  # fast shutdown with a checkpoint, so that the data can be used again
    with server:
        yield lambda name: f"postgres://postgres@/{name}?host={folder}&port={server.port}"


def cpu_seconds(pid: int | None) -> float:
    """CPU seconds of a process, of its finished children and of its running ones."""
    if pid is None:
        return 0

    def ticks(one: int, fields: slice) -> int:
        try:
            stat = Path(f"/proc/{one}/stat").read_text()
        except OSError:  # it has just ended
            return 0
        return sum(map(int, stat.rpartition(")")[2].split()[fields]))

    own, with_ended = slice(11, 13), slice(11, 15)
    return (ticks(pid, with_ended) + sum(ticks(child, own) for child in children(pid))) / TICKS


def wrk(
    app: Application,
    database_pid: int | None,
    seconds: int,
    paths: Path,
    start: int = 0,
    status: int = 0,
    expected: Path | None = None,
    headers: Mapping[str, str] = MappingProxyType({}),
) -> dict[str, float]:
    """Request the paths in the file `paths`, one a line, from number `start` on. Return what walk.lua prints,
    counts, seconds, bytes, milliseconds, and the seconds of CPU, `cpu_app` and `cpu_database`."""
    command = ["wrk", "-t2", "-c8", f"-d{seconds}s", "--timeout", "60s"]
    command += [part for name, value in headers.items() for part in ("-H", f"{name}: {value}")]
    command += ["-s", str(Path(__file__).with_name("walk.lua")), app.url, "--"]
    command += [str(part) for part in (paths, start, status, expected) if part is not None]
    pids = {"cpu_app": app.pids()[0], "cpu_database": database_pid}
    before = {name: cpu_seconds(pid) for name, pid in pids.items()}
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found = json.loads(done.stdout.splitlines()[-1])
    found |= {name: cpu_seconds(pid) - before[name] for name, pid in pids.items()}
    for _ in range(2):
        get(app.url + "/none")  # behind what wrk left unanswered: the next one finds it at rest
    return found | {"requests": found["requests"] or 1}  # none within the time: slower than that
