"""CORS headers."""

import pytest

from tests.factories import make_vacancy
from tests.jobsite.api.paths import PATHS

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("path", PATHS)
def test_cors_allows_every_origin_by_default(client, path):
    answer = client.get(path, headers={"origin": "https://careers.example.com"})
    preflight = client.options(
        path, headers={"origin": "https://careers.example.com", "access-control-request-method": "GET"}
    )

    assert answer["Access-Control-Allow-Origin"] == preflight["Access-Control-Allow-Origin"] == "*"
    exposed = set(answer["Access-Control-Expose-Headers"].split(", "))
    assert exposed == {
        "Apply", "Content-Disposition", "Deprecation", "ETag", "Form-Version", "Link", "Retry-After",
        "Sunset", "Time-Zone", "WWW-Authenticate", "X-Request-ID",
    }  # fmt: skip
    allowed = set(preflight["Access-Control-Allow-Headers"].split(", "))
    assert allowed >= {"authorization", "content-type", "idempotency-key", "if-none-match"}
    assert allowed >= {"traceparent", "x-request-id"}


CORS_PATHS = ("/v1/vacancies", "/v0.1/vacancies", "/v1/vacancies?limit=1", "/v1/vacancies/999", "/v1/nothing",
           "/v1/user/applications", "/openapi.json", "/media/vacancies/nothing.png")  # fmt: skip


@pytest.mark.parametrize("path", CORS_PATHS)
def test_vary_contains_origin_only_if_the_response_depends_on_it(client, settings, path):
    ours, foreign = {"origin": "https://careers.example.com"}, {"origin": "https://evil.example"}

    def headers_of(**kwargs):
        answer = client.get(path, **kwargs)
        return answer.get("Access-Control-Allow-Origin"), "origin" in answer.get("Vary", "").lower()

    assert [headers_of(), headers_of(headers=ours), headers_of(headers=foreign)] == [("*", False)] * 3
    settings.CORS_ALLOW_ALL_ORIGINS, settings.CORS_ALLOWED_ORIGINS = False, [ours["origin"]]
    assert [headers_of(), headers_of(headers=ours), headers_of(headers=foreign)] == [
        (None, True), (ours["origin"], True), (None, True),
    ]  # fmt: skip


@pytest.mark.parametrize("path", ["/docs", "/account/login", "/nothing", "/admin/login/"])
def test_pages_have_no_cors_headers(client, path):
    answer = client.get(path, headers={"origin": "https://careers.example.com"})

    assert "Access-Control-Allow-Origin" not in answer
    assert "origin" not in answer.get("Vary", "").lower()


def test_internal_responses_have_no_cors_headers(client, settings, at):
    settings.INTERNAL_ACCESS, settings.INTERNAL_NETWORKS = "network", ["127.0.0.0/8"]
    internal, public = make_vacancy(audience="internal"), make_vacancy()
    allowed = {
        path: client.get(path, headers={"origin": "https://evil.example"}).get("Access-Control-Allow-Origin")
        for path in ("/v0.1/vacancies/internal", f"/v1/vacancies/{internal.pk}", f"/v1/vacancies/{public.pk}")
    }

    assert list(allowed.values()) == [None, None, "*"]
