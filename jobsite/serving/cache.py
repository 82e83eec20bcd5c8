"""A shared cache that may be lost: requests get slower by a moment, and never fail for it."""

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

WITHIN = 0.1  # seconds for the server to take a connection, and to answer
OFF = 2.0  # seconds that a server is left alone after it failed

logger = logging.getLogger(__name__)


class _Server:
    """Whether a server answers, as all threads of this process know it."""

    def __init__(self) -> None:
        self.off_until = 0.0
        self._lock = threading.Lock()

    def is_asked(self) -> bool:
        """Whether to ask it now. After a failure, one of all threads tries while the others stay away."""
        if not self.off_until:
            return True
        with self._lock:
            if monotonic() < self.off_until:
                return False
            self.off_until = monotonic() + OFF
            return True

    def answered(self) -> bool:
        """Return whether it had failed before."""
        if not self.off_until:
            return False
        with self._lock:
            was_off, self.off_until = self.off_until, 0.0
        return bool(was_off)

    def failed(self) -> bool:
        """Return whether it had answered before."""
        with self._lock:
            was_off, self.off_until = self.off_until, monotonic() + OFF
        return not was_off


_servers: dict[str, _Server] = {}


def _or_in_memory(name: str) -> Callable[..., Any]:
    """The operation `name` of the server's cache, in the memory of the process while that is away."""

    def operation(self: "RedisCache", *args: Any, **kwargs: Any) -> Any:
        if self.server.is_asked():
            try:
                result = getattr(django_redis.RedisCache, name)(self, *args, **kwargs)
            except (RedisError, OSError) as error:
                if self.server.failed():
                    self.spare.clear()  # what is left from the last time is out of date
                    logger.warning("The cache is left out: %s", type(error).__name__)
            else:
                if self.server.answered():
                    logger.warning("The cache is back")
                return result
        return getattr(self.spare, name)(*args, **kwargs)

    operation.__name__ = name
    return operation


class JsonSerializer:
    """Values as JSON text, an integer therefore as its digits, which Redis can increment.

    Django's own serializer unpickles what it reads, so whoever can write to the server could run code in
    every process that reads from it.
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
    """A client for which a value that it cannot read or write is absent, as an evicted one is."""

    def get(self, key: str, default: Any) -> Any:
        try:
            return super().get(key, default)
        except ValueError:  # written by something else than JsonSerializer
            return default

    def get_many(self, keys: Iterable[str]) -> dict[str, Any]:
        absent = object()
        found = ((key, self.get(key, absent)) for key in keys)
        return {key: value for key, value in found if value is not absent}

    def set(self, key: str, value: Any, timeout: int | None) -> None:
        try:
            super().set(key, value, timeout)
        except TypeError:  # such as the objects in which django-unfold keeps search results
            self.delete(key)


class RedisCache(django_redis.RedisCache):
    """Django's cache in Redis or Valkey; while the server does not answer, each process has its own.

    Values are stored as JSON: a tuple is read back as a list. A value that JSON cannot express is not stored.

    What is changed meanwhile does not reach the server. So it is for counters and for values whose key
    says which version they are, not for what has to be taken out again.
    """

    def __init__(self, server: Any, params: dict[str, Any]) -> None:
        super().__init__(server, params)
        self._class = RedisClient
        # A connection that the server closed while nobody looked is made anew once; who is late is not
        # asked again.
        self._options: dict[str, Any] = {
            "socket_connect_timeout": WITHIN,
            "socket_timeout": WITHIN,
            "retry": Retry(NoBackoff(), 1, (ConnectionError,)),
            **params.get("OPTIONS", {}),
            "serializer": JsonSerializer,
        }
        # Django makes one of these for every thread.
        self.server = _servers.setdefault(str(server), _Server())
        self.spare = LocMemCache(f"spare {server}", {**params, "OPTIONS": {"MAX_ENTRIES": 10_000}})

    add = _or_in_memory("add")
    get = _or_in_memory("get")
    set = _or_in_memory("set")
    touch = _or_in_memory("touch")
    delete = _or_in_memory("delete")
    get_many = _or_in_memory("get_many")
    has_key = _or_in_memory("has_key")
    incr = _or_in_memory("incr")
    set_many = _or_in_memory("set_many")
    delete_many = _or_in_memory("delete_many")
    clear = _or_in_memory("clear")
