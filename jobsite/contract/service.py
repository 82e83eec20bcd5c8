import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, urlencode

import urllib3
from jsonschema.exceptions import ValidationError

from jobsite.contract.document import ApiDocument
from jobsite.types import JsonObject

DOCUMENT = "/openapi.json"
TIMEOUT = urllib3.Timeout(total=10)  # seconds
# A response of the rate limit is requested again, after the seconds that it says.
RETRIES = urllib3.Retry(5, connect=0, read=0, allowed_methods=None, status_forcelist=(429,))
MAX_VALUE_CHARACTERS = 120  # characters of a value in a breach

Headers = Mapping[str, str]
Query = Mapping[str, object] | str  # parameters, or the encoded ones


class UnreachableError(Exception):
    """The service sends no HTTP response."""


@dataclass
class ContractReport:
    """`notes` are remarks, not failures; `skipped` are checks that could not run."""

    checks: int = 0
    requests: int = 0
    notes: list[str] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    breaches: dict[tuple[str, str], JsonObject] = field(default_factory=dict)

    def expect(self, holds: object, endpoint: str, expected: str, received: object) -> bool:
        """Count a check; record a breach unless it `holds`. Return whether it does."""
        self.checks += 1
        if not holds:
            new = {"endpoint": endpoint, "expected": expected, "received": shortened(received)}
            breach = self.breaches.setdefault((endpoint, expected), {**new, "more": -1})
            breach["more"] += 1
        return bool(holds)


def shortened(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= MAX_VALUE_CHARACTERS else text[:MAX_VALUE_CHARACTERS] + "..."


@dataclass
class Response:
    """A response. `data` is its parsed body, if that is as the document says."""

    status: int
    headers: Headers
    body: bytes
    data: Any = None


def query_string(query: Query) -> str:
    return query if isinstance(query, str) else urlencode(query, quote_via=quote, safe="")


class CheckedService:
    """The service at the URL `base`; `token` is the bearer token for what is not public."""

    document: ApiDocument  # see `load_document`

    def __init__(self, base: str, token: str, report: ContractReport) -> None:
        self.base, self.token, self.report = base.rstrip("/"), token, report
        self._pool = urllib3.PoolManager(timeout=TIMEOUT, retries=RETRIES)

    def load_document(self, path: str = DOCUMENT) -> None:
        response = self._send("GET", path, {})
        try:
            self.document = ApiDocument(json.loads(response.body), is_public=path == DOCUMENT)
        except (ValueError, RecursionError, LookupError, TypeError):
            expected = "the OpenAPI document of the API"
            self.report.expect(False, path, expected, f"status {response.status}")

    def expect(self, holds: object, path: str, expected: str, received: object) -> bool:
        return self.report.expect(holds, self.document.template(path), expected, received)

    def get(
        self, path: str, query: Query = "", status: int = 200, cause: str = "", **how: Any
    ) -> Any:
        """Return the body of a response that has `status` and is as the document says, else None,
        with a breach.
        """
        response = self.request(path, query, **how)
        expected = f"{status} for {cause}" if cause else str(status)
        is_expected = self.expect(response.status == status, path, expected, response.status)
        return response.data if is_expected else None

    def request(
        self,
        path: str,
        query: Query = "",
        method: str = "GET",
        headers: Headers | None = None,
        body: bytes = b"",
    ) -> Response:
        """Request `path`, with the token where the document has one, and a JSON `body`. Check the
        response.
        """
        sent = {"Accept": "application/json"}
        if self.token and self.document.operation(path, method).get("security"):
            sent["Authorization"] = f"Bearer {self.token}"
        target = f"{path}?{query_string(query)}" if query else path
        posted = {"body": body} if body else {}
        sent |= {"Content-Type": "application/json"} if body else {}
        response = self._send(method, target, sent | dict(headers or {}), **posted)
        stated = self.document.response(path, method, response.status)
        received = f"{response.status} for {method}"
        if not self.expect(stated, path, "a response of the document", received):
            return response
        for name, header in stated.get("headers", {}).items():
            schema, value = self.document.resolved(header)["schema"], response.headers.get(name)
            is_valid = value is None or not any(self.document.errors(schema, value))
            self.expect(is_valid, path, f"a valid {name}", value)
        if method == "HEAD" or "content" not in stated:
            self.expect(not response.body, path, f"no body for {received}", "one")
        else:
            self._check_body(path, response, stated["content"])
        return response

    def _check_body(self, path: str, response: Response, stated: JsonObject) -> None:
        """Check a body against those that are `stated` by media type."""
        media_type = response.headers.get("Content-Type", "").partition(";")[0].strip().lower()
        expected = f"{response.status} as {' or '.join(stated)}"
        if not self.expect(media_type in stated, path, expected, media_type):
            return
        try:
            body = response.data = json.loads(response.body)
        except (ValueError, RecursionError) as failure:
            self.expect(False, path, "JSON in UTF-8", str(failure))
            return
        for error in self.document.errors(stated[media_type]["schema"], body):
            self.expect(False, path, _rule(error), error.instance)
            match list(error.absolute_path):
                case ["data", int(position), *_]:
                    body["data"][position] = {}  # so that it takes part in no further check
                case _:
                    response.data = None

    def _send(self, method: str, target: str, headers: Headers, body: bytes = b"") -> Response:
        """Send a request to the base URL, which alone may receive the token: redirects are not
        followed. Raises UnreachableError.
        """
        self.report.requests += 1
        url = self.base + target
        try:
            response = self._pool.request(
                method, url, headers=headers, redirect=False, body=body or None
            )
        except (urllib3.exceptions.HTTPError, OSError, ValueError) as error:
            raise UnreachableError(f"{type(error).__name__}: {error}") from error
        return Response(response.status, response.headers, response.data)


def _rule(error: ValidationError) -> str:
    """Return the rule that a value violates, without the value and the position in a list."""
    where = ".".join(key for key in error.absolute_path if isinstance(key, str))
    if error.validator == "required":
        return f"{where}: {error.message}"
    return f"{where}: {error.validator} {shortened(error.validator_value)}"
