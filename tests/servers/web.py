"""The site under gunicorn, and any other application that serves HTTP."""

import http.client
import os
import signal
import socket
import sys
from collections.abc import Iterable
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from tests.servers.process import ROOT, SYSTEM_ENV, TIMEOUT, Server, children, free_port, until


def get(port: int, path: str, headers: dict[str, str] | None = None, timeout: float = 30) -> Any:
    """Return status, headers and body."""
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=timeout)) as connection:
        connection.request("GET", path, headers=headers or {})
        response = connection.getresponse()
        return response.status, response.headers, response.read()


class Web(Server):
    """A server that is up once `probe` gets a status of `up_statuses`."""

    probe = "/v1/vacancies?page[size]=1"
    up_statuses: Iterable[int] = (200, 503)  # 503: the site runs without its database
    host = "127.0.0.1"  # the Host header of the probe

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.port = free_port()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def is_up(self) -> bool:
        with suppress(OSError, http.client.HTTPException):
            return get(self.port, self.probe, {"Host": self.host}, timeout=5)[0] in self.up_statuses
        return False


class Application(Web):
    """An application served by `command`, in which "PORT" stands for its port;
    up once `probe` gets 200.
    """

    cwd = ROOT
    up_statuses = (200,)

    def __init__(self, folder: Path, *command: str, env: dict[str, str], probe: str) -> None:
        super().__init__(folder)
        self.env, self.probe = SYSTEM_ENV | env, probe
        self.command = [part.replace("PORT", str(self.port)) for part in command]

    def peak_mib(self) -> float:
        """Peak memory of the largest worker, in MiB."""
        statuses = (Path(f"/proc/{pid}/status").read_text().splitlines() for pid in self.pids()[1:])
        lines = (line for status in statuses for line in status if line.startswith("VmHWM"))
        return max(int(line.split()[1]) for line in lines) / 1024


class Gunicorn(Web):
    """The site with deploy/gunicorn.conf.py and additional `switches`."""

    def __init__(self, folder: Path, env: dict[str, str], *switches: str) -> None:
        super().__init__(folder)
        self.new_master = 0  # the process that replaced the one that was started
        self.configure(env, *switches)

    def configure(self, env: dict[str, str], *switches: str) -> None:
        """Use these variables and switches from the next start on."""
        self.env = SYSTEM_ENV | env
        self.pid_file = Path(f"{self.folder}.pid")
        self.command = [
            # The script, not `python -m`: a USR2 upgrade starts sys.argv[0] again, from another
            # folder.
            str(Path(sys.executable).with_name("gunicorn")),
            "-c",
            str(ROOT / "deploy/gunicorn.conf.py"),
            "-b",
            f"127.0.0.1:{self.port}",
            "-p",
            str(self.pid_file),
            "--no-control-socket",
            "--chdir",
            str(ROOT),
            *switches,
        ]

    def workers(self) -> list[int]:
        return self.pids()[1:]

    def kill_worker(self) -> None:
        """Kill a worker. Returns when it has been replaced and the node responds."""
        before = self.workers()
        os.kill(before[0], signal.SIGKILL)
        until(
            lambda: (
                before[0] not in self.workers()
                and len(self.workers()) >= len(before)
                and self.is_up()
            )
        )

    def reload(self) -> None:
        """Replace the workers (HUP), which load the code again. Returns when a new one responds."""
        assert self.process
        before = set(self.workers())
        self.process.send_signal(signal.SIGHUP)
        until(lambda: before.isdisjoint(self.workers()) and self.is_up())

    def upgrade(self) -> None:
        """Replace the master (USR2) by a new one on the same socket."""
        assert self.process
        old, new_file = self.process, Path(f"{self.pid_file}.2")
        old.send_signal(signal.SIGUSR2)
        until(lambda: new_file.exists() and new_file.read_text().strip())
        pid = self.new_master = int(new_file.read_text())
        wanted = len([worker for worker in self.workers() if worker != pid])
        until(lambda: len(children(pid)) >= wanted)
        old.send_signal(signal.SIGTERM)
        old.wait(timeout=TIMEOUT)

    def stop(self) -> None:
        with suppress(ProcessLookupError):
            if self.new_master:  # not a child of this process
                os.kill(self.new_master, signal.SIGTERM)
        super().stop()
        if self.new_master:
            self.new_master = 0
            until(self._is_closed)

    def _is_closed(self) -> bool:
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) != 0
