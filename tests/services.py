"""A second, real instance of this service: its own process, its own database."""

import os
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

from tests.servers import free_port

ROOT = Path(__file__).resolve().parent.parent


class Instance:
    """An instance with a SQLite file in `folder`; `manage` runs its commands, `serve` serves it."""

    def __init__(self, folder: Path, **env: str) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.env = {
            **os.environ,
            "DATABASE_URL": f"sqlite:///{folder / 'db.sqlite3'}",
            "SECRET_KEY": "only-for-this-test-" * 4,
            "ALLOWED_HOSTS": "127.0.0.1",
            "DJANGO_SETTINGS_MODULE": "jobsite.settings",
            "RATE_LIMIT": "off",
            **env,
        }
        self.manage("migrate", "-v0")

    def manage(self, *words: str, check: bool = True, **kwargs: object) -> subprocess.CompletedProcess:
        """Run manage.py with `words`; its output is text."""
        done = subprocess.run(
            [sys.executable, "manage.py", *words],
            cwd=ROOT, env=self.env, capture_output=True, text=True, timeout=120, **kwargs,
        )  # fmt: skip
        if check:
            assert done.returncode == 0, done.stderr
        return done

    @contextmanager
    def serve(self) -> Iterator[str]:
        """Serve it with gunicorn; give its base URL."""
        port = free_port()
        command = [
            sys.executable,
            "-m",
            "gunicorn",
            "jobsite.wsgi",
            "-b",
            f"127.0.0.1:{port}",
            "--threads",
            "4",
        ]
        server = subprocess.Popen(
            [*command, "--no-control-socket", "--log-level", "warning"], cwd=ROOT, env=self.env
        )
        url = f"http://127.0.0.1:{port}"
        try:
            deadline = time.monotonic() + 30
            while True:
                try:
                    urllib.request.urlopen(f"{url}/v1/filters", timeout=5).close()
                    break
                except OSError:  # refused, or too slow to answer at a busy moment
                    assert time.monotonic() < deadline, "the service did not come up"
                    time.sleep(0.1)
            yield url
        finally:
            server.terminate()
            server.wait(timeout=20)


@contextmanager
def answering(routes: dict[str, tuple[int, dict[str, str], bytes]]) -> Iterator[tuple[str, list[str]]]:
    """Serve `routes`, (status, headers, body) by path with query, and 404 for others. Give the base URL, and
    the list of the paths that were asked for."""
    seen: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            seen.append(self.path)
            status, headers, body = routes.get(self.path, (404, {}, b"{}"))
            self.send_response(status)
            host = self.headers["Host"]
            for name, value in {"Content-Length": str(len(body)), "Connection": "close", **headers}.items():
                self.send_header(name, value.format(host=host))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}", seen
        finally:
            server.shutdown()
            thread.join()
