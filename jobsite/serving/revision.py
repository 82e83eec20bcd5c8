"""The revision: a number that triggers raise with every change of what the public sees.

Bulk updates, imports and SQL from other programs count too. A new number becomes visible together
with the change.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from hashlib import sha256
from itertools import count, product
from typing import Any, NamedTuple

import psycopg
from django.apps import apps
from django.db import DEFAULT_DB_ALIAS, OperationalError, connections, transaction
from psycopg import generators
from psycopg.pq import ExecStatus, Format

from jobsite.serving import replica


class RevisionState(NamedTuple):
    """The one row of `jobsite.models.Revision`."""

    number: int
    shared: int


READ = f"SELECT {', '.join(RevisionState._fields)} FROM jobsite_revision WHERE id = 1"

SQLITE = """CREATE TRIGGER IF NOT EXISTS {table}_{verb}_bump_revision AFTER {verb} ON {table} BEGIN
  INSERT INTO jobsite_revision (id, number, shared) VALUES (1, 1, {shared})
  ON CONFLICT (id) DO UPDATE SET number = number + 1, shared = shared + {shared};
END"""


def fetch(sql: str, *parameters: object) -> list[tuple]:
    """Return the rows of `sql`, which has %s for each of `parameters`, from the database of public
    reads.

    The statement is prepared on the server and bypasses Django's cursor, for speed. If the
    connection was lost, it is repeated on a new one, except within a transaction. Raises a
    DatabaseError.
    """
    connection = connections[replica.current()]
    try:
        return _execute(connection, sql, parameters)
    except OperationalError as error:
        raw = connection.connection
        if connection.in_atomic_block or raw is None or not getattr(raw, "closed", False):
            raise
        connection.close()
        try:
            connection.ensure_connection()
        except OperationalError:
            raise error from None
    return _execute(connection, sql, parameters)


def _execute(connection: Any, sql: str, parameters: Any) -> list[tuple]:
    connection.ensure_connection()
    raw: Any = connection.connection
    # Django then checks the connection before the next request.
    with connection.wrap_database_errors:
        if connection.vendor == "sqlite":
            return raw.execute(sql.replace("%s", "?"), parameters).fetchall()
        if raw.prepare_threshold is None:  # pgbouncer does not prepare statements
            return (
                psycopg.RawCursor(raw).execute(_numbered(sql), parameters, binary=True).fetchall()
            )
        return _execute_prepared(raw, sql, parameters)


def _execute_prepared(raw: Any, sql: str, parameters: Any) -> list[tuple]:
    """Return the rows of `sql`, which is prepared once for each connection. A cursor of psycopg
    takes 10 us more, a third of a cached response.
    """
    if (kept := raw.__dict__.get("jobsite")) is None:
        kept = raw.__dict__["jobsite"] = {}, psycopg.adapt.Transformer(raw)
    prepared, transformer = kept  # the latter knows how to load the types of columns
    if (name := prepared.get(sql)) is None:
        # Named after its text: behind a pooler that no setting declares, it may be missing, but is
        # never another one.
        name = b"jobsite_" + sha256(sql.encode()).hexdigest()[:40].encode()
        raw.pgconn.send_prepare(name, _numbered(sql).encode())
        _result(raw)
        prepared[sql] = name
    values = [None if each is None else _text(each) for each in parameters]
    raw.pgconn.send_query_prepared(name, values, result_format=Format.BINARY)
    result = _result(raw)
    transformer.set_pgresult(result)
    return transformer.load_rows(0, result.ntuples, tuple)


def _text(value: object) -> bytes:
    """Return a parameter as PostgreSQL reads it: a text, a number, a time, or a list of these."""
    if isinstance(value, list) and all(type(each) is int for each in value):
        value = f"{{{','.join(map(str, value))}}}"
    elif isinstance(value, list):
        escaped = (str(each).replace("\\", r"\\").replace('"', r"\"") for each in value)
        value = "{" + ",".join(f'"{each}"' for each in escaped) + "}"
    return str(value).encode()


def _result(raw: Any) -> Any:
    [result] = raw.wait(generators.execute(raw.pgconn))
    if result.status not in (ExecStatus.TUPLES_OK, ExecStatus.COMMAND_OK):
        raise psycopg.errors.error_from_result(result, encoding=raw.info.encoding)
    return result


@cache
def _numbered(sql: str) -> str:
    """Return `sql` with $1, $2 ... instead of each %s."""
    numbers = count(1)
    return re.sub("%s", lambda found: f"${next(numbers)}", sql)


def read_state() -> RevisionState:
    """Read the revision. Every request calls this. Raises a DatabaseError."""
    rows = fetch(READ)
    return RevisionState(*rows[0]) if rows else RevisionState(0, 0)


def bump(using: str) -> None:
    """Raise both numbers, as the triggers do."""
    if connections[using].vendor == "sqlite":
        sql = "UPDATE jobsite_revision SET number = number + 1, shared = shared + 1"
    else:
        sql = "INSERT INTO jobsite_pending_bump (shared) VALUES (1)"
    with connections[using].cursor() as cursor:
        cursor.execute(sql)


@contextmanager
def snapshot() -> Iterator[RevisionState | None]:
    """Run public reads in one snapshot, and yield its revision. Within a transaction, yield None:
    what it has changed has no revision yet.
    """
    connection = connections[replica.current()]
    if connection.in_atomic_block or connections[DEFAULT_DB_ALIAS].in_atomic_block:
        yield None
    elif connection.vendor == "postgresql":
        with transaction.atomic(using=connection.alias), connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
            yield read_state()
    else:  # Django's own transaction is a write transaction (BEGIN IMMEDIATE)
        with connection.cursor() as cursor:
            cursor.execute("BEGIN DEFERRED")
            try:
                yield read_state()
            finally:
                cursor.execute("ROLLBACK")


# --- Triggers on SQLite. On PostgreSQL, migrations create them ------------------------------------


def create_on_sqlite(using: str, table: str, statements: list[str]) -> None:
    """Execute the `statements`, which create triggers, if the database is SQLite and has `table`,
    which they write.
    """
    connection = connections[using]
    if connection.vendor == "sqlite" and table in connection.introspection.table_names():
        with connection.cursor() as cursor:
            for statement in statements:
                cursor.execute(statement)


def drop_triggers(using: str, plan: object = None, **kwargs: object) -> None:
    """pre_migrate receiver: drop all triggers on SQLite, which cannot rebuild a table that one
    refers to, and drops those of the table that it rebuilds.
    """
    if connections[using].vendor == "sqlite" and plan:
        with connections[using].cursor() as cursor:
            cursor.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'")
            for (name,) in cursor.fetchall():
                cursor.execute(f"DROP TRIGGER {name}")


def create_triggers(using: str, plan: object = None, **kwargs: object) -> None:
    """post_migrate receiver: create the triggers that raise the revision on SQLite.

    They are on the tables of `tracked_models` and `shared_models` of the app configurations, names
    of models. Changes of the latter raise the number `shared` too.
    """
    tables = {
        config.get_model(name)._meta.db_table: shared
        for config in apps.get_app_configs()
        for shared, names in enumerate(("tracked_models", "shared_models"))
        for name in getattr(config, names, ())
    }
    existing = set(connections[using].introspection.table_names())
    if connections[using].vendor != "sqlite" or "jobsite_revision" not in existing:
        return
    with connections[using].cursor() as cursor:
        for table, verb in product(tables.keys() & existing, ("insert", "update", "delete")):
            cursor.execute(SQLITE.format(table=table, verb=verb, shared=tables[table]))
    if plan:
        bump(using)  # for what was written without triggers
