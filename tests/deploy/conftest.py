"""The servers of production, with the files of deploy/: gunicorn with two workers, nginx, Redis;
and a second nginx in front of stub nodes.
"""

import http.client
import itertools
import json
import socket
import ssl
import threading
from collections import Counter
from contextlib import ExitStack, nullcontext, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests import servers
from tests.servers import HOST, Instance

LIMIT = 100  # requests an hour and client
_numbers = itertools.count(2 * 256)


def new_address() -> str:
    """Return a loopback address for which no request has been counted yet."""
    return "127.0.{}.{}".format(*divmod(next(_numbers), 256))


class Response(NamedTuple):
    status: int
    headers: http.client.HTTPMessage
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


def read_response(link: socket.socket, method: str = "GET") -> Response:
    response = http.client.HTTPResponse(link, method=method)
    response.begin()
    return Response(response.status, response.msg, response.read())


def raw_request(target: str, *lines: str, method: str = "GET", body: bytes = b"") -> bytes:
    """Return the bytes of a request with these header lines (by default only Host)."""
    head = [
        f"{method} {target} HTTP/1.1",
        *(lines or (f"Host: {HOST}",)),
        "Connection: close",
        "",
        "",
    ]
    return "\r\n".join(head).encode("latin-1") + body


def is_problem(response: Response, status: int) -> bool:
    """Check that a response is a problem document that is not cached."""
    assert response.status == status
    assert response.headers.get_all("Content-Type") == ["application/problem+json"]
    assert (response.json["type"], response.json["status"]) == ("about:blank", status)
    assert response.json.keys() >= {"title", "detail", "instance"}
    (cache_control,) = response.headers.get_all("Cache-Control")
    assert "no-store" in cache_control
    return True


class Requests:
    """A mixin that sends requests to a server, each from a new client address
    unless one is given.
    """

    port: int
    certificate: Path | None = None

    def connect(
        self, address: str = "", *, port: int = 0, protocols: tuple[str, ...] = ()
    ) -> socket.socket:
        """Connect to the server, with TLS if it has a certificate, or without TLS to another
        `port`.
        """
        source, port = (address or new_address(), 0), port or self.port
        link = socket.create_connection(("127.0.0.1", port), timeout=30, source_address=source)
        if not self.certificate or port != self.port:
            return link
        context = ssl.create_default_context(cafile=self.certificate)
        context.set_alpn_protocols(protocols)
        return context.wrap_socket(link, server_hostname=HOST)

    def send_raw(self, request: bytes, address: str = "") -> Response:
        """Send bytes; return the response, even if it arrives before all bytes are sent."""
        with self.connect(address) as link:
            with suppress(ConnectionError, ssl.SSLError):
                link.sendall(request)
            return read_response(link)

    def request(
        self,
        path: str,
        method: str = "GET",
        body: bytes = b"",
        address: str = "",
        link: socket.socket | None = None,
        **headers: str,
    ) -> Response:
        """Request `path` with these headers (_ for -) on a new connection or on `link`, which stays
        open.
        """
        named = {"Host": HOST, "Connection": "keep-alive" if link else "close"}
        named |= {"Content-Length": str(len(body))} if body else {}
        named |= {name.replace("_", "-"): value for name, value in headers.items()}
        lines = [
            f"{method} {path} HTTP/1.1",
            *(f"{name}: {value}" for name, value in named.items()),
            "",
            "",
        ]
        with nullcontext(link) if link else self.connect(address) as link:
            with suppress(ConnectionError, ssl.SSLError):
                link.sendall("\r\n".join(lines).encode("latin-1") + body)
            return read_response(link, method)


class Gunicorn(Requests, servers.Gunicorn):
    pass


class Nginx(Requests, servers.ProductionNginx):
    pass


MAKE = """
from django.contrib.auth.models import User
from django.core.files.base import ContentFile
from django.utils import timezone
from tests.admin_pages import session_of
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
    cookie: dict[str, str]  # of a signed-in user


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    """The service as in production, with SQLite."""
    if not (servers.NGINX and servers.REDIS):
        pytest.skip("nginx or Redis is not installed")
    folder = tmp_path_factory.mktemp("deploy")
    with ExitStack() as stack:
        redis = stack.enter_context(servers.Redis(folder / "redis"))
        instance = Instance(
            folder / "site",
            ALLOWED_HOSTS=f"{HOST},example.org,127.0.0.1",
            CACHE_URL=redis.url,
            RATE_LIMIT=f"{LIMIT}/h",
            TRUSTED_PROXIES="127.0.0.1",
            INTERNAL_ACCESS="authenticated",
            MULTI_BRANDING="no",
            STATIC_ROOT=str(folder / "nginx/static"),
            MEDIA_ROOT=str(folder / "nginx/media"),
            X_ACCEL_PREFIX="/_media/",
            DJANGO_SETTINGS_MODULE="tests.deploy.settings",
        )
        instance.manage("collectstatic", "--noinput", "-v0")  # error pages have a stylesheet
        session = instance.manage("shell", "-v0", "-c", MAKE).stdout.split()[-1]
        env = instance.env | {"WEB_CONCURRENCY": "2"}
        gunicorn = stack.enter_context(Gunicorn(folder / "gunicorn", env))
        nginx = stack.enter_context(Nginx(folder / "nginx", gunicorn.port))
        cookie = {"Cookie": f"__Host-sessionid={session}; sessionid={session}"}
        yield Site(gunicorn, nginx, folder / "site/db.sqlite3", cookie)


class Node(ThreadingHTTPServer):
    """A stub node: it returns the headers of the request, and sends the headers that a test sets by
    path.
    """

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", servers.free_port()), _Handler)
        self.response_headers: dict[str, dict[str, str]] = {}  # by path
        self.requests: Counter[str] = Counter()  # by path
        self.drops_connections = threading.Event()  # without a response
        threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True).start()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Node

    def do_GET(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.server.requests[self.path] += 1
        if self.server.drops_connections.is_set():
            self.close_connection = True
            return
        body = json.dumps({name.lower(): value for name, value in self.headers.items()}).encode()
        self.send_response(200)
        for name, value in self.server.response_headers.get(self.path, {}).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_POST = do_GET  # noqa: N815 - the name that http.server calls

    def log_message(self, *args: Any) -> None:
        pass


class Edge(NamedTuple):
    nginx: Nginx
    nodes: tuple[Node, Node]


@pytest.fixture(scope="module")
def edge(tmp_path_factory):
    """nginx behind a load balancer (which names the client) and in front of two stub nodes."""
    if not servers.NGINX:
        pytest.skip("nginx is not installed")
    nodes = Node(), Node()
    changes = {
        "# server 10.0.0.12:8000 ": f"server 127.0.0.1:{nodes[1].server_port} ",
        "# set_real_ip_from 10.0.0.0/8;": "set_real_ip_from 127.0.0.0/8;",
        "# real_ip_header": "real_ip_header",
        "rate=50r/s": "rate=1r/m",
    }
    with Nginx(tmp_path_factory.mktemp("edge") / "nginx", nodes[0].server_port, changes) as nginx:
        yield Edge(nginx, nodes)
    for node in nodes:
        node.shutdown()
        node.server_close()
