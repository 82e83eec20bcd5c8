"""Methods, headers and errors of every API path."""

from contextlib import closing
from io import BytesIO
from unittest.mock import Mock
from urllib.robotparser import RobotFileParser

import pytest
from django.contrib.auth.models import User
from PIL import Image

from jobsite.ops.checks import settings_are_valid
from tests.applications.makers import PASSWORD
from tests.factories import make_vacancy
from tests.jobsite.api.paths import PATHS
from tests.wsgi import ask
from vacancies.api.v1.vacancies import VacancyViewSet

pytestmark = pytest.mark.django_db


def test_unknown_path_returns_a_problem_document(client, settings):
    paths = (
        "/v1",
        "/v1/",
        "/v1/nothing",
        "/v1/vacancies/",
        "/v1/vacancies.json",
        "/v1/vacancies/hot/",
        "/v1/vacancies/1/",
        "/v1/vacancies/1/x",
        "/v1/vacancies/internal/",
        "/v1/vacancies/hot/internal/x",
        "/v0.1",
        "/v0.1/vacancies/",
        "/v0.1/vacancies/1",
        "/v0.1/vacancies/hot",
        "/v1/%00",
        "/v1/vacancies%00",
    )
    for settings.DEBUG in (False, True):
        for path in paths:
            answer = client.get(path)
            assert (answer.status_code, answer["Content-Type"]) == (
                404,
                "application/problem+json",
            ), path
            assert answer.json()["title"] == "Not Found", path

    unknown = client.get("/v1/vacancies/999999")
    assert unknown.json()["detail"] == "No published vacancy has this id."
    for pk in (
        "0",
        "007",
        "abc",
        "-1",
        "1.0",
        "1e3",
        "+1",
        "²",
        "١",
        "9" * 30,
        "9" * 19,
        "1%00",
        "%20",
    ):
        odd = client.get(f"/v1/vacancies/{pk}")

        assert odd.status_code == unknown.status_code == 404, pk
        assert odd.json() | {"instance": ""} == unknown.json() | {"instance": ""}, pk


def test_only_reading_methods_are_allowed(client, at):
    for path in (*PATHS, "/v1/vacancies/1"):
        for method in (client.post, client.put, client.patch, client.delete):
            answer = method(path)
            assert (answer.status_code, answer["Allow"]) == (405, "GET, HEAD, OPTIONS"), path
            assert answer.json()["instance"] == path
        answer = client.options(path)
        assert (answer.status_code, answer["Allow"], answer.content) == (
            204,
            "GET, HEAD, OPTIONS",
            b"",
        ), path
    # It is reported before other errors.
    answer = client.post("/v1/filters?page=2", headers={"accept": "text/html"})
    assert (answer.status_code, answer["Allow"]) == (405, "GET, HEAD, OPTIONS")

    make_vacancy()
    for path in PATHS:
        get, head = client.get(path), client.head(path)
        assert head.content == b"", path
        for name in ("ETag", "Content-Length", "Content-Type", "Cache-Control"):
            assert head[name] == get[name], path


def test_response_has_the_time_zone(client, settings, at, wsgi):
    settings.TIME_ZONE = "Europe/Brussels"
    vacancy = make_vacancy(updated_at=at)
    client.force_login(User.objects.create_user("mia", password=PASSWORD))
    single = f"/v1/vacancies/{vacancy.pk}"
    for path in (
        *PATHS,
        single,
        f"{single}/form",
        f"{single}/form/schema",
        "/v1/user/applications",
    ):
        for answer in (
            client.get(path),
            client.head(path),
            client.get(path, headers={"if-none-match": "*"}),
        ):
            assert answer.status_code in (200, 304)
            assert answer["Time-Zone"] == "Europe/Brussels", path
    assert client.get(single).json()["data"]["updated_at"] == "2026-03-02 10:30:15"
    token = client.post(
        "/v1/auth/token", {"username": "mia", "password": PASSWORD}, "application/json"
    )
    assert (token.status_code, token["Time-Zone"]) == (200, "Europe/Brussels")
    for path in (
        "/v1/vacancies/999",
        "/v1/vacancies?page=1",
        "/v1/nothing",
        "/openapi.json",
        "/docs",
    ):
        assert "Time-Zone" not in client.get(path), path


def test_robots_txt_and_favicon_are_served(client):
    with closing(client.get("/robots.txt")) as answer:
        text = answer.getvalue().decode()

    assert (answer.status_code, answer["Content-Type"]) == (200, 'text/plain; charset="utf-8"')
    assert client.head("/robots.txt").status_code == 200
    rules = RobotFileParser()
    rules.parse(text.splitlines())
    closed = ("/admin", "/admin/", "/admin/vacancies/vacancy/", "/account/login", "/preview/1:a:b")
    is_open = (
        "/",
        "/docs",
        "/openapi.json",
        "/media/a.png",
        "/static/a.css",
        "/v1/vacancies/1",
        *PATHS,
    )
    assert not any(rules.can_fetch("crawler", path) for path in closed)
    assert all(rules.can_fetch("crawler", path) for path in is_open)

    with closing(client.get("/favicon.ico")) as answer:
        icon = Image.open(BytesIO(answer.getvalue()))
    assert answer["Content-Type"] in ("image/x-icon", "image/vnd.microsoft.icon")
    assert (icon.format, icon.info["sizes"]) == ("ICO", {(16, 16), (32, 32), (48, 48)})


def test_problems_of_accept_headers_and_parameters(client):
    answer = client.get("/v1/vacancies", headers={"accept": "text/html"})
    assert (answer.status_code, answer["Content-Type"]) == (406, "application/problem+json")

    query = "page[sise]=1&filter[region]=x&sort=title&sort=title&utm=1&utm=2&filter=1&filter[]=1"
    errors = client.get(f"/v1/vacancies?{query}").json()["errors"]
    names = [error["parameter"] for error in errors]
    assert names == ["page[sise]", "filter[region]", "sort", "filter", "filter[]"]
    assert "filter[regions]" in errors[1]["allowed"]

    answer = client.get("/v1/vacancies?" + "&".join(f"page[{n}]" for n in range(400)))
    assert (answer.status_code, len(answer.json()["errors"])) == (400, 20)  # at most

    # Too many parameters, and invalid UTF-8.
    invalid = ("filter[search]=%FF", "filter[regions]=%C3%28", "sort=%FF", "page[size]=%FF")
    for query in ("&" * 20_001, *invalid):
        assert client.get(f"/v1/vacancies?{query}").status_code == 400, query[:20]


def test_crash_and_disallowed_host_return_a_problem_document(client, settings, monkeypatch, caplog):
    """Without details, which are logged."""
    client.raise_request_exception = False
    crash = Mock(side_effect=RuntimeError("secret of the house"))
    monkeypatch.setattr(VacancyViewSet, "ids", crash)
    for settings.DEBUG in (False, True):
        caplog.clear()
        answer = client.get("/v1/vacancies")
        assert (answer.status_code, answer["Content-Type"]) == (500, "application/problem+json")
        assert "secret" not in answer.text
        assert [record.exc_info[1].args for record in caplog.records] == [("secret of the house",)]
        answer = client.get("/v1/vacancies", headers={"host": "evil.example.net"})
        assert (answer.status_code, answer["Content-Type"]) == (400, "application/problem+json")


def test_v0_1_announces_its_removal(client, settings):
    assert "Deprecation" not in client.get("/v0.1/vacancies")
    settings.V0_1_DEPRECATED_AT, settings.V0_1_SUNSET_AT = "2026-06-01", "2027-06-01"

    for successor in ("/v1/vacancies", "/v1/vacancies/internal"):
        answer = client.get(successor.replace("v1", "v0.1"))
        assert answer["Deprecation"] == "@1780272000"
        assert answer["Sunset"] == "Tue, 01 Jun 2027 00:00:00 GMT"
        assert answer["Link"] == f'<http://testserver{successor}>; rel="successor-version"'
    assert "Deprecation" not in client.get("/v1/vacancies")


def test_charset_of_the_request_is_ignored(at, wsgi):
    """Django decodes the query in that charset, before any middleware."""

    def answer(method, content_type):
        status, _, body = ask(wsgi, "/v1/vacancies?page[size]=5", method, CONTENT_TYPE=content_type)
        return status, body

    for method, expected in {
        "GET": 200,
        "HEAD": 200,
        "OPTIONS": 204,
        "POST": 405,
        "DELETE": 405,
    }.items():
        plain = answer(method, "")
        assert plain[0][:3] == str(expected), method
        for parameter in ("charset=rot13", "charset=hex", "charset=cp037", "x*=no''abc"):
            assert answer(method, f"text/plain; {parameter}") == plain, (method, parameter)


def test_invalid_settings_fail_at_startup(settings):
    settings.INTERNAL_ACCESS = "friends"
    settings.INTERNAL_NETWORKS, settings.TRUSTED_PROXIES = ["10.0.0.0/33"], ["proxy"]
    settings.RATE_LIMIT, settings.PAGE_SIZE_MAX, settings.PUBLIC_BASE_URL = (
        "many",
        0,
        "jobs.example.com",
    )
    settings.V0_1_DEPRECATED_AT = "soon"

    found = [message.id for message in settings_are_valid()]
    assert sorted(found) == [f"jobsite.E00{number}" for number in (1, 2, 2, 3, 4, 5, 6)]
