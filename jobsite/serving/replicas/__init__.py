"""Routes public reads to healthy streaming replicas of PostgreSQL, and falls back to the primary.

`choose` returns the server for a request, `reading` routes the reads of a thread to it. The lag of each
replica is measured in `monitors`.
"""

import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple

import psycopg
from django.db import DEFAULT_DB_ALIAS, OperationalError, connections
from django.db.models import Model

from jobsite.serving.replicas import monitors
from jobsite.serving.replicas.monitors import PREFIX, TICK, cancellable, guarded_connect, stop

__all__ = ["TICK", "cancellable", "guarded_connect", "stop"]

# Apps whose rows may be read from a replica. Accounts and applications are always read from the primary.
PUBLIC = ("jobsite", "vacancies", "forms_structure")
FIRST_RESULT_TIMEOUT = 2.5  # seconds that requests to a new process wait for the first measurement

# Errors of the query itself, which the primary would return too.
_QUERY_ERRORS = (psycopg.DataError, psycopg.IntegrityError, psycopg.errors.QueryCanceled)

_turn = itertools.count()


class LostError(OperationalError):
    """The replica failed; the primary can answer the same request."""


class Read:
    """Reads from `alias` during one request, and the first failure of that server."""

    def __init__(self, alias: str) -> None:
        self.alias = alias
        self.error: psycopg.Error | None = None


_reading: ContextVar[Read | None] = ContextVar("reading", default=None)


def choose() -> str:
    """Return the alias to read from: the healthy replicas in turn, else "default".

    Sends no query. Only a new process waits, for the first measurement of each replica.
    """
    healthy = [monitor for monitor in monitors.replicas() if monitor.is_healthy]
    if not healthy:
        for monitor in monitors.replicas():
            if monitor.has_result.is_set() or not monitor.has_result.wait(FIRST_RESULT_TIMEOUT):
                continue
            healthy += [monitor] if monitor.is_healthy else []
    return healthy[next(_turn) % len(healthy)].alias if healthy else DEFAULT_DB_ALIAS


def current() -> str:
    """Return the alias that public reads of this thread use."""
    read = _reading.get()
    return read.alias if read else DEFAULT_DB_ALIAS


@contextmanager
def reading(alias: str) -> Iterator[None]:
    """Route public reads of this thread to `alias`.

    Raises LostError at the end if the replica failed meanwhile, even if the failure was handled: discard the
    response and repeat the request on the primary. Returns the connection to the pool, if there is one.
    """
    read = Read(alias)
    token = _reading.set(read)
    try:
        yield
    except Exception:
        if read.error is None:
            raise
    finally:
        _reading.reset(token)
        connection = connections[alias]
        is_pooled = bool(connection.settings_dict["OPTIONS"].get("pool"))
        if read.error or (is_pooled and not connection.in_atomic_block):
            connection.close()
    if read.error:
        raise LostError(f"{alias}: {type(read.error).__name__}") from read.error


class Router:
    """Routes public reads as `reading` says, and everything else to the primary."""

    def db_for_read(self, model: type[Model], **hints: Any) -> str:
        return current() if model._meta.app_label in PUBLIC else DEFAULT_DB_ALIAS

    def db_for_write(self, model: type[Model], **hints: Any) -> str:
        return DEFAULT_DB_ALIAS

    def allow_relation(self, obj1: Model, obj2: Model, **hints: Any) -> bool:
        return True  # all aliases are copies of one database

    def allow_migrate(self, db: str, app_label: str, **hints: Any) -> bool:
        return not db.startswith(PREFIX)


def record_failure(alias: str, error: psycopg.Error) -> None:
    """Record a failed read from the replica `alias`, and exclude the replica if its connection failed."""
    if isinstance(error, _QUERY_ERRORS):
        return
    if (read := _reading.get()) and read.alias == alias:
        read.error = error
    # Without an SQLSTATE the connection failed; classes 08 and 57 announce that it will.
    if not error.sqlstate or error.sqlstate.startswith(("08", "57")):
        for monitor in monitors.replicas():
            if monitor.alias == alias:
                monitor.exclude(error, is_lost=True)


class ReplicaStatus(NamedTuple):
    """Health and replication lag of a replica."""

    alias: str
    is_healthy: bool
    lag_seconds: float | None  # None if unknown, or more than can be measured
    lag_bytes: int | None


def report() -> list[ReplicaStatus]:
    """Return the status of each replica, as this process measured it."""
    return [
        ReplicaStatus(monitor.alias, monitor.is_healthy, monitor.lag_seconds, monitor.lag_bytes)
        for monitor in monitors.replicas()
    ]


def is_lost(alias: str) -> bool:
    """Return whether the replica `alias` stopped responding."""
    return any(monitor.is_lost for monitor in monitors.replicas() if monitor.alias == alias)
