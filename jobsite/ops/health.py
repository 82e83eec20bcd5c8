"""What a load balancer may ask: `/healthz`, whether this process lives, and `/readyz`, whether it can do its
work. Both are answered in front of Django: by whatever address they are asked for, without a host to
check, a limit to count or a redirect.
"""

import json
import logging
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from time import monotonic
from typing import Any

from django.core.cache import caches
from django.db import DatabaseError, connections
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.recorder import MigrationRecorder

from jobsite.serving import replicas

PATHS = ("/healthz", "/readyz")
WITHIN = 2.0  # seconds that anybody waits for what is asked here
EVERY = 1.0  # seconds that an answer is good for, however many ask

logger = logging.getLogger(__name__)


@dataclass
class Asked:
    """What `question` gives, asked beside the requests: by one thread, every so many seconds at most."""

    question: Callable[[], Any]
    every: float
    lock: Any = field(default_factory=threading.Lock)
    done: threading.Event = field(default_factory=threading.Event)
    asked_at: float = float("-inf")
    answer: Any = None

    def __call__(self) -> Any:
        """Return the answer, or None if there is none in time."""
        with self.lock:
            if self.done.is_set() or self.asked_at == float("-inf"):
                if monotonic() - self.asked_at < self.every:
                    return self.answer
                self.done, self.asked_at = threading.Event(), monotonic()
                threading.Thread(target=self._ask, args=(self.done,), daemon=True).start()
            done, rest = self.done, self.asked_at + WITHIN - monotonic()
        return self.answer if done.wait(max(0, rest)) else None

    def _ask(self, done: threading.Event) -> None:
        try:
            self.answer = self.question()
        except Exception as error:  # the texts of errors name hosts and users
            self.answer = None
            logger.warning("%s failed: %s", self.question.__name__, type(error).__name__)
        finally:
            done.set()


def on_a_connection_of_its_own(question: Callable[[], Any]) -> Any:
    """Return what `question` gives in this thread, which has no other use for the database: past the pool,
    where requests queue, and with an end to waiting for a server that froze. Raises a DatabaseError."""
    own = connections["default"].copy()
    own.settings_dict["OPTIONS"].pop("pool", None)
    connections["default"] = own
    try:
        own.ensure_connection()
        raw: Any = own.connection
        if own.vendor == "postgresql":
            wait, end = raw.wait, monotonic() + WITHIN

            def wait_a_little(generator: Any, *args: Any, **kwargs: Any) -> Any:
                return wait(replicas.watched(generator, lambda: monotonic() > end), replicas.TICK)

            raw.wait = wait_a_little  # what all of psycopg waits with
        return question()
    finally:
        own.close()


# --- What is looked at -------------------------------------------------------------------------

_applied: tuple[frozenset, int] | None = None


def unapplied() -> int:
    """How many migrations of this code the database has not seen. Those of newer code do no harm."""
    global _applied
    recorded = frozenset(MigrationRecorder(connections["default"]).applied_migrations())
    if _applied is None or _applied[0] != recorded:
        executor = MigrationExecutor(connections["default"])
        _applied = recorded, len(executor.migration_plan(executor.loader.graph.leaf_nodes()))
    return _applied[1]


def cache() -> str:
    """Whether the cache is shared and answers. Without it each process counts by itself."""
    shared = caches["default"]
    server = getattr(shared, "server", None)
    if server is None:
        return "not shared"
    shared.get("ready")
    return "degraded" if server.off_until else "ok"


def report() -> dict[str, Any]:
    """What each of what this process works with is like."""
    found: dict[str, Any] = {"database": "ok"}
    try:
        count = on_a_connection_of_its_own(unapplied)
        found["migrations"] = "ok" if count == 0 else f"{count} not applied"
    except DatabaseError:
        found["database"] = "no answer"
    found["cache"] = cache()
    found["replicas"] = {each.alias: "ok" if each.is_well else "left out" for each in replicas.report()}
    return found


look = Asked(report, EVERY)
_was_ready = True


def readiness() -> dict[str, Any]:
    """Whether requests can be answered, and what is wrong. A cache or replicas that are lost make them
    slower, not wrong."""
    global _was_ready
    found = look() or {"database": "no answer"}
    is_ready = found["database"] == found.get("migrations") == "ok"
    if is_ready != _was_ready:
        _was_ready = is_ready
        logger.warning("Ready again" if is_ready else "Not ready: %s", *([] if is_ready else [found]))
    return {"status": "ready" if is_ready else "not ready", **found}


def answer(environ: dict[str, Any], start_response: Callable) -> Iterable[bytes]:
    """The WSGI application of PATHS."""
    headers = [("Cache-Control", "no-store"), ("X-Content-Type-Options", "nosniff")]
    if environ["REQUEST_METHOD"] not in ("GET", "HEAD"):
        start_response("405 Method Not Allowed", [*headers, ("Allow", "GET, HEAD"), ("Content-Length", "0")])
        return []
    said = {"status": "ok"} if environ["PATH_INFO"] == "/healthz" else readiness()
    status = "503 Service Unavailable" if said["status"] == "not ready" else "200 OK"
    body = json.dumps(said).encode()
    start_response(
        status, [*headers, ("Content-Type", "application/json"), ("Content-Length", str(len(body)))]
    )
    return [] if environ["REQUEST_METHOD"] == "HEAD" else [body]
