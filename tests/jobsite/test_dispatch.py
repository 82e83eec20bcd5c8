"""The dispatcher: one active process, a loop that survives errors, and a clean stop."""

import threading
from collections import deque
from datetime import timedelta
from time import monotonic

import pytest
from django.db import InterfaceError, InternalError, OperationalError, connection
from django.utils import timezone
from psycopg.errors import ReadOnlySqlTransaction

from jobsite import dispatch
from jobsite.db.locks import DatabaseLock, FileLock, database_lock, dispatcher_stopped
from jobsite.dispatch import Dispatcher, JobError, Stop, error_wait
from jobsite.models import JobRun
from tests.conftest import NOW
from tests.servers import until

STATEMENTS = {
    "postgresql": ("SHOW lock_timeout", "SHOW statement_timeout"),
    "sqlite": ("PRAGMA synchronous", "PRAGMA busy_timeout"),
}


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
    """A lock that is lost after `checks` checks;
    acquired again from the `attempt`-th attempt on.
    """

    def __init__(self, checks=10_000, attempt=1):
        self.checks, self.attempts, self.attempt = checks, 0, attempt
        self.has_it, self.released = False, 0

    def acquire(self):
        self.attempts += 1
        self.has_it = self.attempts >= self.attempt
        return self.has_it

    def is_held(self):
        self.checks -= 1
        return self.has_it and self.checks >= 0

    def release(self):
        self.released += self.has_it
        self.has_it = False


class Unstored(Dispatcher):
    """A dispatcher without rows of its jobs, which needs no database."""

    def _load(self):
        pass

    def _store(self, lane):
        pass


@pytest.fixture
def stop():
    return Stop()


@pytest.fixture
def _fast(monkeypatch):
    monkeypatch.setattr(dispatch, "POLL_SECONDS", 0.01)
    monkeypatch.setattr(dispatch, "STANDBY_SECONDS", 0.01)
    monkeypatch.setattr(dispatch, "WATCH_SECONDS", 0.01)
    monkeypatch.setattr(dispatch, "MAX_ERROR_WAIT", 0.01)


@pytest.fixture
def _lost(monkeypatch):
    monkeypatch.setattr(dispatch, "_is_connected", lambda: False)


def run(dispatcher, stop, condition):
    """Run `dispatcher` in a thread until `condition` holds."""
    thread = threading.Thread(target=dispatcher.run)
    thread.start()
    try:
        until(condition)
    finally:
        stop.set()
        thread.join()


def make(stop, *lanes, lock=None, kind=Unstored, **options):
    names = {str(number): jobs for number, jobs in enumerate(lanes)}
    return kind(names, lock=lock or Held(), stop=stop, **options)


def test_jobs_of_a_lane_take_turns(stop):
    first, second, order = FakeJob(1, 2, 3), FakeJob("a"), []
    for job in (first, second):
        job.done = order
    dispatcher = make(stop, [first, second])

    assert dispatcher.run_once()
    assert order == [1, "a", 2, 3]
    assert dispatcher.outcomes == {"done": 4}


def test_dispatcher_needs_the_lock(stop):
    for lock, done in ((Held(attempt=2), []), (Held(checks=3), [1, 2])):
        job = FakeJob(1, 2, 3)
        assert make(stop, [job], lock=lock).run_once() == bool(done)
        assert job.done == done
        assert lock.released == len(done[:1])

    job, lock = FakeJob(1, 2), Held()
    job.run = lambda item: stop.set() or FakeJob.run(job, item)

    make(stop, [job], lock=lock).run()
    assert job.done == [1]
    assert lock.released


@pytest.mark.usefixtures("_fast")
def test_standby_takes_over(stop):
    job, lock = FakeJob(1), Held(attempt=4)

    run(make(stop, [job], lock=lock), stop, lambda: job.done == [1])
    assert lock.attempts >= 4


@pytest.mark.usefixtures("_fast")
def test_slow_job_delays_only_its_lane_and_is_logged_while_it_runs(stop, caplog, monkeypatch):
    monkeypatch.setattr(dispatch, "SLOW_SECONDS", 0.01)
    end, slow, behind, other = threading.Event(), FakeJob("slow"), FakeJob(1), FakeJob(2)
    slow.run = lambda item: end.wait(20) and FakeJob.run(slow, item)
    try:
        run(
            make(stop, [slow, behind], [other]),
            stop,
            lambda: (
                other.done == [2] and "FakeJob takes more than 0 s" in caplog.text and not end.set()
            ),
        )
    finally:
        end.set()
    assert (slow.done, behind.done) in ((["slow"], []), (["slow"], [1]))


@pytest.mark.usefixtures("_fast", "_lost")
def test_dispatcher_survives_a_lost_database(stop, caplog, monkeypatch):
    """All lanes end, the lock is released and taken again, and the waits grow up to a limit."""
    monkeypatch.setattr(dispatch, "MAX_ERROR_WAIT", 3.0)
    waits, lock = [], Held()
    stop.wait, wait = lambda seconds: waits.append(seconds) or wait(min(seconds, 0.01)), stop.wait
    job = FakeJob(OperationalError("no"), InterfaceError("no"), OperationalError("no"), 1)

    run(make(stop, [job], [FakeJob()], lock=lock), stop, lambda: job.done == [1])
    warnings = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    errors = ("OperationalError", "InterfaceError", "OperationalError")
    assert warnings == [f"The database does not respond: {error}" for error in errors]
    assert [seconds for seconds in waits if seconds >= 1] == [1, 2, 3]
    assert (lock.attempts, lock.released) == (4, 4)


@pytest.mark.usefixtures("_fast")
def test_error_of_one_job_does_not_stop_the_others(stop, caplog, monkeypatch):
    """Also an error of the database, such as a timeout for a lock.
    Each error is noted, and the job waits.
    """
    monkeypatch.setattr(dispatch, "_is_connected", lambda: True)
    monkeypatch.setattr(dispatch, "MAX_ERROR_WAIT", 60)
    read_only = InternalError()
    read_only.__cause__ = ReadOnlySqlTransaction()
    late = JobError("No server", wait=timedelta(hours=1))
    errors = (ValueError("bug"), OperationalError("lock"), late, read_only)
    broken = [FakeJob(error, 1) for error in errors]
    for job in broken:
        job.run = lambda item, job=job: (job.done.append(item), FakeJob.run(job, item))[1]
    other = FakeJob(2, 3)
    dispatcher = make(stop, [*broken, other])
    started_at = monotonic()

    run(dispatcher, stop, lambda: other.done == [2, 3])
    assert dispatcher.outcomes == {"done": 2, "error": 4}
    assert [job.done for job in broken] == [[error] for error in errors]  # not tried again at once
    works = dispatcher.works[:4]
    names = ["ValueError", "OperationalError", "No server", "ReadOnlySqlTransaction"]
    assert [work.row.error for work in works] == names
    assert [round((work.wait_until - started_at) / 3600) for work in works] == [0, 0, 1, 0]
    levels = [record.levelname for record in caplog.records if "failed" in record.msg]
    assert levels == ["ERROR", "WARNING", "WARNING", "WARNING"]


def test_waits_after_errors_are_bounded():
    assert [error_wait(errors) for errors in (1, 2, 3, 6, 5000)] == [1, 2, 4, 30, 30]


def test_job_that_works_again_does_not_wait(stop):
    job = FakeJob(ValueError("bug"), 1, ValueError("bug"))
    [work] = make(stop, [job]).works
    for failures in (1, 0, 1):
        try:
            work.step(timezone.now)
        except ValueError as error:
            work.fail(error, timezone.now())
        assert work.failures == failures


@pytest.mark.django_db(transaction=True)
def test_statements_of_jobs_are_limited(stop):
    """So that a locked table delays a job, not the lane for ever; and SQLite writes to the disk."""
    found = []

    def look(item):
        with connection.cursor() as cursor:
            for statement in STATEMENTS[connection.vendor]:
                cursor.execute(statement)
                found.append(cursor.fetchone()[0])
        return FakeJob.run(job, item)

    job = FakeJob(1)
    job.run = look
    assert make(stop, [job]).run_once()
    assert found == {"postgresql": ["5s", "2min"], "sqlite": [2, 20000]}[connection.vendor]


@pytest.mark.django_db(transaction=True)
def test_row_of_each_job_is_stored(stop):
    JobRun.objects.create(name="JobOfAnotherRelease")
    JobRun.objects.create(name="FakeJob", completed_at=NOW, outcomes={"done": 5}, position="7")
    later = NOW + timedelta(minutes=1)
    dispatcher = make(stop, [FakeJob(1, ValueError("bug"))], kind=Dispatcher, now=lambda: later)

    assert dispatcher.run_once()
    [row] = JobRun.objects.all()
    assert (row.name, row.completed_at, row.failed_at, row.error) == (
        "FakeJob",
        later,
        later,
        "ValueError",
    )
    assert (row.outcomes, row.position) == ({"done": 6, "error": 1}, "7")


@pytest.mark.usefixtures("_fast")
def test_rows_are_stored_every_half_a_minute(stop, monkeypatch):
    stored, job = [], FakeJob(*range(50))
    monkeypatch.setattr(Unstored, "_store", lambda self, lane: stored.append(lane))
    run(make(stop, [job]), stop, lambda: len(job.done) == 50)
    assert len(stored) == 2  # at the beginning and at the end


@pytest.mark.usefixtures("_fast")
def test_table_of_the_jobs_that_is_locked_stops_no_job(stop, monkeypatch, caplog):
    monkeypatch.setattr(dispatch, "_is_connected", lambda: True)
    monkeypatch.setattr(Dispatcher, "_load", lambda self: None)

    def locked(*args, **options):
        raise OperationalError("lock")

    monkeypatch.setattr(JobRun.objects, "bulk_create", locked)
    job = FakeJob(1, 2)
    run(make(stop, [job], kind=Dispatcher), stop, lambda: job.done == [1, 2])
    assert "How the jobs go was not stored: OperationalError" in caplog.text


@pytest.mark.django_db
@pytest.mark.slow("waits for locks in threads")
@pytest.mark.each_database
def test_restore_gets_the_lock_of_an_active_dispatcher(stop):
    lock = database_lock()
    dispatcher = make(stop, [FakeJob(1)], lock=lock)
    thread = threading.Thread(target=dispatcher.run)
    thread.start()
    try:
        until(lambda: dispatcher.outcomes == {"done": 1})
        with dispatcher_stopped(30) as is_stopped:
            assert is_stopped
            assert not database_lock().acquire()
            with dispatcher_stopped(1) as is_second:
                assert not is_second
        until(lock.is_held)  # the dispatcher goes on
    finally:
        stop.set()
        thread.join()


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
            cursor.execute(
                "SELECT pg_terminate_backend(%s)", [first._connection.connection.info.backend_pid]
            )
        assert not first.is_held()
        until(second.acquire)
        assert not first.acquire()
    finally:
        first.release()
        second.release()
