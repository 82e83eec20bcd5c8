"""check_contract: silent about a service that keeps its word, loud about one that does not."""

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
from vacancies.models import Vacancy

pytestmark = [pytest.mark.once, pytest.mark.slow]


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch):
    """Without this each answer over a kept connection waits 40 ms for an acknowledgement."""
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
def test_applications_of_the_token_are_looked_at(capsys, live_server, django_user_model):
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
    assert out.startswith(f"{live_server.url}: keeps its promises (")
    assert out.count("\n") == 1
    assert err == ""


# --- Breaches ----------------------------------------------------------------------------------

SENT_ON = ("Content-Type", "Allow", "Cache-Control", "ETag", "Form-Version", "WWW-Authenticate")
MINE = "/v1/user/applications"
FORM, FORM_SCHEMA = "/v1/vacancies/{id}/form", "/v1/vacancies/{id}/form/schema"


def _edit(change, **where):
    """A mistake: answers under `where` (path, status) have their parsed body changed in place."""
    return {"change": change, "status": 200, **where}


def _each(change):
    return lambda body: [change(item) for item in body["data"]]


def _first_field(*types, **values):
    """Change the first field of one of the types, if the form has one."""

    def change(body):
        fields = [field for section in body["data"] for field in section["fields"]]
        for field in fields:
            if field["type"] in types:
                field.update(values)
                return

    return change


def _set(part, key, value):
    return lambda body: body[part].update({key: value(body[part][key])})


@pytest.fixture
def _newer_keyword(monkeypatch):
    """Serve the first filter under a keyword that is added within v1 some day."""
    from vacancies.api import v1

    represent = v1.FilterSerializer.to_representation

    def newer(self, instance):
        item = represent(self, instance)
        return item | {"keyword": "salary"} if item["keyword"] == "functiongroup" else item

    monkeypatch.setattr(v1.FilterSerializer, "to_representation", newer)


@pytest.mark.usefixtures("_site", "_newer_keyword")
def test_a_newer_keyword_is_a_note(capsys, live_server):
    _, report = check(capsys, live_server.url)
    assert "/v1/filters: the keyword 'salary' is newer than this command." in report["notes"]
    assert not [text for text in texts(report) if "keyword one of" in text]


# What a service does wrong, and the breach that has to name it. Mistakes that hide others come last.
MISTAKES = {
    "iso datetime": (
        _edit(_each(lambda v: v.update(updated_at="2026-11-03T14:20:05Z")), path="/v0.1/vacancies"),
        "/v0.1/vacancies: item.updated_at to be YYYY-MM-DD HH:MM:SS",
    ),
    "slug of another id": (
        _edit(_each(lambda v: v.update(slug="a-(1000000)")), path="/v1/vacancies/hot"),
        "/v1/vacancies/hot: slug to be an ASCII slug that ends with the id in round brackets",
    ),
    "null for no regions": (
        _edit(_each(lambda v: v.update(regions=None)), path="/v0.1/vacancies"),
        "/v0.1/vacancies: item.regions to be a list of texts",
    ),
    "empty text for null": (
        _edit(_each(lambda v: v.update(location="")), path="/v0.1/vacancies"),
        "/v0.1/vacancies: item.location to be text or null",
    ),
    "missing key": (
        _edit(_each(lambda v: v.pop("location")), path="/v0.1/vacancies"),
        "/v0.1/vacancies: item to have the key location",
    ),
    "empty attachments": (
        _edit(_each(lambda v: v.update(attachments=[])), path="/v0.1/vacancies"),
        "/v0.1/vacancies: item.attachments to be a list that is not empty",
    ),
    "id as text": (
        _edit(_each(lambda v: v.update(id=str(v["id"]))), path="/v0.1/vacancies"),
        "/v0.1/vacancies: an id that is a whole number from 1",
    ),
    "cold vacancy in the hot list": (
        _edit(_each(lambda v: v.update(is_hot=False)), path="/v1/vacancies/hot"),
        "/v1/vacancies/hot: only hot vacancies",
    ),
    "another value in v0.1": (
        _edit(_each(lambda v: v.update(type="Other")), path="/v0.1/vacancies"),
        "/v0.1/vacancies: type to be the first of v1's types",
    ),
    "brackets in links": (
        _edit(_set("links", "first", lambda link: link.replace("%5B", "[")), path="/v0.1/vacancies"),
        "/v0.1/vacancies: links.first to have the parameters in effect, then page size and number, encoded",
    ),
    "next on the last page": (
        _edit(
            lambda body: body["links"].update(next=body["links"]["next"] or body["links"]["first"]),
            path="/v0.1/vacancies",
        ),
        "/v0.1/vacancies: links.next to be null where there is no such page",
    ),
    "query in meta.path": (
        _edit(_set("meta", "path", lambda path: path + "?a=b"), path="/v0.1/vacancies"),
        "/v0.1/vacancies: meta.path to be the address without a query",
    ),
    "last page off by one": (
        _edit(_set("meta", "last_page", lambda last: last + 1), path="/v0.1/vacancies"),
        "/v0.1/vacancies: meta.last_page to be the number of pages",
    ),
    "zero for an empty page": (
        _edit(_set("meta", "from", lambda first: first or 0), path="/v0.1/vacancies"),
        "/v0.1/vacancies: meta.from to be a position, null on an empty page",
    ),
    "other order of keys": (
        _edit(lambda body: body.update(data=body.pop("data")), path="/v0.1/vacancies"),
        "/v0.1/vacancies: data, links, meta in this order",
    ),
    "one vacancy twice": (
        _edit(
            lambda body: len(body["data"]) > 1 and body["data"].__setitem__(1, body["data"][0]),
            path="/v0.1/vacancies",
        ),
        "/v0.1/vacancies: no item on two pages",
    ),
    "wrong count": (
        _edit(lambda body: body["data"][0]["options"][0].update(count=99), path="/v1/filters"),
        "/v1/filters: the count of filter[functiongroup] to be the total of the list",
    ),
    "another single": (
        _edit(lambda body: body["data"].update(title="Other"), path="/v1/vacancies/{id}"),
        "/v1/vacancies/{id}: the item of /v1/vacancies",
    ),
    "section without a title": (
        _edit(lambda body: [section.pop("title") for section in body["data"][1:2]], path=FORM),
        f"{FORM}: section to have the key title",
    ),
    "field without a width": (
        _edit(lambda body: body["data"][0]["fields"][0].pop("css"), path=FORM),
        f"{FORM}: field to have the key css",
    ),
    "no conditions": (
        _edit(_first_field("email", conditional=[]), path=FORM),
        f"{FORM}: field.conditional to be a list that is not empty",
    ),
    "option without a name": (
        _edit(_first_field("select", options=[{"value": "yes", "label": "Yes"}]), path=FORM),
        f"{FORM}: field.options to have the key name",
    ),
    "option of another field": (
        _edit(
            _first_field("select", options=[{"name": "x", "value": v, "label": v} for v in ("yes", "no")]),
            path=FORM,
        ),
        f"{FORM}: options with the name of their field",
    ),
    "option twice": (
        _edit(
            _first_field("radio-group", options=[{"name": "shift", "value": "yes", "label": "Yes"}] * 2),
            path=FORM,
        ),
        f"{FORM}: each option of a field once",
    ),
    "select without options": (
        _edit(_first_field("text", type="select"), path=FORM),
        f"{FORM}: options for select",
    ),
    "other levels": (
        _edit(
            _first_field("range", options=[{"name": "other_level", "value": "6", "label": "More"}]), path=FORM
        ),
        f"{FORM}: the options 0, 1, 2, 3, 4, 5 for range, in this order",
    ),
    "condition on no value": (
        _edit(
            lambda body: (
                body["data"][0]["fields"][2:]
                and body["data"][0]["fields"][2]["conditional"][0].update(on_value="maybe")
            ),
            path=FORM,
        ),
        f'{FORM}: on_value to be a value of the field that it depends on (a checkbox: "1")',
    ),
    "on_value of nothing": (
        _edit(_first_field("email", on_value="1"), path=FORM),
        f"{FORM}: no on_value but for a conditional field",
    ),
    "label input of a text field": (
        _edit(_first_field("email", label={"name": "x", "type": "text", "label": "X"}), path=FORM),
        f"{FORM}: an object with a text input as the label of a range only",
    ),
    "name that is no identifier": (
        _edit(_first_field("email", name="e mail"), path=FORM),
        f"{FORM}: a name of ASCII letters, digits, hyphens and underscores",
    ),
    "name twice": (
        _edit(lambda body: body["data"][0]["fields"].append(body["data"][-1]["fields"][-1]), path=FORM),
        f"{FORM}: each name once in the whole form, label inputs included",
    ),
    "consent that may be left out": (
        _edit(lambda body: body["data"][-1]["fields"][-1].update(required=False), path=FORM),
        f"{FORM}: the consent, a required checkbox, as the last field of the last section",
    ),
    "relative link": (
        _edit(lambda body: body["data"][-1]["fields"][-1].get("link", {}).update(url="/privacy"), path=FORM),
        f"{FORM}: field.link.url to be an absolute URL",
    ),
    "form that is not there": (
        {"path": FORM, "status": 404, "to": 200},
        f"{FORM}: 404 application/problem+json for id 0",
    ),
    "another version": (
        {"path": FORM_SCHEMA, "status": 200, "headers": {"Form-Version": "1"}},
        f"{FORM_SCHEMA}: Form-Version to be the version in the body",
    ),
    "another version of the form": (
        {"path": FORM, "status": 200, "headers": {"Form-Version": "2"}},
        f"{FORM}: Form-Version to be that of the schema",
    ),
    "older dialect": (
        _edit(
            lambda body: body["data"]["schema"].update(
                {"$schema": "http://json-schema.org/draft-07/schema#"}
            ),
            path=FORM_SCHEMA,
        ),
        f"{FORM_SCHEMA}: the $schema https://json-schema.org/draft/2020-12/schema",
    ),
    "no challenge": (
        {"path": MINE, "status": 401, "headers": {"WWW-Authenticate": ""}},
        f"{MINE}: 401 with WWW-Authenticate: Bearer",
    ),
    "applications for everybody": (
        {"path": MINE, "status": 401, "to": 200},
        f"{MINE}: 401 application/problem+json for no credential",
    ),
    "typo ignored": (
        _edit(lambda body: body.clear(), path="/v1/vacancies/hot", status=400, to=200),
        "/v1/vacancies/hot: 400 application/problem+json for ?page[limit]=5",
    ),
    "html error": (
        {"path": "/v1/vacancies/0", "status": 404, "to": 500, "headers": {"Content-Type": "text/html"}},
        "/v1/vacancies/{id}: 404 application/problem+json for id 0",
    ),
    "405 without Allow": (
        {"path": "/v1/filters", "status": 405, "headers": {"Allow": ""}},
        "/v1/filters: 405 for POST with Allow: GET",
    ),
    "tag that is not honoured": (
        {"path": "/v1/filters", "status": 304, "to": 200},
        "/v1/filters: 304 for If-None-Match with the current tag",
    ),
    "no ETag on HEAD": (
        {"path": "/v1/filters", "method": "HEAD", "status": 200, "headers": {"ETag": ""}},
        "/v1/filters: HEAD to have the ETag of GET",
    ),
}
# What a deployment may lack: no breach.
LACKS = {"no schemas": {"path": FORM_SCHEMA, "status": 200, "to": 404}}
HIDING = (
    "applications for everybody",
    "another value in v0.1",
    "missing key",
    "next on the last page",
    "query in meta.path",
    "zero for an empty page",
)
FORM_SHAPES = (
    "section without a title",
    "field without a width",
    "no conditions",
    "option without a name",
    "relative link",
)
ALONE = ("id as text", "one vacancy twice", "tag that is not honoured")
BATCHES = {
    "most": [name for name in MISTAKES if name not in HIDING + FORM_SHAPES + ALONE],
    "hiding": list(HIDING),
    "form shapes": list(FORM_SHAPES),
    **{name: [name] for name in ALONE},
}


def _spoil(mistake, method, path, answer):
    """Return `answer` (status, headers, body) with `mistake` made where it applies."""
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
    """The answers of our service with the mistakes named, from a server of the standard library."""
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
def test_every_breach_is_named(broken_service, names, capsys):
    status, report = check(capsys, broken_service)
    assert status == 1
    assert {MISTAKES[name][1] for name in names} - set(texts(report)) == set()


@pytest.mark.parametrize("broken_service", [["no schemas"]], indirect=True)
def test_deployment_without_schemas_keeps_its_promises(broken_service, capsys):
    status, report = check(capsys, broken_service)
    assert (status, report["breaches"]) == (0, [])
    assert report["skipped"] == ["/v1/vacancies/{id}/form/schema: this service has none."]


@pytest.mark.parametrize("broken_service", [["no ETag on HEAD"]], indirect=True)
def test_breaches_are_one_line_each(broken_service, capsys):
    with pytest.raises(SystemExit) as leave:
        call_command("check_contract", broken_service)
    assert leave.value.code == 1
    out, err = capsys.readouterr()
    assert out.startswith(f"{broken_service}: 1 breach (")
    assert out.count("\n") == 1
    breaches = [line for line in err.splitlines() if line.startswith("breach: ")]
    assert len(breaches) == 1
    assert breaches[0].startswith(
        "breach: /v1/filters: expected HEAD to have the ETag of GET; came None instead of"
    )


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
        ("http://jobs.example.com:99999",),
        ("http://[jobs.example.com",),
        ("http://jobs.example.com/?page=1",),
        ("http://jobs.example.com", "--max-pages", "0"),
    ],
)
def test_wrong_calls_are_usage_errors(arguments):
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
def test_any_other_service_is_only_breaches(body, capsys):
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
    assert "answers that can be looked at" not in str(report)


@pytest.mark.usefixtures("_site")
def test_smaller_maximum_is_kept_to(capsys, live_server, settings):
    settings.PAGE_SIZE_MAX = 5
    status, report = check(capsys, live_server.url)
    assert (status, report["breaches"], report["notes"]) == (0, [], [])


@pytest.mark.usefixtures("_site")
def test_rate_limit_is_waited_out(capsys, live_server, settings, monkeypatch):
    settings.RATE_LIMIT = "100/s"
    waited = []
    monkeypatch.setattr("jobsite.contract.service.time.sleep", lambda s: waited.append(s) or sleep(s))
    status, report = check(capsys, live_server.url)
    assert (status, report["breaches"]) == (0, [])
    assert all(note.startswith("The rate limit was reached") for note in report["notes"])


@pytest.mark.usefixtures("_site")
def test_max_pages_bounds_the_reading(capsys, live_server):
    with mock.patch("jobsite.contract.lists.BIG", 2):
        status, report = check(capsys, live_server.url, "--max-pages", "2")
    assert (status, report["breaches"]) == (0, [])
    assert "/v1/vacancies: read 2 of 5 pages." in report["notes"]
