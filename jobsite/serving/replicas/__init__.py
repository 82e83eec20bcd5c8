"""Public reads on streaming replicas of PostgreSQL: which of them is well, and a way back when one is not.

A thread for each server asks it once a second how far it is: the primary how far it has written, a replica
how far it has replayed. A replica is as fresh as the latest position of the primary that it has reached.
So no clocks are compared, an idle primary makes nobody late, and a replica that lost its primary is left
out as soon as it misses something. While the primary is away nothing is missed: who was fresh stays in.
How far the primary was is kept in the shared cache too, for processes that start while it is away.

A primary that is silent, as a host that hangs is, ends no wait by itself: its connections are cut here.
"""

import itertools
import logging
import os
import socket
import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, contextmanager, suppress
from contextvars import ContextVar
from time import monotonic
from typing import Any, NamedTuple
from weakref import WeakSet

import psycopg
from django.conf import settings
from django.core.cache import cache
from django.db import DEFAULT_DB_ALIAS, OperationalError, connections
from django.db.models import Model

PREFIX = "replica_"
# Apps whose rows a replica may answer for. Who signs in, and what became of somebody's application, is
# always read where it is written.
PUBLIC = ("jobsite", "vacancies", "forms_structure")

EVERY = 1.0  # seconds between two questions to a server
WITHIN = 0.5  # seconds it may take to answer one,
PRIMARY_WITHIN = 3.0  # for the one that nobody stands in for; longer than any hiccup of a well server
FIRST = 2.5  # seconds that requests to a new process wait for the first answer
GOOD_FOR = 3.0  # seconds that an answer is believed, should the thread that asks be held up
TICK = 0.1  # seconds between two looks of a waiting query at whether its server is lost

POSITION = "replicas.position"  # of the primary, in the cache
REMEMBERED = 3600  # seconds

# Errors of a query that the primary would answer with too.
_OF_THE_QUERY = (psycopg.DataError, psycopg.IntegrityError, psycopg.errors.QueryCanceled)

logger = logging.getLogger(__name__)


class SilentError(psycopg.OperationalError):
    """A server keeps its connection, and does not answer."""


class LostError(OperationalError):
    """The replica could not answer; the primary can be asked the same."""


class Read:
    """What happened on `alias` while a request read from it."""

    def __init__(self, alias: str) -> None:
        self.alias = alias
        self.error: psycopg.Error | None = None


_reading: ContextVar[Read | None] = ContextVar("reading", default=None)


def choose() -> str:
    """Return the alias to read from: a replica that is well, each in its turn, else "default".

    Costs no query. Only a process that is new waits, until they have been asked for the first time.
    """
    well = [watch for watch in _replicas() if watch.well_until > monotonic()]
    if not well:
        for watch in _replicas():
            if watch.has_asked.is_set() or not watch.has_asked.wait(FIRST):
                continue
            well += [watch] if watch.well_until > monotonic() else []
    return well[next(_turn) % len(well)].alias if well else DEFAULT_DB_ALIAS


def current() -> str:
    """Return the alias that public reads of this thread go to."""
    read = _reading.get()
    return read.alias if read else DEFAULT_DB_ALIAS


@contextmanager
def reading(alias: str) -> Iterator[None]:
    """Let public reads of this thread go to `alias`.

    Raises LostError at the end if it is a replica and failed in between, even where somebody made an
    answer of the failure: that is to be thrown away, and the primary asked once. With a pool, the
    connection is given back.
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
    """Sends public reads to where `reading` says; everything else stays on the primary."""

    def db_for_read(self, model: type[Model], **hints: Any) -> str:
        return current() if model._meta.app_label in PUBLIC else DEFAULT_DB_ALIAS

    def db_for_write(self, model: type[Model], **hints: Any) -> str:
        return DEFAULT_DB_ALIAS

    def allow_relation(self, obj1: Model, obj2: Model, **hints: Any) -> bool:
        return True  # they are all the same database

    def allow_migrate(self, db: str, app_label: str, **hints: Any) -> bool:
        return not db.startswith(PREFIX)


def note(alias: str, error: psycopg.Error) -> None:
    """Remember that a read from the replica `alias` failed, and leave it out if it was not the query."""
    if isinstance(error, _OF_THE_QUERY):
        return
    if (read := _reading.get()) and read.alias == alias:
        read.error = error
    # Without a state it is the connection that failed; classes 08 and 57 say that it is about to.
    if not error.sqlstate or error.sqlstate.startswith(("08", "57")):
        for watch in _replicas():
            if watch.alias == alias:
                watch.leave_out(error, is_lost=True)


class Standing(NamedTuple):
    """How far a replica is."""

    alias: str
    is_well: bool
    seconds: float | None  # behind the primary; None for more than can be told, or not known
    bytes: int | None


def report() -> list[Standing]:
    """Return how far each replica is, as this process knows it."""
    return [
        Standing(watch.alias, watch.well_until > monotonic(), watch.seconds, watch.bytes)
        for watch in _replicas()
    ]


def is_lost(alias: str) -> bool:
    """Return whether the replica `alias` has stopped to answer."""
    return any(watch.is_lost for watch in _replicas() if watch.alias == alias)


_to_primary: WeakSet[Any] = WeakSet()
_adding = threading.Lock()


def guarded(connect: Callable[[], Any]) -> Any:
    """Return a new connection to the primary, which is cut should that fall silent. Raises SilentError
    where it has, for nobody to wait until it is known once more."""
    _replicas()  # the threads have to be there
    if _watches and _watches[0].is_silent:
        raise SilentError("the server does not answer")
    raw = connect()
    with _adding:
        _to_primary.add(raw)
    return raw


def _cut_off() -> None:
    """Cut the connections to the primary: whoever waits for an answer, in libpq even, gets an error."""
    with _adding:
        cut = list(_to_primary)
    for raw in cut:
        with (
            suppress(OSError, psycopg.Error),  # it is closed already
            socket.socket(fileno=os.dup(raw.fileno())) as twin,
        ):
            twin.shutdown(socket.SHUT_RDWR)


def watched(generator: Generator, is_over: Callable[[], bool]) -> Generator:
    """The dialogue of psycopg with a server, given up once `is_over()`. A frozen server keeps its sockets
    open, so that nothing but the client's own clock ends a wait for it."""
    try:
        state = next(generator)
        while True:
            ready = yield state
            if not ready and is_over():
                raise SilentError("the server has stopped to answer")
            state = generator.send(ready)
    except StopIteration as stop:
        return stop.value


# --- The threads that ask ----------------------------------------------------------------------


class _Watch(threading.Thread):
    """Asks the server `alias` where it stands."""

    question: str  # gives one row with one whole number, a position in the write-ahead log
    within = WITHIN

    def __init__(self, alias: str) -> None:
        super().__init__(name=f"watch-{alias}", daemon=True)
        self.alias = alias
        self.well_until = 0.0
        self.is_lost = self.is_silent = False
        self._is_in: bool | None = None
        self._lock = threading.Lock()
        self.has_asked = threading.Event()
        self.stopped = threading.Event()

    def run(self) -> None:
        while not self.stopped.is_set():
            try:
                with closing(self._connect()) as raw:
                    while not self.stopped.is_set():
                        self._ask(raw)
                        self.has_asked.set()
                        self.stopped.wait(EVERY)
            except Exception as error:  # whatever it was, it is asked again
                self.leave_out(error, is_lost=True)
                self.has_asked.set()
                self.stopped.wait(EVERY)

    def _connect(self) -> Any:
        parameters: dict[str, Any] = connections[self.alias].get_connection_params()
        raw: Any = psycopg.connect(**{**parameters, "autocommit": True, "connect_timeout": 2})
        wait = raw.wait

        def wait_a_little(generator: Any, *args: Any, **kwargs: Any) -> Any:
            end = monotonic() + self.within
            return wait(watched(generator, lambda: monotonic() > end), TICK)

        raw.wait = wait_a_little  # what all of psycopg waits with
        return raw

    def _ask(self, raw: Any) -> None:
        asked_at = monotonic()
        row = raw.execute(self.question).fetchone()
        if self._is_well(asked_at, row[0] if row else None):
            with self._lock:
                is_back = self._is_in is False
                self.is_lost, self.is_silent, self._is_in = False, False, True
                self.well_until = monotonic() + GOOD_FOR
            if is_back:
                self._say("%s is back", self.alias)
        else:
            self.leave_out(None)

    def _is_well(self, asked_at: float, position: int | None) -> bool:
        raise NotImplementedError

    def leave_out(self, error: Exception | None, is_lost: bool = False) -> None:
        with self._lock:
            was_in = self._is_in is not False
            self.is_lost, self._is_in, self.well_until = is_lost, False, 0.0
        if was_in:  # the text of an error may name hosts and users
            self._say(
                "%s is left out: %s", self.alias, type(error).__name__ if error else "late, or no replica"
            )

    def _say(self, *message: str) -> None:
        logger.warning(*message)


class _Primary(_Watch):
    within = PRIMARY_WITHIN
    question = "SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::bigint"
    # When it was asked, and how far it was then, the latest last: as far back as lag is told apart.
    positions: tuple[tuple[float, int], ...] = ()

    def _is_well(self, asked_at: float, position: int | None) -> bool:
        kept = int(settings.REPLICA_MAX_LAG / EVERY) + 2
        self.positions = (*self.positions[-kept:], (asked_at, position or 0))
        cache.set(POSITION, position, REMEMBERED)
        return True

    def leave_out(self, error: Exception | None, is_lost: bool = False) -> None:
        super().leave_out(error, is_lost)
        if isinstance(error, SilentError | psycopg.errors.ConnectionTimeout) and not self.is_silent:
            self.is_silent = True
            logger.warning("The primary does not answer: its connections are cut")
            _cut_off()

    def _say(self, *message: str) -> None:
        pass  # requests that fail are told about where they fail


class _Replica(_Watch):
    question = "SELECT pg_wal_lsn_diff(pg_last_wal_replay_lsn(), '0/0')::bigint WHERE pg_is_in_recovery()"

    def __init__(self, alias: str, primary: _Primary) -> None:
        super().__init__(alias)
        self.primary = primary
        self.seconds: float | None = None
        self.bytes: int | None = None

    def run(self) -> None:
        self.primary.has_asked.wait()  # else the first answer could be compared to nothing
        super().run()

    def _is_well(self, asked_at: float, position: int | None) -> bool:
        """Whether the replica had reached, when the primary was last heard of, what the primary was at
        most REPLICA_MAX_LAG seconds earlier. One that was promoted is no replica any more."""
        positions = self.primary.positions
        self.seconds = self.bytes = None
        if position is None:
            return False
        if not positions:  # this process never met the primary
            known = cache.get(POSITION)
            return known is not None and known <= position
        self.bytes = max(0, positions[-1][1] - position)
        reached = next((at for at, written in reversed(positions) if written <= position), None)
        if reached is None:
            return False
        self.seconds = positions[-1][0] - reached
        return self.seconds <= settings.REPLICA_MAX_LAG

    def leave_out(self, error: Exception | None, is_lost: bool = False) -> None:
        if is_lost:
            self.seconds = self.bytes = None
        super().leave_out(error, is_lost)


_watches: tuple[_Watch, ...] | None = None
_starting = threading.Lock()
_turn = itertools.count()


def _replicas() -> list[_Replica]:
    """The threads of the replicas, started with that of the primary by whoever is first in this process to
    ask for them. One that serves watches the primary where it is alone, too."""
    global _watches
    if _watches is None:
        with _starting:
            if _watches is None:
                primary = _Primary(DEFAULT_DB_ALIAS)
                replicas = [_Replica(alias, primary) for alias in connections if alias.startswith(PREFIX)]
                is_guarded = connections.settings[DEFAULT_DB_ALIAS]["ENGINE"] == __name__
                started = (primary, *replicas) if replicas or is_guarded else ()
                for watch in started:
                    watch.start()
                _watches = started
    return [watch for watch in _watches if isinstance(watch, _Replica)]


def stop() -> None:
    """End the threads and close their connections; the next `choose` starts them anew."""
    global _watches
    watches, _watches = _watches or (), None
    for watch in watches:
        watch.stopped.set()
        watch.has_asked.set()
    for watch in watches:
        watch.join()


def _forget() -> None:
    """In a forked process none of the threads lives on."""
    global _watches, _starting
    _watches, _starting = None, threading.Lock()


os.register_at_fork(after_in_child=_forget)
