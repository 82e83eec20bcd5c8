"""Measure how long each migration blocks readers and writers:

    createdb -T jobsite_1000000 upgrade      # a copy of a big database
    DATABASE_URL=postgres://.../upgrade .venv/bin/python -m tests.benchmarks.migrations --back vacancies.0001

`--back` first migrates backwards, to get the old schema. The command then applies one migration at a time
while a reader and a writer use the existing tables. Exit code 1: one of them waited longer than LIMIT.
"""

import argparse
import os
import random
import subprocess
import sys
import threading
import time
from contextlib import suppress
from urllib.parse import urlsplit

import psycopg

LIMIT = 0.5  # seconds
INTERVAL = 0.005  # seconds between two statements
BASELINE = 10  # seconds measured before the first migration, for comparison

READS = (
    "SELECT id, title FROM vacancies_vacancy WHERE status = 'published' AND audience IN ('public', 'both') "
    "ORDER BY publish_from DESC, id DESC LIMIT 20",
    "SELECT v.*, o.option_id FROM vacancies_vacancy v LEFT JOIN vacancies_vacancyoption o "
    "ON o.vacancy_id = v.id WHERE v.id = %(pk)s",
    "SELECT b.name, f.keyword FROM vacancies_brand b, vacancies_filter f",
)
WRITES = (
    "UPDATE vacancies_vacancy SET updated_at = now() WHERE id = %(pk)s",
    "UPDATE vacancies_vacancyoption SET position = position WHERE vacancy_id = %(pk)s",
)


class Prober(threading.Thread):
    """Runs statements one by one and records the duration of each."""

    def __init__(self, url: str, statements: tuple[str, ...], highest: int) -> None:
        super().__init__(daemon=True)
        self.url, self.statements, self.highest = url, statements, highest
        self.taken: list[float] = []
        self.errors: list[str] = []

    def run(self) -> None:
        with psycopg.connect(self.url, autocommit=True, prepare_threshold=None) as connection:
            while True:
                values = {"pk": random.randint(1, self.highest)}
                for statement in self.statements:
                    start = time.monotonic()
                    try:
                        connection.execute(statement, values)
                    except psycopg.Error as error:
                        self.errors.append(str(error).splitlines()[0])
                    self.taken.append(time.monotonic() - start)
                    time.sleep(INTERVAL)

    def taken_since(self, start: int) -> tuple[int, float]:
        """Return the number of statements after the first `start`, and the longest duration."""
        # Wait for the current statement, so that it counts.
        count = len(self.taken)
        while len(self.taken) == count and self.is_alive():
            time.sleep(INTERVAL)
        taken = self.taken[start:]
        return len(taken), max(taken, default=0)


def manage(*words: str) -> str:
    done = subprocess.run(
        [sys.executable, "manage.py", *words], capture_output=True, text=True, env=os.environ, check=False
    )
    if done.returncode:
        sys.exit(f"{' '.join(words)}: {done.stderr[-2000:]}")
    return done.stdout


def plan() -> list[tuple[str, str]]:
    lines = manage("showmigrations", "--plan").splitlines()
    return [tuple(line.split()[-1].split(".", 1)) for line in lines if line.startswith("[ ]")]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--back", action="append", default=[], metavar="APP.MIGRATION")
    arguments = parser.parse_args()
    url = os.environ["DATABASE_URL"]
    if urlsplit(url).scheme not in ("postgres", "postgresql"):
        sys.exit("DATABASE_URL must be a PostgreSQL database that may be modified.")
    for target in arguments.back:
        manage("migrate", "--verbosity=0", *target.split("."))
    with psycopg.connect(url) as connection:
        highest = connection.execute("SELECT max(id) FROM vacancies_vacancy").fetchone()[0]
    probers = [Prober(url, READS, highest), Prober(url, WRITES, highest)]
    for prober in probers:
        prober.start()

    print(f"{'migration':<42} {'seconds':>8} {'reads':>7} {'longest':>8} {'writes':>7} {'longest':>8}")
    worst = 0.0

    def measure(name: str, do) -> None:
        nonlocal worst
        before = [len(prober.taken) for prober in probers]
        start = time.monotonic()
        do()
        seconds = time.monotonic() - start
        (reads, read), (writes, write) = (p.taken_since(n) for p, n in zip(probers, before, strict=True))
        worst = max(worst, read, write)
        print(f"{name:<42} {seconds:>8.1f} {reads:>7} {read:>8.3f} {writes:>7} {write:>8.3f}", flush=True)

    measure("(nothing)", lambda: time.sleep(BASELINE))
    worst = 0
    for app, name in plan():
        # skip migrations that were applied as a dependency: migrating to them would go backwards
        with suppress(ValueError):
            if (app, name) in plan():
                measure(f"{app}.{name}", lambda app=app, name=name: manage("migrate", "-v0", app, name))
    measure("(triggers and the rest)", lambda: manage("migrate", "-v0"))
    errors = sorted({error for prober in probers for error in prober.errors})
    print(f"The longest wait is {worst:.3f} s; errors: {'; '.join(errors) or 'none'}.")
    sys.exit(worst > LIMIT or bool(errors))


if __name__ == "__main__":
    main()
