"""Maintenance of the read model, on PostgreSQL.
Without it, results are correct, and reading is slower.
"""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from itertools import pairwise
from typing import Any

from django.db import DatabaseError, connections, transaction
from django.db.backends.utils import CursorWrapper
from django.db.models import Exists, F, OuterRef, Q
from django.db.models.functions import Now

from jobsite.serving.revision import bump
from vacancies.models import ListedVacancy, Vacancy
from vacancies.querysets import VacancyList, VacancyQuerySet
from vacancies.readmodel.totals import BUCKETS, END, FIRST, MAX_SIZE, Key
from vacancies.readmodel.vacancy_counts import recount

BATCH_SIZE = 2_000  # vacancies
BUCKET_SIZE = 200  # vacancies in a new bucket
LOCK_TIMEOUT = 50  # milliseconds

_COLUMNS = tuple(each.column for each in VacancyList)
# The rows between two keys, in parts of BUCKET_SIZE: the key of the first row and the counts of
# each part.
_PARTS = (
    "SELECT min(publish_from), min(CASE WHEN n %% %s = 0 THEN vacancy_id END), "
    + ", ".join(f"sum(CASE WHEN {each.sql()} THEN 1 ELSE 0 END)" for each in VacancyList)
    + " FROM (SELECT *, row_number() OVER (ORDER BY publish_from, vacancy_id) - 1 AS n FROM "
    "vacancies_listedvacancy WHERE NOT is_expired AND (publish_from, vacancy_id) >= (%s, %s) AND "
    "(publish_from, vacancy_id) < (%s, %s)) AS numbered GROUP BY n / %s ORDER BY 1, 2"
)


@contextmanager
def best_effort_write(patience: float | None = None) -> Iterator[CursorWrapper]:
    """A transaction with a cursor, for a write that a reader makes: 50 ms lock timeout,
    asynchronous commit.

    Raises a DatabaseError when a lock is not free in time. With `patience`, also after so many
    seconds without a response, and when the connection is lost.
    """
    connection: Any = connections["default"]
    connection.ensure_connection()
    connection.patience = patience
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(
                f"SET LOCAL lock_timeout = {LOCK_TIMEOUT}; SET LOCAL synchronous_commit = off"
            )
            yield cursor
    finally:
        connection.patience = None


def balance() -> bool:
    """Replace the rows of each bucket by their sum, divide large buckets, and merge small
    neighbours.

    Return False if another transaction, or autovacuum, has a lock on the counts.
    """
    with suppress(DatabaseError), best_effort_write() as cursor:
        # See bucket_count_change() in migration 0004.
        cursor.execute("LOCK TABLE vacancies_bucketcount IN SHARE ROW EXCLUSIVE MODE NOWAIT")
        _balance(cursor)
        return True
    return False


def _balance(cursor: CursorWrapper) -> None:
    cursor.execute(BUCKETS)
    buckets = [(row[:2], row[2:6]) for row in reversed(cursor.fetchall())]
    balanced: list[tuple[Key, list]] = []
    for (start, counts), (end, _) in pairwise([*buckets, (END, ())]):
        parts = [(start, counts)]
        if max(counts) > MAX_SIZE:
            cursor.execute(_PARTS, [BUCKET_SIZE, *start, *end, BUCKET_SIZE])
            parts = [(row[:2], row[2:6]) for row in cursor.fetchall()]
        for key, numbers in parts:
            merged = (
                [sum(pair) for pair in zip(balanced[-1][1], numbers, strict=True)]
                if balanced
                else []
            )
            if merged and max(merged) <= BUCKET_SIZE:
                balanced[-1] = (balanced[-1][0], merged)
            else:
                balanced.append((key if balanced else FIRST, numbers))
    cursor.execute("DELETE FROM vacancies_bucketcount")
    cursor.executemany(
        f"INSERT INTO vacancies_bucketcount (start_at, start_id, {', '.join(_COLUMNS)}) VALUES "
        "(%s, %s, %s, %s, %s, %s)",
        [(*key, *numbers) for key, numbers in balanced],
    )


def mark_expired() -> int:
    """Mark the rows of vacancies that have expired, and unmark those that the clock of the database
    marked too early. Return the number of changed rows.
    """
    changed = 0
    horizon = Now() - timedelta(minutes=5)  # as in the triggers
    due = ListedVacancy.objects.filter(
        Q(is_expired=False, publish_until__lt=horizon)
        | Q(is_expired=True, publish_until__gte=horizon)
    )
    vacancies = Vacancy.objects.filter(Exists(due.filter(vacancy=OuterRef("pk"))))
    while written := touch(vacancies, skip_locked=True):
        changed += written
    return changed


def touch(vacancies: VacancyQuerySet, *, skip_locked: bool = False) -> int:
    """Update one batch of `vacancies` without a change, so that the triggers write their rows
    again. Return the number of vacancies.
    """
    with transaction.atomic(using=vacancies.db):
        locked = vacancies.order_by("pk").select_for_update(
            of=("self",), no_key=True, skip_locked=skip_locked
        )
        pks = list(locked.values_list("pk", flat=True)[:BATCH_SIZE])
        return Vacancy.objects.using(vacancies.db).filter(pk__in=pks).update(status=F("status"))


def delete_unused_items(versions: list[str]) -> None:
    """Delete the items that no reader uses: of vacancies that have changed or are not published any
    more, and of other `versions` than these.
    """
    with connections["default"].cursor() as cursor:
        cursor.execute(
            "DELETE FROM vacancies_rendereditem AS item WHERE version <> ALL(%s) OR NOT EXISTS "
            "(SELECT FROM vacancies_listedvacancy AS listed WHERE listed.vacancy_id = "
            "item.vacancy_id AND listed.row_version = item.row_version)",
            [versions],
        )


def rebuild(using: str = "default") -> None:
    """Rebuild the read model from the vacancies, for example after `loaddata`."""
    with transaction.atomic(using=using), connections[using].cursor() as cursor:
        # Only reads continue: no transaction has a lock that `add_missing` would wait for.
        tables = "vacancies_vacancy, vacancies_listedvacancy, vacancies_bucketcount"
        cursor.execute(f"LOCK TABLE {tables} IN EXCLUSIVE MODE")
        bump(using)  # invalidates every cache, and no rendered item is kept
        cursor.execute("DELETE FROM vacancies_rendereditem")
        cursor.execute("DELETE FROM vacancies_listedvacancy")
        cursor.execute("DELETE FROM vacancies_bucketcount")
        add_missing(using)
        _balance(cursor)
        recount(using)


def add_missing(using: str) -> None:
    """Add the published vacancies that the read model lacks."""
    listed = ListedVacancy.objects.filter(vacancy=OuterRef("pk"))
    missing = Vacancy.objects.using(using).filter(~Exists(listed), status="published")
    while touch(missing):
        pass
