"""Metrics for Prometheus, on a port of their own that METRICS_PORT opens.

Each process counts in a memory-mapped file (PROMETHEUS_MULTIPROC_DIR, created by
deploy/gunicorn.conf.py). All processes listen on the port; the kernel passes a request to any of
them, which reports the sum of all. Metrics that are read from the database are cached, and never
count a million rows. Labels are names from this code, and never contain input of a client.
"""

import fcntl
import itertools
import logging
import os
import platform
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from wsgiref.simple_server import WSGIRequestHandler, make_server

import django
from axes.signals import user_locked_out
from django.conf import settings
from django.contrib.auth.signals import user_logged_in, user_login_failed
from prometheus_client import CollectorRegistry, Counter, Histogram, Metric, values
from prometheus_client.exposition import ThreadingWSGIServer, make_wsgi_app
from prometheus_client.metrics_core import GaugeMetricFamily
from prometheus_client.multiprocess import MultiProcessCollector

from jobsite.ops import health
from jobsite.serving import replica

BUCKETS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)
DATABASE_MAX_AGE = 10.0  # seconds that metrics from the database are cached

logger = logging.getLogger(__name__)

# --- Counters and histograms ----------------------------------------------------------------------

registry = CollectorRegistry()
_folder = os.environ.get("PROMETHEUS_MULTIPROC_DIR")


def _slot() -> int:
    """Return the lowest number that no living process has, and hold it until this process ends.

    A new process continues the file of the one that had its number before: there are as many files
    as processes, however often processes are replaced.
    """
    for number in itertools.count():
        file = os.open(f"{_folder}/{number}.lock", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)  # the kernel releases it
        except BlockingIOError:
            os.close(file)
        else:
            return number
    raise AssertionError


if _folder:
    _number = _slot()
    values.ValueClass = values.MultiProcessValue(lambda: _number)  # type: ignore[misc,assignment]
    MultiProcessCollector(registry, path=_folder)
_options: dict = {"registry": None if _folder else registry}

REQUESTS = Counter(
    "jobsite_requests",
    "Requests answered; the source is cache or view.",
    ["operation", "method", "status", "source"],
    **_options,
)
SECONDS = Histogram(
    "jobsite_request_seconds",
    "Time to produce a response.",
    ["operation"],
    buckets=BUCKETS,
    **_options,
)
SIGN_INS = Counter("jobsite_sign_ins", "Sign-in attempts.", ["outcome"], **_options)
_children: dict[tuple[str, str, str, str], tuple[Counter, Histogram]] = {}


def count(operation: str, method: str, status: str, source: str, seconds: float) -> None:
    """Count an answered request."""
    children = _children.get(key := (operation, method, status, source))
    if children is None:
        children = _children[key] = REQUESTS.labels(*key), SECONDS.labels(operation)
    children[0].inc()
    children[1].observe(seconds)


def _signed_in(**kwargs: object) -> None:
    SIGN_INS.labels("accepted").inc()


def _refused(**kwargs: object) -> None:
    SIGN_INS.labels("refused").inc()


def _locked_out(**kwargs: object) -> None:
    SIGN_INS.labels("locked_out").inc()


# --- Gauges ------------------------------------------------------------------------------------


class GaugeCollector:
    """Reads the gauges when Prometheus requests them.

    `database_gauges` returns those that need queries; it runs on a connection of its own, and not
    for every request.
    """

    def __init__(self, database_gauges: Callable[[], Iterable[Metric]]) -> None:
        def probe() -> object:
            return health.on_dedicated_connection(lambda: list(database_gauges()))

        self._replica = health.CachedProbe(health.replica_responds, health.MAX_AGE)
        self._database_gauges = health.CachedProbe(probe, DATABASE_MAX_AGE)

    def describe(self) -> list[Metric]:
        return []  # otherwise registering it would collect everything

    def collect(self) -> Iterator[GaugeMetricFamily]:
        labels = {
            "version": settings.VERSION,
            "commit": settings.COMMIT,
            "django": django.__version__,
            "python": platform.python_version(),
        }
        yield gauge("build_info", "Versions of the code.", labels, {tuple(labels.values()): 1})

        found = health.cached_report() or {"database": "no answer"}
        yield gauge(
            "database_up", "Whether the primary responds.", (), {(): found["database"] == "ok"}
        )
        if "migrations" in found:
            is_migrated = found["migrations"] == "ok"
            yield gauge("migrated", "Whether all migrations are applied.", (), {(): is_migrated})
        if (cache := found.get("cache", "not shared")) != "not shared":
            yield gauge("cache_up", "Whether the shared cache responds.", (), {(): cache == "ok"})

        if replica.is_configured():
            yield gauge(
                "replica_up", "Whether the replica responds.", (), {(): bool(self._replica())}
            )

        yield from self._database_gauges() or ()


def gauge(
    name: str, text: str, labels: Iterable[str], numbers: Mapping[tuple, float]
) -> GaugeMetricFamily:
    """Return the gauge `jobsite_<name>` with the help `text`;
    `numbers` are by the values of `labels`.
    """
    family = GaugeMetricFamily(f"jobsite_{name}", text, labels=list(labels))
    for each, number in numbers.items():
        family.add_metric(each, float(number))
    return family


# --- HTTP server -------------------------------------------------------------------------------


class _Server(ThreadingWSGIServer):
    allow_reuse_port = True  # all processes listen on one port


class _Handler(WSGIRequestHandler):
    timeout = 10  # seconds to receive a request

    def log_message(self, *args: object) -> None:
        """Do not log requests for metrics."""


def start(database_gauges: Callable[[], Iterable[Metric]]) -> None:
    """Count sign-ins, and serve the metrics from a thread."""
    for signal, receiver in (
        (user_logged_in, _signed_in),
        (user_login_failed, _refused),
        (user_locked_out, _locked_out),
    ):
        signal.connect(receiver)
    registry.register(GaugeCollector(database_gauges))  # type: ignore[arg-type]
    application = make_wsgi_app(registry)
    server = make_server(
        settings.METRICS_ADDRESS, settings.METRICS_PORT, application, _Server, _Handler
    )
    threading.Thread(target=server.serve_forever, name="metrics", daemon=True).start()
