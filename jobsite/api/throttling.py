"""Rate limits (docs/decisions.md #25)."""

import math
import re
import time
from typing import Any

from django.conf import settings
from django.core.cache import cache
from django.core.exceptions import ImproperlyConfigured
from rest_framework.throttling import BaseThrottle

from jobsite.api import client_address

_SECONDS = {"s": 1, "sec": 1, "min": 60, "h": 3600, "hour": 3600}


def parse_rate(rate: str, name: str = "RATE_LIMIT") -> tuple[int, int] | None:
    """Return (requests, seconds) for a rate such as "600/min", None for "off".
    `name` is the setting.
    """
    if rate == "off":
        return None
    match = re.fullmatch(r"([1-9][0-9]*)/(s|sec|min|h|hour)", rate)
    if not match:
        raise ImproperlyConfigured(f'{name} must be "off" or like "600/min"; it is {rate!r}.')
    return int(match[1]), _SECONDS[match[2]]


class RateLimit(BaseThrottle):
    """RATE_LIMIT requests per client and window, counted in the default cache.

    The count is one atomic increment, so it is correct for all workers that share the cache.
    Another `rate` has its own count. With RATE_LIMIT off, requests are not counted.
    """

    def __init__(self, rate: str = "") -> None:
        self._rate = rate

    def allow_request(self, request: Any, view: object = None) -> bool:
        return self.allow_client(request)

    def allow_client(self, request: Any, of: str = "") -> bool:
        """Count one request of the client, `of` a kind such as "feed". Return whether it is within
        the rate.
        """
        if settings.RATE_LIMIT == "off":
            return True
        client = client_address.rate_limit_key(request)
        return self.allow(f"{client}:{of}" if of else client)

    def allow(self, counted: str) -> bool:
        """Count one request of `counted`, an address or an account.
        Return whether it is within the rate.
        """
        if (rate := parse_rate(self._rate or settings.RATE_LIMIT)) is None:
            return True
        limit, seconds = rate
        now = time.time()
        window = int(now // seconds)
        self._wait = math.ceil((window + 1) * seconds - now)
        key = f"rate{self._rate}:{window}:{counted}"
        if cache.add(key, 1, timeout=seconds):
            return True
        try:
            return cache.incr(key) <= limit
        except ValueError:  # the window ended between the two calls
            return True

    def wait(self) -> float:
        return self._wait
