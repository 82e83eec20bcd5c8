"""The processes of a benchmark and their CPU time."""

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from types import MappingProxyType
from typing import Any

from psycopg.errors import DuplicateDatabase

from tests.chaos.program import parser
from tests.servers import POSTGRES, ROOT, SYSTEM_ENV, Postgres, Server, children, get

TICKS = os.sysconf("SC_CLK_TCK")  # of /proc, a second
ENV = {
    "SECRET_KEY": "only-for-benchmark-" * 4,
    "ALLOWED_HOSTS": "127.0.0.1,testserver",
    "RATE_LIMIT": "off",
    "LOG_REQUESTS": "off",  # nobody else has a log either
    "DJANGO_SETTINGS_MODULE": "jobsite.settings",
}

Sample = dict[str, float]


def options_of(
    doc: str | None, *, vacancies: int, rounds: int, seconds: int, keeps: bool = True
) -> argparse.ArgumentParser:
    """Return a parser with the options of every benchmark that uses wrk, and their defaults.
    `keeps`: the database is kept for the next run.
    """
    if not shutil.which("wrk"):
        sys.exit("wrk is missing: apt-get install wrk.")
    made = parser(doc)
    made.add_argument("--vacancies", type=int, default=vacancies, metavar="N")
    made.add_argument("--rounds", type=int, default=rounds, metavar="N")
    made.add_argument(
        "--seconds", type=int, default=seconds, metavar="N", help="of each measurement"
    )
    if keeps:
        made.add_argument(
            "--folder",
            type=Path,
            default=Path(tempfile.gettempdir(), "bench"),
            help="of databases, which PostgreSQL's user can write to",
        )
    return made


class Program(Server):
    """A program in the project's folder that needs no time to start. Its output goes to `log`."""

    cwd = ROOT

    def __init__(self, folder: Path, *command: str | Path, env: Mapping[str, str] = ENV) -> None:
        super().__init__(folder)
        self.command, self.env = [*map(str, command)], SYSTEM_ENV | dict(env)

    def is_up(self) -> bool:
        return True


def run_script(env: Mapping[str, str], *words: str) -> None:
    """Run Python with `words` in the project's folder."""
    command = [sys.executable, *words]
    if subprocess.run(
        command, cwd=ROOT, env=SYSTEM_ENV | dict(env), stdout=subprocess.DEVNULL
    ).returncode:
        sys.exit(f"{' '.join(words)} failed.")


def gunicorn(module: str) -> list[str]:
    """Return the command that serves `module`, with the same options for all applications."""
    options = ["-w", "2", "-b", "127.0.0.1:PORT", "--timeout", "120", "--no-control-socket"]
    return [sys.executable, "-m", "gunicorn", *options, module]


@contextmanager
def postgresql(folder: Path, name: str) -> Iterator[tuple[str, int]]:
    """Run PostgreSQL with the data in `folder`; both it and the database `name` are created if
    missing. Yield the URL, by Unix socket as on a machine of one's own
    (docs/operations/install.md), and the process id.
    """
    if not POSTGRES:
        sys.exit("PostgreSQL is missing: apt-get install postgresql.")
    folder = folder.resolve()
    server = Postgres(
        folder, shared_buffers="512MB", max_wal_size="4GB", unix_socket_directories=str(folder)
    )
    # Fast shutdown with a checkpoint, so that the data can be used again.
    server.stop_signal = signal.SIGINT
    with server:
        with suppress(DuplicateDatabase):
            server.sql(f"CREATE DATABASE {name}")
        yield f"postgres://postgres@/{name}?host={folder}&port={server.port}", server.pids()[0]


def cpu_seconds(pid: int | None) -> float:
    """CPU seconds of a process, of its finished children and of its running ones."""
    if pid is None:
        return 0

    def ticks(one: int, fields: slice) -> int:
        with suppress(OSError):  # it has just ended
            stat = Path(f"/proc/{one}/stat").read_text()
            return sum(map(int, stat.rpartition(")")[2].split()[fields]))
        return 0

    own, with_ended = slice(11, 13), slice(11, 15)
    return (ticks(pid, with_ended) + sum(ticks(child, own) for child in children(pid))) / TICKS


def wrk(
    app: Any,
    database_pid: int | None,
    seconds: int,
    paths: Path,
    start: int = 0,
    status: int = 0,
    expected: Path | None = None,
    headers: Mapping[str, str] = MappingProxyType({}),
) -> Sample:
    """Request the paths in the file `paths`, one a line, from number `start` on. Return what
    walk.lua prints, counts, seconds, bytes, milliseconds, and the seconds of CPU, `cpu_app` and
    `cpu_database`.
    """
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
        get(app.port, "/none")  # behind what wrk left unanswered: the next one finds it at rest
    return found | {"requests": found["requests"] or 1}  # none within the time: slower than that


def per_request(found: Sample) -> Sample:
    """Return requests per second, and ms of CPU per request:
    of both, of the application, of the database.
    """
    cpu = {name: 1000 * found[name] / found["requests"] for name in ("cpu_app", "cpu_database")}
    return {"requests": found["requests"] / found["seconds"], "cpu": sum(cpu.values()), **cpu}
