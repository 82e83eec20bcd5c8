"""Real servers of the tests' own, to be killed and frozen: PostgreSQL with streaming replicas, Redis, the
site under gunicorn, nginx in front of it."""

import http.client
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import psycopg

ROOT = Path(__file__).resolve().parent.parent
REDIS = shutil.which("redis-server")
NGINX = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
POSTGRES = max(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda p: int(p.parent.name), default=None)
# What a server may know of the environment that it is started from.
_NAMES = ("PATH", "HOME", "LANG", "TMPDIR", "COVERAGE_PROCESS_START")
PLAIN = {name: os.environ[name] for name in _NAMES if name in os.environ}
# PostgreSQL refuses to run as root.
_ROOT = os.getuid() == 0
PATIENCE = 60  # seconds for something that takes a moment, on a machine that does much else


def until(condition: Callable[[], Any], within: float | None = None) -> float:
    """Wait until `condition()`, PATIENCE at most; return how many seconds it took."""
    start, within = time.monotonic(), PATIENCE if within is None else within
    while not condition():
        assert time.monotonic() - start < within, f"not so within {within} s"
        time.sleep(0.02)
    return time.monotonic() - start


def free_port() -> int:
    """A port of loopback below the range that the system hands to clients; by chance, as others look for
    one too."""
    while True:
        port = random.randrange(20_000, 32_000)
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


class Server:
    """A process that is ours, with its children."""

    command: list[str]
    env: dict[str, str] | None = None  # that of this process
    user: str | None = None
    end = signal.SIGTERM

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.process: subprocess.Popen | None = None

    def is_up(self) -> bool:
        raise NotImplementedError

    def start(self) -> None:
        """Start it, again and again: what was killed a moment ago may still hold its port or its lock."""
        deadline = time.monotonic() + PATIENCE
        while True:
            with open(f"{self.folder}.log", "ab") as log:
                self.process = subprocess.Popen(
                    self.command, env=self.env, stdout=log, stderr=log, cwd="/", user=self.user,
                    group=self.user, extra_groups=[] if self.user else None, start_new_session=True,
                )  # fmt: skip
            while self.process.poll() is None:
                if self.is_up():
                    return
                assert time.monotonic() < deadline, Path(f"{self.folder}.log").read_text()[-2000:]
                time.sleep(0.05)
            assert time.monotonic() < deadline, Path(f"{self.folder}.log").read_text()[-2000:]

    def _pids(self) -> list[int]:
        """The process, then its children: they do not come back in between once it stands still."""
        assert self.process
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        return [self.process.pid, *map(int, children.read_text().split())]

    def _signal(self, number: int) -> None:
        assert self.process
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGSTOP)
            for pid in reversed(self._pids()):
                with suppress(ProcessLookupError):
                    os.kill(pid, number)

    def freeze(self) -> None:
        """Like a host that hangs: connections stay, nobody answers."""
        self._signal(signal.SIGSTOP)

    def thaw(self) -> None:
        self._signal(signal.SIGCONT)

    def crash(self) -> None:
        self._signal(signal.SIGKILL)
        assert self.process
        self.process.wait()

    def stop(self) -> None:
        if self.process:
            self.thaw()
            self.process.send_signal(self.end)
            self.process.wait(timeout=PATIENCE)


class Redis(Server):
    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        folder.mkdir()
        self.port = free_port()
        self.command = [
            str(REDIS), "--port", str(self.port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no",
            "--dir", str(folder),
        ]  # fmt: skip

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    def is_up(self) -> bool:
        with suppress(OSError):
            socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
            return True
        return False


class Postgres(Server):
    """A primary, or with one a replica of it, unless its data are in `folder` already; its only role is
    postgres. `options` are those of its configuration."""

    user = "postgres" if _ROOT else None
    end = signal.SIGQUIT  # at once, without a checkpoint
    database = "postgres"

    def __init__(self, folder: Path, primary: "Postgres | None" = None, **options: str) -> None:
        super().__init__(folder)
        self.port = free_port()
        if primary:
            self.copy(primary)
        elif not (folder / "PG_VERSION").exists():
            self._run("initdb", "-D", str(folder), "-A", "trust", "-U", "postgres", "--no-sync", "-E", "UTF8",
                      "--locale=C")  # fmt: skip
        options = {
            "port": str(self.port),
            "listen_addresses": "127.0.0.1",
            "unix_socket_directories": "",
            "fsync": "off",
            "shared_buffers": "16MB",
            "max_connections": "40",
            "wal_retrieve_retry_interval": "200ms",
        } | options
        switches = [word for name, value in options.items() for word in ("-c", f"{name}={value}")]
        self.command = [f"{POSTGRES}/postgres", "-D", str(folder), *switches]

    def copy(self, primary: "Postgres") -> None:
        """Become a replica of `primary`, whatever it was before; it must not run."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self._run("pg_basebackup", "-d", primary.url, "-D", str(self.folder), "-R", "-c", "fast")
        self.database = primary.database

    def promote(self) -> None:
        assert self.sql("SELECT pg_promote()"), "not promoted"

    def _run(self, program: str, *words: str) -> None:
        subprocess.run(
            [f"{POSTGRES}/{program}", *words], check=True, capture_output=True, cwd="/",
            timeout=30 * PATIENCE, user=self.user, group=self.user, extra_groups=[] if self.user else None,
        )  # fmt: skip

    @property
    def url(self) -> str:
        return f"postgres://postgres@127.0.0.1:{self.port}/{self.database}"

    def sql(self, statement: str) -> Any:
        """Run it; return the first value of its first row, if there is one."""
        with psycopg.connect(self.url, autocommit=True, connect_timeout=2) as connection:
            cursor = connection.execute(statement)
            row = cursor.fetchone() if cursor.description else None
            return row and row[0]

    def is_up(self) -> bool:
        with suppress(psycopg.Error):
            return bool(self.sql("SELECT 1"))
        return False


def get(
    port: int, path: str, headers: dict[str, str] | None = None, timeout: float = 30
) -> tuple[int, http.client.HTTPMessage, bytes]:
    """Return status, headers and body."""
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=timeout)) as connection:
        connection.request("GET", path, headers=headers or {})
        answer = connection.getresponse()
        return answer.status, answer.headers, answer.read()


class Web(Server):
    """A server that is up once the site behind it answers, if only that the database is away."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.port = free_port()

    def is_up(self) -> bool:
        with suppress(OSError, http.client.HTTPException):
            return get(self.port, "/v1/vacancies?page[size]=1", timeout=5)[0] in (200, 503)
        return False


class Gunicorn(Web):
    """The site, as deploy/gunicorn.conf.py serves it but for `switches`."""

    def __init__(self, folder: Path, env: dict[str, str], *switches: str) -> None:
        super().__init__(folder)
        self.renewed = 0  # the process that took over from the one that was started
        self.configure(env, *switches)

    def configure(self, env: dict[str, str], *switches: str) -> None:
        """Have these variables, and no others but the system's, from the next start on."""
        self.env = PLAIN | env
        self.pid_file = Path(f"{self.folder}.pid")
        self.command = [
            # its script: for a new binary, what `python -m` runs would be found in gunicorn's own folder
            str(Path(sys.executable).with_name("gunicorn")), "-c", str(ROOT / "deploy/gunicorn.conf.py"),
            "-b", f"127.0.0.1:{self.port}", "-p", str(self.pid_file), "--no-control-socket",
            "--chdir", str(ROOT), *switches,
        ]  # fmt: skip

    def workers(self) -> list[int]:
        return self._pids()[1:]

    def kill_worker(self) -> None:
        """Returns when there is another one, and the node has answered."""
        before = self.workers()
        os.kill(before[0], signal.SIGKILL)
        until(lambda: before[0] not in self.workers() and len(self.workers()) >= len(before) and self.is_up())

    def reload(self) -> None:
        """New workers, with the code as it is now; returns when one of them has answered."""
        assert self.process
        before = set(self.workers())
        self.process.send_signal(signal.SIGHUP)
        until(lambda: before.isdisjoint(self.workers()) and self.is_up())

    def renew(self) -> None:
        """A new gunicorn on the socket of the old one, which ends."""
        assert self.process
        old, new_file = self.process, Path(f"{self.pid_file}.2")
        old.send_signal(signal.SIGUSR2)
        until(lambda: new_file.exists() and new_file.read_text().strip())
        pid = self.renewed = int(new_file.read_text())
        children = Path(f"/proc/{pid}/task/{pid}/children")
        wanted = len([worker for worker in self.workers() if worker != pid])
        until(lambda: len(children.read_text().split()) >= wanted)
        old.send_signal(signal.SIGTERM)
        old.wait(timeout=PATIENCE)

    def stop(self) -> None:
        with suppress(ProcessLookupError):
            if self.renewed:  # no child of this process
                os.kill(self.renewed, signal.SIGTERM)
        super().stop()
        if self.renewed:
            self.renewed = 0
            until(self._is_closed)

    def _is_closed(self) -> bool:
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) != 0


class Nginx(Web):
    """nginx in front of `nodes`, on a plain port, which passes on and waits as deploy/nginx.conf says.
    Without its cache and its limits, which would keep faults of the nodes from who looks for them, and trying
    again however long it took, as on a slow machine."""

    def __init__(self, folder: Path, nodes: list[Gunicorn]) -> None:
        super().__init__(folder)
        folder.mkdir()
        deployed = (ROOT / "deploy/nginx.conf").read_text()
        kept = r"proxy_(?!cache|hide|next_upstream_timeout)|client_(?:header|body)_timeout|keepalive_timeout"
        said = re.findall(rf"^ {{4}}(?:{kept})[^#\n]*", deployed, re.M)
        said = [line for line in said if "$id" not in line]
        found = re.search(r"server 127.0.0.1:8000( [^;]*;)", deployed)
        assert said, "deploy/nginx.conf says nothing of proxying"
        assert found, "deploy/nginx.conf names no node"
        upstream = " ".join(f"server 127.0.0.1:{node.port}{found[1]}" for node in nodes)
        temporary = " ".join(
            f"{name}_temp_path {folder};" for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        )
        (folder / "conf").write_text(f"""
            daemon off; pid {folder}/pid; error_log stderr warn; worker_processes 1;
            events {{ worker_connections 1024; }}
            http {{
                access_log off; keepalive_requests 1000000; {temporary}
                {" ".join(said)}
                upstream nodes {{ {upstream} keepalive 32; }}
                server {{ listen 127.0.0.1:{self.port}; location / {{ proxy_pass http://nodes; }} }}
            }}
        """)
        self.command = [str(NGINX), "-p", str(folder), "-c", str(folder / "conf"), "-e", "stderr"]


def folder() -> Path:
    """A folder that PostgreSQL's user may write to."""
    path = Path(tempfile.mkdtemp(prefix="servers-"))
    if _ROOT:
        with suppress(LookupError):
            shutil.chown(path, "postgres")
    path.chmod(0o755)
    return path


@contextmanager
def folder_with_logs(kept_in: Path | None = None) -> Iterator[Path]:
    """Such a folder for as long as the block runs; its logs are copied to `kept_in`."""
    path = folder()
    try:
        yield path
    finally:
        if kept_in:
            kept_in.mkdir(exist_ok=True)
            for log in path.glob("*.log"):
                shutil.copy(log, kept_in)
        shutil.rmtree(path, ignore_errors=True)
