"""Keeps threads of the site free while the object store is slow or does not respond."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

WAIT = 0.5  # seconds that a request waits for others to end
SLOW = 1.0  # a failure after so many seconds closes the gate
CLOSED = 5.0  # for so many seconds


class UnavailableError(OSError):
    """The object store does not respond, or refuses. The site answers 503 with Retry-After."""


class Gate:
    """Lets at most `slots` threads of the process use the object store. 0: any number.

    After a slow failure, or if the others take long, it refuses at once for CLOSED seconds. Otherwise each
    request for a file would hold a thread until its timeout, and none would be left for the API.
    """

    def __init__(self, slots: int) -> None:
        self._slots = threading.BoundedSemaphore(slots) if slots else None
        self._closed_until = 0.0

    @contextmanager
    def enter(self) -> Iterator[None]:
        """Raise UnavailableError if the gate is closed."""
        if time.monotonic() < self._closed_until:
            raise UnavailableError("The object store failed a moment ago.")
        if self._slots and not self._slots.acquire(timeout=WAIT):
            self._close()
            raise UnavailableError("The object store is slow: other requests wait for it.")
        start = time.monotonic()
        try:
            yield
        except UnavailableError:
            if time.monotonic() > start + SLOW:
                self._close()
            raise
        finally:
            if self._slots:
                self._slots.release()

    def _close(self) -> None:
        self._closed_until = time.monotonic() + CLOSED
