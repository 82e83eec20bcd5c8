# ruff: noqa: E501 - tables of what is sent
"""Generated requests: random combinations of endpoint, parameters, values and headers, from a seed, each with the
statuses that are right. The rules for parameters are stated here independently of the product."""

import random
from collections.abc import Iterator
from urllib.parse import quote

from tests.chaos.oracle import INTERNAL_LISTS, PUBLIC_LISTS
from tests.hostile.checker import Report, violations
from tests.hostile.client import Connection, Endpoint
from tests.hostile.content import ABSENT, HIDDEN, Content
from tests.hostile.corpus.case import MARK, Case, request
from tests.hostile.corpus.headers import CHARSETS, COOKIES

KEYWORDS = ("functiongroup", "types", "contract_types", "work_regimes", "regions")
KEYWORDS += tuple(f"jobcustom{n}_values" for n in range(1, 5))
PAGING = ("page[size]", "page[number]")
KEYWORDS += ("brand", "country", "work_place", "employment_types", "language")
FACETS = ("filter[search]", "filter[near]", *(f"filter[{keyword}]" for keyword in KEYWORDS))
OF_V1 = (*PAGING, *FACETS, "sort", "fields")
TAKES = {path: OF_V1 if path.startswith("/v1/") else PAGING for path in PUBLIC_LISTS}
TAKES["/v1/filters"] = FACETS
UNUSUAL = (
    "",
    "0",
    "-1",
    "+1",
    "01",
    "1.5",
    "1e3",
    "1_0",
    " 1",
    "1 ",
    "1\n",
    "\u0661",
    "\uff11",
    "\u00b2",
    "9" * 10,
    "9" * 40,
    "abc",
    "NaN",
    "inf",
    "null",
    "true",
    "\0",
    "1\0",
    "[]",
    "{}",
    "'",
    '"',
    "--",
    "1 OR 1=1",
    "%",
    "_",
    "\\",
    "*",
    ";",
    "&",
    "=",
    "<script>alert(1)</script>",
    "${x}",
    "{{7*7}}",
    "../../etc/passwd",
    "\u202e",
    "\ud83d\ude00".encode("utf-16", "surrogatepass").decode("utf-16"),
    "\r\nX-Injected: 1",
    "a" * 201,
    "a," * 101 + "a",
    ",",
    "a,",
    ",a",
    "a,,b",
    "a b",
    "\t",
    "\u00a0",
    "\u200b",
    "\u0301",
    "\ufffd",
    "id",
    "-id",
    "password",
    "__class__",
    "title__regex",
    "publish_from",
    "status",
)
USUAL = {
    "page[size]": ("1", "2", "20", "100", "999999999"),
    "page[number]": ("1", "2", "3", "99999", "999999999"),
    "sort": ("title", "-title", "published_at", "-published_at", "closes_at", "-closes_at"),
    "filter[near]": ("51.2,4.4,25", "90,-180,500", "-0.5,179.999999,1"),
    "fields": ("id", "id,title", "title,id,slug", "regions,brand,attachments"),
    **{
        f"filter[{keyword}]": ("one", "regions-one", "a,b", "x" * 200, "-", "__")
        for keyword in KEYWORDS
    },
}
USUAL["filter[search]"] = (
    "engineer",
    "naval ENGINEER",
    "%",
    "'",
    "\\",
    "a OR b",
    "zzz",
    "<script>alert(1)</script>",
)
LISTS = {f"filter[{keyword}]" for keyword in KEYWORDS} | {"fields"}
RAW_BYTES = ("%FF", "%C3%28", "%ED%A0%80", "%F8%88%80%80%80", "%C0%AF")  # not UTF-8
MISSPELT = (
    "page",
    "page[]",
    "page[sise]",
    "Page[size]",
    "PAGE[NUMBER]",
    "page[size][]",
    "page[size",
    "page.size",
    "filter",
    "filter[]",
    "filter[region]",
    "filter[id]",
    "filter[status]",
    "sort[]",
    "sort[title]",
    "fields[0]",
    "fields[vacancies]",
    "Sort",
    "FIELDS",
    "filter[title__contains]",
    "filter[regions][0]",
    "[page][size]",
    " page[size]",
    "page[limit]",
)
FOREIGN = ("ordering", "limit", "offset", "search", "q", "sortby")  # names of other interfaces
IGNORED = ("utm_source", "_", "_connector", "_method", "at")
IGNORED += ("", "é", "x" * 200, "__proto__", "x[page]")
HEADERS = (
    *(f"Content-Type: text/plain; charset={name}" for name in CHARSETS[:24]),
    *(f"Cookie: {cookie}" for cookie in COOKIES if len(cookie) < 3000),
    f"Authorization: Bearer {MARK}",
    "Authorization: Basic ADox",
    "If-None-Match: junk",
    "Range: bytes=0-1",
    "Accept: */*",
    "Accept: application/json",
    "Accept-Language: xx",
    "Accept-Encoding: gzip",
    "Origin: https://evil.example",
    "X-Forwarded-For: 1.2.3.4",
    f"X-Forwarded-Host: {MARK}",
    "X-HTTP-Method-Override: DELETE",
    "If-Modified-Since: junk",
    "SCRIPT_NAME: /x",
)


def _is_valid(name: str, value: str) -> bool | None:
    """Whether the parameter `name` takes `value`; None if both are possible."""
    if name in PAGING:
        return value.isascii() and value.isdecimal() and len(value) < 10 and value[:1] != "0"
    if name in ("sort", "filter[near]"):
        return value in USUAL[name]
    if "\ufffd" in value or "\0" in value:
        return False
    if name == "fields":
        return None if value in ("id", "title") else value in USUAL["fields"]
    if name == "filter[search]":
        return None if not value.isascii() else 0 < len(value.split()) <= 20 and len(value) <= 200
    members = value.split(",")
    is_plain = all(c.isascii() and (c.isalnum() or c in "-_,") for c in value)
    return is_plain and len(members) <= 100 and all(0 < len(member) <= 200 for member in members)


def generate(number: int, seed: int, content: Content) -> Iterator[tuple[str, bytes, set[int]]]:
    """Yield `number` requests, each with its path and the statuses that are right."""
    chance = random.Random(seed)
    singles = [
        *content.shown[:3],
        *HIDDEN.values(),
        ABSENT,
        *("0", "007", "abc", "%00", "9" * 30, "%D9%A1"),
    ]
    for _ in range(number):
        allowed: set[int] = {200}
        path = chance.choice([*TAKES, *TAKES, "single", "single", "mine", "internal"])
        takes: tuple[str, ...] = TAKES.get(path, ())
        if path == "single":
            pk = chance.choice(singles)
            path = f"/v1/vacancies/{pk}{chance.choice(('', '/form', '/form/schema', '/x'))}"
            is_there = pk in content.shown and not path.endswith("/x")
            allowed = {200} if is_there else {400, 404} if pk == "%00" else {404}
        elif path == "mine":
            path, allowed = "/v1/user/applications", {401}
        elif path == "internal":
            path, allowed = chance.choice(INTERNAL_LISTS), {401}
        query, valid = [], {}
        for _ in range(chance.choice((0, 1, 1, 2, 2, 3, 5))):
            kind = chance.random()
            if kind < 0.6 and takes:
                name = chance.choice(takes)
                if chance.random() < 0.1:
                    text, right = chance.choice(RAW_BYTES), False
                else:
                    value = chance.choice(UNUSUAL + USUAL[name] * 6)
                    text, right = (
                        quote(value, safe=chance.choice(("", ",[]"))),
                        _is_valid(name, value),
                    )
                if name in valid:  # a list may be repeated: it is valid if all its values are
                    right = None if name in LISTS and False not in (valid[name], right) else False
                valid[name] = right
            elif kind < 0.7:
                name, text = chance.choice(MISSPELT), chance.choice(("1", "title", "x"))
                valid[f"near {name}"] = False
            elif kind < 0.75:
                name, text = chance.choice(FOREIGN), chance.choice(("1", "title", "x"))
                if takes:
                    valid[f"near {name}"] = False
            else:
                name, text = chance.choice(IGNORED), quote(chance.choice(UNUSUAL))
            query.append(f"{quote(name, safe=chance.choice(('', '[]')))}={text}")
        if False in valid.values():
            # A 401 comes before the check of parameters, which comes before the search for an id.
            allowed = allowed - {200} | ({400} if 401 not in allowed else set())
        elif None in valid.values():
            allowed = allowed | {400}
        headers = chance.sample(HEADERS, chance.choice((0, 0, 1, 2)))
        # Servers join two headers of one name, or reject them.
        headers = [*{header.split(":")[0]: header for header in reversed(headers)}.values()][::-1]
        method = chance.choice(("GET",) * 12 + ("HEAD", "OPTIONS", "POST", "DELETE"))
        of_others = {
            "OPTIONS": {204, 404, 400, 401},
            "POST": {404, 405, 400},
            "DELETE": {404, 405, 400},
        }
        allowed = of_others.get(method, allowed)
        if any(header.startswith("SCRIPT_NAME") for header in headers):
            allowed = allowed | {400}
        target = path + ("?" + "&".join(query) if query else "")
        yield (
            path,
            request(target, *headers, method=method, body=b"" if method == "POST" else None),
            allowed,
        )


def send_generated(number: int, seed: int, content: Content, endpoint: Endpoint) -> Report:
    report, connection = Report("generated"), Connection(endpoint)
    for path, raw, allowed in generate(number, seed, content):
        response = connection.send(raw)
        line, *headers = raw.decode("latin-1").split("\r\n")
        name = f"{line[:300]} {' | '.join(headers[1:-2])}"
        case = Case("generated", name, raw, frozenset(allowed), path, is_malformed="%00" in path)
        report.count(name, response, violations(response, content, case))
    connection.close()
    return report
