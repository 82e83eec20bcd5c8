"""The scenarios: the faults that are injected, and what the public may notice of each.

G1 to G27 number the goals. Limits on time allow for a busy machine; counts are exact.
"""

import socket
import threading
import time
from contextlib import suppress
from functools import partial
from itertools import count

import psycopg

from tests.chaos.cluster import Cluster
from tests.chaos.run import Scenario
from tests.servers import Gunicorn

SLOW_CLIENTS = 100


def scenarios(cluster: Cluster) -> dict[str, Scenario]:
    """The scenarios by key, in the order in which one cluster can run them; a failover is the last."""
    primary, (one, two), redis = cluster.primary, cluster.replicas, cluster.redis
    node, other = cluster.nodes
    synchronous = "ALTER SYSTEM SET synchronous_standby_names = 'ANY 1 (*)'"
    pause, resume = (partial(two.sql, f"SELECT pg_wal_replay_{verb}()") for verb in ("pause", "resume"))
    slow = SlowClients(cluster.nginx.port)
    return {
        "quiet": Scenario("nothing", "no writes: every response as before", [], 6, writes=False),
        "writes": Scenario("nothing, with writes", "every response of one version", [], 8, saves=True),
        # --- Replicas
        "replica-lost": Scenario(
            "a replica killed, back after 4 s", "G10: 0 failed",
            [(2, "crash", one.crash), (6, "start", one.start)], 10, slowest=10,
        ),
        "replica-frozen": Scenario(
            "a replica frozen for 6 s", "G11: 0 failed, none slower than 2 s",
            [(2, "freeze", two.freeze), (8, "thaw", two.thaw)], 11, slowest=10,
        ),
        "replica-late": Scenario(
            "a replica lags by 8 s", "G12: own writes at once in the admin, within 6 s in public",
            [(1, "pause", pause), (9, "resume", resume)], 12, saves=True, slowest=10,
        ),
        "replicas-lost": Scenario(
            "both replicas killed, one back after 4 s", "G10: 0 failed",
            [(2, "crash", one.crash), (2, "crash", two.crash), (6, "start", one.start)], 9, slowest=10,
        ),
        # --- Redis
        "redis-lost": Scenario(
            "Redis killed for 4 s", "G14: 0 failed",
            [(2, "crash", redis.crash), (6, "start", redis.start)], 9, saves=True, slowest=10,
        ),
        "redis-frozen": Scenario(
            "Redis frozen for 4 s", "G14: 0 failed",
            [(2, "freeze", redis.freeze), (6, "thaw", redis.thaw)], 9, saves=True, slowest=10,
        ),
        # --- The nodes, behind nginx
        "worker-killed": Scenario(
            # nginx retries on the next worker, unless it has sent the beginning of the response
            "a worker killed, three times", "G7: 0 failed reads, except a half-sent response at each kill",
            [(n, "kill", partial(kill, each)) for n, each in ((1, node), (3, other), (5, node))], 8,
            saves=True, saves_may_fail=3, may_fail=3,
        ),
        "node-restarted": Scenario(
            "one of two nodes stopped and started", "0 failed",
            [(2, "stop", node.stop), (4, "start", node.start)], 8, saves=True, saves_may_fail=1,
        ),
        "node-killed": Scenario(
            "one of two nodes killed, back after 3 s", "0 failed reads",
            [(2, "crash", node.crash), (5, "start", node.start)], 8, saves=True, saves_may_fail=1,
        ),
        "slow-clients": Scenario(
            f"{SLOW_CLIENTS} clients that never end a request", "G20: 0 failed",
            [(1, "open", slow.open), (7, "close", slow.close)], 8, slowest=10,
        ),
        # --- The primary, with replicas
        "primary-lost": Scenario(
            "the primary killed for 3 s", "G8: 0 failed public reads, else 503; no save lost",
            [(2, "crash", primary.crash), (5, "start", primary.start)], 9,
            saves=True, unavailable="private", recovery="start",
        ),
        "primary-lost-early": Scenario(
            "the primary killed, workers killed meanwhile", "new workers read from replicas",
            [(2, "crash", primary.crash), (3, "kill", partial(kill, node)),
             (4, "kill", partial(kill, other)), (8, "start", primary.start)], 11,
            unavailable="private", recovery="start", may_fail=2,
        ),
        "primary-frozen": Scenario(
            "the primary frozen for 8 s", "0 failed public reads, else 503 within 5 s",
            [(2, "freeze", primary.freeze), (10, "thaw", primary.thaw)], 13,
            saves=True, unavailable="private", recovery="thaw", slowest=15,
        ),
        "table-locked": Scenario(
            "the table of vacancies locked for 5 s", "G15: 503 at most, after the lock timeout",
            [(1, "lock", partial(lock, primary.url, 5))], 9, saves=True, unavailable="all", slowest=20,
        ),
        "restart-unseen": Scenario(
            "the database restarted without traffic", "G9: 0 failed, 0 unavailable",
            [(2, "pause", cluster.paused.set), (3, "crash", primary.crash), (3, "start", primary.start),
             (5, "resume", cluster.paused.clear)], 7, is_single=True,
        ),
        # --- One node without replicas and nginx
        "alone-primary-lost": Scenario(
            "no replicas: the database killed for 3 s", "G8: 503, never 500; recovers within 1 s",
            [(2, "crash", primary.crash), (5, "start", primary.start)], 9,
            is_single=True, saves=True, unavailable="all", recovery="start",
        ),
        "alone-primary-frozen": Scenario(
            "no replicas: the database frozen for 8 s", "503 within 5 s",
            [(2, "freeze", primary.freeze), (10, "thaw", primary.thaw)], 13,
            is_single=True, saves=True, unavailable="all", recovery="thaw", slowest=15,
        ),
        "reload": Scenario(
            "HUP, five times", "G6: 0 failed (of 10,000 where there is time)",
            [(1 + 2 * n, "hup", node.reload) for n in range(5)], 12, is_single=True, saves=True, least=10_000,
        ),
        "new-binary": Scenario(
            "a new gunicorn (USR2)", "G6: 0 failed",
            [(2, "upgrade", node.upgrade)], 8, is_single=True, saves=True,
        ),
        "worker-killed-alone": Scenario(
            "a worker killed, three times, no nginx", "G7: only the requests of that worker fail",
            [(n, "kill", partial(kill, node)) for n in (1, 3, 5)], 8,
            is_single=True, saves=True, may_fail=12, saves_may_fail=3,
        ),
        "worker-restarts": Scenario(
            "workers that restart after 200 requests", "0 failed", [], 10,
            is_single=True, saves=True, switches=("--max-requests", "200", "--max-requests-jitter", "50"),
        ),
        # --- Last: afterwards another server is the primary
        "failover": Scenario(
            "the primary lost, a replica promoted after 1 s", "G13: writes within 1 s after, no save lost",
            [(0, "wait for a replica", partial(primary.sql, synchronous)),
             (0, "wait for a replica", partial(primary.sql, "SELECT pg_reload_conf()")),
             (3, "crash", primary.crash), (4, "promote", cluster.fail_over),
             (8, "rejoin", cluster.rejoin)], 12,
            saves=True, unavailable="private", recovery="promote",
        ),
    }  # fmt: skip


def kill(node: Gunicorn) -> None:
    """Kill a worker, and wait for nginx to use its node again: it counts a failure for each connection that
    it kept open, and a site that loses a worker of each node within a second is down for the rest of it."""
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
