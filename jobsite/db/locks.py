"""Locks between processes: of PostgreSQL (advisory locks), and of files, for SQLite and its one
node.

`database_lock` makes one dispatcher of emails active among all nodes. The server, or the kernel,
releases a lock when its connection or process ends, so that a killed process or a lost node blocks
nobody.
"""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from django.db import DatabaseError, OperationalError, connection, connections
from django.db.backends.base.base import BaseDatabaseWrapper

KEY = 0x6A6F6273  # "jobs"; advisory locks belong to a database
_NOBODY_WAITS = (
    "SELECT NOT EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted AND "
    f"classid = 0 AND objid = {KEY} AND database = (SELECT oid FROM pg_database WHERE datname = "
    "current_database()))"
)


class Lock(Protocol):
    """Its methods may be called by several threads, one at a time."""

    def acquire(self) -> bool:
        """Return whether this process has the lock, without waiting. Can be repeated."""

    def is_held(self) -> bool:
        """Return whether this process still has the lock, and no
        `dispatcher_stopped` waits for it.
        """

    def wait(self, seconds: float) -> bool:
        """Wait for the lock, which its holder then gives up. Return whether this process has it."""

    def release(self) -> None: ...


class DatabaseLock:
    """A lock in PostgreSQL. It belongs to an open transaction rather than to the session, so that
    it also works through pgbouncer in transaction mode. The transaction has no snapshot and does
    not delay vacuum.
    """

    def __init__(self) -> None:
        self._connection: BaseDatabaseWrapper | None = None

    def acquire(self) -> bool:
        return self.is_held() or self._connect("pg_try_advisory_xact_lock", seconds=0)

    def wait(self, seconds: float) -> bool:
        try:
            return self._connect("pg_advisory_xact_lock", seconds=seconds)
        except OperationalError:
            return False

    def _connect(self, function: str, *, seconds: float) -> bool:
        """Lock with `function` on a new connection. Wait for `seconds` at most."""
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
                cursor.execute(
                    f"SET LOCAL lock_timeout = '{seconds:.0f}s'; SET LOCAL statement_timeout = 0"
                )
                cursor.execute(f"SELECT {function}(%s)", [KEY])
                if cursor.fetchone()[0] is not False:  # pg_advisory_xact_lock returns void
                    copied.inc_thread_sharing()
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
                cursor.execute(_NOBODY_WAITS)
                return cursor.fetchone()[0]
        except DatabaseError:
            self.release()
            return False

    def release(self) -> None:
        if self._connection is not None:
            copied, self._connection = self._connection, None
            copied.close()


class FileLock:
    """A locked file. Who waits for it locks a second one."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file: int | None = None

    @property
    def _request(self) -> "FileLock":
        return FileLock(Path(f"{self.path}-request"))

    def wait(self, seconds: float) -> bool:
        request, end = self._request, time.monotonic() + seconds
        while not (request.try_lock() and self.try_lock()) and time.monotonic() < end:
            time.sleep(0.1)
        request.release()
        return self._file is not None

    def acquire(self) -> bool:
        return not self._is_requested() and self.try_lock()

    def _is_requested(self) -> bool:
        request = self._request
        is_requested = request.path.exists() and not request.try_lock()
        request.release()
        return is_requested

    def try_lock(self) -> bool:
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
        return self._file is not None and not self._is_requested()

    def release(self) -> None:
        if self._file is not None:
            file, self._file = self._file, None
            os.close(file)


def database_lock() -> Lock:
    """Return the lock for the database of this process."""
    if connection.vendor == "postgresql":
        return DatabaseLock()
    return FileLock(Path(f"{connection.settings_dict['NAME']}-deliver.lock"))


@contextmanager
def dispatcher_stopped(seconds: float) -> Iterator[bool]:
    """Hold the lock of the dispatcher, so that `deliver` waits. Yield whether it gave it up within
    `seconds`: it finishes what it does first."""
    lock = database_lock()
    try:
        yield lock.wait(seconds)
    finally:
        lock.release()


def lock_transaction(name: str, *, wait: bool = True) -> bool:
    """Hold the lock `name` until the end of the transaction, and return whether this transaction
    has it. Without `wait`, False if another one has it. SQLite has one writer at a time and needs
    no lock.
    """
    if connection.vendor != "postgresql":
        return True
    function = "pg_advisory_xact_lock" if wait else "pg_try_advisory_xact_lock"
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {function}(hashtextextended(%s, 0))", [name])
        return cursor.fetchone()[0] is not False  # pg_advisory_xact_lock returns void
