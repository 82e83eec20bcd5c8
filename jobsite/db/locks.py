"""Locks between processes: of PostgreSQL (advisory locks), and of files, for SQLite and its one node.

`database_lock` makes one dispatcher of emails active among all nodes. The server, or the kernel, releases a
lock when its connection or process ends, so that a killed process or a lost node blocks nobody.
"""

import fcntl
import os
from pathlib import Path
from typing import Protocol

from django.db import DatabaseError, connection, connections
from django.db.backends.base.base import BaseDatabaseWrapper

KEY = 0x6A6F6273  # "jobs"; advisory locks belong to a database


class Lock(Protocol):
    def acquire(self) -> bool:
        """Return whether this process has the lock, without waiting. Can be repeated."""

    def is_held(self) -> bool:
        """Return whether this process still has the lock."""

    def release(self) -> None: ...


class DatabaseLock:
    """A lock in PostgreSQL. It belongs to an open transaction rather than to the session, so that it also
    works through pgbouncer in transaction mode. The transaction has no snapshot and does not delay vacuum."""

    def __init__(self) -> None:
        self._connection: BaseDatabaseWrapper | None = None

    def acquire(self) -> bool:
        if self.is_held():
            return True
        self.release()
        copied = connections["default"].copy()
        # a pooled connection would go back to the pool; the server must notice a lost node
        copied.settings_dict["OPTIONS"].pop("pool", None)
        copied.settings_dict["CONN_MAX_AGE"] = None
        try:
            copied.ensure_connection()
            copied.set_autocommit(False)
            with copied.cursor() as cursor:
                cursor.execute("SET LOCAL idle_in_transaction_session_timeout = 0")
                cursor.execute("SELECT pg_try_advisory_xact_lock(%s)", [KEY])
                if cursor.fetchone()[0]:
                    self._connection = copied
                    return True
        except BaseException:
            copied.close()
            raise
        copied.close()
        return False

    def is_held(self) -> bool:
        if self._connection is None:
            return False
        try:
            with self._connection.cursor() as cursor:
                cursor.execute("SELECT 1")
        except DatabaseError:
            self.release()
            return False
        return True

    def release(self) -> None:
        if self._connection is not None:
            copied, self._connection = self._connection, None
            copied.close()


class FileLock:
    """A locked file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file: int | None = None

    def acquire(self) -> bool:
        if self._file is not None:
            return True
        file = os.open(self.path, os.O_CREAT | os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(file)
            if isinstance(error, BlockingIOError):
                return False
            raise
        self._file = file
        return True

    def is_held(self) -> bool:
        return self._file is not None

    def release(self) -> None:
        if self._file is not None:
            file, self._file = self._file, None
            os.close(file)


def database_lock() -> Lock:
    """Return the lock for the database of this process."""
    if connection.vendor == "postgresql":
        return DatabaseLock()
    return FileLock(Path(f"{connection.settings_dict['NAME']}-deliver.lock"))


def lock_transaction(name: str, *, wait: bool = True) -> bool:
    """Hold the lock `name` until the end of the transaction, and return whether this transaction has it.
    Without `wait`, False if another one has it. SQLite has one writer at a time and needs no lock."""
    if connection.vendor != "postgresql":
        return True
    function = "pg_advisory_xact_lock" if wait else "pg_try_advisory_xact_lock"
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {function}(hashtextextended(%s, 0))", [name])
        return cursor.fetchone()[0] is not False  # pg_advisory_xact_lock returns void
