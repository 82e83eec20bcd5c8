"""Redis cache with in-process fallback: an unavailable server makes requests slower, never fail."""

import json
import logging
import threading
from time import monotonic
from typing import Any

from django.conf import settings
from django.core.cache.backends import redis as django_redis
from django.core.cache.backends.base import DEFAULT_TIMEOUT, BaseCache
from django.core.cache.backends.locmem import LocMemCache
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError, InvalidResponse
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
        """Whether to send a request now.
        After RETRY_AFTER, one thread tries and the others do not.
        """
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


class JsonSerializer:
    """Values as JSON text. An integer is stored as digits, which Redis can increment.

    Django's own serializer unpickles values: anybody who can write to the server could run code in
    every process that reads from it.
    """

    def dumps(self, value: object) -> bytes:
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

    def get(self, key: str, default: object) -> Any:
        try:
            return super().get(key, default)
        except ValueError:  # not written by JsonSerializer
            return default

    def add(self, key: str, value: object, timeout: int | None) -> bool:
        """Return whether there was no value.
        Raise InvalidResponse for a reply to something else.
        """
        if timeout == 0:
            return super().add(key, value, timeout)
        client = self.get_client(key, write=True)
        is_stored = client.set(key, JsonSerializer().dumps(value), ex=timeout, nx=True)
        if is_stored is False:  # None: there is a value
            raise InvalidResponse("The reply is to something else.")
        return bool(is_stored)

    def set(self, key: str, value: object, timeout: int | None) -> None:
        try:
            super().set(key, value, timeout)
        except TypeError:  # such as the search results that django-unfold caches
            self.delete(key)

    def incr(self, key: str, delta: int) -> int | None:
        """Return the new value, or None if there is no value. Raise InvalidResponse for a reply
        that is no number.
        """
        client = self.get_client(key, write=True)
        if not client.exists(key):
            return None
        value = client.incr(key, delta)
        if not isinstance(value, int):
            raise InvalidResponse("The reply is not a number.")
        return value


class RedisCache(BaseCache):
    """Django's cache in Redis or Valkey, with a cache in each process while the server is
    unavailable.

    Values are stored as JSON: a tuple is read back as a list. A value that JSON cannot express is
    not stored.

    Changes during an outage do not reach the server. So use it for counters and for values with a
    version in the key, not for values that must be deleted.
    """

    def __init__(self, server: str, params: dict[str, Any]) -> None:
        super().__init__(params)
        # Reconnect once, because an idle connection may have been closed. Do not retry after a
        # timeout.
        options: dict[str, Any] = {
            "socket_connect_timeout": TIMEOUT,
            "socket_timeout": TIMEOUT,
            "retry": Retry(NoBackoff(), 1, (ConnectionError,)),
            **params.get("OPTIONS", {}),
            "serializer": JsonSerializer,
        }
        shared: Any = django_redis.RedisCache(server, {**params, "OPTIONS": options})
        shared._class = RedisClient
        self.shared = shared
        # Django makes one RedisCache for each thread.
        self.server = _servers.setdefault(str(server), _Server())
        in_memory = {**params, "OPTIONS": {"MAX_ENTRIES": settings.COUNTERS_MAX}}
        self.fallback = LocMemCache(f"fallback {server}", in_memory)

    def _call(self, operation: str, *args: object) -> Any:
        """Return the result of the server or, while it is unavailable, of the in-process cache."""
        if self.server.may_try():
            try:
                result = getattr(self.shared, operation)(*args)
            except Exception as error:  # redis-py raises many types for replies that are wrong
                if self.server.failed():
                    self.fallback.clear()  # values from an earlier outage are outdated
                    logger.warning("The cache server is unavailable: %s", type(error).__name__)
            else:
                if self.server.succeeded():
                    logger.warning("The cache server is available again")
                return result
        return getattr(self.fallback, operation)(*args)

    def add(
        self, key: object, value: object, timeout: object = DEFAULT_TIMEOUT, version: object = None
    ) -> bool:
        return self._call("add", key, value, timeout, version)

    def get(self, key: str, default: object = None, version: object = None) -> Any:
        return self._call("get", key, default, version)

    def set(
        self, key: str, value: object, timeout: object = DEFAULT_TIMEOUT, version: object = None
    ) -> None:
        self._call("set", key, value, timeout, version)

    def touch(self, key: str, timeout: object = DEFAULT_TIMEOUT, version: object = None) -> bool:
        return self._call("touch", key, timeout, version)

    def delete(self, key: str, version: object = None) -> bool:
        return self._call("delete", key, version)

    def incr(self, key: str, delta: int = 1, version: object = None) -> int:
        if (value := self._call("incr", key, delta, version)) is None:
            raise ValueError(f"Key {key!r} not found")
        return value

    def clear(self) -> None:
        self._call("clear")
