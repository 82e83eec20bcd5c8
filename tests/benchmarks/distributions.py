"""Measures what any page of the public list costs beside page 1, on PostgreSQL, for skewed
publication dates.

    python -m tests.benchmarks.distributions --vacancies 100000

Each distribution gives every vacancy new dates. The pages are requested from an instance without a
response cache (RESPONSE_CACHE_MB=0), after their items were rendered. Each round measures every
spot of the list, one after another, with wrk. A ratio is the median over the rounds of the ratio
within a round. CPU includes the workers and PostgreSQL. Exit code 1: a page had other vacancies
than the database, or a request failed.
"""

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Iterable
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median
from typing import Any

import psycopg

from tests.benchmarks import servers
from tests.benchmarks.compare import LIST, SPOTS, path, shuffled
from tests.benchmarks.servers import Sample
from tests.servers import Application, get

SIZE = 20  # items of a page
WIDTH = 50  # pages of a walk
BATCH = 20_000  # vacancies that get new dates in one transaction
MOST = 1.5  # the ratio to page 1 that a page may cost
FIRST = "page 1"


def share(salt: int) -> str:
    """Return SQL for a number from 0 to 1, by id: the same in every run."""
    return f"((hashint8extended(id, {salt}) & 4294967295) / 4294967296.0::float8)"


# SQL of publish_from. %(now)s is the current time, %(day)s the midnight two days ago.
PAST = f"%(now)s - interval '1 hour' - interval '430 days' * {share(1)}"
START = {
    "usual": PAST,  # like generate_vacancies
    "one-second": (
        f"%(day)s + interval '12 hours' + interval '1 microsecond' * floor(1000000 * {share(1)})"
    ),
    "one-instant": "%(day)s + interval '12 hours'",
    "one-day": f"%(day)s + interval '1 day' * {share(1)}",
    "fifty-years": f"%(now)s - interval '1 hour' - interval '18262 days' * {share(1)}",
    "all-scheduled": f"CASE WHEN {share(4)} < least(0.1, 1000.0 / %(count)s) THEN {PAST} ELSE "
    f"%(now)s + interval '1 day' + interval '430 days' * {share(1)} END",
    "expired": PAST,
}
# SQL of publish_until, where "start" is publish_from. None of them comes within a day of the
# measurement.
LATER = (
    f"CASE WHEN {share(2)} < 0.6 THEN greatest(start, %(now)s) + interval '1 day' + interval '90 "
    f"days' * {share(3)} END"
)
UNTIL = dict.fromkeys(START, LATER) | {
    "expired": f"CASE WHEN {share(4)} < 0.9 THEN start + (%(now)s - start) * (0.01 + 0.9 * "
    f"{share(5)}) ELSE {LATER} END",
}
RESHAPE = """
    UPDATE vacancies_vacancy v SET publish_from = start, publish_until = {until} FROM (
      SELECT id AS pk, {start} AS start FROM vacancies_vacancy
      WHERE status = 'published' AND id BETWEEN %(first)s AND %(last)s
    ) AS dates WHERE v.id = pk
"""
LISTED = """
    SELECT id FROM vacancies_vacancy WHERE status = 'published' AND audience IN ('public', 'both')
    AND publish_from <= now() AND (publish_until IS NULL OR publish_until > now())
    ORDER BY publish_from DESC, id DESC
"""


def main() -> int:
    parser = servers.options_of(__doc__, vacancies=100_000, rounds=7, seconds=2)
    parser.add_argument(
        "--distributions",
        nargs="*",
        choices=START,
        default=[*START],
        metavar="NAME",
        help=f"of {', '.join(START)}; all of them if not given",
    )
    options = parser.parse_args()
    options.folder.mkdir(exist_ok=True)
    name = f"distributions_{options.vacancies}"  # not compare.py's: the dates would be wrong there
    with ExitStack() as stack:
        work = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        database = stack.enter_context(servers.postgresql(options.folder / "pg", name))
        return Benchmark(options, work, *database).run()


class Benchmark:
    def __init__(
        self, options: argparse.Namespace, work: Path, url: str, database_pid: int
    ) -> None:
        self.options, self.work, self.url, self.database_pid = options, work, url, database_pid
        self.env = servers.ENV | {"DATABASE_URL": url, "RESPONSE_CACHE_MB": "0"}
        servers.run_script(
            self.env, "-m", "tests.benchmarks.content", "fill", str(options.vacancies)
        )

    def run(self) -> int:
        """Print the table; return the number of faults."""
        count, rounds, seconds = self.options.vacancies, self.options.rounds, self.options.seconds
        print(
            f"{count} vacancies, medians of {rounds} rounds of {seconds} s, {os.cpu_count()} "
            "cores\n"
        )
        print(
            "| distribution | spot | pages | requests/s | CPU ms, app + DB | sum | ratio | <= "
            f"{MOST} |"
        )
        print("|---|--:|--:|--:|--:|--:|--:|---|", flush=True)
        found = [
            f"FAILED {name}: {fault}"
            for name in self.options.distributions
            for fault in self.distribution(name)
        ]
        print(*found, sep="\n")
        return len(found)

    def distribution(self, name: str) -> list[str]:
        """Print the rows of the distribution; return its faults."""
        self.tell(f"{name}: new dates")
        self.reshape(name)
        with psycopg.connect(self.url) as database:
            ids = [pk for (pk,) in database.execute(LISTED)]
        walks = spots(-(-len(ids) // SIZE))
        numbers = sorted({number for walk in walks.values() for number in walk})
        env, samples = self.env, {spot: list[Sample]() for spot in walks}
        with Application(
            self.work / name, *servers.gunicorn("jobsite.wsgi"), env=env, probe=LIST
        ) as app:
            self.tell(f"{name}: first requests, which apply what is due and render the items")
            for number in (*numbers, *numbers):
                get(app.port, page_path(number))
            servers.run_script(env, "manage.py", "maintain_lists")
            self.vacuum()
            faults = self.wrong_pages(app, numbers, ids)
            for spot, walk in walks.items():
                (self.work / spot).write_text("\n".join(shuffled(map(page_path, walk))))
            for number in range(self.options.rounds):
                self.tell(f"{name}: round {number + 1}")
                for spot, taken in samples.items():
                    found = servers.wrk(
                        app, self.database_pid, self.options.seconds, self.work / spot
                    )
                    faults += [f"{found['errors']:.0f} requests failed"] if found["errors"] else []
                    taken.append(servers.per_request(found))
            faults += self.wrong_pages(app, numbers, ids)
        for spot, walk in walks.items():
            one = {key: median(sample[key] for sample in samples[spot]) for key in samples[spot][0]}
            pairs = zip(samples[spot], samples[FIRST], strict=True)
            ratio = median(sample["cpu"] / first["cpu"] for sample, first in pairs)
            cpu = f"{one['cpu_app']:.2f} + {one['cpu_database']:.2f} | {one['cpu']:.2f}"
            cells = (
                f"{name} | {spot} | {walk[0]}-{walk[-1]} | {one['requests']:.0f} | {cpu} | "
                f"{ratio:.2f}"
            )
            print(f"| {cells} | {'yes' if ratio <= MOST else 'no'} |", flush=True)
        return faults

    def reshape(self, name: str) -> None:
        """Give the published vacancies the dates of the distribution, through the triggers."""
        now = datetime.now(UTC)
        day = datetime(now.year, now.month, now.day, tzinfo=UTC) - timedelta(days=2)
        sql = RESHAPE.format(start=START[name], until=UNTIL[name])
        with psycopg.connect(self.url, autocommit=True) as database:
            last = database.execute("SELECT max(id) FROM vacancies_vacancy").fetchone()
            assert last
            for first in range(1, last[0] + 1, BATCH):
                values = {"now": now, "day": day, "count": self.options.vacancies}
                database.execute(sql, values | {"first": first, "last": first + BATCH - 1})
        self.vacuum()

    def vacuum(self) -> None:
        with psycopg.connect(self.url, autocommit=True) as database:
            database.execute("VACUUM ANALYZE")
            database.execute("CHECKPOINT")  # not while we measure

    def wrong_pages(self, app: Application, numbers: Iterable[int], ids: list[int]) -> list[str]:
        """Request the pages; return those that differ from the list `ids`."""
        wrong = []
        for number in numbers:
            status, _, body = get(app.port, page_path(number))
            answer: dict[str, Any] = json.loads(body) if status == 200 else {"data": [], "meta": {}}
            shown = [item["id"] for item in answer["data"]]
            if shown != ids[(number - 1) * SIZE : number * SIZE] or answer["meta"].get(
                "total"
            ) != len(ids):
                wrong.append(f"page {number} is wrong (status {status})")
        return wrong

    def tell(self, text: str) -> None:
        print(f"{datetime.now():%H:%M:%S} {text}", file=sys.stderr, flush=True)


def spots(last: int) -> dict[str, range]:
    """Return the numbers of the pages to walk: page 1 alone, and some around each of SPOTS."""
    width = max(1, min(WIDTH, last // 10))
    starts = {f"{spot} %": 1 + (last - width) * spot // 100 for spot in SPOTS}
    return {FIRST: range(1, 2)} | {
        spot: range(start, start + width) for spot, start in starts.items()
    }


def page_path(number: int) -> str:
    return path(LIST, page=number, size=SIZE)


if __name__ == "__main__":
    sys.exit(bool(main()))
