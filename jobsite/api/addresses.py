"""Addresses of this service as the public sees them, and of the client that asks."""

import re
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from urllib.parse import urlsplit

from django.conf import settings
from django.http import HttpRequest
from django.http.request import split_domain_port


def absolute(request: HttpRequest, path: str) -> str:
    """Return `path` under PUBLIC_BASE_URL, else under the request's checked host; a URL as it is."""
    if not path.startswith("/"):
        return path
    if settings.PUBLIC_BASE_URL:
        return settings.PUBLIC_BASE_URL + path
    return f"{request.scheme}://{request.get_host()}{path}"


def own(request: HttpRequest) -> str:
    """Return the address of this service, for what leaves the request: mails, and the origin of passkeys.

    That is PUBLIC_BASE_URL, else the host of the request, which ALLOWED_HOSTS has checked. Nothing checks
    the port that a client puts behind it, so it counts in development only (decisions.md #103).
    """
    if settings.PUBLIC_BASE_URL:
        return settings.PUBLIC_BASE_URL
    host = request.get_host()
    return f"{request.scheme}://{host if settings.DEBUG else split_domain_port(host)[0]}"


def own_origin(request: HttpRequest) -> str:
    """Return the origin of `own` as browsers write it: in lower case, without the default port."""
    url = urlsplit(own(request).lower())
    host, port = split_domain_port(url.netloc)
    is_default = port == {"http": "80", "https": "443"}.get(url.scheme, "")
    return f"{url.scheme}://{host}" + (f":{port}" if port and not is_default else "")


# 203.0.113.9, 203.0.113.9:4711, 2001:db8::1, [2001:db8::1], [2001:db8::1]:4711
_HOP = re.compile(r"\[?([0-9a-fA-F]*:[0-9a-fA-F:.]+?)(?:\](?::\d+)?)?|([0-9.]+)(?::\d+)?")
_remembered = lru_cache(maxsize=4096)  # the same few ask again and again, and to read an address takes long


@lru_cache(maxsize=32)
def networks(cidrs: tuple[str, ...]) -> tuple[IPv4Network | IPv6Network, ...]:
    return tuple(ip_network(cidr.strip(), strict=False) for cidr in cidrs)


def _parsed(address: str) -> IPv4Address | IPv6Address | None:
    """The address, ::ffff:203.0.113.9 as the 203.0.113.9 that it is; None if it is none."""
    try:
        parsed = ip_address(address)
    except ValueError:
        return None
    return getattr(parsed, "ipv4_mapped", None) or parsed


@_remembered
def _is_in(address: str, cidrs: tuple[str, ...]) -> bool:
    parsed = _parsed(address)
    return parsed is not None and any(parsed in network for network in networks(cidrs))


@_remembered
def _named(hop: str) -> str:
    """The address that an entry of X-Forwarded-For names, "unknown" if none."""
    match = _HOP.fullmatch(hop.strip())
    return str((match and _parsed(match[1] or match[2])) or "unknown")


@_remembered
def _holding(address: str) -> str:
    """The first address of the block that who has `address` has all of: a /64 of IPv6, or the address."""
    parsed = _parsed(address)
    if parsed is None or parsed.version == 4:
        return str(parsed or address)
    return str(IPv6Address(int(parsed) >> 64 << 64))


def client(request: HttpRequest) -> str:
    """Return the address of the client: the nearest one in X-Forwarded-For that no TRUSTED_PROXIES
    network holds. A header sent by somebody else than a trusted proxy counts for nothing; an entry of a
    trusted one that is no address (after a port is cut off) is "unknown", and in no network."""
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
    """Return what limits count the client by: its address, of IPv6 the first one of its /64."""
    return _holding(client(request))


def is_internal(request: HttpRequest) -> bool:
    """Whether the client is in one of INTERNAL_NETWORKS."""
    return _is_in(client(request), tuple(settings.INTERNAL_NETWORKS))
