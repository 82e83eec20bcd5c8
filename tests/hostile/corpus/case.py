"""A test case: one hostile request and the statuses that are right for it."""

from dataclasses import dataclass
from typing import Any

HOST = "localhost"
MARK = "zqxmark"  # in what no response may repeat: headers, cookies, credentials, bodies
MINE = "/v1/user/applications"
INTERNAL = "/v1/vacancies/hot/internal"
TOKEN = "/v1/auth/token"
PAGE = "/v1/vacancies?page[size]=2&page[number]=2"

CLOSED = 0  # the connection is closed without a response
# The statuses for bytes that are not a valid request. 501 and 505 are right for transfer codings
# and versions of HTTP that the server does not know.
REFUSED = {CLOSED, 400, 404, 405, 408, 411, 412, 413, 414, 415, 417, 421, 431, 494, 501, 505}


@dataclass(frozen=True)
class Case:
    """`name` begins with `group`; a case named "GROUP: baseline ..." is a harmless request."""

    group: str
    name: str
    raw: bytes
    allowed: frozenset[int]
    path: str = ""  # as the server decodes it, if it is known
    is_malformed: bool = False  # nginx may reject it with its own page
    same_as: str = ""  # name of the baseline whose response this one must get

    @property
    def is_baseline(self) -> bool:
        return self.name.startswith(f"{self.group}: baseline ")


def request(
    target: str | bytes,
    *headers: str | bytes,
    method: str | bytes = "GET",
    body: bytes | None = None,
    host: str | bytes | None = HOST,
    version: str = "HTTP/1.1",
) -> bytes:
    """Build the bytes of a request. Nothing is escaped."""

    def encoded(text: str | bytes) -> bytes:
        return text if isinstance(text, bytes) else text.encode("utf-8")

    head = [b" ".join((encoded(method), encoded(target), encoded(version)))]
    if host is not None:
        head.append(b"Host: " + encoded(host))
    head += [encoded(header) for header in headers]
    is_framed = any(line.lower().startswith((b"content-length", b"transfer")) for line in head)
    if body is not None and not is_framed:
        head.append(b"Content-Length: %d" % len(body))
    head.append(b"Connection: close")
    return b"\r\n".join(head) + b"\r\n\r\n" + (body or b"")


def case(
    group: str, name: str, target: str, *headers: str | bytes, allowed: set[int], **how: Any
) -> Case:
    is_malformed, same_as = how.pop("is_malformed", False), how.pop("same_as", "")
    raw, path = request(target, *headers, **how), target.partition("?")[0]
    return Case(group, f"{group}: {name}", raw, frozenset(allowed), path, is_malformed, same_as)
