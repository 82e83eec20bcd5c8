"""The whole cluster: five machines of deploy/cluster, two nodes of the site and nginx."""

import contextlib
import os
import shutil
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import psycopg

from tests import servers
from tests.chaos import database
from tests.chaos.config import ENV
from tests.chaos.machines import programs
from tests.chaos.machines.network import Network

DATABASES, APPLICATIONS = ("db1", "db2", "db3"), ("app1", "app2")
PASSWORD = "OnlyForChaosTests9"
PARTS = {
    "etcd": ("etc/default/etcd", programs.Etcd),
    "postgresql": ("etc/patroni/config.yml", programs.Patroni),
    "redis": ("etc/redis/redis.conf", programs.Redis),
    "sentinel": ("etc/redis/sentinel.conf", programs.Sentinel),
    "application": ("etc/haproxy/haproxy.cfg", programs.HAProxy),
}
# The folders of a machine that the user of a server owns; None: the user of these tests. etcd and
# PostgreSQL have the same one here.
FOLDERS = {
    "redis": ("etc/redis", "var/lib/redis", "run/redis", "run/sentinel"),
    "postgres": ("var/lib/etcd", "var/lib/postgresql", "var/run/postgresql", "etc/patroni"),
    None: ("run/haproxy",),
}


def log(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


class Cluster:
    """All servers, in the order of their start. `stack` stops them."""

    def __init__(
        self, folder: Path, stack: contextlib.ExitStack, count: int, logs: Path | None
    ) -> None:
        self.folder, self.stack = folder, stack
        self.release = folder / "current"
        self.release.symlink_to(servers.ROOT)
        if logs:
            stack.callback(self.keep_logs, logs)
        self.paused = threading.Event()
        self.network = Network()
        stack.callback(self.network.remove)
        self.plan = self._plan()
        self.started: list[servers.Server] = []
        self.etcd: dict[str, programs.Etcd] = self._start("etcd")
        self.databases: dict[str, programs.Patroni] = self._start("postgresql")
        self.redis: dict[str, programs.Redis] = self._start("redis")
        self.sentinels: dict[str, programs.Sentinel] = self._start("sentinel")
        self.haproxies: dict[str, programs.HAProxy] = self._start("application")
        servers.until(self.is_whole, within=300)
        log("the database cluster is complete")
        self._create_database()
        settings = {name: self.plan.settings(self.plan.machine(name)) for name in APPLICATIONS}
        self.env = ENV | {
            "STATIC_ROOT": str(folder / "static"),
            "PRIVATE_ROOT": str(folder / "private"),
        }
        self.url = settings["app1"]["DATABASE_URL"]
        quickly = "&options=-csynchronous_commit%3Doff"
        self.token, self.site = database.fill(
            self.env | {"DATABASE_URL": self.url + quickly}, count
        )
        self.manage(servers.ROOT, "render_items")  # as after a deployment
        database.connect_to(f"{self.url}&options=-csynchronous_commit%3Don")
        self.nodes = []
        for name in APPLICATIONS:
            names = ("DATABASE_URL", "REPLICA_URL", "CACHE_URL")
            env = self.env | {each: settings[name][each] for each in names}
            node = servers.Gunicorn(folder / f"node_{name}", env, "--chdir", str(self.release))
            self.nodes.append(self._add(node))
        self.nginx = self._add(servers.LoadBalancer(folder / "nginx", self.nodes))

    def _plan(self) -> Any:
        """Write cluster.ini with the addresses of this run, and the configuration
        of each machine.
        """
        text = (
            (servers.ROOT / "deploy/cluster/cluster.ini")
            .read_text()
            .replace("= CHANGE", f"= {PASSWORD}")
        )
        version = servers.POSTGRES.parent.name  # type: ignore[union-attr]
        text = text.replace("10.0.0.0/24", self.network.network).replace("= 15\n", f"= {version}\n")
        for number, name in enumerate((*DATABASES, *APPLICATIONS), 11):
            address = self.network.add(name, number, is_apart=name in DATABASES)
            old = next(line for line in text.splitlines() if line.startswith(f"{name} = ")).split()[
                2
            ]
            text = text.replace(f"{name} = {old} ", f"{name} = {address} ")
        ini = self.folder / "cluster.ini"
        ini.write_text(text)
        sys.path.append(str(servers.ROOT / "deploy/cluster"))
        import render

        plan = render.Cluster.read(ini)
        for machine in plan.machines:
            root = self.folder / machine.name
            for path, content in plan.files(machine).items():
                (root / path[1:]).parent.mkdir(parents=True, exist_ok=True)
                (root / path[1:]).write_text(self._local(content, root))
        return plan

    @staticmethod
    def _local(text: str, root: Path) -> str:
        """The configuration with paths below `root` and without accounts that only root can use."""
        for old in ("/var/lib/", "/var/run/", " /run/"):
            text = text.replace(old, f"{' ' * old.startswith(' ')}{root}/{old.strip().lstrip('/')}")
        text = text.replace(f"bin_dir: {root}/usr", "bin_dir: /usr")
        for line in (
            "    user haproxy\n",
            "    group haproxy\n",
            "    log /dev/log local0 notice\n",
        ):
            text = text.replace(line, "")
        return text.replace("supervised auto", "supervised no")

    def _start(self, part: str) -> Any:
        """Start this part on all machines that have it, at the same time."""
        path, kind = PARTS[part]
        found: dict[str, Any] = {}
        for machine in self.plan.having(part):
            root = self.folder / machine.name
            for user, names in FOLDERS.items():
                for name in names:
                    (root / name).mkdir(parents=True, exist_ok=True)
                    if user and not os.geteuid():
                        subprocess.run(["chown", "-R", f"{user}:", root / name], check=True)
            root.chmod(0o755)
            server = kind(root / part, self.network, machine.name, machine.address, root / path)
            found[machine.name] = server
            self.started.append(server)
            self.stack.callback(server.crash)
        threads = [threading.Thread(target=server.start) for server in found.values()]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return found

    def _add(self, server: Any) -> Any:
        self.started.append(server)
        self.stack.callback(server.crash)
        server.start()
        return server

    # --- The state of the databases

    def superuser(self, name: str = "postgres") -> str:
        return f"postgres://postgres:{PASSWORD}@/{name}"

    @property
    def primary(self) -> programs.Patroni:
        """The server that Patroni calls the primary. Waits for one."""
        found: list[programs.Patroni] = []
        servers.until(lambda: found.extend(self._in_state("/primary")) or found)
        return found[0]

    def _in_state(self, path: str) -> list[programs.Patroni]:
        """The servers whose Patroni answers 200 at `path`."""
        return [each for each in self.databases.values() if each.state(path) == 200]

    def replicas(self) -> list[programs.Patroni]:
        """The other servers; the synchronous standby is the first."""
        primary = self.primary
        others = [each for each in self.databases.values() if each is not primary]
        return sorted(others, key=lambda each: each.state("/sync") != 200)

    def is_whole(self) -> bool:
        """Whether there are one primary and two replicas that have caught up, one of them
        synchronous.
        """
        return [
            len(self._in_state(path)) for path in ("/primary", "/replica?lag=1MB", "/sync")
        ] == [1, 2, 1]

    def _create_database(self) -> None:
        with psycopg.connect(
            self.superuser(), host=self.primary.address, autocommit=True
        ) as connection:
            connection.execute(f"CREATE ROLE jobsite LOGIN PASSWORD '{PASSWORD}'")
            connection.execute("CREATE DATABASE jobsite OWNER jobsite")

    def switch_over(self) -> None:
        """Plan a switchover to the synchronous standby, as docs/operations/cluster.md does."""
        primary, candidate = self.primary, self.replicas()[0]
        command = [
            "patronictl",
            "-c",
            str(primary.conf),
            "switchover",
            "--master",
            primary.machine,
            "--candidate",
            candidate.machine,
            "--force",
            "jobsite",
        ]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stdout + done.stderr
        log(done.stdout.strip().splitlines()[0])

    @property
    def redis_master(self) -> programs.Redis:
        """The master that Sentinel appointed: HAProxy's checks find the same."""
        for server in self.redis.values():
            address = server.address, server.port
            with contextlib.suppress(OSError), socket.create_connection(address, timeout=2) as link:
                link.sendall(f"AUTH {PASSWORD}\r\nROLE\r\n".encode())
                time.sleep(0.2)
                if b"master" in link.recv(1000):
                    return server
        raise AssertionError("no master")

    def manage(self, folder: Path, *words: str) -> None:
        """Run manage.py of the release in `folder`."""
        env = os.environ | self.env | {"DATABASE_URL": self.url}
        command = [sys.executable, "manage.py", *words]
        subprocess.run(command, cwd=folder, env=env, check=True, timeout=120)

    # --- What tests.chaos.run needs

    def configure(self, *switches: str) -> None:
        """The nodes keep their switches."""

    def repair(self) -> None:
        """Thaw and start all servers, mend the network, and wait until the cluster is whole."""
        for name in self.network.spaces:
            self.network.mend(name)
        for server in self.started:
            server.thaw()
        for server in self.started:
            if server.process and server.process.poll() is not None:
                server.start()
        for server in self.databases.values():
            with contextlib.suppress(psycopg.Error):
                server.sql(
                    self.superuser(), "SELECT pg_wal_replay_resume() WHERE pg_is_in_recovery()"
                )
        took = servers.until(self.is_whole, within=300)
        log(f"the cluster is whole again after {took:.1f} s")

    def keep_logs(self, folder: Path) -> None:
        folder.mkdir(exist_ok=True)
        for path in self.folder.glob("*/*.log"):
            shutil.copy(path, folder / f"{path.parent.name}-{path.name}")
