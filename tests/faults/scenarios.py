"""What can happen to a site that serves, and what the public may notice of it.

G1 to G27 are the goals of the issue. Times are caps for a machine that does much else; counts are exact.
"""

import socket
import threading
import time
from contextlib import suppress
from functools import partial
from itertools import count

import psycopg

from tests.lab import Scenario, Site
from tests.servers import Gunicorn

SLOW = 100  # clients that never end their request


def scenarios(site: Site) -> dict[str, Scenario]:
    """By key. The order is that in which they can happen to one site; after a failover it is another one."""
    primary, (one, two), redis = site.primary, site.replicas, site.redis
    node, other = site.nodes
    synchronous = "ALTER SYSTEM SET synchronous_standby_names = 'ANY 1 (*)'"
    pause, resume = (partial(two.sql, f"SELECT pg_wal_replay_{verb}()") for verb in ("pause", "resume"))
    slow = SlowClients(site.nginx.port)
    return {
        "quiet": Scenario("nothing", "nobody writes: every body as before", [], 6, writes=False),
        "writes": Scenario("nothing, but writes", "every body of one version", [], 8, saves=True),
        # --- Replicas
        "replica-lost": Scenario(
            "a replica killed, back after 4 s", "G10: 0 failed",
            [(2, "crash", one.crash), (6, "start", one.start)], 10, longest=10,
        ),
        "replica-frozen": Scenario(
            "a replica frozen for 6 s", "G11: 0 failed, none slower than 2 s",
            [(2, "freeze", two.freeze), (8, "thaw", two.thaw)], 11, longest=10,
        ),
        "replica-late": Scenario(
            "a replica late by 8 s", "G12: its own write at once in the admin, 6 s at most in public",
            [(1, "pause", pause), (9, "resume", resume)], 12, saves=True, longest=10,
        ),
        "replicas-lost": Scenario(
            "both replicas killed, one back after 4 s", "G10: 0 failed",
            [(2, "crash", one.crash), (2, "crash", two.crash), (6, "start", one.start)], 9, longest=10,
        ),
        # --- Redis
        "redis-lost": Scenario(
            "Redis killed for 4 s", "G14: 0 failed",
            [(2, "crash", redis.crash), (6, "start", redis.start)], 9, saves=True, longest=10,
        ),
        "redis-frozen": Scenario(
            "Redis frozen for 4 s", "G14: 0 failed",
            [(2, "freeze", redis.freeze), (6, "thaw", redis.thaw)], 9, saves=True, longest=10,
        ),
        # --- The application, behind nginx
        "worker-killed": Scenario(
            # nginx asks another worker, but for a body of which it has sent the beginning
            "a worker killed, three times", "G7: 0 failed reads, but for a body half sent at each kill",
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
            f"{SLOW} clients that never end a request", "G20: 0 failed",
            [(1, "open", slow.open), (7, "close", slow.close)], 8, longest=10,
        ),
        # --- The primary, with replicas
        "primary-lost": Scenario(
            "the primary killed for 3 s", "G8: 0 failed public reads, else 503; no save lost",
            [(2, "crash", primary.crash), (5, "start", primary.start)], 9,
            saves=True, refuses="private", healed_by="start",
        ),
        "primary-lost-early": Scenario(
            "the primary killed, workers killed meanwhile", "public reads from workers that never saw it",
            [(2, "crash", primary.crash), (3, "kill", partial(kill, node)),
             (4, "kill", partial(kill, other)), (8, "start", primary.start)], 11,
            refuses="private", healed_by="start", may_fail=2,
        ),
        "primary-frozen": Scenario(
            "the primary frozen for 8 s", "0 failed public reads, else 503 within 5 s",
            [(2, "freeze", primary.freeze), (10, "thaw", primary.thaw)], 13,
            saves=True, refuses="private", healed_by="thaw", longest=15,
        ),
        "table-locked": Scenario(
            "the table of vacancies locked for 5 s", "G15: 503 at most, after the lock's time-out",
            [(1, "lock", partial(lock, primary.url, 5))], 9, saves=True, refuses="all", longest=20,
        ),
        "restart-unseen": Scenario(
            "the database restarted while nobody asks", "G9: 0 failed, 0 refused",
            [(2, "pause", site.paused.set), (3, "crash", primary.crash), (3, "start", primary.start),
             (5, "go", site.paused.clear)], 7, is_alone=True,
        ),
        # --- One node without replicas, asked directly
        "alone-primary-lost": Scenario(
            "no replicas: the database killed for 3 s", "G8: 503, never 500; well ≤ 1 s after",
            [(2, "crash", primary.crash), (5, "start", primary.start)], 9,
            is_alone=True, saves=True, refuses="all", healed_by="start",
        ),
        "alone-primary-frozen": Scenario(
            "no replicas: the database frozen for 8 s", "503 within 5 s",
            [(2, "freeze", primary.freeze), (10, "thaw", primary.thaw)], 13,
            is_alone=True, saves=True, refuses="all", healed_by="thaw", longest=15,
        ),
        "reload": Scenario(
            "HUP, five times", "G6: 0 failed (of 10,000 where there is time)",
            [(1 + 2 * n, "hup", node.reload) for n in range(5)], 12, is_alone=True, saves=True, least=10_000,
        ),
        "new-binary": Scenario(
            "a new gunicorn (USR2)", "G6: 0 failed",
            [(2, "renew", node.renew)], 8, is_alone=True, saves=True,
        ),
        "worker-killed-alone": Scenario(
            "a worker killed, three times, no nginx", "G7: one failed for each request it had",
            [(n, "kill", partial(kill, node)) for n in (1, 3, 5)], 8,
            is_alone=True, saves=True, may_fail=12, saves_may_fail=3,
        ),
        "worker-restarts": Scenario(
            "workers that restart after 200 requests", "0 failed", [], 10,
            is_alone=True, saves=True, switches=("--max-requests", "200", "--max-requests-jitter", "50"),
        ),
        # --- The last one, after which another server is the primary
        "failover": Scenario(
            "the primary lost, a replica promoted after 1 s", "G13: writes ≤ 1 s after, no save lost",
            [(0, "wait for a replica", partial(primary.sql, synchronous)),
             (0, "wait for a replica", partial(primary.sql, "SELECT pg_reload_conf()")),
             (3, "crash", primary.crash), (4, "promote", site.fail_over), (8, "rejoin", site.rejoin)], 12,
            saves=True, refuses="private", healed_by="promote",
        ),
    }  # fmt: skip


def kill(node: Gunicorn) -> None:
    """Kill a worker. nginx counts a fault for each connection that it kept, and may put the node aside: a
    site that loses one of each node within a second is down for the rest of it."""
    node.kill_worker()
    time.sleep(1.2)


def lock(url: str, seconds: float) -> None:
    """Keep everybody from the table of vacancies, as a bad migration does."""
    with psycopg.connect(url) as connection:
        connection.execute("LOCK TABLE vacancies_vacancy IN ACCESS EXCLUSIVE MODE")
        time.sleep(seconds)


class SlowClients:
    """Connections that send half a request, and are opened again when they are closed."""

    def __init__(self, port: int) -> None:
        self.port, self.ended = port, threading.Event()

    def open(self) -> None:
        self.ended.clear()
        self.thread = threading.Thread(target=self.hold)
        self.thread.start()

    def hold(self) -> None:
        held: list[socket.socket] = []
        for number in count():
            if len(held) < SLOW:
                held.append(socket.create_connection(("127.0.0.1", self.port), timeout=5))
                held[-1].sendall(b"GET /v1/vacancies HTTP/1.1\r\nHost: jobs.test\r\nX-Slow: ")
            elif self.ended.wait(0.2):
                break
            elif number % 10 == 0:
                for each in held:
                    with suppress(OSError):  # it was closed by the server, as it should be
                        each.sendall(b"x")
        for each in held:
            each.close()

    def close(self) -> None:
        self.ended.set()
        self.thread.join()
