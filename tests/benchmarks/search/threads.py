"""Measures searches side by side in the threads of one process, against one thread:

    export DATABASE_URL=postgres://...
    python -m tests.benchmarks.content fill 1000
    python -m tests.benchmarks.search.threads [--seconds 3]

Prints searches a second of 1, 2, 4 and 8 threads, medians of rounds that take turns. Another thread
changes a vacancy ten times a second, so that the index is patched all the time. The threads share
Python's lock and one processor, so more threads gain only while others wait for the database.
"""

import argparse
import time
from collections import defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import count
from statistics import median
from threading import Event

from tests.benchmarks.process import connection  # sets Django up

# isort: split

from django.test import Client

from tests.benchmarks.search.cost import SEARCHES
from vacancies.api import process_cache
from vacancies.models import Vacancy

ROUNDS = 5


@contextmanager
def writer() -> Iterator[None]:
    """Change a vacancy ten times a second."""
    stopped, numbers = Event(), count()
    pk = Vacancy.objects.order_by("pk").values_list("pk", flat=True)[0]

    def write() -> None:
        while not stopped.wait(0.1):
            Vacancy.objects.filter(pk=pk).update(reference=f"Changed {next(numbers)}")
        connection.close()

    with ThreadPoolExecutor(1) as pool:
        written = pool.submit(write)
        try:
            yield
        finally:
            stopped.set()
    written.result()


def search(until: float) -> int:
    """Search until that time. Return the number of searches, each of which read the index."""
    client, done = Client(SERVER_NAME="localhost"), 0
    while time.monotonic() < until:
        for query in SEARCHES.values():
            process_cache.process.id_lists.clear()
            assert client.get(f"/v1/vacancies?{query}").status_code == 200
            done += 1
    connection.close()
    return done


def measure(threads: int, seconds: float) -> float:
    """Return the searches a second."""
    start = time.monotonic()
    with ThreadPoolExecutor(threads) as pool:
        done = sum(pool.map(search, [start + seconds] * threads))
    return done / (time.monotonic() - start)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--seconds", type=float, default=2, help="of a round")
    options = parser.parse_args()
    taken: dict[int, list[float]] = defaultdict(list)
    with writer():
        for _ in range(ROUNDS):
            for threads in (1, 2, 4, 8):
                taken[threads].append(measure(threads, options.seconds))
    print("| threads | searches a second | of one thread |\n|--:|--:|--:|")
    for threads, each in taken.items():
        print(f"| {threads} | {median(each):.0f} | {median(each) / median(taken[1]):.2f} |")


if __name__ == "__main__":
    main()
