"""How long an answer may be kept, and how a client asks whether it changed."""

from collections.abc import Callable
from datetime import datetime

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils.cache import get_conditional_response, patch_vary_headers, set_response_etag


def public(response: HttpResponse, *, now: datetime, until: datetime | None) -> None:
    """Let shared caches keep `response`, but never past `until`, when time alone changes it."""
    seconds = settings.PUBLIC_MAX_AGE
    if until is not None:
        seconds = max(0, min(seconds, int((until - now).total_seconds())))
    response["Cache-Control"] = f"public, max-age={seconds}"


def private(response: HttpResponse) -> None:
    """Keep `response` out of every cache."""
    response["Cache-Control"] = "private, no-store"


class ConditionalMiddleware:
    """ETag and 304 for GET and HEAD alike, and an answer to HEAD that carries no body.

    Django's own middleware leaves HEAD without an ETag, and gunicorn warns of every body that a
    HEAD answer drags along. The tag is weak and the Vary complete before the body is compressed, so
    that the plain answer, the compressed one, HEAD and 304 agree.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if request.method not in ("GET", "HEAD") or response.streaming:
            return response
        if response.status_code == 200 and "no-store" not in response.get("Cache-Control", ""):
            if not response.has_header("ETag"):
                set_response_etag(response)
                response["ETag"] = f"W/{response['ETag']}"
            patch_vary_headers(response, ["Accept-Encoding"])
            request.META.pop("HTTP_IF_UNMODIFIED_SINCE", None)  # without a date of change it means nothing
            response = get_conditional_response(request, etag=response["ETag"], response=response) or response
        if request.method == "HEAD":
            response.headers.setdefault("Content-Length", str(len(response.content)))
            response.content = b""
        return response
