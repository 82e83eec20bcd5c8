"""check_contract: no breach for a service that conforms to the API, and one for each mistake."""

import json
import re
import socket
import threading
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from time import sleep
from unittest import mock
from urllib.parse import urlsplit

import pytest
import urllib3
from django.core.management import CommandError, call_command
from django.core.servers.basehttp import WSGIRequestHandler
from django.utils import timezone

from applications import operations, tokens
from tests.contract.sample import make_site
from tests.factories import make_insider
from tests.jobsite.contract_mistakes import BATCHES, LACKS, MISTAKES, SENT_ON
from vacancies.models import Vacancy

pytestmark = [pytest.mark.once, pytest.mark.slow]


@pytest.fixture(autouse=True)
def _no_delayed_packets(monkeypatch):
    """Without this, each response on a persistent connection is delayed by 40 ms (Nagle's algorithm)."""
    monkeypatch.setattr(WSGIRequestHandler, "disable_nagle_algorithm", True)


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


@pytest.mark.smoke
@pytest.mark.usefixtures("_site")
def test_own_service_conforms(capsys, live_server):
    status, report = check(capsys, live_server.url)
    assert (status, report["breaches"], report["skipped"], report["notes"]) == (0, [], [], [])
    assert report["checks"] > 2000


@pytest.mark.django_db(transaction=True)
def test_empty_service_conforms(capsys, live_server):
    status, report = check(capsys, live_server.url)
    assert (status, report["breaches"]) == (0, [])


@pytest.mark.usefixtures("_site")
def test_closed_internal_lists_are_skipped_without_token(capsys, live_server, settings):
    settings.INTERNAL_ACCESS = "authenticated"
    status, report = check(capsys, live_server.url)
    assert (status, report["breaches"]) == (0, [])
    assert report["skipped"] == [
        "/v1/vacancies/internal: answers 401 without --token.",
        "/v1/vacancies/hot/internal: answers 401 without --token.",
        "/v0.1/vacancies/internal: answers 401 without --token.",
    ]


@pytest.mark.usefixtures("_site")
def test_token_opens_internal_lists(capsys, live_server, settings):
    settings.INTERNAL_ACCESS = "authenticated"
    _, token = tokens.issue(user=make_insider(), lifetime=timedelta(hours=1))
    status, report = check(capsys, live_server.url, "--token", token)
    assert (status, report["breaches"], report["skipped"]) == (0, [], [])
    status, report = check(capsys, live_server.url, "--token", "wrong")
    assert status == 1
    assert texts(report) == [
        "/v1/vacancies/internal: the token to open it",
        "/v1/vacancies/hot/internal: the token to open it",
        "/v0.1/vacancies/internal: the token to open it",
        "/v1/user/applications: 200 for the token",
    ]


@pytest.mark.usefixtures("_site")
def test_token_of_an_applicant_opens_no_internal_list(capsys, live_server, settings, django_user_model):
    settings.INTERNAL_ACCESS = "authenticated"
    _, token = tokens.issue(user=django_user_model.objects.create_user("mia"), lifetime=timedelta(hours=1))

    status, report = check(capsys, live_server.url, "--token", token)

    assert (status, report["breaches"]) == (0, [])
    assert report["skipped"] == [
        "/v1/vacancies/internal: answers 403 to this token.",
        "/v1/vacancies/hot/internal: answers 403 to this token.",
        "/v0.1/vacancies/internal: answers 403 to this token.",
    ]


@pytest.mark.usefixtures("_site")
def test_applications_of_the_token_are_checked(capsys, live_server, django_user_model):
    mia = django_user_model.objects.create_user("mia")
    _, token = tokens.issue(user=mia, lifetime=timedelta(hours=1))
    status, report = check(capsys, live_server.url, "--token", token)
    assert (status, report["breaches"]) == (0, [])
    now = timezone.now()
    application = operations.receive(user=mia, vacancy=Vacancy.objects.published().first(), at=now)
    application.history.create(name="Talk", planned_at=now, is_visible=True)

    status, again = check(capsys, live_server.url, "--token", token)

    assert (status, again["breaches"]) == (0, [])
    assert again["checks"] > report["checks"] + 30


@pytest.mark.usefixtures("_site")
def test_text_report_is_one_summary_line(capsys, live_server):
    call_command("check_contract", live_server.url)
    out, err = capsys.readouterr()
    assert out.startswith(f"{live_server.url}: conforms to the API (")
    assert out.count("\n") == 1
    assert err == ""


# --- Breaches ----------------------------------------------------------------------------------


@pytest.fixture
def _newer_keyword(monkeypatch):
    """Serve the first filter with a keyword that a later version of v1 may add."""
    from vacancies.api import v1

    represent = v1.FilterSerializer.to_representation

    def newer(self, instance):
        item = represent(self, instance)
        return item | {"keyword": "salary"} if item["keyword"] == "functiongroup" else item

    monkeypatch.setattr(v1.FilterSerializer, "to_representation", newer)


@pytest.mark.usefixtures("_site", "_newer_keyword")
def test_unknown_keyword_is_a_note(capsys, live_server):
    _, report = check(capsys, live_server.url)
    assert "/v1/filters: the keyword 'salary' is newer than this command." in report["notes"]
    assert not [text for text in texts(report) if "keyword one of" in text]


def _spoil(mistake, method, path, answer):
    """Return `answer` (status, headers, body), with the `mistake` if it applies to it."""
    status, headers, body = answer
    fits = re.fullmatch(re.escape(mistake["path"]).replace(r"\{id\}", "[0-9]+"), path)
    if not fits or status != mistake["status"] or mistake.get("method", method) != method:
        return answer
    if "change" in mistake and body:
        data = json.loads(body)
        mistake["change"](data)
        body = json.dumps(data).encode()
    headers = {name: value for name, value in {**headers, **mistake.get("headers", {})}.items() if value}
    return mistake.get("to", status), headers, body


@pytest.fixture
def broken_service(request, _site, live_server):
    """Serve the responses of our service with the given mistakes."""
    pool = urllib3.PoolManager(retries=False)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def answer(self):
            sent = {name: self.headers[name] for name in ("Accept", "If-None-Match") if self.headers[name]}
            ours = pool.request(self.command, live_server.url + self.path, headers=sent, redirect=False)
            headers = {name: ours.headers[name] for name in SENT_ON if name in ours.headers}
            answer = ours.status, headers, ours.data
            for mistake in (LACKS.get(name) or MISTAKES[name][0] for name in request.param):
                answer = _spoil(mistake, self.command, urlsplit(self.path).path, answer)
            status, headers, body = answer
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


@pytest.mark.parametrize(
    ("broken_service", "names"), [(b, b) for b in BATCHES.values()], ids=BATCHES, indirect=["broken_service"]
)
def test_every_mistake_is_reported(broken_service, names, capsys):
    status, report = check(capsys, broken_service)
    assert status == 1
    assert {MISTAKES[name][1] for name in names} - set(texts(report)) == set()


@pytest.mark.parametrize("broken_service", [["no schemas"]], indirect=True)
def test_service_without_schemas_conforms(broken_service, capsys):
    status, report = check(capsys, broken_service)
    assert (status, report["breaches"]) == (0, [])
    assert report["skipped"] == ["/v1/vacancies/{id}/form/schema: this service has none."]


@pytest.mark.parametrize("broken_service", [["no ETag on HEAD"]], indirect=True)
def test_breaches_are_printed_one_per_line(broken_service, capsys):
    with pytest.raises(SystemExit) as leave:
        call_command("check_contract", broken_service)
    assert leave.value.code == 1
    out, err = capsys.readouterr()
    assert out.startswith(f"{broken_service}: 1 breach (")
    assert out.count("\n") == 1
    breaches = [line for line in err.splitlines() if line.startswith("breach: ")]
    assert len(breaches) == 1
    assert breaches[0].startswith(
        "breach: /v1/filters: expected HEAD to have the ETag of GET; received None instead of"
    )


# --- Arguments and unusual services ------------------------------------------------------------


def test_unreachable_service_is_a_failure(capsys):
    with socket.socket() as taken:  # bound, but not listening
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
        status, report = check(capsys, url)
    assert status == 1
    assert texts(report) == ["/v1/vacancies: a response"]
    assert report["requests"] == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ("ftp://jobs.example.com",),
        ("jobs.example.com",),
        ("http://",),
        ("file:///etc/passwd",),
        ("http://jobs.example.com:99999",),
        ("http://[jobs.example.com",),
        ("http://jobs.example.com/?page=1",),
        ("http://jobs.example.com", "--max-pages", "0"),
    ],
)
def test_invalid_arguments_are_usage_errors(arguments):
    with pytest.raises(CommandError) as error:
        call_command("check_contract", *arguments)
    assert error.value.returncode == 2


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b"null",
        b"<p>Hello</p>",
        b'{"data": 1, "links": [], "meta": "x"}',
        b'{"a": NaN}',
        b"[" * 9999,
    ],
)
def test_foreign_service_causes_breaches_only(body, capsys):
    class Handler(BaseHTTPRequestHandler):
        def answer(self):
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            self.wfile.write(body)

        do_GET = do_HEAD = do_OPTIONS = do_POST = do_DELETE = answer  # noqa: N815 - names of the base class

        def log_message(self, *args):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        status, report = check(capsys, f"http://127.0.0.1:{server.server_port}")
        server.shutdown()
    assert status == 1
    assert "/v1/filters: 200 with {data: list}" in texts(report)
    assert "responses that can be checked" not in str(report)


@pytest.mark.usefixtures("_site")
def test_smaller_page_size_maximum_conforms(capsys, live_server, settings):
    settings.PAGE_SIZE_MAX = 5
    status, report = check(capsys, live_server.url)
    assert (status, report["breaches"], report["notes"]) == (0, [], [])


@pytest.mark.usefixtures("_site")
def test_rate_limit_is_respected(capsys, live_server, settings, monkeypatch):
    settings.RATE_LIMIT = "100/s"
    waited = []
    monkeypatch.setattr("jobsite.contract.service.time.sleep", lambda s: waited.append(s) or sleep(s))
    status, report = check(capsys, live_server.url)
    assert (status, report["breaches"]) == (0, [])
    assert all(note.startswith("The rate limit was reached") for note in report["notes"])


@pytest.mark.usefixtures("_site")
def test_max_pages_limits_the_requests(capsys, live_server):
    with mock.patch("jobsite.contract.lists.WALK_SIZE", 2):
        status, report = check(capsys, live_server.url, "--max-pages", "2")
    assert (status, report["breaches"]) == (0, [])
    assert "/v1/vacancies: read 2 of 5 pages." in report["notes"]
