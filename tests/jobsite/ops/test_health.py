"""Liveness and readiness probes:
available to every client, in time, and without internal details.
"""

import json
import threading
from types import SimpleNamespace
from unittest.mock import Mock

import pytest
from django.core.cache import caches
from django.db import OperationalError
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

from jobsite.ops import health
from jobsite.wsgi import application
from tests.wsgi import ask

READY = {"status": "ready", "database": "ok", "migrations": "ok", "cache": "not shared"}
FOREIGN = {
    "HTTP_HOST": "10.0.0.7:8000",
    "HTTP_ACCEPT": "text/html",
    "CONTENT_TYPE": "x; charset=rot13",
}


@pytest.fixture(autouse=True)
def reset_probes(monkeypatch, settings):
    """Forget cached results, and enable the settings that could block a probe."""
    settings.SECURE_SSL_REDIRECT, settings.RATE_LIMIT = True, "1/min"
    monkeypatch.setattr(health, "TIMEOUT", 60.0)  # the machine may be busy
    monkeypatch.setattr(health, "cached_report", health.CachedProbe(health.report, 0))
    monkeypatch.setattr(health, "_was_ready", True)
    monkeypatch.setattr(health, "_applied", None)


@pytest.fixture
def no_database(monkeypatch):
    lost = OperationalError(
        'connection to server at "db.internal" failed: password of "bob" is wrong'
    )
    monkeypatch.setattr(health, "on_dedicated_connection", Mock(side_effect=lost))


def readiness():
    status, headers, body = ask(application, "/readyz", **FOREIGN)
    assert headers["Cache-Control"] == "no-store"
    return status[:3], json.loads(body)


def test_liveness_needs_no_database_and_readiness_hides_its_error(no_database, caplog):
    headers = {
        "Cache-Control": "no-store",
        "X-Content-Type-Options": "nosniff",
        "Content-Type": "application/json",
        "Content-Length": "16",
    }
    for _ in range(3):
        assert ask(application, "/healthz", **FOREIGN) == ("200 OK", headers, b'{"status": "ok"}')

    state = {"database": "no answer", "cache": "not shared"}
    for _ in range(2):
        assert readiness() == ("503", {"status": "not ready", **state})

    assert caplog.messages == [f"Not ready: {state}"]  # logged once


def test_probes_accept_get_and_head_only(db, settings):
    for path in health.PATHS:
        plain, head = ask(application, path), ask(application, path, "HEAD")
        assert head == (*plain[:2], b"")
        for method in ("POST", "OPTIONS", "DELETE"):
            status, headers, body = ask(application, path, method)
            assert (status[:3], headers["Allow"], body) == ("405", "GET, HEAD", b"")
    settings.SECURE_SSL_REDIRECT = False
    for path in ("/healthz/", "/readyz/x", "/v1/healthz"):
        assert ask(application, path)[0].startswith("404"), path


def test_readiness_depends_on_the_migrations_of_this_code(db, monkeypatch):
    for _ in range(3):  # exceeds the rate limit
        assert readiness() == ("200", READY)
    recorded = MigrationRecorder.applied_migrations
    last = MigrationLoader(None).graph.leaf_nodes("sessions")[0]

    def changed(self):
        return {key: row for key, row in (recorded(self) | newer).items() if key != missing}

    newer, missing = {("vacancies", "9999_from_the_future"): SimpleNamespace()}, None
    monkeypatch.setattr(MigrationRecorder, "applied_migrations", changed)
    monkeypatch.setattr(health, "_applied", None)
    assert readiness() == ("200", READY)

    missing = last
    monkeypatch.setattr(health, "_applied", None)
    assert readiness() == ("503", READY | {"status": "not ready", "migrations": "1 not applied"})


def test_readiness_needs_no_cache_and_no_replica(db, monkeypatch):
    monkeypatch.setattr(
        caches["default"].__class__, "server", SimpleNamespace(off_until=1.0), raising=False
    )
    monkeypatch.setattr(health, "replica_responds", None)  # is not called

    assert readiness() == ("200", READY | {"cache": "degraded"})


def test_hanging_probe_runs_once_for_all_callers(monkeypatch):
    monkeypatch.setattr(health, "TIMEOUT", 0.05)
    released, runs = threading.Event(), []

    def probe():
        runs.append(threading.current_thread())
        released.wait(60)
        return len(runs)

    slow = health.CachedProbe(probe, max_age=0)
    assert [slow() for _ in range(5)] == [None] * 5
    assert len(runs) == 1  # callers start no threads of their own

    released.set()
    runs[0].join(60)
    monkeypatch.setattr(health, "TIMEOUT", 60)
    assert slow() == 2
    reused = health.CachedProbe(probe, max_age=60)
    assert [reused() for _ in range(5)] == [3] * 5
