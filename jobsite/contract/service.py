"""The service under test as HTTP shows it, and the report of what it did wrong."""

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, urlencode

import urllib3

TIMEOUT = 10  # seconds for an answer
MAX_BODY = 50_000_000  # bytes
MAX_WAIT, MAX_WAITS = 61, 5  # seconds to wait after a 429, and how often
SHOWN = 120  # characters of a value that a breach shows


class UnreachableError(Exception):
    """The service gives no HTTP answer."""


@dataclass(frozen=True)
class Breach:
    """A promise that was not kept: where, what was promised, what came instead."""

    endpoint: str
    expected: str
    received: str
    more: int = 0  # times the same promise was broken at the same endpoint beside this one

    def __str__(self) -> str:
        more = f" (and {self.more} more)" if self.more else ""
        return f"{self.endpoint}: expected {self.expected}; came {self.received}{more}"


@dataclass
class Report:
    """What a check found. `notes` are remarks, not failures; `skipped` what could not be looked at."""

    checks: int = 0
    requests: int = 0
    notes: list[str] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    _breaches: dict[tuple[str, str], list[str]] = field(default_factory=dict)

    def expect(self, kept: Any, endpoint: str, expected: str, received: Any) -> bool:
        """Count a check; unless `kept`, remember the breach. Returns whether it was kept."""
        self.checks += 1
        if not kept:
            self._breaches.setdefault((endpoint, expected), []).append(shown(received))
        return bool(kept)

    def note(self, text: str) -> None:
        if text not in self.notes:
            self.notes.append(text)

    def skip(self, text: str) -> None:
        if text not in self.skipped:
            self.skipped.append(text)

    @property
    def breaches(self) -> list[Breach]:
        return [Breach(*key, came[0], len(came) - 1) for key, came in self._breaches.items()]


def shown(value: Any) -> str:
    """`value` as a breach shows it: JSON on one line, cut short."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    text = " ".join(text.split())
    return text if len(text) <= SHOWN else text[:SHOWN] + "..."


class DuplicateKeyError(ValueError):
    pass


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) < len(pairs):
        raise DuplicateKeyError("an object with the same key twice")
    return result


def _constant(name: str) -> Any:
    raise ValueError(f"{name}, which is not JSON")


def parse(body: bytes) -> Any:
    """Parse strict JSON in UTF-8: no key twice, no NaN. Raises ValueError."""
    return json.loads(body.decode("utf-8"), object_pairs_hook=_object, parse_constant=_constant)


@dataclass
class Answer:
    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def media_type(self) -> str:
        return self.headers.get("Content-Type", "").partition(";")[0].strip().lower()

    def json(self) -> Any:
        """The parsed body; None for one that is not JSON."""
        try:
            return parse(self.body)
        except (ValueError, RecursionError):
            return None


def query_string(query: Mapping[str, Any] | list[tuple[str, Any]]) -> str:
    return urlencode(query, quote_via=quote, safe="")


class Service:
    """A deployment of the interface at `base`; the bearer `token` goes along where something is internal."""

    def __init__(self, base: str, token: str = "", report: Report | None = None) -> None:
        self.base = base.rstrip("/")
        self.token = token
        self.report = report or Report()
        self._waits = 0
        self._pool = urllib3.PoolManager(timeout=urllib3.Timeout(total=TIMEOUT), retries=False)

    def ask(
        self,
        path: str,
        query: Mapping[str, Any] | list[tuple[str, Any]] | str = "",
        *,
        method: str = "GET",
        headers: Mapping[str, str] | None = None,
        with_token: bool = False,
    ) -> Answer:
        """Ask for `path` below the base, following no redirect. A few 429 are waited out.

        Raises UnreachableError. The token goes to nothing but the base address.
        """
        text = query if isinstance(query, str) else query_string(query)
        url = self.base + path + (f"?{text}" if text else "")
        sent = {"Accept": "application/json", "User-Agent": "check_contract", **(headers or {})}
        if with_token and self.token:
            sent["Authorization"] = f"Bearer {self.token}"
        answer = self._send(method, url, sent)
        if answer.status == 429 and self._waits < MAX_WAITS:
            self._waits += 1
            wait = answer.headers.get("Retry-After", "")
            seconds = int(wait) if wait.isascii() and wait.isdigit() else 1
            self.report.note(f"The rate limit was reached; waited {min(seconds, MAX_WAIT)} s.")
            time.sleep(min(seconds, MAX_WAIT))
            answer = self._send(method, url, sent)
        return answer

    def _send(self, method: str, url: str, headers: Mapping[str, str]) -> Answer:
        self.report.requests += 1
        try:
            response = self._pool.request(
                method, url, headers=headers, redirect=False, preload_content=False, decode_content=True
            )
            body = response.read(MAX_BODY + 1, decode_content=True)
            if len(body) > MAX_BODY:
                response.close()
                raise ValueError(f"an answer of more than {MAX_BODY} bytes")
            response.release_conn()
        except (urllib3.exceptions.HTTPError, OSError, ValueError) as error:
            raise UnreachableError(f"{type(error).__name__}: {error}") from error
        return Answer(response.status, response.headers, body)
