"""Dumping and replacing the database of `connection`."""

import gzip
import os
import re
import shutil
import sqlite3
import subprocess
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from django.apps import apps
from django.db import connection, models
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.postgresql.client import DatabaseClient
from django.db.migrations.recorder import MigrationRecorder

from jobsite.ops.backups.files import CHUNK, PART, BackupError
from jobsite.private_files import PrivateNameField, create_private
from jobsite.types import JsonObject

# The database is in use if one of these tables has a row.
CONTENT = (
    "auth_user",
    "vacancies_vacancy",
    "vacancies_brand",
    "vacancies_recruiter",
    "forms_structure_form",
)

Execute = Callable[[str], list[tuple]]  # runs a query, returns its rows


@contextmanager
def snapshot(into: Path) -> Iterator[Execute]:
    """Dump the database to the file `into`, and yield a function that queries the same snapshot."""
    database = connection.copy()  # independent of the current transaction
    create_private(into).close()
    try:
        yield from (_sqlite_snapshot if connection.vendor == "sqlite" else _postgresql_snapshot)(
            database, into
        )
    finally:
        database.close()


def _sqlite_snapshot(database: BaseDatabaseWrapper, into: Path) -> Iterator[Execute]:
    # VACUUM INTO is one read transaction, which blocks no writer, and leaves deleted rows out.
    plain = into.with_suffix(f".plain{PART}")
    create_private(plain).close()
    try:
        with database.cursor() as cursor:
            cursor.execute("VACUUM INTO %s", [str(plain)])
        with open(plain, "rb") as source, gzip.open(into, "wb", compresslevel=1) as target:
            shutil.copyfileobj(source, target, CHUNK)
        with closing(sqlite3.connect(f"{plain.as_uri()}?mode=ro&immutable=1", uri=True)) as copy:
            yield lambda sql: copy.execute(sql).fetchall()
    finally:
        plain.unlink(missing_ok=True)


def _postgresql_snapshot(database: BaseDatabaseWrapper, into: Path) -> Iterator[Execute]:
    database.set_autocommit(False)
    with database.cursor() as cursor:

        def execute(sql: str) -> list[tuple]:
            cursor.execute(sql)
            return cursor.fetchall() if cursor.description else []

        execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        execute("SET LOCAL idle_in_transaction_session_timeout = 0")
        execute("SET LOCAL statement_timeout = 0")
        snapshot_id = execute("SELECT pg_export_snapshot()")[0][0]
        _run_postgresql(
            "pg_dump",
            "--format=custom",
            "--compress=1",
            "--no-owner",
            "--no-privileges",
            f"--snapshot={snapshot_id}",
            f"--file={into}",
        )
        yield execute


def describe(execute: Execute) -> JsonObject:
    """Return facts about the database for the manifest, and the names of files in its rows: `named`
    has those below MEDIA_ROOT, `private` those below PRIVATE_ROOT.
    """
    if connection.vendor == "sqlite":
        found = execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'"
        )
        server = sqlite3.sqlite_version
    else:
        found = execute("SELECT tablename FROM pg_tables WHERE schemaname = current_schema()")
        server = execute("SHOW server_version")[0][0]
    tables = sorted(name for (name,) in found)
    return {
        "server": server,
        "migrations": execute("SELECT app, name FROM django_migrations ORDER BY app, name"),
        "tables": {name: execute(f'SELECT COUNT(*) FROM "{name}"')[0][0] for name in tables},
        "named": _names(execute, models.FileField, tables),
        "private": _names(execute, PrivateNameField, tables),
    }


def _names(execute: Execute, kind: type[models.Field], tables: list[str]) -> set[str]:
    """Return the names of files in the fields of the type `kind`."""
    columns = [
        (field.column, model._meta.db_table)
        for model in apps.get_models()
        if model._meta.db_table in tables
        for field in model._meta.local_fields
        if isinstance(field, kind)
    ]
    rows = (execute(f'SELECT DISTINCT "{column}" FROM "{table}"') for column, table in columns)
    return {name for found in rows for (name,) in found if name}


def still_named(names: Iterable[str]) -> set[str]:
    """Return those of the file `names` that rows contain now."""
    wanted, found = sorted(set(names)), set[str]()
    for model in apps.get_models():
        for field in model._meta.local_fields:
            if isinstance(field, (models.FileField, PrivateNameField)):
                for start in range(0, len(wanted), 500):
                    rows = model._base_manager.filter(
                        **{f"{field.name}__in": wanted[start : start + 500]}
                    )
                    found.update(map(str, rows.values_list(field.name, flat=True)))
    return found


def is_in_use() -> bool:
    """Return whether the database contains data that a restore would delete."""
    tables = set(connection.introspection.table_names())
    if tables and MigrationRecorder.Migration._meta.db_table not in tables:
        return True  # it belongs to another application
    with connection.cursor() as cursor:
        for table in tables.intersection(CONTENT):
            cursor.execute(f"SELECT 1 FROM {table} LIMIT 1")
            if cursor.fetchone():
                return True
    return False


def replace(dump: Path, statements: Iterable[str]) -> None:
    """Replace the database by `dump` after running `statements` on it, in one transaction.

    Raises BackupError; then the database has not changed.
    """
    if connection.vendor == "sqlite":
        _replace_sqlite(dump, statements)
    else:
        _replace_postgresql(dump, statements)
    connection.close()


def _replace_sqlite(dump: Path, statements: Iterable[str]) -> None:
    plain = dump.with_suffix(".sqlite3")
    try:
        with gzip.open(dump) as packed, create_private(plain) as target:
            shutil.copyfileobj(packed, target, CHUNK)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise BackupError(
            f"Nothing was replaced: {dump.name} cannot be unpacked: {error}"
        ) from None
    dump.unlink()
    own = connection.copy()
    try:
        with closing(sqlite3.connect(plain)) as source:
            for statement in statements:
                source.execute(statement)
            source.commit()
            own.ensure_connection()
            source.backup(own.connection)  # one transaction for readers
    except sqlite3.Error as error:
        raise BackupError(f"Nothing was replaced: {error}") from None
    finally:
        own.close()


def _replace_postgresql(dump: Path, statements: Iterable[str]) -> None:
    before, script, after = (dump.with_suffix(f".{number}.sql") for number in range(3))
    _run_postgresql("pg_restore", "--no-owner", "--no-privileges", f"--file={script}", str(dump))
    dump.unlink()
    before.write_text(
        "SET lock_timeout = '10s'; SET client_min_messages = warning; DROP SCHEMA public CASCADE; "
        "CREATE SCHEMA public; GRANT USAGE ON SCHEMA public TO PUBLIC;"
    )
    after.write_text("".join(f"{each};\n" for each in ("SET search_path = public", *statements)))
    connection.close()  # it may hold a lock
    _run_postgresql(
        "psql",
        "--no-psqlrc",
        "--quiet",
        "--set=ON_ERROR_STOP=1",
        "--single-transaction",
        *(f"--file={path}" for path in (before, script, after)),
    )


def _run_postgresql(program: str, *arguments: str) -> None:
    """Run a client program of PostgreSQL on our database.
    The password is passed in the environment.
    """
    path = shutil.which(program)
    if path is None:
        raise BackupError(
            f"{program} is not installed: on Debian and Ubuntu, install postgresql-client, at "
            "least of the server's version."
        )
    text = subprocess.run([path, "--version"], capture_output=True, text=True, check=False).stdout
    client = int(re.findall(r"\d+", text or "0")[0])
    server = connection.pg_version // 10_000  # type: ignore[attr-defined] # of PostgreSQL only
    if client < server:
        raise BackupError(
            f"{program} has version {client}, and the server {server}: install a newer one."
        )
    command, variables = DatabaseClient.settings_to_cmd_args_env(connection.settings_dict, [])
    env = os.environ | (variables or {})
    if target := connection.settings_dict["OPTIONS"].get("target_session_attrs"):
        env["PGTARGETSESSIONATTRS"] = target  # selects the writable one of several hosts
    database = [] if program == "pg_restore" else command[1:]
    done = subprocess.run(
        [path, *arguments, *database],
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        check=False,
    )
    if done.returncode:
        raise BackupError(f"{program} failed: {' '.join(done.stderr.split())[-1000:]}")
