"""Requests to receivers of webhooks: none reaches an address inside, none takes long."""

import ipaddress
import json
import socket
from unittest.mock import Mock

import pytest

from jobsite import http_client
from jobsite.http_client import NoAnswerError, RequestRefusedError, post, why_refused
from tests.servers import Receiver

LOOPBACK = [ipaddress.ip_network("127.0.0.0/8")]
NOT_PUBLIC = "Its host is not at a public address."
# Notations of addresses. The system reads them: getaddrinfo is the real one.
LITERALS = """
127.0.0.1 127.1 127.0.1 0177.0.0.1 0177.1 017700000001 2130706433 0x7f000001 0x7f.0.0.1 0x7f.1
0 0.0.0.0 00.0 10.0.0.1 012.0.0.1 167772161 172.16.0.1 192.168.0.1 0xc0.0xa8.0.1 3232235521
169.254.169.254 0xa9fea9fe 2852039166 0251.0376.0251.0376 100.64.0.1 198.18.0.1 224.0.0.1
255.255.255.255 240.0.0.1 [::1] [::] [::ffff:127.0.0.1] [::ffff:7f00:1] [::ffff:a9fe:a9fe]
[::127.0.0.1] [::ffff:0:127.0.0.1] [64:ff9b::7f00:1] [64:ff9b::10.0.0.1] [64:ff9b:1::7f00:1]
[2002:7f00:1::] [2002:a00:1::1] [2001:0:1::1] [fe80::1] [fec0::1] [fd00::1] [fc00::1] [ff02::1]
"""
# What a name resolves to, and the rest of an address that is not for us.
RESOLVED = ("127.0.0.1", "10.0.0.5", "::1", "169.254.169.254", "fd12::1", "::ffff:10.0.0.1")
WRONG = {
    "http://hooks.test/": "The address has to begin with https://.",
    "//hooks.test/": "The address has to begin with https://.",
    "file:///etc/passwd": "This is not the address of a server.",
    "gopher://hooks.test/": "The address has to begin with https://.",
    "https://user@hooks.test/": "The address may not contain a user name or password.",
    "https://a:b@hooks.test/": "The address may not contain a user name or password.",
    "https://@hooks.test/": "The address may not contain a user name or password.",
    "https://hooks.test@127.0.0.1/": "The address may not contain a user name or password.",
    "https://hooks.test\\@127.0.0.1/": "This is not the address of a server.",
    "https://hooks.test/a b": "This is not the address of a server.",
    "https://hooks.test/\r\nX-Injected: 1": "This is not the address of a server.",
    "https://hooks.test:22/": "The port is not allowed (WEBHOOK_PORTS).",
    "https://hooks.test:0/": "The port is not allowed (WEBHOOK_PORTS).",
    "https://hooks.test:8443/": "The port is not allowed (WEBHOOK_PORTS).",
    "https://hooks.test:99999/": "This is not the address of a server.",
    "https://[::1/": "This is not the address of a server.",
    "https:///path": "This is not the address of a server.",
    "": "This is not the address of a server.",
}


@pytest.fixture
def connected(monkeypatch):
    """The addresses that `post` would connect to."""
    found = []

    def connect(target, *args, **kwargs):
        found.append(target[0])
        raise ConnectionRefusedError(111, "Connection refused")

    monkeypatch.setattr(http_client, "create_connection", connect)
    return found


def resolve_to(monkeypatch, *answers):
    """Let each look-up of a name return the next one of `answers`, lists of addresses."""
    remaining = list(answers)

    def resolve(host, port, **kwargs):
        return [
            (
                socket.AF_INET6 if ":" in ip else socket.AF_INET,
                socket.SOCK_STREAM,
                6,
                "",
                (ip, port),
            )
            for ip in remaining.pop(0)
        ]

    monkeypatch.setattr(http_client.socket, "getaddrinfo", resolve)


def test_addresses_inside_are_not_connected_to(connected, monkeypatch):
    reasons = {}
    for host in LITERALS.split():
        with pytest.raises((RequestRefusedError, NoAnswerError)) as refused:
            post(f"https://{host}/hook", b"{}", {})
        reasons[host] = str(refused.value)
    assert {host: text for host, text in reasons.items() if text != NOT_PUBLIC} == {}

    for answers in ([ip] for ip in RESOLVED):
        resolve_to(monkeypatch, answers)
        with pytest.raises(RequestRefusedError, match=NOT_PUBLIC):
            post("https://hooks.test/", b"{}", {})
    resolve_to(monkeypatch, ["93.184.215.14", "10.0.0.1"])  # one of them is inside
    with pytest.raises(RequestRefusedError, match=NOT_PUBLIC):
        post("https://hooks.test/", b"{}", {})
    for url, text in WRONG.items():
        with pytest.raises(RequestRefusedError) as refused:
            post(url, b"{}", {})
        assert (url, str(refused.value)) == (url, text)
    assert connected == []
    assert len(LITERALS.split()) + len(RESOLVED) + len(WRONG) + 1 >= 60


def test_each_request_connects_to_the_addresses_that_it_checked(connected, monkeypatch):
    """A name that is public at first and private for the connection (DNS rebinding)."""
    resolve_to(monkeypatch, ["93.184.215.14"], ["127.0.0.1"], [f"93.184.215.{n}" for n in range(9)])
    with pytest.raises(NoAnswerError, match="There was no connection"):
        post("https://hooks.test/", b"{}", {})
    with pytest.raises(RequestRefusedError, match=NOT_PUBLIC):
        post("https://hooks.test/", b"{}", {})
    with pytest.raises(NoAnswerError):  # of many addresses, three are tried
        post("https://hooks.test/", b"{}", {})
    assert connected == ["93.184.215.14", *(f"93.184.215.{n}" for n in range(3))]

    monkeypatch.setattr(http_client.socket, "getaddrinfo", Mock(side_effect=socket.gaierror(-2)))
    with pytest.raises(NoAnswerError, match="The name of its host is not known"):
        post("https://hooks.test/", b"{}", {})


def test_ports_of_the_operator_are_allowed():
    assert why_refused("https://hooks.test/a?b=c") == why_refused("https://hooks.test:443/") == ""
    assert why_refused("https://hooks.test:8443/", [8443]) == ""
    assert why_refused("https://hooks.test:22/", [8443]) != ""


@pytest.fixture(scope="module")
def receiver(tmp_path_factory):
    with Receiver(tmp_path_factory.mktemp("receiver") / "tls") as server:
        yield server


@pytest.mark.slow("starts a receiver and waits for its answers")
def test_receivers_that_misbehave_end_the_request(receiver, monkeypatch):
    monkeypatch.setattr(http_client, "POST_SECONDS", 1.5)

    def sent(path, url=receiver.url):
        try:
            answer = post(
                url(path), b'{"a":1}', {"X-A": "b"}, networks=LOOPBACK, ports=[receiver.port]
            )
        except NoAnswerError as error:
            return str(error)
        return answer.status, len(answer.body)

    assert sent("/untrusted") == "Its certificate is not valid."
    monkeypatch.setenv("SSL_CERT_FILE", str(receiver.certificate))
    by_number = f"https://127.0.0.1:{receiver.port}"
    assert sent("/another-name", by_number.__add__) == "Its certificate is not valid."
    assert receiver.received() == []

    assert {
        path: sent(path)
        for path in ("/ok?", "/500", "/302", "/reset", "/silent", "/slow-headers", "/endless")
    } == {
        "/ok?": (200, 24),
        "/500": (500, 3),
        "/302": (302, 3),
        "/reset": "The connection ended before the answer.",
        "/silent": "There was no answer within 15 seconds.",
        "/slow-headers": "There was no answer within 15 seconds.",
        "/endless": (200, 65_536),
    }
    status, size = sent("/slow-body")  # the status came in time
    assert status == 200
    assert 0 < size < 100
    post(receiver.url("/build"), b"", {}, networks=LOOPBACK, ports=[receiver.port])
    first, *others = receiver.received()
    assert others[-1].headers["content-length"] == "0"
    assert "/redirected" not in {each.path for each in others}
    assert json.loads(first.body) == {"a": 1}
    assert first.headers == {
        "host": f"localhost:{receiver.port}",
        "accept-encoding": "identity",
        "content-length": "7",
        "user-agent": first.headers["user-agent"],
        "x-a": "b",
    }


@pytest.mark.slow("starts a receiver")
def test_receiver_inside_needs_the_permission_of_the_operator(receiver, monkeypatch):
    monkeypatch.setenv("SSL_CERT_FILE", str(receiver.certificate))
    before = len(receiver.received())
    with pytest.raises(RequestRefusedError, match=NOT_PUBLIC):
        post(receiver.url("/ok"), b"", {}, ports=[receiver.port])
    with pytest.raises(RequestRefusedError, match="WEBHOOK_PORTS"):
        post(receiver.url("/ok"), b"", {}, networks=LOOPBACK)
    assert len(receiver.received()) == before

    def no_tls(*args, **kwargs):
        raise TimeoutError

    monkeypatch.setattr(http_client._ToReceiver, "_new_conn", no_tls)
    with pytest.raises(NoAnswerError, match="There was no connection within 3 seconds"):
        post(receiver.url("/ok"), b"", {}, networks=LOOPBACK, ports=[receiver.port])
