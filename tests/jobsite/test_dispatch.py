"""The dispatcher: one active process, a loop that survives errors, and a clean stop."""

import threading
from collections import deque

import pytest
from django.db import InterfaceError, OperationalError, connection

from jobsite import dispatch
from jobsite.db.locks import DatabaseLock, FileLock, database_lock
from jobsite.dispatch import Dispatcher, Stop
from tests.servers import until


class Kind:
    """Work that does `items` in order. An item that is an exception is raised once."""

    def __init__(self, *items):
        self.items, self.done = deque(items), []

    def next_due(self, at):
        return self.items[0] if self.items else None

    def do(self, item):
        self.items.popleft()
        if isinstance(item, Exception):
            raise item
        self.done.append(item)
        return "done"


class Held:
    """A lock that is lost after `checks` checks; acquired again from the `attempt`-th attempt on."""

    def __init__(self, checks=1000, attempt=1):
        self.checks, self.attempts, self.attempt = checks, 0, attempt

    def acquire(self):
        self.attempts += 1
        return self.attempts >= self.attempt

    def is_held(self):
        self.checks -= 1
        return self.checks >= 0

    def release(self):
        pass


@pytest.fixture
def stop():
    return Stop()


@pytest.fixture
def _fast(monkeypatch):
    monkeypatch.setattr(dispatch, "POLL", 0.01)
    monkeypatch.setattr(dispatch, "STANDBY", 0.01)
    monkeypatch.setattr(dispatch, "ERROR_WAIT_MAX", 0.01)


def run(dispatcher, stop, condition):
    """Run `dispatcher` in a thread until `condition` holds."""
    thread = threading.Thread(target=dispatcher.run)
    thread.start()
    try:
        until(condition)
    finally:
        stop.set()
        thread.join()


def test_dispatcher_does_all_kinds_in_turn(stop):
    first, second, order = Kind(1, 2, 3), Kind("a"), []
    for kind in (first, second):
        kind.done = order
    dispatcher = Dispatcher([first, second], lock=Held(), stop=stop)

    assert dispatcher.run_once()
    assert order == [1, "a", 2, 3]
    assert dispatcher.outcomes == {"done": 4}


def test_dispatcher_needs_the_lock(stop):
    for lock, done in ((Held(attempt=2), []), (Held(checks=2), [1, 2])):
        kind = Kind(1, 2, 3)
        assert Dispatcher([kind], lock=lock, stop=stop).run_once() == bool(done)
        assert kind.done == done

    kind = Kind(1, 2)
    kind.do = lambda item: stop.set() or Kind.do(kind, item)

    Dispatcher([kind], lock=Held(), stop=stop).run()
    assert kind.done == [1]


@pytest.mark.usefixtures("_fast")
def test_standby_takes_over(stop):
    kind, lock = Kind(1), Held(attempt=4)

    run(Dispatcher([kind], lock=lock, stop=stop), stop, lambda: kind.done == [1])
    assert lock.attempts >= 4


@pytest.mark.usefixtures("_fast")
def test_dispatcher_survives_errors_of_the_database(stop, caplog):
    kind = Kind(OperationalError("no"), InterfaceError("no"), 1)

    run(Dispatcher([kind], lock=Held(), stop=stop), stop, lambda: kind.done == [1])
    warnings = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    errors = ("OperationalError", "InterfaceError")
    assert warnings == [f"The database does not respond: {error}" for error in errors]


@pytest.mark.usefixtures("_fast")
def test_bug_of_one_kind_does_not_stop_the_others(stop):
    broken, other = Kind(ValueError("bug"), 1), Kind(2)
    dispatcher = Dispatcher([broken, other], lock=Held(), stop=stop)

    run(dispatcher, stop, lambda: broken.done == [1] and other.done == [2])
    assert dispatcher.outcomes == {"done": 2, "error": 1}


@pytest.mark.django_db
def test_locks_exclude_others(tmp_path):
    for make in (database_lock, lambda: FileLock(str(tmp_path / "lock"))):
        first, second = make(), make()
        try:
            assert [first.acquire(), first.acquire(), second.acquire()] == [True, True, False]
            assert [first.is_held(), second.is_held()] == [True, False]
            first.release()
            assert second.acquire()
        finally:
            first.release()
            second.release()


@pytest.mark.django_db
@pytest.mark.skipif(connection.vendor != "postgresql", reason="needs PostgreSQL")
def test_lock_ends_with_its_connection():
    first, second = DatabaseLock(), DatabaseLock()
    try:
        assert first.acquire()
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_terminate_backend(%s)", [first._own.connection.info.backend_pid])
        assert not first.is_held()
        until(second.acquire)
        assert not first.acquire()
    finally:
        first.release()
        second.release()
