"""An HTTP client that sends raw bytes and reports what came back."""

import gzip
import re
import select
import socket
import ssl
import time
from dataclasses import dataclass

from tests.hostile.corpus.case import CLOSED, HOST

TIMEOUT = 30  # seconds, on a busy machine
# Headers that may differ between two responses to the same request.
VARYING = {
    "date",
    "age",
    "connection",
    "keep-alive",
    "server",
    "x-request-id",
    "x-cache-status",
    "expires",
}


@dataclass(frozen=True)
class Response:
    """Status CLOSED: the connection was closed without a response."""

    status: int = CLOSED
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""
    rest: bytes = b""  # what came after it on the connection
    seconds: float = 0.0

    def get(self, name: str) -> str:
        return ", ".join(value for key, value in self.headers if key == name)

    @property
    def constant_headers(self) -> tuple[tuple[str, str], ...]:
        return tuple(sorted((name, value) for name, value in self.headers if name not in VARYING))


def parse(raw: bytes, *, is_head: bool, seconds: float = 0.0) -> Response:
    """Parse the first final response in `raw`."""
    if not raw:
        return Response(seconds=seconds)
    while True:
        head, separator, rest = raw.partition(b"\r\n\r\n")
        start, *lines = head.decode("latin-1").split("\r\n")
        found = re.fullmatch(r"HTTP/1\.[01] ([1-9]\d\d)(?: .*)?", start)
        if not found or not separator:
            return Response(CLOSED, (), raw, b"", seconds)  # HTTP/0.9: no status, no headers
        if int(found[1]) >= 200:
            break
        raw = rest
    pairs = [line.partition(":") for line in lines]
    headers = tuple((name.strip().lower(), value.strip()) for name, _, value in pairs)
    values, status = dict(headers), int(found[1])
    if is_head or status in (204, 304):
        body = b""
    elif "chunked" in values.get("transfer-encoding", ""):
        body, rest = _dechunked(rest)
    else:
        length = int(values.get("content-length", len(rest)))
        body, rest = rest[:length], rest[length:]
    if "gzip" in values.get("content-encoding", "") and body:
        body = gzip.decompress(body)
    return Response(status, headers, body, rest, seconds)


def _dechunked(rest: bytes) -> tuple[bytes, bytes]:
    body = b""
    while True:
        size, _, rest = rest.partition(b"\r\n")
        number = int(size.split(b";")[0] or b"0", 16)
        body, rest = body + rest[:number], rest[number + 2 :]
        if not number:
            return body, rest


@dataclass(frozen=True)
class Endpoint:
    """A port of loopback; nginx uses TLS."""

    port: int
    is_tls: bool = False

    def connect(self) -> socket.socket:
        link = socket.create_connection(("127.0.0.1", self.port), timeout=TIMEOUT)
        link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if not self.is_tls:
            return link
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE  # self-signed
        return context.wrap_socket(link, server_hostname=HOST)


def send(endpoint: Endpoint, raw: bytes, *, may_wait: bool = False) -> Response:
    """Send `raw` on a connection of its own and read until the server closes it. `may_wait`:
    half-close the connection after a second, because the server may wait for the rest of the
    request.
    """
    start, received = time.perf_counter(), b""
    with endpoint.connect() as client:
        try:
            client.sendall(raw)
            if may_wait and not endpoint.is_tls and not select.select([client], [], [], 1)[0]:
                client.shutdown(socket.SHUT_WR)
            while chunk := client.recv(1 << 16):
                received += chunk
        except (ConnectionError, ssl.SSLError):
            pass  # what came before it is the response
    return parse(received, is_head=raw.startswith(b"HEAD "), seconds=time.perf_counter() - start)


class Connection:
    """A persistent connection, for well-formed requests."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        self.socket: socket.socket | None = None

    def send(self, raw: bytes) -> Response:
        raw = raw.replace(b"\r\nConnection: close", b"", 1)
        is_head = raw.startswith(b"HEAD ")
        for _ in range(2):
            start = time.perf_counter()
            try:
                if self.socket is None:
                    self.socket = self.endpoint.connect()
                self.socket.sendall(raw)
                received = self._read(is_head)
            except OSError:
                received = b""
            if received:
                break
            self.close()
        if not received:
            return Response()
        response = parse(received, is_head=is_head, seconds=time.perf_counter() - start)
        if "close" in response.get("connection").lower():
            self.close()
        return response

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
