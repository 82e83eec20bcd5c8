"""Keeps `ListedVacancy` and `DailyCount` in step with the vacancies by triggers, in the transaction of the writer.

Nothing here knows the time: a vacancy whose dates change goes back to the phase AHEAD, and `settle` moves
on what the clock has passed. So what is LISTED is right from the moment that was settled last until the
next moment at which one appears or vanishes.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from hashlib import md5
from time import sleep
from typing import Any

from django.db import DatabaseError, connections, transaction
from django.db.models import Case, F, Q, Value, When
from django.db.models.functions import Abs, Greatest
from django.utils import timezone

from jobsite.models import Revision
from vacancies.models import ListedVacancy, PublicationState

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
STEP = 5_000  # rows
STEP_LOCKED = 500  # rows that a writer would wait for
TRIES = 1_000
PATIENCE = 50  # milliseconds that a reader waits for a lock
# What makes the items of a vacancy, beside its own row.
PARTS = ("vacancies_vacancyoption", "vacancies_vacancyrecruiter", "vacancies_attachment")
_CARRIERS = "SELECT vacancy_id FROM vacancies_vacancyoption WHERE option_id IN"
# What moves options from one key of an item to another: table, column, and which options those are.
MOVES = (
    ("vacancies_filteroption", "filter_id", "id = NEW.id"),
    ("vacancies_filter", "keyword", "filter_id = NEW.id"),
)
_OPTIONS = "SELECT id FROM vacancies_filteroption WHERE"
KEYS = "audience, is_hot, publish_from, publish_until, brand_id, form_id"
# The columns of `DailyCount` and what of a listing counts there.
LISTS = {
    "external": "audience IN ('public', 'both')",
    "hot": "audience IN ('public', 'both') AND is_hot",
    "internal": "audience IN ('internal', 'both')",
    "hot_internal": "audience IN ('internal', 'both') AND is_hot",
}
_COLUMNS = ", ".join(LISTS)


def microseconds(moment: datetime) -> int:
    """`moment` in microseconds since 1970."""
    passed = moment - EPOCH
    return (passed.days * 86_400 + passed.seconds) * 1_000_000 + passed.microseconds


@contextmanager
def impatiently(*, flush: str = "off") -> Iterator[None]:
    """A transaction for what a reader writes down in passing: it waits for nobody, and what it writes
    may be lost, unless `flush` is another value of PostgreSQL's synchronous_commit."""
    connection = connections["default"]
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute(f"PRAGMA busy_timeout = {PATIENCE}")
        try:
            with transaction.atomic():
                if connection.vendor == "postgresql":
                    cursor.execute(
                        f"SET LOCAL lock_timeout = {PATIENCE}; SET LOCAL synchronous_commit = {flush}"
                    )
                yield
        finally:
            if connection.vendor == "sqlite":
                seconds = connection.settings_dict["OPTIONS"].get("timeout", 5)
                cursor.execute(f"PRAGMA busy_timeout = {int(seconds * 1000)}")


def list_now(pks: Iterable[int], *, at: datetime) -> None:
    """List those of the vacancies `pks` that appeared by the moment `at`, in the transaction that published
    them: no reader has to, and nobody sees a revision between the two."""
    listed = ListedVacancy.objects.filter(pk__in=pks, phase=PublicationState.AHEAD, publish_from__lte=at)
    if not listed.exclude(publish_until__lte=at).update(phase=PublicationState.LISTED):
        return
    moment = microseconds(at)
    if connections["default"].vendor == "postgresql":  # where nobody else waits for the row, see revision.py
        with connections["default"].cursor() as cursor:
            cursor.execute("INSERT INTO jobsite_note (settled) VALUES (%s)", [moment])
    else:
        Revision.objects.filter(pk=1).update(settled=Greatest(F("settled"), Value(moment)))


def settle(*, at: datetime, step: int = STEP) -> int | None:
    """Let appear and vanish what has to by the moment `at`, `step` at a time; return how many that were, or
    None if it could not be done now."""
    is_over, moved = Q(publish_until__lte=at), 0
    # Flushed, since replicas get no more than that, and each of their readers would settle again.
    with suppress(DatabaseError), impatiently(flush="local"):
        for phase, due in (
            (PublicationState.LISTED, is_over),
            (PublicationState.AHEAD, Q(publish_from__lte=at)),
        ):
            rows = ListedVacancy.objects.using("default").filter(due, phase=phase).values("pk")[:step]
            next_phase = Case(
                When(is_over, then=Value(PublicationState.OVER)), default=Value(PublicationState.LISTED)
            )
            # `due` once more: a row that somebody changed while this waited for it was read before that.
            moved += ListedVacancy.objects.filter(due, phase=phase, pk__in=rows).update(phase=next_phase)
        if moved:
            # Another number even where the clock is behind that of who did it before.
            settled = Greatest(F("settled") + 1, Value(microseconds(at)))
            if not Revision.objects.filter(pk=1).update(settled=settled):
                Revision.objects.create(pk=1, settled=microseconds(at))
        return moved
    return None


def _list_the_rest(cursor: Any, stamp: str, lock: str = "") -> None:
    """List what is published and not listed, in steps: nobody waits long for rows that are locked."""
    last, size = 0, STEP_LOCKED if lock else STEP
    while True:
        step = f"SELECT id FROM vacancies_vacancy WHERE id > {last} ORDER BY id LIMIT {size}"
        cursor.execute(f"SELECT max(id) FROM ({step}) AS step")
        first, last = last, cursor.fetchone()[0]
        if last is None:
            return
        cursor.execute(
            f"INSERT INTO vacancies_listedvacancy (vacancy_id, {KEYS}, phase, stamp) "
            f"SELECT id, {KEYS}, 0, {stamp} FROM vacancies_vacancy v WHERE status = 'published' "
            f"AND id > {first} AND id <= {last} "
            f"AND NOT EXISTS (SELECT 1 FROM vacancies_listedvacancy l WHERE l.vacancy_id = v.id) {lock} "
            "ON CONFLICT (vacancy_id) DO NOTHING"  # somebody saves it just now
        )


def list_anew(using: str = "default") -> None:
    """Make listings and tally from nothing, as after a load of data that brought its own."""
    connection = connections[using]
    with transaction.atomic(using=using), connection.cursor() as cursor:
        is_postgresql = connection.vendor == "postgresql"
        if is_postgresql:
            tables = ", ".join(
                ("vacancies_vacancy", *PARTS, "vacancies_listedvacancy", "vacancies_dailycount")
            )
            cursor.execute(f"LOCK TABLE {tables} IN SHARE ROW EXCLUSIVE MODE")
        # Raised, so that nobody takes an old item for the new one, and nobody's memory for true.
        raised = Revision.objects.using(using).filter(pk=1)
        raised.update(number=Abs(F("number")) + 1, shared=F("shared") + 1, settled=0)
        number = raised.values_list("number", flat=True).first() or 0
        cursor.execute("DELETE FROM vacancies_listedvacancy")
        cursor.execute("DELETE FROM vacancies_dailycount")
        _list_the_rest(cursor, _STAMP if is_postgresql else str(number))
    _settle_all()


def _settle_all() -> None:
    """Leave nothing for the first reader, even while others write, and let them wait for a few rows only."""
    for _ in range(TRIES):
        while moved := settle(at=timezone.now(), step=STEP_LOCKED):
            pass
        if moved == 0:
            return
        sleep(PATIENCE / 1000)


def watch(sender: Any, using: str, **kwargs: Any) -> None:
    """After every migration: make the triggers, and list what is not listed yet."""
    connection = connections[using]
    with connection.cursor() as cursor:
        tables = set(connection.introspection.table_names(cursor))
        if not tables.issuperset(("vacancies_listedvacancy", "vacancies_dailycount", "jobsite_revision")):
            return  # on the way to an older migration
        columns = {c.name for c in connection.introspection.get_table_description(cursor, "jobsite_revision")}
        if "settled" not in columns:
            return
        if connection.vendor == "sqlite":
            cursor.execute("SELECT 1 FROM sqlite_master WHERE name = 'listing_in'")
            was_watched = cursor.fetchone()
            for statement in SQLITE:
                cursor.execute(statement)
            if not was_watched:  # migrations may have written
                list_anew(using)
            return
        made = md5("".join(POSTGRESQL).encode(), usedforsecurity=False).hexdigest()
        cursor.execute("SELECT obj_description('vacancies_listedvacancy'::regclass)")
        if cursor.fetchone()[0] != made:  # else there is nothing to lock the tables for
            for statement in POSTGRESQL:
                cursor.execute(statement)
            _list_the_rest(cursor, _STAMP, "FOR SHARE")
            # From here on the lists are read from it.
            Revision.objects.using(using).filter(pk=1).update(number=F("number") + 1, settled=0)
            _settle_all()
            cursor.execute(f"COMMENT ON TABLE vacancies_listedvacancy IS '{made}'")


# --- SQLite: row by row, and one row of the tally for each day ------------------------------------------


def _sqlite() -> Iterator[str]:
    def trigger(name: str, when: str, *statements: str) -> Iterator[str]:
        yield f"DROP TRIGGER IF EXISTS {name}"
        yield f"CREATE TRIGGER {name} AFTER {when} BEGIN {' '.join(f'{s};' for s in statements)} END"

    anew = "SET stamp = stamp + 1, v1 = NULL, v0_1 = NULL"
    new = ", ".join(f"NEW.{key.strip()}" for key in KEYS.split(","))
    upsert = f"""
        INSERT INTO vacancies_listedvacancy (vacancy_id, {KEYS}, phase, stamp)
        VALUES (NEW.id, {new}, 0, coalesce((SELECT number FROM jobsite_revision WHERE id = 1), 0) + 1)
        ON CONFLICT (vacancy_id) DO UPDATE SET
          phase = CASE WHEN publish_from IS excluded.publish_from AND publish_until IS excluded.publish_until
                  THEN phase ELSE 0 END,
          {", ".join(f"{key.strip()} = excluded.{key.strip()}" for key in KEYS.split(","))},
          stamp = max(stamp + 1, excluded.stamp), v1 = NULL, v0_1 = NULL
    """
    drop = "DELETE FROM vacancies_listedvacancy WHERE vacancy_id = OLD.id"
    yield from trigger("listing_new", "INSERT ON vacancies_vacancy WHEN NEW.status = 'published'", upsert)
    yield from trigger("listing_old", "DELETE ON vacancies_vacancy", drop)
    yield from trigger("listing_in", "UPDATE ON vacancies_vacancy WHEN NEW.status = 'published'", upsert)
    yield from trigger("listing_out", "UPDATE ON vacancies_vacancy WHEN NEW.status <> 'published'", drop)
    for table in PARTS:
        for verb, rows in {"INSERT": "NEW", "UPDATE": "OLD NEW", "DELETE": "OLD"}.items():
            touched = ", ".join(f"{row}.vacancy_id" for row in rows.split())
            # One more for each change, as the revision: so one that is listed again never has an old stamp.
            yield from trigger(
                f"{table}_{verb.lower()}_listing",
                f"{verb} ON {table}",
                f"UPDATE vacancies_listedvacancy {anew} WHERE vacancy_id IN ({touched})",
            )
    for table, column, moved in MOVES:
        yield from trigger(
            f"{table}_moved_listing",
            f"UPDATE OF {column} ON {table} WHEN OLD.{column} <> NEW.{column}",
            f"UPDATE vacancies_listedvacancy {anew} WHERE vacancy_id IN ({_CARRIERS} ({_OPTIONS} {moved}))",
        )

    def counted(row: str, sign: str) -> Iterator[str]:
        # rounded down, also before 1970; without the fraction, which SQLite rounds up
        second = f"strftime('%s', substr({row}.publish_from, 1, 19))"
        day = f"((CAST({second} AS INTEGER) + 8640000000) / 86400 - 100000)"
        terms = {
            name: f"({row}.phase = 1 AND {row}.{rule.replace('is_hot', f'{row}.is_hot')})"
            for name, rule in LISTS.items()
        }
        if sign == "+":  # a row that is not there was emptied with the table
            yield (
                f"INSERT INTO vacancies_dailycount (day, {_COLUMNS}) SELECT {day}, 0, 0, 0, 0 "
                f"WHERE {row}.phase = 1 AND NOT EXISTS (SELECT 1 FROM vacancies_dailycount WHERE day = {day})"
            )
        changes = ", ".join(f"{name} = {name} {sign} {term}" for name, term in terms.items())
        yield f"UPDATE vacancies_dailycount SET {changes} WHERE day = {day} AND {row}.phase = 1"

    yield from trigger("tally_insert", "INSERT ON vacancies_listedvacancy", *counted("NEW", "+"))
    yield from trigger(
        "tally_update",
        "UPDATE OF phase, audience, is_hot, publish_from ON vacancies_listedvacancy",
        *counted("OLD", "-"),
        *counted("NEW", "+"),
    )
    yield from trigger("tally_delete", "DELETE ON vacancies_listedvacancy", *counted("OLD", "-"))


SQLITE = tuple(_sqlite())

# --- PostgreSQL: once for each statement ----------------------------------------------------------------

_STAMP = "pg_current_xact_id()::text::bigint"
_SUMS = ", ".join(f"sum(change * ({rule})::int)" for rule in LISTS.values())
_ANY = " OR ".join(f"sum(change * ({rule})::int) <> 0" for rule in LISTS.values())


def _count(*changes: str) -> str:
    """A statement that adds to the tally what came (`new_rows`, 1) and went (`old_rows`, -1)."""
    rows = " UNION ALL ".join(f"SELECT *, {change} FROM {table}" for change, table in map(str.split, changes))
    return f"""
        INSERT INTO vacancies_dailycount (day, {_COLUMNS})
        SELECT floor(extract(epoch FROM publish_from) / 86400)::int, {_SUMS}
        FROM ({rows.replace("*,", "publish_from, audience, is_hot, phase,")})
          AS rows (publish_from, audience, is_hot, phase, change)
        WHERE phase = 1 GROUP BY 1 HAVING {_ANY};
    """


def _postgresql() -> Iterator[str]:
    def trigger(name: str, table: str, verb: str, body: str) -> Iterator[str]:
        tables = {
            "INSERT": "REFERENCING NEW TABLE AS new_rows",
            "UPDATE": "REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows",
            "DELETE": "REFERENCING OLD TABLE AS old_rows",
            "TRUNCATE": "",
        }[verb]
        yield (
            f"CREATE OR REPLACE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS "
            f"$$ BEGIN {body} RETURN NULL; END $$"
        )
        yield (
            f"CREATE OR REPLACE TRIGGER {name} AFTER {verb} ON {table} {tables} "
            f"FOR EACH STATEMENT EXECUTE FUNCTION {name}()"
        )

    upsert = f"""
        INSERT INTO vacancies_listedvacancy AS l (vacancy_id, {KEYS}, phase, stamp)
        SELECT id, {KEYS}, 0, {_STAMP} FROM new_rows WHERE status = 'published'
        ON CONFLICT (vacancy_id) DO UPDATE SET
          phase = CASE WHEN (l.publish_from, l.publish_until)
                  IS NOT DISTINCT FROM (excluded.publish_from, excluded.publish_until)
                  THEN l.phase ELSE 0 END,
          {", ".join(f"{key.strip()} = excluded.{key.strip()}" for key in KEYS.split(","))},
          stamp = excluded.stamp, v1 = NULL, v0_1 = NULL;
    """
    vacancy, listing = "vacancies_vacancy", "vacancies_listedvacancy"
    yield from trigger("listing_new", vacancy, "INSERT", upsert)
    yield from trigger(
        "listing_changed",
        vacancy,
        "UPDATE",
        f"DELETE FROM {listing} USING new_rows WHERE vacancy_id = id AND status <> 'published'; {upsert}",
    )
    yield from trigger(
        "listing_old", vacancy, "DELETE", f"DELETE FROM {listing} USING old_rows WHERE vacancy_id = id;"
    )
    yield from trigger("listing_none", vacancy, "TRUNCATE", f"DELETE FROM {listing};")
    anew = f"SET stamp = {_STAMP}, v1 = NULL, v0_1 = NULL"
    for table in PARTS:
        for verb, rows in {"INSERT": ["new"], "UPDATE": ["old", "new"], "DELETE": ["old"]}.items():
            touched = " UNION ".join(f"SELECT vacancy_id FROM {name}_rows" for name in rows)
            yield from trigger(
                f"{table}_{verb.lower()}_listing",
                table,
                verb,
                # A vacancy that somebody publishes just now has no listing to be seen yet: wait for that.
                f"PERFORM 1 FROM {vacancy} WHERE id IN ({touched}) ORDER BY id FOR NO KEY UPDATE; "
                f"UPDATE {listing} {anew} "
                f"WHERE vacancy_id IN ({touched}) "
                f"AND (stamp <> {_STAMP} OR v1 IS NOT NULL OR v0_1 IS NOT NULL);",
            )
        yield from trigger(f"{table}_none_listing", table, "TRUNCATE", f"UPDATE {listing} {anew};")
    for table, column, moved in MOVES:
        name, carriers = f"{table}_moved_listing", f"{_CARRIERS} ({_OPTIONS} {moved})"
        yield (
            f"CREATE OR REPLACE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
            # Who gives such an option to a vacancy, or publishes one that has it, is waited for and waits.
            f"PERFORM 1 FROM {table} WHERE id = NEW.id FOR UPDATE; "
            f"PERFORM 1 FROM vacancies_filteroption WHERE {moved} ORDER BY id FOR UPDATE; "
            f"PERFORM 1 FROM {vacancy} WHERE id IN ({carriers}) ORDER BY id FOR NO KEY UPDATE; "
            f"UPDATE {listing} {anew} WHERE vacancy_id IN ({carriers}); RETURN NULL; END $$"
        )
        yield (
            f"CREATE OR REPLACE TRIGGER {name} AFTER UPDATE ON {table} FOR EACH ROW "
            f"WHEN (OLD.{column} <> NEW.{column}) EXECUTE FUNCTION {name}()"
        )
    # What PostgreSQL has been built with, so that items are read quickly.
    for version in ("v1", "v0_1"):
        yield (
            f"DO $$ BEGIN ALTER TABLE {listing} ALTER COLUMN {version} SET COMPRESSION lz4; "
            "EXCEPTION WHEN OTHERS THEN NULL; END $$"
        )
    yield from trigger("tally_insert", listing, "INSERT", _count("1 new_rows"))
    yield from trigger("tally_update", listing, "UPDATE", _count("-1 old_rows", "1 new_rows"))
    yield from trigger("tally_delete", listing, "DELETE", _count("-1 old_rows"))
    yield from trigger("tally_none", listing, "TRUNCATE", "DELETE FROM vacancies_dailycount;")


POSTGRESQL = tuple(_postgresql())
