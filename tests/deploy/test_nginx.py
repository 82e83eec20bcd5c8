"""deploy/nginx.conf, served: what nginx refuses, how often and how long it keeps what; in front of the site,
and in front of nodes that do what a test says (`edge`)."""

import http.client
import json
import socket
import sqlite3
import ssl
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from urllib.parse import urlsplit

import pytest

from tests import servers
from tests.deploy.conftest import HOST, LIMIT, Answer, Nginx, read, stranger

pytestmark = [pytest.mark.slow, pytest.mark.once]

LISTS = ("/v1/vacancies", "/v1/vacancies/hot", "/v1/filters", "/v0.1/vacancies")
SINGLES = ("/v1/vacancies/{}", "/v1/vacancies/{}/form", "/v1/vacancies/{}/form/schema")


def wire(target: str, *lines: str, method: str = "GET", body: bytes = b"") -> bytes:
    head = [f"{method} {target} HTTP/1.1", *(lines or (f"Host: {HOST}",)), "Connection: close", "", ""]
    return "\r\n".join(head).encode("latin-1") + body


def is_problem(answer: Answer, status: int) -> bool:
    assert answer.status == status
    assert answer.headers.get_all("Content-Type") == ["application/problem+json"]
    assert (answer.json["type"], answer.json["status"]) == ("about:blank", status)
    assert {"title", "detail"} < answer.json.keys()
    (kept,) = answer.headers.get_all("Cache-Control")
    assert "no-store" in kept
    return True


def hit(site, path, **headers) -> Answer:
    """Return a cached response: the third one within half a second."""
    deadline = time.monotonic() + servers.TIMEOUT
    with site.nginx.connect() as link:
        while True:
            answer = site.nginx.ask(path, link=link, **headers)
            if answer.headers["X-Cache-Status"] == "HIT":
                return answer
            assert answer.headers["X-Cache-Status"] in ("MISS", "EXPIRED"), answer
            assert time.monotonic() < deadline


@pytest.mark.smoke
def test_nginx_accepts_the_configuration(site):
    done = subprocess.run([*site.nginx.command, "-t"], capture_output=True, text=True, timeout=60)

    assert done.returncode == 0, done.stderr
    assert "warn" not in done.stderr


# --- Refused requests --------------------------------------------------------------------------


@pytest.mark.parametrize("prefix", ["/v1", "/v0.1"])
@pytest.mark.parametrize(
    ("target", "lines", "method", "status"),
    [
        ("{}/vacancies/%00", (), "GET", 400),
        ("{}/vacancies/%zz", (), "GET", 400),
        ("{}/../../etc/passwd", (), "GET", 400),
        ("{}/vacancies", ("Host: a b",), "GET", 400),
        ("{}/vacancies", ("Host: evil.example",), "GET", 400),
        ("{}/vacancies", ("X: no host",), "GET", 400),
        ("{}/vacancies", (f"Host: {HOST}", f"Host: {HOST}"), "GET", 400),
        ("{}/vacancies", (f"Host: {HOST}", "Content-Length: 1", "Content-Length: 2"), "GET", 400),
        ("{}/vacancies", (f"Host: {HOST}", "Content-Length: 1", "Transfer-Encoding: chunked"), "GET", 400),
        ("{}/vacancies", (f"Host: {HOST}", "Transfer-Encoding: zyx"), "GET", 501),
        ("{}/vacancies/nothing/here", (), "GET", 404),
        ("{}/vacancies/", (), "GET", 404),
        ("{}", (), "GET", 404),
        ("{}/", (), "GET", 404),
        ("{}/vacancies", (), "DELETE", 405),
        ("{}/vacancies", (), "TRACE", 405),
        ("{}/vacancies", (), "CONNECT", 405),
        ("{}/vacancies", (), "PROPFIND", 405),
        ("{}/vacancies", (), "get", 400),
        ("{}/vacancies", (), "G<T", 400),
        ("{}/vacancies", (f"Host: {HOST}", "Content-Length: 70000"), "POST", 413),
        ("{}/vacancies", (f"Host: {HOST}", "Content-Length: 70000"), "GET", 413),
        ("{}/" + "x" * 9000, (), "GET", 414),
        ("{}/vacancies?" + "x" * 9000, (), "GET", 414),
        ("{}/vacancies", (f"Host: {HOST}", "X: " + "x" * 9000), "GET", 431),
        ("{}/vacancies", (f"Host: {HOST}", *["X: " + "x" * 8000] * 9), "GET", 431),
        ("{}/vacancies", (f"Host: {HOST}", *["X: x"] * 200), "GET", 431),
    ],
)
def test_errors_of_the_api_are_problem_documents(site, prefix, target, lines, method, status):
    answer = site.nginx.say(wire(target.format(prefix), *lines, method=method))

    assert is_problem(answer, status)
    if status == 405:
        assert answer.headers["Allow"] == "GET, HEAD, OPTIONS"


@pytest.mark.parametrize("request_", [b"NONSENSE\r\n\r\n", b"GET\r\n\r\n", b"\x16\x03\x01\x02\x00\r\n\r\n"])
def test_malformed_request_is_400(site, request_):
    assert is_problem(site.nginx.say(request_), 400)


def test_body_size_is_limited(site, edge):
    small, large = b"{" + b" " * 60_000, b"{" + b" " * 70_000
    chunked = b"".join(b"ffff\r\n" + b" " * 0xFFFF + b"\r\n" for _ in range(2)) + b"0\r\n\r\n"
    lines = (f"Host: {HOST}", "Transfer-Encoding: chunked")

    came_through = site.nginx.ask("/v1/auth/token", "POST", small, Content_Type="application/json")

    assert "errors" in came_through.json or came_through.status == 400
    assert is_problem(site.nginx.ask("/v1/auth/token", "POST", large), 413)
    assert is_problem(site.nginx.say(wire("/v1/auth/token", *lines, method="POST", body=chunked)), 413)
    assert site.nginx.ask("/account/login", "POST", large).status == 413
    assert edge.nginx.ask("/admin/vacancies/vacancy/add/", "POST", large).status == 200


def test_errors_of_pages_are_html(site):
    answer = site.nginx.say(wire("/docs", f"Host: {HOST}", "Content-Length: 70000", method="POST"))

    assert (answer.status, answer.headers["Content-Type"]) == (413, "text/html")
    assert b"<h1>Content Too Large</h1>" in answer.body


def test_headers_with_underscores_are_dropped(edge):
    request = wire("/up", f"Host: {HOST}", "X_Forwarded_For: 6.6.6.6", "REMOTE_USER: root")

    told = edge.nginx.say(request, "127.0.0.1").json

    assert told["x-forwarded-for"] == "127.0.0.1"
    assert not {"x_forwarded_for", "remote_user"} & told.keys()


# --- Headers for the nodes ---------------------------------------------------------------------


@pytest.mark.parametrize("host", [HOST, "evil.example", f"{HOST}:1337", "evil.example:443"])
@pytest.mark.parametrize("target", ["{}", "http://evil.example{}"])
def test_redirects_do_not_contain_the_host_of_the_request(edge, host, target):
    nginx = edge.nginx
    (nginx.folder / "static/admin").mkdir(parents=True, exist_ok=True)

    def location(path, port):
        request = wire(target.format(path), f"Host: {host}")
        with nginx.connect(port=port) as link:
            link.sendall(request)
            answer = read(link)
        assert b"evil" not in answer.body
        return answer.status, answer.headers["Location"]

    # To the name of a folder nginx adds the slash that is missing.
    assert location("/admin", nginx.port) == (301, "/admin/")
    assert location("/static/admin", nginx.port) == (301, "/static/admin/")
    assert location("//static//admin", nginx.port) == (301, "/static/admin/")
    (nginx.acme / "folder").mkdir(parents=True, exist_ok=True)
    acme = "/.well-known/acme-challenge/folder"
    assert location(acme, nginx.plain_port) == (301, f"{acme}/")
    assert location("/v1/vacancies?a=b", nginx.plain_port) == (308, f"https://{HOST}/v1/vacancies?a=b")
    assert location("//evil.invalid/", nginx.plain_port) == (308, f"https://{HOST}//evil.invalid/")


def test_clients_cannot_set_their_address(edge):
    said = dict.fromkeys(("X_Forwarded_Host", "X_Forwarded_Proto", "Forwarded"), "evil.example")

    told = edge.nginx.ask("/up", Host=f"{HOST}:1337", X_Forwarded_For="6.6.6.6, 203.0.113.9", **said).json

    assert told["host"] == HOST
    assert (told["x-forwarded-for"], told["x-forwarded-proto"]) == ("203.0.113.9", "https")
    assert "evil.example" not in told.values()


def test_links_do_not_contain_the_port_of_the_host(site):
    answer = site.nginx.ask("/v1/vacancies?fields=id", Host=f"{HOST}:1337")

    assert answer.json["links"]["first"].startswith(f"https://{HOST}/v1/vacancies?")


def test_request_has_one_id(edge):
    edge.nodes[0].told["/id"] = edge.nodes[1].told["/id"] = {"X-Request-ID": "of-the-node"}

    for said, is_taken in (("4711-abc_DEF", True), ('a"b', False), ("short", False), ("x" * 65, False)):
        answer = edge.nginx.ask("/id", X_Request_ID=said)
        (number,) = answer.headers.get_all("X-Request-ID")
        assert answer.json["x-request-id"] == number
        assert (number == said) is is_taken


# --- Rate limits -------------------------------------------------------------------------------


def test_forged_addresses_count_as_one_client(site):
    """1,000 requests of one client, each with a different X-Forwarded-For."""

    def walk(numbers):
        with site.nginx.connect(address) as link:
            for n in numbers:
                told = f"198.51.{n // 250}.{n % 250}"
                yield site.nginx.ask(f"/v1/filters?{n}", link=link, X_Forwarded_For=told, X_Real_IP=told)

    for _ in range(2):  # once more if the hour ended in between
        hour, address = time.time() // 3600, stranger()
        with ThreadPoolExecutor(8) as pool:
            walks = pool.map(lambda n: list(walk(range(n, 1000, 8))), range(8))
            answers = [answer for answers in walks for answer in answers]
        if time.time() // 3600 == hour:
            break

    refused = [answer for answer in answers if answer.status != 200]
    assert (len(answers), len(answers) - len(refused)) == (1000, LIMIT)
    assert all(is_problem(answer, 429) and int(answer.headers["Retry-After"]) >= 1 for answer in refused)
    by_django = [answer for answer in refused if "instance" in answer.json]  # the others are nginx's
    assert len(by_django) >= 200 - LIMIT
    assert site.nginx.ask("/v1/filters?1").status == 200


def test_ipv6_clients_are_counted_by_their_64_bit_network(edge):
    def ask(client):
        return edge.nginx.ask("/v1/up", X_Forwarded_For=client)

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(ask, [f"2001:db8:0:1:{n:x}::{n:x}" for n in range(230)]))

    refused = [answer for answer in answers if answer.status == 429]
    assert 25 <= len(refused) <= 29  # 1 + 200 at once; a slow machine gets one more a minute
    assert all(is_problem(answer, 429) and answer.headers["Retry-After"] == "1" for answer in refused)
    assert [ask(client).status for client in ("2001:db8:0:1::", "2001:db8:0:2::1", "2001:db8:1:1::1")] == [
        429, 200, 200,
    ]  # fmt: skip


def test_cors_headers_of_refused_requests(edge):
    answer = edge.nginx.say(wire("/v1/vacancies/%00", f"Host: {HOST}", "Origin: https://jobs.example.org"))

    assert answer.headers["Access-Control-Allow-Origin"] == "*"


def test_slow_clients_are_disconnected_and_delay_nobody(site):
    slow = [site.nginx.connect() for _ in range(100)]
    try:
        for link in slow:
            link.sendall(b"GET /v1/filters HTTP/1.1\r\nHost: ")
        for n in range(20):
            assert site.nginx.ask(f"/v1/filters?slow={n}").status == 200
        for link in slow:
            link.settimeout(servers.TIMEOUT)
            with suppress(ConnectionError, ssl.SSLError):
                assert link.recv(1000) == b""
    finally:
        for link in slow:
            link.close()


# --- Caching -----------------------------------------------------------------------------------


def test_public_responses_are_cached(site):
    for path in (*LISTS, *(single.format(3) for single in SINGLES)):
        plain = site.nginx.ask(path)

        assert hit(site, path).body == plain.body
        head = site.nginx.ask(path, "HEAD")
        assert (head.status, head.body, head.headers["Content-Length"]) == (200, b"", str(len(plain.body)))
        assert hit(site, path, If_None_Match=plain.headers["ETag"]).status == 304
        assert hit(site, path, Range="bytes=0-9").body == plain.body


def test_requests_with_credentials_bypass_the_cache(site):
    for headers in (site.cookie, {"Authorization": "Bearer stale"}, {"Cookie": "anything=1"}):
        for path in (*LISTS, "/v1/vacancies/3"):
            hit(site, path)
            assert site.nginx.ask(path, **headers).headers["X-Cache-Status"] == "BYPASS"
    number = f"/v1/filters?{time.time()}"  # what was asked for by them only is kept for nobody
    for _ in range(5):
        site.nginx.ask(number, **headers)
    assert site.nginx.ask(number).headers["X-Cache-Status"] == "MISS"


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/v1/vacancies/internal", 401),
        ("/v1/vacancies/hot/internal", 401),
        ("/v0.1/vacancies/internal", 401),
        ("/v1/user/applications", 401),
        ("/v1/user/applications/x.css", 404),
        ("/v1/vacancies/1", 404),
        ("/v1/vacancies/1/form", 404),
    ],
)
def test_internal_and_private_responses_are_not_cached(site, path, status):
    for _ in range(4):
        mine = site.nginx.ask(path, **site.cookie)
        assert mine.status == (404 if path.endswith(".css") else 200)
        assert mine.headers["X-Cache-Status"] in (None, "BYPASS")
        other = site.nginx.ask(path)
        assert is_problem(other, status)
        assert other.headers["X-Cache-Status"] in (None, "MISS")


def test_cache_key_contains_host_query_and_encoding(site):
    kinds = [
        (f"/v1/vacancies?page[size]={size}", {"Host": host} | encoding | origin)
        for size in (1, 2)
        for host in (HOST, "example.org")
        for encoding in ({}, {"Accept_Encoding": "gzip"}, {"Accept_Encoding": "gzip;q=0, identity"})
        for origin in ({}, {"Origin": "https://a.example"})
    ]
    told = {n: site.nginx.ask(path, **headers) for n, (path, headers) in enumerate(kinds)}
    assert len({answer.body for answer in told.values()}) == 8  # sizes x hosts x compressed or not
    hits = set()

    def look(_):
        with site.nginx.connect() as link:
            for n, (path, headers) in enumerate(kinds):
                answer = site.nginx.ask(path, link=link, **headers)
                assert answer.body == told[n].body
                for name in ("Content-Encoding", "Access-Control-Allow-Origin", "Vary", "ETag"):
                    assert answer.headers[name] == told[n].headers[name]
                if answer.headers["X-Cache-Status"] == "HIT":
                    hits.add(n)

    deadline = time.monotonic() + servers.TIMEOUT
    with ThreadPoolExecutor(6) as pool:
        while len(hits) < len(kinds):
            assert time.monotonic() < deadline
            list(pool.map(look, range(6)))


def test_unpublished_vacancy_disappears_within_a_second(site):
    paths = [*(f"{path}?page[size]=100" if "filters" not in path else path for path in LISTS)]
    singles = [single.format(40) for single in SINGLES]
    before = {path: hit(site, path) for path in (*paths, *singles)}
    file = urlsplit(before[singles[0]].json["data"]["attachments"][0]["path"]).path
    assert site.nginx.ask(file).body == b"%PDF-1.4 all of it"

    with sqlite3.connect(site.database, timeout=20) as database:
        database.execute("UPDATE vacancies_vacancy SET status = 'draft' WHERE id = 40")
    database.close()
    time.sleep(1)

    for path in paths:
        answer = site.nginx.ask(path)
        assert answer.status == 200
        if "filters" not in path:
            was, now = ({item["id"] for item in each.json["data"]} for each in (before[path], answer))
            assert was - now == {40}
    for path in singles:
        assert is_problem(site.nginx.ask(path), 404)
    assert site.nginx.ask(file).status == 404


# --- Failing nodes -----------------------------------------------------------------------------


@pytest.fixture
def lose(edge):
    """Make a number of nodes accept requests and close the connection without a response."""

    def lose(number):
        for node in edge.nodes[:number]:
            node.is_gone.set()

    yield lose
    for node in edge.nodes:
        node.is_gone.clear()
        node.asked["/back"] = 0
    # what failed too often is asked again a second later
    servers.until(lambda: edge.nginx.ask("/back") and all(node.asked["/back"] for node in edge.nodes))


def test_failed_get_is_retried_on_the_next_node_and_post_is_not(edge, lose):
    lose(1)
    assert [edge.nginx.ask(f"/get/{n}").status for n in range(8)] == [200] * 8

    lose(2)
    assert [edge.nginx.ask(f"/post/{n}", "POST", b"x").status for n in range(4)] == [502] * 4
    assert max(sum(node.asked[f"/post/{n}"] for node in edge.nodes) for n in range(4)) == 1


@pytest.mark.parametrize("path", ["/v1/vacancies", "/v1/user/applications", "/v0.1/vacancies", "/docs"])
def test_503_with_retry_after_if_no_node_responds(edge, lose, path):
    lose(2)

    answers = [edge.nginx.ask(path) for _ in range(3)]

    for answer in answers:
        assert answer.headers["Retry-After"] == "2"
        if path == "/docs":
            assert (answer.status, answer.headers["Content-Type"]) == (502, "text/html")
        else:
            assert is_problem(answer, 502)


@pytest.fixture
def silent():
    """A node that accepts connections and does not respond."""
    with socket.create_server(("127.0.0.1", servers.free_port())) as node:
        node.settimeout(servers.TIMEOUT)
        yield node


@contextmanager
def in_front_of(node, folder, changes):
    nginx = Nginx(folder / "nginx", node.getsockname()[1], changes)
    nginx.start()
    try:
        yield nginx
    finally:
        nginx.stop()


def test_unresponsive_node_causes_a_timeout(silent, tmp_path):
    with in_front_of(silent, tmp_path, {"proxy_read_timeout 60s;": "proxy_read_timeout 1s;"}) as nginx:
        answer = nginx.ask("/v1/vacancies")

    assert is_problem(answer, 504)
    assert answer.headers["Retry-After"] == "2"


def test_concurrent_requests_of_a_client_are_limited(silent, tmp_path):
    with in_front_of(silent, tmp_path, {"limit_conn connections 100;": "limit_conn connections 2;"}) as nginx:
        address = stranger()
        with nginx.connect(address) as one, nginx.connect(address) as two:
            for link in (one, two):
                link.sendall(wire("/v1/vacancies?so-many"))
            asked = [silent.accept()[0] for _ in range(2)]
            answer = nginx.ask("/v1/filters", address=address)
        for link in asked:
            link.close()

    assert is_problem(answer, 429)
    assert answer.headers["Retry-After"] == "1"


# --- Access ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "path", ["/metrics", "/metrics/", "//metrics", "/%6detrics", "/x/../metrics", "/metrics?x"]
)
def test_metrics_are_not_public(edge, path):
    for client in ("203.0.113.9", "127.0.0.1"):
        assert edge.nginx.ask(path, X_Forwarded_For=client).status == 404


def test_readiness_is_internal_and_liveness_public(edge):
    asked = {
        client: [edge.nginx.ask(path, X_Forwarded_For=client).status for path in ("/readyz", "/healthz")]
        for client in ("203.0.113.9", "2001:db8::1", "10.1.2.3", "127.0.0.1", "fd00::1")
    }

    assert list(asked.values()) == [[403, 200]] * 2 + [[200, 200]] * 3


# --- Files -------------------------------------------------------------------------------------


def test_static_files_with_a_hash_are_cached_forever(site):
    folder = site.nginx.folder / "static"
    folder.mkdir(exist_ok=True)
    for name in ("a.css", "a.0123456789ab.css"):
        (folder / name).write_text("a {}")
    (site.nginx.folder / "secret").write_text("secret")

    plain, digested = (site.nginx.ask(f"/static/{name}") for name in ("a.css", "a.0123456789ab.css"))

    assert plain.body == digested.body == b"a {}"
    assert plain.headers["Cache-Control"] == "public, max-age=3600"
    assert digested.headers["Cache-Control"] == "public, max-age=31536000, immutable"
    assert digested.headers["X-Content-Type-Options"] == "nosniff"
    by_django = site.gunicorn.ask("/static/nothing.css")  # an answer without a file, but as restricted
    for name in ("Content-Security-Policy", "Cross-Origin-Resource-Policy"):
        ours, theirs = (set(answer.headers[name].split("; ")) for answer in (digested, by_django))
        assert ours == theirs
    for path in ("/static../secret", "/static/../secret", "/static/%2e%2e/secret", "/static/nothing.css"):
        assert site.nginx.ask(path).status == 404


def test_uploads_are_served_with_permission_of_django_only(edge):
    folder = edge.nginx.folder / "media"
    folder.mkdir(exist_ok=True)
    (folder / "x.pdf").write_bytes(b"%PDF")
    (edge.nginx.folder / "secret").write_text("secret")
    said = {
        "Content-Type": "application/pdf",
        "Content-Disposition": 'attachment; filename="CV of zyx.pdf"',
        "Content-Security-Policy": "sandbox; default-src 'none'",
        "Cache-Control": "private, no-store",
        "X-Content-Type-Options": "nosniff",
        "Access-Control-Allow-Origin": "https://a.example",
        "Access-Control-Expose-Headers": "Content-Disposition",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Referrer-Policy": "no-referrer",
        "Vary": "origin",
        "Strict-Transport-Security": "max-age=1",
        "X-Robots-Tag": "noindex",
    }
    for node in edge.nodes:
        node.told["/media/1"] = said | {"X-Accel-Redirect": "/_media/x.pdf"}
        node.told["/media/2"] = said | {"X-Accel-Redirect": "/_media/../secret"}

    answer = edge.nginx.ask("/media/1")

    assert (answer.status, answer.body) == (200, b"%PDF")
    assert {name: answer.headers.get_all(name) for name in said} == {
        name: [value] for name, value in said.items()
    }
    assert "X-Accel-Redirect" not in answer.headers
    assert edge.nginx.ask("/media/2").status != 200
    for path in ("/_media/x.pdf", "/%5fmedia/x.pdf", "//_media/x.pdf", "/_problem", "/_page"):
        answer = edge.nginx.ask(path)
        assert (answer.status, answer.headers["Content-Type"]) == (404, "text/html")
    assert b"secret" not in edge.nginx.ask("/_media../secret").body  # no such file is looked for


def test_files_of_the_root_are_served(site):
    assert site.nginx.ask("/robots.txt").body.startswith(b"User-agent: *")
    assert site.nginx.ask("/favicon.ico").body[:4] == b"\0\0\1\0"


@pytest.mark.parametrize("path", ["/static/a.css", "/media/1"])
def test_unchanged_file_is_304(edge, path):
    for folder, name in (("static", "a.css"), ("media", "x.pdf")):
        (edge.nginx.folder / folder).mkdir(exist_ok=True)
        (edge.nginx.folder / folder / name).write_text("a {}")
    for node in edge.nodes:
        node.told["/media/1"] = {"X-Accel-Redirect": "/_media/x.pdf", "Content-Type": "application/pdf"}
    tag = edge.nginx.ask(path).headers["ETag"]

    for condition, status in (
        (tag, 304),
        (f"W/{tag}", 304),
        (f'"x" , W/{tag}', 304),
        ("*", 304),
        ('"x"', 200),
    ):
        assert edge.nginx.ask(path, If_None_Match=condition).status == status, condition


# --- TLS, and the log --------------------------------------------------------------------------


def test_http_redirects_to_https(site):
    link = http.client.HTTPConnection("127.0.0.1", site.nginx.plain_port, timeout=30)
    link.request("POST", "/v1/auth/token?a=b", headers={"Host": "evil.example"})
    answer = link.getresponse()
    link.close()

    assert (answer.status, answer.headers["Location"]) == (308, f"https://{HOST}/v1/auth/token?a=b")


def test_tls_versions(site):
    with site.nginx.connect(protocols=("h2", "http/1.1")) as link:
        assert (link.version(), link.selected_alpn_protocol()) == ("TLSv1.3", "h2")


def test_log_contains_no_query_no_token_and_no_full_address(edge):
    secret = "zyxsecret"
    paths = (f"/v1/vacancies/3?preview={secret}", f"/preview/{secret}", f"/account/reset/{secret}/{secret}")
    for client in ("203.0.113.77", "2001:db8:77:1:2:3:4:5"):
        for path in paths:
            edge.nginx.ask(path, X_Forwarded_For=client, X_Request_ID="the-very-one", Cookie=f"a={secret}",
                           Authorization=f"Bearer {secret}", Referer=f"https://a/{secret}")  # fmt: skip

    servers.until(lambda: sum(line["request_id"] == "the-very-one" for line in edge.nginx.lines) == 6)

    lines = [line for line in edge.nginx.lines if line["request_id"] == "the-very-one"]
    assert "zyx" not in json.dumps(lines)
    assert [line["path"] for line in lines[:3]] == ["/v1/vacancies/3", "/preview/...", "/account/reset/..."]
    assert {line["network"] for line in lines} == {"203.0.113.0", "2001:db8:77::"}
    assert {line["status"] for line in lines} == {200}
