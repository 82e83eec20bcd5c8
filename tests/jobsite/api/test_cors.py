"""CORS headers."""

import pytest

from tests.factories import make_vacancy
from tests.jobsite.api.paths import PATHS

pytestmark = pytest.mark.django_db

OURS = {"origin": "https://careers.example.com"}


def test_cors_allows_every_origin_but_for_internal_responses(client, settings, at):
    for path in PATHS:
        answer = client.get(path, headers=OURS)
        preflight = client.options(path, headers=OURS | {"access-control-request-method": "GET"})

        assert (
            answer["Access-Control-Allow-Origin"] == preflight["Access-Control-Allow-Origin"] == "*"
        )
        assert set(answer["Access-Control-Expose-Headers"].split(", ")) == {
            "Apply",
            "Content-Disposition",
            "Deprecation",
            "ETag",
            "Form-Version",
            "Link",
            "Retry-After",
            "Sunset",
            "Time-Zone",
            "WWW-Authenticate",
            "X-Request-ID",
        }
        allowed = [
            "authorization",
            "content-type",
            "idempotency-key",
            "if-none-match",
            "traceparent",
            "x-request-id",
        ]
        assert set(preflight["Access-Control-Allow-Headers"].split(", ")) >= set(allowed)

    settings.INTERNAL_ACCESS, settings.INTERNAL_NETWORKS = "network", ["127.0.0.0/8"]
    internal, public = make_vacancy(audience="internal"), make_vacancy()
    paths = (
        "/v0.1/vacancies/internal",
        f"/v1/vacancies/{internal.pk}",
        f"/v1/vacancies/{public.pk}",
    )
    answers = [client.get(path, headers={"origin": "https://evil.example"}) for path in paths]

    assert [answer.status_code for answer in answers] == [200] * 3
    assert [answer.get("Access-Control-Allow-Origin") for answer in answers] == [None, None, "*"]


CORS_PATHS = (
    "/v1/vacancies",
    "/v0.1/vacancies",
    "/v1/vacancies?limit=1",
    "/v1/vacancies/999",
    "/v1/nothing",
    "/v1/user/applications",
    "/openapi.json",
    "/media/vacancies/nothing.png",
)


def test_vary_contains_origin_only_if_the_response_depends_on_it(client, settings):
    def answers(path):
        for headers in ({}, OURS, {"origin": "https://evil.example"}):
            answer = client.get(path, headers=headers)
            yield (
                answer.get("Access-Control-Allow-Origin"),
                "origin" in answer.get("Vary", "").lower(),
            )

    assert {path: list(answers(path)) for path in CORS_PATHS} == dict.fromkeys(
        CORS_PATHS, [("*", False)] * 3
    )
    for path in ("/docs", "/account/login", "/nothing", "/admin/login/"):  # pages
        assert list(answers(path)) == [(None, False)] * 3, path
    settings.CORS_ALLOW_ALL_ORIGINS, settings.CORS_ALLOWED_ORIGINS = False, [OURS["origin"]]
    expected = [(None, True), (OURS["origin"], True), (None, True)]
    assert {path: list(answers(path)) for path in CORS_PATHS} == dict.fromkeys(CORS_PATHS, expected)
