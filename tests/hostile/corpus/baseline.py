# ruff: noqa: E501 - tables of requests
"""Pairs of requests, for a hidden vacancy and for one that never existed, whose responses must be the same."""

from collections.abc import Iterator
from dataclasses import dataclass

from tests.hostile.content import ABSENT, HIDDEN, Content
from tests.hostile.corpus.case import Case, case

CONDITIONS = (
    "X-Nothing: x", "If-None-Match: *", "If-Match: *", 'If-Match: "x"', "If-Modified-Since: Thu, 01 Jan 1970 00:00:00 GMT", "Range: bytes=0-0",
    "Authorization: Bearer zqxmark", "Authorization: Bearer", f"Cookie: sessionid={'a' * 32}", "X-Forwarded-For: 10.0.0.1", "Accept: text/html", "Accept-Language: nl",
    "Origin: https://evil.example", "Content-Type: a/b; charset=rot13", "Cache-Control: no-cache", "Accept-Encoding: gzip",
)  # fmt: skip


@dataclass(frozen=True)
class BaselinePair:
    """A request for a hidden vacancy, and the same for a vacancy that never existed. Their responses may
    differ in the id only."""

    name: str
    hidden: Case
    baseline: Case


def baseline_pairs(content: Content) -> Iterator[BaselinePair]:
    applicant = f"Authorization: Bearer {content.tokens['A']}"
    headers = [*CONDITIONS, applicant, f"Cookie: sessionid={content.sessions['A']}"]
    suffixes = ("", "/form", "/form/schema", "/x", "?preview=x", "?fields=id", "/form?preview=x", ".json")
    for kind, pk in HIDDEN.items():
        for suffix in suffixes:
            for method in ("GET", "HEAD", "OPTIONS", "POST"):
                for header in headers if method == "GET" and suffix in ("", "/form") else headers[:2]:
                    both = [case("hidden", f"{kind} {method} {suffix} {header[:24]}", f"/v1/vacancies/{n}{suffix}", header, method=method,
                                 body=b"" if method == "POST" else None, allowed={200, 204, 304, 400, 404, 405, 406}) for n in (pk, ABSENT)]  # fmt: skip
                    yield BaselinePair(both[0].name, *both)
