"""Keeps threads of the site free while the object store is slow or does not respond."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

WAIT = 0.5  # seconds that a request waits for others to end
SLOW = 1.0  # a failure after so many seconds opens the circuit
OPEN = 5.0  # for so many seconds


class UnavailableError(OSError):
    """The object store does not respond, or refuses. The site answers 503 with Retry-After."""


class CircuitBreaker:
    """Lets at most `slots` threads of the process use the object store. 0: any number.

    After a slow failure, or if the others take long, it refuses at once for OPEN seconds. Otherwise
    each request for a file would hold a thread until its timeout, and none would be left for the
    API.
    """

    def __init__(self, slots: int) -> None:
        self._slots = threading.BoundedSemaphore(slots) if slots else None
        self._open_until = 0.0

    @contextmanager
    def request(self) -> Iterator[None]:
        """Raise UnavailableError if the circuit is open."""
        if time.monotonic() < self._open_until:
            raise UnavailableError("The object store failed a moment ago.")
        if self._slots and not self._slots.acquire(timeout=WAIT):
            self._open()
            raise UnavailableError("The object store is slow: other requests wait for it.")
        start = time.monotonic()
        try:
            yield
        except UnavailableError:
            if time.monotonic() > start + SLOW:
                self._open()
            raise
        finally:
            if self._slots:
                self._slots.release()

    def _open(self) -> None:
        self._open_until = time.monotonic() + OPEN
