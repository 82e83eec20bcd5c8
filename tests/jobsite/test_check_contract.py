"""check_contract: silent about a service that keeps its word, loud about one that does not."""

import json
import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from unittest import mock
from urllib.parse import urlsplit

import pytest
import urllib3
from django.core.management import CommandError, call_command

from tests.contract.sample import make_site


@pytest.fixture
def _site(transactional_db):
    make_site()


def check(capsys, url, *arguments):
    """Run the command; return its exit status and its report."""
    status = 0
    try:
        call_command("check_contract", url, "--format", "json", *arguments)
    except SystemExit as leave:
        status = leave.code
    return status, json.loads(capsys.readouterr().out)


def texts(report):
    return [f"{b['endpoint']}: {b['expected']}" for b in report["breaches"]]


@pytest.mark.usefixtures("_site")
def test_our_own_service_keeps_its_promises(capsys, live_server):
    status, report = check(capsys, live_server.url)
    assert (status, report["breaches"], report["skipped"], report["notes"]) == (0, [], [], [])
    assert report["checks"] > 2000


@pytest.mark.django_db(transaction=True)
def test_an_empty_service_keeps_its_promises(capsys, live_server):
    status, report = check(capsys, live_server.url)
    assert (status, report["breaches"]) == (0, [])


@pytest.mark.usefixtures("_site")
def test_closed_internal_lists_are_skipped_without_token(capsys, live_server, settings):
    settings.INTERNAL_ACCESS = "authenticated"
    status, report = check(capsys, live_server.url)
    assert (status, report["breaches"]) == (0, [])
    assert report["skipped"] == [
        "/v1/vacancies/hot/internal: answers 401 without --token.",
        "/v0.1/vacancies/internal: answers 401 without --token.",
    ]


@pytest.mark.usefixtures("_site")
def test_token_opens_internal_lists(capsys, live_server, settings, django_user_model):
    from knox.models import AuthToken

    settings.INTERNAL_ACCESS = "authenticated"
    token = AuthToken.objects.create(django_user_model.objects.create_user("colleague"))[1]
    status, report = check(capsys, live_server.url, "--token", token)
    assert (status, report["breaches"], report["skipped"]) == (0, [], [])
    status, report = check(capsys, live_server.url, "--token", "wrong")
    assert status == 1
    assert texts(report) == [
        "/v1/vacancies/hot/internal: the token to open it",
        "/v0.1/vacancies/internal: the token to open it",
    ]


@pytest.mark.usefixtures("_site")
def test_text_report_is_one_summary_line(capsys, live_server):
    call_command("check_contract", live_server.url)
    out, err = capsys.readouterr()
    assert out.startswith(f"{live_server.url}: keeps its promises (")
    assert out.count("\n") == 1
    assert err == ""


# --- Breaches ----------------------------------------------------------------------------------

SENT_ON = ("Content-Type", "Allow", "Cache-Control", "ETag")
BREACHES = set()


def _spoil(path, status, headers, body):
    """Wrong answers, each a mistake that such services make."""
    data = json.loads(body) if headers.get("Content-Type") == "application/json" and body else None
    if path == "/v1/vacancies" and status == 200 and data and data["data"]:
        item = data["data"][0]
        item["updated_at"] = item.get("updated_at", "").replace(" ", "T") + "Z"
        item["slug"] = f"{item.get('slug')}-seo"
        if item.get("id"):
            data["data"][-1]["regions"] = None
        data["links"]["first"] = data["links"]["first"].replace("%5B", "[").replace("%5D", "]")
    elif path == "/v1/vacancies/hot" and data:
        for item in data["data"]:
            item["is_hot"] = False
        data["meta"]["last_page"] += 1
    elif path == "/v0.1/vacancies" and data:
        data = {"links": data["links"], "data": data["data"], "meta": data["meta"]}
        for item in data["data"]:
            item["type"] = "Other"
            del item["location"]
    elif path == "/v0.1/vacancies/internal" and data:
        data["meta"]["path"] += "?page=1"
        status = 200
    elif path == "/v1/filters" and data:
        for filter_ in data["data"]:
            filter_["options"][0]["count"] += 1
    elif path == "/v1/vacancies/0":
        status, headers, body = 500, {"Content-Type": "text/html"}, b"<h1>Server Error</h1>"
    elif path == "/v1/vacancies/hot/internal" and status == 400:
        status, headers, data = 200, {"Content-Type": "application/json"}, {"data": []}
    elif path == "/v1/vacancies/hot/internal" and status == 405:
        headers.pop("Allow", None)
    if data is not None:
        body = json.dumps(data).encode()
    return status, headers, body


@pytest.fixture
def broken_service(_site, live_server):
    """The answers of our service, some of them spoilt, from a server of the standard library."""
    pool = urllib3.PoolManager(retries=False)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def answer(self):
            sent = {name: self.headers[name] for name in ("Accept", "If-None-Match") if self.headers[name]}
            ours = pool.request(self.command, live_server.url + self.path, headers=sent, redirect=False)
            headers = {name: ours.headers[name] for name in SENT_ON if name in ours.headers}
            status, headers, body = _spoil(urlsplit(self.path).path, ours.status, headers, ours.data)
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)

        do_GET = do_HEAD = do_OPTIONS = do_POST = do_DELETE = answer  # noqa: N815 - names of the base class

        def log_message(self, *args):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_breaches_are_named(broken_service, capsys):
    status, report = check(capsys, broken_service)
    assert status == 1
    print(json.dumps(texts(report), indent=1))
    assert set(texts(report)) >= BREACHES
    assert {text.partition(":")[0] for text in set(texts(report)) - BREACHES} == set()


def test_breaches_are_one_line_each(broken_service, capsys):
    with pytest.raises(SystemExit) as leave:
        call_command("check_contract", broken_service)
    assert leave.value.code == 1
    out, err = capsys.readouterr()
    assert out.count("\n") == 1
    assert "breaches (" in out
    lines = [line for line in err.splitlines() if line.startswith("breach: ")]
    assert len(lines) >= len(BREACHES)
    assert any(
        line.startswith("breach: /v1/vacancies: expected item.updated_at to be YYYY-MM-DD HH:MM:SS; came ")
        for line in lines
    )
    assert all("; came " in line for line in lines)


# --- Calls -------------------------------------------------------------------------------------


def test_no_service_is_a_failure(capsys):
    with socket.socket() as taken:  # bound, but nobody listens
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
        status, report = check(capsys, url)
    assert status == 1
    assert texts(report) == ["/v1/vacancies: an answer"]
    assert report["requests"] == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ("ftp://jobs.example.com",),
        ("jobs.example.com",),
        ("http://",),
        ("file:///etc/passwd",),
        ("http://jobs.example.com/?page=1",),
        ("http://jobs.example.com", "--max-pages", "0"),
    ],
)
def test_wrong_calls_are_usage_errors(arguments):
    with pytest.raises(CommandError) as error:
        call_command("check_contract", *arguments)
    assert error.value.returncode == 2


@pytest.mark.usefixtures("_site")
def test_max_pages_bounds_the_reading(capsys, live_server):
    with mock.patch("jobsite.contract.lists.BIG", 2):
        status, report = check(capsys, live_server.url, "--max-pages", "2")
    assert (status, report["breaches"]) == (0, [])
    assert "/v1/vacancies: read 2 of 5 pages." in report["notes"]
