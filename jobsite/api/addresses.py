"""Addresses of this service as the public sees them, and of the client that asks."""

import re
from functools import lru_cache
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network

from django.conf import settings
from django.http import HttpRequest


def absolute(request: HttpRequest, path: str) -> str:
    """Return `path` under PUBLIC_BASE_URL, else under the request's checked host; a URL as it is."""
    if not path.startswith("/"):
        return path
    if settings.PUBLIC_BASE_URL:
        return settings.PUBLIC_BASE_URL + path
    return f"{request.scheme}://{request.get_host()}{path}"


# 203.0.113.9, 203.0.113.9:4711, 2001:db8::1, [2001:db8::1], [2001:db8::1]:4711
_HOP = re.compile(r"\[?([0-9a-fA-F]*:[0-9a-fA-F:.]+?)(?:\](?::\d+)?)?|([0-9.]+)(?::\d+)?")


@lru_cache(maxsize=32)
def networks(cidrs: tuple[str, ...]) -> tuple[IPv4Network | IPv6Network, ...]:
    return tuple(ip_network(cidr.strip(), strict=False) for cidr in cidrs)


def _is_in(address: str, cidrs: list[str]) -> bool:
    try:
        parsed = ip_address(address)
    except ValueError:
        return False
    mapped = getattr(parsed, "ipv4_mapped", None)
    return any((mapped or parsed) in network for network in networks(tuple(cidrs)))


def client(request: HttpRequest) -> str:
    """Return the address of the client: the nearest one in X-Forwarded-For that no TRUSTED_PROXIES
    network holds. A header sent by somebody else than a trusted proxy counts for nothing; an entry of a
    trusted one that is no address (after a port is cut off) is "unknown", and in no network."""
    address = request.META.get("REMOTE_ADDR", "")
    forwarded = request.META.get("HTTP_X_FORWARDED_FOR")
    hops = forwarded.split(",") if forwarded is not None else []
    while hops and _is_in(address, settings.TRUSTED_PROXIES):
        match = _HOP.fullmatch(hops.pop().strip())
        try:
            address = str(ip_address(match[1] or match[2])) if match else "unknown"
        except ValueError:
            address = "unknown"
    return address


def is_internal(request: HttpRequest) -> bool:
    """Whether the client is in one of INTERNAL_NETWORKS."""
    return _is_in(client(request), settings.INTERNAL_NETWORKS)
