"""A receiver of webhooks with TLS, in a process of its own. How it answers depends on the path:
`python -m tests.servers.receiver PORT CERTIFICATE KEY FOLDER`.
"""

import json
import random
import socket
import ssl
import struct
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple

from tests.servers.process import ROOT, SYSTEM_ENV, Server, free_port


class Received(NamedTuple):
    path: str
    headers: dict[str, str]  # with names in lower case
    body: str
    status: int  # 0: there was no answer

    @property
    def data(self) -> dict[str, Any]:
        return json.loads(self.body)["data"]  # type: ignore[no-any-return]

    @property
    def type(self) -> str:
        return json.loads(self.body)["type"]  # type: ignore[no-any-return]


class Receiver(Server):
    """Its name is localhost. Programs trust it if SSL_CERT_FILE is its `certificate`."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(exist_ok=True)
        super().__init__(folder)
        self.port = free_port()
        self.certificate, self.key = folder / "cert.pem", folder / "key.pem"
        self.command = [sys.executable, "-m", "tests.servers.receiver"]
        self.command += map(str, (self.port, self.certificate, self.key, folder))
        self.cwd, self.env = ROOT, SYSTEM_ENV
        make = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2"
        name = "-subj /CN=localhost -addext subjectAltName=DNS:localhost"
        files = f"-keyout {self.key} -out {self.certificate}"
        subprocess.run(f"{make} {name} {files}".split(), check=True, capture_output=True)

    def is_up(self) -> bool:
        with suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 1):
            return True
        return False

    def url(self, path: str) -> str:
        return f"https://localhost:{self.port}{path}"

    def received(self) -> list[Received]:
        file = self.folder / "received"
        lines = file.read_text().splitlines() if file.is_file() else []
        return [Received(*json.loads(line)) for line in lines]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    folder: Path

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        self.close_connection = True
        name = self.path.split("?")[0].strip("/")
        status = int(name) if name.isdecimal() else 200
        if name == "often-500":
            status = random.choice((200, 200, 500))
        if name in ("silent", "reset", "slow-headers"):
            status = 0
        headers = {key.lower(): value for key, value in self.headers.items()}
        with (self.folder / "received").open("a") as file:  # a line is one write
            file.write(json.dumps([self.path, headers, body, status]) + "\n")
        answers: dict[str, Callable[[], None]] = {
            "silent": lambda: time.sleep(3600),
            "reset": self._reset,
            "slow-headers": lambda: self._drip(b"HTTP/1.1 200 OK\r\nX-Slow: " + b"x" * 600),
            "slow-body": lambda: self._drip(b"x" * 600, self._begin),
            "endless": self._endless,
        }
        with suppress(OSError):
            answers.get(name, lambda: self._answer(status))()

    def _answer(self, status: int) -> None:
        body = b"Thank you, \x00\x1b[1mreceived" if status == 200 else b"No."
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        if status in (302, 307):
            self.send_header("Location", f"https://{self.headers['Host']}/redirected")
        if "?" in self.path:
            self.send_header("Retry-After", self.path.partition("?")[2].replace("%20", " "))
        self.end_headers()
        self.wfile.write(body)

    def _begin(self) -> None:
        self.send_response(200)
        self.end_headers()

    def _endless(self) -> None:
        self._begin()
        while True:
            self.wfile.write(b"x" * 65_536)

    def _drip(self, data: bytes, begin: Callable[[], None] = lambda: None) -> None:
        begin()
        for number in range(len(data)):
            self.wfile.write(data[number : number + 1])
            time.sleep(0.1)

    def _reset(self) -> None:
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        socket.close(self.connection.detach())

    def log_message(self, *args: object) -> None:
        pass


class _Server(ThreadingHTTPServer):
    request_queue_size = 50

    def __init__(self, port: int, context: ssl.SSLContext) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.context = context

    def finish_request(self, request: Any, address: Any) -> None:
        with suppress(OSError):  # the client ended the handshake, or the request
            super().finish_request(self.context.wrap_socket(request, server_side=True), address)


if __name__ == "__main__":
    _port, _certificate, _key, _folder = sys.argv[1:]
    _Handler.folder = Path(_folder)
    _context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    _context.load_cert_chain(_certificate, _key)
    _Server(int(_port), _context).serve_forever()
