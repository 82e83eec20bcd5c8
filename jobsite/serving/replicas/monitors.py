"""Measures the replication lag of each replica, in a thread for each server.

Once a second, the primary reports its write position in the write-ahead log, and each replica its replay
position. The lag of a replica is the age of the newest primary position that it has replayed. This compares
no clocks. While the primary is idle, no replica lags. A replica that loses its primary is excluded as soon
as it misses a write. While the primary is down, nothing is written, so replicas that were healthy stay in
use.

The primary's position is also stored in the shared cache, for processes that start while the primary is
down.

A frozen primary keeps its connections open and never responds. The thread of the primary detects this and
closes its connections, so that requests fail instead of waiting.
"""

import logging
import os
import socket
import threading
from collections.abc import Callable, Generator
from contextlib import closing, suppress
from time import monotonic
from typing import Any
from weakref import WeakSet

import psycopg
from django.conf import settings
from django.core.cache import cache
from django.db import DEFAULT_DB_ALIAS, connections

PACKAGE = "jobsite.serving.replicas"  # name of the ENGINE and of the logger
PREFIX = "replica_"

INTERVAL = 1.0  # seconds between two queries to a server
TIMEOUT = 0.5  # seconds for a replica to answer one
PRIMARY_TIMEOUT = 3.0  # the primary has no substitute: longer than any pause of a healthy server
HEALTHY_FOR = 3.0  # seconds that a result is valid if the next query is late
TICK = 0.1  # seconds between two checks of a waiting query

POSITION_KEY = "replicas.position"  # of the primary, in the cache
POSITION_MAX_AGE = 3600  # seconds

logger = logging.getLogger(PACKAGE)


class UnresponsiveError(psycopg.OperationalError):
    """A server keeps its connection open and does not respond."""


class PrimaryUnresponsiveError(UnresponsiveError):
    """The primary does not respond, and new connections to it are not attempted."""


def cancellable(generator: Generator, is_cancelled: Callable[[], bool]) -> Generator:
    """Run psycopg's protocol `generator`, and raise UnresponsiveError once `is_cancelled()`.

    A frozen server keeps its sockets open: only a timeout of the client ends the wait.
    """
    try:
        state = next(generator)
        while True:
            ready = yield state
            if not ready and is_cancelled():
                raise UnresponsiveError("the server stopped responding")
            state = generator.send(ready)
    except StopIteration as stop:
        return stop.value


# --- Connections to the primary ----------------------------------------------------------------

_primary_connections: WeakSet[Any] = WeakSet()
_primary_lock = threading.Lock()


def guarded_connect(connect: Callable[[], Any]) -> Any:
    """Return a new connection to the primary, to be closed if the primary stops responding.

    Raises PrimaryUnresponsiveError while it does not respond.
    """
    replicas()  # starts the monitors
    if _monitors and _monitors[0].is_unresponsive:
        raise PrimaryUnresponsiveError("the server does not respond")
    raw = connect()
    with _primary_lock:
        _primary_connections.add(raw)
    return raw


def _disconnect_primary() -> None:
    """Shut down the sockets of all connections to the primary, so that waits end, also those inside libpq.

    With a frozen primary (SIGSTOP), requests get a 503 after 4 s: without this after more than 25 s, with a
    deadline in psycopg's cursor after 9 s (docs/performance-figures.md).
    """
    with _primary_lock:
        open_connections = list(_primary_connections)
    for raw in open_connections:
        with (
            suppress(OSError, psycopg.Error),  # it is closed already
            socket.socket(fileno=os.dup(raw.fileno())) as duplicate,
        ):
            duplicate.shutdown(socket.SHUT_RDWR)


# --- Monitors ----------------------------------------------------------------------------------


class Monitor(threading.Thread):
    """Queries the WAL position of the server `alias`."""

    query: str  # returns one row with a WAL position in bytes
    timeout = TIMEOUT

    def __init__(self, alias: str) -> None:
        super().__init__(name=f"monitor-{alias}", daemon=True)
        self.alias = alias
        self.healthy_until = 0.0
        self.is_lost = self.is_unresponsive = False
        self._was_healthy: bool | None = None
        self._lock = threading.Lock()
        self.has_result = threading.Event()
        self.stopped = threading.Event()

    @property
    def is_healthy(self) -> bool:
        return self.healthy_until > monotonic()

    def run(self) -> None:
        while not self.stopped.is_set():
            try:
                with closing(self._connect()) as raw:
                    while not self.stopped.is_set():
                        self._query(raw)
                        self.has_result.set()
                        self.stopped.wait(INTERVAL)
            except Exception as error:  # retry after any failure
                self.exclude(error, is_lost=True)
                self.has_result.set()
                self.stopped.wait(INTERVAL)

    def _connect(self) -> Any:
        parameters: dict[str, Any] = connections[self.alias].get_connection_params()
        raw: Any = psycopg.connect(**{**parameters, "autocommit": True, "connect_timeout": 2})
        wait = raw.wait

        def wait_until_timeout(generator: Any, *args: Any, **kwargs: Any) -> Any:
            end = monotonic() + self.timeout
            return wait(cancellable(generator, lambda: monotonic() > end), TICK)

        raw.wait = wait_until_timeout  # psycopg waits for the server only in this method
        return raw

    def _query(self, raw: Any) -> None:
        started_at = monotonic()
        row = raw.execute(self.query).fetchone()
        if self._accepts(started_at, row[0] if row else None):
            with self._lock:
                has_recovered = self._was_healthy is False
                self.is_lost, self.is_unresponsive, self._was_healthy = False, False, True
                self.healthy_until = monotonic() + HEALTHY_FOR
            if has_recovered:
                self._log("%s is back", self.alias)
        else:
            self.exclude(None)

    def _accepts(self, started_at: float, position: int | None) -> bool:
        """Record the `position` that a query returned; return whether the server is healthy."""
        raise NotImplementedError

    def exclude(self, error: Exception | None, is_lost: bool = False) -> None:
        """Stop using the server; `is_lost` if it does not respond, as opposed to lagging."""
        with self._lock:
            was_healthy = self._was_healthy is not False
            self.is_lost, self._was_healthy, self.healthy_until = is_lost, False, 0.0
        if was_healthy:  # log the type only: the message may contain hosts and users
            reason = type(error).__name__ if error else "late, or no replica"
            self._log("%s is left out: %s", self.alias, reason)

    def _log(self, *message: str) -> None:
        logger.warning(*message)


class PrimaryMonitor(Monitor):
    timeout = PRIMARY_TIMEOUT
    query = "SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::bigint"
    # (time of the query, position), oldest first: as many as are needed to measure REPLICA_MAX_LAG.
    positions: tuple[tuple[float, int], ...] = ()

    def _accepts(self, started_at: float, position: int | None) -> bool:
        count = int(settings.REPLICA_MAX_LAG / INTERVAL) + 2
        self.positions = (*self.positions[-count:], (started_at, position or 0))
        cache.set(POSITION_KEY, position, POSITION_MAX_AGE)
        return True

    def exclude(self, error: Exception | None, is_lost: bool = False) -> None:
        super().exclude(error, is_lost)
        is_timeout = isinstance(error, UnresponsiveError | psycopg.errors.ConnectionTimeout)
        if is_timeout and not self.is_unresponsive:
            self.is_unresponsive = True
            logger.warning("The primary does not answer: its connections are cut")
            _disconnect_primary()

    def _log(self, *message: str) -> None:
        pass  # each failed request is logged


class ReplicaMonitor(Monitor):
    query = "SELECT pg_wal_lsn_diff(pg_last_wal_replay_lsn(), '0/0')::bigint WHERE pg_is_in_recovery()"

    def __init__(self, alias: str, primary: PrimaryMonitor) -> None:
        super().__init__(alias)
        self.primary = primary
        self.lag_seconds: float | None = None
        self.lag_bytes: int | None = None

    def run(self) -> None:
        self.primary.has_result.wait()  # without it there is no position to compare with
        super().run()

    def _accepts(self, started_at: float, position: int | None) -> bool:
        """Whether the lag is at most REPLICA_MAX_LAG. `position` is None on a server that was promoted."""
        positions = self.primary.positions
        self.lag_seconds = self.lag_bytes = None
        if position is None:
            return False
        if not positions:  # the primary was down since this process started
            known = cache.get(POSITION_KEY)
            return known is not None and known <= position
        self.lag_bytes = max(0, positions[-1][1] - position)
        replayed_at = next((at for at, written in reversed(positions) if written <= position), None)
        if replayed_at is None:
            return False
        self.lag_seconds = positions[-1][0] - replayed_at
        return self.lag_seconds <= settings.REPLICA_MAX_LAG

    def exclude(self, error: Exception | None, is_lost: bool = False) -> None:
        if is_lost:
            self.lag_seconds = self.lag_bytes = None
        super().exclude(error, is_lost)


# --- The monitors of this process --------------------------------------------------------------

_monitors: tuple[Monitor, ...] | None = None
_starting = threading.Lock()


def replicas() -> list[ReplicaMonitor]:
    """Return the monitors of the replicas. The first call in a process starts all threads.

    A process that serves requests also monitors a primary without replicas.
    """
    global _monitors
    if _monitors is None:
        with _starting:
            if _monitors is None:
                primary = PrimaryMonitor(DEFAULT_DB_ALIAS)
                others = [ReplicaMonitor(alias, primary) for alias in connections if alias.startswith(PREFIX)]
                is_guarded = connections.settings[DEFAULT_DB_ALIAS]["ENGINE"] == PACKAGE
                started = (primary, *others) if others or is_guarded else ()
                for monitor in started:
                    monitor.start()
                _monitors = started
    return [monitor for monitor in _monitors if isinstance(monitor, ReplicaMonitor)]


def stop() -> None:
    """Stop the threads and close their connections. The next call of `replicas` starts new ones."""
    global _monitors
    monitors, _monitors = _monitors or (), None
    for monitor in monitors:
        monitor.stopped.set()
        monitor.has_result.set()
    for monitor in monitors:
        monitor.join()


def _reset_after_fork() -> None:
    """Forget the threads of the parent process: they do not run in the child."""
    global _monitors, _starting
    _monitors, _starting = None, threading.Lock()


os.register_at_fork(after_in_child=_reset_after_fork)
