"""Reading from replicas: real servers are paused, killed, frozen and restarted."""

import os
import shutil
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from types import SimpleNamespace

import psycopg
import pytest
from django.apps import apps
from django.contrib.auth.models import User
from django.core.cache import cache
from django.db import OperationalError, connections, router
from psycopg.pq import ExecStatus

from jobsite.serving import replicas
from jobsite.serving.replicas import monitors
from tests import servers
from tests.jobsite.serving.databases import databases, elsewhere
from vacancies.models import Vacancy

pytestmark = pytest.mark.slow
SOON = 4.0  # seconds; it takes at most two on an idle machine
needs_servers = pytest.mark.skipif(not servers.POSTGRES, reason="PostgreSQL is not installed")


def read(alias, statement="SELECT 1"):
    with replicas.reading(alias), connections[alias].cursor() as cursor:
        cursor.execute(statement)
        return cursor.fetchone()[0]


# --- router ---


def test_only_public_reads_go_to_a_replica():
    token = replicas._reading.set(replicas.Read("replica_1"))
    try:
        assert {model._meta.app_label for model in apps.get_models() if on_replica(model)} == {
            "jobsite",
            "vacancies",
            "forms_structure",
        }
        assert not on_replica(User)
        assert router.db_for_write(Vacancy) == "default"
        assert router.allow_relation(Vacancy(), Vacancy())
    finally:
        replicas._reading.reset(token)
    assert not on_replica(Vacancy)


def on_replica(model):
    return router.db_for_read(model) == "replica_1"


def test_replicas_are_not_migrated():
    assert router.allow_migrate("default", "vacancies")
    assert not router.allow_migrate("replica_1", "vacancies")


def test_without_replicas_everything_is_read_from_the_primary():
    replicas.stop()
    before = threading.active_count()

    assert replicas.choose() == "default"
    assert threading.active_count() == before


# --- with servers ---


@pytest.fixture(scope="module")
def cluster():
    """A primary and two replicas."""
    folder = servers.folder()
    started = []
    try:
        primary = servers.Postgres(folder / "primary")
        started.append(primary)
        primary.start()
        primary.sql("CREATE TABLE note AS SELECT 1 AS n")
        for number in (1, 2):
            replica = servers.Postgres(folder / f"replica_{number}", primary)
            started.append(replica)
            replica.start()
        yield SimpleNamespace(primary=primary, replicas=started[1:], urls=[s.url for s in started])
    finally:
        for server in started:
            server.stop()
        shutil.rmtree(folder)


@pytest.fixture
def site(cluster, settings, django_db_blocker):
    """The cluster with replicas that are known to be healthy."""
    settings.REPLICA_MAX_LAG = 2
    replicas.stop()  # threads of other tests know no replicas
    primary, *others = cluster.urls
    with databases(DATABASE_URL=primary, REPLICA_URLS=",".join(others)), django_db_blocker.unblock():
        try:
            servers.until(lambda: chosen() == {"replica_1", "replica_2"})
            yield cluster
        finally:
            replicas.stop()


def chosen():
    return {replicas.choose() for _ in range(4)}


@contextmanager
def changing(server):
    """Write to the server during the block."""
    done = threading.Event()

    def write():
        with psycopg.connect(server.url, autocommit=True) as connection:
            while not done.wait(0.05):
                connection.execute("UPDATE note SET n = n + 1")

    writer = threading.Thread(target=write)
    writer.start()
    try:
        yield
    finally:
        done.set()
        writer.join()


def messages(caplog):
    return [record.getMessage() for record in caplog.records if record.name == "jobsite.serving.replicas"]


@needs_servers
def test_statements_are_prepared_on_request_only(cluster, django_db_blocker):
    def prepared():
        connections["default"].ensure_connection()
        raw = connections["default"].connection
        psycopg.Cursor(raw).execute("SELECT 42", prepare=True)
        with connections["default"].cursor() as cursor:
            for _ in range(10):
                cursor.execute("SELECT 43")
            cursor.execute("SELECT statement FROM pg_prepared_statements")
            return [statement for (statement,) in cursor.fetchall()]

    with django_db_blocker.unblock():
        with databases(DATABASE_URL=cluster.primary.url):
            assert elsewhere(prepared) == ["SELECT 42"]
        with databases(DATABASE_URL=cluster.primary.url, DATABASE_POOL="pgbouncer"):
            assert elsewhere(prepared) == []


@needs_servers
def test_statement_and_lock_timeouts(cluster, django_db_blocker):
    with django_db_blocker.unblock():
        with databases(DATABASE_URL=cluster.primary.url, STATEMENT_TIMEOUT="9"):
            assert elsewhere(read, "default", "SHOW statement_timeout") == "9s"
            assert elsewhere(read, "default", "SHOW lock_timeout") == "2s"
        with databases(DATABASE_URL=cluster.primary.url):
            assert elsewhere(read, "default", "SHOW statement_timeout") == "0"


@needs_servers
def test_pool_serves_more_threads_than_connections(cluster, django_db_blocker):
    with (
        django_db_blocker.unblock(),
        databases(DATABASE_URL=cluster.primary.url, DATABASE_POOL="2"),
        ThreadPoolExecutor(6) as threads,  # which do not close their connections
    ):
        try:
            slowly = "SELECT pg_backend_pid() FROM pg_sleep(0.02)"
            pids = set(threads.map(lambda _: read("default", slowly), range(30)))
        finally:
            elsewhere(lambda: connections["default"].close_pool())

    assert len(pids) <= 2


@needs_servers
def test_healthy_replicas_are_chosen_in_turn(site):
    assert [replicas.choose() for _ in range(4)] in (
        ["replica_1", "replica_2"] * 2,
        ["replica_2", "replica_1"] * 2,
    )
    assert elsewhere(read, "replica_1", "SELECT pg_is_in_recovery()") is True


@needs_servers
def test_replicas_of_an_idle_primary_do_not_lag(site, settings, caplog):
    end = time.monotonic() + settings.REPLICA_MAX_LAG + 1.5
    while time.monotonic() < end:
        assert chosen() == {"replica_1", "replica_2"}
        time.sleep(0.05)

    assert messages(caplog) == []


@needs_servers
def test_lagging_replica_is_excluded_until_it_catches_up(site, settings, caplog):
    late = site.replicas[0]
    with changing(site.primary):
        late.sql("SELECT pg_wal_replay_pause()")
        try:
            took = servers.until(lambda: chosen() == {"replica_2"})
            assert took < settings.REPLICA_MAX_LAG + SOON
        finally:
            late.sql("SELECT pg_wal_replay_resume()")
        assert servers.until(lambda: chosen() == {"replica_1", "replica_2"}) < SOON

    assert messages(caplog) == ["replica_1 is left out: late, or no replica", "replica_1 is back"]


@needs_servers
def test_read_from_a_crashed_replica_fails_immediately(site, caplog):
    crashed = site.replicas[0]
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(elsewhere, read, "replica_1", "SELECT pg_sleep(30)")
        time.sleep(0.3)
        crashed.crash()
        with pytest.raises(replicas.LostError, match=r"^replica_1: \w+$"):
            waiting.result(timeout=SOON)
        assert chosen() == {"replica_2"}

    with pytest.raises(replicas.LostError):  # with a new connection
        elsewhere(read, "replica_1")
    crashed.start()
    assert servers.until(lambda: chosen() == {"replica_1", "replica_2"}) < SOON
    assert elsewhere(read, "replica_1") == 1
    assert len(messages(caplog)) == 2


@needs_servers
def test_frozen_replica_is_detected_and_delays_nobody(site, caplog):
    frozen = site.replicas[0]

    took = []

    def request():
        """Query twice, and ignore the errors."""
        for _ in range(2):
            start = time.monotonic()
            with suppress(OperationalError), connections["replica_1"].cursor() as cursor:
                cursor.execute("SELECT 1")
            took.append(time.monotonic() - start)

    def in_sequence():
        read("replica_1")  # opens the connection
        frozen.freeze()
        with pytest.raises(replicas.LostError), replicas.reading("replica_1"):
            request()
        return read("default")

    try:
        assert elsewhere(in_sequence) == 1
        assert took[0] < SOON
        assert took[1] < 0.5
        assert chosen() == {"replica_2"}
        start = time.monotonic()
        with pytest.raises(replicas.LostError):  # with a new connection
            elsewhere(read, "replica_1")
        assert time.monotonic() - start < SOON
    finally:
        frozen.thaw()
    assert servers.until(lambda: chosen() == {"replica_1", "replica_2"}) < SOON
    assert elsewhere(read, "replica_1") == 1
    assert messages(caplog) == ["replica_1 is left out: UnresponsiveError", "replica_1 is back"]


@needs_servers
def test_slow_read_from_a_healthy_replica_succeeds(site):
    assert elsewhere(read, "replica_1", "SELECT 1 FROM pg_sleep(1.5)") == 1


@needs_servers
def test_query_error_does_not_exclude_the_replica(site, caplog):
    with pytest.raises(OperationalError, match="statement timeout") as caught:
        elsewhere(read, "replica_1", "SET statement_timeout = 100; SELECT pg_sleep(9)")

    assert not isinstance(caught.value, replicas.LostError)
    assert messages(caplog) == []


@needs_servers
def test_missing_column_falls_back_to_the_primary_without_excluding_the_replica(site, caplog):
    with pytest.raises(replicas.LostError):  # such as a column of a migration that is not replayed yet
        elsewhere(read, "replica_1", "SELECT absent FROM note")

    assert chosen() == {"replica_1", "replica_2"}
    assert messages(caplog) == []


@pytest.mark.smoke
@needs_servers
def test_replicas_are_used_while_the_primary_is_down(site, settings, caplog):
    site.primary.crash()
    end = time.monotonic() + settings.REPLICA_MAX_LAG + 1.5
    try:
        while time.monotonic() < end:
            assert chosen() == {"replica_1", "replica_2"}
            time.sleep(0.05)
        assert elsewhere(read, "replica_2") == 1
    finally:
        site.primary.start()
    with changing(site.primary):
        time.sleep(1)
        servers.until(lambda: chosen() == {"replica_1", "replica_2"})
    assert set(messages(caplog)) <= {
        "replica_1 is left out: late, or no replica", "replica_1 is back",
        "replica_2 is left out: late, or no replica", "replica_2 is back",
    }  # fmt: skip


@needs_servers
def test_new_process_waits_for_the_first_measurement(site):
    replicas.stop()

    assert replicas.choose() in ("replica_1", "replica_2")


@needs_servers
def test_new_process_uses_the_cached_position_of_the_primary(site):
    written = site.primary.sql(monitors.PrimaryMonitor.query)
    site.primary.crash()
    try:
        replicas.stop()
        cache.set(monitors.POSITION_KEY, written)
        servers.until(lambda: chosen() == {"replica_1", "replica_2"})  # each after its first measurement

        replicas.stop()
        cache.set(monitors.POSITION_KEY, written + 2**20)  # they lag
        assert chosen() == {"default"}

        replicas.stop()
        cache.delete(monitors.POSITION_KEY)
        assert chosen() == {"default"}
    finally:
        site.primary.start()
        replicas.stop()


@needs_servers
def test_frozen_primary_delays_nobody(cluster, django_db_blocker, caplog):
    def query():
        """Query by libpq, as `jobsite.serving.revision` does."""
        connections["default"].ensure_connection()
        return connections["default"].connection.pgconn.exec_(b"SELECT 1").status

    def while_frozen():
        assert query() == ExecStatus.TUPLES_OK
        cluster.primary.freeze()
        start = time.monotonic()
        assert query() == ExecStatus.FATAL_ERROR
        assert time.monotonic() - start < monitors.PRIMARY_TIMEOUT + SOON
        connections["default"].close()
        start = time.monotonic()
        with pytest.raises(OperationalError, match="does not respond"):
            query()
        assert time.monotonic() - start < 1

    replicas.stop()
    with django_db_blocker.unblock(), databases(DATABASE_URL=cluster.primary.url, JOBSITE_SERVES="1"):
        try:
            elsewhere(while_frozen)
        finally:
            cluster.primary.thaw()
        try:
            servers.until(lambda: not monitors._monitors[0].is_unresponsive)
            assert elsewhere(query) == ExecStatus.TUPLES_OK
        finally:
            replicas.stop()
    assert messages(caplog) == ["The primary does not answer: its connections are cut"]


@needs_servers
def test_forked_process_starts_its_own_threads(cluster):
    script = """
import os, time
from jobsite.ops import checks
from jobsite.serving import replicas
from jobsite.serving.replicas import monitors
def has_replica():
    end = time.monotonic() + 20
    while replicas.choose() == "default" and time.monotonic() < end:
        time.sleep(0.02)
    return replicas.choose() != "default"
assert has_replica()
child = os.fork()
if not child:
    os._exit(0 if has_replica() else 1)
assert os.waitpid(child, 0)[1] == 0
replicas.stop()
"""
    primary, *others = cluster.urls
    variables = {"DATABASE_URL": primary, "REPLICA_URLS": ",".join(others)}
    subprocess.run(
        [sys.executable, "-c", script], check=True, timeout=60,
        env={**os.environ, **variables, "DJANGO_SETTINGS_MODULE": "jobsite.settings"},
    )  # fmt: skip
