"""The service under test, and the report about it."""

import json
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, urlencode

import urllib3

from jobsite.types import JsonObject

TIMEOUT = 10  # seconds for a response
MAX_BODY = 50_000_000  # bytes
MAX_WAIT, MAX_WAITS = 61, 5  # seconds to wait after a 429, and how often
MAX_VALUE_CHARACTERS = 120  # characters of a value in a breach


Parameters = Mapping[str, object] | Sequence[tuple[str, object]]
Query = Parameters | str  # parameters, or the encoded ones


class UnreachableError(Exception):
    """The service sends no HTTP response."""


@dataclass(frozen=True)
class Breach:
    """A violation of the API: where, what was expected, what was received."""

    endpoint: str
    expected: str
    received: str
    more: int = 0  # further violations of the same expectation at this endpoint

    def __str__(self) -> str:
        more = f" (and {self.more} more)" if self.more else ""
        return f"{self.endpoint}: expected {self.expected}; received {self.received}{more}"


@dataclass
class ContractReport:
    """The result of a check. `notes` are remarks, not failures;
    `skipped` are checks that could not run.
    """

    checks: int = 0
    requests: int = 0
    notes: list[str] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    _breaches: dict[tuple[str, str], list[str]] = field(default_factory=dict)

    def expect(self, holds: object, endpoint: str, expected: str, received: object) -> bool:
        """Count a check; record a breach unless it `holds`. Return whether it does."""
        self.checks += 1
        if not holds:
            self._breaches.setdefault((endpoint, expected), []).append(shortened(received))
        return bool(holds)

    def expect_none(self, endpoint: str, findings: Iterable[Any]) -> bool:
        """Record a breach for each finding (expected, received, ...).
        Return whether there is none.
        """
        breaches = list(findings)
        for expected, received, *_ in breaches:
            self.expect(False, endpoint, expected, received)
        return not breaches

    def note(self, text: str) -> None:
        if text not in self.notes:
            self.notes.append(text)

    def skip(self, text: str) -> None:
        if text not in self.skipped:
            self.skipped.append(text)

    @property
    def breaches(self) -> list[Breach]:
        return [Breach(*key, came[0], len(came) - 1) for key, came in self._breaches.items()]


def shortened(value: object) -> str:
    """Return `value` as JSON on one line, shortened."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    text = " ".join(text.split())
    return text if len(text) <= MAX_VALUE_CHARACTERS else text[:MAX_VALUE_CHARACTERS] + "..."


class DuplicateKeyError(ValueError):
    pass


def _object(pairs: list[tuple[str, object]]) -> JsonObject:
    result = dict(pairs)
    if len(result) < len(pairs):
        raise DuplicateKeyError("an object with the same key twice")
    return result


def _constant(name: str) -> object:
    raise ValueError(f"{name}, which is not JSON")


def parse(body: bytes) -> Any:
    """Parse strict JSON in UTF-8: no key twice, no NaN. Raises ValueError."""
    return json.loads(body.decode("utf-8"), object_pairs_hook=_object, parse_constant=_constant)


@dataclass
class Response:
    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def media_type(self) -> str:
        return self.headers.get("Content-Type", "").partition(";")[0].strip().lower()

    def json(self) -> Any:
        """Return the parsed body; None if it is not JSON."""
        try:
            return parse(self.body)
        except (ValueError, RecursionError):
            return None


def query_string(query: Parameters) -> str:
    return urlencode(query, quote_via=quote, safe="")


class CheckedService:
    """A service at the URL `base`; `token` is the bearer token for internal lists."""

    def __init__(self, base: str, token: str = "", report: ContractReport | None = None) -> None:
        self.base = base.rstrip("/")
        self.token = token
        self.report = report or ContractReport()
        self._waits = 0
        self._pool = urllib3.PoolManager(timeout=urllib3.Timeout(total=TIMEOUT), retries=False)

    def request(
        self,
        path: str,
        query: Query = "",
        *,
        method: str = "GET",
        headers: Mapping[str, str] | None = None,
        with_token: bool = False,
    ) -> Response:
        """Request `path` below the base URL. Waits and repeats after a 429, a few times; follows no
        redirect.

        Raises UnreachableError. The token is only sent to the base URL.
        """
        text = query if isinstance(query, str) else query_string(query)
        url = self.base + path + (f"?{text}" if text else "")
        sent = {"Accept": "application/json", "User-Agent": "check_contract", **(headers or {})}
        if with_token and self.token:
            sent["Authorization"] = f"Bearer {self.token}"
        response = self._send(method, url, sent)
        if response.status == 429 and self._waits < MAX_WAITS:
            self._waits += 1
            wait = response.headers.get("Retry-After", "")
            seconds = int(wait) if wait.isascii() and wait.isdigit() else 1
            self.report.note(f"The rate limit was reached; waited {min(seconds, MAX_WAIT)} s.")
            time.sleep(min(seconds, MAX_WAIT))
            response = self._send(method, url, sent)
        return response

    def expect_list(
        self, endpoint: str, response: Response, cause: str = ""
    ) -> list[JsonObject] | None:
        """Return the list in `data`; None, with a breach, if the response is something else."""
        body = response.json()
        data = body.get("data") if isinstance(body, dict) else None
        holds = response.status == 200 and isinstance(data, list)
        received = f"{response.status} {response.media_type}{cause and f' for {cause}'}"
        if not self.report.expect(holds, endpoint, "200 with {data: list}", received):
            return None
        self.report.expect(list(body) == ["data"], endpoint, "nothing but data", list(body))
        return data

    def _send(self, method: str, url: str, headers: Mapping[str, str]) -> Response:
        self.report.requests += 1
        try:
            response = self._pool.request(
                method,
                url,
                headers=headers,
                redirect=False,
                preload_content=False,
                decode_content=True,
            )
            body = response.read(MAX_BODY + 1, decode_content=True)
            if len(body) > MAX_BODY:
                response.close()
                raise ValueError(f"an answer of more than {MAX_BODY} bytes")
            response.release_conn()
        except (urllib3.exceptions.HTTPError, OSError, ValueError) as error:
            raise UnreachableError(f"{type(error).__name__}: {error}") from error
        return Response(response.status, response.headers, body)
