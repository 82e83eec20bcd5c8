"""Submissions while everything fails: none is lost after its 201, and none is stored twice.

    python -m tests.chaos.submissions --submissions 10000 --clients 50 [--database postgresql]

Clients submit with an Idempotency-Key, every third one with a file, and repeat a request after a
409, 5xx or a lost connection. Meanwhile gunicorn's workers and the whole of gunicorn are killed,
PostgreSQL restarts without a checkpoint, and the disk of PRIVATE_ROOT fills up (a tmpfs; without
the permission to mount one, the folder becomes unwritable instead). Exit code 1: something was
lost, stored twice, or has the wrong state.
"""

import argparse
import os
import random
import signal
import sys
import time
from collections import Counter
from contextlib import ExitStack, suppress
from pathlib import Path

from tests.chaos.applicants import Applicants, create, environment
from tests.chaos.disk import Disk
from tests.chaos.program import parser
from tests.servers import SYSTEM_ENV, Gunicorn, Postgres, folder_with_logs

END = 1500.0  # seconds after which the run is given up


class Run:
    """The processes of a run, and what was done to them."""

    def __init__(self, arguments: argparse.Namespace, path: Path, stack: ExitStack) -> None:
        self.dice = random.Random(16)
        self.done: Counter[str] = Counter()
        self.disk = Disk(path / "disk", stack, megabytes=64 + arguments.submissions // 50)
        self.postgres: Postgres | None = None
        if arguments.database == "postgresql":
            self.postgres = stack.enter_context(Postgres(path / "postgres"))
        self.env = environment(path, self.postgres) | {"PRIVATE_ROOT": str(self.disk.root)}
        self.server = Gunicorn(path / "gunicorn", SYSTEM_ENV | self.env)

    def disturb(self) -> None:
        faults = [self.kill_worker] * 4 + [self.kill_server, self.fill_disk, self.fill_disk]
        self.dice.choice(faults + [self.restart_database] * 2 * bool(self.postgres))()

    def kill_worker(self) -> None:
        if workers := self.server.workers():
            with suppress(ProcessLookupError):
                os.kill(self.dice.choice(workers), signal.SIGKILL)
            self.done["workers killed"] += 1

    def kill_server(self) -> None:
        self.server.crash()
        self.server.start()
        self.done["gunicorn killed"] += 1

    def fill_disk(self) -> None:
        self.disk.fill()
        time.sleep(2)
        self.disk.free()
        self.done["full disks" if self.disk.is_tmpfs else "unwritable folders"] += 1

    def restart_database(self) -> None:
        assert self.postgres
        self.postgres.stop()
        time.sleep(0.5)
        self.postgres.start()
        self.done["database restarts"] += 1


def main() -> int:
    made = parser(__doc__, "database")
    made.add_argument("--submissions", type=int, default=10_000)
    made.add_argument("--clients", type=int, default=50)
    made.add_argument("--seconds-between-faults", type=float, default=4.0)
    arguments = made.parse_args()
    with folder_with_logs() as path, ExitStack() as stack:
        run = Run(arguments, path, stack)
        os.environ.update(run.env)
        return submit(arguments, run, stack)


def submit(arguments: argparse.Namespace, run: Run, stack: ExitStack) -> int:
    site = create()
    from django.db import connection

    from jobsite.serving.revision import read_state
    from tests.chaos.stored_submissions import mistakes

    revision = read_state()
    connection.close()
    stack.enter_context(run.server)
    applicants = Applicants(
        run.server.port, arguments.submissions, arguments.clients, site, within=END
    )
    started_at = time.monotonic()
    applicants.start()
    while not applicants.is_done:
        until = time.monotonic() + arguments.seconds_between_faults * run.dice.uniform(0.5, 1.5)
        while time.monotonic() < until and not applicants.is_done:
            time.sleep(0.1)
        if not applicants.is_done:
            run.disturb()
        print(
            f"{time.monotonic() - started_at:4.0f} s: {len(applicants.references)}", file=sys.stderr
        )
    seconds = time.monotonic() - started_at
    run.server.stop()
    found = [*applicants.mistakes, *mistakes(applicants)]
    if read_state() != revision:
        found.append(f"the revision rose from {revision} to {read_state()}")
    connection.close()
    statuses = {
        status or "connection lost": count for status, count in sorted(applicants.statuses.items())
    }
    print(
        f"{len(applicants.references)} of {arguments.submissions} submissions in {seconds:.0f} s, ",
        end="",
    )
    print(
        f"{arguments.clients} clients, {arguments.database}. Responses: {statuses}. "
        f"{dict(run.done)}."
    )
    print(f"{len(found)} mistakes.", *found[:20], sep="\n")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
