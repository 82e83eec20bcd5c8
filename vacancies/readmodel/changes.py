"""Writes to the read model that triggers do not do, because they depend on the clock or rebuild everything.

A vacancy whose dates change returns to SCHEDULED. `apply_due_changes` moves it on when its time has come. The
live rows are correct from the watermark until the next time at which a vacancy goes live or expires.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from time import sleep
from typing import Any

from django.db import DatabaseError, connections, transaction
from django.db.models import Case, F, Q, Value, When
from django.db.models.functions import Abs, Greatest
from django.utils import timezone

from jobsite.models import Revision
from vacancies.models import ListedVacancy, PublicationState

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
BATCH_SIZE = 5_000  # rows
LOCKED_BATCH_SIZE = 500  # rows, where other writers wait for the locks
MAX_TRIES = 1_000
LOCK_TIMEOUT = 50  # milliseconds
# Tables whose rows are part of a vacancy's items.
CHILD_TABLES = ("vacancies_vacancyoption", "vacancies_vacancyrecruiter", "vacancies_attachment")
ROW_VERSION = "pg_current_xact_id()::text::bigint"  # PostgreSQL: the id of the writing transaction
_COPIED_COLUMNS = "audience, is_hot, publish_from, publish_until, brand_id, form_id"


def microseconds(time: datetime) -> int:
    """Return `time` in microseconds since 1970."""
    passed = time - EPOCH
    return (passed.days * 86_400 + passed.seconds) * 1_000_000 + passed.microseconds


@contextmanager
def best_effort_write(*, synchronous_commit: str = "off") -> Iterator[None]:
    """A transaction for a write that a reader makes: 50 ms lock timeout, asynchronous commit.

    Raises a DatabaseError when a lock is not free in time. `synchronous_commit` is PostgreSQL's setting.
    """
    connection = connections["default"]
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute(f"PRAGMA busy_timeout = {LOCK_TIMEOUT}")
        try:
            with transaction.atomic():
                if connection.vendor == "postgresql":
                    cursor.execute(
                        f"SET LOCAL lock_timeout = {LOCK_TIMEOUT}; "
                        f"SET LOCAL synchronous_commit = {synchronous_commit}"
                    )
                yield
        finally:
            if connection.vendor == "sqlite":
                seconds = connection.settings_dict["OPTIONS"].get("timeout", 5)
                cursor.execute(f"PRAGMA busy_timeout = {int(seconds * 1000)}")


def mark_live(pks: Iterable[int], *, at: datetime) -> None:
    """Make those of the vacancies `pks` live that are due at the time `at`.

    Call it in the transaction that publishes them: then no reader has to apply the change, and publishing
    raises the revision once.
    """
    due = ListedVacancy.objects.filter(pk__in=pks, state=PublicationState.SCHEDULED, publish_from__lte=at)
    if not due.exclude(publish_until__lte=at).update(state=PublicationState.LIVE):
        return
    watermark = microseconds(at)
    if connections["default"].vendor == "postgresql":  # without a lock on the one row, see revision.py
        with connections["default"].cursor() as cursor:
            cursor.execute("INSERT INTO jobsite_pending_bump (watermark) VALUES (%s)", [watermark])
    else:
        Revision.objects.filter(pk=1).update(watermark=Greatest(F("watermark"), Value(watermark)))


def apply_due_changes(*, at: datetime, batch_size: int = BATCH_SIZE) -> int | None:
    """Make one batch of vacancies live or expired that are due at the time `at`. Return their number, or None
    if a lock was not free."""
    is_expired, changed = Q(publish_until__lte=at), 0
    # A local flush: replicas receive only flushed changes, and their readers would otherwise try again.
    with suppress(DatabaseError), best_effort_write(synchronous_commit="local"):
        for state, due in (
            (PublicationState.LIVE, is_expired),
            (PublicationState.SCHEDULED, Q(publish_from__lte=at)),
        ):
            batch = ListedVacancy.objects.using("default").filter(due, state=state).values("pk")[:batch_size]
            new_state = Case(
                When(is_expired, then=Value(PublicationState.EXPIRED)), default=Value(PublicationState.LIVE)
            )
            # Repeat `due`: another transaction may have changed a row while this one waited for its lock.
            changed += ListedVacancy.objects.filter(due, state=state, pk__in=batch).update(state=new_state)
        if changed:
            # A new number, even if this clock is behind the clock that set the last watermark.
            watermark = Greatest(F("watermark") + 1, Value(microseconds(at)))
            if not Revision.objects.filter(pk=1).update(watermark=watermark):
                Revision.objects.create(pk=1, watermark=microseconds(at))
        return changed
    return None


def apply_all_due_changes() -> None:
    """Apply every due change, in small batches that keep locks briefly, even while others write."""
    for _ in range(MAX_TRIES):
        while changed := apply_due_changes(at=timezone.now(), batch_size=LOCKED_BATCH_SIZE):
            pass
        if changed == 0:
            return
        sleep(LOCK_TIMEOUT / 1000)


def insert_missing(cursor: Any, row_version: str, lock: str = "") -> None:
    """Insert the published vacancies that the read model lacks, in batches. `row_version` is an SQL
    expression, `lock` a locking clause such as FOR SHARE."""
    last, size = 0, LOCKED_BATCH_SIZE if lock else BATCH_SIZE
    while True:
        batch = f"SELECT id FROM vacancies_vacancy WHERE id > {last} ORDER BY id LIMIT {size}"
        cursor.execute(f"SELECT max(id) FROM ({batch}) AS batch")
        first, last = last, cursor.fetchone()[0]
        if last is None:
            return
        cursor.execute(
            f"INSERT INTO vacancies_listedvacancy (vacancy_id, {_COPIED_COLUMNS}, state, row_version) "
            f"SELECT id, {_COPIED_COLUMNS}, 0, {row_version} FROM vacancies_vacancy v "
            f"WHERE status = 'published' AND id > {first} AND id <= {last} "
            f"AND NOT EXISTS (SELECT 1 FROM vacancies_listedvacancy l WHERE l.vacancy_id = v.id) {lock} "
            "ON CONFLICT (vacancy_id) DO NOTHING"  # another transaction saves the vacancy
        )


def rebuild(using: str = "default") -> None:
    """Rebuild the read model from the vacancies, for example after `loaddata`."""
    connection = connections[using]
    with transaction.atomic(using=using), connection.cursor() as cursor:
        is_postgresql = connection.vendor == "postgresql"
        if is_postgresql:
            tables = ", ".join(
                ("vacancies_vacancy", *CHILD_TABLES, "vacancies_listedvacancy", "vacancies_dailycount")
            )
            cursor.execute(f"LOCK TABLE {tables} IN SHARE ROW EXCLUSIVE MODE")
        # New numbers invalidate every cache, and no rendered item can match an old row version.
        revision = Revision.objects.using(using).filter(pk=1)
        revision.update(number=Abs(F("number")) + 1, shared=F("shared") + 1, watermark=0)
        number = revision.values_list("number", flat=True).first() or 0
        cursor.execute("DELETE FROM vacancies_listedvacancy")
        cursor.execute("DELETE FROM vacancies_dailycount")
        insert_missing(cursor, ROW_VERSION if is_postgresql else str(number))
    apply_all_due_changes()
