"""Settings and connections of other databases than the test database."""

import os
import runpy
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from types import SimpleNamespace
from unittest.mock import patch

from django.db import connections


@contextmanager
def environment(**values):
    """Yield jobsite.settings with the given environment variables."""
    names = (
        "DATABASE_URL",
        "REPLICA_URL",
        "DATABASE_POOL",
        "STATEMENT_TIMEOUT",
        "CACHE_URL",
        "JOBSITE_SERVES",
    )
    with patch.dict(os.environ, values):
        for name in set(names) - values.keys():
            os.environ.pop(name, None)
        yield SimpleNamespace(**runpy.run_path("jobsite/settings.py"))


@contextmanager
def databases(**values):
    """New threads use these databases; the thread of the test keeps its own."""
    with environment(**values) as found:
        configured = connections.configure_settings(found.DATABASES)
    with patch.object(connections, "settings", configured):
        yield


def elsewhere(call, *args):
    """Return `call(*args)`, run in a new thread with its own connections."""

    def run():
        try:
            return call(*args)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(1) as pool:
        return pool.submit(run).result()
