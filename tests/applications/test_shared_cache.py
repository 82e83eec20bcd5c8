"""A caching nginx in front of a real service serves no response to the wrong client.

By default, `proxy_cache` caches what its upstream allows, with the URL as the key. A cached response of an
applicant would be served to everybody.
"""

import http.client
import json
from urllib.parse import urlsplit

import pytest

from tests import servers
from tests.applications.makers import MINE
from tests.servers import Instance

pytestmark = [
    pytest.mark.slow("starts nginx and gunicorn"),
    pytest.mark.skipif(not servers.NGINX, reason="nginx is not installed"),
]

CONFIG = """
proxy_cache_path {folder}/cache keys_zone=shared:1m;
server {{
  listen 127.0.0.1:PORT;
  location / {{
    proxy_pass {upstream};
    proxy_set_header Host 127.0.0.1;
    proxy_cache shared;
    proxy_cache_key $scheme$host$request_uri;
    proxy_cache_methods GET HEAD;
    add_header X-Cache-Status $upstream_cache_status always;
  }}
}}
"""
ROWS = [
    {"user": {"username": name, "password": f"{name}'s long password"}, "vacancy_id": n, "history": []}
    for n, name in enumerate(("zyxanna", "zyxbert"), 1)
]


MAKE = """
from django.utils import timezone
from vacancies.models import Recruiter, Vacancy
head = Recruiter.objects.create(name="Noor")
for pk, title in ((1, "Job of zyxanna"), (2, "Job of zyxbert"), (3, "Job of all")):
    Vacancy.objects.create(
        pk=pk, title=title, head_recruiter=head, status="published", publish_from=timezone.now(),
        audience="internal" if pk < 3 else "both", is_hot=True,
    )
"""
INSIDERS = """
from django.contrib.auth.models import Permission, User
for user in User.objects.all():
    user.user_permissions.add(Permission.objects.get(codename="see_internal"))
"""
SIGN_IN = """
from django.contrib.auth.models import User
from tests.admin_pages import session_of
for user in User.objects.order_by("username"):
    print(session_of(user))
"""


@pytest.fixture(scope="module")
def instance(tmp_path_factory):
    """A service with two applicants, each with an application to a different vacancy."""
    folder = tmp_path_factory.mktemp("service")
    instance = Instance(folder, INTERNAL_ACCESS="authenticated", MULTI_BRANDING="no")
    (folder / "applications.json").write_text(json.dumps(ROWS))
    instance.manage("shell", "-c", MAKE)
    instance.manage("import_applications", str(folder / "applications.json"))
    instance.manage("shell", "-c", INSIDERS)  # protects the internal lists
    return instance


@pytest.fixture(scope="module")
def edge(instance, tmp_path_factory):
    """The base URL of a caching nginx in front of the service."""
    folder = tmp_path_factory.mktemp("nginx")
    with instance.serve() as upstream:
        nginx = servers.Nginx(folder / "nginx", CONFIG.format(folder=folder, upstream=upstream))
        nginx.probe = "/v1/filters?probe"  # tests do not request this URL, because it is cached
        with nginx:
            yield nginx.url


def request(url, path, method="GET", body=None, **headers):
    """Return (status, headers, text) of a response."""
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=20)
    try:
        connection.request(
            method, path, body, {name.replace("_", "-"): value for name, value in headers.items()}
        )
        response = connection.getresponse()
        return response.status, dict(response.getheaders()), response.read().decode()
    finally:
        connection.close()


@pytest.fixture(scope="module")
def credentials_of(instance, edge):
    """The credentials of each applicant: a token, requested through the cache, and a session."""
    sessions = instance.manage("shell", "-v0", "-c", SIGN_IN).stdout.split()[-2:]
    credentials = {}
    for row, session in zip(ROWS, sessions, strict=True):
        name, password = row["user"]["username"], row["user"]["password"]
        body = json.dumps({"username": name, "password": password})
        status, _, text = request(edge, "/v1/auth/token", "POST", body, Content_Type="application/json")
        assert status == 200
        credentials[name, "token"] = {"Authorization": f"Bearer {json.loads(text)['data']['token']}"}
        credentials[name, "session"] = {"Cookie": f"__Host-sessionid={session}"}
    return credentials


def test_public_lists_are_cached(edge):
    for path in ("/v1/vacancies", "/v1/vacancies/hot", "/v1/filters", "/v1/vacancies/3"):
        responses = [request(edge, path) for _ in range(3)]

        assert [headers["X-Cache-Status"] for _, headers, _ in responses] == ["MISS", "HIT", "HIT"]
        assert len({text for _, _, text in responses}) == 1


def test_cached_public_list_is_the_same_for_signed_in_users(edge, credentials_of):
    plain = request(edge, "/v1/vacancies?signed-in")
    for headers in credentials_of.values():
        status, response_headers, text = request(edge, "/v1/vacancies?signed-in", **headers)
        assert (status, response_headers["X-Cache-Status"], text) == (200, "HIT", plain[2])


@pytest.mark.parametrize(("by", "first"), [("token", "GET"), ("session", "HEAD")])
def test_cache_does_not_serve_the_applications_of_another_user(edge, credentials_of, by, first):
    path = f"{MINE}?{by}-{first}"  # a separate cache entry
    anna, bert = (credentials_of[name, by] for name in ("zyxanna", "zyxbert"))
    request(edge, path, first, **anna)

    for _ in range(2):
        for headers, own, foreign in ((anna, "zyxanna", "zyxbert"), (bert, "zyxbert", "zyxanna")):
            status, response_headers, text = request(edge, path, **headers)
            assert (status, response_headers["Cache-Control"]) == (200, "private, no-store")
            assert [item["title"] for item in json.loads(text)["data"]] == [f"Job of {own}"]
            assert foreign not in text
            assert response_headers["X-Cache-Status"] == "MISS"
        for headers in ({}, {"Authorization": "Bearer stale"}, {"Cookie": "__Host-sessionid=" + "a" * 32}):
            status, response_headers, text = request(edge, path, **headers)
            assert status == 401
            assert "zyx" not in text
            assert response_headers["X-Cache-Status"] == "MISS"


def test_refusal_is_not_cached(edge, credentials_of):
    path = f"{MINE}?refused"

    statuses = [request(edge, path, **headers)[0] for headers in ({}, credentials_of["zyxanna", "token"], {})]

    assert statuses == [401, 200, 401]


def test_internal_lists_are_not_cached(edge, credentials_of):
    for path in ("/v1/vacancies/internal", "/v0.1/vacancies/internal", "/v1/vacancies/1"):
        for headers in credentials_of.values():
            status, response_headers, text = request(edge, path, **headers)
            assert (status, response_headers["X-Cache-Status"]) == (200, "MISS")
            assert "zyxanna" in text
        status, _, text = request(edge, path)
        assert status == (404 if path.endswith("/1") else 401)
        assert "zyx" not in text


def test_tokens_are_not_cached(edge, credentials_of):
    assert request(edge, "/v1/auth/token")[0] == 405
    status, _, text = request(edge, "/v1/auth/token", "DELETE", **credentials_of["zyxbert", "token"])
    assert (status, text) == (204, "")
    assert request(edge, MINE, **credentials_of["zyxbert", "token"])[0] == 401
