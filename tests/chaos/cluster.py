"""A whole site on loopback that can be broken: nginx in front of two nodes, a PostgreSQL primary with two
streaming replicas, and Redis."""

import contextlib
import signal
import threading
from pathlib import Path
from typing import Any

from tests import servers
from tests.chaos import database
from tests.chaos.config import ENV


class Cluster:
    """All servers. The database is filled before its replicas are created.

    `data` is a folder of PostgreSQL's to start with; `stack` stops the servers.
    """

    def __init__(
        self,
        folder: Path,
        stack: contextlib.ExitStack,
        count: int,
        data: Path | None = None,
        env: dict[str, str] | None = None,
    ) -> None:
        def stop(server: servers.Server) -> None:
            with contextlib.suppress(Exception):  # stop the others too
                server.stop()

        def start(server: Any) -> Any:
            self.started.append(server)
            stack.callback(stop, server)
            server.start()
            return server

        self.paused = threading.Event()  # no reads and no writes
        self.started: list[servers.Server] = []
        memory = {"shared_buffers": "256MB", "max_wal_size": "4GB"} if count > 100_000 else {}
        options = {"max_connections": "80", "wal_log_hints": "on", **memory}
        self.primary = start(servers.Postgres(data or folder / "primary", **options))
        self.primary.stop_signal = signal.SIGINT  # with a checkpoint, so that the data can be used again
        self.primary.database = database.largest(self.primary) or "postgres"
        self.env = ENV | {"STATIC_ROOT": str(folder / "static")} | (env or {})
        self.token = database.fill(self.env | {"DATABASE_URL": self.primary.url}, count)
        copies = [servers.Postgres(folder / f"replica_{n}", self.primary, **options) for n in (1, 2)]
        self.replicas = [start(copy) for copy in copies]
        database.connect_to(self.primary_url)
        self.redis = start(servers.Redis(folder / "redis"))
        self.env["CACHE_URL"] = self.redis.url
        self.nodes = [start(servers.Gunicorn(folder / f"node_{n}", self.replicated_env)) for n in (1, 2)]
        self.nginx = start(servers.LoadBalancer(folder / "nginx", self.nodes))

    @property
    def primary_url(self) -> str:
        """The DATABASE_URL that finds the current primary."""
        hosts = ",".join(f"127.0.0.1:{each.port}" for each in (self.primary, *self.replicas))
        return f"postgres://postgres@{hosts}/{self.primary.database}?target_session_attrs=read-write"

    @property
    def replicated_env(self) -> dict[str, str]:
        """The environment of nodes that read from replicas."""
        replicas = ",".join(replica.url for replica in self.replicas)
        return self.env | {"DATABASE_URL": self.primary_url, "REPLICA_URLS": replicas}

    @property
    def single_env(self) -> dict[str, str]:
        """The environment of nodes that know the primary only."""
        return self.env | {"DATABASE_URL": self.primary.url}

    def fail_over(self) -> None:
        """Promote the replica that received more."""
        order = "SELECT pg_wal_lsn_diff(pg_last_wal_receive_lsn(), '0/0')"
        self.replicas.sort(key=lambda replica: replica.sql(order))
        self.replicas[-1].promote()

    def rejoin(self) -> None:
        """Copy the new primary to the lost primary and to the other replica, and start them as replicas."""
        new, *others = self.replicas.pop(), self.primary, *self.replicas
        for server in others:
            server.stop()
            server.copy(new)
            server.start()
        self.primary, self.replicas = new, others

    def configure(self, env: dict[str, str], *switches: str) -> None:
        """Restart the nodes with this environment and these switches of gunicorn, unless they have them."""
        for node in self.nodes:
            before = node.env, node.command
            node.configure(env, *switches)
            if before != (node.env, node.command):
                node.stop()
                node.start()

    def repair(self) -> None:
        """Thaw and start all servers, and resume replication."""
        for server in self.started:
            assert server.process
            server.thaw()
            if getattr(server, "new_master", 0):
                server.stop()
            if server.process.poll() is not None:
                server.start()
        for replica in self.replicas:
            replica.sql("SELECT pg_wal_replay_resume() WHERE pg_is_in_recovery()")
