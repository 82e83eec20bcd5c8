"""Redis cache with in-process fallback: an unavailable server makes requests slower, never fail."""

import json
import logging
import threading
from collections.abc import Callable, Iterable
from time import monotonic
from typing import Any

from django.core.cache.backends import redis as django_redis
from django.core.cache.backends.locmem import LocMemCache
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError, RedisError
from redis.retry import Retry

TIMEOUT = 0.1  # seconds, for a connection and for a reply
RETRY_AFTER = 2.0  # seconds without requests to a server that failed

logger = logging.getLogger(__name__)


class _Server:
    """The availability of a server, shared by all threads of the process (a circuit breaker)."""

    def __init__(self) -> None:
        self.off_until = 0.0
        self._lock = threading.Lock()

    def may_try(self) -> bool:
        """Whether to send a request now. After RETRY_AFTER, one thread tries and the others do not."""
        if not self.off_until:
            return True
        with self._lock:
            if monotonic() < self.off_until:
                return False
            self.off_until = monotonic() + RETRY_AFTER
            return True

    def succeeded(self) -> bool:
        """Record a success. Return whether the server was unavailable before."""
        if not self.off_until:
            return False
        with self._lock:
            was_off, self.off_until = self.off_until, 0.0
        return bool(was_off)

    def failed(self) -> bool:
        """Record a failure. Return whether the server was available before."""
        with self._lock:
            was_off, self.off_until = self.off_until, monotonic() + RETRY_AFTER
        return not was_off


_servers: dict[str, _Server] = {}


def _with_fallback(name: str) -> Callable[..., Any]:
    """The cache operation `name`, on the server or, while it is unavailable, on the in-process cache."""

    def operation(self: "RedisCache", *args: Any, **kwargs: Any) -> Any:
        if self.server.may_try():
            try:
                result = getattr(django_redis.RedisCache, name)(self, *args, **kwargs)
            except (RedisError, OSError) as error:
                if self.server.failed():
                    self.fallback.clear()  # values from an earlier outage are outdated
                    logger.warning("The cache server is unavailable: %s", type(error).__name__)
            else:
                if self.server.succeeded():
                    logger.warning("The cache server is available again")
                return result
        return getattr(self.fallback, name)(*args, **kwargs)

    operation.__name__ = name
    return operation


class JsonSerializer:
    """Values as JSON text. An integer is stored as digits, which Redis can increment.

    Django's own serializer unpickles values: anybody who can write to the server could run code in every
    process that reads from it.
    """

    def dumps(self, value: Any) -> bytes:
        """Return `value` as JSON. Raises TypeError if JSON cannot express it."""
        return json.dumps(value).encode()

    def loads(self, data: bytes) -> Any:
        """Return the value. Raises ValueError if `data` is not JSON."""
        try:
            return json.loads(data)
        except RecursionError:
            raise ValueError("the JSON is nested too deeply") from None


class RedisClient(django_redis.RedisCacheClient):
    """Treats a value that it cannot read or write as absent, like an evicted one."""

    def get(self, key: str, default: Any) -> Any:
        try:
            return super().get(key, default)
        except ValueError:  # not written by JsonSerializer
            return default

    def get_many(self, keys: Iterable[str]) -> dict[str, Any]:
        absent = object()
        found = ((key, self.get(key, absent)) for key in keys)
        return {key: value for key, value in found if value is not absent}

    def set(self, key: str, value: Any, timeout: int | None) -> None:
        try:
            super().set(key, value, timeout)
        except TypeError:  # such as the search results that django-unfold caches
            self.delete(key)


class RedisCache(django_redis.RedisCache):
    """Django's cache in Redis or Valkey, with a cache in each process while the server is unavailable.

    Values are stored as JSON: a tuple is read back as a list. A value that JSON cannot express is not stored.

    Changes during an outage do not reach the server. So use it for counters and for values with a version in
    the key, not for values that must be deleted.
    """

    def __init__(self, server: Any, params: dict[str, Any]) -> None:
        super().__init__(server, params)
        self._class = RedisClient
        # Reconnect once, because an idle connection may have been closed. Do not retry after a timeout.
        self._options: dict[str, Any] = {
            "socket_connect_timeout": TIMEOUT,
            "socket_timeout": TIMEOUT,
            "retry": Retry(NoBackoff(), 1, (ConnectionError,)),
            **params.get("OPTIONS", {}),
            "serializer": JsonSerializer,
        }
        # Django makes one RedisCache for each thread.
        self.server = _servers.setdefault(str(server), _Server())
        self.fallback = LocMemCache(f"fallback {server}", {**params, "OPTIONS": {"MAX_ENTRIES": 10_000}})

    add = _with_fallback("add")
    get = _with_fallback("get")
    set = _with_fallback("set")
    touch = _with_fallback("touch")
    delete = _with_fallback("delete")
    get_many = _with_fallback("get_many")
    has_key = _with_fallback("has_key")
    incr = _with_fallback("incr")
    set_many = _with_fallback("set_many")
    delete_many = _with_fallback("delete_many")
    clear = _with_fallback("clear")
