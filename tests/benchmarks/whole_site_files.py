"""What requests for documents as long as the site cost a server of two processes:

    export DATABASE_URL=postgres://... CAREER_SITE=on
    python -m tests.benchmarks.content fill 20000
    python -m tests.benchmarks.whole_site_files

Sends 20 requests at once for each document, first after a save and then again, while another client
reads the list. Prints the statuses, the longest time of the list, the CPU of the server, and that
of a later request.
"""

import os
import tempfile
import threading
import time
from collections import Counter
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

from tests.benchmarks.process import connection, execute  # sets Django up

# isort: split

from tests.benchmarks.servers import ENV, cpu_seconds
from tests.servers import SYSTEM_ENV, Gunicorn, get

PATHS = ("/feeds/indeed.xml", "/sitemap.xml", "/sitemap-0.xml", "/sitemap-1.xml", "/jobs.atom")
REQUESTS, LATER = 20, 5
SAVE = (
    "UPDATE vacancies_vacancy SET title = title WHERE id = (SELECT max(id) FROM vacancies_vacancy)"
)


def slowest_list(port: int, is_over: threading.Event) -> float:
    """Read the list until `is_over`, and return the longest time that it took."""
    times = []
    while not (is_over.is_set() and times):
        start = time.perf_counter()
        status, _headers, _body = get(port, "/v1/vacancies", timeout=90)
        assert status == 200, status
        times.append(time.perf_counter() - start)
        time.sleep(0.05)
    return max(times)


def measure(server: Gunicorn, path: str, number: int) -> str:
    """Send `number` requests for `path` at once, and return a row of the table."""
    pid, is_over = server.pids()[0], threading.Event()
    before, start = cpu_seconds(pid), time.perf_counter()
    with ThreadPoolExecutor(number + 1) as pool:
        listed: Future[float] = pool.submit(slowest_list, server.port, is_over)
        asked = [pool.submit(get, server.port, path, None, 90) for _ in range(number)]
        statuses = Counter(each.result()[0] for each in asked)
        while get(server.port, path, timeout=90)[0] != 200:  # those that got 503 try again
            time.sleep(0.2)
        is_over.set()
        took = time.perf_counter() - start
        cpu = cpu_seconds(pid) - before
        shown = ", ".join(f"{status}: {count}" for status, count in sorted(statuses.items()))
        return f"{shown} | {took:.2f} | {listed.result():.2f} | {cpu:.2f}"


def main() -> None:
    env = ENV | {
        "DATABASE_URL": os.environ["DATABASE_URL"],
        "CAREER_SITE": "on",
        "WEB_CONCURRENCY": "2",
    }
    print(
        "| document | | statuses | s until ready | slowest list, s | CPU, s "
        "|\n|---|---|---|--:|--:|--:|"
    )
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        server = stack.enter_context(Gunicorn(Path(folder), SYSTEM_ENV | env | {"TMPDIR": folder}))
        for path in PATHS:
            execute(SAVE)
            connection.close()
            print(f"| {path} | after a save | {measure(server, path, REQUESTS)} |")
            print(f"| | again | {measure(server, path, REQUESTS)} |")
            before = cpu_seconds(server.pids()[0])
            for _ in range(LATER):
                get(server.port, path)
            print(
                f"| | one request | | | | {(cpu_seconds(server.pids()[0]) - before) / LATER:.3f} |"
            )


if __name__ == "__main__":
    main()
