"""check_contract: no breach for a service that conforms to the API, and one for each mistake."""

import json
import re
import socket
from datetime import timedelta
from types import SimpleNamespace
from unittest import mock
from urllib.parse import urlsplit

import pytest
from django.core.management import CommandError, call_command
from django.core.servers.basehttp import WSGIRequestHandler
from django.test import Client
from django.utils import timezone
from urllib3 import HTTPHeaderDict

from applications import operations, tokens
from jobsite.contract.service import CheckedService, Response
from tests.contract.sample import make_site
from tests.factories import make_insider
from tests.jobsite.contract_mistakes import (
    BATCHES,
    NO_ETAG_ON_HEAD,
    NO_SCHEMAS,
    SENT_ON,
    WRONG_APPLICATION,
    mistakes_of,
)
from tests.servers.stub import stub_server
from vacancies.models import Vacancy

SLOW = pytest.mark.slow("the command sends hundreds of requests")
URL = "http://testserver"
CLOSED = ("/v1/vacancies/internal", "/v1/vacancies/hot/internal", "/v0.1/vacancies/internal")


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
    headers = {
        name: value for name, value in {**headers, **mistake.get("headers", {})}.items() if value
    }
    return mistake.get("to", status), headers, body


@pytest.fixture
def service(db, monkeypatch):
    """The site of this process answers the command at URL, without a server, and with the
    `mistakes` that it is to make. It is asked each question once: clear `known` after a change.
    """
    make_site()
    made, known, client = [], {}, Client()

    def send(service, method, path, headers):
        service.report.requests += 1
        question = method, path, *headers.items()
        if question not in known:
            ours = client.generic(method, path, headers=headers)
            known[question] = ours.status_code, dict(ours.headers), ours.getvalue()
        status, headers, body = answer = known[question]
        if made:  # as from a server of another kind
            answer = status, {name: headers[name] for name in SENT_ON if name in headers}, body
        for mistake in made:
            answer = _spoil(mistake, method, urlsplit(path).path, answer)
        status, headers, body = answer
        return Response(status, HTTPHeaderDict(headers), b"" if method == "HEAD" else body)

    monkeypatch.setattr(CheckedService, "_send", send)
    return SimpleNamespace(mistakes=made, known=known)


def check(capsys, *arguments, url=URL):
    """Run the command; return its exit status and its report."""
    status = 0
    try:
        call_command("check_contract", url, "--format", "json", *arguments)
    except SystemExit as leave:
        status = leave.code
    return status, json.loads(capsys.readouterr().out)


def texts(report):
    return [f"{b['endpoint']}: {b['expected']}" for b in report["breaches"]]


@pytest.mark.slow("starts a server")
@pytest.mark.django_db(transaction=True)
def test_own_service_conforms(capsys, live_server, monkeypatch):
    # Without this, each response on a persistent connection is delayed by 40 ms (Nagle's
    # algorithm).
    monkeypatch.setattr(WSGIRequestHandler, "disable_nagle_algorithm", True)
    make_site()
    status, report = check(capsys, url=live_server.url)
    assert (status, report["breaches"], report["skipped"], report["notes"]) == (0, [], [], [])
    assert report["checks"] > 1000


@SLOW
def test_lists_are_checked_with_a_token_that_opens_them(
    service, capsys, settings, django_user_model
):
    settings.INTERNAL_ACCESS = "authenticated"
    mia = django_user_model.objects.create_user("mia")
    _, insider = tokens.issue(user=make_insider(), lifetime=timedelta(hours=1))
    _, applicant = tokens.issue(user=mia, lifetime=timedelta(hours=1))
    not_opened = [f"{path}: answers 401 to this token." for path in CLOSED]
    no_access = [f"{path}: answers 403 to this token." for path in CLOSED]

    def expect(breaches, skipped, *arguments):
        status, report = check(capsys, *arguments)
        assert (status, texts(report)) == (int(bool(breaches)), breaches), arguments
        assert report["skipped"] == skipped, arguments

    expect([], [f"{path}: answers 401 without --token." for path in CLOSED])
    expect([], [], "--token", insider)
    expect(["/v1/user/applications: 200 for the token"], not_opened, "--token", "wrong")
    expect([], no_access, "--token", applicant)
    now = timezone.now()
    application = operations.create_application(
        user=mia, vacancy=Vacancy.objects.published().first(), at=now
    )
    application.history.create(name="Talk", planned_at=now, is_visible=True)
    service.known.clear()
    expect([], no_access, "--token", applicant)
    service.mistakes[:] = mistakes_of(WRONG_APPLICATION).values()
    expect([*mistakes_of(WRONG_APPLICATION)], no_access, "--token", applicant)


@SLOW
def test_service_with_other_limits_conforms(service, capsys, settings):
    """Without schemas, with smaller pages, and with a limit on the pages to read."""
    settings.PAGE_SIZE_MAX = 5
    service.mistakes[:] = mistakes_of(NO_SCHEMAS).values()
    status, report = check(capsys)
    assert (status, report["breaches"]) == (0, [])

    with mock.patch("jobsite.contract.lists.WALK_SIZE", 2):
        status, report = check(capsys, "--max-pages", "2")
    assert (status, report["breaches"]) == (0, [])
    assert "/v1/vacancies: read 2 pages, not the others." in report["notes"]


@SLOW
def test_every_mistake_is_reported(service, capsys):
    missing = []
    for batch in map(mistakes_of, BATCHES):
        service.mistakes[:] = batch.values()
        status, report = check(capsys)
        assert status == 1, list(batch)
        found = texts(report)
        missing += [each for each in batch if not any(text.startswith(each) for text in found)]
    assert missing == []


@SLOW
def test_text_report_is_a_summary_line_and_one_line_for_each_breach(service, capsys):
    call_command("check_contract", URL)
    out, err = capsys.readouterr()
    assert out.startswith(f"{URL}: conforms to the API (")
    assert (out.count("\n"), err) == (1, "")

    service.mistakes[:] = mistakes_of(NO_ETAG_ON_HEAD).values()
    with pytest.raises(SystemExit) as leave:
        call_command("check_contract", URL)
    assert leave.value.code == 1
    out, err = capsys.readouterr()
    assert out.startswith(f"{URL}: 1 breach (")
    assert out.count("\n") == 1
    [breach] = [line for line in err.splitlines() if line.startswith("breach: ")]
    received = "expected HEAD to have the ETag of GET; received [null, "
    assert breach.startswith(f"breach: /v1/filters: {received}")


def test_invalid_arguments_and_unreachable_services_are_failures(capsys):
    codes = {}
    for arguments in (
        "ftp://jobs.example.com",
        "jobs.example.com",
        "http://",
        "file:///etc/passwd",
        "http://jobs.example.com:99999",
        "http://[jobs.example.com",
        "http://jobs.example.com/?page=1",
        "http://jobs.example.com --max-pages 0",
    ):
        with pytest.raises(CommandError) as error:
            call_command("check_contract", *arguments.split())
        codes[arguments] = error.value.returncode
    assert codes == dict.fromkeys(codes, 2)

    with socket.socket() as taken:  # bound, but not listening
        taken.bind(("127.0.0.1", 0))
        status, report = check(capsys, url=f"http://127.0.0.1:{taken.getsockname()[1]}")
    found = status, texts(report), report["requests"]
    assert found == (1, ["/openapi.json: a response"], 1)


def test_rate_limit_is_waited_for_and_redirects_are_not_followed(capsys):
    for status, headers, count in (
        (429, {"Retry-After": "0"}, 6),
        (302, {"Location": "http://{host}/other"}, 1),
    ):
        with stub_server({"/openapi.json": (status, headers, b"{}")}) as (url, requested):
            assert check(capsys, url=url)[0] == 1
        assert requested == ["/openapi.json"] * count


FOREIGN = (
    b"",
    b"[]",
    b"null",
    b"<p>Hello</p>",
    b'{"data": 1, "links": [], "meta": "x"}',
    b'{"a": NaN}',
    b"[" * 9999,
)


@SLOW
def test_foreign_service_causes_breaches_only(capsys, monkeypatch):
    for body in FOREIGN:
        answer = Response(200, HTTPHeaderDict({"Content-Type": "application/json"}), body)
        monkeypatch.setattr(CheckedService, "_send", lambda *args, answer=answer: answer)
        status, report = check(capsys)
        assert status == 1, body
        assert texts(report) == ["/openapi.json: the OpenAPI document of the API"], body
