"""Reads the v1 interface in the same process, as an anonymous visitor. So a page shows what the API
shows at that moment, with the same filters and refusals.
"""

import json
from collections.abc import Iterable
from datetime import UTC, datetime
from io import BytesIO
from typing import Any
from urllib.parse import urlencode

from django.core.handlers.wsgi import WSGIRequest
from django.http import HttpRequest, HttpResponse
from django.urls import resolve
from django.utils import timezone
from django.utils.cache import get_max_age
from django.utils.translation import get_language

from jobsite.api import caching
from jobsite.api.problems import LOCKED
from jobsite.languages import text_languages
from jobsite.serving.revision import read_state
from jobsite.types import JsonObject

Query = Iterable[tuple[str, str]]
# Of the request of the page: the host and the client, for absolute URLs and the rate limit.
_KEPT = (
    "SERVER_NAME",
    "SERVER_PORT",
    "HTTP_HOST",
    "REMOTE_ADDR",
    "HTTP_X_FORWARDED_FOR",
    "wsgi.url_scheme",
    "HTTP_X_FORWARDED_PROTO",
    "HTTP_X_FORWARDED_HOST",
    "SCRIPT_NAME",
)


class ProblemResponseError(Exception):
    """The interface answered with an error: its `status`, problem document and Retry-After."""

    def __init__(self, status: int, problem: JsonObject, retry_after: str = "") -> None:
        self.status, self.problem, self.retry_after = status, problem, retry_after
        super().__init__(status)


class Interface:
    """The v1 interface, as all that is read for one page:
    at one time, with the validity of the page.
    """

    def __init__(self, request: HttpRequest) -> None:
        self.request = request
        self.request.META.setdefault(caching.REQUEST_TIME, timezone.now())
        self.now: datetime = request.META[caching.REQUEST_TIME]
        self.revisions: set[int | None] = set()
        self.until = float("inf")

    def note_revision(self) -> None:
        """Note the revision before the page reads anything:
        what changes meanwhile is not cached.
        """
        self.revisions.add(read_state().number)

    def get(self, path: str, query: Query = (), language: str | None = None) -> Any:
        """Return the JSON document at `path`, such as "/v1/vacancies", with texts in `language`, by
        default the active one, where there are some; "" stands for that of each vacancy. Raises
        ProblemResponseError.
        """
        code = get_language() if language is None else language
        asked = [("language", code)] if code and code in text_languages() else []
        return json.loads(self.response(path, [*query, *asked]).content)

    def read_shortest_list(self) -> None:
        """Read the shortest list, for a document that contains all vacancies: it counts for the
        rate limit, and says how long the document is valid. Raises ProblemResponseError.
        """
        self.response("/v1/vacancies", [("page[size]", "1"), ("fields", "id")])

    @property
    def valid_until(self) -> datetime | None:
        """The time at which the clock changes one of the documents that were read."""
        return datetime.fromtimestamp(self.until, UTC) if self.until != float("inf") else None

    def takes_applications(self, pk: int) -> bool:
        """Whether this service takes applications to the vacancy `pk`.
        Raises ProblemResponseError.
        """
        return self.response(f"/v1/vacancies/{pk}/form").has_header("Apply")

    def response(self, path: str, query: Query = ()) -> HttpResponse:
        meta = self.request.META
        inner = WSGIRequest(
            {name: meta[name] for name in _KEPT if name in meta}
            | {
                "REQUEST_METHOD": "GET",
                "PATH_INFO": path,
                "QUERY_STRING": urlencode([*query]),
                "wsgi.input": BytesIO(),
                caching.REQUEST_TIME: self.now,
            }
        )
        match = resolve(path)
        response: HttpResponse = match.func(inner, *match.args, **match.kwargs)
        if not getattr(response, "is_rendered", True):
            response.render()  # type: ignore[attr-defined]
        if LOCKED in inner.META:
            meta[LOCKED] = True
        if response.status_code != 200:
            problem, wait = json.loads(response.content), response.get("Retry-After", "")
            raise ProblemResponseError(response.status_code, problem, wait)
        self.revisions.add(inner.META.get(caching.CACHE_REVISION))
        if (seconds := get_max_age(response)) is not None:
            until = inner.META.get(caching.CACHE_UNTIL, self.now.timestamp() + seconds)
            self.until = min(self.until, until)
        return response

    def cache(self, response: HttpResponse) -> HttpResponse:
        """Let caches store the `response` as long as they may store all documents that were read
        for it.
        """
        until = self.valid_until
        caching.public(response, now=self.now, until=until)
        if len(self.revisions) == 1 and (revision := next(iter(self.revisions))) is not None:
            caching.cache_until(self.request, until, revision)
        return response
