"""The shared cache, with a real Redis server that is killed, frozen and restarted."""

import os
import pickle
import re
import shutil
import socketserver
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
import redis
from django.core.cache.backends.redis import RedisCache as RedisBackend
from django.test import RequestFactory
from unfold.dataclasses import SearchResult

from jobsite.api import throttling
from jobsite.serving import cache as jobsite_cache
from jobsite.serving.cache import RedisCache
from tests import servers

pytestmark = pytest.mark.skipif(not servers.REDIS, reason="needs redis-server")


@pytest.fixture
def server():
    folder = servers.folder()
    server = servers.Redis(folder / "redis")
    server.start()
    yield server
    server.stop()
    shutil.rmtree(folder)


@pytest.fixture
def make(server, monkeypatch):
    """Return a function that makes caches on one server, as Django does for its threads."""
    monkeypatch.setattr(jobsite_cache, "RETRY_AFTER", 0.5)
    monkeypatch.setattr(jobsite_cache, "TIMEOUT", 1.0)  # of a busy machine
    made = []

    def make() -> RedisCache:
        made.append(RedisCache(server.url, {"TIMEOUT": 60, "OPTIONS": {}}))
        return made[-1]

    yield make
    for cache in made:
        for pool in cache.shared._cache._pools.values():
            pool.disconnect()


@pytest.fixture
def cache(make):
    return make()


def messages(caplog):
    return [
        record.getMessage() for record in caplog.records if record.name == "jobsite.serving.cache"
    ]


class Payload:
    """An object that creates a folder in the process that unpickles it."""

    def __init__(self, folder):
        self.folder = folder

    def __reduce__(self):
        return os.mkdir, (str(self.folder),)


def stored(server, key, value=None):
    """Write `value` to `key` of the server if it is given; return the stored bytes."""
    with redis.Redis.from_url(server.url) as client:
        if value is not None:
            client.set(f":1:{key}", value)
        return client.get(f":1:{key}")


def test_values_are_json(server, make, tmp_path):
    """A pickle on the server is not loaded."""
    cache, there = make(), make()
    pickled = pickle.dumps(Payload(tmp_path / "executed"))
    for value in (pickled, b"", b"{", b"\xff", b"[" * 100_000, b"9" * 10_000):
        stored(server, "value", value)
        assert cache.get("value", "default") == "default", value[:9]
    assert not (tmp_path / "executed").exists()

    for value, text in (
        (7, b"7"),  # counters of the rate limit
        (2**62, b"4611686018427387904"),
        (True, b"true"),  # locks of allauth
        ([1.5, 2.25], b"[1.5, 2.25]"),  # its rate limits
        ("y", b'"y"'),  # used TOTP codes
        (None, b"null"),
        ({"a": ["b"]}, b'{"a": ["b"]}'),
    ):
        cache.set("value", value)
        assert (cache.get("value"), stored(server, "value")) == (value, text)

    # django-unfold caches search results as objects, which JSON cannot express: it searches again.
    cache.set("value", [SearchResult(title="Users", description="", link="/", icon=None)])
    assert (cache.get("value"), stored(server, "value")) == (None, None)

    assert cache.add("n", 1)  # counters are shared by nodes
    assert not there.add("n", 1)
    assert [there.incr("n"), cache.incr("n")] == [2, 3]


def test_every_operation_works_during_an_outage(server, cache, settings, monkeypatch, at):
    cache.set("old", "from the server")
    server.crash()

    assert cache.get("old", "absent") == "absent"
    assert [cache.add("n", 1), cache.add("n", 1), cache.incr("n"), cache.decr("n")] == [
        True,
        False,
        2,
        1,
    ]
    assert [cache.has_key("n"), cache.touch("n"), cache.delete("n")] == [True] * 3
    cache.set("n", 2)
    cache.clear()
    assert cache.get("n") is None

    settings.RATE_LIMIT = "3/hour"
    monkeypatch.setattr(throttling, "cache", cache)
    request = RequestFactory().get("/v1/vacancies")
    server.crash()

    assert [throttling.RateLimit().allow_request(request) for _ in range(5)] == [True] * 3 + [
        False
    ] * 2


@pytest.mark.slow("waits for an outage to end")
def test_server_is_used_again_after_an_outage(server, cache, caplog):
    cache.set("before", 1)
    server.crash()
    cache.set("n", "in the first outage")
    assert (cache.get("before"), cache.get("n")) == (None, "in the first outage")
    server.start()

    servers.until(lambda: cache.set("n", "since") or stored(server, "n") == b'"since"')

    assert messages(caplog) == [
        "The cache server is unavailable: ConnectionError",
        "The cache server is available again",
    ]
    server.crash()
    assert cache.get("n") is None  # the fallback is empty at the next outage


def test_restart_between_requests_is_not_an_outage(server, cache, caplog):
    cache.set("n", 1)
    server.stop()
    server.start()

    cache.set("n", 2)

    assert (cache.get("n"), messages(caplog)) == (2, [])


@pytest.mark.slow("waits for the timeout of a server")
def test_frozen_server_delays_one_request(server, make, caplog, monkeypatch):
    clock, asked, get = [1000.0], [], RedisBackend.get
    monkeypatch.setattr(jobsite_cache, "monotonic", lambda: clock[0])
    monkeypatch.setattr(
        RedisBackend, "get", lambda self, key, *rest: asked.append(key) or get(self, key)
    )
    cache, other = make(), make()
    cache.set("n", 1)
    other.get("n")
    asked.clear()
    server.freeze()

    for each in (cache, cache, cache, other):
        each.get("n")
    assert asked == ["n"]  # the first request waited, the others used the fallback
    clock[0] += jobsite_cache.RETRY_AFTER
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: make().get("n"), range(8)))
    assert asked == ["n", "n"]  # one thread tries
    server.thaw()

    def is_back():
        clock[0] += jobsite_cache.RETRY_AFTER
        return cache.get("n") == 1

    servers.until(is_back)
    assert messages(caplog) == [
        "The cache server is unavailable: TimeoutError",
        "The cache server is available again",
    ]


GARBAGE = {
    "another protocol": b"HTTP/1.1 400 Bad Request\r\n\r\n",
    "no protocol": b"\xff\xfe\x00\r\n",
    "an error": b"-ERR unknown command\r\n",
    "no number": b":many\r\n",
    "a number": b":7\r\n",
    "a text": b"+OK\r\n",
    "no JSON": b"$3\r\n{]x\r\n",
    "a negative size": b"$-7\r\nabc\r\n",
    "a size without content": b"$99999999999\r\nabc\r\n",
    "a list": b"*2\r\n$1\r\na\r\n$1\r\nb\r\n",
    "deep lists": b"*1\r\n" * 5_000,
}
GREETINGS = {b"HELLO": b"%1\r\n$5\r\nproto\r\n:3\r\n", b"CLIENT": b"+OK\r\n"}


class FakeServer(socketserver.BaseRequestHandler):
    """Answers each command with `reply`, those of a new connection as redis-py expects if
    `is_polite`.
    """

    reply, is_polite = b"", False

    def handle(self):
        while data := self.request.recv(65536):
            for command in re.findall(rb"\*\d+\r\n\$\d+\r\n(\w+)", data):
                self.request.sendall(
                    GREETINGS.get(command, self.reply) if self.is_polite else self.reply
                )


@pytest.mark.slow("waits for replies")
@pytest.mark.parametrize("is_polite", [False, True])
def test_wrong_replies_are_no_error(is_polite, monkeypatch):
    """The rate limit works with what the cache returns."""
    monkeypatch.setattr(FakeServer, "is_polite", is_polite)
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), FakeServer) as fake:
        fake.daemon_threads = True
        threading.Thread(target=fake.serve_forever, daemon=True).start()
        for kind, reply in GARBAGE.items():
            monkeypatch.setattr(FakeServer, "reply", reply)
            cache = RedisCache(
                f"redis://127.0.0.1:{fake.server_address[1]}/{len(kind)}", {"OPTIONS": {}}
            )
            monkeypatch.setattr(throttling, "cache", cache)
            allowed = []
            for _ in range(3):
                cache.server.off_until = 0.0  # each call asks the server
                allowed.append(throttling.RateLimit("5/hour").allow("192.0.2.1"))
            assert set(allowed) <= {True, False}, kind
            for operation in (cache.set, cache.touch, cache.delete, cache.clear):
                cache.server.off_until = 0.0
                operation(*{"set": ("n", 1), "clear": ()}.get(operation.__name__, ("n",)))
        fake.shutdown()
