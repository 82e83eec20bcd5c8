"""The scenarios: the faults that are injected, and what the public may notice of each.

G1 to G27 number the goals. Limits on time allow for a busy machine; counts are exact.
"""

import socket
import threading
import time
from contextlib import suppress
from functools import partial
from itertools import count
from typing import Any

import psycopg

from tests.chaos.run import Action, Scenario
from tests.chaos.site import Site
from tests.servers import Gunicorn, Server

SLOW_CLIENTS = 100


def scenarios(site: Site) -> dict[str, Scenario]:
    """The scenarios by key, in the order in which they run."""
    primary, redis = site.primary, site.redis
    node, other = site.nodes
    slow = SlowClients(site.nginx.port)
    return {
        "quiet": Scenario("nothing", "no writes: every response as before", [], 6, writes=False),
        "writes": Scenario(
            "nothing, with writes", "every response of one version", [], 8, saves=True
        ),
        # --- Redis
        "redis-lost": Scenario(
            "Redis killed for 4 s", "G14: 0 failed", killed(redis, 2, 6), 9, saves=True, slowest=10
        ),
        "redis-frozen": Scenario(
            "Redis frozen for 4 s", "G14: 0 failed", frozen(redis, 2, 6), 9, saves=True, slowest=10
        ),
        # --- The nodes, behind nginx
        "worker-killed": Scenario(
            # nginx retries on the next worker, unless it has sent the beginning of the response
            "a worker killed, three times",
            "G7: 0 failed reads, except a half-sent response at each kill",
            [(n, "kill", partial(kill, each)) for n, each in ((1, node), (3, other), (5, node))],
            8,
            saves=True,
            saves_may_fail=3,
            may_fail=3,
        ),
        "node-restarted": Scenario(
            "one of two nodes stopped and started",
            "0 failed",
            [(2, "stop", node.stop), (4, "start", node.start)],
            8,
            saves=True,
            saves_may_fail=1,
        ),
        "node-killed": Scenario(
            "one of two nodes killed, back after 3 s",
            "0 failed reads",
            killed(node, 2, 5),
            8,
            saves=True,
            saves_may_fail=1,
        ),
        "slow-clients": Scenario(
            f"{SLOW_CLIENTS} clients that never end a request",
            "G20: 0 failed",
            [(1, "open", slow.open), (7, "close", slow.close)],
            8,
            slowest=10,
        ),
        # --- The object store
        **(store_scenarios(site) if hasattr(site, "store") else {}),
        # --- The database
        "table-locked": Scenario(
            "the table of vacancies locked for 5 s",
            "G15: 503 at most, after the lock timeout",
            [(1, "lock", partial(lock, primary.url, 5))],
            9,
            saves=True,
            unavailable="all",
            slowest=20,
        ),
        "restart-unseen": Scenario(
            "the database restarted without traffic",
            "G9: 0 failed, 0 unavailable",
            [
                (2, "pause", site.paused.set),
                (3, "crash", primary.crash),
                (3, "start", primary.start),
                (5, "resume", site.paused.clear),
            ],
            7,
            is_single=True,
        ),
        # --- One node without nginx
        "primary-lost": Scenario(
            "the database killed for 3 s",
            "G8: 503, never 500; recovers within 1 s",
            killed(primary, 2, 5),
            9,
            is_single=True,
            saves=True,
            unavailable="all",
            recovery="start",
        ),
        "primary-frozen": Scenario(
            "the database frozen for 8 s",
            "503 within 5 s",
            frozen(primary, 2, 10),
            13,
            is_single=True,
            saves=True,
            unavailable="all",
            recovery="thaw",
            slowest=15,
        ),
        "reload": Scenario(
            "HUP, five times",
            "G6: 0 failed (of 10,000 where there is time)",
            [(1 + 2 * n, "hup", node.reload) for n in range(5)],
            12,
            is_single=True,
            saves=True,
            least=10_000,
        ),
        "new-binary": Scenario(
            "a new gunicorn (USR2)",
            "G6: 0 failed",
            [(2, "upgrade", node.upgrade)],
            8,
            is_single=True,
            saves=True,
        ),
        "worker-killed-alone": Scenario(
            "a worker killed, three times, no nginx",
            "G7: only the requests of that worker fail",
            [(n, "kill", partial(kill, node)) for n in (1, 3, 5)],
            8,
            is_single=True,
            saves=True,
            may_fail=12,
            saves_may_fail=3,
        ),
        "worker-restarts": Scenario(
            "workers that restart after 200 requests",
            "0 failed",
            [],
            10,
            is_single=True,
            saves=True,
            switches=("--max-requests", "200", "--max-requests-jitter", "50"),
        ),
    }


def store_scenarios(site: Site) -> dict[str, Scenario]:
    """Files get 503 at most; nothing else notices."""
    store, disk = site.store, site.disk
    limits: dict[str, Any] = {"saves": True, "clients": 16, "slowest": 10}
    return {
        "store-killed": Scenario(
            "object store killed for 5 s",
            "0 failed; 503 for files only",
            killed(store, 2, 7),
            11,
            **limits,
        ),
        "store-frozen": Scenario(
            "object store frozen for 8 s",
            "0 failed; 503 for files only",
            frozen(store, 2, 10),
            15,
            **limits | {"slowest": 6},
        ),
        "store-slow": Scenario(
            "object store answers after seconds, for 15 s",
            "0 failed; 503 for files only",
            [(2, "slow", partial(slow_down, store, 15))],
            20,
            **limits,
        ),
        "store-full": Scenario(
            "disk of the object store full for 6 s",
            "0 failed; 503 for files only",
            [(2, "fill", disk.fill), (8, "free", disk.free)],
            14,
            **limits,
        ),
    }


def slow_down(server: Server, seconds: float) -> None:
    """Let the server run a tenth of the time."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        server.freeze()
        time.sleep(1.8)
        server.thaw()
        time.sleep(0.2)


def killed(server: Server, start: float, end: float) -> list[Action]:
    return [(start, "kill", server.crash), (end, "start", server.start)]


def frozen(server: Server, start: float, end: float) -> list[Action]:
    return [(start, "freeze", server.freeze), (end, "thaw", server.thaw)]


def kill(node: Gunicorn) -> None:
    """Kill a worker, and wait for nginx to use its node again: it counts a failure for each
    connection that it kept open, and a site that loses a worker of each node within a second is
    down for the rest of it.
    """
    node.kill_worker()
    time.sleep(1.2)


def lock(url: str, seconds: float) -> None:
    """Lock the table of vacancies, as a bad migration does."""
    with psycopg.connect(url) as connection:
        connection.execute("LOCK TABLE vacancies_vacancy IN ACCESS EXCLUSIVE MODE")
        time.sleep(seconds)


class SlowClients:
    """Connections that send half a request. Those that the server closes stay closed."""

    def __init__(self, port: int) -> None:
        self.port, self.ended = port, threading.Event()

    def open(self) -> None:
        self.ended.clear()
        self.thread = threading.Thread(target=self.hold)
        self.thread.start()

    def hold(self) -> None:
        held: list[socket.socket] = []
        for number in count():
            if len(held) < SLOW_CLIENTS:
                held.append(socket.create_connection(("127.0.0.1", self.port), timeout=5))
                held[-1].sendall(b"GET /v1/vacancies HTTP/1.1\r\nHost: jobs.test\r\nX-Slow: ")
            elif self.ended.wait(0.2):
                break
            elif number % 10 == 0:
                for each in held:
                    with suppress(OSError):  # the server closed it, as it should
                        each.sendall(b"x")
        for each in held:
            each.close()

    def close(self) -> None:
        self.ended.set()
        self.thread.join()
