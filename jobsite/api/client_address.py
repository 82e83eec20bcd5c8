"""The address of the client, as it comes through trusted proxies."""

import re
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

from django.conf import settings
from django.http import HttpRequest

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
    """Return the first address of the block that one customer has:
    a /64 of IPv6, or the address itself.
    """
    parsed = _parsed(address)
    if parsed is None or parsed.version == 4:
        return str(parsed or address)
    return str(IPv6Address(int(parsed) >> 64 << 64))


def client(request: HttpRequest) -> str:
    """Return the address of the client: the last one in X-Forwarded-For that is not in
    TRUSTED_PROXIES.

    The header is ignored unless a trusted proxy sent it. Ports are ignored. An entry that is not an
    address is "unknown", which is in no network.
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


def rate_limit_key(request: HttpRequest) -> str:
    """Return the key under which rate limits count the client:
    its address, or the first one of its /64.
    """
    return _holding(client(request))


def is_internal(request: HttpRequest) -> bool:
    """Whether the client is in one of INTERNAL_NETWORKS."""
    return _is_in(client(request), tuple(settings.INTERNAL_NETWORKS))
