"""HTTP caching: ETag, conditional requests, Cache-Control."""

from datetime import timedelta

import pytest

from jobsite.api.caching import is_unchanged
from tests.factories import make_vacancy
from tests.jobsite.api.paths import PATHS

pytestmark = pytest.mark.django_db


def test_unchanged_response_is_a_304(client, at):
    single = f"/v1/vacancies/{make_vacancy().pk}"
    for path in (*PATHS, single, f"{single}/form", f"{single}/form/schema"):
        tag = client.get(path)["ETag"]
        for method in (client.get, client.head):
            answer = method(path, headers={"if-none-match": f'"other", {tag}'})
            assert (answer.status_code, answer.content, answer["ETag"]) == (304, b"", tag), path
            assert answer["Cache-Control"] == "public, max-age=60", path
            assert method(path, headers={"if-none-match": '"other"'}).status_code == 200, path
    for name in ("if-modified-since", "if-unmodified-since"):  # are ignored
        assert (
            client.get("/v1/filters", headers={name: "Sat, 29 Oct 1994 19:43:31 GMT"}).status_code
            == 200
        )

    for path in ("/v1/vacancies?page[size]=0", "/v1/vacancies/999999", "/v1/x"):
        assert client.get(path)["Cache-Control"] == "no-store"


def test_compressed_plain_head_and_304_agree_and_max_age_ends_at_the_next_change(client, at):
    make_vacancy()
    compressed = {"accept-encoding": "gzip"}

    plain = client.get("/v1/vacancies")
    answers = [
        plain,
        client.get("/v1/vacancies", headers=compressed),
        client.head("/v1/vacancies", headers=compressed),
        client.get("/v1/vacancies", headers=compressed | {"if-none-match": plain["ETag"]}),
    ]

    assert [answer.status_code for answer in answers] == [200, 200, 200, 304]
    assert answers[1]["Content-Encoding"] == "gzip"
    assert (
        len({answer["ETag"] for answer in answers})
        == len({answer["Vary"] for answer in answers})
        == 1
    )
    indented = client.get("/v1/vacancies", headers={"accept": "application/json; indent=4"})
    assert (indented.content, indented["Content-Type"]) == (plain.content, plain["Content-Type"])

    public = make_vacancy(publish_until=at + timedelta(seconds=40))
    make_vacancy(publish_from=at + timedelta(seconds=25.9))
    internal = make_vacancy(audience="internal", publish_until=at + timedelta(seconds=30))
    singles = {f"/v1/vacancies/{public.pk}": 40, f"/v1/vacancies/{internal.pk}": 30}

    # of all lists together: a list is not stored for longer than until any vacancy goes live or
    # expires
    for path, seconds in (dict.fromkeys(PATHS, 25) | singles).items():
        assert client.get(path)["Cache-Control"] == f"public, max-age={seconds}", path


def test_a_request_without_a_condition_has_no_etag_of_the_response():
    assert not is_unchanged({}, "")
    assert not is_unchanged({"HTTP_IF_NONE_MATCH": ""}, "")
    assert is_unchanged({"HTTP_IF_NONE_MATCH": 'W/"a", "b"'}, '"a"')
