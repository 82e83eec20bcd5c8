"""Idempotency keys: one application per key, whatever the client repeats."""

import json
from datetime import timedelta

import pytest
from django.test import Client

from applications.models import Application, IdempotencyKey, Message
from applications.submissions import idempotency
from tests.applications.submissions.sending import (
    VALUES,
    document,
    make_open_vacancy,
    path_of,
    pointers,
    send,
)
from tests.parallel import at_once
from vacancies.models import Vacancy

KEY = {"Idempotency-Key": "6f1c2b0e-8f0e-4b57-9c55-0d5f0f6f2f3a"}


@pytest.fixture
def vacancy(db, at):
    return make_open_vacancy()


def test_same_key_and_content_return_the_same_response(vacancy, time_machine, at):
    first = send(vacancy, headers=KEY)
    row = IdempotencyKey.objects.get()
    assert (len(row.key_hash), row.vacancy, row.application) == (
        64,
        vacancy,
        Application.objects.get(),
    )
    time_machine.move_to(at + timedelta(hours=23), tick=False)
    again = send(vacancy, headers=KEY)

    assert (first.status_code, again.status_code) == (201, 201)
    assert again.json() == first.json()
    assert (Application.objects.count(), Message.objects.count()) == (1, 1)
    other = send(make_open_vacancy(vacancy.form), headers=KEY)  # a key belongs to one vacancy
    assert other.json()["data"]["reference"] != first.json()["data"]["reference"]


def test_same_key_returns_the_same_response_after_the_vacancy_closed(
    vacancy, client, time_machine, at
):
    """Any other request is the 404 of an unknown vacancy."""
    body = document(vacancy)

    def post(content, headers, pk=vacancy.pk):
        return client.post(path_of(pk), json.dumps(content), "application/json", headers=headers)

    first = post(body, KEY)
    unknown = post(body, KEY, vacancy.pk + 1)
    assert post(body, KEY, 10**19 - 1).status_code == 404  # more than the database can store
    for change in (
        {"publish_until": at},
        {"status": "unpublished"},
        {"apply_url": "https://x.example/"},
    ):
        Vacancy.objects.update(
            **{"publish_until": None, "status": "published", "apply_url": ""} | change
        )
        again = post(body, KEY)
        assert (again.status_code, again.json()) == (201, first.json()), change
        other = body | {"values": VALUES | {"first_name": "B"}}
        for content, headers in (
            (other, KEY),
            ([], KEY),
            ({}, KEY),
            (body, {}),
            (body, {"Idempotency-Key": "é"}),
            (body, {"Idempotency-Key": "other"}),
        ):
            refused = post(content, headers)
            assert refused.status_code == 404
            assert refused.json() == unknown.json() | {"instance": path_of(vacancy)}

    time_machine.move_to(at + timedelta(days=1), tick=False)
    assert post(body, KEY).status_code == 404
    assert Application.objects.count() == 1


def test_same_key_with_other_content_is_a_422(vacancy):
    send(vacancy, headers=KEY)
    for change in ({"values": VALUES | {"first_name": "B"}}, {"source": "b"}, {"version": "0"}):
        response = send(vacancy, **{"values": VALUES} | change, headers=KEY)
        assert pointers(response) == {}
        assert "Idempotency-Key" in response.json()["detail"]
    assert Application.objects.count() == 1


def test_key_is_not_used_up_by_an_invalid_submission(vacancy):
    assert send(vacancy, {}, headers=KEY).status_code == 422
    assert send(vacancy, headers=KEY).status_code == 201


def test_key_of_an_equal_submission_finds_its_application(vacancy):
    first = send(vacancy)
    with_key = send(vacancy, headers=KEY)
    again = send(vacancy, headers=KEY)

    assert first.json() == with_key.json() == again.json()


def test_key_is_new_after_a_day(vacancy, time_machine, at):
    send(vacancy, headers=KEY)
    time_machine.move_to(at + timedelta(days=1), tick=False)
    assert send(vacancy, VALUES | {"first_name": "B"}, headers=KEY).status_code == 201
    assert IdempotencyKey.objects.count() == 1


# --- Concurrent requests ---


def send_body(path, body, headers):
    return Client().post(path, body, "application/json", headers=headers)


@pytest.mark.django_db(transaction=True)
def test_key_in_use_across_connections():
    vacancy = make_open_vacancy()
    path, body = path_of(vacancy), json.dumps(document(vacancy))
    with idempotency.in_use(vacancy, KEY["Idempotency-Key"]):
        response = at_once(lambda: send_body(path, body, KEY))[0]
        other_key = at_once(lambda: send_body(path, body, {"Idempotency-Key": "other"}))[0]

    assert (response.status_code, response["Retry-After"]) == (409, "1")
    assert response["Content-Type"] == "application/problem+json"
    assert other_key.status_code == 201
    assert send_body(path, body, KEY).status_code == 201


@pytest.mark.slow("sends requests at the same time")
@pytest.mark.each_database
@pytest.mark.django_db(transaction=True)
def test_other_requests_at_once_are_marked_as_applied_again():
    vacancy = make_open_vacancy()
    path = path_of(vacancy)
    sent = [json.dumps(document(vacancy, VALUES | {"first_name": name})) for name in "ABCD"]

    answers = at_once(*[lambda body=body: send_body(path, body, {}) for body in sent])

    assert [answer.status_code for answer in answers] == [201] * 4
    assert Application.objects.filter(is_repeated=True).count() == 3
