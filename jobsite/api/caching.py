"""HTTP caching: Cache-Control, ETag and conditional requests."""

from collections.abc import Callable, MutableMapping
from datetime import datetime

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils.cache import get_conditional_response, patch_vary_headers
from django.utils.http import parse_etags
from xxhash import xxh3_128_hexdigest

# Keys of the WSGI environ. No request header can have these names.
CACHE_UNTIL = "jobsite.cache_until"
CACHE_REVISION = "jobsite.cache_revision"
REQUEST_TIME = "jobsite.at"  # the one time of a request: of the response cache and the view
# Those of conditional requests.
CONDITIONS = frozenset(
    f"HTTP_IF_{name}" for name in ("NONE_MATCH", "MATCH", "MODIFIED_SINCE", "UNMODIFIED_SINCE")
)


def public(response: HttpResponseBase, *, now: datetime, until: datetime | None) -> None:
    """Let shared caches store `response`, but not past `until`, when the clock alone changes it."""
    seconds = settings.PUBLIC_MAX_AGE
    if until is not None:
        seconds = max(0, min(seconds, int((until - now).total_seconds())))
    response["Cache-Control"] = f"public, max-age={seconds}"


def cache_until(request: HttpRequest, until: datetime | None, revision: int) -> None:
    """Allow the response cache to store the response to `request` until that time (None: no limit),
    and while the database has that revision.
    """
    request.META[CACHE_UNTIL] = until.timestamp() if until else float("inf")
    request.META[CACHE_REVISION] = revision


def private(response: HttpResponse) -> None:
    """Let no cache store `response`."""
    response["Cache-Control"] = "private, no-store"


def etag_of(body: bytes, apply: str = "") -> str:
    """Return the weak ETag of a response: a hash of its body, so that all processes return the
    same.

    `apply` is the header `Apply`. It is hashed too, because a 304 cannot remove it from a stored
    response.
    """
    return f'W/"{xxh3_128_hexdigest(body + apply.encode())}"'


def is_unchanged(environ: MutableMapping[str, str], etag: str) -> bool:
    """Whether If-None-Match contains `etag`."""
    return contains(environ.get("HTTP_IF_NONE_MATCH", ""), etag)


def contains(condition: str, etag: str) -> bool:
    """Whether the header If-Match or If-None-Match contains `etag`, by weak comparison (RFC 9110
    13.1.2): W/"a" equals "a".
    """
    if not condition or condition == etag:  # most requests; parsing takes longer
        return bool(condition)
    tags = parse_etags(condition)
    return tags == ["*"] or etag.removeprefix("W/") in [tag.removeprefix("W/") for tag in tags]


def compare_weakly(environ: MutableMapping[str, str], etag: str) -> None:
    """Replace an If-None-Match that contains `etag` by `etag`:
    WhiteNoise compares the header as a string.
    """
    if is_unchanged(environ, etag):
        environ["HTTP_IF_NONE_MATCH"] = etag


class ConditionalMiddleware:
    """ETag and 304 for GET and HEAD, and a response to HEAD without a body.

    Django's own middleware sets no ETag for HEAD, and gunicorn warns about the body of a response
    to HEAD. The tag is weak, and Vary is complete before the body is compressed, so that the plain
    response, the compressed one, HEAD and 304 agree.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if request.method not in ("GET", "HEAD") or response.streaming:
            return response
        if response.status_code == 200 and "no-store" not in response.get("Cache-Control", ""):
            if not response.has_header("ETag"):
                response["ETag"] = etag_of(response.content, response.get("Apply", ""))
            patch_vary_headers(response, ["Accept-Encoding"])
            request.META.pop("HTTP_IF_UNMODIFIED_SINCE", None)  # ignored without Last-Modified
            if not CONDITIONS.isdisjoint(request.META):
                policy = response.get("Content-Security-Policy")
                response = (
                    get_conditional_response(request, etag=response["ETag"], response=response)
                    or response
                )
                if policy:  # a browser replaces the stored header by that of the 304
                    response["Content-Security-Policy"] = policy
        if request.method == "HEAD":
            response.headers.setdefault("Content-Length", str(len(response.content)))
            response.content = b""
        return response
