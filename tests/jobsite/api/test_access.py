"""Rate limits, and access to internal vacancies."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from applications import tokens
from tests.factories import make_insider, make_vacancy
from tests.jobsite.api.paths import INTERNAL

pytestmark = pytest.mark.django_db


def test_rate_limit_counts_per_client_and_returns_retry_after(client, settings, at):
    settings.RATE_LIMIT = "3/min"

    answers = [client.get("/v1/vacancies", REMOTE_ADDR="10.0.0.1") for _ in range(4)]

    assert [answer.status_code for answer in answers] == [200, 200, 200, 429]
    assert answers[-1]["Retry-After"] == "45"
    assert answers[-1].json()["title"] == "Too Many Requests"
    assert client.get("/v1/vacancies", REMOTE_ADDR="10.0.0.2").status_code == 200


def test_internal_lists_require_credentials(client, settings):
    settings.INTERNAL_ACCESS = "authenticated"
    user = make_insider("eve")
    _, token = tokens.issue(user=user, lifetime=timedelta(hours=1))
    signed_in = Client()
    signed_in.force_login(user)

    for path in INTERNAL:
        refused = client.get(path)
        wrong = client.get(path, headers={"authorization": "Bearer nonsense"})
        by_token = client.get(path, headers={"authorization": f"Bearer {token}"})
        by_session = signed_in.get(path)

        statuses = [answer.status_code for answer in (refused, wrong, by_token, by_session)]
        assert statuses == [401, 401, 200, 200], path
        assert refused["WWW-Authenticate"] == wrong["WWW-Authenticate"] == "Bearer"
        assert by_token["Cache-Control"] == by_session["Cache-Control"] == "private, no-store"
        assert "ETag" not in by_token

    settings.INTERNAL_ACCESS = "authenticated"

    for path, status in (("/v0.1/vacancies/internal", 401), ("/v1/vacancies/9", 404)):
        for token in (b"\xff", b"\x00", b"x" * 5000, b"a b", b""):
            answer = client.get(path, HTTP_AUTHORIZATION=(b"Bearer " + token).decode("latin-1"))

            assert answer.status_code == status, (path, token)


def test_signed_in_request_takes_two_more_queries(client, settings, at, django_assert_num_queries):
    settings.INTERNAL_ACCESS = "authenticated"
    client.force_login(User.objects.create_user("eve", is_staff=True))
    counts = []
    for made in (1, 2):
        internal = [make_vacancy(audience="internal", is_hot=True) for _ in range(made)]
        paths = ("/v1/vacancies/internal", f"/v1/vacancies/{internal[0].pk}")
        for path in paths:
            with CaptureQueriesContext(connection) as queries:
                assert client.get(path).status_code == 200
            counts.append(len(queries))
    assert counts[:2] == counts[2:]  # for one row and for three
    assert max(counts) <= 10  # two are for permissions: who only judges sees no internal ones
    with django_assert_num_queries(3):  # public responses do not load the user
        client.get("/v1/vacancies")


def test_internal_lists_are_open_to_internal_networks(client, settings):
    settings.INTERNAL_ACCESS, settings.INTERNAL_NETWORKS = "network", ["10.1.0.0/16", "fd00::/8"]
    expected = {"10.1.2.3": 200, "fd00::1": 200, "::ffff:10.1.2.3": 200, "10.2.0.1": 403, "": 403}
    for path in INTERNAL:
        statuses = {
            address: client.get(path, REMOTE_ADDR=address).status_code for address in expected
        }
        assert statuses == expected, path
        assert "WWW-Authenticate" not in client.get(path)

    settings.INTERNAL_ACCESS, settings.INTERNAL_NETWORKS = "network", ["127.0.0.0/8", "10.0.0.0/8"]
    settings.TRUSTED_PROXIES = ["127.0.0.1"]
    inside = ("10.0.0.7", "10.0.0.7:4711", "203.0.113.9, 10.0.0.7")
    outside = (
        "10.0.0.7, 203.0.113.9",
        "203.0.113.9:4711",
        "[2001:db8::1]:4711",
        '"10.0.0.7"',
        "unknown",
        "10.0.0.7,",
        "",
    )

    def status(forwarded):
        headers = {"x-forwarded-for": forwarded}
        return client.get(INTERNAL[-1], headers=headers, REMOTE_ADDR="127.0.0.1").status_code

    found = {forwarded: status(forwarded) for forwarded in inside + outside}
    assert found == dict.fromkeys(inside, 200) | dict.fromkeys(outside, 403)
