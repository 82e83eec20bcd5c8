"""The servers of a machine: etcd, Patroni with PostgreSQL, HAProxy, Redis and Sentinel."""

import http.client
import os
import shutil
import signal
import socket
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import psycopg

from tests.chaos.machines.network import Network
from tests.servers import Server, children

PROGRAMS = ("patroni", "etcd", "haproxy", "redis-server", "redis-sentinel")


def missing() -> list[str]:
    """The programs that are not installed."""
    path = f"{os.environ.get('PATH', '')}:/usr/sbin"
    return [name for name in PROGRAMS if not shutil.which(name, path=path)]


class Program(Server):
    """A server of a machine, with the configuration `conf` that was rendered for it."""

    port: int
    user_name: str | None = "postgres"

    def __init__(
        self, folder: Path, network: Network, machine: str, address: str, conf: Path
    ) -> None:
        super().__init__(folder)
        self.machine, self.address, self.conf = machine, address, conf
        self.command = network.inside(machine, self.user_name, *self.words())

    def words(self) -> list[str]:
        raise NotImplementedError

    def is_up(self) -> bool:
        with suppress(OSError):
            socket.create_connection((self.address, self.port), timeout=1).close()
            return True
        return False


class Etcd(Program):
    port = 2379

    def words(self) -> list[str]:
        lines = [
            line for line in self.conf.read_text().splitlines() if line and not line.startswith("#")
        ]
        self.env = {"PATH": os.environ["PATH"]} | dict(line.split("=", 1) for line in lines)
        return ["etcd"]


class Patroni(Program):
    """Patroni and its PostgreSQL: killed and frozen together, as a machine is."""

    port = 8008

    def words(self) -> list[str]:
        self.env = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8"}
        return ["patroni", str(self.conf)]

    @property
    def data(self) -> Path:
        line = next(line for line in self.conf.read_text().splitlines() if "data_dir:" in line)
        return Path(line.split()[1])

    def postgres(self) -> list[int]:
        """The process ids of PostgreSQL, the first is that of the postmaster."""
        with suppress(OSError, ValueError, IndexError):
            pid = int((self.data / "postmaster.pid").read_text().split()[0])
            if Path(f"/proc/{pid}/comm").read_text().startswith("postgres"):
                return [pid, *children(pid)]
        return []

    def pids(self) -> list[int]:
        return [*super().pids(), *self.postgres()]

    def _signal(self, number: int) -> None:
        super()._signal(number)
        for pid in self.postgres():  # also without Patroni
            with suppress(ProcessLookupError):
                os.kill(pid, number)

    def kill_postgres(self) -> None:
        """Kill PostgreSQL and leave Patroni running."""
        for pid in self.postgres():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def state(self, path: str) -> int:
        """The status of Patroni's API; 0 if it does not respond."""
        try:
            with closing(
                http.client.HTTPConnection(self.address, self.port, timeout=2)
            ) as connection:
                connection.request("GET", path)
                return connection.getresponse().status
        except (OSError, http.client.HTTPException):
            return 0

    def sql(self, url: str, statement: str) -> Any:
        with psycopg.connect(
            url, host=self.address, autocommit=True, connect_timeout=2
        ) as connection:
            cursor = connection.execute(statement)  # type: ignore[arg-type]
            row = cursor.fetchone() if cursor.description else None
            return row and row[0]


class HAProxy(Program):
    port = 5000
    user_name = None

    def words(self) -> list[str]:
        return [shutil.which("haproxy") or "/usr/sbin/haproxy", "-db", "-f", str(self.conf)]


class Redis(Program):
    port = 6379
    user_name = "redis"
    program = "redis-server"

    def words(self) -> list[str]:
        return [self.program, str(self.conf)]


class Sentinel(Redis):
    port = 26379
    program = "redis-sentinel"
