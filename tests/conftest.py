"""Fixtures of all tests: the database, settings, a stopped clock, the nine filters."""

import gc
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import hypothesis
import pytest
from django.core.cache import cache
from django.core.signals import request_finished, request_started
from django.db import close_old_connections, connection
from django.test import TransactionTestCase, override_settings

from jobsite.ops.catalogs import compile_catalogs
from jobsite.serving import stored_documents
from tests.initial_rows import InitialRows
from tests.servers import copy_template
from vacancies.api import process_cache
from vacancies.choices import Keyword
from vacancies.models import Filter

pytest_plugins = ["tests.times"]

# The same examples in every run, so that a failure can be reproduced.
hypothesis.settings.register_profile("steady", derandomize=True, deadline=None)
hypothesis.settings.load_profile("steady")

NOW = datetime(2026, 3, 2, 9, 30, 15, tzinfo=UTC)


def pytest_configure(config: pytest.Config) -> None:
    """Compile the translations, which are not in the repository."""
    if not hasattr(config, "workerinput"):
        compile_catalogs()


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[Any]:
    """Collect no garbage while tests are collected, and exempt what they allocated from it: each
    full collection would visit it.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()
        gc.enable()


@pytest.hookimpl(tryfirst=True)  # before tests are selected by their marks
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests that use the database:
    of the fast ones, the others are the same on PostgreSQL.
    """
    for item in items:
        names = {"db", "django_db_setup"}.intersection(getattr(item, "fixturenames", ()))
        if names or item.get_closest_marker("django_db"):
            item.add_marker(pytest.mark.database)


@pytest.fixture(scope="session")
def django_db_modify_db_settings(django_db_modify_db_settings_parallel_suffix, tmp_path_factory):
    """SQLite in a file, which is a copy of a migrated one. In memory, the threads of a live server
    share the connection of the test. Two of them can deadlock where a query calls a Python
    function: one holds Python's lock and one SQLite's.
    """
    if connection.vendor == "sqlite":
        path = tmp_path_factory.mktemp("database") / "test.sqlite3"
        connection.settings_dict["TEST"]["NAME"] = str(path)
        options = connection.settings_dict["OPTIONS"]
        options["init_command"] = options["init_command"].replace(
            "synchronous=NORMAL", "synchronous=OFF"
        )

        def create(*args: Any, **kwargs: Any) -> str:
            copy_template(path)
            connection.close()
            connection.settings_dict["NAME"] = str(path)
            return str(path)

        connection.creation.create_test_db = create


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup, django_db_blocker) -> Iterator[None]:
    """After a test whose transactions committed, restore the rows of the migrations. At the end,
    end other sessions before the database is dropped: threads of a live server that served a
    browser close their connections late.
    """
    with django_db_blocker.unblock():
        rows = InitialRows(connection)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TransactionTestCase, "_fixture_teardown", lambda case: rows.restore())
        yield
    rows.close()
    if connection.vendor == "postgresql":
        with django_db_blocker.unblock(), connection.cursor() as cursor:
            cursor.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = "
                "current_database() AND pid != pg_backend_pid()"
            )


@pytest.fixture(scope="session", autouse=True)
def _settings_of_all_tests() -> Iterator[None]:
    """Settings for tests: no rate limit, no response cache, a fast password hasher."""
    with override_settings(
        RATE_LIMIT="off",
        # The transaction of a test never commits, so the revision does not change.
        RESPONSE_CACHE_MB=0,
        PASSWORD_HASHERS=["django.contrib.auth.hashers.MD5PasswordHasher"],
        INTERNAL_ACCESS="public",
        MULTI_BRANDING=True,
        PUBLIC_BASE_URL="",
    ):
        yield


@pytest.fixture(autouse=True)
def _isolated_files_and_cache(settings, tmp_path, monkeypatch):
    """Empty folders of uploads and of stored documents, and empty caches for each test."""
    settings.MEDIA_ROOT, settings.PRIVATE_ROOT = tmp_path / "media", tmp_path / "private"
    monkeypatch.setattr(stored_documents, "ROOT", tmp_path)
    cache.clear()
    # The revision of another test may be the same.
    process_cache.process = process_cache.ProcessCache()


@pytest.fixture
def wsgi():
    """The WSGI application of gunicorn.
    It does not close the connection of the test's transaction.
    """
    from jobsite.wsgi import application

    signals = (request_started, request_finished)
    for signal in signals:
        signal.disconnect(close_old_connections)
    yield application
    for signal in signals:
        signal.connect(close_old_connections)


@pytest.fixture
def at(time_machine):
    """The clock, stopped at NOW. Tests of rate limits need it: the limiter counts in fixed windows,
    and the end of a window between two requests would reset the count.
    """
    time_machine.move_to(NOW, tick=False)
    return NOW


@pytest.fixture
def filters(db):
    Filter.objects.update(is_active=True)
    return {Keyword(each.keyword): each for each in Filter.objects.all()}
