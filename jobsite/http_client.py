"""HTTP requests to one origin (`OriginClient`) and to receivers of webhooks (`post`). Redirects to
another origin and private addresses that the operator did not allow are refused (SSRF protection).
"""

import ipaddress
import logging
import re
import socket
import ssl
import threading
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from http.client import HTTPException
from time import monotonic
from typing import Any, NamedTuple
from urllib.parse import urljoin, urlsplit

import urllib3
from django.utils.translation import gettext_noop
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import ConnectTimeoutError, NameResolutionError, NewConnectionError
from urllib3.util import parse_url
from urllib3.util.connection import create_connection

# A failure is reported once; do not log a warning for each attempt.
logging.getLogger("urllib3.connectionpool").setLevel(logging.ERROR)

REDIRECTS_MAX = 3
CONNECT_SECONDS, READ_SECONDS = 5, 60
# Of `post`: each connection with its TLS handshake, the whole request, and what is read.
POST_CONNECT_SECONDS, POST_SECONDS, ANSWER_MAX = 3, 15, 65_536
ADDRESSES_MAX = 3  # of a receiver that are tried
NAT64 = ipaddress.ip_network("64:ff9b::/96")
UNICAST = ipaddress.ip_network("2000::/3")  # all that IANA gives out of IPv6

Network = ipaddress.IPv4Network | ipaddress.IPv6Network


class RequestRefusedError(Exception):
    """A request that was not made. The message states the reason."""


class NoAnswerError(Exception):
    """A request that got no answer. The message states the reason."""


class PostAnswer(NamedTuple):
    status: int
    headers: Mapping[str, str]
    body: bytes  # at most ANSWER_MAX; less if it did not end in time


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
        if ip not in UNICAST:  # such as ::7f00:1, a notation of 127.0.0.1
            return False
    return ip.is_global and not ip.is_multicast


class _Checked(HTTPConnection):
    """A connection to addresses that `check(host, address)` does not refuse: it raises
    RequestRefusedError.
    """

    addresses_max: int | None = None  # that are tried

    def __init__(self, *args: Any, check: Callable[[str, str], None], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.check = check

    def _new_conn(self) -> socket.socket:
        try:
            found = socket.getaddrinfo(self._dns_host, self.port, type=socket.SOCK_STREAM)
        except (socket.gaierror, UnicodeError) as error:
            raise NameResolutionError(self.host, self, error) from error  # type: ignore[arg-type]
        addresses = list(dict.fromkeys(str(info[4][0]) for info in found))
        for address in addresses:
            self.check(self.host, address)
        problem: OSError | None = None
        # The checked addresses: resolving again could give others (DNS rebinding).
        for address in addresses[: self.addresses_max]:
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


class _ToReceiver(_CheckedTls):
    addresses_max = ADDRESSES_MAX


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
            check=self._check,
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

    def _check(self, host: str, address: str) -> None:
        if not _is_allowed(address, self._allowed):
            where = f"{address}, which" if address == host else f"{host} is at {address}, which"
            raise RequestRefusedError(
                f"{where} is not a public address; pass --allow-address {address} to allow it"
            )


def post(
    url: str,
    body: bytes,
    headers: Mapping[str, str],
    *,
    networks: Collection[Network] = (),
    ports: Collection[int] = (),
) -> PostAnswer:
    """Send `body` to a receiver that a person chose, in one attempt, and return its answer. It can
    be at a public address or in one of `networks`, at port 443 or one of `ports`; redirects are not
    followed. Raises RequestRefusedError and NoAnswerError, which do not tell the address.
    """
    if text := why_refused(url, ports):
        raise RequestRefusedError(text)
    parts = parse_url(url)
    end = monotonic() + POST_SECONDS

    def check(host: str, address: str) -> None:
        if not _is_allowed(address, networks):
            raise RequestRefusedError(gettext_noop("Its host is not at a public address."))

    connection = _ToReceiver(
        str(parts.host).strip("[]"), parts.port or 443, timeout=POST_CONNECT_SECONDS, check=check
    )
    try:
        connection.connect()
        connection.timeout = POST_SECONDS
        with _ended_at(end, connection.sock):
            connection.request(
                "POST",
                parts.request_uri,
                body,
                headers,
                preload_content=False,
                decode_content=False,
            )
            response = connection.getresponse()
            if monotonic() >= end:  # the headers may be cut off
                raise TimeoutError
            return PostAnswer(response.status, response.headers, _start_of(response))
    except (urllib3.exceptions.HTTPError, HTTPException, OSError, ValueError) as error:
        raise NoAnswerError(_why_no_answer(error, is_late=monotonic() >= end)) from error
    finally:
        connection.close()


def why_refused(url: str, ports: Collection[int] = ()) -> str:
    """Return which rule keeps `post` from sending to `url`, "" if none does: the address of its
    host is not known yet.
    """
    try:
        parts = parse_url(url)
    except ValueError:
        parts = None
    if parts is None or not parts.host or not url.isprintable() or set(url) & {" ", "\\"}:
        return gettext_noop("This is not the address of a server.")
    if parts.scheme != "https":
        return gettext_noop("The address has to begin with https://.")
    if "@" in re.split("[/?#]", url.partition("//")[2])[0]:
        return gettext_noop("The address may not contain a user name or password.")
    if (443 if parts.port is None else parts.port) not in {443, *ports}:
        return gettext_noop("The port is not allowed (WEBHOOK_PORTS).")
    return ""


@contextmanager
def _ended_at(end: float, connected: socket.socket) -> Iterator[None]:
    """Shut the connection down at `end`. A timeout of the socket is too little: a receiver that
    sends a byte now and then would never reach it.
    """

    def shut_down() -> None:
        with suppress(OSError):  # it is closed
            socket.socket.shutdown(connected, socket.SHUT_RDWR)  # also if it is of TLS

    timer = threading.Timer(max(0.0, end - monotonic()), shut_down)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _start_of(response: urllib3.BaseHTTPResponse) -> bytes:
    """Return what comes of the body: the status is known, so a body without an end is no error."""
    body = b""
    with suppress(urllib3.exceptions.HTTPError, HTTPException, OSError, ValueError):
        while len(body) < ANSWER_MAX and (part := response.read1(ANSWER_MAX - len(body))):
            body += part
    return body


def _why_no_answer(error: Exception, *, is_late: bool) -> str:
    if is_late:
        return gettext_noop("There was no answer within 15 seconds.")
    texts = {
        NameResolutionError: gettext_noop("The name of its host is not known."),
        ssl.SSLCertVerificationError: gettext_noop("Its certificate is not valid."),
        ssl.SSLError: gettext_noop("There was no TLS connection."),
        TimeoutError: gettext_noop("There was no connection within 3 seconds."),
        ConnectTimeoutError: gettext_noop("There was no connection within 3 seconds."),
        NewConnectionError: gettext_noop("There was no connection."),
        Exception: gettext_noop("The connection ended before the answer."),
    }
    return next(text for kind, text in texts.items() if isinstance(error, kind))


def _is_allowed(address: str, networks: Collection[Network]) -> bool:
    ip = ipaddress.ip_address(address)
    return is_public(address) or any(ip in network for network in networks)


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
