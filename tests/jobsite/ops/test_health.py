"""What load balancers ask: answered for whoever asks, in time, and without telling more than they need."""

import json
import threading
from types import SimpleNamespace

import pytest
from django.core.cache import caches
from django.db import OperationalError, connections
from django.db.migrations.recorder import MigrationRecorder

from jobsite.ops import health
from jobsite.serving import replicas
from jobsite.wsgi import application
from tests import servers
from tests.jobsite.serving.test_replicas import databases, elsewhere
from tests.wsgi import ask

READY = {"status": "ready", "database": "ok", "migrations": "ok", "cache": "not shared", "replicas": {}}
FOREIGN = {"HTTP_HOST": "10.0.0.7:8000", "HTTP_ACCEPT": "text/html", "CONTENT_TYPE": "x; charset=rot13"}


@pytest.fixture(autouse=True)
def asked_anew(monkeypatch, settings):
    """Nothing is known from another test, and everything of settings is in force that could be in the way."""
    settings.SECURE_SSL_REDIRECT, settings.RATE_LIMIT = True, "1/min"
    monkeypatch.setattr(health, "WITHIN", 60.0)  # the machine may have much else to do
    monkeypatch.setattr(health, "look", health.Asked(health.report, 0))
    monkeypatch.setattr(health, "_was_ready", True)
    monkeypatch.setattr(health, "_applied", None)


@pytest.fixture
def no_database(monkeypatch):
    def refuse(question):
        raise OperationalError('connection to server at "db.internal" failed: password of "bob" is wrong')

    monkeypatch.setattr(health, "on_a_connection_of_its_own", refuse)


def readiness():
    status, headers, body = ask(application, "/readyz", **FOREIGN)
    assert headers["Cache-Control"] == "no-store"
    return status[:3], json.loads(body)


def test_process_lives_without_a_database(no_database):
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
def test_only_safe_methods(db, path):
    plain, head = ask(application, path), ask(application, path, "HEAD")
    assert head == (*plain[:2], b"")
    for method in ("POST", "OPTIONS", "DELETE"):
        status, headers, body = ask(application, path, method)
        assert (status[:3], headers["Allow"], body) == ("405", "GET, HEAD", b"")


@pytest.mark.parametrize("path", ["/healthz/", "/readyz/x", "/v1/healthz"])
def test_nothing_else_is_answered(db, path, settings):
    settings.SECURE_SSL_REDIRECT = False
    assert ask(application, path)[0].startswith("404")


def test_ready(db):
    for _ in range(3):  # more than the rate limit allows
        assert readiness() == ("200", READY)


def test_migration_that_is_missing(db, monkeypatch):
    recorded = MigrationRecorder.applied_migrations

    def one_less(self):
        return {key: row for key, row in recorded(self).items() if key != ("jobsite", "0002_state")}

    monkeypatch.setattr(MigrationRecorder, "applied_migrations", one_less)
    status, said = readiness()

    assert status == "503"
    assert said == READY | {"status": "not ready", "migrations": said["migrations"]}
    assert said["migrations"].endswith(" not applied")


def test_migrations_of_newer_code_do_no_harm(db, monkeypatch):
    recorded = MigrationRecorder.applied_migrations
    newer = {("vacancies", "9999_from_the_future"): SimpleNamespace()}
    monkeypatch.setattr(MigrationRecorder, "applied_migrations", lambda self: recorded(self) | newer)

    assert readiness() == ("200", READY)


def test_database_that_is_away_is_told_without_details(no_database, caplog):
    wrong = {"database": "no answer", "cache": "not shared", "replicas": {}}
    for _ in range(2):
        assert readiness() == ("503", {"status": "not ready", **wrong})

    assert [record.getMessage() for record in caplog.records] == [f"Not ready: {wrong}"]  # once


def test_what_is_lost_but_not_needed(db, monkeypatch):
    monkeypatch.setattr(caches["default"].__class__, "server", SimpleNamespace(off_until=1.0), raising=False)
    standings = [
        replicas.Standing("replica_1", True, 0, 0),
        replicas.Standing("replica_2", False, None, None),
    ]
    monkeypatch.setattr(replicas, "report", lambda: standings)

    assert readiness() == (
        "200",
        READY | {"cache": "degraded", "replicas": {"replica_1": "ok", "replica_2": "left out"}},
    )


# --- What does not answer ----------------------------------------------------------------------


def test_who_waits_for_ever_is_waited_for_once(monkeypatch):
    monkeypatch.setattr(health, "WITHIN", 0.05)
    freed, asked = threading.Event(), []

    def question():
        asked.append(threading.current_thread())
        freed.wait(60)
        return len(asked)

    slow = health.Asked(question, every=0)
    assert [slow() for _ in range(5)] == [None] * 5
    assert len(asked) == 1  # not a thread for each who asks

    freed.set()
    asked[0].join(60)
    monkeypatch.setattr(health, "WITHIN", 60)
    assert slow() == 2


def test_many_who_ask_are_one_question():
    asked = []
    quick = health.Asked(lambda: asked.append(1) or len(asked), every=60)
    assert [quick() for _ in range(5)] == [1] * 5


@pytest.mark.skipif(not servers.POSTGRES, reason="there are no PostgreSQL binaries here")
def test_frozen_database_is_not_waited_for(monkeypatch, django_db_blocker):
    """Its sockets stay open: nothing but our own clock ends the wait."""
    monkeypatch.setattr(health, "WITHIN", 0.5)
    database = servers.Postgres(servers.folder() / "a")
    database.start()

    def question():
        with connections["default"].cursor() as cursor:
            database.freeze()
            cursor.execute("SELECT 1")

    try:
        with (
            databases(DATABASE_URL=database.url),
            django_db_blocker.unblock(),
            pytest.raises(OperationalError, match="stopped to answer"),
        ):
            elsewhere(health.on_a_connection_of_its_own, question)
    finally:
        database.stop()
