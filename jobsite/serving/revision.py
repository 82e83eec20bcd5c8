"""The revision: a number that triggers raise with every change of what the public sees.

Bulk updates, imports and SQL from other programs count too. A new number becomes visible together with the
change.
"""

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


class RevisionState(NamedTuple):
    """The one row of `jobsite.models.Revision`."""

    number: int
    shared: int
    watermark: int


READ = f"SELECT {', '.join(RevisionState._fields)} FROM jobsite_revision WHERE id = 1"

BINARY = 1  # libpq's number of the format
_int8, _epoch = struct.Struct("!q").unpack, datetime(2000, 1, 1, tzinfo=UTC)
# Decoders of PostgreSQL's binary format by type OID, for the types that our statements return.
LOADERS: dict[int, Callable[[bytes], Any]] = {
    20: lambda value: _int8(value)[0],
    23: lambda value: int.from_bytes(value, signed=True),
    1043: bytes.decode,
    1184: lambda value: _epoch + timedelta(microseconds=_int8(value)[0]),
}

# An update of the one row would lock it until the commit, and serialize all writers. So the first change of
# a transaction inserts one marker row, and a deferred trigger on it raises the numbers just before commit.
POSTGRESQL = (
    """
    CREATE TABLE IF NOT EXISTS jobsite_pending_bump (
      id bigserial PRIMARY KEY, shared int NOT NULL DEFAULT 0, watermark bigint NOT NULL DEFAULT 0
    )
    """,
    """
    CREATE OR REPLACE FUNCTION jobsite_add_pending_bump() RETURNS trigger LANGUAGE plpgsql AS $$
    DECLARE
      shared int := TG_ARGV[0]::int;
      added_in text := 'jobsite.pending_bump' || shared;
    BEGIN
      IF current_setting(added_in, true) IS DISTINCT FROM pg_current_xact_id()::text THEN
        PERFORM set_config(added_in, pg_current_xact_id()::text, true);
        INSERT INTO jobsite_pending_bump (shared) VALUES (shared);
      END IF;
      RETURN NULL;
    END $$
    """,
    """
    CREATE OR REPLACE FUNCTION jobsite_bump_revision() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO jobsite_revision AS r (id, number, shared, watermark)
      VALUES (1, 1, NEW.shared, NEW.watermark)
      ON CONFLICT (id) DO UPDATE SET
        number = r.number + (NEW.watermark = 0)::int,  -- the writer of a watermark bumps the number itself
        shared = r.shared + NEW.shared, watermark = greatest(r.watermark, NEW.watermark);
      DELETE FROM jobsite_pending_bump WHERE id = NEW.id;
      RETURN NULL;
    END $$
    """,
    """
    DO $$ BEGIN
      IF NOT EXISTS (SELECT FROM pg_trigger WHERE tgname = 'jobsite_bump_revision') THEN
        CREATE CONSTRAINT TRIGGER jobsite_bump_revision AFTER INSERT ON jobsite_pending_bump
        DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION jobsite_bump_revision();
      END IF;
    END $$
    """,
)
SQLITE_BUMP = """
    INSERT INTO jobsite_revision (id, number, shared, watermark) VALUES (1, 1, {shared}, 0)
    ON CONFLICT (id) DO UPDATE SET number = number + 1, shared = shared + {shared}
"""


def fetch(sql: str, *parameters: Any) -> list[tuple]:
    """Return the rows of `sql`, which has %s for each of `parameters`, from the database of public reads.

    The statement is prepared on the server and bypasses Django's cursor, for speed. Raises a DatabaseError.
    """
    alias = replicas.current()
    connection = connections[alias]
    connection.ensure_connection()
    raw: Any = connection.connection
    try:
        if connection.vendor == "postgresql":
            # psycopg enforces a timeout, which a frozen replica needs. pgbouncer does not support PREPARE.
            if alias != "default" or raw.prepare_threshold is None:
                return psycopg.Cursor(raw).execute(sql, parameters, prepare=True, binary=True).fetchall()
            return _execute_prepared(raw, sql, parameters)
        return raw.execute(sql.replace("%s", "?"), parameters).fetchall()
    except Exception as error:
        connection.errors_occurred = True  # Django then checks the connection before the next request
        raise DatabaseError(str(error)) from error


def _execute_prepared(raw: Any, sql: str, parameters: Any) -> list[tuple]:
    """Run `sql`, prepared once per connection, by libpq alone: a third of the cost of psycopg's cursor."""
    server = raw.pgconn
    prepared = raw.__dict__.setdefault("jobsite_prepared", {})
    if (name := prepared.get(sql)) is None:
        # Named after its text: behind an undeclared pooler, a name may be missing, never another one.
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
    """Run public reads in one snapshot: REPEATABLE READ on PostgreSQL, one read transaction on SQLite. Writes
    may fail with a DatabaseError."""
    alias = replicas.current()
    if connections[alias].vendor == "postgresql":
        with transaction.atomic(using=alias), connections[alias].cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
            yield
    else:  # Django's own transaction is a write transaction (BEGIN IMMEDIATE)
        with connections[alias].cursor() as cursor:
            cursor.execute("BEGIN DEFERRED")
            try:
                yield
            finally:
                cursor.execute("ROLLBACK")


def read_state() -> RevisionState:
    """Read the revision. Every request calls this. Raises a DatabaseError."""
    rows = fetch(READ)
    return RevisionState(*rows[0]) if rows else RevisionState(0, 0, 0)


def drop_triggers(using: str, plan: list[Any] | None = None, **kwargs: Any) -> None:
    """pre_migrate receiver: drop all triggers on SQLite, whose table rebuild fails with them.

    All triggers are this project's, and post_migrate installs them again.
    """
    if connections[using].vendor == "sqlite" and plan:
        with connections[using].cursor() as cursor:
            if "jobsite_revision" in connections[using].introspection.table_names(cursor):
                cursor.execute("UPDATE jobsite_revision SET number = -1 - number WHERE number >= 0")
            cursor.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'")
            for (name,) in cursor.fetchall():
                cursor.execute(f"DROP TRIGGER {name}")


def install_triggers(sender: Any, using: str, **kwargs: Any) -> None:
    """post_migrate receiver: install the triggers that raise the revision.

    They are on the tables of `sender.tracked_models` and `sender.shared_models`, names of models of the app
    `sender`. Changes of the latter raise the number `shared` too.
    """
    models = dict.fromkeys(getattr(sender, "tracked_models", ()), 0)
    models |= dict.fromkeys(getattr(sender, "shared_models", ()), 1)
    if not models:
        return
    database = connections[using]
    tables = set(database.introspection.table_names())
    tracked = {sender.get_model(name)._meta.db_table: shared for name, shared in models.items()}
    if "jobsite_revision" not in tables or not tables.issuperset(tracked):
        return  # migrating backwards
    with database.cursor() as cursor:
        for statement in _statements(database.vendor, tracked):
            cursor.execute(statement)


def _statements(vendor: str, tables: dict[str, int]) -> Iterator[str]:
    if vendor == "sqlite":
        for table, shared in tables.items():
            for verb in VERBS:
                name = f"{table}_{verb.lower()}_bump_revision"
                yield f"DROP TRIGGER IF EXISTS {name}"
                yield (
                    f"CREATE TRIGGER {name} AFTER {verb} ON {table} "
                    f"BEGIN {SQLITE_BUMP.format(shared=shared)}; END"
                )
    elif vendor == "postgresql":
        yield from POSTGRESQL
        for table, shared in tables.items():
            yield f"""
                DO $$ BEGIN
                  IF NOT EXISTS (
                    SELECT FROM pg_trigger WHERE tgname = 'bump_revision' AND tgrelid = '{table}'::regclass
                    AND pg_get_triggerdef(oid) LIKE '%jobsite_add_pending_bump(''{shared}'')%'
                  ) THEN
                    CREATE OR REPLACE TRIGGER bump_revision
                    AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON {table}
                    FOR EACH STATEMENT EXECUTE FUNCTION jobsite_add_pending_bump({shared});
                  END IF;
                END $$
            """
