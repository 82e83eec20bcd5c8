"""A site on one machine that can be broken: nginx in front of two nodes, PostgreSQL and Redis."""

import contextlib
import threading
from pathlib import Path
from typing import Any, Protocol

from tests import servers
from tests.chaos import applicants, database
from tests.chaos.config import ENV
from tests.chaos.disk import Disk


class System(Protocol):
    """What a scenario runs against: a site on one machine, or a cluster."""

    paused: threading.Event  # no reads and no writes
    token: str  # of the applicant whose applications are read
    site: applicants.Site  # for applicants who submit
    nodes: list[servers.Gunicorn]
    nginx: servers.LoadBalancer

    def configure(self, *switches: str) -> None:
        """Restart the nodes with these switches of gunicorn, unless they have them."""

    def repair(self) -> None:
        """Undo all faults and wait until everything works."""


class Site:
    """All servers; `stack` stops them."""

    def __init__(
        self,
        folder: Path,
        stack: contextlib.ExitStack,
        count: int,
        env: dict[str, str],
        *,
        has_bucket: bool = False,
    ) -> None:
        def stop(server: servers.Server) -> None:
            with contextlib.suppress(Exception):  # stop the others too
                server.stop()

        def start(server: Any) -> Any:
            self.started.append(server)
            stack.callback(stop, server)
            server.start()
            return server

        self.paused = threading.Event()
        self.started: list[servers.Server] = []
        memory = {"shared_buffers": "256MB", "max_wal_size": "4GB"} if count > 100_000 else {}
        self.primary = start(servers.Postgres(folder / "primary", max_connections="80", **memory))
        self.env = (
            ENV
            | {
                "STATIC_ROOT": str(folder / "static"),
                "PRIVATE_ROOT": str(folder / "private"),
                "DATABASE_URL": self.primary.url,
            }
            | env
        )
        if has_bucket:
            self.disk = Disk(folder / "disk", stack, 64)
            self.store = start(servers.Swift(folder / "store", self.disk.root))
            self.store.create_bucket("jobsite")
            self.env["FILES_URL"] = self.store.files_url("jobsite")
        self.token, self.site = database.fill(self.env, count)
        self.redis = start(servers.Redis(folder / "redis"))
        self.env["CACHE_URL"] = self.redis.url
        self.nodes = [start(servers.Gunicorn(folder / f"node_{n}", self.env)) for n in (1, 2)]
        self.nginx = start(servers.LoadBalancer(folder / "nginx", self.nodes))

    def configure(self, *switches: str) -> None:
        for node in self.nodes:
            before = node.command
            node.configure(self.env, *switches)
            if before != node.command:
                node.stop()
                node.start()

    def repair(self) -> None:
        """Thaw and start all servers."""
        for server in self.started:
            assert server.process
            server.thaw()
            if getattr(server, "new_master", 0):
                server.stop()
            if server.process.poll() is not None:
                server.start()
