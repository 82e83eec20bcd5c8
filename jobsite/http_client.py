"""HTTP requests to one origin. Redirects to another origin and private addresses that the operator
did not allow are refused (SSRF protection).
"""

import ipaddress
import logging
import socket
from collections.abc import Callable, Collection
from typing import Any
from urllib.parse import urljoin, urlsplit

import urllib3
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import ConnectTimeoutError, NameResolutionError, NewConnectionError
from urllib3.util.connection import create_connection

# A failure is reported once; do not log a warning for each attempt.
logging.getLogger("urllib3.connectionpool").setLevel(logging.ERROR)

REDIRECTS_MAX = 3
CONNECT_SECONDS, READ_SECONDS = 5, 60
NAT64 = ipaddress.ip_network("64:ff9b::/96")

Network = ipaddress.IPv4Network | ipaddress.IPv6Network


class RequestRefusedError(Exception):
    """A request that was not made. The message states the reason."""


def is_public(address: str) -> bool:
    """Whether `address` is a public address, so that a request to it cannot reach a private
    network.
    """
    ip = ipaddress.ip_address(address)
    if isinstance(ip, ipaddress.IPv6Address):
        if ip in NAT64:
            return is_public(str(ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF)))
        if inner := ip.ipv4_mapped or ip.sixtofour:
            return is_public(str(inner))
    return ip.is_global and not ip.is_multicast


class _Checked(HTTPConnection):
    """A connection that is made to addresses that `is_allowed` only."""

    def __init__(self, *args: Any, is_allowed: Callable[[str], bool], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.is_allowed = is_allowed

    def _new_conn(self) -> socket.socket:
        try:
            found = socket.getaddrinfo(self._dns_host, self.port, type=socket.SOCK_STREAM)
        except (socket.gaierror, UnicodeError) as error:
            raise NameResolutionError(self.host, self, error) from error  # type: ignore[arg-type]
        addresses = list(dict.fromkeys(str(info[4][0]) for info in found))
        for address in addresses:
            if not self.is_allowed(address):
                where = (
                    f"{address}, which"
                    if address == self.host
                    else f"{self.host} is at {address}, which"
                )
                raise RequestRefusedError(
                    f"{where} is not a public address; pass --allow-address {address} to allow it"
                )
        problem: OSError | None = None
        # The checked addresses: resolving again could give others (DNS rebinding).
        for address in addresses:
            try:
                return create_connection(
                    (address, self.port),
                    self.timeout,
                    source_address=self.source_address,
                    socket_options=self.socket_options,
                )
            except OSError as error:
                problem = error
        if isinstance(problem, TimeoutError):
            raise ConnectTimeoutError(self, str(problem)) from problem
        raise NewConnectionError(self, str(problem)) from problem


class _CheckedTls(_Checked, HTTPSConnection):
    """The same for TLS."""


class OriginClient:
    """A client for GET requests to the origin of `base_url`. `allowed` are private networks to
    allow.

    An IP address in `base_url` itself is allowed, and so is localhost.
    """

    def __init__(
        self, base_url: str, *, headers: dict[str, str], allowed: Collection[Network] = ()
    ) -> None:
        parts = urlsplit(base_url)
        self.base_url = base_url
        self._allowed = {*allowed, *_allowed_networks(parts.hostname or "")}
        self._pool = urllib3.connection_from_url(
            base_url,
            headers=headers,
            retries=urllib3.Retry(
                total=5, connect=2, backoff_factor=0.2, status_forcelist=(429, 502, 503, 504)
            ),
            timeout=urllib3.Timeout(connect=CONNECT_SECONDS, read=READ_SECONDS),
            is_allowed=self._is_allowed,
        )
        self._pool.ConnectionCls = _CheckedTls if parts.scheme == "https" else _Checked

    def get(self, target: str) -> urllib3.BaseHTTPResponse:
        """Return the response to `target`, a path and query below the base URL.

        Raise RequestRefusedError, or urllib3's HTTPError if there is no response.
        """
        url = f"{self.base_url}{target}"
        for _ in range(REDIRECTS_MAX + 1):
            parts = urlsplit(url)
            response = self._pool.request(
                "GET",
                parts._replace(scheme="", netloc="", fragment="").geturl() or "/",
                redirect=False,
            )
            location = response.get_redirect_location()
            if not location:
                return response
            before, url = url, urljoin(url, location)
            if _origin(url) != _origin(before):
                raise RequestRefusedError(
                    f"{before} redirects to another origin, {url}; pass the base URL of that "
                    "origin to use it"
                )
        raise RequestRefusedError(
            f"{self.base_url}{target} redirects more than {REDIRECTS_MAX} times"
        )

    def _is_allowed(self, address: str) -> bool:
        ip = ipaddress.ip_address(address)
        return is_public(address) or any(ip in network for network in self._allowed)


def reason(error: Exception) -> str:
    """Return a short description of `error`, for an error message."""
    cause = getattr(error, "reason", None) or error
    if isinstance(cause, NameResolutionError):
        return "its host name does not resolve"
    if isinstance(cause, NewConnectionError):
        detail = cause.__cause__
        return f"it is not reachable ({getattr(detail, 'strerror', None) or detail})"
    if isinstance(cause, ConnectTimeoutError):
        return f"it is not reachable (no connection within {CONNECT_SECONDS} seconds)"
    if isinstance(cause, urllib3.exceptions.ReadTimeoutError):
        return f"it did not respond within {READ_SECONDS} seconds"
    if isinstance(cause, urllib3.exceptions.SSLError):
        return f"no TLS connection ({cause})"
    if isinstance(cause, urllib3.exceptions.ResponseError):
        return f"it does not respond ({cause})"
    return str(cause).splitlines()[0] if str(cause) else type(cause).__name__


def _allowed_networks(host: str) -> list[Network]:
    """Return the networks that `host` itself allows: its address, or loopback for localhost."""
    if host == "localhost" or host.endswith(".localhost"):
        return [ipaddress.ip_network("127.0.0.0/8"), ipaddress.ip_network("::1")]
    try:
        return [ipaddress.ip_network(host)]
    except ValueError:
        return []


def _origin(url: str) -> tuple[str, str | None, int | None]:
    try:
        parts = urlsplit(url)
        port = parts.port or {"http": 80, "https": 443}.get(parts.scheme)
    except ValueError:
        return "", None, None
    return parts.scheme, parts.hostname, port
