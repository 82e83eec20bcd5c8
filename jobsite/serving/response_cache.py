"""Answers that are the same for everybody, kept as bytes until the database says that something changed.

Each process keeps its own, in front of Django: an answer is looked up by the request, and is good while
the revision of the database is that under which it was made and until the next moment at which time
alone changes it. The revision is read before the answer is made, so that an answer can only be newer than
the number it is kept under.

What is not kept is asked of a shortcut, which knows bodies only: the headers of an answer are those that
Django gave to the first one like it.
"""

import gzip
import logging
import re
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from types import SimpleNamespace
from typing import Any, NamedTuple

from django.conf import settings
from django.db import DatabaseError

from jobsite.api.caching import CACHE_UNTIL, is_unchanged
from jobsite.api.throttling import RateLimit
from jobsite.serving import SOURCE, replicas

PREFIXES = ("/v1/", "/v0.1/")
KEY_MAX = 1000  # characters; longer ones are no link of ours
WAIT = 5  # seconds for somebody else who makes the same answer
AHEAD = 10  # seconds that an answer is good for where the database is at an earlier revision
HEADS_MAX = 1_000  # kinds of answers whose headers are remembered
ZIPPED_MIN = 200  # bytes: shorter bodies are sent as they are
OVERHEAD = 2000  # bytes that an answer takes beside its bodies, about
# What an answer depends on beside the path and the query.
_PARTS = ("SCRIPT_NAME", "PATH_INFO", "QUERY_STRING", "HTTP_HOST", "wsgi.url_scheme",
          "HTTP_X_FORWARDED_PROTO", "HTTP_X_FORWARDED_HOST")  # fmt: skip
_CONDITIONS = ("HTTP_IF_NONE_MATCH", "HTTP_IF_MATCH", "HTTP_IF_MODIFIED_SINCE", "HTTP_IF_UNMODIFIED_SINCE",
               "HTTP_RANGE", "HTTP_ACCEPT_ENCODING")  # fmt: skip

_GZIP = re.compile(r"\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))")

logger = logging.getLogger(__name__)

Environ = dict[str, Any]
Key = tuple[str, ...]


def _kind(key: Key) -> Key:
    """What the headers of an answer depend on."""
    return (
        tuple(re.sub("/[0-9]+", "/0", part) if part.startswith("/v") else part for part in key[:2]) + key[3:]
    )


def finished(application: Callable, environ: Environ) -> tuple[str, list[tuple[str, str]], bytes]:
    """Return status, headers and body of what `application` answers."""
    started: list[Any] = []

    def capture(status: str, headers: list[tuple[str, str]], exc_info: Any = None) -> None:
        started[:] = [status, headers]

    result = application(environ, capture)
    try:
        body = b"".join(result)
    finally:
        if hasattr(result, "close"):
            result.close()
    return started[0], started[1], body


class Fresh(NamedTuple):
    """What a shortcut made of a request: the body, until when it holds, what is its own in the headers."""

    body: bytes
    until: datetime | None
    tag: str  # another one for another body
    headers: dict[str, str]
    revision: int


@dataclass
class Answer:
    revision: int
    until: float
    headers: list[tuple[str, str]]  # but Cache-Control, Content-Length, Content-Encoding
    etag: str
    body: bytes
    made: float = field(default_factory=time.time)

    @property
    def size(self) -> int:
        """Bytes, as if it were kept compressed too."""
        return 2 * len(self.body) + OVERHEAD

    @cached_property
    def zipped(self) -> bytes:
        """Compressed once, when the first client asks for it."""
        return gzip.compress(self.body, 6, mtime=0)

    def respond(self, environ: Environ, start_response: Callable, now: float) -> list[bytes]:
        seconds = int(max(0, min(settings.PUBLIC_MAX_AGE, self.until - now)))
        headers = [*self.headers, ("Cache-Control", f"public, max-age={seconds}")]
        if is_unchanged(environ, self.etag):
            start_response("304 Not Modified", headers)
            return []
        body = self.body
        if len(body) > ZIPPED_MIN and _GZIP.search(environ.get("HTTP_ACCEPT_ENCODING", "")):
            body = self.zipped
            headers.append(("Content-Encoding", "gzip"))
        headers.append(("Content-Length", str(len(body))))
        start_response("200 OK", headers)
        return [] if environ["REQUEST_METHOD"] == "HEAD" else [body]


@dataclass
class Bodies:
    """A WSGI application that keeps the public answers of another one."""

    application: Callable[[Environ, Callable], Iterable[bytes]]
    state: Callable[[], Any]  # its `number` is the revision
    # Asked with the state, or with None: then it reads that itself, along with what it answers.
    shortcut: Callable[[Environ, Any], Fresh | None] = lambda environ, state: None
    heads: dict[Key, list[tuple[str, str]]] = field(default_factory=dict)
    answers: "OrderedDict[Key, Answer]" = field(default_factory=OrderedDict)
    size: int = 0
    lock: Any = field(default_factory=threading.Lock)
    making: dict[Key, Any] = field(default_factory=dict)

    def __call__(self, environ: Environ, start_response: Callable) -> Iterable[bytes]:
        key = self.key(environ)
        if key is None:
            return self.application(environ, start_response)
        now = time.time()
        try:
            state = self.state() if key in self.answers else None
            answer = self.find(key, state, now) if state else None
            if answer is None:
                with self.alone(key) if settings.BODY_CACHE_MB else nullcontext() as has_waited:
                    if has_waited:
                        state, now = self.state(), time.time()
                        answer = self.find(key, state, now)
                    if answer is None:
                        return self.make(key, state, environ, start_response)
        except DatabaseError:
            if replicas.current() != "default":
                raise  # for the primary to be asked
            return self.application(environ, start_response)  # Django says what is to be said about it
        if not RateLimit().allow_request(SimpleNamespace(META=environ)):
            return self.application(environ, start_response)
        environ[SOURCE] = "kept"
        return answer.respond(environ, start_response, now)

    @staticmethod
    def key(environ: Environ) -> Key | None:
        """What the answer to the request is kept under; None for one that is not to be kept."""
        path = environ.get("PATH_INFO", "")
        if environ["REQUEST_METHOD"] not in ("GET", "HEAD"):
            return None
        if not path.startswith(PREFIXES) or path.startswith(("/v1/user/", "/v1/auth/")):
            return None
        accepted = environ.get("HTTP_ACCEPT") or "*"
        if "HTTP_IF_MATCH" in environ or not ("*" in accepted or "json" in accepted):
            return None  # to be refused
        key = tuple(environ.get(part, "") for part in _PARTS)
        if not settings.CORS_ALLOW_ALL_ORIGINS:  # else the CORS headers are the same for all of them
            key += (environ.get("HTTP_ORIGIN", ""),)
        return key if sum(map(len, key)) <= KEY_MAX else None

    def find(self, key: Key, state: Any, now: float) -> Answer | None:
        answer = self.answers.get(key)
        if answer is None or answer.until <= now:
            return None
        # a replica that is behind the one that was asked before makes nothing older
        is_ahead = answer.revision > state.number >= 0 and now < answer.made + AHEAD
        if answer.revision != state.number and not is_ahead:
            return None
        with self.lock:
            if key in self.answers:
                self.answers.move_to_end(key)
        return answer

    @contextmanager
    def alone(self, key: Key) -> Any:
        """One at a time makes the answer for `key`; yields whether another one did just before."""
        with self.lock:
            lock, users = self.making.get(key, (threading.Lock(), 0))
            self.making[key] = (lock, users + 1)
        got = lock.acquire(timeout=WAIT)
        try:
            yield users > 0
        finally:
            if got:
                lock.release()
            with self.lock:
                lock, users = self.making[key]
                if users == 1:
                    del self.making[key]
                else:
                    self.making[key] = (lock, users - 1)

    def make(self, key: Key, state: Any, environ: Environ, start_response: Callable) -> Iterable[bytes]:
        """Put the answer together, or let Django, and keep it if it is for everybody."""
        fresh = self.try_shortcut(environ, state)
        revision = fresh.revision if fresh else (state or self.state()).number
        if revision < 0:  # nobody tells of changes
            return self.application(environ, start_response)
        head = self.heads.get(kind := _kind(key)) if fresh else None
        if head is not None and not RateLimit().allow_request(SimpleNamespace(META=environ)):
            return self.application(environ, start_response)
        if head is None:
            status, headers, body, marked = self.ask(environ)
            is_somebodys = any(name.lower() == "set-cookie" for name, _ in headers)
            if marked is None or is_somebodys or not status.startswith("200"):
                start_response(status, headers)
                return [b"" if environ["REQUEST_METHOD"] == "HEAD" else body]
            ours = {"cache-control", "content-length", "content-encoding"}
            head = [(name, value) for name, value in headers if name.lower() not in ours]
            until = marked
        else:
            environ[SOURCE] = "shortcut"
        if fresh is not None:
            if len(self.heads) >= HEADS_MAX:
                self.heads.clear()
            self.heads[kind] = head
            own = {"ETag": f'W/"{fresh.tag}"'} | fresh.headers
            head = [*((name, value) for name, value in head if name not in own), *own.items()]
            body = fresh.body
            until = fresh.until.timestamp() if fresh.until else float("inf")
        etag = next((value for name, value in head if name.lower() == "etag"), "")
        answer = Answer(revision, until, head, etag, body)
        self.store(key, answer)
        return answer.respond(environ, start_response, time.time())

    def try_shortcut(self, environ: Environ, state: Any) -> Fresh | None:
        try:
            return self.shortcut(environ, state)
        except DatabaseError:
            raise
        except Exception:  # slower is better than not at all
            logger.exception("The shortcut failed; Django answers.")
            return None

    def ask(self, environ: Environ) -> tuple[str, list[tuple[str, str]], bytes, float | None]:
        """Return status, headers and body of Django's answer, whole and without conditions, and until when
        it is for everybody, or None if it is not."""
        plain = {name: value for name, value in environ.items() if name not in _CONDITIONS}
        plain["REQUEST_METHOD"] = "GET"
        return *finished(self.application, plain), plain.get(CACHE_UNTIL)

    def store(self, key: Key, answer: Answer) -> None:
        if not settings.BODY_CACHE_MB:
            return
        with self.lock:
            if old := self.answers.pop(key, None):
                self.size -= old.size
            self.answers[key] = answer
            self.size += answer.size
            while self.size > settings.BODY_CACHE_MB * 2**20 and self.answers:
                _, dropped = self.answers.popitem(last=False)
                self.size -= dropped.size
