"""Errors of the API: RFC 9457 problem documents for every path below an API prefix."""

import logging
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from http import HTTPStatus
from typing import ClassVar

from django.core.exceptions import BadRequest, PermissionDenied, SuspiciousOperation
from django.core.signals import got_request_exception
from django.db import InterfaceError, InternalError, OperationalError
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.template.loader import render_to_string
from django.utils.encoding import escape_uri_path
from django.utils.translation import gettext
from django.views import defaults
from psycopg.errors import LockNotAvailable, ReadOnlySqlTransaction
from rest_framework import exceptions
from rest_framework.views import APIView, set_rollback

from jobsite.object_store.circuit_breaker import UnavailableError
from jobsite.types import JsonObject

logger = logging.getLogger("django.request")


@dataclass
class ParameterError:
    """The error of one query parameter: its name, the received value, the allowed values."""

    parameter: str
    detail: str
    received: str | list[str]
    allowed: str | list[str]


class InvalidParameters(exceptions.APIException):
    """Invalid query parameters, each with its own error."""

    status_code = HTTPStatus.BAD_REQUEST

    def __init__(self, errors: list[ParameterError]) -> None:
        self.errors = errors
        super().__init__(" ".join(error.detail for error in errors))


class CursorExpired(exceptions.APIException):
    """410, with the address to begin anew."""

    status_code = HTTPStatus.GONE

    def __init__(self, restart: str, detail: str) -> None:
        super().__init__(detail)
        self.members = {"type": "cursor-expired", "links": {"restart": restart}}


# Names of RFC 9110. Python 3.13 has them, earlier versions the names of older standards.
_TITLES = {413: "Content Too Large", 422: "Unprocessable Content"}
RETRY_AFTER = "2"  # seconds, in each 503


def problem(
    request: HttpRequest,
    status: int,
    detail: str,
    headers: dict[str, str] | None = None,
    **members: object,
) -> JsonResponse:
    """Return a problem document about `request`. No cache stores it."""
    body = {
        "type": "about:blank",
        "title": _TITLES.get(status, HTTPStatus(status).phrase),
        "status": int(status),
        "detail": detail,
        "instance": escape_uri_path(request.path),
    }
    common = {"Cache-Control": "no-store"} | ({"Retry-After": RETRY_AFTER} if status == 503 else {})
    response = JsonResponse(
        body | members,
        status=status,
        content_type="application/problem+json",
        headers=common | (headers or {}),
        json_dumps_params={"ensure_ascii": False},
    )
    response.exception = True  # type: ignore[attr-defined]  # tells DRF that it is rendered
    return response


def exception_handler(exc: Exception, context: JsonObject) -> HttpResponse:
    """DRF's EXCEPTION_HANDLER. Logs an unexpected exception, sends the signal and returns a 500."""
    request = context["request"]._request
    set_rollback()
    if isinstance(exc, Http404):
        exc = exceptions.NotFound()
    elif isinstance(exc, PermissionDenied):
        exc = exceptions.PermissionDenied()
    elif isinstance(exc, SuspiciousOperation | BadRequest):
        exc = exceptions.ParseError("The request could not be understood.")
    if is_unavailable(exc):
        return unavailable(request, exc)
    if not isinstance(exc, exceptions.APIException):
        logger.error("Internal Server Error: %s", escape_uri_path(request.path), exc_info=exc)
        got_request_exception.send(sender=type(context["view"]), request=request)
        response = problem(
            request, 500, "The server failed to answer; the failure has been logged."
        )
        response._has_been_logged = True  # type: ignore[attr-defined] # so that Django does not log it again
        return response

    return _described(request, exc, context["view"])


def _described(request: HttpRequest, exc: exceptions.APIException, view: APIView) -> HttpResponse:
    """Return the problem document of an error that the client made."""
    headers = {}
    if wait := getattr(exc, "wait", None):
        headers["Retry-After"] = str(int(wait))
    if challenge := getattr(exc, "auth_header", None):
        headers["WWW-Authenticate"] = challenge
    if isinstance(exc, exceptions.MethodNotAllowed):
        headers["Allow"] = ", ".join(view.allowed_methods)
    detail, errors = _details(exc)
    members = getattr(exc, "members", {}) | ({"errors": errors} if errors else {})
    return problem(request, exc.status_code, detail, headers, **members)


def _details(exc: exceptions.APIException) -> tuple[str, list[JsonObject]]:
    """Return the text of an error, and the errors of single parameters."""
    if isinstance(exc, exceptions.UnsupportedMediaType):
        return "The body must be JSON: application/json.", []  # DRF would repeat the media type
    if isinstance(exc, InvalidParameters):
        return str(exc.detail), [asdict(error) for error in exc.errors]
    if isinstance(exc, exceptions.ValidationError) and isinstance(exc.detail, dict):
        # of a request body; values are not repeated, one may be a password
        texts = {name: " ".join(map(str, errors)) for name, errors in exc.detail.items()}
        errors = [{"parameter": name, "detail": text} for name, text in texts.items()]
        return " ".join(f"{name}: {text}" for name, text in texts.items()), errors
    return str(exc.detail), []


LOCKED = "jobsite.locked"  # in the WSGI environ: a table is locked, on all servers


def is_unavailable(exc: BaseException | None) -> bool:
    """Whether the database or the object store cannot be reached, a lock or statement timed out, or
    the database is read-only, such as a primary that loses its role (an OperationalError on
    SQLite).
    """
    is_read_only = isinstance(exc, InternalError) and isinstance(
        exc.__cause__, ReadOnlySqlTransaction
    )
    return is_read_only or isinstance(exc, OperationalError | InterfaceError | UnavailableError)


def unavailable(request: HttpRequest, exc: BaseException) -> HttpResponse:
    """Return a 503 with Retry-After: a problem document for the API, else a page."""
    # No traceback: it may contain host names, and many requests fail at once.
    is_file = isinstance(exc, UnavailableError)
    text = (
        "The file storage could not answer %s: %s"
        if is_file
        else "The database could not answer %s: %s"
    )
    logger.error(text, escape_uri_path(request.path), type(exc).__name__)
    response: HttpResponse
    if isinstance(exc.__cause__, LockNotAvailable):
        request.META[LOCKED] = True
    if is_api(request):
        server = "file storage" if is_file else "database"
        response = problem(request, 503, f"The {server} cannot be reached just now.")
    else:
        page = render_to_string("503.html", {"heading": gettext("One moment")})
        headers = {"Retry-After": RETRY_AFTER, "Cache-Control": "no-store"}
        response = HttpResponse(page, status=503, headers=headers)
    response._has_been_logged = True  # type: ignore[attr-defined]
    return response


def server_error(request: HttpRequest) -> HttpResponse:
    """Django's `handler500`, also for an exception of a middleware, such as the one that deletes an
    attempt to sign in: Django calls `process_exception` for those of views only.
    """
    exc = sys.exc_info()[1]
    return (
        unavailable(request, exc) if exc and is_unavailable(exc) else defaults.server_error(request)
    )


class ProblemMiddleware:
    """Replaces Django's own error responses below an API prefix by problem documents: for an
    unknown path, a disallowed host, a crash, with DEBUG or without.
    """

    DETAILS: ClassVar = {
        400: "The request could not be understood.",
        404: "There is nothing at this path. Paths have no trailing slash.",
        500: "The server failed to answer; the failure has been logged.",
    }

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def process_exception(self, request: HttpRequest, exc: Exception) -> HttpResponse | None:
        return unavailable(request, exc) if is_unavailable(exc) else None

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if response.status_code < 400 or not is_api(request):
            return response
        if response.get("Content-Type") == "application/problem+json":
            return response
        status = response.status_code
        response = problem(
            request, status, self.DETAILS.get(status, HTTPStatus(status).description)
        )
        if request.method == "HEAD":
            response["Content-Length"] = str(len(response.content))
            response.content = b""
        return response


def is_api(request: HttpRequest) -> bool:
    """Whether the path of `request` is below an API prefix."""
    return request.path.startswith(("/v1/", "/v0.1/")) or request.path in ("/v1", "/v0.1")
