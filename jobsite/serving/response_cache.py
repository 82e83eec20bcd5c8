"""A cache of public responses in each process, in front of Django.

The key is the request. An entry is valid while the database has the revision that the response
shows, from the time of its request until the next time at which the clock alone changes it. The
view states both.
"""

import gzip
import re
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from types import SimpleNamespace
from typing import Any

from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, Error

from jobsite.api.caching import CACHE_REVISION, CACHE_UNTIL, CONDITIONS, REQUEST_TIME, is_unchanged
from jobsite.api.problems import LOCKED
from jobsite.api.renderers import accepts_json
from jobsite.api.throttling import RateLimit
from jobsite.languages import LANGUAGES
from jobsite.serving import SOURCE, replica

PREFIXES = ("/v1/", "/v0.1/")
PRIVATE = ("/v1/user/", "/v1/auth/", "/v1/manage/")  # never stored, and read on the primary
# The pages of the career site: its views say which of them may be stored.
SITE = re.compile(rf"/(({'|'.join(LANGUAGES)})/)?(jobs\b|brands/)")
MAX_KEY_LENGTH = 1000  # characters; our own links are shorter
FLIGHT_TIMEOUT = 5  # seconds to wait for another thread that makes the same response
MAX_AHEAD = 10  # seconds that an entry may be served by a database that is at an earlier revision
MIN_GZIP_SIZE = 200  # bytes
ENTRY_OVERHEAD = 2000  # bytes that an entry takes beside its bodies, roughly
# The parts of the WSGI environ that the response depends on.
_KEY_PARTS = (
    "SCRIPT_NAME",
    "PATH_INFO",
    "QUERY_STRING",
    "HTTP_HOST",
    "wsgi.url_scheme",
    "HTTP_X_FORWARDED_PROTO",
    "HTTP_X_FORWARDED_HOST",
)
# Headers that CacheEntry.respond adds.
_OWN = frozenset({"cache-control", "content-length", "content-encoding"})
_CONDITIONS = CONDITIONS | {"HTTP_RANGE", "HTTP_ACCEPT_ENCODING"}

_GZIP = re.compile(r"\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))")

Environ = dict[str, Any]
Headers = list[tuple[str, str]]
Key = tuple[str, ...]


def accepts_gzip(environ: Environ) -> bool:
    return bool(_GZIP.search(environ.get("HTTP_ACCEPT_ENCODING", "")))


def run_wsgi(application: Callable, environ: Environ) -> tuple[str, Headers, bytes]:
    """Call `application`; return the status, headers and body of its response."""
    started: list[Any] = []

    def start_response(status: str, headers: Headers, exc_info: object = None) -> None:
        started[:] = [status, headers]

    result = application(environ, start_response)
    try:
        body = b"".join(result)
    finally:
        if hasattr(result, "close"):
            result.close()
    return started[0], started[1], body


@dataclass
class CacheEntry:
    """A response in the cache."""

    revision: int
    since: float
    until: float
    headers: Headers  # without Cache-Control, Content-Length and Content-Encoding
    etag: str
    body: bytes

    @property
    def size(self) -> int:
        """Bytes, as if the compressed body were stored too."""
        return 2 * len(self.body) + ENTRY_OVERHEAD

    @cached_property
    def gzipped(self) -> bytes:
        """Compressed once, for the first client that accepts it."""
        return gzip.compress(self.body, 6, mtime=0)

    def respond(self, environ: Environ, start_response: Callable, now: float) -> list[bytes]:
        seconds = int(max(0, min(settings.PUBLIC_MAX_AGE, self.until - now)))
        headers = [*self.headers, ("Cache-Control", f"public, max-age={seconds}")]
        if is_unchanged(environ, self.etag):
            start_response("304 Not Modified", headers)
            return []
        body = self.body
        if len(body) > MIN_GZIP_SIZE and accepts_gzip(environ):
            body = self.gzipped
            headers.append(("Content-Encoding", "gzip"))
        headers.append(("Content-Length", str(len(body))))
        start_response("200 OK", headers)
        return [] if environ["REQUEST_METHOD"] == "HEAD" else [body]


@dataclass
class Flight:
    """Requests for the same response at the same time. One makes it, the others wait."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    users: int = 0
    has_waited: bool = False  # the request that has the lock
    # A 503, with additions to the environ: the others would wait as long again.
    failure: tuple[str, Headers, bytes, Environ] | None = None


@dataclass
class ResponseCache:
    """A WSGI application that caches the public responses of another one.

    `read_state` returns the revision of the database.
    """

    application: Callable[[Environ, Callable], Iterable[bytes]]
    read_state: Callable[[], Any]
    entries: "OrderedDict[Key, CacheEntry]" = field(default_factory=OrderedDict)
    size: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)
    flights: dict[Key, Flight] = field(default_factory=dict)

    def __call__(self, environ: Environ, start_response: Callable) -> Iterable[bytes]:
        key = self.key(environ)
        if key is None:
            return self.application(environ, start_response)
        now = time.time()
        try:
            entry = self.find(key, now)
            if entry is None:
                is_shared = bool(settings.RESPONSE_CACHE_MB)
                with self.single_flight(key) if is_shared else nullcontext(Flight()) as flight:
                    if flight.failure:
                        status, headers, body, added = flight.failure
                        environ |= added
                        start_response(status, headers)
                        return [b"" if environ["REQUEST_METHOD"] == "HEAD" else body]
                    if flight.has_waited:
                        now = time.time()
                        entry = self.find(key, now)
                    if entry is None:
                        return self.make(key, now, environ, start_response)
        except Error:
            if replica.current() != DEFAULT_DB_ALIAS:
                raise  # the caller retries on the primary
            return self.application(environ, start_response)  # Django makes the error response
        if not RateLimit().allow_request(SimpleNamespace(META=environ)):
            return self.application(environ, start_response)  # Django makes the error response
        environ[SOURCE] = "cache"
        return entry.respond(environ, start_response, now)

    @staticmethod
    def key(environ: Environ) -> Key | None:
        """Return the key of the request, or None if its response is not cacheable."""
        path = environ.get("PATH_INFO", "")
        if environ["REQUEST_METHOD"] not in ("GET", "HEAD"):
            return None
        if path.startswith(PREFIXES):
            is_excluded = path.startswith(PRIVATE) or not accepts_json(
                environ.get("HTTP_ACCEPT", "")
            )
        else:
            is_excluded = not (settings.CAREER_SITE and SITE.match(path))
        if "HTTP_IF_MATCH" in environ or is_excluded:
            return None
        key = tuple(environ.get(part, "") for part in _KEY_PARTS)
        if not settings.CORS_ALLOW_ALL_ORIGINS:  # otherwise all origins get the same CORS headers
            key += (environ.get("HTTP_ORIGIN", ""),)
        return key if sum(map(len, key)) <= MAX_KEY_LENGTH else None

    def find(self, key: Key, now: float) -> CacheEntry | None:
        """Return the entry if it is valid at the time `now` and the revision of the database."""
        entry = self.entries.get(key)
        if entry is None or not entry.since <= now < entry.until:
            return None
        number = self.read_state().number
        # The connections of this process may lead to replicas that are late by different times.
        is_ahead = entry.revision > number and now < entry.since + MAX_AHEAD
        if entry.revision != number and not is_ahead:
            return None
        with self.lock:
            if key in self.entries:
                self.entries.move_to_end(key)
        return entry

    @contextmanager
    def single_flight(self, key: Key) -> Any:
        """Let one thread at a time make the response for `key`. Yield its flight."""
        with self.lock:
            flight = self.flights.setdefault(key, Flight())
            flight.users += 1
        is_free = flight.lock.acquire(blocking=False)
        is_acquired = is_free or flight.lock.acquire(timeout=FLIGHT_TIMEOUT)
        flight.has_waited = not is_free
        try:
            yield flight
        finally:
            if is_acquired:
                flight.lock.release()
            with self.lock:
                flight.users -= 1
                if not flight.users and self.flights.get(key) is flight:
                    del self.flights[key]

    def make(
        self, key: Key, now: float, environ: Environ, start_response: Callable
    ) -> Iterable[bytes]:
        """Let Django make the full, unconditional response for the time `now`, and cache it if
        public.
        """
        environ.setdefault(REQUEST_TIME, datetime.fromtimestamp(now, UTC))
        plain = {name: value for name, value in environ.items() if name not in _CONDITIONS}
        plain["REQUEST_METHOD"] = "GET"
        status, headers, body = run_wsgi(self.application, plain)
        if status.startswith("503"):
            added: Environ = {LOCKED: True} if LOCKED in plain else {}
            environ |= added
            with self.lock:
                if flight := self.flights.pop(key, None):  # later requests try again
                    flight.failure = status, headers, body, added
        by_name = {name.lower(): value for name, value in headers}
        is_public = CACHE_REVISION in plain and "set-cookie" not in by_name
        if not is_public or not status.startswith("200"):
            start_response(status, headers)
            return [b"" if environ["REQUEST_METHOD"] == "HEAD" else body]
        kept = [(name, value) for name, value in headers if name.lower() not in _OWN]
        etag = by_name.get("etag", "")
        entry = CacheEntry(plain[CACHE_REVISION], now, plain[CACHE_UNTIL], kept, etag, body)
        self.store(key, entry)
        return entry.respond(environ, start_response, time.time())

    def store(self, key: Key, entry: CacheEntry) -> None:
        if not settings.RESPONSE_CACHE_MB:
            return
        with self.lock:
            if old := self.entries.pop(key, None):
                self.size -= old.size
            self.entries[key] = entry
            self.size += entry.size
            while self.size > settings.RESPONSE_CACHE_MB * 2**20 and self.entries:
                _, dropped = self.entries.popitem(last=False)
                self.size -= dropped.size
