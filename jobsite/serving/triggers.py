"""Installs triggers from .sql files."""

from collections.abc import Callable
from hashlib import md5
from pathlib import Path
from typing import Any

from django.db import connections


def read_statements(path: Path) -> list[str]:
    """Return the statements of an .sql file. A blank line ends a statement; comments alone are skipped."""
    parts = path.read_text().strip().split("\n\n")
    return [part for part in parts if not all(line.startswith("--") for line in part.splitlines())]


def install(
    using: str, table: str, statements: list[str], fill: Callable[[str], None] = lambda using: None
) -> None:
    """Execute `statements`, then call `fill` with the database, unless both were done before.

    On PostgreSQL, the comment on `table` has a hash of the installed statements: to install them again would
    lock the tables. On SQLite, all triggers are dropped before migrations (`drop_all`).
    """
    connection = connections[using]
    checksum = md5("".join(statements).encode(), usedforsecurity=False).hexdigest()
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            names = {statement.partition("CREATE TRIGGER ")[2].split()[0] for statement in statements}
            cursor.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'")
            if names <= {name for (name,) in cursor.fetchall()}:
                return
        else:
            cursor.execute(f"SELECT obj_description('{table}'::regclass)")
            if cursor.fetchone()[0] == checksum:
                return
        for statement in statements:
            cursor.execute(statement)
        fill(using)
        if connection.vendor == "postgresql":
            cursor.execute(f"COMMENT ON TABLE {table} IS '{checksum}'")


def forget(using: str, table: str) -> None:
    """Let the next `install` execute its statements: a table with such triggers was dropped."""
    if connections[using].vendor == "postgresql":
        with connections[using].cursor() as cursor:
            cursor.execute(f"COMMENT ON TABLE {table} IS NULL")


def drop_all(using: str, plan: list[Any] | None = None, **kwargs: Any) -> None:
    """pre_migrate receiver: drop all triggers on SQLite, whose table rebuild fails with them.

    All triggers are this project's, and post_migrate installs them again. Meanwhile the revision is negative.
    """
    if connections[using].vendor == "sqlite" and plan:
        with connections[using].cursor() as cursor:
            if "jobsite_revision" in connections[using].introspection.table_names(cursor):
                cursor.execute("UPDATE jobsite_revision SET number = -1 - number WHERE number >= 0")
            cursor.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'")
            for (name,) in cursor.fetchall():
                cursor.execute(f"DROP TRIGGER {name}")
