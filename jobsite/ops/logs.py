"""Logs on stderr: one line for each request and command, and errors.

Log lines contain no personal data: no account, address, token, cookie, search term or coordinates.
All lines of a request contain its id, which the response also has, as X-Request-ID.
"""

import logging
import os
import re
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from contextvars import ContextVar
from functools import lru_cache, partial
from ipaddress import ip_network
from json import dumps
from random import getrandbits
from time import perf_counter
from typing import Any
from wsgiref.types import StartResponse, WSGIEnvironment

from django.conf import settings
from django.urls import Resolver404, resolve
from pythonjsonlogger import json
from pythonjsonlogger.core import RESERVED_ATTRS

from jobsite.serving import SOURCE
from jobsite.types import JsonObject

OTHER = "other"  # operation of unknown paths
PATH_MAX = 300  # characters of a path that are logged
_METHODS = frozenset(("GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"))

# The current or the last request of this thread: errors while a response is sent belong to that
# request.
request_id: ContextVar[str | None] = ContextVar("request_id", default=None)
_is_sane = re.compile(r"[A-Za-z0-9._-]{8,64}", re.ASCII).fullmatch

# --- Redaction ---------------------------------------------------------------------------------

# Error messages repeat what a client sent. All patterns run in linear time.
_SECRETS = (
    # query strings; `query` returns their harmless parts
    (re.compile(r"\?[^\s\"'<>=]{0,200}=[^\s\"'<>]*"), "?..."),
    # links that contain a secret
    (
        re.compile(
            r"(/preview/|/account/(?:reset|receipt|invitation|calendar)/|/apply/thanks/|/alerts/)"
            r"[^\s\"'<>?]+"
        ),
        r"\1...",
    ),
    (re.compile(r"(?i)\b(bearer|basic)\s++[\w.~+/=-]{6,}"), r"\1 ..."),
    (
        re.compile(
            r"(?i)(password|passwd|secret|token|sessionid|csrf\w{0,20}+|cookie)(['\"]?+\s*+[:=]\s*+)"
            r"(?:'[^'\n]{0,1000}+'|\"[^\"\n]{0,1000}+\"|\S++)"  # quoted values may contain spaces
        ),
        r"\1\2...",
    ),
    (re.compile(r"(://[^\s:@/]{0,100}):[^\s@/]{0,200}@"), r"\1:...@"),
    # rows in error messages of PostgreSQL
    (re.compile(r"(DETAIL:|Failing row contains)[^\n]*+"), r"\1 ..."),
    (re.compile(r"(?<![\w.+-])[\w.+-]++(?:@|%40)[\w-]++(?:\.[\w-]++)++"), "...@..."),
)
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


def redacted(text: str) -> str:
    """Return `text` without possible secrets and personal data."""
    for pattern, instead in _SECRETS:
        text = pattern.sub(instead, text)
    return text


def _visible(text: str) -> str:
    """Return `text` with escaped control characters, so that input cannot forge log lines."""
    return _CONTROL.sub(lambda found: ascii(found[0])[1:-1], text)


def network(username: str, ip_address: str, *args: object) -> str:
    """Return the network of a failed sign-in instead of its address. Called by django-axes."""
    try:
        return str(ip_network(f"{ip_address}/{48 if ':' in ip_address else 24}", strict=False))
    except ValueError:
        return "nowhere"


# --- Formats -----------------------------------------------------------------------------------


class RefusedFilter(logging.Filter):
    """Removes the traceback of requests that Django refuses as suspicious:
    clients can send many.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        if record.name.startswith("django.security"):
            record.exc_info = None
        return True


class JsonFormatter(json.JsonFormatter):
    """Formats each record as a JSON object on one line."""

    def __init__(self) -> None:
        super().__init__(
            ["levelname", "name", "message"],
            rename_fields={"levelname": "level", "name": "logger", "exc_info": "traceback"},
            reserved_attrs=[*RESERVED_ATTRS, "request"],  # its repr contains path and query
        )

    def process_log_record(self, log_data: JsonObject) -> JsonObject:
        plain: JsonObject = {"timestamp": _timestamp(time.time())}
        for name, value in log_data.items():
            if isinstance(value, str):
                plain[name] = redacted(value)
            elif isinstance(value, int | float):
                plain[name] = value
        if current := request_id.get():
            plain["request_id"] = current
        return plain

    def jsonify_log_record(self, log_data: JsonObject) -> str:
        return super().jsonify_log_record(log_data).replace("\x7f", "\\u007f")


class TextFormatter(logging.Formatter):
    """Formats each record as one line of text, followed by an indented traceback."""

    def format(self, record: logging.LogRecord) -> str:
        current = request_id.get()
        head = f"{_timestamp(record.created)} {record.levelname} {record.name}"
        head += f" [{current}]" if current else ""
        lines = [f"{head}: {_visible(redacted(record.getMessage()))}"]
        if record.exc_info:
            text = redacted(self.formatException(record.exc_info))
            lines += [f"    {_visible(line)}" for line in text.splitlines()]
        return "\n".join(lines)


@lru_cache(maxsize=2)
def _second(seconds: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds))


def _timestamp(seconds: float) -> str:
    """Return an ISO 8601 timestamp in UTC, with milliseconds."""
    return f"{_second(int(seconds))}.{int(seconds % 1 * 1000):03d}Z"


# --- Requests ----------------------------------------------------------------------------------


_NUMBER = re.compile("/[0-9]+(?=/|$)")
_FAMILY = r"(?:page|filter)(?:\[|%5B)(?!search|near)[a-z_]{1,30}(?:\]|%5D)"
_is_harmless = re.compile(
    rf"(?:sort|fields|{_FAMILY})=(?:[\w.,-]|%2C){{1,100}}", re.ASCII
).fullmatch


def operation(path: str) -> tuple[str, str | None]:
    """Return the name of the route of `path`, and what to log instead of the path.

    The latter is None if the path contains no text of a client, and "" if there is no such route.
    """
    return _resolved(_NUMBER.sub("/0", path))


@lru_cache(maxsize=1024)
def _resolved(path: str) -> tuple[str, str | None]:
    if path.startswith(settings.STATIC_URL):
        return "static", None
    try:
        match = resolve(path)
    except (Resolver404, ValueError):
        return OTHER, ""
    captured = map(str, (*match.args, *match.captured_kwargs.values()))  # type: ignore[attr-defined] # not in stubs
    is_plain = all(value.isdecimal() for value in captured)
    return match.view_name, None if is_plain else f"/{match.route}"


@lru_cache(maxsize=1024)
def query(text: str) -> str:
    """Return the parameters of a query string that affect its cost and contain no personal data."""
    return "&".join(pair for pair in text.split("&") if _is_harmless(pair))


class Requests:
    """WSGI middleware that assigns request ids, logs requests if `is_logged`, and counts them.

    `count` is called with operation, method, status, source and seconds; `count_visit` with
    environ, path and status.
    """

    def __init__(
        self,
        application: Callable[..., Iterable[bytes]],
        count: Callable[[str, str, str, str, float], None] | None = None,
        is_logged: bool = False,
        count_visit: Callable[[WSGIEnvironment, str, str], None] | None = None,
    ) -> None:
        self.application = application
        self.count = count
        self.is_logged = is_logged
        self.count_visit = count_visit

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        started_at = perf_counter()
        given = environ.get("HTTP_X_REQUEST_ID")
        own = given if given and _is_sane(given) else f"{getrandbits(64):016x}"
        request_id.set(own)
        path = environ.get("PATH_INFO", "")  # read it first: Django overwrites it
        status = "500"
        headers: list[tuple[str, str]] = []

        def start(line: str, its: list[tuple[str, str]], *exc_info: Any) -> Any:
            nonlocal status, headers
            status, headers = line[:3], its
            return start_response(line, [*its, ("X-Request-ID", own)], *exc_info)

        def end(body: Iterable[bytes] | None) -> None:
            if not (self.count or self.is_logged):
                return
            seconds = perf_counter() - started_at
            name, instead = operation(path)
            method = environ["REQUEST_METHOD"]
            method = method if method in _METHODS else OTHER
            source = environ.get(SOURCE, "view")
            if self.count:
                self.count(name, method, status, source, seconds)
            if self.is_logged:
                shown = path
                if instead is not None:
                    shown = instead or redacted(
                        path.encode("latin-1", "replace").decode(errors="replace")
                    )
                _write(
                    method=method,
                    path=shown[:PATH_MAX],
                    query=query(environ.get("QUERY_STRING", "")),
                    status=int(status),
                    bytes=_size(body, headers),
                    duration_ms=round(1000 * seconds, 2),
                    operation=name,
                    source=source,
                    request_id=own,
                )

        body: Iterable[bytes] | None = None
        try:
            body = self.application(environ, start)
            return body
        finally:
            if self.count_visit:
                self.count_visit(environ, path, status)
            if hasattr(body, "close") and getattr(body, "streaming", True):
                # The stream stays the same object: a server sends its own file wrapper without
                # reading it.
                body.close = partial(_close, body.close, partial(end, body))  # type: ignore[union-attr]
            else:
                end(body)


def _close(close: Callable[[], object], end: Callable[[], None]) -> None:
    """Close a stream that the server has sent, or given up."""
    try:
        close()
    finally:
        end()


def _size(body: Iterable[bytes] | None, headers: list[tuple[str, str]]) -> int | None:
    """Return the length of a response in bytes, if it is known in advance."""
    if type(body) is list:
        return sum(map(len, body))
    return next((int(value) for name, value in headers if name == "Content-Length"), None)


def _write(**fields: object) -> None:
    """Log a request. Bypasses `logging`, which takes as long as a cached response."""
    now = _timestamp(time.time())
    if settings.LOG_FORMAT == "json":
        head = {
            "timestamp": now,
            "level": "INFO",
            "logger": "jobsite.requests",
            "message": "request",
        }
        line = dumps(head | fields).replace("\x7f", "\\u007f")
    else:
        own = fields.pop("request_id")
        text = " ".join(f"{name}={value}" for name, value in fields.items())
        line = _visible(f"{now} INFO jobsite.requests [{own}]: {text}")
    with suppress(OSError):  # a full disk must not fail the request
        os.write(2, f"{line}\n".encode(errors="replace"))
