"""What Prometheus may ask for, on a port of its own that is closed unless METRICS_PORT opens it.

Each process counts in memory that the others read (PROMETHEUS_MULTIPROC_DIR, which deploy/gunicorn.conf.py
makes), and each listens on the port: the system hands a question to any of them, and every one answers for
all. What stands in the database is asked there beside the requests, and never by counting a million rows.
Labels are names of this code, never anything that a client sent.
"""

import fcntl
import itertools
import logging
import os
import platform
import threading
from collections.abc import Iterator
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, make_server

import django
from axes.signals import user_locked_out
from django.conf import settings
from django.contrib.auth.signals import user_logged_in, user_login_failed
from django.db.models import Sum
from django.utils import timezone
from prometheus_client import CollectorRegistry, Counter, Histogram, values
from prometheus_client.exposition import ThreadingWSGIServer, make_wsgi_app
from prometheus_client.metrics_core import GaugeMetricFamily
from prometheus_client.multiprocess import MultiProcessCollector

from jobsite.api.document import version
from jobsite.models import Revision
from jobsite.ops import health
from jobsite.serving import replicas
from vacancies.models import Audience, DailyCount, ListedVacancy, PublicationState, State, Vacancy
from vacancies.readmodel.totals import COLUMNS, NEXT_CHANGES, as_datetime

BUCKETS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)
EVERY = 10.0  # seconds that what was asked of the database is good for
COUNTED_TO = 10_000  # of each state; above it is 10,000

logger = logging.getLogger(__name__)

# --- What is counted ---------------------------------------------------------------------------

registry = CollectorRegistry()
_folder = os.environ.get("PROMETHEUS_MULTIPROC_DIR")


def _place() -> int:
    """The first number that no living process has: whoever takes a place counts on where the last one in it
    stopped, so that there are as many files as processes, however often these are replaced."""
    for number in itertools.count():
        file = os.open(f"{_folder}/{number}.lock", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)  # until the process ends, in whatever way
        except BlockingIOError:
            os.close(file)
        else:
            return number
    raise AssertionError


if _folder:
    _number = _place()
    values.ValueClass = values.MultiProcessValue(lambda: _number)  # type: ignore[misc,assignment]
    MultiProcessCollector(registry, path=_folder)
_counted: Any = {"registry": None if _folder else registry}

REQUESTS = Counter(
    "jobsite_requests",
    "Requests answered; the source is cache, fast_path or view.",
    ["operation", "method", "status", "source"],
    **_counted,
)
SECONDS = Histogram(
    "jobsite_request_seconds", "How long answers took to make.", ["operation"], buckets=BUCKETS, **_counted
)
SIGN_INS = Counter("jobsite_sign_ins", "Tries to sign in, by any way.", ["outcome"], **_counted)
_cells: dict[tuple[str, str, str, str], tuple[Any, Any]] = {}


def count(operation: str, method: str, status: str, source: str, seconds: float) -> None:
    """Count a request that was answered."""
    cells = _cells.get(key := (operation, method, status, source))
    if cells is None:
        cells = _cells[key] = REQUESTS.labels(*key), SECONDS.labels(operation)
    cells[0].inc()
    cells[1].observe(seconds)


def _signed_in(**kwargs: Any) -> None:
    SIGN_INS.labels("accepted").inc()


def _refused(**kwargs: Any) -> None:
    SIGN_INS.labels("refused").inc()


def _locked_out(**kwargs: Any) -> None:
    SIGN_INS.labels("locked_out").inc()


# --- What is asked -----------------------------------------------------------------------------


def _asked() -> dict[str, Any]:
    """How many vacancies are in each state and in each list, the revision, and for how many seconds what
    the clock has passed has not been written down."""
    now = timezone.now()
    vacancies: Any = Vacancy.objects.order_by()
    states = {
        state.value: vacancies.in_state(state, at=now).values("pk")[:COUNTED_TO].count()
        for state in State
        if state != State.PUBLISHED
    }
    sums = DailyCount.objects.aggregate(**{name: Sum(name, default=0) for name in COLUMNS})
    only_internal = ListedVacancy.objects.filter(
        state=PublicationState.LIVE, audience=Audience.INTERNAL
    ).values("pk")
    states[State.PUBLISHED.value] = sums["external"] + only_internal[:COUNTED_TO].count()
    with health.connections["default"].cursor() as cursor:
        cursor.execute(f"SELECT {NEXT_CHANGES}")
        moments = [moment for each in cursor.fetchone() if (moment := as_datetime(each))]
    overdue = (now - min(moments)).total_seconds() if moments else 0
    number = Revision.objects.filter(pk=1).values_list("number", flat=True).first()
    return {"states": states, "lists": sums, "revision": number or 0, "overdue": max(0, overdue)}


def _from_the_database() -> dict[str, Any]:
    return health.on_a_connection_of_its_own(_asked)


_ask = health.Asked(_from_the_database, EVERY)


class Site:
    """The figures that nobody counts: they are looked up when they are asked for."""

    def describe(self) -> list[Any]:
        return []  # or registering asks for all of them

    def collect(self) -> Iterator[GaugeMetricFamily]:
        labels = {"version": version(), "django": django.__version__, "python": platform.python_version()}
        yield _gauge("build_info", "What runs.", labels, {tuple(labels.values()): 1})

        found = health.look() or {"database": "no answer"}
        yield _gauge("database_up", "Whether the primary answers.", (), {(): found["database"] == "ok"})
        if "migrations" in found:
            is_there = found["migrations"] == "ok"
            yield _gauge("migrated", "Whether all migrations are applied.", (), {(): is_there})
        if (cache := found.get("cache", "not shared")) != "not shared":
            yield _gauge("cache_up", "Whether the shared cache answers.", (), {(): cache == "ok"})

        standings = replicas.report()
        up = {(each.alias,): each.is_well for each in standings}
        yield _gauge("replica_up", "Whether a replica is read from.", ("replica",), up)
        seconds = {(each.alias,): each.seconds for each in standings if each.seconds is not None}
        yield _gauge("replica_lag_seconds", "How far behind; absent if lost.", ("replica",), seconds)
        behind = {(each.alias,): each.bytes for each in standings if each.bytes is not None}
        yield _gauge("replica_lag_bytes", "The same in bytes of the log.", ("replica",), behind)

        if asked := _ask():
            states = {(name,): number for name, number in asked["states"].items()}
            yield _gauge("vacancies", "Vacancies by state, 10000 for more.", ("state",), states)
            lists = {(name,): number for name, number in asked["lists"].items()}
            yield _gauge("listed", "Vacancies in each public list.", ("list",), lists)
            yield _gauge("revision", "Raised by every change.", (), {(): asked["revision"]})
            yield _gauge("overdue_seconds", "Since a due change of a list.", (), {(): asked["overdue"]})


def _gauge(name: str, text: str, labels: Any, numbers: dict[tuple, Any]) -> GaugeMetricFamily:
    family = GaugeMetricFamily(f"jobsite_{name}", text, labels=list(labels))
    for each, number in numbers.items():
        family.add_metric(each, float(number))
    return family


# --- Who is told -------------------------------------------------------------------------------


class _Server(ThreadingWSGIServer):
    allow_reuse_port = True  # all processes listen


class _Handler(WSGIRequestHandler):
    timeout = 10  # for a question to be put

    def log_message(self, *args: Any) -> None:
        """Nobody has to know that figures were asked for."""


def start() -> None:
    """Count sign-ins, and answer on the port from a thread."""
    for signal, receiver in (
        (user_logged_in, _signed_in),
        (user_login_failed, _refused),
        (user_locked_out, _locked_out),
    ):
        signal.connect(receiver)
    registry.register(Site())  # type: ignore[arg-type]
    application = make_wsgi_app(registry)
    server = make_server(settings.METRICS_ADDRESS, settings.METRICS_PORT, application, _Server, _Handler)
    threading.Thread(target=server.serve_forever, name="metrics", daemon=True).start()
