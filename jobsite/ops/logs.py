"""What is written on stderr for operators: one line for each request and each command, and what fails.

A line names no person: no account, no address, no token, no cookie, no search words. Requests are known by
an id that every line within one carries, and that its answer shows.
"""

import logging
import os
import re
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from contextvars import ContextVar
from functools import lru_cache
from ipaddress import ip_network
from json import dumps
from random import getrandbits
from time import perf_counter
from typing import Any

from django.conf import settings
from django.urls import Resolver404, resolve
from pythonjsonlogger import json
from pythonjsonlogger.core import RESERVED_ATTRS

SOURCE = "jobsite.source"  # in the environ: what gave the answer, where that was not a view
OTHER = "other"  # paths that lead nowhere
PATH_MAX = 300  # characters of a path that are written
_METHODS = frozenset(("GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"))

# Of the request that this thread is at, or was at last: what goes wrong while an answer is sent is its too.
request_id: ContextVar[str | None] = ContextVar("request_id", default=None)
_is_sane = re.compile(r"[A-Za-z0-9._-]{8,64}", re.ASCII).fullmatch

# --- What is not written -----------------------------------------------------------------------

# The texts of errors repeat what somebody sent. None of these looks at a character more than a few times.
_SECRETS = (
    # queries, but for what `query` says about them
    (re.compile(r"\?[^\s\"'<>=]{0,200}=[^\s\"'<>]*"), "?..."),
    # links that are keys
    (re.compile(r"(/preview/|/account/reset/)[^\s\"'<>?]+"), r"\1..."),
    (re.compile(r"(?i)\b(bearer|basic)\s++[\w.~+/=-]{6,}"), r"\1 ..."),
    (
        re.compile(
            r"(?i)(password|passwd|secret|token|sessionid|csrf\w{0,20}+|cookie)(['\"]?+\s*+[:=]\s*+)"
            r"(?:'[^'\n]{0,1000}+'|\"[^\"\n]{0,1000}+\"|\S++)"  # one that is quoted may have spaces
        ),
        r"\1\2...",
    ),
    (re.compile(r"(://[^\s:@/]{0,100}):[^\s@/]{0,200}@"), r"\1:...@"),
    # what PostgreSQL says about a row
    (re.compile(r"(DETAIL:|Failing row contains)[^\n]*+"), r"\1 ..."),
    (re.compile(r"(?<![\w.+-])[\w.+-]++(?:@|%40)[\w-]++(?:\.[\w-]++)++"), "...@..."),
)
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


def redacted(text: str) -> str:
    """`text` without what might be a secret or might name a person."""
    for pattern, instead in _SECRETS:
        text = pattern.sub(instead, text)
    return text


def _visible(text: str) -> str:
    """`text` on one line, its control characters spelt out: nobody writes lines of their own here."""
    return _CONTROL.sub(lambda found: ascii(found[0])[1:-1], text)


def network(username: str, ip_address: str, *args: Any) -> str:
    """Who failed to sign in, for django-axes: the part of the network, not the client."""
    try:
        return str(ip_network(f"{ip_address}/{48 if ':' in ip_address else 24}", strict=False))
    except ValueError:
        return "nowhere"


# --- Formats -----------------------------------------------------------------------------------


class JsonFormatter(json.JsonFormatter):
    """A JSON object for each line."""

    def __init__(self) -> None:
        super().__init__(
            ["levelname", "name", "message"],
            rename_fields={"levelname": "level", "name": "logger", "exc_info": "traceback"},
            reserved_attrs=[*RESERVED_ATTRS, "request"],  # whose name has the path and the query in it
        )

    def process_log_record(self, log_data: dict[str, Any]) -> dict[str, Any]:
        plain: dict[str, Any] = {"timestamp": _timestamp(time.time())}
        for name, value in log_data.items():
            if isinstance(value, str):
                plain[name] = redacted(value)
            elif isinstance(value, int | float):
                plain[name] = value
        if current := request_id.get():
            plain["request_id"] = current
        return plain

    def jsonify_log_record(self, log_data: dict[str, Any]) -> str:
        return super().jsonify_log_record(log_data).replace("\x7f", "\\u007f")


class TextFormatter(logging.Formatter):
    """A line for people, and an indented one for each of a traceback."""

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
    """In UTC, with milliseconds."""
    return f"{_second(int(seconds))}.{int(seconds % 1 * 1000):03d}Z"


# --- Requests ----------------------------------------------------------------------------------


_NUMBER = re.compile("/[0-9]+(?=/|$)")
_FAMILY = r"(?:page|filter)(?:\[|%5B)(?!search)[a-z_]{1,30}(?:\]|%5D)"
_is_harmless = re.compile(rf"(?:sort|fields|{_FAMILY})=(?:[\w.,-]|%2C){{1,100}}", re.ASCII).fullmatch


def operation(path: str) -> tuple[str, str | None]:
    """Return the name of what is at `path`, one of as many as there are routes, and what to write instead
    of the path where that holds more than numbers, "" if it leads nowhere."""
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
    """What of a query tells about the work that it makes, and nothing about who asks."""
    return "&".join(pair for pair in text.split("&") if _is_harmless(pair))


class Requests:
    """A WSGI application around another one: gives each request an id, writes a line about it if
    `is_logged`, and tells `count`: operation, method, status, source, seconds."""

    def __init__(
        self,
        application: Callable[..., Iterable[bytes]],
        count: Callable[[str, str, str, str, float], None] | None = None,
        is_logged: bool = False,
    ) -> None:
        self.application = application
        self.count = count
        self.is_logged = is_logged

    def __call__(self, environ: dict[str, Any], start_response: Callable) -> Iterable[bytes]:
        began = perf_counter()
        given = environ.get("HTTP_X_REQUEST_ID")
        own = given if given and _is_sane(given) else f"{getrandbits(64):016x}"
        request_id.set(own)
        path = environ.get("PATH_INFO", "")  # now, since Django writes what it reads it as over it
        status = "500"
        headers: list[tuple[str, str]] = []

        def start(line: str, its: list[tuple[str, str]], *exc_info: Any) -> Any:
            nonlocal status, headers
            status, headers = line[:3], its
            return start_response(line, [*its, ("X-Request-ID", own)], *exc_info)

        body: Any = None
        try:
            body = self.application(environ, start)
            return body
        finally:
            if self.count or self.is_logged:
                seconds = perf_counter() - began
                name, instead = operation(path)
                method = environ["REQUEST_METHOD"]
                method = method if method in _METHODS else OTHER
                source = environ.get(SOURCE, "view")
                if self.count:
                    self.count(name, method, status, source, seconds)
                if self.is_logged:
                    if instead is not None:
                        path = instead or redacted(path.encode("latin-1", "replace").decode(errors="replace"))
                    _write(
                        method=method,
                        path=path[:PATH_MAX],
                        query=query(environ.get("QUERY_STRING", "")),
                        status=int(status),
                        bytes=_size(body, headers),
                        duration_ms=round(1000 * seconds, 2),
                        operation=name,
                        source=source,
                        request_id=own,
                    )


def _size(body: Any, headers: list[tuple[str, str]]) -> int | None:
    """Bytes, where they are known beforehand."""
    if type(body) is list:
        return sum(map(len, body))
    return next((int(value) for name, value in headers if name == "Content-Length"), None)


def _write(**fields: Any) -> None:
    """Write the line about a request, past `logging`: that takes as long for it as a kept answer takes."""
    now = _timestamp(time.time())
    if settings.LOG_FORMAT == "json":
        head = {"timestamp": now, "level": "INFO", "logger": "jobsite.requests", "message": "request"}
        line = dumps(head | fields).replace("\x7f", "\\u007f")
    else:
        own = fields.pop("request_id")
        said = " ".join(f"{name}={value}" for name, value in fields.items())
        line = _visible(f"{now} INFO jobsite.requests [{own}]: {said}")
    with suppress(OSError):  # a disk that is full must not cost the answer
        os.write(2, f"{line}\n".encode(errors="replace"))
