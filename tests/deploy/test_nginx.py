"""deploy/nginx.conf: invalid requests, headers, rate limits, failing nodes, private paths, TLS and
the log.

`site` is the real service; `edge` has stub nodes.
"""

import json
import socket
import ssl
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest

from tests import servers
from tests.deploy.conftest import (
    HOST,
    LIMIT,
    Nginx,
    is_problem,
    new_address,
    raw_request,
    read_response,
)

pytestmark = pytest.mark.slow("starts nginx")


@pytest.mark.smoke
def test_nginx_accepts_the_configuration(edge):
    done = subprocess.run([*edge.nginx.command, "-t"], capture_output=True, text=True, timeout=60)

    assert done.returncode == 0, done.stderr
    assert "warn" not in done.stderr


# --- Invalid requests -----------------------------------------------------------------------------


OF_HOST = f"Host: {HOST}"
INVALID = [
    ("/vacancies/%00", (), "GET", 400),
    ("/vacancies/%zz", (), "GET", 400),
    ("/../../etc/passwd", (), "GET", 400),
    ("/vacancies", ("Host: a b",), "GET", 400),
    ("/vacancies", ("Host: evil.example",), "GET", 400),
    ("/vacancies", ("X: no host",), "GET", 400),
    ("/vacancies", (OF_HOST, OF_HOST), "GET", 400),
    ("/vacancies", (OF_HOST, "Content-Length: 1", "Content-Length: 2"), "GET", 400),
    ("/vacancies", (OF_HOST, "Content-Length: 1", "Transfer-Encoding: chunked"), "GET", 400),
    ("/vacancies", (OF_HOST, "Transfer-Encoding: zyx"), "GET", 501),
    *((path, (), "GET", 404) for path in ("/vacancies/nothing/here", "/vacancies/", "", "/")),
    *(("/vacancies", (), method, 405) for method in ("DELETE", "TRACE", "CONNECT", "PROPFIND")),
    *(("/vacancies", (), method, 400) for method in ("get", "G<T")),
    *(
        ("/vacancies", (OF_HOST, "Content-Length: 70000"), method, 413)
        for method in ("POST", "GET")
    ),
    *((path + "x" * 9000, (), "GET", 414) for path in ("/", "/vacancies?")),
    ("/vacancies", (OF_HOST, "X: " + "x" * 9000), "GET", 431),
    ("/vacancies", (OF_HOST, *["X: " + "x" * 8000] * 9), "GET", 431),
    ("/vacancies", (OF_HOST, *["X: x"] * 200), "GET", 431),
]


@pytest.mark.parametrize("prefix", ["/v1", "/v0.1"])
@pytest.mark.parametrize(("target", "lines", "method", "status"), INVALID)
def test_invalid_request_to_the_api_returns_a_problem_document(
    site, prefix, target, lines, method, status
):
    response = site.nginx.send_raw(raw_request(prefix + target, *lines, method=method))

    assert is_problem(response, status)
    if status == 413:  # of nginx itself; scripts of any site may read the error
        assert response.headers["Access-Control-Allow-Origin"] == "*"
    if status == 405:
        assert response.headers["Allow"] == "GET, HEAD, OPTIONS"


def test_malformed_request_line_is_a_400(site):
    for request in (b"NONSENSE\r\n\r\n", b"GET\r\n\r\n", b"\x16\x03\x01\x02\x00\r\n\r\n"):
        assert is_problem(site.nginx.send_raw(request), 400)


def test_instance_of_a_problem_is_the_path(site):
    for target, instance in (
        ("/v1/vacancies/7/form?a=b", "/v1/vacancies/7/form"),
        ('/v1/a"b\\c?d', "/v1/a"),
        ("/v1/%22", "/v1/%22"),
    ):
        request = raw_request(target, OF_HOST, "Content-Length: 70000", method="POST")
        assert site.nginx.send_raw(request).json["instance"] == instance


def test_request_body_size_is_limited(site, edge):
    small, large = b"{" + b" " * 60_000, b"{" + b" " * 70_000
    chunked = b"".join(b"ffff\r\n" + b" " * 0xFFFF + b"\r\n" for _ in range(2)) + b"0\r\n\r\n"
    chunks = raw_request(
        "/v1/auth/token", OF_HOST, "Transfer-Encoding: chunked", method="POST", body=chunked
    )

    accepted = site.nginx.request("/v1/auth/token", "POST", small, Content_Type="application/json")

    assert "errors" in accepted.json or accepted.status == 400
    assert is_problem(site.nginx.request("/v1/auth/token", "POST", large), 413)
    assert is_problem(site.nginx.send_raw(chunks), 413)
    assert site.nginx.request("/account/login", "POST", large).status == 413
    assert edge.nginx.request("/admin/vacancies/vacancy/add/", "POST", large).status == 200


def test_applications_have_a_larger_body(edge):
    megabyte = b" " * (1 << 20)
    problem = "application/problem+json"
    for path, kind in (("/v1/vacancies/1/applications", problem), ("/apply/1", "text/html")):
        assert edge.nginx.request(path, "POST", 25 * megabyte).status == 200
        refused = edge.nginx.request(path, "POST", 27 * megabyte)
        assert (refused.status, refused.headers["Content-Type"]) == (413, kind)
    others = (
        "/v1/vacancies/1/form",
        "/v1/vacancies/1/applications/2",
        "/v1/user/applications",
        "/apply",
    )
    assert [edge.nginx.request(path, "POST", b" " * 70_000).status for path in others] == [413] * 4


def test_page_errors_are_html(site):
    response = site.nginx.send_raw(
        raw_request("/docs", OF_HOST, "Content-Length: 70000", method="POST")
    )

    assert (response.status, response.headers["Content-Type"]) == (413, "text/html")
    assert b"<h1>Content Too Large</h1>" in response.body


# --- Headers and redirects ------------------------------------------------------------------------


@pytest.mark.parametrize("host", [HOST, "evil.example", f"{HOST}:1337", "evil.example:443"])
@pytest.mark.parametrize("target", ["{}", "http://evil.example{}"])
def test_redirects_ignore_the_host_of_the_request(edge, host, target):
    nginx = edge.nginx
    (nginx.folder / "static/admin").mkdir(parents=True, exist_ok=True)

    def location(path, port):
        request = raw_request(target.format(path), f"Host: {host}")
        with nginx.connect(port=port) as link:
            link.sendall(request)
            response = read_response(link)
        assert b"evil" not in response.body
        return response.status, response.headers["Location"]

    # nginx adds a missing slash to the path of a directory.
    assert location("/admin", nginx.port) == (301, "/admin/")
    assert location("/static/admin", nginx.port) == (301, "/static/admin/")
    assert location("//static//admin", nginx.port) == (301, "/static/admin/")
    (nginx.acme / "folder").mkdir(parents=True, exist_ok=True)
    acme = "/.well-known/acme-challenge/folder"
    assert location(acme, nginx.plain_port) == (301, f"{acme}/")
    assert location("/v1/vacancies?a=b", nginx.plain_port) == (
        308,
        f"https://{HOST}/v1/vacancies?a=b",
    )
    assert location("//evil.invalid/", nginx.plain_port) == (308, f"https://{HOST}//evil.invalid/")


def test_nginx_sets_the_forwarding_headers(edge):
    forged = dict.fromkeys(("X_Forwarded_Host", "X_Forwarded_Proto", "Forwarded"), "evil.example")
    underscored = raw_request("/up", OF_HOST, "X_Forwarded_For: 6.6.6.6", "REMOTE_USER: root")

    client = "6.6.6.6, 203.0.113.9"
    received = edge.nginx.request("/up", Host=f"{HOST}:1337", X_Forwarded_For=client, **forged).json
    dropped = edge.nginx.send_raw(underscored, "127.0.0.1").json

    assert received["host"] == HOST
    assert (received["x-forwarded-for"], received["x-forwarded-proto"]) == ("203.0.113.9", "https")
    assert "evil.example" not in received.values()
    assert dropped["x-forwarded-for"] == "127.0.0.1"
    assert not {"x_forwarded_for", "remote_user"} & dropped.keys()


def test_request_id_is_validated_and_passed_to_the_node(edge):
    for node in edge.nodes:
        node.response_headers["/id"] = {"X-Request-ID": "of-the-node"}

    for sent, is_accepted in (
        ("4711-abc_DEF", True),
        ('a"b', False),
        ("short", False),
        ("x" * 65, False),
    ):
        response = edge.nginx.request("/id", X_Request_ID=sent)
        (request_id,) = response.headers.get_all("X-Request-ID")
        assert response.json["x-request-id"] == request_id
        assert (request_id == sent) is is_accepted


# --- Rate limits ----------------------------------------------------------------------------------


def test_rate_limit_ignores_forged_addresses_and_spans_workers(site):
    """One client sends 1,000 requests, each with a different X-Forwarded-For."""

    def send_all(numbers):
        with site.nginx.connect(address) as link:
            for n in numbers:
                forged = {
                    "X_Forwarded_For": (other := f"198.51.{n // 250}.{n % 250}"),
                    "X_Real_IP": other,
                }
                yield site.nginx.request(f"/v1/filters?{n}", link=link, **forged)

    for _ in range(2):  # repeat if the hour ended in between
        hour, address = time.time() // 3600, new_address()
        with ThreadPoolExecutor(8) as pool:
            chunks = pool.map(lambda n: list(send_all(range(n, 1000, 8))), range(8))
            responses = [response for chunk in chunks for response in chunk]
        if time.time() // 3600 == hour:
            break

    refused = [response for response in responses if response.status != 200]
    assert (len(responses), len(responses) - len(refused)) == (1000, LIMIT)
    assert all(is_problem(each, 429) and int(each.headers["Retry-After"]) >= 1 for each in refused)
    by_nginx = "Too many requests. Retry-After says"
    by_django = [
        response for response in refused if not response.json["detail"].startswith(by_nginx)
    ]
    assert len(by_django) >= 200 - LIMIT
    others = site.nginx.request("/v1/vacancies?fields=id", Host=f"{HOST}:1337")
    # Without the port.
    assert others.json["links"]["first"].startswith(f"https://{HOST}/v1/vacancies?")


def test_ipv6_clients_are_limited_per_64_bit_prefix(edge):
    def request(client):
        return edge.nginx.request("/v1/up", X_Forwarded_For=client)

    with ThreadPoolExecutor(8) as pool:
        responses = list(pool.map(request, [f"2001:db8:0:1:{n:x}::{n:x}" for n in range(230)]))

    refused = [response for response in responses if response.status == 429]
    assert 25 <= len(refused) <= 29  # a burst of 1 + 200, and one more a minute
    assert {response.json["instance"] for response in refused} == {"/v1/up"}
    assert all(
        is_problem(response, 429) and response.headers["Retry-After"] == "1" for response in refused
    )
    clients = ("2001:db8:0:1::", "2001:db8:0:2::1", "2001:db8:1:1::1")
    assert [request(client).status for client in clients] == [429, 200, 200]


def test_slow_clients_do_not_block_others_and_time_out(site):
    slow = [site.nginx.connect() for _ in range(100)]
    try:
        for link in slow:
            link.sendall(b"GET /v1/filters HTTP/1.1\r\nHost: ")
        for n in range(20):
            assert site.nginx.request(f"/v1/filters?slow={n}").status == 200
        for link in slow:
            link.settimeout(servers.TIMEOUT)
            with suppress(ConnectionError, ssl.SSLError):
                assert link.recv(1000) == b""
    finally:
        for link in slow:
            link.close()


# --- Failing nodes --------------------------------------------------------------------------------


@pytest.fixture
def fail_nodes(edge):
    """Return a function that makes `count` nodes close connections without a response."""

    def fail_nodes(count):
        for node in edge.nodes[:count]:
            node.drops_connections.set()

    yield fail_nodes
    for node in edge.nodes:
        node.drops_connections.clear()
        node.requests["/back"] = 0
    # nginx tries a failed node again after a second
    servers.until(
        lambda: edge.nginx.request("/back") and all(node.requests["/back"] for node in edge.nodes)
    )


def test_failed_get_is_retried_on_another_node_but_post_is_not(edge, fail_nodes):
    fail_nodes(1)
    assert [edge.nginx.request(f"/get/{n}").status for n in range(8)] == [200] * 8

    fail_nodes(2)
    assert [edge.nginx.request(f"/post/{n}", "POST", b"x").status for n in range(4)] == [502] * 4
    assert max(sum(node.requests[f"/post/{n}"] for node in edge.nodes) for n in range(4)) == 1


def test_error_without_a_working_node_has_retry_after(edge, fail_nodes):
    fail_nodes(2)

    for path in ("/v1/vacancies", "/v1/user/applications", "/v0.1/vacancies"):
        for response in [edge.nginx.request(path) for _ in range(3)]:
            assert is_problem(response, 502)
            assert response.headers["Retry-After"] == "2"
    page = edge.nginx.request("/docs")
    assert (page.status, page.headers["Content-Type"], page.headers["Retry-After"]) == (
        502,
        "text/html",
        "2",
    )


def test_error_log_has_no_personal_link(edge, fail_nodes):
    fail_nodes(2)
    pages = ("reset/MQ", "receipt", "invitation", "calendar")
    links = ("/preview/", *(f"/account/{page}/" for page in pages), "/apply/thanks/", "/nl/alerts/")
    assert [edge.nginx.request(f"{link}zyxsecret").status for link in links] == [502] * len(links)
    assert edge.nginx.request("/after").status == 502
    log = edge.nginx.conf.with_name("error.log")
    servers.until(lambda: "/after" in log.read_text())
    assert "zyxsecret" not in log.read_text()


@pytest.fixture
def unresponsive():
    """A node that accepts connections and sends no response."""
    with socket.create_server(("127.0.0.1", servers.free_port())) as node:
        node.settimeout(servers.TIMEOUT)
        yield node


def test_unresponsive_node_is_a_504(unresponsive, tmp_path):
    changes = {"proxy_read_timeout 60s;": "proxy_read_timeout 1s;"}
    with Nginx(tmp_path / "nginx", unresponsive.getsockname()[1], changes) as nginx:
        response = nginx.request("/v1/vacancies")

    assert is_problem(response, 504)
    assert response.headers["Retry-After"] == "2"


def test_concurrent_requests_of_a_client_are_limited(unresponsive, tmp_path):
    changes, address = {"limit_conn connections 100;": "limit_conn connections 2;"}, new_address()
    with (
        Nginx(tmp_path / "nginx", unresponsive.getsockname()[1], changes) as nginx,
        nginx.connect(address) as one,
        nginx.connect(address) as two,
    ):
        for link in (one, two):
            link.sendall(raw_request("/v1/vacancies?so-many"))
        accepted = [unresponsive.accept()[0] for _ in range(2)]
        response = nginx.request("/v1/filters", address=address)
        for link in accepted:
            link.close()

    assert is_problem(response, 429)
    assert response.headers["Retry-After"] == "1"


# --- Private paths --------------------------------------------------------------------------------


def test_metrics_are_not_public(edge):
    for path in ("/metrics", "/metrics/", "//metrics", "/%6detrics", "/x/../metrics", "/metrics?x"):
        for client in ("203.0.113.9", "127.0.0.1"):
            assert edge.nginx.request(path, X_Forwarded_For=client).status == 404, path


def test_readiness_is_private_and_liveness_is_public(edge):
    statuses = {
        client: [
            edge.nginx.request(path, X_Forwarded_For=client).status
            for path in ("/readyz", "/healthz")
        ]
        for client in ("203.0.113.9", "2001:db8::1", "10.1.2.3", "127.0.0.1", "fd00::1")
    }

    assert list(statuses.values()) == [[403, 200]] * 2 + [[200, 200]] * 3


# --- TLS and the access log -----------------------------------------------------------------------


def test_tls_1_3_and_http_2(site):
    with site.nginx.connect(protocols=("h2", "http/1.1")) as link:
        assert (link.version(), link.selected_alpn_protocol()) == ("TLSv1.3", "h2")


def test_access_log_has_no_query_token_or_full_address(edge):
    secret = "zyxsecret"
    paths = (
        f"/account/reset/{secret}/{secret}",
        f"/account/receipt/{secret}/withdraw",
        f"/apply/thanks/{secret}",
        f"/alerts/confirm/{secret}",
        f"/nl/alerts/{secret}/unsubscribe",
    )
    paths = (f"/v1/vacancies/3?preview={secret}", f"/preview/{secret}", *paths)
    for client in ("203.0.113.77", "2001:db8:77:1:2:3:4:5"):
        for path in paths:
            edge.nginx.request(
                path,
                X_Forwarded_For=client,
                X_Request_ID="logged-request",
                Cookie=f"a={secret}",
                Authorization=f"Bearer {secret}",
                Referer=f"https://a/{secret}",
            )

    servers.until(
        lambda: sum(line["request_id"] == "logged-request" for line in edge.nginx.lines) == 14
    )

    lines = [line for line in edge.nginx.lines if line["request_id"] == "logged-request"]
    assert "zyx" not in json.dumps(lines)
    logged = [
        "/v1/vacancies/3",
        "/preview/...",
        "/account/reset/...",
        "/account/receipt/...",
        "/apply/thanks/...",
        "/alerts/...",
        "/nl/alerts/...",
    ]
    assert [line["path"] for line in lines[:7]] == logged
    assert {line["network"] for line in lines} == {"203.0.113.0", "2001:db8:77::"}
    assert {line["status"] for line in lines} == {200}
