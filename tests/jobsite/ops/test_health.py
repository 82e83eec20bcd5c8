"""Liveness and readiness probes: available to every client, in time, and without internal details."""

import json
import threading
from types import SimpleNamespace

import pytest
from django.core.cache import caches
from django.db import OperationalError, connections
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

from jobsite.ops import health
from jobsite.wsgi import application
from tests import servers
from tests.jobsite.serving.databases import databases, elsewhere
from tests.wsgi import ask

READY = {"status": "ready", "database": "ok", "migrations": "ok", "cache": "not shared"}
FOREIGN = {"HTTP_HOST": "10.0.0.7:8000", "HTTP_ACCEPT": "text/html", "CONTENT_TYPE": "x; charset=rot13"}


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
    def refuse(query):
        raise OperationalError('connection to server at "db.internal" failed: password of "bob" is wrong')

    monkeypatch.setattr(health, "on_dedicated_connection", refuse)


def readiness():
    status, headers, body = ask(application, "/readyz", **FOREIGN)
    assert headers["Cache-Control"] == "no-store"
    return status[:3], json.loads(body)


def test_liveness_needs_no_database(no_database):
    for _ in range(3):
        assert ask(application, "/healthz", **FOREIGN) == (
            "200 OK",
            {
                "Cache-Control": "no-store",
                "X-Content-Type-Options": "nosniff",
                "Content-Type": "application/json",
                "Content-Length": "16",
            },
            b'{"status": "ok"}',
        )


@pytest.mark.parametrize("path", health.PATHS)
def test_probes_accept_get_and_head_only(db, path):
    plain, head = ask(application, path), ask(application, path, "HEAD")
    assert head == (*plain[:2], b"")
    for method in ("POST", "OPTIONS", "DELETE"):
        status, headers, body = ask(application, path, method)
        assert (status[:3], headers["Allow"], body) == ("405", "GET, HEAD", b"")


@pytest.mark.parametrize("path", ["/healthz/", "/readyz/x", "/v1/healthz"])
def test_other_paths_are_404(db, path, settings):
    settings.SECURE_SSL_REDIRECT = False
    assert ask(application, path)[0].startswith("404")


def test_readiness_of_a_healthy_process(db):
    for _ in range(3):  # exceeds the rate limit
        assert readiness() == ("200", READY)


def test_readiness_fails_while_a_migration_is_missing(db, monkeypatch):
    recorded = MigrationRecorder.applied_migrations
    last = MigrationLoader(None).graph.leaf_nodes("vacancies")[0]

    def one_less(self):
        return {key: row for key, row in recorded(self).items() if key != last}

    monkeypatch.setattr(MigrationRecorder, "applied_migrations", one_less)
    assert readiness() == ("503", READY | {"status": "not ready", "migrations": "1 not applied"})


def test_readiness_ignores_migrations_of_newer_code(db, monkeypatch):
    recorded = MigrationRecorder.applied_migrations
    newer = {("vacancies", "9999_from_the_future"): SimpleNamespace()}
    monkeypatch.setattr(MigrationRecorder, "applied_migrations", lambda self: recorded(self) | newer)

    assert readiness() == ("200", READY)


def test_readiness_without_database_hides_the_error(no_database, caplog):
    state = {"database": "no answer", "cache": "not shared"}
    for _ in range(2):
        assert readiness() == ("503", {"status": "not ready", **state})

    assert [record.getMessage() for record in caplog.records] == [f"Not ready: {state}"]  # logged once


def test_readiness_needs_no_cache_and_no_replica(db, monkeypatch):
    monkeypatch.setattr(caches["default"].__class__, "server", SimpleNamespace(off_until=1.0), raising=False)
    monkeypatch.setattr(health, "replica_responds", None)  # is not called

    assert readiness() == ("200", READY | {"cache": "degraded"})


# --- Unresponsive dependencies -----------------------------------------------------------------


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


def test_probe_result_is_reused():
    runs = []
    quick = health.CachedProbe(lambda: runs.append(1) or len(runs), max_age=60)
    assert [quick() for _ in range(5)] == [1] * 5


@pytest.mark.slow("starts PostgreSQL")
@pytest.mark.skipif(not servers.POSTGRES, reason="there are no PostgreSQL binaries here")
def test_frozen_database_ends_with_an_error(django_db_blocker):
    """Its sockets stay open: only the backend of serving processes ends the wait."""
    database = servers.Postgres(servers.folder() / "a")
    database.start()

    def query():
        with connections["default"].cursor() as cursor:
            database.freeze()
            cursor.execute("SELECT 1")

    try:
        with (
            databases(DATABASE_URL=database.url, JOBSITE_SERVES="1"),
            django_db_blocker.unblock(),
            pytest.raises(OperationalError, match="does not respond"),
        ):
            elsewhere(health.on_dedicated_connection, query)
    finally:
        database.stop()
