"""PostgreSQL servers with the site's tables, and the site in front of them."""

import shutil
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from types import SimpleNamespace

import pytest
from django.db import connections

from jobsite.serving.postgresql import base
from jobsite.serving.response_cache import ResponseCache
from jobsite.serving.revision import read_state
from tests import servers
from tests.factories import make_brand, make_vacancy
from tests.jobsite.serving.databases import databases
from tests.servers.process import ROOT, SYSTEM_ENV
from tests.wsgi import ask
from vacancies.api import rendered_items
from vacancies.models import Vacancy


@pytest.fixture(scope="session")
def migrated():
    """The data folder of a stopped server with the site's tables."""
    if not servers.POSTGRES:
        pytest.skip("PostgreSQL is not installed")
    folder = servers.folder()
    server = servers.Postgres(folder / "migrated")
    server.stop_signal = signal.SIGINT  # with a checkpoint
    try:
        with server:
            migrate = [sys.executable, "manage.py", "migrate", "--verbosity", "0"]
            subprocess.run(
                migrate, check=True, cwd=ROOT, env=SYSTEM_ENV | {"DATABASE_URL": server.url}
            )
        yield server.folder
    finally:
        shutil.rmtree(folder)


@pytest.fixture(scope="module")
def pair(migrated):
    """A primary and a streaming replica."""
    folder = servers.folder()
    subprocess.run(["cp", "-a", migrated, folder / "primary"], check=True)
    started = [servers.Postgres(folder / "primary")]
    try:
        started[0].start()
        started.append(servers.Postgres(folder / "replica", started[0]))
        started[1].start()
        yield SimpleNamespace(primary=started[0], replica=started[1])
    finally:
        for server in started:
            server.crash()
        shutil.rmtree(folder)


@pytest.fixture
def cluster(pair):
    """The servers of this module, which run again if a test has killed or frozen one."""
    for server in (pair.primary, pair.replica):
        server.thaw()
        if server.process.poll() is not None:
            server.start()
    return pair


def publish(site, **values):
    """Make one vacancy the only one, on both servers."""
    site.run(Vacancy.objects.all().delete)
    site.run(lambda: make_vacancy(brand=make_brand("one"), **values))
    wait_for_replay(site)


def wait_for_replay(cluster):
    """Wait until the replica has replayed what the primary has written."""
    written = cluster.primary.sql("SELECT pg_current_wal_lsn()")
    servers.until(lambda: cluster.replica.sql(f"SELECT pg_last_wal_replay_lsn() >= '{written}'"))


@pytest.fixture
def site(cluster, settings, monkeypatch, django_db_blocker):
    """A process that serves from the cluster, with its response cache and one thread, whose
    connections persist. `run` calls a function in that thread.
    """
    # Not above: a conftest can be loaded before the settings, which the module changes for its
    # process.
    from jobsite import wsgi

    settings.RESPONSE_CACHE_MB = 8
    monkeypatch.setattr(wsgi, "_replica_failed", False)
    monkeypatch.setattr(wsgi, "_django", ResponseCache(wsgi._bare, read_state))
    monkeypatch.setattr(base, "_unresponsive_until", {})
    monkeypatch.setattr(rendered_items, "_paused_until", 0.0)
    hosts = ",".join(f"127.0.0.1:{server.port}" for server in (cluster.primary, cluster.replica))
    url = f"postgres://postgres@{hosts}/postgres?target_session_attrs=read-write"
    configured = databases(DATABASE_URL=url, REPLICA_URL=cluster.replica.url, JOBSITE_SERVES="1")
    with django_db_blocker.unblock(), configured, ThreadPoolExecutor(1) as thread:

        def run(call, *args, **kwargs):
            return thread.submit(call, *args, **kwargs).result()

        yield SimpleNamespace(run=run, ask=partial(run, ask, wsgi._site), **vars(cluster))
        run(connections.close_all)
