"""Measure submissions of application forms:

    python -m tests.benchmarks.submissions [--database postgresql] [--seconds 10]

Prints latency, CPU per submission (application + database) and throughput, without files and with 2
MB, and the CPU of a warm list while submissions arrive, compared with none. Lists are served by a
second gunicorn on the same database, so that its CPU is known. PostgreSQL syncs its writes.
"""

import itertools
import os
import statistics
import threading
import time
from contextlib import ExitStack, closing
from functools import partial
from http.client import HTTPConnection
from typing import Any

from tests.benchmarks.servers import cpu_seconds, wrk
from tests.chaos.applicants import PDF, Site, create, environment
from tests.chaos.program import parser, table
from tests.servers import SYSTEM_ENV, Gunicorn, Postgres, folder_with_logs

FILE = PDF + os.urandom(2 * 1024 * 1024 - len(PDF))
HEAD = ("submissions", "p50 / p95 ms", "CPU ms, app + database", "per second")
numbers = itertools.count()


class Measured:
    """Submissions for some seconds by `clients` clients: `latencies` in seconds, CPU in seconds."""

    def __init__(
        self, port: int, pids: dict[str, int | None], seconds: float, clients: int, make: Any
    ) -> None:
        self.latencies: list[float] = []
        self.make, self.port = make, port
        before = {name: cpu_seconds(pid) for name, pid in pids.items()}
        started_at = time.monotonic()
        self.end = started_at + seconds
        threads = [threading.Thread(target=self.run) for _ in range(clients)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.seconds = time.monotonic() - started_at
        self.cpu = {name: cpu_seconds(pid) - before[name] for name, pid in pids.items()}

    def run(self) -> None:
        with closing(HTTPConnection("127.0.0.1", self.port, timeout=60)) as link:
            while time.monotonic() < self.end:
                path, body, kind = self.make()
                started_at = time.monotonic()
                key = f"key-{started_at}"
                link.request("POST", path, body, {"Content-Type": kind, "Idempotency-Key": key})
                response = link.getresponse()
                content = response.read()
                assert response.status == 201, (response.status, content)
                self.latencies.append(time.monotonic() - started_at)

    def cells(self) -> list[str]:
        count, hundredths = len(self.latencies), statistics.quantiles(self.latencies, n=100)
        cpu = " + ".join(f"{1000 * each / count:.1f}" for each in self.cpu.values())
        return [
            f"{1000 * hundredths[49]:.0f} / {1000 * hundredths[94]:.0f}",
            cpu,
            f"{count / self.seconds:.0f}",
        ]


def make(site: Site, is_plain: bool = True) -> tuple[str, bytes, str]:
    """Return the path, body and content type of another applicant's request."""
    application = site.application(3 * next(numbers) + is_plain)  # every third one has a file
    body, kind = application.body()
    return application.path, body if is_plain else body.replace(application.content, FILE), kind


def main() -> None:
    made = parser(__doc__, "database")
    made.add_argument("--seconds", type=float, default=10, help="of each measurement")
    options = made.parse_args()
    with folder_with_logs() as path, ExitStack() as stack:
        database = None
        if options.database == "postgresql":
            database = stack.enter_context(
                Postgres(path / "postgres", fsync="on", shared_buffers="256MB")
            )
        os.environ |= (env := environment(path, database))
        site = create()
        servers = [Gunicorn(path / name, SYSTEM_ENV | env) for name in ("submitted", "listed")]
        submitted, listed = map(stack.enter_context, servers)
        pids: dict[str, int | None] = {"app": submitted.pids()[0]}
        pids |= {"database": database.pids()[0]} if database else {}

        def submissions(clients: int, seconds: float, is_plain: bool = True) -> Measured:
            return Measured(submitted.port, pids, seconds, clients, partial(make, site, is_plain))

        submissions(4, 2)  # so that every worker is warm
        print(f"{options.database}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
        kinds = (("", True), (", 2 MB of files", False))
        print(
            table(
                HEAD,
                [
                    [f"{name}{more}", *submissions(clients, options.seconds, is_plain).cells()]
                    for more, is_plain in kinds
                    for name, clients in (("one client", 1), ("8 clients", 8))
                ],
            )
        )
        paths = path / "paths"
        paths.write_text("/v1/vacancies")
        cpu: dict[str, list[float]] = {"none": [], "arriving": []}
        runs: list[Measured] = []

        def lists() -> float:
            found = wrk(listed, None, max(1, int(options.seconds / 3)), paths)
            return 1000 * found["cpu_app"] / found["requests"]

        lists()
        for _ in range(3):
            cpu["none"].append(lists())
            thread = threading.Thread(
                target=lambda: runs.append(submissions(2, options.seconds / 3))
            )
            thread.start()
            cpu["arriving"].append(lists())
            thread.join()
    none, arriving = (statistics.median(cpu[name]) for name in ("none", "arriving"))
    rate = sum(len(run.latencies) for run in runs) / options.seconds
    print(
        f"Warm list: {none:.3f} ms of CPU; {arriving:.3f} while {rate:.0f} submissions/s arrive: "
        f"{none / arriving:.2f} of the speed."
    )


if __name__ == "__main__":
    main()
