"""The revision: a number that triggers raise with every change of what the public sees.

Bulk updates, imports and SQL from other programs count too. A new number becomes visible together with the
change.
"""

import itertools
import re
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import md5
from pathlib import Path
from typing import Any, NamedTuple

import psycopg
from django.apps import apps
from django.db import DatabaseError, connections, transaction
from psycopg import generators
from psycopg.pq import ExecStatus

from jobsite.serving import replica
from jobsite.serving.triggers import forget, install, read_statements


class RevisionState(NamedTuple):
    """The one row of `jobsite.models.Revision`. A negative number: the triggers are not installed."""

    number: int
    shared: int


READ = f"SELECT {', '.join(RevisionState._fields)} FROM jobsite_revision WHERE id = 1"
BINARY = 1  # libpq's number of the format

SQLITE = """CREATE TRIGGER {table}_{verb}_bump_revision AFTER {verb} ON {table} BEGIN
  INSERT INTO jobsite_revision (id, number, shared) VALUES (1, 1, {shared})
  ON CONFLICT (id) DO UPDATE SET number = number + 1, shared = shared + {shared};
END"""
POSTGRESQL = """CREATE OR REPLACE TRIGGER bump_revision
  AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON {table}
  FOR EACH STATEMENT EXECUTE FUNCTION jobsite_add_pending_bump({shared})"""


def fetch(sql: str, *parameters: Any) -> list[tuple]:
    """Return the rows of `sql`, which has %s for each of `parameters`, from the database of public reads.

    The statement is prepared on the server and bypasses Django's cursor, for speed. Raises a DatabaseError.
    """
    connection = connections[replica.current()]
    connection.ensure_connection()
    raw: Any = connection.connection
    try:
        if connection.vendor == "sqlite":
            return raw.execute(sql.replace("%s", "?"), parameters).fetchall()
        if raw.prepare_threshold is None:  # pgbouncer does not support PREPARE
            return psycopg.Cursor(raw).execute(sql, parameters, prepare=True, binary=True).fetchall()
        return _execute_prepared(raw, sql, parameters)
    except Exception as error:
        connection.errors_occurred = True  # Django then checks the connection before the next request
        raise DatabaseError(str(error)) from error


def _execute_prepared(raw: Any, sql: str, parameters: Any) -> list[tuple]:
    """Run `sql`, prepared once per connection, by libpq. psycopg's cursor costs 20 us of CPU more: a warm
    response would cost 1.3 times as much (tests/benchmarks/ablations.py)."""
    server = raw.pgconn
    prepared = raw.__dict__.setdefault("jobsite_prepared", {})
    if (name := prepared.get(sql)) is None:
        # Named after its text: behind an undeclared pooler, a name may be missing, never another one.
        name = b"jobsite_" + md5(sql.encode(), usedforsecurity=False).hexdigest().encode()
        numbers = itertools.count(1)
        server.send_prepare(name, re.sub("%s", lambda found: f"${next(numbers)}", sql).encode())
        _result(raw)
        prepared[sql] = name
    values = [str(each).replace("[", "{").replace("]", "}").encode() for each in parameters]
    server.send_query_prepared(name, values, result_format=BINARY)
    result = _result(raw)
    transformer = psycopg.adapt.Transformer(raw)
    transformer.set_pgresult(result)
    return transformer.load_rows(0, result.ntuples, tuple)


def _result(raw: Any) -> Any:
    [result] = raw.wait(generators.execute(raw.pgconn))
    if result.status not in (ExecStatus.TUPLES_OK, ExecStatus.COMMAND_OK):
        raise psycopg.OperationalError(result.error_message.decode(errors="replace"))
    return result


def read_state() -> RevisionState:
    """Read the revision. Every request calls this. Raises a DatabaseError."""
    rows = fetch(READ)
    return RevisionState(*rows[0]) if rows else RevisionState(0, 0)


def bump(using: str) -> None:
    """Raise both numbers, as the triggers do. On SQLite, also make them valid again after migrations."""
    if connections[using].vendor == "sqlite":
        sql = "UPDATE jobsite_revision SET number = abs(number) + 1, shared = shared + 1"
    else:
        sql = "INSERT INTO jobsite_pending_bump (shared) VALUES (1)"
    with connections[using].cursor() as cursor:
        cursor.execute(sql)


@contextmanager
def snapshot() -> Iterator[None]:
    """Run public reads in one snapshot: REPEATABLE READ on PostgreSQL, one read transaction on SQLite. Writes
    may fail with a DatabaseError."""
    alias = replica.current()
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


def install_triggers(using: str, **kwargs: Any) -> None:
    """post_migrate receiver: install the triggers that raise the revision.

    They are on the tables of `tracked_models` and `shared_models` of the app configurations, names of models.
    Changes of the latter raise the number `shared` too.
    """
    tables = {
        config.get_model(name)._meta.db_table: shared
        for config in apps.get_app_configs()
        for shared, names in enumerate(("tracked_models", "shared_models"))
        for name in getattr(config, names, ())
    }
    database = connections[using]
    existing = set(database.introspection.table_names())
    if not existing.issuperset(["jobsite_revision", *tables]):  # migrating backwards
        if "jobsite_revision" in existing:
            forget(using, "jobsite_revision")
        return
    if database.vendor == "sqlite":
        verbs = ("insert", "update", "delete")
        statements = [
            SQLITE.format(table=table, verb=verb, shared=tables[table]) for table in tables for verb in verbs
        ]
    else:
        statements = read_statements(Path(__file__).with_name("revision.postgresql.sql"))
        statements += [POSTGRESQL.format(table=table, shared=shared) for table, shared in tables.items()]
    install(using, "jobsite_revision", statements)
