"""The recruiter of the chaos harness finds each save that a site acknowledged and lost."""

import html
import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs

import pytest

from tests.chaos.recruiter import Recruiter
from tests.servers import free_port, until

PKS = [1, 2, 3]
SAVES = 30


class LosingSite(ThreadingHTTPServer):
    """An admin that acknowledges SAVES saves, and does not store those of `lost`, by number from 0.
    Answers 503 to later ones.
    """

    def __init__(self, lost: set[int]) -> None:
        super().__init__(("127.0.0.1", free_port()), Handler)
        self.lost, self.titles, self.count = lost, {pk: f"Job {pk}" for pk in PKS}, 0


class Handler(BaseHTTPRequestHandler):
    server: LosingSite

    def do_GET(self) -> None:
        name, title = "login-form", ""
        if found := re.search(r"/vacancy/(\d+)/", self.path):
            name, title = "vacancy_form", html.escape(self.server.titles[int(found[1])])
        self._send(200, f'<form id="{name}"><input name="title" value="{title}"></form>')

    def do_POST(self) -> None:
        form = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
        if found := re.search(r"/vacancy/(\d+)/", self.path):
            if self.server.count >= SAVES:
                self._send(503, "", {"Retry-After": "2"})
                return
            if self.server.count not in self.server.lost:
                self.server.titles[int(found[1])] = form["title"][0]
            self.server.count += 1
        self._send(302, "")

    def _send(self, status: int, page: str, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in {"Content-Type": "text/html", **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(page.encode())

    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture
def ended() -> Iterator[threading.Event]:
    """An event that no client waits for, so that the recruiter does not pause between two saves."""
    event = threading.Event()
    event.wait = lambda timeout=None: event.is_set()  # type: ignore[method-assign]
    yield event
    event.set()


@pytest.mark.parametrize("lost", [set(), set(range(0, SAVES, 3)), {*range(5, 23), 29}], ids=len)
def test_each_acknowledged_save_that_is_lost_is_reported(
    lost: set[int], ended: threading.Event
) -> None:
    with LosingSite(lost) as site:
        threading.Thread(
            target=site.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True
        ).start()
        recruiter = Recruiter(site.server_port, PKS, ended)
        recruiter.start()
        until(lambda: len(recruiter.unavailable) > len(PKS) or recruiter.failed)
        ended.set()
        recruiter.join()
        found = recruiter.overwritten + recruiter.lost(site.titles)
        site.shutdown()

    assert (recruiter.saved, recruiter.failed) == (SAVES, [])
    assert len(found) == len(lost), found
