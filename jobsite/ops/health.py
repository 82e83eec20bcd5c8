"""Liveness (`/healthz`) and readiness (`/readyz`) probes for load balancers.

Both are answered before Django's middleware, so that they need no valid Host header, do not count
towards the rate limit and are never redirected.
"""

import json
import logging
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from time import monotonic
from typing import Any, TypeVar
from wsgiref.types import StartResponse, WSGIEnvironment

from django.core.cache import caches
from django.db import DEFAULT_DB_ALIAS, DatabaseError, OperationalError, connections
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.recorder import MigrationRecorder

from jobsite.db.history import missing_parts
from jobsite.serving.replica import REPLICA
from jobsite.types import JsonObject

Result = TypeVar("Result")
PATHS = ("/healthz", "/readyz")
TIMEOUT = 2.0  # seconds that a caller waits for a probe
MAX_AGE = 1.0  # seconds that the result of a probe is reused

logger = logging.getLogger(__name__)


@dataclass
class CachedProbe:
    """Runs `probe` in a thread and reuses its result for `max_age` seconds.

    All callers share one run, also while it hangs: a lost database costs one thread.
    """

    probe: Callable[[], object]
    max_age: float
    lock: threading.Lock = field(default_factory=threading.Lock)
    done: threading.Event = field(default_factory=threading.Event)
    started_at: float = float("-inf")
    result: object = None

    def __call__(self) -> Any:
        """Return the result, or None if the probe fails or takes longer than TIMEOUT."""
        with self.lock:
            if self.done.is_set() or self.started_at == float("-inf"):
                if monotonic() - self.started_at < self.max_age:
                    return self.result
                self.done, self.started_at = threading.Event(), monotonic()
                threading.Thread(target=self._run, args=(self.done,), daemon=True).start()
            done, remaining = self.done, self.started_at + TIMEOUT - monotonic()
        return self.result if done.wait(max(0, remaining)) else None

    def _run(self, done: threading.Event) -> None:
        try:
            self.result = self.probe()
        except Exception as error:  # log the type only: messages contain hosts and users
            self.result = None
            name = getattr(self.probe, "__name__", "A probe")
            logger.warning("%s failed: %s", name, type(error).__name__)
        finally:
            done.set()


def on_dedicated_connection(query: Callable[[], Result], alias: str = DEFAULT_DB_ALIAS) -> Result:
    """Return `query()`, which uses a new connection to the database `alias`.

    The connection does not come from the pool, where requests queue. Call it in a thread that does
    nothing else with the database. Raises DatabaseError.
    """
    own = connections[alias].copy()
    own.settings_dict["OPTIONS"].pop("pool", None)
    connections[alias] = own
    try:
        own.ensure_connection()
        return query()
    finally:
        own.close()


# --- Dependencies ------------------------------------------------------------------------------

_applied: tuple[frozenset, int] | None = None


def count_unapplied_migrations() -> int:
    """Return how many migrations of this code are not applied.
    Migrations of newer code do not count.
    """
    global _applied
    recorded = frozenset(MigrationRecorder(connections["default"]).applied_migrations())
    if _applied is None or _applied[0] != recorded:
        _applied = recorded, len(missing_parts(recorded)) or _plan_length()
    return _applied[1]


def _plan_length() -> int:
    executor = MigrationExecutor(connections["default"])
    return len(executor.migration_plan(executor.loader.graph.leaf_nodes()))


def database_state() -> tuple[str, int]:
    """Return "ok", or "read-only" of a database that takes no writes, such as a standby; and the
    number of migrations that are not applied. Raises DatabaseError.
    """
    default, state = connections[DEFAULT_DB_ALIAS], "ok"
    with default.cursor() as cursor:
        if default.vendor == "postgresql":
            cursor.execute("SELECT current_setting('transaction_read_only') = 'on'")
            state = "read-only" if cursor.fetchone()[0] else "ok"
        else:
            cursor.execute("PRAGMA busy_timeout = 0")  # a writer that is at work proves the same
            try:
                cursor.execute("DELETE FROM django_migrations WHERE id < 0")  # none
            except OperationalError as error:
                state = "read-only" if "readonly" in str(error) else "ok"
    return state, count_unapplied_migrations()


def cache_state() -> str:
    """Return "ok", "degraded" if the shared cache does not respond, or "not shared" if each process
    has one.
    """
    shared = caches["default"]
    server = getattr(shared, "server", None)
    if server is None:
        return "not shared"
    shared.get("ready")
    return "degraded" if server.off_until else "ok"


def report() -> JsonObject:
    """Return the state of each dependency of this process."""
    found: JsonObject = {}
    try:
        found["database"], count = on_dedicated_connection(database_state)
        found["migrations"] = "ok" if count == 0 else f"{count} not applied"
    except DatabaseError:
        found["database"] = "no answer"
    found["cache"] = cache_state()
    return found


def replica_responds() -> bool:
    """Return True. Raises DatabaseError if the replica does not respond."""
    on_dedicated_connection(lambda: connections[REPLICA].cursor().execute("SELECT 1"), REPLICA)
    return True


cached_report = CachedProbe(report, MAX_AGE)
_was_ready = True


def readiness(*, reads: bool = False) -> JsonObject:
    """Return whether requests can be answered, or only `reads`, and the state of each dependency.

    A process without its cache or the replica is ready: it is slower, and correct. So this does not
    wait for the replica.
    """
    global _was_ready
    found = cached_report() or {"database": "no answer"}
    if reads and found["database"] == "read-only":
        return {"status": "ready" if found["migrations"] == "ok" else "not ready", **found}
    is_ready = found["database"] == found.get("migrations") == "ok"
    if is_ready != _was_ready:
        _was_ready = is_ready
        logger.warning(
            "Ready again" if is_ready else "Not ready: %s", *([] if is_ready else [found])
        )
    return {"status": "ready" if is_ready else "not ready", **found}


def application(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
    """The WSGI application of PATHS."""
    headers = [("Cache-Control", "no-store"), ("X-Content-Type-Options", "nosniff")]
    if environ["REQUEST_METHOD"] not in ("GET", "HEAD"):
        start_response(
            "405 Method Not Allowed", [*headers, ("Allow", "GET, HEAD"), ("Content-Length", "0")]
        )
        return []
    reads = environ.get("QUERY_STRING") == "for=reads"
    state = {"status": "ok"} if environ["PATH_INFO"] == "/healthz" else readiness(reads=reads)
    status = "503 Service Unavailable" if state["status"] == "not ready" else "200 OK"
    body = json.dumps(state).encode()
    start_response(
        status, [*headers, ("Content-Type", "application/json"), ("Content-Length", str(len(body)))]
    )
    return [] if environ["REQUEST_METHOD"] == "HEAD" else [body]
