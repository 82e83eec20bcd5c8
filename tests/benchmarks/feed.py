"""Measures the feed: what it costs writers, and what reads cost compared with lists.

    export DATABASE_URL=postgres://...
    python -m tests.benchmarks.content fill 100000
    python -m tests.benchmarks.feed

All in this process, without a server. CPU is that of this process and of its backend. Blocks with
and without take turns, because the speed of a shared machine varies: a factor is the median over
the turns.
"""

import argparse
import json
import os
import resource
import sys
import time
from collections.abc import Callable
from importlib import import_module
from statistics import median
from typing import Any

from tests.benchmarks.servers import ENV

os.environ |= ENV | {"RESPONSE_CACHE_MB": "64"}

from tests.benchmarks.process import connection, cpu, execute

# isort: split

from django.db import transaction
from django.utils import timezone

from jobsite.api.cursors import END
from jobsite.serving.revision import read_state
from jobsite.wsgi import _bare, application
from tests.wsgi import ask
from vacancies.feed import cursor as cursors
from vacancies.models import FilterOption, Vacancy, VacancyOption
from vacancies.querysets import VacancyList

CHANGES, LIST = "/v1/vacancies/changes", "/v1/vacancies"
BEFORE = import_module("jobsite.migrations.0002_postgresql").BUMP
AFTER = import_module("jobsite.migrations.0004_commit_functions").BUMP
TRIGGERS = ("insert", "update", "delete")


def spent(act: Callable[[], object], times: int = 1) -> float:
    """The seconds of CPU of one call."""
    start = sum(cpu())
    for _ in range(times):
        act()
    return (sum(cpu()) - start) / times


def factor(act: Callable[[], object], other: Callable[[], object], turns: int, times: int) -> float:
    """How much more CPU `act` takes than `other`."""
    found = []
    for _ in range(turns):
        mine = spent(act, times)
        found.append(mine / spent(other, times))
    return median(found)


def switch(*, on: bool) -> None:
    """Create or remove what writes the feed."""
    body = (AFTER if on else BEFORE).split("DROP TRIGGER")[0]
    execute(body)
    for name in TRIGGERS:
        verb = "ENABLE" if on else "DISABLE"
        execute(f"ALTER TABLE vacancies_vacancy {verb} TRIGGER feed_vacancy_{name}")


def writers(turns: int, act: Callable[[], object], times: int) -> float:
    found = []
    try:
        for _ in range(turns):
            pair = []
            for on in (True, False):
                switch(on=on)
                act()  # plans are made again
                pair.append(spent(act, times))
            found.append(pair[0] / pair[1])
    finally:
        switch(on=True)
    return median(found)


def page(path: str, server: Any = _bare) -> Any:
    status, _, body = ask(server, path)
    assert status.startswith("200"), (status, body)
    return json.loads(body)


def walk(path: str) -> tuple[int, str]:
    """Read the feed until it ends. Return the number of changes, and the next address."""
    count, more = 0, True
    while more:
        body = page(path)
        count, more = count + len(body["data"]), body["meta"]["more"]
        path = body["links"]["next"].partition("testserver")[2]
    return count, path


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--turns", type=int, default=15)
    parser.add_argument("--reads", action="store_true", help="do not measure writers")
    options = parser.parse_args()
    if connection.vendor != "postgresql":
        sys.exit("Set DATABASE_URL to a database on PostgreSQL.")
    rows = Vacancy.objects.filter(status="published").order_by("pk")
    numbers = iter(range(10**9))

    def save() -> None:
        with transaction.atomic():
            vacancy = rows[next(numbers) % 50]
            vacancy.title = f"Title {next(numbers)}"
            vacancy.save()

    last = rows[10_000].pk

    def bulk() -> None:
        rows.filter(pk__lt=last).update(title=f"Title {next(numbers)}")

    print("| figure | measured | to reach |\n|---|--:|--:|")
    if not options.reads:
        print(f"| a save, with and without | {writers(options.turns, save, 50):.2f} | 1.10 |")
        print(f"| 10,000 in one statement | {writers(3, bulk, 1):.2f} | 1.10 |", flush=True)
        execute("VACUUM (ANALYZE, PARALLEL 0)")

    shown = rows.exclude(audience="internal")
    scope = cursors.FeedScope(VacancyList.EXTERNAL)
    number, at = read_state().number, cursors.microseconds(timezone.now())
    live = cursors.LiveCursor(number, END, at, END, number)
    poll = f"{CHANGES}?since={cursors.encode(live, scope)}&page[size]=1000"
    for path in (poll, LIST):
        page(path, application)
    idle = factor(
        lambda: ask(application, LIST), lambda: ask(application, poll), options.turns, 300
    )
    print(f"| rate of an idle poll, cached list = 1 | {idle:.2f} | 0.90 |", flush=True)

    rows.filter(pk__in=list(shown.values_list("pk", flat=True)[:100])).update(title="Changed")
    changes, listed = poll.replace("size]=1000", "size]=100"), f"{LIST}?page[size]=100"
    assert len(page(changes)["data"]) == 100
    page(listed)
    ratio = factor(lambda: ask(_bare, changes), lambda: ask(_bare, listed), options.turns, 10)
    print(f"| page of 100 changes, list of 100 = 1 | {ratio:.2f} | 1.50 |", flush=True)
    _, poll = walk(poll)

    option = FilterOption.objects.filter(filter__keyword="types").first()
    assert option
    carriers = rows.exclude(pk__in=VacancyOption.objects.filter(option=option).values("vacancy"))
    VacancyOption.objects.bulk_create(
        VacancyOption(vacancy_id=pk, option=option, position=99)
        for pk in carriers.values_list("pk", flat=True)[:20_000]
    )
    _, poll = walk(poll)
    start = time.perf_counter()
    FilterOption.objects.filter(pk=option.pk).update(label=f"Renamed {start}")
    print(
        f"| rename of an option | {1000 * (time.perf_counter() - start):.0f} ms | 20 ms |",
        flush=True,
    )
    start = time.perf_counter()
    count, _ = walk(poll)
    print(f"| the {count} changes of it | {time.perf_counter() - start:.0f} s | - |", flush=True)

    start = time.perf_counter()
    count, _ = walk(f"{CHANGES}?page[size]=1000")
    print(
        f"| first walk of {count}, in pages of 1000 | {time.perf_counter() - start:.0f} s | - |",
        flush=True,
    )
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(f"| memory after it | {memory} MiB | 200 MiB |", flush=True)


if __name__ == "__main__":
    main()
