"""A server process whose responses are compared with those of the plain implementation."""

import json
from collections.abc import Iterable
from typing import Any

from django.db import connection
from django.utils import timezone

from jobsite.api.caching import etag_of
from jobsite.serving.response_cache import ResponseCache
from jobsite.serving.revision import read_state
from tests.vacancies.api import oracle
from tests.wsgi import ask
from vacancies.api import process_cache
from vacancies.models import Vacancy
from vacancies.querysets import VacancyList
from vacancies.readmodel.totals import read_totals

LISTS = tuple(oracle.LISTS)
V1_LISTS = tuple(path for path in LISTS if path.startswith("/v1/"))
ON_POSTGRESQL = connection.vendor == "postgresql"


class Site:
    """A server process: the site behind a response cache, with a process cache of its own."""

    def __init__(self) -> None:
        from jobsite.wsgi import _bare

        self.process = process_cache.ProcessCache()
        self.cached = ResponseCache(_bare, read_state)
        self.requests = 0  # that Django answered

        def counted(environ: Any, start_response: Any) -> Any:
            self.requests += 1
            return _bare(environ, start_response)

        self.cached.application = counted

    def ask(
        self, path: str, method: str = "GET", **headers: str
    ) -> tuple[str, dict[str, str], bytes]:
        process_cache.process = self.process
        return ask(self.cached, path, method, **headers)

    def body(self, path: str) -> bytes:
        return self.ask(path)[2]

    def same(self, path: str, **headers: str) -> Any:
        """Check that the response is that of the plain implementation. Return its content."""
        status, received, body = self.ask(path, **headers)
        expected_status, expected = oracle.expected(
            path, timezone.now(), headers.get("HTTP_HOST", "testserver")
        )
        assert int(status[:3]) == expected_status, path
        if expected_status == 200:
            assert body == expected, path
            assert received["ETag"] == etag_of(body), path
        return json.loads(body)


def differences(site: Site, paths: Iterable[str]) -> dict[str, str]:
    """Return the paths where the response is not that of the plain implementation, with the
    difference.
    """
    found = {}
    for path in paths:
        try:
            site.same(path)
        except AssertionError as error:
            found[path] = str(error)
    return found


def check(site: Site, path: str) -> None:
    """Check the response of a process with cached responses, and that of a new one."""
    for process in (site, Site()):
        process.same(path)


def bucket_counts() -> list[int]:
    """Return the sizes of the lists according to the read model;
    on SQLite, those of the querysets.
    """
    if not ON_POSTGRESQL:
        return published_counts()
    return list(read_totals(read_state(), now=timezone.now()).totals.values())


def published_counts() -> list[int]:
    """Return the sizes of the lists according to the querysets."""
    published = Vacancy.objects.published(at=timezone.now())
    return [published.in_list(each).count() for each in VacancyList]
