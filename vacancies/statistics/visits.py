"""Counts views of the pages of vacancies, and applications that visitors start, by day and source.

Nothing about a visitor is stored. A process counts in memory: no request waits for the database.
Every WRITE_EVERY seconds, and when the process ends, it adds its sums to those of the other
processes. A crash loses at most what was not written yet.
"""

import atexit
import logging
import re
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from functools import lru_cache
from itertools import islice
from wsgiref.types import WSGIEnvironment

from django.db import Error, connection, transaction
from django.http import QueryDict

from jobsite.ops.health import on_dedicated_connection
from vacancies.models import SOURCE_MAX
from vacancies.statistics.recording import day_of

WRITE_EVERY = 30.0  # seconds
QUARTER = 15 * 60  # seconds
# Anyone can invent sources. A process names at most so many on a day: the rest is one source,
# OTHER.
SOURCES_MAX = 50  # of a vacancy
NAMED_MAX = 20_000  # of all vacancies
OTHER = "*"
BATCH = 5_000  # rows of a statement

# Adds to the rows of other processes. In the order of their keys, so that processes do not block
# each other. Vacancies that were deleted meanwhile are left out.
ADD = """
WITH given (day, vacancy_id, source, views, started) AS (VALUES {rows})
INSERT INTO vacancies_dailyvisits AS stored (day, vacancy_id, source, views, started)
SELECT day, vacancy_id, source, views, started FROM given
WHERE vacancy_id IN (SELECT id FROM vacancies_vacancy) ORDER BY vacancy_id, day, source
ON CONFLICT (day, vacancy_id, source) DO UPDATE
SET views = stored.views + excluded.views, started = stored.started + excluded.started
"""

Key = tuple[int, date, str]  # vacancy, day, source
# Key of the WSGI environ: the vacancy whose application form the response shows.
STARTED = "jobsite.started"

logger = logging.getLogger(__name__)

# --- Requests -------------------------------------------------------------------------------------

_vacancy_page = re.compile("(?:/[a-z]{2})?/jobs/([0-9]{1,18})(?:-|$)").match
# Browsers begin their name with "Mozilla/", and so do many robots.
_robot = re.compile(r"bot|crawl|spider|preview", re.IGNORECASE).search


def count_visit(environ: WSGIEnvironment, path: str, status: str) -> None:
    """Count the request if its response shows a person the page of a vacancy, which may come from a
    cache, or an application form.
    """
    if STARTED in environ:
        vacancy, column = environ[STARTED], 1
    elif found := _vacancy_page(path):
        vacancy, column = int(found[1]), 0
    else:
        return
    if status in ("200", "304") and _is_visit(environ):
        visits.add(vacancy, _source_in(environ.get("QUERY_STRING", "")), column)


def _is_visit(environ: WSGIEnvironment) -> bool:
    """Whether a person sees the response: no robot, and no page that a browser loads in advance."""
    return (
        environ["REQUEST_METHOD"] == "GET"
        and "prefetch" not in environ.get("HTTP_SEC_PURPOSE", "")
        and _is_browser(environ.get("HTTP_USER_AGENT", ""))
    )


@lru_cache(maxsize=1024)
def _is_browser(name: str) -> bool:
    return name.startswith("Mozilla/") and not _robot(name)


def given_source(query: QueryDict) -> str:
    """Return what a URL says about where the visitor came from, as much as an application can
    store.
    """
    return (query.get("source") or query.get("utm_source") or "")[:SOURCE_MAX]


@lru_cache(maxsize=1024)
def _source_in(query: str) -> str:
    return folded(given_source(QueryDict(query.encode("latin-1", "replace"))))


def folded(source: str) -> str:
    """Return the name under which `source` is counted. An email address is not stored."""
    text = " ".join(source.split()).casefold()[:SOURCE_MAX]
    return text if text.isprintable() and "@" not in text else OTHER


@lru_cache(maxsize=2)
def _day(quarter: int) -> date:
    """Return the day of a quarter of an hour since 1970.
    It lies within one day in every time zone.
    """
    return day_of(datetime.fromtimestamp(quarter * QUARTER, UTC))


# --- Sums -----------------------------------------------------------------------------------------


@dataclass
class Visits:
    """The visits that this process has counted and not written yet."""

    sums: dict[Key, list[int]] = field(default_factory=dict)
    day: date | None = None
    named: set[tuple[int, str]] = field(default_factory=set)  # vacancies and sources of the day
    numbers: Counter[int] = field(default_factory=Counter)  # of named sources, by vacancy
    timer: threading.Timer | None = None
    counting: threading.Lock = field(default_factory=threading.Lock)
    writing: threading.Lock = field(default_factory=threading.Lock)

    def add(self, vacancy: int, source: str, column: int) -> None:
        """Count a visit. `column` is 0 for a view, 1 for a started application."""
        day = _day(int(time.time() / QUARTER))
        with self.counting:
            self._sums((vacancy, day, self._name(vacancy, day, source)))[column] += 1
            if self.timer is None:
                self._write_later()

    def _name(self, vacancy: int, day: date, source: str) -> str:
        if day != self.day:
            self.day, self.named, self.numbers = day, set(), Counter()
        if not source or (vacancy, source) in self.named:
            return source
        if self.numbers[vacancy] >= SOURCES_MAX or len(self.named) >= NAMED_MAX:
            return OTHER
        self.named.add((vacancy, source))
        self.numbers[vacancy] += 1
        return source

    def _sums(self, key: Key) -> list[int]:
        return self.sums.setdefault(key, [0, 0])

    def _write_later(self) -> None:
        self.timer = threading.Timer(WRITE_EVERY, self._write_now)
        self.timer.daemon = True
        self.timer.start()

    def _write_now(self) -> None:
        self.write_apart()
        with self.counting:
            self.timer = None
            if self.sums:
                self._write_later()

    def write_apart(self) -> None:
        """Write on a connection of its own. What cannot be written is kept for the next time."""
        try:
            on_dedicated_connection(self.write)
        except Error as error:  # also of a lost connection: the timer must go on
            logger.warning("Visits are not written yet: %s", type(error).__name__)

    def write_at_exit(self) -> None:
        if self.sums or self.timer:  # the thread of the timer may be writing: wait for it
            self.write_apart()

    def write(self) -> None:
        """Add the counts to the database. Raises an Error, and then keeps them."""
        with self.writing:
            with self.counting:
                sums, self.sums = self.sums, {}
            try:
                store(sums)
            except BaseException:
                with self.counting:
                    for key, numbers in sums.items():
                        kept = self._sums(key)
                        for column, number in enumerate(numbers):
                            kept[column] += number
                raise


def store(sums: Mapping[Key, list[int]]) -> None:
    """Add `sums` to the rows of the database: all, or none with an Error."""
    rows: Iterator[tuple] = (
        (connection.ops.adapt_datefield_value(day), vacancy, source, *numbers)
        for (vacancy, day, source), numbers in sorted(sums.items())
    )
    with transaction.atomic(), connection.cursor() as cursor:
        while batch := list(islice(rows, BATCH)):
            sql = ADD.format(rows=", ".join(["(%s, %s, %s, %s, %s)"] * len(batch)))
            cursor.execute(sql, [value for row in batch for value in row])


visits = Visits()
atexit.register(visits.write_at_exit)
