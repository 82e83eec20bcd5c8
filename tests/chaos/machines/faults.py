"""The faults that are injected into a cluster, and what the public and the recruiters may notice of
each.

Reads that fail, wrong bodies and lost saves are 0 everywhere. Limits on time allow for a busy
machine.
"""

import subprocess
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from tests import servers
from tests.chaos import scenarios
from tests.chaos.machines.cluster import Cluster
from tests.chaos.run import Result, Scenario
from tests.servers import Server

# A busy machine: saves take about a second, so that this is "immediately".
AT_ONCE = 6.0


def faults(cluster: Cluster) -> dict[str, Callable[[], Scenario]]:
    """The scenarios by key. Each is made when it starts, because the primary
    and the master change.
    """

    def scenario(
        title: str, goal: str, *actions: Any, seconds: float, pause: float = AT_ONCE, **more: Any
    ) -> Scenario:
        more = {"unavailable": "private", "saves_may_fail": 5, "slowest": 6.0} | more
        return Scenario(
            title, goal, list(actions), seconds, saves=True, longest_pause=pause, **more
        )

    def killed(title: str, goal: str, server: Server, start: float, **more: Any) -> Scenario:
        return scenario(title, goal, *scenarios.killed(server, 4, start), **more)

    def frozen(title: str, goal: str, server: Server, thaw: float, **more: Any) -> Scenario:
        return scenario(title, goal, *scenarios.frozen(server, 4, thaw), **more)

    def after(primary: Any) -> None:
        """Wait until another server is the primary."""
        others = [each for each in cluster.databases.values() if each is not primary]
        servers.until(lambda: any(each.state("/primary") == 200 for each in others))

    def primary_frozen() -> Scenario:
        primary = cluster.primary
        return scenario(
            "primary frozen, resumed after the promotion",
            "writes within 30 s, the old primary rejoins",
            (4, "freeze", primary.freeze),
            (4, "promotion", partial(after, primary)),
            (24, "thaw", primary.thaw),
            seconds=40,
            pause=30 + AT_ONCE,
        )

    def replica_late() -> Scenario:
        pause, resume = (
            partial(
                cluster.replicas()[0].sql, cluster.superuser(), f"SELECT pg_wal_replay_{verb}()"
            )
            for verb in ("pause", "resume")
        )
        return scenario(
            "a replica 60 s behind",
            "not used; writes at once",
            (4, "pause", pause),
            (64, "resume", resume),
            seconds=70,
        )

    def etcd_all() -> Scenario:
        members = cluster.etcd.values()
        return scenario(
            "etcd: all members killed for 25 s",
            "reads continue; writes get 503 with Retry-After",
            *((4, "kill", each.crash) for each in members),
            *((29, "start", each.start) for each in members),
            seconds=50,
            pause=55,
        )

    def node_reloaded() -> Scenario:
        reloads = ((4 + 3 * n, "hup", cluster.nodes[n % 2].reload) for n in range(5))
        return scenario("HUP, five times", "nothing", *reloads, seconds=24)

    def deployment() -> Scenario:
        one, other = cluster.nodes
        return scenario(
            "rolling deployment of a new release",
            "nothing",
            (4, "link", partial(deploy, cluster)),
            (5, "hup", one.reload),
            (10, "hup", other.reload),
            seconds=20,
        )

    def network_cut() -> Scenario:
        primary, network = cluster.primary.machine, cluster.network
        return scenario(
            "the primary's network cut for 60 s",
            "writes within 30 s; no split brain",
            (4, "cut", partial(network.cut, primary)),
            (64, "mend", partial(network.mend, primary)),
            seconds=80,
            pause=30 + AT_ONCE,
        )

    found: dict[str, Callable[[], Scenario]] = {
        "none": lambda: scenario("none", "nothing", seconds=15),
        "primary-killed": lambda: killed(
            "primary killed (-9), with its Patroni",
            "writes within 20 s",
            cluster.primary,
            30,
            seconds=42,
            pause=20 + AT_ONCE,
        ),
        "postgres-killed": lambda: scenario(
            "PostgreSQL of the primary killed (-9)",
            "writes within 20 s",
            (4, "kill", cluster.primary.kill_postgres),
            seconds=25,
            pause=20 + AT_ONCE,
        ),
        "primary-frozen": primary_frozen,
        "replica-killed": lambda: killed(
            "the synchronous standby killed",
            "writes at once",
            cluster.replicas()[0],
            12,
            seconds=22,
        ),
        "replica-frozen": lambda: frozen(
            "the synchronous standby frozen",
            "writes at once",
            cluster.replicas()[0],
            16,
            seconds=24,
        ),
        "replica-late": replica_late,
        "etcd-one": lambda: killed(
            "etcd: the primary's member killed",
            "nothing",
            cluster.etcd[cluster.primary.machine],
            14,
            seconds=22,
        ),
        "etcd-all": etcd_all,
        "haproxy-killed": lambda: killed(
            "HAProxy of a node killed", "nothing", cluster.haproxies["app1"], 12, seconds=18
        ),
        "redis-killed": lambda: killed(
            "Redis master killed", "nothing", cluster.redis_master, 14, seconds=20
        ),
        "redis-frozen": lambda: frozen(
            "Redis master frozen", "nothing", cluster.redis_master, 14, seconds=20
        ),
        "node-killed": lambda: killed(
            "an application node killed",
            "half-sent bodies only",
            cluster.nodes[0],
            12,
            seconds=20,
            may_fail=4,
        ),
        "node-reloaded": node_reloaded,
        "deployment": deployment,
        "switchover": lambda: scenario(
            "planned switchover",
            "writes within 5 s",
            (4, "switch", cluster.switch_over),
            seconds=20,
            pause=5 + AT_ONCE,
        ),
    }
    return found | ({"network-cut": network_cut} if cluster.network.can_cut else {})


def deploy(cluster: Cluster) -> None:
    """Unpack a release, migrate, and let the link point to it, as
    docs/operations/upgrade.md does.
    """
    new = cluster.folder / f"release-{time.time():.0f}"
    new.mkdir()
    archive = subprocess.run(
        ["git", "-C", servers.ROOT, "archive", "HEAD"], check=True, capture_output=True
    )
    subprocess.run(["tar", "x", "-C", new], input=archive.stdout, check=True)
    cluster.manage(new, "migrate", "-v0")
    link = Path(f"{new}.link")
    link.symlink_to(new)
    link.rename(cluster.release)


HEAD = (
    "fault",
    "public reads",
    "failed",
    "wrong bodies",
    "lost saves",
    "saves",
    "not saved",
    "submissions",
    "longest time without a save, s",
    "longest read, ms",
    "p99 of reads, ms",
    "goal",
)


def cells(result: Result) -> list[Any]:
    """The row of a result. A public read that got a 503 has failed;
    reads of the account are not counted.
    """
    recruiter = result.recruiter
    assert recruiter
    unavailable = result.all("unavailable")
    failed = result.all("failed") + [
        each for each in unavailable if not each[1].startswith("/v1/user/")
    ]
    took = sorted(result.all("took_public")) or [0.0]
    lost = [text for text in result.found if text.startswith("saved ")]
    others = [text for text in result.found if text.startswith("submission ")]
    refused = f"{len(recruiter.unavailable)} × 503, {len(recruiter.failed)} others"
    return [
        result.scenario.title,
        len(took),
        len(failed),
        len(result.wrong) - len(lost + others),
        len(lost),
        recruiter.saved,
        refused,
        result.submissions,
        f"{result.longest_pause:.1f}",
        f"{1000 * took[-1]:.0f}",
        f"{1000 * took[int(0.99 * (len(took) - 1))]:.0f}",
        result.scenario.goal,
    ]
