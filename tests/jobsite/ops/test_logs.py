"""Logs: what operators need, without personal data."""

import io
import json
import logging
import re
import time
from contextlib import contextmanager, suppress
from datetime import timedelta
from unittest.mock import Mock
from wsgiref.util import FileWrapper

import pytest
from django.contrib.auth.models import User
from django.core import mail
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import IntegrityError
from django.http import HttpResponse, StreamingHttpResponse
from django.test.client import ClientHandler

from applications import tokens
from jobsite.accounts import pages
from jobsite.ops import logs
from jobsite.ops.logs import JsonFormatter, Requests, TextFormatter
from tests.factories import make_vacancy
from tests.wsgi import ask
from vacancies.access import previews
from vacancies.api.v1.filters import FilterViewSet

ID = "front-end.1_2-3"
FORMATTERS = {"json": JsonFormatter, "text": TextFormatter}


@pytest.fixture(params=FORMATTERS)
def written(request, settings, capfd):
    """Return a function that reads stderr since its last call.
    More is logged than in production.
    """
    with _written(request.param, settings, capfd) as read:
        yield read


@pytest.fixture
def objects(settings, capfd):
    """Return a function that reads the JSON lines since its last call."""
    with _written("json", settings, capfd) as read:
        yield lambda: [json.loads(line) for line in read().splitlines()]


@contextmanager
def _written(name, settings, capfd):
    settings.LOG_FORMAT, stream = name, io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(FORMATTERS[name]())
    loggers = [logging.getLogger(each) for each in (None, "django", "jobsite.ops.commands")]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.INFO)
    loggers[0].addHandler(handler)
    token = logs.request_id.set(None)

    def read():
        output = stream.getvalue()
        stream.seek(0)
        stream.truncate()
        return output + capfd.readouterr().err

    yield read
    logs.request_id.reset(token)
    loggers[0].removeHandler(handler)
    for logger, level in zip(loggers, levels, strict=True):
        logger.setLevel(level)


def answering(status="200 OK", body=(b"abc",), headers=(), before=lambda environ: None):
    def application(environ, start_response):
        before(environ)
        start_response(status, list(headers))
        return list(body)

    return Requests(application, is_logged=True)


def test_request_is_logged(objects):
    headers = {"Content-Type": "application/json"}
    answer = ask(
        answering(headers=headers.items()),
        "/v1/vacancies/12?fields=id,title&x=1",
        HTTP_X_REQUEST_ID=ID,
    )
    assert answer == ("200 OK", headers | {"X-Request-ID": ID}, b"abc")

    [line] = objects()
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", line.pop("timestamp"))
    assert 0 <= line.pop("duration_ms") < 60_000
    assert line == {
        "level": "INFO",
        "logger": "jobsite.requests",
        "message": "request",
        "method": "GET",
        "path": "/v1/vacancies/12",
        "query": "fields=id,title",
        "status": 200,
        "bytes": 3,
        "operation": "v1:single-vacancy-detail",
        "source": "view",
        "request_id": ID,
    }


@pytest.mark.django_db
def test_stream_is_logged_at_its_end(objects, tmp_path):
    def stream(body):
        def application(environ, start_response):
            start_response("200 OK", [("Content-Length", "3")])
            return body

        environ = {"REQUEST_METHOD": "GET", "PATH_INFO": "/feeds/indeed.xml"}
        return Requests(application, is_logged=True)(environ, lambda *args: None)

    (tmp_path / "x").write_bytes(b"abc")
    for body in (FileWrapper((tmp_path / "x").open("rb")), StreamingHttpResponse([b"a", b"bc"])):
        answer = stream(body)
        assert answer is body  # else a server would read its own file wrapper
        next(iter(answer))
        assert objects() == []
        answer.close()  # as for a client that has left
        [line] = objects()
        assert (line["status"], line["bytes"]) == (200, 3)
    assert stream(HttpResponse(b"abc")).content == b"abc"
    assert len(objects()) == 1  # not a stream


def test_lines_of_a_request_have_its_id(objects):
    def say(environ):
        logging.getLogger("vacancies").warning("Careful")
        logging.getLogger("django.request").error(
            "No", extra={"request": environ, "status_code": 500}
        )

    for number in (1, 2):
        ask(answering(before=say), "/docs", HTTP_X_REQUEST_ID=f"{ID}-{number}")
    logging.getLogger("jobsite").warning("In between")

    lines = objects()
    first, second = f"{ID}-1", f"{ID}-2"
    assert [line["request_id"] for line in lines[:4]] == [first, first, second, second]
    assert {line["request_id"] for line in lines if line["logger"] == "jobsite.requests"} == {
        first,
        second,
    }

    for given in ("", "short", "a" * 65, "mia@example.org", 'a"b"c"d"e', "12345678\n1", "é" * 9):
        _, headers, _ = ask(answering(), "/docs", HTTP_X_REQUEST_ID=given)
        assert re.fullmatch("[0-9a-f]{16}", headers["X-Request-ID"]), given
        assert [line["request_id"] for line in objects()] == [headers["X-Request-ID"]], given


def test_operation_path_exception_and_size_are_logged(objects):
    forged = "\n2026 INFO: all is well\x1b[31m"
    for path, method, operation, shown in (
        ("/v1/vacancies", "GET", "v1:vacancy-list", "/v1/vacancies"),
        ("/v0.1/vacancies/internal", "HEAD", "v0_1:vacancy-internal", "/v0.1/vacancies/internal"),
        ("/v1/vacancies/7/form", "GET", "v1:single-vacancy-form", "/v1/vacancies/7/form"),
        ("/preview/abc:def:ghi", "GET", "preview", "/preview/<str:token>"),
        (
            "/account/reset/MQ/c5x-secret",
            "POST",
            "account-reset-confirm",
            "/account/reset/<uidb64>/<token>",
        ),
        ("/account/invitation/1-2:s", "GET", "invitation", "/account/invitation/<str:token>"),
        ("/account/calendar/s.ics", "GET", "calendar-feed", "/account/calendar/<str:secret>.ics"),
        ("/account/receipt/X:1:s", "GET", "application-receipt", "/account/receipt/<str:token>"),
        (
            "/admin/auth/user/3/change/",
            "GET",
            "admin:auth_user_change",
            "/admin/auth/user/3/change/",
        ),
        ("/static/x.css", "GET", "static", "/static/x.css"),
        ("/en/preview/abc:def", "GET", "other", "/en/preview/..."),
        ("/mia@example.org", "BREW", "other", "/...@..."),
        (f"/caf\xc3\xa9{forged}", "GET", "other", f"/café{forged}"),
        ("/\xff", "GET", "other", "/\ufffd"),
        (f"/{'x' * 9000}", "GET", "other", f"/{'x' * 299}"),
    ):
        ask(answering(), path, method)
        [line] = objects()
        assert (line["operation"], line["path"]) == (operation, shown)
        assert line["method"] == ("other" if method == "BREW" else method)

    with pytest.raises(LookupError):
        ask(answering(before=Mock(side_effect=LookupError("nowhere"))), "/docs")
    assert [(line["status"], line["bytes"]) for line in objects()] == [(500, None)]

    def pieces(environ, start_response):
        start_response("200 OK", [("Content-Length", "6")])
        return iter([b"abc", b"def"])

    assert ask(Requests(pieces, is_logged=True), "/docs")[2] == b"abcdef"
    assert [line["bytes"] for line in objects()] == [6]


def test_input_cannot_forge_lines(written):
    evil = "/v1/x\r\n\x1b[2J\x00\x85\u2028fake\x7f".encode().decode("latin-1")

    def say(environ):
        try:
            raise ValueError("bad\n2026-01-01 INFO fake: line\x1b[2J")
        except ValueError:
            logging.getLogger("django.request").exception("Path %s", environ["PATH_INFO"])

    ask(answering(before=say), evil, HTTP_X_REQUEST_ID=ID)

    output = written()
    lines = output.splitlines()
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028]", output)
    assert [
        line for line in lines if line[:4] not in ('{"ti', "    ") and f" [{ID}]" not in line
    ] == []
    assert len([line for line in lines if not line.startswith("    ")]) == 2


def test_logs_are_redacted():
    shown = {
        "GET /v1/vacancies?filter[search]=mia HTTP/1.1": "GET /v1/vacancies?... HTTP/1.1",
        "Not Found: /preview/a:b:c": "Not Found: /preview/...",
        "Not Found: /nl/alerts/a:b/unsubscribe": "Not Found: /nl/alerts/...",
        "Authorization: Bearer 0123abcd": "Authorization: Bearer ...",
        "{'password': 'x y', 'a': 1}": "{'password': ..., 'a': 1}",
        '{"password": "x y", "a": 1}': '{"password": ..., "a": 1}',
        "password='x y": "password=... y",
        "postgres://jobs:geheim@db/jobs": "postgres://jobs:...@db/jobs",
        "<mia.o'x+1@mail.example.org>: refused": "<mia.o'...@...>: refused",
        "key exists\nDETAIL:  Key (username)=(mia) already exists.": "key exists\nDETAIL: ...",
        "Is all well? Yes; 12 = 12": "Is all well? Yes; 12 = 12",
    }
    assert {text: logs.redacted(text) for text in shown} == shown
    networks = {
        "203.0.113.9": "203.0.113.0/24",
        "2001:db8:1:2::9": "2001:db8:1::/48",
        "?": "nowhere",
    }
    found = {
        address: logs.network("mia", address, "Firefox", "/admin/login", None)
        for address in networks
    }
    assert found == networks  # of a failed sign-in

    shown = {
        "page[size]=10&page%5Bnumber%5D=2&sort=-title": "page[size]=10&page%5Bnumber%5D=2&sort=-title",
        "filter[regions]=gent,luik&filter[search]=mia": "filter[regions]=gent,luik",
        "filter[near]=51.22,4.4,5&filter%5Bnear%5D=51.22%2C4.4%2C5&filter[country]=BE": "filter[country]=BE",
        "filter%5Bsearch%5D=mia&preview=abc&q=mia&next=/x&filter[x]=mia@example.org": "",
        "filter[filter[search]]=mia&sort=mia%40example.org&=&&": "",
    }
    assert {query: logs.query(query) for query in shown} == shown


def test_redaction_takes_linear_time():
    for piece in (
        "a",
        "a@",
        "?",
        "/",
        "?=",
        "a.",
        "bearer ",
        "://",
        "password",
        "csrf",
        "DETAIL:",
        "token='",
    ):
        began = time.process_time()
        logs.redacted(piece * 20_000)
        # 0.01 as a rule; what looks back at every character takes minutes
        assert time.process_time() - began < 5, piece


class Logged(ClientHandler):
    """The handler of Django's test client, with request logging."""

    def __call__(self, environ):
        answers = []

        def application(environ, start_response):
            answer = super(Logged, self).__call__(environ)
            answers.append(answer)
            start_response(f"{answer.status_code} so", list(answer.items()))
            return answer

        Requests(application, is_logged=True)(environ, lambda *started: None)
        return answers[0]


NAME, MAIL, SECRET, SOUGHT = "zyxmia", "zyxmia.jansen@example.org", "een-oud-geheim-7", "zyxtuinman"


@pytest.mark.slow("many requests")
@pytest.mark.django_db
def test_logs_contain_no_personal_data_and_no_secrets(
    written, client, settings, monkeypatch, tmp_path
):
    """Sign in, fail, get locked out, use tokens and links, search, crash, import and erase."""
    settings.AXES_FAILURE_LIMIT = 3
    monkeypatch.setattr(pages, "in_background", lambda work: work())
    client.handler = Logged(enforce_csrf_checks=False)
    client.raise_request_exception = False
    vacancy = make_vacancy(pk=501)
    mia = User.objects.create_user(NAME, MAIL, SECRET)
    root = User.objects.create_superuser("zyxroot", "zyxroot@example.org", SECRET)
    markers = {NAME, "zyxjane", "jansen", "zyxroot", SECRET, SOUGHT, "falsch-geheim"}

    assert client.post("/account/login", {"username": NAME, "password": SECRET}).status_code == 302
    markers.add(client.cookies[settings.SESSION_COOKIE_NAME].value)
    assert client.get("/v1/user/applications").status_code == 200
    requested = {"username": NAME, "password": SECRET}
    token = client.post("/v1/auth/token", requested, "application/json").json()["data"]["token"]
    bearer = {"Authorization": f"Bearer {token}"}
    assert client.get("/v1/user/applications", headers=bearer).status_code == 200
    assert client.delete("/v1/auth/token", headers=bearer).status_code == 204
    assert client.delete("/v1/auth/token", headers=bearer).status_code == 401
    markers.add(token)
    client.post("/account/logout")

    client.post("/account/reset", {"email": MAIL})
    address = re.search(r"https?://[^/]+(/\S+)", mail.outbox[0].body)[1]
    markers |= set(address.split("/")[-1:])
    assert client.get(address).status_code == 302
    client.get(f"{address}x")
    client.get(f"{address}/")  # leads nowhere

    preview = previews.token_for(vacancy.pk)
    markers.add(preview)
    for path in (
        f"/preview/{preview}",
        f"/preview/{preview}/",
        f"/v1/vacancies/501?preview={preview}",
    ):
        client.get(path)
    client.get("/v1/vacancies", {"filter[search]": SOUGHT, "filter[regions]": MAIL})
    client.get(f"/nothing/{MAIL}?q={NAME}")

    client.force_login(root)
    assert client.get("/admin/auth/user/", {"q": MAIL}).status_code == 200
    client.get(f"/admin/{SOUGHT}@example.org/?q={NAME}")

    crash = IntegrityError(
        f"duplicate key\nDETAIL:  Key (username)=({NAME}) already exists. {MAIL}"
    )
    with monkeypatch.context() as patch:
        patch.setattr(FilterViewSet, "list", Mock(side_effect=crash))
        assert client.get("/v1/filters", {"filter[search]": SOUGHT}).status_code == 500
    client.logout()

    for path, kind in (("/account/login", None), ("/v1/auth/token", "application/json")):
        for _ in range(3):
            posted = {"username": NAME, "password": "falsch-geheim"}
            client.post(path, posted, **({"content_type": kind} if kind else {}))
    assert client.post("/account/login", {"username": NAME, "password": SECRET}).status_code == 429

    rows = tmp_path / "applications.json"
    person = {"username": "zyxjane", "email": "zyxjane@example.org", "password": SECRET}
    row = {"user": person, "vacancy_id": 501, "created_at": "2026-02-01 08:00:00"}
    rows.write_text(json.dumps([row, row | {"vacancy_id": 9}]))
    output = io.StringIO()
    for command, words in (
        ("import_applications", [str(rows)]),
        ("export_applicant", ["zyxjane"]),
        ("revoke_tokens", [NAME]),
        ("issue_token", [NAME]),
        ("erase_applicant", [NAME]),
        ("erase_applicant", [NAME]),
        ("erase_applicant", ["zyxroot"]),
    ):
        with suppress(SystemExit, CommandError):
            call_command(command, *words, stdout=output, stderr=output)
    _, left = tokens.issue(user=root, lifetime=timedelta(days=1))
    markers |= {left, str(mia.pk + 1_000_000)}

    lines = written()
    assert [marker for marker in markers if marker in lines] == []
    assert [line for line in lines.splitlines() if "@" in line.replace("...@...", "")] == []
    expected = {
        "Locking out 127.0.0.0/24",
        "/account/reset/<uidb64>/<token>",
        "/preview/<str:token>",
    }
    expected |= {
        "IntegrityError",
        "v1:filter-list",
        "import_applications failed",
        "erase_applicant ok",
    }
    assert {text for text in expected if text not in lines} == set()


@pytest.mark.django_db
def test_command_is_logged(objects):
    with pytest.raises(CommandError):
        call_command("revoke_tokens", "nobody-here")
    call_command("create_roles", stdout=io.StringIO(), stderr=io.StringIO())

    lines = [line for line in objects() if line["logger"] == "jobsite.ops.commands"]
    for line in lines:
        assert line.pop("duration_ms") >= 0
        assert line.pop("message").startswith(f"{line['command']} {line['outcome']} in ")
        assert line.pop("timestamp")
    common = {"level": "INFO", "logger": "jobsite.ops.commands"}
    failed, done = (
        {"command": "revoke_tokens", "outcome": "failed"},
        {"command": "create_roles", "outcome": "ok"},
    )
    assert lines == [common | failed, common | done]


@pytest.mark.django_db
def test_refused_lookup_writes_one_line(admin_client):
    """A request that Django refuses as suspicious."""
    [handler] = [each for each in logging.getLogger().handlers if each.filters]  # of the settings
    stream, own = io.StringIO(), handler.stream
    handler.setStream(stream)
    try:
        assert (
            admin_client.get("/admin/auth/user/?groups__user__password__startswith=x").status_code
            == 400
        )
    finally:
        handler.setStream(own)
    assert stream.getvalue().count("\n") == 1, stream.getvalue()
    assert len(stream.getvalue()) < 300
