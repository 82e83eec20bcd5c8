"""Methods, headers, caching and errors of every API path."""

from contextlib import closing
from datetime import timedelta
from io import BytesIO
from urllib.robotparser import RobotFileParser

import pytest
from django.contrib.auth.models import User
from PIL import Image

from applications import tokens
from jobsite.ops.checks import production_is_configured, settings_are_valid
from tests.factories import make_insider, make_vacancy
from vacancies.api.v1 import VacancyViewSet

PATHS = [
    "/v1/vacancies",
    "/v1/vacancies/hot",
    "/v1/vacancies/internal",
    "/v1/vacancies/hot/internal",
    "/v0.1/vacancies",
    "/v0.1/vacancies/internal",
    "/v1/filters",
]

INTERNAL = [path for path in PATHS if path.endswith("/internal")]

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    "path",
    [
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
    ],
)
@pytest.mark.parametrize("debug", [False, True])
def test_unknown_path_returns_a_problem_document(client, settings, path, debug):
    settings.DEBUG = debug

    answer = client.get(path)

    assert (answer.status_code, answer["Content-Type"]) == (404, "application/problem+json")
    assert answer.json()["title"] == "Not Found"


@pytest.mark.parametrize(
    "pk", ["0", "007", "abc", "-1", "1.0", "1e3", "+1", "²", "١", "9" * 30, "9" * 19, "1%00", "%20"]
)
def test_invalid_id_returns_the_same_404_as_an_unknown_id(client, pk):
    unknown, odd = client.get("/v1/vacancies/999999"), client.get(f"/v1/vacancies/{pk}")

    assert odd.status_code == unknown.status_code == 404
    assert odd.json() | {"instance": ""} == unknown.json() | {"instance": ""}
    assert odd.json()["detail"] == "No published vacancy has this id."


@pytest.mark.parametrize("path", [*PATHS, "/v1/vacancies/1"])
@pytest.mark.parametrize("method", ["post", "put", "patch", "delete"])
def test_write_methods_are_not_allowed(client, path, method):
    answer = getattr(client, method)(path)

    assert (answer.status_code, answer["Allow"]) == (405, "GET, HEAD, OPTIONS")
    assert answer.json()["instance"] == path


@pytest.mark.parametrize("path", PATHS)
def test_head_equals_get_without_the_body(client, at, path):
    make_vacancy()

    get, head = client.get(path), client.head(path)

    assert head.content == b""
    assert {name: head[name] for name in ("ETag", "Content-Length", "Content-Type", "Cache-Control")} == {
        name: get[name] for name in ("ETag", "Content-Length", "Content-Type", "Cache-Control")
    }


@pytest.mark.parametrize("path", PATHS)
def test_options_returns_the_allowed_methods(client, path):
    answer = client.options(path)

    assert (answer.status_code, answer["Allow"], answer.content) == (204, "GET, HEAD, OPTIONS", b"")


@pytest.mark.parametrize("path", PATHS)
def test_cors_allows_every_origin_by_default(client, path):
    answer = client.get(path, headers={"origin": "https://careers.example.com"})
    preflight = client.options(
        path, headers={"origin": "https://careers.example.com", "access-control-request-method": "GET"}
    )

    assert answer["Access-Control-Allow-Origin"] == preflight["Access-Control-Allow-Origin"] == "*"
    exposed = set(answer["Access-Control-Expose-Headers"].split(", "))
    assert exposed == {
        "Content-Disposition", "Deprecation", "ETag", "Form-Version", "Link", "Retry-After", "Sunset",
        "Time-Zone", "WWW-Authenticate", "X-Request-ID",
    }  # fmt: skip
    allowed = set(preflight["Access-Control-Allow-Headers"].split(", "))
    assert allowed >= {"authorization", "content-type", "if-none-match", "traceparent", "x-request-id"}


ANSWERS = ("/v1/vacancies", "/v0.1/vacancies", "/v1/vacancies?limit=1", "/v1/vacancies/999", "/v1/nothing",
           "/v1/user/applications", "/openapi.json", "/media/vacancies/nothing.png")  # fmt: skip


@pytest.mark.parametrize("path", ANSWERS)
def test_vary_contains_origin_only_if_the_response_depends_on_it(client, settings, path):
    ours, foreign = {"origin": "https://careers.example.com"}, {"origin": "https://evil.example"}

    def told(**kwargs):
        answer = client.get(path, **kwargs)
        return answer.get("Access-Control-Allow-Origin"), "origin" in answer.get("Vary", "").lower()

    assert [told(), told(headers=ours), told(headers=foreign)] == [("*", False)] * 3
    settings.CORS_ALLOW_ALL_ORIGINS, settings.CORS_ALLOWED_ORIGINS = False, [ours["origin"]]
    assert [told(), told(headers=ours), told(headers=foreign)] == [
        (None, True), (ours["origin"], True), (None, True),
    ]  # fmt: skip


@pytest.mark.parametrize("path", ["/docs", "/account/login", "/nothing", "/admin/login/"])
def test_pages_have_no_cors_headers(client, path):
    answer = client.get(path, headers={"origin": "https://careers.example.com"})

    assert "Access-Control-Allow-Origin" not in answer
    assert "origin" not in answer.get("Vary", "").lower()


def test_response_has_the_time_zone(client, settings, at, wsgi):
    settings.TIME_ZONE = "Europe/Brussels"
    vacancy = make_vacancy(updated_at=at)
    client.force_login(User.objects.create_user("mia", password="mia"))
    single = f"/v1/vacancies/{vacancy.pk}"
    for path in (*PATHS, single, f"{single}/form", f"{single}/form/schema", "/v1/user/applications"):
        for answer in (client.get(path), client.head(path), client.get(path, headers={"if-none-match": "*"})):
            assert answer.status_code in (200, 304)
            assert answer["Time-Zone"] == "Europe/Brussels", path
    assert client.get(single).json()["data"]["updated_at"] == "2026-03-02 10:30:15"
    token = client.post("/v1/auth/token", {"username": "mia", "password": "mia"}, "application/json")
    assert (token.status_code, token["Time-Zone"]) == (200, "Europe/Brussels")
    for path in ("/v1/vacancies/999", "/v1/vacancies?page=1", "/v1/nothing", "/openapi.json", "/docs"):
        assert "Time-Zone" not in client.get(path), path


def test_robots_txt_excludes_pages_that_need_sign_in(client):
    with closing(client.get("/robots.txt")) as answer:
        text = answer.getvalue().decode()

    assert (answer.status_code, answer["Content-Type"]) == (200, 'text/plain; charset="utf-8"')
    assert client.head("/robots.txt").status_code == 200
    rules = RobotFileParser()
    rules.parse(text.splitlines())
    closed = ("/admin", "/admin/", "/admin/vacancies/vacancy/", "/account/login", "/preview/1:a:b")
    is_open = ("/", "/docs", "/openapi.json", "/media/a.png", "/static/a.css", "/v1/vacancies/1", *PATHS)
    assert not any(rules.can_fetch("crawler", path) for path in closed)
    assert all(rules.can_fetch("crawler", path) for path in is_open)


def test_favicon_is_an_icon(client):
    with closing(client.get("/favicon.ico")) as answer:
        icon = Image.open(BytesIO(answer.getvalue()))

    assert answer["Content-Type"] in ("image/x-icon", "image/vnd.microsoft.icon")
    assert (icon.format, icon.info["sizes"]) == ("ICO", {(16, 16), (32, 32), (48, 48)})


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("method", ["get", "head"])
def test_unchanged_response_is_a_304(client, at, path, method):
    tag = client.get(path)["ETag"]

    answer = getattr(client, method)(path, headers={"if-none-match": f'"other", {tag}'})

    assert (answer.status_code, answer.content, answer["ETag"]) == (304, b"", tag)
    assert answer["Cache-Control"] == "public, max-age=60"
    assert client.get(path, headers={"if-none-match": '"other"'}).status_code == 200


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("cookie", ["x", "", "a" * 32, r'"\000\000\000\000\000\000\000\000\000"'])
@pytest.mark.parametrize("name", ["sessionid", "csrftoken"])
def test_credentials_do_not_change_a_public_response(client, at, path, name, cookie):
    plain = client.get(path)

    answer = client.get(path, headers={"authorization": "Bearer nonsense", "cookie": f"{name}={cookie}"})

    assert (answer.status_code, answer.content, dict(answer.headers)) == (
        200,
        plain.content,
        dict(plain.headers),
    )
    assert not answer.cookies


def test_max_age_ends_at_the_next_change_by_the_clock(client, at):
    make_vacancy(publish_until=at + timedelta(seconds=40))
    make_vacancy(publish_from=at + timedelta(seconds=25.9))
    internal = make_vacancy(audience="internal", publish_until=at + timedelta(seconds=10))

    kept = {path: client.get(path)["Cache-Control"] for path in (*PATHS, f"/v1/vacancies/{internal.pk}")}

    assert kept == {
        "/v1/vacancies": "public, max-age=25",
        "/v1/vacancies/hot": "public, max-age=60",
        "/v1/vacancies/internal": "public, max-age=10",
        "/v1/vacancies/hot/internal": "public, max-age=60",
        "/v0.1/vacancies": "public, max-age=25",
        "/v0.1/vacancies/internal": "public, max-age=10",
        "/v1/filters": "public, max-age=25",
        f"/v1/vacancies/{internal.pk}": "public, max-age=10",
    }


def test_errors_are_not_cached(client):
    for path in ("/v1/vacancies?page[size]=0", "/v1/vacancies/9", "/v1/x"):
        assert client.get(path)["Cache-Control"] == "no-store"


@pytest.mark.parametrize(
    "accept", ["*/*", "application/*", "application/json", "text/html, */*;q=0.1", "", "x" * 7000]
)
def test_accept_with_json_returns_json(client, accept):
    answer = client.get("/v1/vacancies", headers={"accept": accept})

    assert answer.status_code == (406 if accept.startswith("x") else 200)


def test_accept_without_json_returns_406_in_json(client):
    answer = client.get("/v1/vacancies", headers={"accept": "text/html"})

    assert (answer.status_code, answer["Content-Type"]) == (406, "application/problem+json")


@pytest.mark.parametrize("debug", [False, True])
def test_crash_returns_a_problem_document_without_details_and_is_logged(
    client, settings, monkeypatch, caplog, debug
):
    settings.DEBUG = debug
    client.raise_request_exception = False

    def crash(self):
        raise RuntimeError("secret of the house")

    monkeypatch.setattr(VacancyViewSet, "get_queryset", crash)
    answer = client.get("/v1/vacancies")

    assert (answer.status_code, answer["Content-Type"]) == (500, "application/problem+json")
    assert "secret" not in answer.text
    assert [record.exc_info[1].args for record in caplog.records] == [("secret of the house",)]


@pytest.mark.parametrize("debug", [False, True])
def test_disallowed_host_returns_a_problem_document(client, settings, debug):
    settings.DEBUG = debug
    settings.ALLOWED_HOSTS = ["jobs.example.com"]

    answer = client.get("/v1/vacancies", headers={"host": "evil.example.net"})

    assert (answer.status_code, answer["Content-Type"]) == (400, "application/problem+json")


def test_problem_lists_every_unknown_or_repeated_parameter(client):
    answer = client.get("/v1/vacancies?page[sise]=1&filter[region]=x&sort=title&sort=title&utm=1&utm=2")

    assert [error["parameter"] for error in answer.json()["errors"]] == [
        "page[sise]",
        "filter[region]",
        "sort",
    ]
    assert answer.json()["errors"][2] == {
        "parameter": "sort",
        "detail": "sort is given more than once.",
        "received": ["title", "title"],
        "allowed": "one value",
    }
    assert "filter[regions]" in answer.json()["errors"][1]["allowed"]


@pytest.mark.parametrize(
    "query",
    [
        "page=2",
        "page[]=2",
        "page[size][]=2",
        "Page[size]=2",
        "filter=x",
        "filter[]=x",
        "sort[]=title",
    ],
)
def test_misspelled_parameters_are_rejected(client, query):
    assert client.get(f"/v1/vacancies?{query}").status_code == 400


@pytest.mark.parametrize("path", ["/v0.1/vacancies", "/v0.1/vacancies/internal"])
@pytest.mark.parametrize("query", ["filter[regions]=x", "sort=title", "fields=id", "filter[search]=x"])
def test_v0_1_accepts_only_paging(client, path, query):
    answer = client.get(f"{path}?{query}")

    assert answer.status_code == 400
    assert answer.json()["errors"][0]["allowed"] == ["page[size]", "page[number]"]


def test_rate_limit_counts_per_client_and_returns_retry_after(client, settings, at):
    settings.RATE_LIMIT = "3/min"

    answers = [client.get("/v1/vacancies", REMOTE_ADDR="10.0.0.1") for _ in range(4)]

    assert [answer.status_code for answer in answers] == [200, 200, 200, 429]
    assert answers[-1]["Retry-After"] == "45"
    assert answers[-1].json()["title"] == "Too Many Requests"
    assert client.get("/v1/vacancies", REMOTE_ADDR="10.0.0.2").status_code == 200


def test_rate_limit_trusts_only_trusted_proxies(client, settings, at):
    settings.RATE_LIMIT = "1/min"

    def ask(forwarded, address):
        return client.get(
            "/v1/vacancies", headers={"x-forwarded-for": forwarded}, REMOTE_ADDR=address
        ).status_code

    made_up = [ask(f"1.2.3.{n}", "10.0.0.1") for n in range(2)]
    settings.TRUSTED_PROXIES = ["10.0.0.0/8"]
    proxied = [ask(f"6.6.6.6, 1.2.3.{n}", "10.0.0.9") for n in (1, 2, 1)]

    assert made_up == [200, 429]
    assert proxied == [200, 200, 429]


def test_v0_1_announces_its_removal(client, settings):
    assert "Deprecation" not in client.get("/v0.1/vacancies")
    settings.V0_1_DEPRECATED_AT, settings.V0_1_SUNSET_AT = "2026-06-01", "2027-06-01"

    for path, successor in (
        ("/v0.1/vacancies", "/v1/vacancies"),
        ("/v0.1/vacancies/internal", "/v1/vacancies/internal"),
    ):
        answer = client.get(path)
        assert answer["Deprecation"] == "@1780272000"
        assert answer["Sunset"] == "Tue, 01 Jun 2027 00:00:00 GMT"
        assert answer["Link"] == f'<http://testserver{successor}>; rel="successor-version"'
        assert client.get(successor).status_code == 200
    assert "Deprecation" not in client.get("/v1/vacancies")


@pytest.mark.parametrize("method", ["GET", "HEAD", "OPTIONS", "POST", "DELETE"])
@pytest.mark.parametrize(
    "content_type",
    [
        "",
        "text/plain; charset=rot13",
        "text/plain; charset=hex",
        "text/plain; charset=cp037",
        "a/b; x*=no''abc",
    ],
)
def test_charset_of_the_request_is_ignored(at, wsgi, method, content_type):
    """Django decodes the query in that charset, before any middleware."""

    def status(content_type):
        seen = []
        environ = {
            "REQUEST_METHOD": method,
            "PATH_INFO": "/v1/vacancies",
            "QUERY_STRING": "page[size]=5",
            "CONTENT_TYPE": content_type,
            "SERVER_NAME": "testserver",
            "SERVER_PORT": "80",
            "wsgi.url_scheme": "http",
            "wsgi.input": BytesIO(),
        }
        body = b"".join(wsgi(environ, lambda line, headers: seen.append(line)))
        return seen[0], body

    assert status(content_type) == status("")
    assert status("")[0][:3] == {"GET": "200", "HEAD": "200", "OPTIONS": "204"}.get(method, "405")


@pytest.mark.parametrize("path", INTERNAL)
def test_internal_list_requires_credentials(client, settings, path):
    settings.INTERNAL_ACCESS = "authenticated"
    user = make_insider("eve")
    _, token = tokens.issue(user=user, lifetime=timedelta(hours=1))

    refused = client.get(path)
    wrong = client.get(path, headers={"authorization": "Bearer nonsense"})
    by_token = client.get(path, headers={"authorization": f"Bearer {token}"})
    client.force_login(user)
    by_session = client.get(path)

    assert [a.status_code for a in (refused, wrong, by_token, by_session)] == [401, 401, 200, 200]
    assert refused["WWW-Authenticate"] == wrong["WWW-Authenticate"] == "Bearer"
    assert by_token["Cache-Control"] == by_session["Cache-Control"] == "private, no-store"
    assert "ETag" not in by_token


def test_signed_in_request_takes_two_more_queries(client, settings, at, django_assert_num_queries):
    settings.INTERNAL_ACCESS = "authenticated"
    internal = make_vacancy(audience="internal", is_hot=True)
    client.force_login(
        User.objects.create_user("eve", is_staff=True)
    )  # other users need two more for permissions

    # session, user; count, page, options, recruiters, attachments
    with django_assert_num_queries(7):
        assert client.get("/v1/vacancies/hot/internal").json()["meta"]["total"] == 1
    # public vacancy; session, user; vacancy, options, recruiters, attachments
    with django_assert_num_queries(7):
        client.get(f"/v1/vacancies/{internal.pk}")
    with django_assert_num_queries(7):
        assert client.get("/v1/vacancies/internal").json()["meta"]["total"] == 1
    # public responses do not load the user
    with django_assert_num_queries(2):
        client.get("/v1/vacancies")


def test_too_many_parameters_return_400(client):
    assert client.get("/v1/vacancies?" + "&" * 20_001).status_code == 400


@pytest.mark.parametrize("path", INTERNAL)
def test_internal_list_is_open_to_internal_networks(client, settings, path):
    settings.INTERNAL_ACCESS, settings.INTERNAL_NETWORKS = "network", ["10.1.0.0/16", "fd00::/8"]

    statuses = [
        client.get(path, REMOTE_ADDR=address).status_code
        for address in ("10.1.2.3", "fd00::1", "::ffff:10.1.2.3", "10.2.0.1", "")
    ]

    assert statuses == [200, 200, 200, 403, 403]
    assert "WWW-Authenticate" not in client.get(path)


def test_body_does_not_depend_on_the_accept_header(client, at):
    make_vacancy()

    plain = client.get("/v1/vacancies")
    indented = client.get("/v1/vacancies", headers={"accept": "application/json; indent=4"})

    assert (indented.content, indented["Content-Type"]) == (plain.content, plain["Content-Type"])


def test_compressed_plain_head_and_304_agree(client, at):
    make_vacancy()
    compressed = {"accept-encoding": "gzip"}

    answers = [
        client.get("/v1/vacancies"),
        client.get("/v1/vacancies", headers=compressed),
        client.head("/v1/vacancies", headers=compressed),
    ]
    answers.append(client.get("/v1/vacancies", headers=compressed | {"if-none-match": answers[0]["ETag"]}))

    assert [answer.status_code for answer in answers] == [200, 200, 200, 304]
    assert answers[1]["Content-Encoding"] == "gzip"
    assert len({answer["ETag"] for answer in answers}) == len({answer["Vary"] for answer in answers}) == 1


@pytest.mark.parametrize(
    "query", ["filter[search]=%FF", "filter[regions]=%C3%28", "sort=%FF", "page[size]=%FF"]
)
def test_invalid_utf8_is_rejected(client, query):
    assert client.get(f"/v1/vacancies?{query}").status_code == 400


def test_wrong_method_is_reported_before_other_errors(client):
    answer = client.post("/v1/filters?page=2", headers={"accept": "text/html"})

    assert (answer.status_code, answer["Allow"]) == (405, "GET, HEAD, OPTIONS")


def test_number_of_errors_in_a_response_is_limited(client):
    answer = client.get("/v1/vacancies?" + "&".join(f"page[{n}]" for n in range(400)))

    assert (answer.status_code, len(answer.json()["errors"])) == (400, 20)


def test_date_conditions_are_ignored(client, at):
    for name in ("if-modified-since", "if-unmodified-since"):
        assert client.get("/v1/filters", headers={name: "Sat, 29 Oct 1994 19:43:31 GMT"}).status_code == 200


@pytest.mark.parametrize("token", [b"\xff", b"\x00", b"x" * 5000, b"a b", b""])
@pytest.mark.parametrize(("path", "status"), [("/v0.1/vacancies/internal", 401), ("/v1/vacancies/9", 404)])
def test_invalid_token_is_rejected(client, settings, token, path, status):
    settings.INTERNAL_ACCESS = "authenticated"

    answer = client.get(path, HTTP_AUTHORIZATION=(b"Bearer " + token).decode("latin-1"))

    assert answer.status_code == status


@pytest.mark.parametrize(
    ("forwarded", "status"),
    [
        ("10.0.0.7", 200),
        ("10.0.0.7:4711", 200),
        ("203.0.113.9, 10.0.0.7", 200),
        ("10.0.0.7, 203.0.113.9", 403),
        ("203.0.113.9:4711", 403),
        ("[2001:db8::1]:4711", 403),
        ('"10.0.0.7"', 403),
        ("unknown", 403),
        ("10.0.0.7,", 403),
        ("", 403),
    ],
)
def test_forwarded_address_outside_the_network_has_no_access(client, settings, forwarded, status):
    settings.INTERNAL_ACCESS, settings.INTERNAL_NETWORKS = "network", ["127.0.0.0/8", "10.0.0.0/8"]
    settings.TRUSTED_PROXIES = ["127.0.0.1"]

    answer = client.get(
        "/v0.1/vacancies/internal", headers={"x-forwarded-for": forwarded}, REMOTE_ADDR="127.0.0.1"
    )

    assert answer.status_code == status


def test_internal_responses_have_no_cors_headers(client, settings, at):
    settings.INTERNAL_ACCESS, settings.INTERNAL_NETWORKS = "network", ["127.0.0.0/8"]
    internal, public = make_vacancy(audience="internal"), make_vacancy()
    allowed = {
        path: client.get(path, headers={"origin": "https://evil.example"}).get("Access-Control-Allow-Origin")
        for path in ("/v0.1/vacancies/internal", f"/v1/vacancies/{internal.pk}", f"/v1/vacancies/{public.pk}")
    }

    assert list(allowed.values()) == [None, None, "*"]


def test_invalid_settings_fail_at_startup(settings):
    settings.INTERNAL_ACCESS = "friends"
    settings.INTERNAL_NETWORKS, settings.TRUSTED_PROXIES = ["10.0.0.0/33"], ["proxy"]
    settings.RATE_LIMIT, settings.PAGE_SIZE_MAX, settings.PUBLIC_BASE_URL = "many", 0, "jobs.example.com"
    settings.V0_1_DEPRECATED_AT = "soon"

    assert [message.id.removeprefix("jobsite.") for message in settings_are_valid()] == [
        "E001", "E002", "E002", "E003", "E004", "E005", "E006",
    ]  # fmt: skip
    assert [message.id for message in production_is_configured()] == [
        "jobsite.W004",
        "jobsite.W005",
        "jobsite.W018",
    ]
