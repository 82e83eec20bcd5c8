"""Measures the first requests of a process when nothing of the index is merged, as after a program
has written all vacancies with SQL and `deliver` does not run:

    export DATABASE_URL=postgres://...
    python -m tests.benchmarks.content fill 100000
    python -m tests.benchmarks.search.unmerged

Prints the seconds of CPU of application and database, and the memory that the process takes more. A
new process makes each request twice. At the end, the index is merged again.
"""

import os
import subprocess
import sys
from pathlib import Path

from tests.benchmarks.process import cpu  # sets Django up

# isort: split

from django.db import transaction
from django.test import Client

from vacancies.models import SearchChange
from vacancies.search import merge

PATHS = {
    "region": "/v1/vacancies?filter[regions]=antwerp",
    "/v1/filters": "/v1/filters",
    "sort=title": "/v1/vacancies?sort=title",
    "search": "/v1/vacancies?filter[search]=nurse",
}


def memory() -> int:
    """Return the MB that are resident."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") // 2**20


def first(name: str) -> None:
    """Print a row of the table: the first and the second request, in this new process."""
    client, cells = Client(SERVER_NAME="localhost"), [name]
    assert client.get("/v1/vacancies?page[size]=1").status_code == 200
    for _ in range(2):
        before, resident = cpu(), memory()
        assert client.get(PATHS[name]).status_code == 200
        app, database = (b - a for a, b in zip(before, cpu(), strict=True))
        cells.append(f"{app:.2f} + {database:.2f} s, {memory() - resident:+d} MB")
    print(f"| {' | '.join(cells)} |", flush=True)


def main() -> None:
    with transaction.atomic():
        merge._forget()
    print(f"{SearchChange.objects.count()} changes\n| request | first | second |\n|---|--:|--:|")
    sys.stdout.flush()
    for name in PATHS:
        subprocess.run([sys.executable, "-m", __spec__.name, name], check=True)
    merge.merge()


if __name__ == "__main__":
    first(sys.argv[1]) if sys.argv[1:] else main()
