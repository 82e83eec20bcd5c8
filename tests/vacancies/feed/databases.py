"""Databases that can be copied, to be a server that is late, or one that takes over.

A copy has everything that was committed at that moment, as a replica that is late has. A server
that takes over raises the revision by a large step, and notes the gap.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import psycopg
from django.db import connection

from tests.servers import copy_template
from vacancies.api import process_cache

TEMPLATE = "template"
_numbers = count(1)


class Databases:
    """What both kinds share: which one the process uses."""

    def use(self, name: str) -> None:
        self.disconnect()
        connection.settings_dict["NAME"] = self.address(name)
        process_cache.process = process_cache.ProcessCache()

    def connect(self) -> None:
        connection.ensure_connection()

    def disconnect(self) -> None:
        connection.close()

    @contextmanager
    def reading(self, name: str) -> Iterator[None]:
        """Use another one for a moment, as a request that goes to a replica."""
        before = connection.settings_dict["NAME"]
        self.disconnect()
        connection.settings_dict["NAME"] = self.address(name)
        try:
            yield
        finally:
            self.disconnect()
            connection.settings_dict["NAME"] = before

    def create(self, name: str) -> None:
        self.copy(TEMPLATE, name)

    def address(self, name: str) -> str:
        return name

    def copy(self, name: str, to: str) -> None:
        raise NotImplementedError


class SqliteFiles(Databases):
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        copy_template(folder / TEMPLATE)

    def address(self, name: str) -> str:
        return str(self.folder / name)

    def copy(self, name: str, to: str) -> None:
        for suffix in ("", "-wal", "-shm"):
            Path(self.address(to) + suffix).unlink(missing_ok=True)
        source, target = (sqlite3.connect(self.address(each)) for each in (name, to))
        source.backup(target)
        source.close()
        target.close()

    def fail_over(self, name: str, to: str) -> None:
        """As `restore` does: SQLite has no replicas."""
        self.copy(name, to)
        other = sqlite3.connect(self.address(to))
        other.execute("UPDATE jobsite_revision SET number = number + 1000000, shared = shared + 1")
        other.execute(
            "INSERT INTO jobsite_cursorgap (after, before) SELECT -1, number FROM jobsite_revision"
        )
        other.commit()
        other.close()


class PostgresqlDatabases(Databases):
    """Those of a server, at `url`. It has the template."""

    def __init__(self, url: str) -> None:
        self.url = url

    def copy(self, name: str, to: str) -> None:
        with psycopg.connect(self.url, autocommit=True) as admin:
            admin.execute(f'DROP DATABASE IF EXISTS "{to}" WITH (FORCE)')
            admin.execute(f'CREATE DATABASE "{to}" TEMPLATE "{name}"')

    def fail_over(self, name: str, to: str) -> None:
        """Replace `to` by a copy that has another timeline, as a replica that was promoted."""
        self.copy(name, to)
        other = f"{self.url.rpartition('/')[0]}/{to}"
        with psycopg.connect(other, autocommit=True) as admin:
            admin.execute(
                "CREATE OR REPLACE FUNCTION jobsite_timeline() RETURNS text LANGUAGE sql STABLE "
                f"AS $$ SELECT 'promoted {next(_numbers)}' $$"
            )
            admin.execute("INSERT INTO jobsite_pending_bump (shared) VALUES (0)")  # the first write
