"""The dispatcher: it runs due jobs, such as sending emails. `manage.py deliver` runs it.

Only one process among all nodes is active (jobsite/db/locks.py); the others wait to take over. It
runs each lane of jobs in a thread, so that a slow job delays only those of its lane. It survives
restarts of the database: it closes the connections, waits, and takes the lock again.
"""

import logging
import os
import select
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from time import monotonic
from typing import Any, Protocol

from django.db import DatabaseError, InterfaceError, OperationalError, connections
from django.utils import timezone

from jobsite.api.problems import is_unavailable
from jobsite.db.connection_settings import limit
from jobsite.db.locks import Lock
from jobsite.models import JobRun

POLL_SECONDS = 2.0  # seconds between two searches for due jobs
STANDBY_SECONDS = 5.0  # seconds between two attempts to become the active process
MAX_ERROR_WAIT = 30.0  # seconds; the first waits are shorter
WATCH_SECONDS = 1.0  # between two looks at the lanes
SLOW_SECONDS = 60.0  # an item that takes longer is logged
STORE_SECONDS = 30.0  # between two writes of the rows of the jobs
STORED = ("completed_at", "failed_at", "error", "outcomes")  # `position` is the job's own
LOST = (OperationalError, InterfaceError)

logger = logging.getLogger(__name__)


class JobError(Exception):
    """A failure that needs no traceback; its text is stored.
    The job is tried again after `wait`.
    """

    def __init__(self, reason: str, *, wait: timedelta) -> None:
        super().__init__(reason)
        self.wait = wait


class Job(Protocol):
    """A kind of work, such as sending emails. One process calls it, from one thread."""

    def next_due(self, at: datetime) -> Any:
        """Return an item that is due at `at`, or None. Called again after each item."""

    def run(self, item: Any) -> str | Mapping[str, int]:
        """Do the work for `item`, commit, and return the outcome in one word, such as "sent", or
        the number of each outcome. It must not return with the item still due, or it is repeated at
        once.
        """


@dataclass
class Work:
    """A job, and how it goes."""

    job: Job
    row: JobRun
    outcomes: Counter[str] = field(default_factory=Counter)  # of this process
    failures: int = 0  # in sequence
    wait_until: float = 0.0  # on the monotonic clock
    slow_at: float | None = None  # when to log the current item

    def step(self, now: Callable[[], datetime]) -> bool:
        """Do an item that is due. Return whether there was one. Raises what the job raises."""
        self.slow_at = monotonic() + SLOW_SECONDS
        try:
            item = self.job.next_due(now())
            if item is not None:
                outcome = self.job.run(item)
                self.count({outcome: 1} if isinstance(outcome, str) else outcome)
        finally:
            self.slow_at = None
        self.failures, self.row.completed_at = 0, now()
        return item is not None

    def fail(self, error: Exception, at: datetime) -> None:
        """Note `error`, and wait: bugs and locked tables are tried again less and less often."""
        self.failures += 1
        wait = (
            error.wait.total_seconds() if isinstance(error, JobError) else error_wait(self.failures)
        )
        self.wait_until = monotonic() + wait
        text = (
            str(error) if isinstance(error, JobError) else type(error.__cause__ or error).__name__
        )
        self.row.error, self.row.failed_at = text, at
        self.count({"error": 1})
        # Also a read-only database.
        is_expected = isinstance(error, JobError) or is_unavailable(error)
        logger.log(
            logging.WARNING if is_expected else logging.ERROR,
            "%s failed: %s",
            self.row.name,
            text,
            exc_info=None if is_expected else error,
        )

    def count(self, outcomes: Mapping[str, int]) -> None:
        self.outcomes.update(outcomes)
        for name, number in outcomes.items():
            self.row.outcomes[name] = self.row.outcomes.get(name, 0) + number

    def watch(self) -> None:
        """Log an item that takes long, while it runs."""
        slow_at = self.slow_at
        if slow_at is not None and monotonic() >= slow_at:
            self.slow_at = None
            logger.warning("%s takes more than %d s", self.row.name, SLOW_SECONDS)


class Stop:
    """A request to stop, which signal handlers can make:
    unlike threading.Event, it takes no lock.
    """

    def __init__(self) -> None:
        self._reader, self._writer = os.pipe()

    def set(self, *_: object) -> None:
        os.write(self._writer, b"x")

    def wait(self, seconds: float) -> bool:
        """Wait for `seconds` at most. Return whether to stop."""
        return bool(select.select([self._reader], [], [], seconds)[0])

    def is_set(self) -> bool:
        return self.wait(0)


class Dispatcher:
    """Runs the jobs of each of the `lanes` in turn, and the lanes at the same time. It stores how
    they go, so that metrics, a check and the start page can tell.
    """

    def __init__(
        self,
        lanes: Mapping[str, Sequence[Job]],
        *,
        lock: Lock,
        stop: Stop,
        now: Callable[[], datetime] = timezone.now,
    ) -> None:
        self.lanes = {
            name: [Work(job, JobRun(name=type(job).__name__)) for job in jobs]
            for name, jobs in lanes.items()
        }
        self.stop = stop
        self.now = now
        self._lock, self._mutex = lock, threading.Lock()

    @property
    def works(self) -> list[Work]:
        return [work for lane in self.lanes.values() for work in lane]

    @property
    def outcomes(self) -> Counter[str]:
        """What the jobs did in this process."""
        return sum((work.outcomes for work in self.works), Counter())

    def run(self) -> None:
        """Do what becomes due, until `stop`."""
        errors = 0
        was_active = None
        while not self.stop.is_set():
            started_at = monotonic()
            try:
                is_active = self._lock.acquire()
                if is_active is not was_active:
                    logger.info("Active" if is_active else "Standby: another process is active")
                was_active = is_active
                if is_active:
                    self._run_lanes(self.lanes)
                    self._release()
                self.stop.wait(POLL_SECONDS if is_active else STANDBY_SECONDS)
            except LOST as error:
                errors = errors + 1 if monotonic() - started_at < MAX_ERROR_WAIT else 1
                logger.warning("The database does not respond: %s", type(error).__name__)
                self._release()
                connections.close_all()
                was_active = None
                self.stop.wait(error_wait(errors))
        self._release()

    def run_once(self) -> bool:
        """Do what is due, one lane after another. Return False if another process is active. Raises
        OperationalError."""
        if not self._lock.acquire():
            return False
        try:
            for name, lane in self.lanes.items():
                self._run_lanes({name: lane}, is_once=True)
        finally:
            self._release()
        return True

    def _run_lanes(self, lanes: Mapping[str, list[Work]], *, is_once: bool = False) -> None:
        """Run each lane in a thread until all end: at `stop`, or when the lock or a connection is
        lost. Raises OperationalError and InterfaceError.
        """
        self._load()
        lost: list[Exception] = []
        threads = [
            threading.Thread(target=self._run_lane, args=(lane, lost, is_once), name=name)
            for name, lane in lanes.items()
        ]
        for thread in threads:
            thread.start()
        while alive := [thread for thread in threads if thread.is_alive()]:
            if len(alive) < len(threads):
                self._release()  # the other lanes end too
            alive[0].join(WATCH_SECONDS)
            for work in self.works:
                work.watch()
        if lost:
            raise lost[0]

    def _run_lane(self, lane: list[Work], lost: list[Exception], is_once: bool) -> None:
        limit(connections)
        try:
            self._store(lane)
            stored_at = monotonic()
            while self._is_active():
                for _work in self._round(lane):
                    if monotonic() >= stored_at + STORE_SECONDS:
                        self._store(lane)
                        stored_at = monotonic()
                if is_once or self.stop.wait(POLL_SECONDS):
                    break
            self._store(lane)
        except LOST as error:
            lost.append(error)
        finally:
            connections.close_all()

    def _round(self, lane: list[Work]) -> Iterator[Work]:
        """Run what is due, one item of each job in turn, until nothing is due or the process has to
        end. Yield the job after each item.
        """
        due = [work for work in lane if monotonic() >= work.wait_until]
        while due:
            for work in list(due):
                # The lock is lost with its connection: then another process may be active.
                if not self._is_active():
                    return
                try:
                    if not work.step(self.now):
                        due.remove(work)
                except Exception as error:  # it must not stop the other jobs
                    if isinstance(error, LOST) and not _is_connected():
                        raise
                    work.fail(error, self.now())
                    due.remove(work)
                yield work

    def _is_active(self) -> bool:
        with self._mutex:
            return not self.stop.is_set() and self._lock.is_held()

    def _release(self) -> None:
        with self._mutex:
            self._lock.release()

    def _load(self) -> None:
        """Continue the rows of the jobs, and delete those of jobs of other releases."""
        known = JobRun.objects.in_bulk()
        for work in self.works:
            work.row = known.pop(work.row.name, work.row)
        JobRun.objects.filter(pk__in=known).delete()

    def _store(self, lane: list[Work]) -> None:
        try:
            JobRun.objects.bulk_create(
                [work.row for work in lane],
                update_conflicts=True,
                unique_fields=["name"],
                update_fields=STORED,
            )
        except DatabaseError as error:
            if not _is_connected():
                raise
            logger.warning("How the jobs go was not stored: %s", type(error).__name__)


def error_wait(errors: int) -> float:
    """Return the seconds to wait after so many errors in sequence."""
    return min(2.0 ** min(errors - 1, 10), MAX_ERROR_WAIT)


def _is_connected() -> bool:
    """Return whether the connection of this thread works:
    an error was about a lock or a statement.
    """
    connection = connections["default"]
    return connection.connection is not None and connection.is_usable()
