"""What holds for every answer to a hostile request."""

import gzip
import json
import re
import select
import socket
import ssl
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from tests.hostile.corpus import CLOSED, HOST, MARK, PAGE, Line, Twin, request
from tests.hostile.site import ABSENT, BASE, HIDDEN, HIDDEN_WORD, Site

PATIENCE = 30  # seconds; a machine may be busy with other things
VARYING = {"date", "age", "connection", "keep-alive", "server", "x-request-id", "x-cache-status", "expires"}
INSIDE = (
    b"Traceback (most recent",
    b"django.core",
    b"OperationalError",
    b"psycopg",
    b"sqlite3.",
    b"DJANGO_SETTINGS",
)


@dataclass(frozen=True)
class Answer:
    """Status 0: the connection was closed without one."""

    status: int = CLOSED
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""
    rest: bytes = b""  # what came after it on the same connection
    seconds: float = 0.0

    def get(self, name: str) -> str:
        return ", ".join(value for key, value in self.headers if key == name)

    @property
    def steady(self) -> tuple[tuple[str, str], ...]:
        return tuple(sorted((name, value) for name, value in self.headers if name not in VARYING))


def parse(raw: bytes, *, is_head: bool, seconds: float = 0.0) -> Answer:
    """The first final answer in `raw`."""
    if not raw:
        return Answer(seconds=seconds)
    while True:
        head, separator, rest = raw.partition(b"\r\n\r\n")
        start, *lines = head.decode("latin-1").split("\r\n")
        found = re.fullmatch(r"HTTP/1\.[01] ([1-9]\d\d)(?: .*)?", start)
        if not found or not separator:
            return Answer(CLOSED, (), raw, b"", seconds)  # HTTP/0.9 has neither status nor headers
        if int(found[1]) >= 200:
            break
        raw = rest
    pairs = [line.partition(":") for line in lines]
    headers = tuple((name.strip().lower(), value.strip()) for name, _, value in pairs)
    values = dict(headers)
    status = int(found[1])
    if is_head or status in (204, 304):
        length = 0
    elif "chunked" in values.get("transfer-encoding", ""):
        body, rest = _unchunked(rest)
        if "gzip" in values.get("content-encoding", ""):
            body = gzip.decompress(body)
        return Answer(status, headers, body, rest, seconds)
    else:
        length = int(values.get("content-length", len(rest)))
    body = rest[:length]
    if "gzip" in values.get("content-encoding", "") and body:
        body = gzip.decompress(body)
    return Answer(status, headers, body, rest[length:], seconds)


def _unchunked(rest: bytes) -> tuple[bytes, bytes]:
    body = b""
    while True:
        size, _, rest = rest.partition(b"\r\n")
        number = int(size.split(b";")[0] or b"0", 16)
        body, rest = body + rest[:number], rest[number + 2 :]
        if not number:
            return body, rest


@dataclass(frozen=True)
class Door:
    """Where requests go in: a port of loopback, with TLS where nginx stands before it."""

    port: int
    is_tls: bool = False

    def connect(self) -> socket.socket:
        link = socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE)
        link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if not self.is_tls:
            return link
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE  # a certificate of the tests' own
        return context.wrap_socket(link, server_hostname=HOST)


def exchange(door: Door, raw: bytes, *, may_wait: bool = False) -> Answer:
    """Send `raw` over a connection of its own; all that comes until the server closes it. A server that waits
    for more of a request that `may_wait` is told that there is none."""
    start, received = time.perf_counter(), b""
    with door.connect() as client:
        try:
            client.sendall(raw)
            if may_wait and not door.is_tls and not select.select([client], [], [], 1)[0]:
                client.shutdown(socket.SHUT_WR)
            while chunk := client.recv(1 << 16):
                received += chunk
        except (ConnectionError, ssl.SSLError):
            pass  # what came before that counts
    return parse(received, is_head=raw.startswith(b"HEAD "), seconds=time.perf_counter() - start)


class Kept:
    """A connection that stays open, for requests that are well formed."""

    def __init__(self, door: Door) -> None:
        self.door = door
        self.socket: socket.socket | None = None

    def ask(self, raw: bytes) -> Answer:
        raw = raw.replace(b"\r\nConnection: close", b"", 1)
        is_head = raw.startswith(b"HEAD ")
        for is_last in (False, True):
            start = time.perf_counter()
            try:
                if self.socket is None:
                    self.socket = self.door.connect()
                self.socket.sendall(raw)
                received = self._read(is_head)
            except OSError:
                received = b""
            if received:
                break
            self.close()
            if is_last:
                return Answer()
        answer = parse(received, is_head=is_head, seconds=time.perf_counter() - start)
        if "close" in answer.get("connection").lower():
            self.close()
        return answer

    def _read(self, is_head: bool) -> bytes:
        received = b""
        assert self.socket
        while chunk := self.socket.recv(1 << 16):
            received += chunk
            head, separator, body = received.partition(b"\r\n\r\n")
            if not separator:
                continue
            if is_head or re.match(rb"HTTP/1.1 (204|304)", head):
                return received
            length = re.search(rb"(?i)\r\ncontent-length: *(\d+)", head)
            if length and len(body) >= int(length[1]):
                return received
            if not length and b"chunked" in head.lower() and body.endswith(b"0\r\n\r\n"):
                return received
        return received

    def close(self) -> None:
        if self.socket:
            self.socket.close()
            self.socket = None


def is_api(path: str) -> bool:
    return path.startswith(("/v1/", "/v0.1/")) or path in ("/v1", "/v0.1")


def complaints(
    answer: Answer,
    site: Site,
    *,
    allowed: Iterable[int],
    path: str,
    is_wire: bool = False,
    is_inside: bool = False,
) -> Iterator[str]:
    """What is wrong with `answer`."""
    said = "\n".join(f"{name}: {value}" for name, value in answer.headers if name != "set-cookie")
    text = said.encode("latin-1", "replace") + answer.body
    if answer.status not in allowed:
        yield f"{answer.status} {answer.body[:160]!r}"
    if answer.status >= 500 and not (is_wire and answer.status in (501, 505)):
        yield f"a failure: {answer.status}"
    if answer.rest:
        yield f"a second answer: {answer.rest[:80]!r}"
    for word in (MARK.encode(), *site.secrets):
        if word in text:
            yield f"says what it was told in confidence: {word[:12]!r}"
    if HIDDEN_WORD.encode() in text and not is_inside:
        yield "shows what is hidden"
    for word in INSIDE:
        if word in text:
            yield f"shows its insides: {word.decode()}"
    if "x-injected" in dict(answer.headers):
        yield "has a header that came from outside"
    kind = answer.get("content-type")
    if kind.startswith("text/html") and b"<script>alert" in answer.body:
        yield "repeats markup"
    if answer.status in (301, 302, 303, 307, 308):
        target = urlsplit(answer.get("location"))
        is_ours = target.netloc in ("", "localhost", urlsplit(BASE).netloc) and target.scheme in (
            "",
            "http",
            "https",
        )
        if not is_ours or answer.get("location").startswith(("//", "/\\", "\\")):
            yield f"leads elsewhere: {answer.get('location')}"
    is_public = is_api(path) or path in ("/docs", "/openapi.json")
    if is_public and answer.get("set-cookie") and "no-store" not in answer.get("cache-control"):
        yield f"sets a cookie: {answer.get('set-cookie')[:40]}"
    if not is_api(path) or answer.status == CLOSED or not answer.body:
        return
    if b":1337" in answer.body and answer.status < 400:
        yield "believes the Host header"
    # what a server in front says of what is no request is its own
    by_others = is_wire and answer.status in (400, 405, 408, 411, 413, 414, 415, 417, 421, 431, 494, 501, 505)
    if answer.status < 400:
        if not kind.startswith(("application/json", "application/problem+json")) and answer.status == 200:
            yield f"is {kind}"
    elif not by_others:
        yield from _problem(answer, kind)


def _problem(answer: Answer, kind: str) -> Iterator[str]:
    if kind != "application/problem+json":
        yield f"is {kind or 'of no type'}, no problem document"
        return
    if json.loads(answer.body)["status"] != answer.status:
        yield "says another status in the body"
    if "no-store" not in answer.get("cache-control"):
        yield "may be kept by a cache"
    if answer.get("x-content-type-options") != "nosniff":
        yield "may be sniffed"


@dataclass
class Tally:
    """How a part of the requests went."""

    name: str
    requests: int = 0
    failures: int = 0
    slowest: float = 0.0
    slowest_name: str = ""
    failed: list[str] = field(default_factory=list)

    def count(self, name: str, answer: Answer, wrong: Iterable[str]) -> None:
        self.requests += 1
        self.failures += 500 <= answer.status < 600 and answer.status not in (501, 505)
        if answer.seconds > self.slowest:
            self.slowest, self.slowest_name = answer.seconds, name
        if found := list(wrong):
            self.failed.append(f"{name}: {'; '.join(found)}")


def fire(lines: Iterable[Line], site: Site, door: Door, name: str = "corpus") -> Tally:
    """Send each line, and after it a harmless request whose answer it may not have changed."""
    tally, plain, kept = Tally(name), {}, Kept(door)
    clean = request(PAGE)
    before = kept.ask(clean)
    for line in lines:
        answer = exchange(door, line.raw, may_wait=CLOSED in line.allowed)
        wrong = list(
            complaints(answer, site, allowed=line.allowed, path=line.path, is_wire=line.is_wire,
                       is_inside=line.group == "workplace")
        )  # fmt: skip
        if " none " in line.name:
            plain[line.name] = answer
        if line.like in plain and answer.status not in (400, 421):
            other = plain[line.like]
            if (answer.status, answer.steady, answer.body) != (other.status, other.steady, other.body):
                wrong.append(f"is not the answer to {line.like}")
        after = kept.ask(clean)
        # what a recruiter may write, the public may see
        is_same = line.group == "workplace" or (after.steady, after.body) == (before.steady, before.body)
        if after.status != before.status or not is_same:
            wrong.append(f"changed the answer to {PAGE}: {after.status}")
            before = after
        tally.count(line.name, answer, wrong)
    kept.close()
    return tally


def compare(twins: Iterable[Twin], site: Site, door: Door) -> Tally:
    """What is hidden and what never was answer alike."""
    tally, kept, ids = Tally("twins"), Kept(door), [str(pk).encode() for pk in HIDDEN.values()]
    for twin in twins:
        hidden, absent = kept.ask(twin.hidden.raw), kept.ask(twin.absent.raw)
        wrong = list(complaints(hidden, site, allowed=twin.hidden.allowed, path=twin.hidden.path))
        body = hidden.body
        for pk in ids:
            body = body.replace(pk, str(ABSENT).encode())
        if (hidden.status, hidden.steady, body) != (absent.status, absent.steady, absent.body):
            wrong.append(f"is told from what is not there: {hidden.status} and {absent.status}")
        tally.count(twin.name, hidden, wrong)
    kept.close()
    return tally
