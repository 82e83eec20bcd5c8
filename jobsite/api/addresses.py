"""Public addresses of this service, and the address of the client."""

import re
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from urllib.parse import urlsplit

from django.conf import settings
from django.http import HttpRequest
from django.http.request import split_domain_port


def absolute(request: HttpRequest, path: str) -> str:
    """Return `path` below PUBLIC_BASE_URL, else below the request's checked host. Return a URL unchanged."""
    if not path.startswith("/"):
        return path
    if settings.PUBLIC_BASE_URL:
        return settings.PUBLIC_BASE_URL + path
    return f"{request.scheme}://{request.get_host()}{path}"


def own(request: HttpRequest) -> str:
    """Return the base URL of this service for use outside the response: mails, and the origin of passkeys.

    It is PUBLIC_BASE_URL, else the host of the request, which ALLOWED_HOSTS has checked. Nothing checks the
    port that a client sends, so it is used in development only.
    """
    if settings.PUBLIC_BASE_URL:
        return settings.PUBLIC_BASE_URL
    host = request.get_host()
    return f"{request.scheme}://{host if settings.DEBUG else split_domain_port(host)[0]}"


def own_origin(request: HttpRequest) -> str:
    """Return the origin of `own` as browsers write it: lower case, without the default port."""
    url = urlsplit(own(request).lower())
    host, port = split_domain_port(url.netloc)
    is_default = port == {"http": "80", "https": "443"}.get(url.scheme, "")
    return f"{url.scheme}://{host}" + (f":{port}" if port and not is_default else "")


# 203.0.113.9, 203.0.113.9:4711, 2001:db8::1, [2001:db8::1], [2001:db8::1]:4711
_HOP = re.compile(r"\[?([0-9a-fA-F]*:[0-9a-fA-F:.]+?)(?:\](?::\d+)?)?|([0-9.]+)(?::\d+)?")
_cached = lru_cache(maxsize=4096)  # parsing an address is slow, and clients repeat


@lru_cache(maxsize=32)
def networks(cidrs: tuple[str, ...]) -> tuple[IPv4Network | IPv6Network, ...]:
    return tuple(ip_network(cidr.strip(), strict=False) for cidr in cidrs)


def _parsed(address: str) -> IPv4Address | IPv6Address | None:
    """Return the address, or None if it is invalid. ::ffff:203.0.113.9 is 203.0.113.9."""
    try:
        parsed = ip_address(address)
    except ValueError:
        return None
    return getattr(parsed, "ipv4_mapped", None) or parsed


@_cached
def _is_in(address: str, cidrs: tuple[str, ...]) -> bool:
    parsed = _parsed(address)
    return parsed is not None and any(parsed in network for network in networks(cidrs))


@_cached
def _named(hop: str) -> str:
    """Return the address in an entry of X-Forwarded-For, or "unknown" if it is invalid."""
    match = _HOP.fullmatch(hop.strip())
    return str((match and _parsed(match[1] or match[2])) or "unknown")


@_cached
def _holding(address: str) -> str:
    """Return the first address of the block that one customer has: a /64 of IPv6, or the address itself."""
    parsed = _parsed(address)
    if parsed is None or parsed.version == 4:
        return str(parsed or address)
    return str(IPv6Address(int(parsed) >> 64 << 64))


def client(request: HttpRequest) -> str:
    """Return the address of the client: the last one in X-Forwarded-For that is not in TRUSTED_PROXIES.

    The header is ignored unless a trusted proxy sent it. Ports are ignored. An entry that is no address is
    "unknown", which is in no network.
    """
    address = request.META.get("REMOTE_ADDR", "")
    forwarded = request.META.get("HTTP_X_FORWARDED_FOR")
    if forwarded is None or not settings.TRUSTED_PROXIES:
        return address
    hops, proxies = forwarded.split(","), tuple(settings.TRUSTED_PROXIES)
    while hops and _is_in(address, proxies):
        hop = hops.pop()
        address = _named(hop) if len(hop) < 64 else "unknown"
    return address


def counted(request: HttpRequest) -> str:
    """Return the key under which rate limits count the client: its address, or the first one of its /64."""
    return _holding(client(request))


def is_internal(request: HttpRequest) -> bool:
    """Whether the client is in one of INTERNAL_NETWORKS."""
    return _is_in(client(request), tuple(settings.INTERNAL_NETWORKS))
