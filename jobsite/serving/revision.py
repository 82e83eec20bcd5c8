"""Raises the revision with every change of what the public sees, by triggers: bulk updates, imports and
SQL from elsewhere count too, and a number is visible exactly when its change is."""

import itertools
import re
import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from hashlib import md5
from typing import Any, NamedTuple

import psycopg
from django.db import DatabaseError, connections, transaction
from psycopg.pq import ExecStatus

from jobsite.serving import replicas

VERBS = ("INSERT", "UPDATE", "DELETE")


class State(NamedTuple):
    """The one row of `jobsite.models.Revision`."""

    number: int
    shared: int
    settled: int


READ = f"SELECT {', '.join(State._fields)} FROM jobsite_revision WHERE id = 1"

BINARY = 1  # libpq's number for the format
_number, _moment = struct.Struct("!q").unpack, datetime(2000, 1, 1, tzinfo=UTC)
# How the values of the types that statements of ours return come from PostgreSQL, by the number of the type.
LOADERS: dict[int, Callable[[bytes], Any]] = {
    20: lambda value: _number(value)[0],
    23: lambda value: int.from_bytes(value, signed=True),
    1043: bytes.decode,
    1184: lambda value: _moment + timedelta(microseconds=_number(value)[0]),
}

# Every writer would lock the one row until it commits. So a transaction leaves a note once, and a
# deferred trigger on the note raises the numbers as the last thing before the commit.
POSTGRESQL = (
    """
    CREATE TABLE IF NOT EXISTS jobsite_note (
      id bigserial PRIMARY KEY, shared int NOT NULL DEFAULT 0, settled bigint NOT NULL DEFAULT 0
    )
    """,
    """
    DO $$ BEGIN
      IF NOT EXISTS (
        SELECT FROM pg_attribute WHERE attrelid = 'jobsite_note'::regclass AND attname = 'settled'
      ) THEN  -- of an older version
        ALTER TABLE jobsite_note ADD COLUMN IF NOT EXISTS shared int NOT NULL DEFAULT 0,
          ADD COLUMN settled bigint NOT NULL DEFAULT 0;
      END IF;
    END $$
    """,
    """
    CREATE OR REPLACE FUNCTION jobsite_note() RETURNS trigger LANGUAGE plpgsql AS $$
    DECLARE
      shared int := coalesce(TG_ARGV[0], '1')::int;  -- triggers of an older version say nothing
      noted text := 'jobsite.noted' || shared;
    BEGIN
      IF current_setting(noted, true) IS DISTINCT FROM pg_current_xact_id()::text THEN
        PERFORM set_config(noted, pg_current_xact_id()::text, true);
        INSERT INTO jobsite_note (shared) VALUES (shared);
      END IF;
      RETURN NULL;
    END $$
    """,
    """
    CREATE OR REPLACE FUNCTION jobsite_raise() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO jobsite_revision AS r (id, number, shared, settled) VALUES (1, 1, NEW.shared, NEW.settled)
      ON CONFLICT (id) DO UPDATE SET
        number = r.number + (NEW.settled = 0)::int,  -- what moves on by the clock was raised by who wrote it
        shared = r.shared + NEW.shared, settled = greatest(r.settled, NEW.settled);
      DELETE FROM jobsite_note WHERE id = NEW.id;
      RETURN NULL;
    END $$
    """,
    """
    DO $$ BEGIN
      IF NOT EXISTS (SELECT FROM pg_trigger WHERE tgname = 'jobsite_raise') THEN
        CREATE CONSTRAINT TRIGGER jobsite_raise AFTER INSERT ON jobsite_note
        DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION jobsite_raise();
      END IF;
    END $$
    """,
)
SQLITE_RAISE = """
    INSERT INTO jobsite_revision (id, number, shared, settled) VALUES (1, 1, {shared}, 0)
    ON CONFLICT (id) DO UPDATE SET number = number + 1, shared = shared + {shared}
"""


def fetch(sql: str, *parameters: Any) -> list[tuple]:
    """Return the rows of `sql`, with %s for each of `parameters`, from where public reads go, by the cheapest
    way there is: prepared on the server, past Django's cursor. Raises a DatabaseError."""
    alias = replicas.current()
    connection = connections[alias]
    connection.ensure_connection()
    raw: Any = connection.connection
    try:
        if connection.vendor == "postgresql":
            # A replica may freeze, and psycopg keeps an eye on the clock; a pgbouncer prepares nothing.
            if alias != "default" or raw.prepare_threshold is None:
                return psycopg.Cursor(raw).execute(sql, parameters, prepare=True, binary=True).fetchall()
            return _ask(raw, sql, parameters)
        return raw.execute(sql.replace("%s", "?"), parameters).fetchall()
    except Exception as error:
        connection.errors_occurred = True  # so that the next request looks whether it is still usable
        raise DatabaseError(str(error)) from error


def _ask(raw: Any, sql: str, parameters: Any) -> list[tuple]:
    """The rows of `sql`, prepared once for the connection `raw`, by libpq alone: a third of what psycopg's
    own cursor costs, which has to be able to do everything."""
    server = raw.pgconn
    prepared = raw.__dict__.setdefault("jobsite_prepared", {})
    if (name := prepared.get(sql)) is None:
        # By what it says: behind a pool that nobody told of, another connection's is the same or is missing.
        name = b"jobsite_" + md5(sql.encode(), usedforsecurity=False).hexdigest().encode()
        numbers = itertools.count(1)
        statement = re.sub("%s", lambda found: f"${next(numbers)}", sql)
        _checked(server.prepare(name, statement.encode()))
        prepared[sql] = name
    values = [str(each).replace("[", "{").replace("]", "}").encode() for each in parameters]
    result = _checked(server.exec_prepared(name, values, result_format=BINARY))
    columns = [(column, LOADERS.get(result.ftype(column), bytes)) for column in range(result.nfields)]
    get = result.get_value
    return [
        tuple(None if (value := get(row, column)) is None else load(value) for column, load in columns)
        for row in range(result.ntuples)
    ]


def _checked(result: Any) -> Any:
    if result.status not in (ExecStatus.TUPLES_OK, ExecStatus.COMMAND_OK):
        raise psycopg.OperationalError(result.error_message.decode(errors="replace"))
    return result


@contextmanager
def snapshot() -> Iterator[None]:
    """What is read from where public reads go is of one moment, however many statements that takes. Writing
    is not what this is for: it may fail with a DatabaseError."""
    alias = replicas.current()
    if connections[alias].vendor == "postgresql":
        with transaction.atomic(using=alias), connections[alias].cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
            yield
    else:  # not Django's own, which begins as one that writes
        with connections[alias].cursor() as cursor:
            cursor.execute("BEGIN DEFERRED")
            try:
                yield
            finally:
                cursor.execute("ROLLBACK")


def state() -> State:
    """Return where the database stands; it is asked for on every request. Raises a DatabaseError."""
    rows = fetch(READ)
    return State(*rows[0]) if rows else State(0, 0, 0)


def unwatch(using: str, plan: list[Any] | None = None, **kwargs: Any) -> None:
    """Before migrations on SQLite, which renames tables that it makes anew, and no table that a trigger
    elsewhere names: take all triggers away. They are all ours, and are made again afterwards."""
    if connections[using].vendor == "sqlite" and plan:
        with connections[using].cursor() as cursor:
            if "jobsite_revision" in connections[using].introspection.table_names(cursor):
                cursor.execute("UPDATE jobsite_revision SET number = -1 - number WHERE number >= 0")
            cursor.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'")
            for (name,) in cursor.fetchall():
                cursor.execute(f"DROP TRIGGER {name}")


def watch(sender: Any, using: str, **kwargs: Any) -> None:
    """After every migration: let the tables of `sender.shown` and `sender.shared`, models by name, raise
    the revision. SQLite loses triggers when Django makes a table anew."""
    named = dict.fromkeys(getattr(sender, "shown", ()), 0) | dict.fromkeys(getattr(sender, "shared", ()), 1)
    if not named:
        return
    database = connections[using]
    tables = set(database.introspection.table_names())
    watched = {sender.get_model(name)._meta.db_table: shared for name, shared in named.items()}
    if "jobsite_revision" not in tables or not tables.issuperset(watched):
        return  # on the way to an older migration
    with database.cursor() as cursor:
        columns = {c.name for c in database.introspection.get_table_description(cursor, "jobsite_revision")}
        if columns.issuperset(State._fields):
            for statement in _statements(database.vendor, watched):
                cursor.execute(statement)


def _statements(vendor: str, tables: dict[str, int]) -> Iterator[str]:
    if vendor == "sqlite":
        for table, shared in tables.items():
            for verb in VERBS:
                name = f"{table}_{verb.lower()}_raises"
                yield f"DROP TRIGGER IF EXISTS {name}"
                yield (
                    f"CREATE TRIGGER {name} AFTER {verb} ON {table} "
                    f"BEGIN {SQLITE_RAISE.format(shared=shared)}; END"
                )
    elif vendor == "postgresql":
        yield from POSTGRESQL
        for table, shared in tables.items():
            yield f"""
                DO $$ BEGIN
                  IF NOT EXISTS (
                    SELECT FROM pg_trigger WHERE tgname = 'raises' AND tgrelid = '{table}'::regclass
                    AND pg_get_triggerdef(oid) LIKE '%jobsite_note(''{shared}'')%'
                  ) THEN
                    CREATE OR REPLACE TRIGGER raises AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON {table}
                    FOR EACH STATEMENT EXECUTE FUNCTION jobsite_note({shared});
                  END IF;
                END $$
            """
