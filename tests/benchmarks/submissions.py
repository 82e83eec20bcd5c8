"""Measure submissions of application forms:

    python -m tests.benchmarks.submissions [--database postgresql] [--seconds 10]

Prints latency, CPU per submission (application + database) and throughput, without files and with 2 MB, and
the CPU of a warm list while submissions arrive, compared with none. Lists are served by a second gunicorn on
the same database, so that its CPU is known. PostgreSQL syncs its writes. `--profile` prints where one process
spends its time.
"""

import argparse
import cProfile
import itertools
import os
import pstats
import statistics
import threading
import time
from contextlib import ExitStack, closing
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

from tests.benchmarks.servers import cpu_seconds, wrk
from tests.chaos.applicants import PDF, Application
from tests.servers import SYSTEM_ENV, Gunicorn, Postgres, folder_with_logs

VACANCIES = 100
FILE = PDF + os.urandom(2 * 1024 * 1024 - len(PDF))
PROFILED = 300
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
        count = len(self.latencies)
        hundredths = statistics.quantiles(self.latencies, n=100)
        cpu = " + ".join(f"{1000 * each / count:.1f}" for each in self.cpu.values())
        return [
            f"{1000 * hundredths[49]:.0f} / {1000 * hundredths[94]:.0f}",
            cpu,
            f"{count / self.seconds:.0f}",
        ]


class Maker:
    """Makes requests of applicants: (path, body, content type)."""

    def __init__(self, vacancies: list[int], version: str) -> None:
        self.vacancies, self.version = vacancies, version

    def _application(self, number: int) -> Application:
        return Application(number, self.vacancies[number % len(self.vacancies)], self.version)

    def plain(self) -> tuple[str, bytes, str]:
        application = self._application(3 * next(numbers) + 1)  # one without a file
        return (f"/v1/vacancies/{application.vacancy}/applications", *application.body())

    def with_file(self) -> tuple[str, bytes, str]:
        application = self._application(3 * next(numbers))
        body, kind = application.body()
        body = body.replace(application.content, FILE)
        return f"/v1/vacancies/{application.vacancy}/applications", body, kind


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--database", choices=("sqlite", "postgresql"), default="sqlite")
    parser.add_argument("--seconds", type=float, default=10, help="of each measurement")
    parser.add_argument("--profile", action="store_true")
    arguments = parser.parse_args()
    with folder_with_logs() as path, ExitStack() as stack:
        url, database = f"sqlite:///{path}/submissions.sqlite3", None
        if arguments.database == "postgresql":
            database = stack.enter_context(Postgres(path / "postgres", fsync="on", shared_buffers="256MB"))
            url = database.url
        env = {
            "DATABASE_URL": url,
            "PRIVATE_ROOT": str(path / "private"),
            "STATIC_ROOT": str(path / "static"),
            "SECRET_KEY": "only-for-benchmark-" * 4,
            "ALLOWED_HOSTS": "127.0.0.1,testserver",
            "RATE_LIMIT": "off",
            "APPLY_PROOF": "off",
            "LOG_REQUESTS": "off",
            "DJANGO_SETTINGS_MODULE": "jobsite.settings",
        }
        os.environ.update(env)
        maker = prepare()
        if arguments.profile:
            profile(maker)
            return
        submitted, listed = (
            stack.enter_context(Gunicorn(path / name, SYSTEM_ENV | env)) for name in ("submitted", "listed")
        )
        measure(arguments, path, maker, submitted, listed, database)


def prepare() -> Maker:
    """Create vacancies in an empty database."""
    import django

    django.setup()
    from django.core.management import call_command
    from django.db import connection

    from tests.applications.submissions import sending
    from vacancies.models import Vacancy

    call_command("migrate", verbosity=0)
    form = sending.make_form()
    vacancies = [sending.make_open_vacancy(form).pk for _ in range(VACANCIES)]
    version = sending.served_version(Vacancy.objects.with_form().get(pk=vacancies[0]))
    connection.close()
    return Maker(vacancies, version)


def measure(
    arguments: argparse.Namespace,
    path: Path,
    maker: Maker,
    submitted: Gunicorn,
    listed: Gunicorn,
    database: Postgres | None,
) -> None:
    database_pid = database.pids()[0] if database else None
    pids: dict[str, int | None] = {"app": submitted.pids()[0]}
    pids |= {"database": database_pid} if database else {}

    def submissions(make: Any, clients: int, seconds: float = arguments.seconds) -> Measured:
        return Measured(submitted.port, pids, seconds, clients, make)

    submissions(maker.plain, 4, 2)  # so that every worker is warm
    print(f"{arguments.database}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    print("| submissions | p50 / p95 ms | CPU ms, app + database | per second |\n|---|--:|--:|--:|")
    for name, make, clients in (
        ("one client", maker.plain, 1),
        ("8 clients", maker.plain, 8),
        ("one client, 2 MB of files", maker.with_file, 1),
        ("8 clients, 2 MB of files", maker.with_file, 8),
    ):
        print(f"| {name} | {' | '.join(submissions(make, clients).cells())} |", flush=True)
    paths = path / "paths"
    paths.write_text("/v1/vacancies")
    cpu: dict[str, list[float]] = {"none": [], "arriving": []}
    count = 0

    def lists() -> float:
        found = wrk(listed, None, max(1, int(arguments.seconds / 3)), paths)  # type: ignore[arg-type]
        return 1000 * found["cpu_app"] / found["requests"]

    lists()
    for _round in range(3):
        cpu["none"].append(lists())
        runs: list[Measured] = []
        thread = threading.Thread(
            target=lambda runs=runs: runs.append(submissions(maker.plain, 2, arguments.seconds / 3))
        )
        thread.start()
        cpu["arriving"].append(lists())
        thread.join()
        count += len(runs[0].latencies) if runs else 0
    none, arriving = (statistics.median(cpu[name]) for name in ("none", "arriving"))
    rate = count / arguments.seconds
    print(f"Warm list: {none:.3f} ms of CPU; {arriving:.3f} while {rate:.0f} submissions/s arrive: ", end="")
    print(f"{none / arriving:.2f} of the speed.")


def profile(maker: Maker) -> None:
    """Print where one process spends its time, and the number of statements."""
    from django.db import connection
    from django.test import Client
    from django.test.utils import CaptureQueriesContext

    client = Client()

    def post(make: Any) -> None:
        path, body, kind = make()
        response = client.post(path, body, kind, headers={"Idempotency-Key": f"p{next(numbers)}"})
        assert response.status_code == 201, response.content

    for _ in range(5):
        post(maker.plain)
    with CaptureQueriesContext(
        connection,
    ) as queries:
        post(maker.plain)
    for query in queries:
        print(query["sql"][:150])
    print(f"{len(queries)} statements")
    started_at = time.process_time()
    for _ in range(PROFILED):
        post(maker.plain)
    print(f"{1000 * (time.process_time() - started_at) / PROFILED:.2f} ms of CPU per submission")
    profiler = cProfile.Profile()
    profiler.enable()
    for _ in range(PROFILED):
        post(maker.plain)
    profiler.disable()
    pstats.Stats(profiler).sort_stats("cumulative").print_stats(
        "/(applications|forms_structure|jobsite|vacancies)/", 45
    )


if __name__ == "__main__":
    main()
