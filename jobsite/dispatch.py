"""The dispatcher: one loop that runs due jobs, such as sending emails. `manage.py deliver` runs it.

Only one process among all nodes is active (jobsite/db/locks.py); the others wait to take over. The loop
survives restarts of the database: it closes the connection, waits, and takes the lock again.
"""

import logging
import os
import select
from collections import Counter
from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Any, Protocol

from django.db import InterfaceError, OperationalError, connections
from django.utils import timezone

from jobsite.db.locks import Lock

POLL_SECONDS = 2.0  # seconds between two searches for due jobs
STANDBY_SECONDS = 5.0  # seconds between two attempts to become the active process
MAX_ERROR_WAIT = 30.0  # seconds; the first waits are shorter

logger = logging.getLogger(__name__)


class Job(Protocol):
    """A kind of work, such as sending emails. One process calls it, from one thread."""

    def next_due(self, at: datetime) -> Any:
        """Return an item that is due at `at`, or None. Called again after each item."""

    def run(self, item: Any) -> str:
        """Do the work for `item`, commit, and return the outcome in one word, such as "sent". It must not
        return with the item still due, or it is repeated at once."""


class Stop:
    """A request to stop, which signal handlers can make: unlike threading.Event, it takes no lock."""

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
    """Runs all `jobs` in turn. `outcomes` counts what they did."""

    def __init__(
        self,
        jobs: Iterable[Job],
        *,
        lock: Lock,
        stop: Stop,
        now: Callable[[], datetime] = timezone.now,
    ) -> None:
        self.jobs = list(jobs)
        self.lock = lock
        self.stop = stop
        self.now = now
        self.outcomes: Counter[str] = Counter()

    def run(self) -> None:
        """Do what becomes due, until `stop`."""
        errors = 0
        was_active = None
        while not self.stop.is_set():
            try:
                is_active = self.lock.acquire()
                if is_active is not was_active:
                    logger.info("Active" if is_active else "Standby: another process is active")
                was_active = is_active
                if is_active:
                    self.run_due()
                errors = 0
                self.stop.wait(POLL_SECONDS if is_active else STANDBY_SECONDS)
            except (OperationalError, InterfaceError) as error:
                errors += 1
                logger.warning("The database does not respond: %s", type(error).__name__)
                self.lock.release()
                connections.close_all()
                was_active = None
                self.stop.wait(min(2.0 ** (errors - 1), MAX_ERROR_WAIT))
        self.lock.release()

    def run_once(self) -> bool:
        """Do what is due. Return False if another process is active. Raises OperationalError."""
        if not self.lock.acquire():
            return False
        try:
            self.run_due()
        finally:
            self.lock.release()
        return True

    def run_due(self) -> None:
        """Run what is due, one item of each job in turn, until nothing is due or `stop`."""
        due = list(self.jobs)
        while due:
            for job in list(due):
                # The lock is lost with its connection: then another process may be active.
                if self.stop.is_set() or not self.lock.is_held():
                    return
                try:
                    item = job.next_due(self.now())
                    if item is None:
                        due.remove(job)
                    else:
                        self.outcomes[job.run(item)] += 1
                except (OperationalError, InterfaceError):
                    raise
                except Exception:  # a bug must not stop the other jobs; tried again at the next search
                    logger.exception("%s failed", type(job).__name__)
                    self.outcomes["error"] += 1
                    due.remove(job)
