"""The servers of production, from the very files in deploy/: gunicorn with two workers, nginx in front of it,
Redis; and another nginx, in front of nodes that do what a test says."""

import http.client
import itertools
import json
import os
import re
import socket
import ssl
import subprocess
import threading
from collections import Counter
from contextlib import nullcontext, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests import servers
from tests.services import ROOT, Instance

HOST = "jobs.example.com"
LIMIT = 100  # requests an hour and client
_numbers = itertools.count(2 * 256)


def stranger() -> str:
    """Return a loopback address that no rate limit has counted yet."""
    return "127.0.{}.{}".format(*divmod(next(_numbers), 256))


class Answer(NamedTuple):
    status: int
    headers: http.client.HTTPMessage
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


def read(link: socket.socket, method: str = "GET") -> Answer:
    answer = http.client.HTTPResponse(link, method=method)
    answer.begin()
    return Answer(answer.status, answer.msg, answer.read())


class Reached:
    """How a test asks a server. Unless it says from where, each request comes from an address of its own."""

    port: int
    certificate: Path | None = None

    def connect(self, address: str = "", *, port: int = 0, protocols: tuple[str, ...] = ()) -> socket.socket:
        """Connect by TLS to the port of that, or plainly to another `port`."""
        source, port = (address or stranger(), 0), port or self.port
        link = socket.create_connection(("127.0.0.1", port), timeout=30, source_address=source)
        if not self.certificate or port != self.port:
            return link
        context = ssl.create_default_context(cafile=self.certificate)
        context.set_alpn_protocols(protocols)
        return context.wrap_socket(link, server_hostname=HOST)

    def say(self, request: bytes, address: str = "") -> Answer:
        """Send these bytes; return what is answered, also while they are still being sent."""
        with self.connect(address) as link:
            with suppress(ConnectionError, ssl.SSLError):
                link.sendall(request)
            return read(link)

    def ask(self, path: str, method: str = "GET", body: bytes = b"", address: str = "",
            link: socket.socket | None = None, **headers: str) -> Answer:  # fmt: skip
        """Ask for `path` with these headers, a _ in their names being a -; on `link`, which stays open."""
        named = {"Host": HOST, "Connection": "keep-alive" if link else "close"}
        named |= {"Content-Length": str(len(body))} if body else {}
        named |= {name.replace("_", "-"): value for name, value in headers.items()}
        lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in named.items()), "", ""]
        with nullcontext(link) if link else self.connect(address) as link:
            with suppress(ConnectionError, ssl.SSLError):
                link.sendall("\r\n".join(lines).encode("latin-1") + body)
            return read(link, method)


class Gunicorn(Reached, servers.Gunicorn):
    pass


class Nginx(Reached, servers.Server):
    """nginx with deploy/nginx.conf, adapted to the paths of this machine and by `changes`."""

    def __init__(self, folder: Path, node: int, changes: dict[str, str] | None = None) -> None:
        super().__init__(folder)
        folder.mkdir(exist_ok=True)
        self.port, self.plain_port = servers.free_port(), servers.free_port()
        self.conf, self.acme = folder / "nginx.conf", folder / "html/.well-known/acme-challenge"
        here = {
            "user www-data;": "user root;" if os.geteuid() == 0 else "",
            "pid /run/nginx.pid": f"daemon off; pid {folder}/pid",
            "/var/log/nginx/": f"{folder}/",
            "/var/lib/nginx/": f"{folder}/",
            "/srv/jobsite/": f"{folder}/",
            "/var/www/html": f"{folder}/html",
            f"/etc/letsencrypt/live/{HOST}/": f"{folder}/",
            "listen 80 ": f"listen 127.0.0.1:{self.plain_port} ",
            "listen 443 ": f"listen 127.0.0.1:{self.port} ",
            "server 127.0.0.1:8000 ": f"server 127.0.0.1:{node} ",
        }
        text = (ROOT / "deploy/nginx.conf").read_text()
        text = re.sub(r"\n *listen \[::\]:[^\n]*", "", text)
        for old, new in {**here, **(changes or {})}.items():
            assert old in text, old
            text = text.replace(old, new)
        temporary = "".join(
            f"{kind}_temp_path {folder}/{kind}; "
            for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        )
        self.conf.write_text(text.replace("http {", f"http {{ {temporary}", 1))
        self.certificate = folder / "fullchain.pem"
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
             "-keyout", folder / "privkey.pem", "-out", self.certificate, "-days", "2",
             "-subj", f"/CN={HOST}", "-addext", f"subjectAltName=DNS:{HOST}"],
            check=True, capture_output=True, timeout=60,
        )  # fmt: skip
        place, conf, log = map(str, (folder, self.conf, folder / "error.log"))
        self.command = [str(servers.NGINX), "-p", place, "-c", conf, "-e", log]

    def is_up(self) -> bool:
        with suppress(OSError):
            self.connect().close()
            return True
        return False

    @property
    def lines(self) -> list[dict[str, Any]]:
        """What is in the log."""
        return [json.loads(line) for line in (self.folder / "access.log").read_text().splitlines()]


MAKE = """
from django.contrib.auth.models import User
from django.core.files.base import ContentFile
from django.utils import timezone
from tests.workplace import session_of
from vacancies.models import Attachment, Recruiter, Vacancy
head = Recruiter.objects.create(name="Noor")
for pk in range(1, 41):
    Vacancy.objects.create(
        pk=pk, title=f"Job {pk}", head_recruiter=head, status="published", publish_from=timezone.now(),
        audience="internal" if pk == 1 else "both", is_hot=True, description="<p>" + "Work. " * 50 + "</p>",
    )
Attachment.objects.create(vacancy_id=40, name="Leaflet.pdf", file=ContentFile(b"%PDF-1.4 all of it", "x.pdf"))
user = User.objects.create_superuser("anna", password="anna's long password")
print(session_of(user))
"""


class Site(NamedTuple):
    gunicorn: Gunicorn
    nginx: Nginx
    database: Path
    cookie: dict[str, str]  # of somebody who is signed in


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    """The service as in production, on SQLite."""
    if not (servers.NGINX and servers.REDIS):
        pytest.skip("there is no nginx, or no Redis, here")
    folder = tmp_path_factory.mktemp("deploy")
    redis = servers.Redis(folder / "redis")
    started = []
    try:
        redis.start()
        started.append(redis)
        instance = Instance(
            folder / "site", ALLOWED_HOSTS=f"{HOST},example.org,127.0.0.1", CACHE_URL=redis.url,
            RATE_LIMIT=f"{LIMIT}/h", TRUSTED_PROXIES="127.0.0.1", INTERNAL_ACCESS="authenticated",
            MULTI_BRANDING="no", STATIC_ROOT=str(folder / "nginx/static"),
            MEDIA_ROOT=str(folder / "nginx/media"), X_ACCEL_PREFIX="/_media/",
        )  # fmt: skip
        session = instance.manage("shell", "-v0", "-c", MAKE).stdout.split()[-1]
        gunicorn = Gunicorn(folder / "gunicorn", instance.env | {"WEB_CONCURRENCY": "2"})
        nginx = Nginx(folder / "nginx", gunicorn.port)
        for server in (gunicorn, nginx):
            started.append(server)
            server.start()
        cookie = {"Cookie": f"__Host-sessionid={session}; sessionid={session}"}
        yield Site(gunicorn, nginx, folder / "site/db.sqlite3", cookie)
    finally:
        for server in reversed(started):
            server.stop()


class Node(ThreadingHTTPServer):
    """A server that echoes requests, or returns what a test set for a path."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", servers.free_port()), _Handler)
        self.told: dict[str, dict[str, str]] = {}  # headers by path
        self.asked: Counter[str] = Counter()
        self.is_gone = threading.Event()  # whether it closes connections without an answer
        threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True).start()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Node

    def do_GET(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.server.asked[self.path] += 1
        if self.server.is_gone.is_set():
            self.close_connection = True
            return
        body = json.dumps({name.lower(): value for name, value in self.headers.items()}).encode()
        self.send_response(200)
        for name, value in self.server.told.get(self.path, {}).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_POST = do_GET  # noqa: N815 - as http.server has it

    def log_message(self, *args: Any) -> None:
        pass


class Edge(NamedTuple):
    nginx: Nginx
    nodes: tuple[Node, Node]


@pytest.fixture(scope="module")
def edge(tmp_path_factory):
    """nginx behind a load balancer (which names the client) and in front of two nodes."""
    if not servers.NGINX:
        pytest.skip("there is no nginx here")
    nodes = Node(), Node()
    changes = {
        "# server 10.0.0.12:8000 ": f"server 127.0.0.1:{nodes[1].server_port} ",
        "# set_real_ip_from 10.0.0.0/8;": "set_real_ip_from 127.0.0.0/8;",
        "# real_ip_header": "real_ip_header",
        "rate=50r/s": "rate=1r/m",
    }
    nginx = Nginx(tmp_path_factory.mktemp("edge") / "nginx", nodes[0].server_port, changes)
    nginx.start()
    yield Edge(nginx, nodes)
    nginx.stop()
    for node in nodes:
        node.shutdown()
        node.server_close()
