"""Reading from a replica: real servers are paused, killed, frozen and restarted."""

import json
import re
import time
from concurrent.futures import ThreadPoolExecutor
from unittest.mock import Mock

import psycopg
import pytest
from django.conf import settings
from django.db import DatabaseError, OperationalError, connections

from jobsite.ops import health
from jobsite.serving import replica
from jobsite.serving.postgresql import base
from jobsite.serving.replica import REPLICA
from jobsite.serving.revision import fetch
from tests.factories import make_vacancy
from tests.jobsite.serving.conftest import publish, wait_for_replay
from tests.jobsite.serving.databases import databases, elsewhere
from vacancies.api import rendered_items
from vacancies.models import Vacancy

pytestmark = pytest.mark.slow("starts two PostgreSQL servers")
LIST = "/v1/vacancies"
COOKIE = {"HTTP_COOKIE": f"{settings.SESSION_COOKIE_NAME}=0123456789"}  # of a recruiter


def title(answer):
    """The title of the only vacancy in an answer of LIST."""
    status, _, body = answer
    assert status == "200 OK"
    [item] = json.loads(body)["data"]
    return item["title"]


@pytest.fixture
def published(site):
    """The site with one vacancy, which both servers have."""
    publish(site, title="one")
    assert title(site.ask(LIST)) == "one"
    return site


def rename(site, name):
    site.primary.sql(f"UPDATE vacancies_vacancy SET title = '{name}' RETURNING 1")


def server_of(alias):
    """The port of the server that reads of `alias` use in this thread."""
    with replica.reading(alias):
        return fetch("SELECT inet_server_port()")[0][0]


@pytest.fixture
def silences(monkeypatch):
    """The databases that a read waited for, until it gave up or asked whether they respond."""
    found, check = [], base.DatabaseWrapper._require_response

    def record(wrapper, raw):
        found.append(wrapper.alias)
        check(wrapper, raw)

    monkeypatch.setattr(base.DatabaseWrapper, "_require_response", record)
    return found


def test_recruiters_see_their_saves_and_the_public_sees_them_after_the_lag(published):
    assert published.run(server_of, REPLICA) == published.replica.port
    assert published.run(server_of, "default") == published.primary.port
    published.replica.sql("SELECT pg_wal_replay_pause()")
    rename(published, "two")

    assert title(published.ask(LIST, **COOKIE)) == "two"
    assert published.run(lambda: Vacancy.objects.get().title) == "two"
    # of the same process and so recently, the public never gets an older response
    assert title(published.ask(LIST)) == "two"
    # Another response, from the replica.
    assert title(published.ask(f"{LIST}?page[size]=7")) == "one"
    published.replica.sql("SELECT pg_wal_replay_resume()")
    wait_for_replay(published)
    assert title(published.ask(f"{LIST}?page[size]=7")) == "two"


def test_killed_replica_fails_no_read_and_is_used_again(published, silences, caplog):
    published.replica.crash()
    for _ in range(3):
        assert title(published.ask(LIST)) == "one"
    assert silences == []
    published.replica.start()
    assert title(published.ask(LIST)) == "one"

    assert published.run(server_of, REPLICA) == published.replica.port
    first, second = [
        record.getMessage() for record in caplog.records if record.name == "jobsite.wsgi"
    ]
    assert re.fullmatch(
        r"The replica fails \((Operational|Database)Error\): the primary answers", first
    )
    assert second == "The replica answers again"


def test_closed_connection_and_a_killed_primary_fail_no_read(published):
    """HAProxy closes connections to a server that fails its health checks."""
    for server in (published.replica, published.primary):
        server.sql(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid != pg_backend_pid()"
        )
    for path in (LIST, f"{LIST}?page[size]=7", "/v1/filters"):
        assert published.ask(path)[0] == "200 OK"
    assert title(published.ask(LIST, **COOKIE)) == "one"

    published.run(make_vacancy, title="not rendered yet")
    wait_for_replay(published)
    published.primary.crash()
    for path in (LIST, f"{LIST}?page[size]=7", f"{LIST}?filter[search]=one", "/v1/filters"):
        assert published.ask(path)[0] == "200 OK"

    status, headers, _ = published.ask(LIST, "POST")
    assert (status[:3], headers.get("Retry-After")) in [("405", None), ("503", "2")]


def test_frozen_replica_delays_one_read_and_fails_none(published, silences, monkeypatch):
    """A replica without HAProxy in front of it."""
    monkeypatch.setattr(base, "RETRY_AFTER", 60.0)  # longer than the second read takes
    published.replica.freeze()

    assert title(published.ask(LIST)) == "one"
    assert title(published.ask(f"{LIST}?page[size]=7")) == "one"
    assert silences == [REPLICA]


def test_frozen_primary_delays_no_public_read_and_makes_others_503(published, silences):
    """A primary without HAProxy in front of it."""
    start = time.monotonic()
    published.run(make_vacancy, title="not rendered yet")
    wait_for_replay(published)
    published.primary.freeze()
    for path in (LIST, f"{LIST}?page[size]=7"):
        assert published.ask(path)[0] == "200 OK"
    # The first read could not store what it rendered. It did not wait for the primary as others do.
    assert rendered_items._paused_until > start
    assert silences == []

    status, headers, _ = published.ask(LIST, **COOKIE)
    assert (status[:3], headers["Retry-After"]) == ("503", "2")


def test_lost_connection_is_not_reopened_for_a_write_that_may_fail(published, monkeypatch):
    published.run(make_vacancy, title="not rendered yet")
    wait_for_replay(published)
    others = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid != pg_backend_pid()"
    published.primary.sql(f"{others} AND backend_type = 'client backend'")
    connect = Mock(side_effect=psycopg.OperationalError)
    monkeypatch.setattr("psycopg.connect", connect)

    assert published.ask(LIST)[0] == "200 OK"
    assert connect.call_count == 0


def test_slow_statement_on_a_healthy_server_succeeds(published):
    slow = f"SELECT 7 FROM pg_sleep({base.SILENCE + 0.5})"
    with replica.reading(REPLICA):
        assert published.run(fetch, slow) == [(7,)]


@pytest.fixture
def server(cluster):
    """A server on its own."""
    return cluster.primary


def test_settings_of_connections(server, django_db_blocker):
    def prepared():
        fetch("SELECT 42")
        with connections["default"].cursor() as cursor:
            for _ in range(10):
                cursor.execute("SELECT 43")
            cursor.execute("SELECT statement FROM pg_prepared_statements")
            return [statement for (statement,) in cursor.fetchall()]

    for pool, statements in (("", ["SELECT 42"]), ("pgbouncer", [])):
        with django_db_blocker.unblock(), databases(DATABASE_URL=server.url, DATABASE_POOL=pool):
            assert elsewhere(prepared) == statements

    def read(_):
        try:
            return fetch("SELECT pg_backend_pid() FROM pg_sleep(0.02)")[0][0]
        finally:
            connections["default"].close()

    pool = databases(DATABASE_URL=server.url, DATABASE_POOL="2", JOBSITE_SERVES="1")
    with django_db_blocker.unblock(), pool, ThreadPoolExecutor(6) as threads:
        try:
            assert len(set(threads.map(read, range(30)))) <= 2
        finally:
            elsewhere(lambda: connections["default"].close_pool())


@pytest.fixture
def alone(server, monkeypatch, django_db_blocker):
    """A server that threads of this process serve from."""
    monkeypatch.setattr(base, "_unresponsive_until", {})
    with django_db_blocker.unblock(), databases(DATABASE_URL=server.url, JOBSITE_SERVES="1"):
        yield server
    server.thaw()


def execute(statement, before=lambda: None):
    with connections["default"].cursor() as cursor:
        before()
        cursor.execute(statement)


@pytest.mark.parametrize("through", [lambda call: call(), health.on_dedicated_connection])
def test_frozen_database_ends_the_wait_of_a_cursor(alone, through):
    with pytest.raises(OperationalError, match="does not respond"):
        elsewhere(through, lambda: execute("SELECT 1", alone.freeze))


def test_slow_statement_and_frozen_database_fail_in_time(alone, monkeypatch):
    slow = f"SET statement_timeout = {int(1000 * base.SILENCE) + 500}; SELECT pg_sleep(30)"
    with pytest.raises(OperationalError, match="statement timeout") as caught:
        elsewhere(execute, slow)
    assert isinstance(caught.value.__cause__, psycopg.errors.QueryCanceled)

    # Only the first of them waits for the server.
    monkeypatch.setattr(base, "RETRY_AFTER", 60.0)  # longer than the second query takes

    def in_sequence():
        assert fetch("SELECT 1") == [(1,)]
        alone.freeze()
        with pytest.raises(DatabaseError, match="the server does not respond"):
            fetch("SELECT 1")
        connections["default"].close()
        with pytest.raises(DatabaseError, match="the server did not respond a moment ago"):
            execute("SELECT 1")
        alone.thaw()
        base._unresponsive_until["default"] -= base.RETRY_AFTER
        execute("SELECT 1")

    elsewhere(in_sequence)
