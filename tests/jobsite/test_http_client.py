"""The HTTP client of imports: one origin, and public addresses unless others are allowed."""

import ipaddress
import socket
from contextlib import ExitStack, contextmanager
from itertools import product
from unittest.mock import Mock

import pytest
import urllib3

from jobsite.http_client import OriginClient, RequestRefusedError, is_public, reason
from tests.servers import stub_server

PRIVATE = (
    "127.0.0.1",
    "10.1.2.3",
    "172.16.0.1",
    "192.168.1.1",
    "169.254.169.254",
    "0.0.0.0",
    "100.64.0.1",
    "224.0.0.1",
    "::1",
    "::",
    "fe80::1",
    "fd00::1",
    "ff02::1",
    "::ffff:127.0.0.1",
    "::ffff:10.0.0.1",
    "64:ff9b::7f00:1",
    "2002:7f00:1::",
)


@contextmanager
def resolving(monkeypatch, *answers):
    """Resolve every name to the next of `answers`. Return the list of connected addresses."""
    remaining, connected = list(answers), []

    def resolve(host, port, **kwargs):
        address = remaining.pop(0)
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        return [(family, socket.SOCK_STREAM, 6, "", (address, port))]

    def connect(target, *args, **kwargs):
        connected.append(target[0])
        raise ConnectionRefusedError(111, "Connection refused")

    monkeypatch.setattr("jobsite.http_client.socket.getaddrinfo", resolve)
    monkeypatch.setattr("jobsite.http_client.create_connection", connect)
    yield connected


def test_host_with_a_private_address_is_refused(monkeypatch):
    for address in ("93.184.215.14", "2606:2800:21f:cb07::1", "64:ff9b::5db8:d70e"):
        assert is_public(address)
    notations = ("http://2130706433", "http://127.1", "http://jobs.localhost.example")
    for base, address in product(("http://jobs.example", *notations), PRIVATE):
        assert not is_public(address)
        with (
            resolving(monkeypatch, address) as connected,
            pytest.raises(RequestRefusedError) as refused,
        ):
            OriginClient(base, headers={}).get("/v1/vacancies")

        assert str(refused.value) == (
            f"{base[7:]} is at {address}, which is not a public address; pass --allow-address "
            f"{address} to allow it"
        )
        assert connected == []


@pytest.mark.slow("waits for connections")
def test_name_is_resolved_once_for_each_connection(monkeypatch):
    """A name that is public for the check and private for the connection (DNS rebinding) is not
    followed.
    """
    client, refused = (
        OriginClient("http://jobs.example", headers={}),
        pytest.raises(RequestRefusedError),
    )
    with resolving(monkeypatch, "93.184.215.14", "127.0.0.1") as connected, refused:
        client.get("/")

    assert connected == ["93.184.215.14"]

    allowed = [ipaddress.ip_network("10.0.0.0/8")]
    client = OriginClient("http://jobs.example", headers={}, allowed=allowed)
    unreachable = pytest.raises(urllib3.exceptions.MaxRetryError)
    with resolving(monkeypatch, *["10.1.2.3"] * 9) as connected, unreachable as failed:
        client.get("/")

    assert set(connected) == {"10.1.2.3"}
    assert reason(failed.value) == "it is not reachable (Connection refused)"

    unknown = Mock(side_effect=socket.gaierror(-2, "Name or service not known"))
    monkeypatch.setattr("jobsite.http_client.socket.getaddrinfo", unknown)
    with pytest.raises(urllib3.exceptions.HTTPError) as failed:
        OriginClient("http://nowhere.invalid", headers={}).get("/")

    assert reason(failed.value) == "its host name does not resolve"


def test_redirect_to_another_origin_is_refused_without_sending_the_token():
    with ExitStack() as servers:
        other, seen = servers.enter_context(stub_server({"/v1/vacancies": (200, {}, b"{}")}))
        away = (302, {"Location": f"{other}/v1/vacancies"}, b"")
        url, _ = servers.enter_context(stub_server({"/v1/vacancies": away}))
        client = OriginClient(url, headers={"Authorization": "Bearer secret"})
        with pytest.raises(RequestRefusedError) as refused:
            client.get("/v1/vacancies")

    assert seen == []
    assert str(refused.value) == (
        f"{url}/v1/vacancies redirects to another origin, {other}/v1/vacancies; pass the base URL "
        "of that origin to use it"
    )

    for location in ("//evil.example/x", "http://169.254.169.254/", "https://{host}/x", "ftp://x/"):
        refused = pytest.raises(RequestRefusedError, match="redirects to another origin")
        with stub_server({"/a": (307, {"Location": location}, b"")}) as (url, seen), refused:
            OriginClient(url, headers={}).get("/a")
        assert seen == ["/a"]


def test_redirect_inside_the_origin_is_followed_and_a_loop_is_refused():
    routes = {
        "/a?x=1": (302, {"Location": "b?y=2"}, b""),
        "/b?y=2": (200, {}, b"found"),
        "/loop": (301, {"Location": "/loop"}, b""),
    }
    with stub_server(routes) as (url, seen):
        client = OriginClient(url, headers={})
        assert client.get("/a?x=1").data == b"found"
        with pytest.raises(RequestRefusedError, match="redirects more than 3 times"):
            client.get("/loop")

    assert seen == ["/a?x=1", "/b?y=2", *["/loop"] * 4]
