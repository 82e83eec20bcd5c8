"""The dispatcher: one active process, a loop that survives errors, and a clean stop."""

import threading
from collections import deque

import pytest
from django.db import InterfaceError, OperationalError, connection

from jobsite import dispatch
from jobsite.db.locks import DatabaseLock, FileLock, database_lock
from jobsite.dispatch import Dispatcher, Stop
from tests.servers import until


class FakeJob:
    """Work that does `items` in order. An item that is an exception is raised once."""

    def __init__(self, *items):
        self.items, self.done = deque(items), []

    def next_due(self, at):
        return self.items[0] if self.items else None

    def run(self, item):
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
    monkeypatch.setattr(dispatch, "POLL_SECONDS", 0.01)
    monkeypatch.setattr(dispatch, "STANDBY_SECONDS", 0.01)
    monkeypatch.setattr(dispatch, "MAX_ERROR_WAIT", 0.01)


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
    first, second, order = FakeJob(1, 2, 3), FakeJob("a"), []
    for job in (first, second):
        job.done = order
    dispatcher = Dispatcher([first, second], lock=Held(), stop=stop)

    assert dispatcher.run_once()
    assert order == [1, "a", 2, 3]
    assert dispatcher.outcomes == {"done": 4}


def test_dispatcher_needs_the_lock(stop):
    for lock, done in ((Held(attempt=2), []), (Held(checks=2), [1, 2])):
        job = FakeJob(1, 2, 3)
        assert Dispatcher([job], lock=lock, stop=stop).run_once() == bool(done)
        assert job.done == done

    job = FakeJob(1, 2)
    job.run = lambda item: stop.set() or FakeJob.run(job, item)

    Dispatcher([job], lock=Held(), stop=stop).run()
    assert job.done == [1]


@pytest.mark.usefixtures("_fast")
def test_standby_takes_over(stop):
    job, lock = FakeJob(1), Held(attempt=4)

    run(Dispatcher([job], lock=lock, stop=stop), stop, lambda: job.done == [1])
    assert lock.attempts >= 4


@pytest.mark.usefixtures("_fast")
def test_dispatcher_survives_errors_of_the_database(stop, caplog):
    job = FakeJob(OperationalError("no"), InterfaceError("no"), 1)

    run(Dispatcher([job], lock=Held(), stop=stop), stop, lambda: job.done == [1])
    warnings = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    errors = ("OperationalError", "InterfaceError")
    assert warnings == [f"The database does not respond: {error}" for error in errors]


@pytest.mark.usefixtures("_fast")
def test_bug_of_one_kind_does_not_stop_the_others(stop):
    broken, other = FakeJob(ValueError("bug"), 1), FakeJob(2)
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
            cursor.execute("SELECT pg_terminate_backend(%s)", [first._connection.connection.info.backend_pid])
        assert not first.is_held()
        until(second.acquire)
        assert not first.acquire()
    finally:
        first.release()
        second.release()
