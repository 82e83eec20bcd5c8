"""What must hold for every response to a hostile request."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from tests.hostile.client import Connection, Endpoint, Response, send
from tests.hostile.content import BASE, HIDDEN_WORD, Content
from tests.hostile.corpus.case import CLOSED, MARK, PAGE, REFUSED, Case, request

INTERNALS = (
    b"Traceback (most recent",
    b"django.core",
    b"OperationalError",
    b"psycopg",
    b"sqlite3.",
)
INTERNALS += (b"DJANGO_SETTINGS",)


def is_api(path: str) -> bool:
    return path.startswith(("/v1/", "/v0.1/")) or path in ("/v1", "/v0.1")


def violations(
    response: Response, content: Content, case: Case, *, is_inside: bool = False
) -> Iterator[str]:
    """Yield what is wrong with `response` to `case`; `is_inside`: of a signed-in recruiter."""
    headers = "\n".join(
        f"{name}: {value}" for name, value in response.headers if name != "set-cookie"
    )
    text = headers.encode("latin-1", "replace") + response.body
    if response.status not in case.allowed:
        yield f"{response.status} {response.body[:160]!r}"
    if response.status >= 500 and not (case.is_malformed and response.status in (501, 505)):
        yield f"a server error: {response.status}"
    if response.rest:
        yield f"a second response: {response.rest[:80]!r}"
    for word in (MARK.encode(), *content.secrets):
        if word in text:
            yield f"repeats a secret of the request: {word[:12]!r}"
    if HIDDEN_WORD.encode() in text and not is_inside:
        yield "shows a hidden vacancy"
    for word in INTERNALS:
        if word in text:
            yield f"shows internals: {word.decode()}"
    if "x-injected" in dict(response.headers):
        yield "has an injected header"
    kind = response.get("content-type")
    if kind.startswith("text/html") and b"<script>alert" in response.body:
        yield "repeats markup"
    if response.status in (301, 302, 303, 307, 308):
        target = urlsplit(response.get("location"))
        is_ours = target.netloc in ("", "localhost", urlsplit(BASE).netloc)
        is_ours &= target.scheme in ("", "http", "https")
        if not is_ours or response.get("location").startswith(("//", "/\\", "\\")):
            yield f"redirects to another site: {response.get('location')}"
    is_public = is_api(case.path) or case.path in ("/docs", "/openapi.json")
    if is_public and response.get("set-cookie") and "no-store" not in response.get("cache-control"):
        yield f"sets a cookie: {response.get('set-cookie')[:40]}"
    if not is_api(case.path) or response.status == CLOSED or not response.body:
        return
    if b":1337" in response.body and response.status < 400:
        yield "uses the port of the Host header"
    # nginx may reject malformed requests with its own pages.
    is_of_nginx = case.is_malformed and response.status in REFUSED - {CLOSED, 404, 412}
    if response.status < 400 or is_of_nginx:
        if response.status == 200 and not kind.startswith(
            ("application/json", "application/problem+json")
        ):
            yield f"is {kind}"
        return
    if kind != "application/problem+json":
        yield f"is {kind or 'of no type'}, not a problem document"
        return
    if json.loads(response.body)["status"] != response.status:
        yield "has another status in the body"
    if "no-store" not in response.get("cache-control"):
        yield "may be cached"
    if response.get("x-content-type-options") != "nosniff":
        yield "lacks nosniff"


@dataclass
class Report:
    """The results of a set of requests."""

    name: str
    requests: int = 0
    server_errors: int = 0
    slowest: float = 0.0
    slowest_name: str = ""
    failed: list[str] = field(default_factory=list)

    def count(self, name: str, response: Response, wrong: Iterable[str]) -> None:
        self.requests += 1
        self.server_errors += 500 <= response.status < 600 and response.status not in (501, 505)
        if response.seconds > self.slowest:
            self.slowest, self.slowest_name = response.seconds, name
        if found := list(wrong):
            self.failed.append(f"{name}: {'; '.join(found)}")


def send_cases(
    cases: Iterable[Case], content: Content, endpoint: Endpoint, name: str = "corpus"
) -> Report:
    """Send each case, and after it a harmless request, whose response must be
    the same as before.
    """
    report, baselines, connection = Report(name), {}, Connection(endpoint)
    harmless = request(PAGE)
    before = connection.send(harmless)
    for case in cases:
        response = send(endpoint, case.raw, may_wait=CLOSED in case.allowed)
        is_admin = case.group == "admin"
        wrong = list(violations(response, content, case, is_inside=is_admin))
        if case.is_baseline:
            baselines[case.name] = response
        expected = baselines.get(case.same_as)
        if expected and response.status not in (400, 421) and not is_same(response, expected):
            wrong.append(f"differs from {case.same_as}")
        after = connection.send(harmless)
        # A recruiter's request may change what the public sees.
        if after.status != before.status or not (is_admin or is_same(after, before)):
            wrong.append(f"changed the response to {PAGE}: {after.status}")
            before = after
        report.count(case.name, response, wrong)
    connection.close()
    return report


def is_same(one: Response, other: Response) -> bool:
    return (one.status, one.constant_headers, one.body) == (
        other.status,
        other.constant_headers,
        other.body,
    )
