"""What every test stands on: one moment, quiet surroundings, the nine filters."""

from datetime import UTC, datetime

import hypothesis
import pytest
from django.core.cache import cache
from django.core.signals import request_finished, request_started
from django.db import close_old_connections, connection

from tests.factories import make_filter
from vacancies.choices import Keyword

# The same examples in every run: a find is a bug to fix, not a flake to run again.
hypothesis.settings.register_profile("steady", derandomize=True, deadline=None)
hypothesis.settings.load_profile("steady")

NOW = datetime(2026, 3, 2, 9, 30, 15, tzinfo=UTC)


@pytest.fixture(scope="session")
def django_db_modify_db_settings(django_db_modify_db_settings_parallel_suffix, tmp_path_factory):
    """SQLite in a file: in memory, the threads of a live server share one connection with the test, and two
    of them can wait for each other for ever, one for Python's lock and one for SQLite's, where a query
    calls a function of Python's."""
    if connection.vendor == "sqlite":
        connection.settings_dict["TEST"]["NAME"] = str(tmp_path_factory.mktemp("database") / "test.sqlite3")
        options = connection.settings_dict["OPTIONS"]
        options["init_command"] = options["init_command"].replace("synchronous=NORMAL", "synchronous=OFF")


@pytest.fixture(autouse=True)
def quiet_surroundings(settings, tmp_path):
    """No leftovers between tests: files go away, nobody is throttled unless a test says so."""
    settings.MEDIA_ROOT = tmp_path / "media"
    settings.RATE_LIMIT = "off"
    settings.BODY_CACHE_MB = 0  # a test's transaction never commits, so the revision stays
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    settings.INTERNAL_ACCESS = "public"
    settings.MULTI_BRANDING = True
    settings.PUBLIC_BASE_URL = ""
    cache.clear()


@pytest.fixture
def wsgi():
    """The callable that gunicorn serves, sparing the connection that the test's transaction is on."""
    from jobsite.wsgi import application

    signals = (request_started, request_finished)
    for signal in signals:
        signal.disconnect(close_old_connections)
    yield application
    for signal in signals:
        signal.connect(close_old_connections)


@pytest.fixture
def at(time_machine):
    """The clock, stopped at NOW."""
    time_machine.move_to(NOW, tick=False)
    return NOW


@pytest.fixture
def filters(db):
    """The nine filters by keyword, switched on. A flush after a live-server test takes those of the
    migration away, so they are made again where they are missing."""
    return {keyword: make_filter(keyword) for keyword in Keyword}
