"""Spam protection: attempts per hour, and the proof of work."""

import base64
import json
from datetime import timedelta

import pytest
from altcha import PayloadV1, solve_challenge_v1
from django.test import Client

from applications import privacy
from applications.models import Application, UsedProof
from applications.submissions import proof
from tests.applications.submissions.sending import (
    VALUES,
    make_open_vacancy,
    path_of,
    pointers,
    send,
)
from tests.applications.submissions.test_idempotency import KEY

pytestmark = pytest.mark.django_db


@pytest.fixture
def vacancy(at, monkeypatch):
    monkeypatch.setattr(proof, "MAX_NUMBER", 500)
    return make_open_vacancy()


def solve(challenge):
    """Return the payload that ALTCHA's clients send."""
    text, salt, algorithm = challenge["challenge"], challenge["salt"], challenge["algorithm"]
    number = solve_challenge_v1(text, salt, algorithm, challenge["maxnumber"]).number
    return PayloadV1(algorithm, text, number, salt, challenge["signature"]).to_base64()


def challenge_of(response):
    assert response.status_code == 429, response.content
    body = response.json()
    assert body["proof_required"] is True
    assert response["Cache-Control"] == "no-store"
    return body["challenge"]


# --- Proof of work ---


def test_proof_is_required_solved_and_used_once(vacancy, settings, at):
    settings.APPLY_PROOF = "always"
    challenge = challenge_of(send(vacancy))
    assert sorted(challenge) == [
        "algorithm",
        "challenge",
        "maxNumber",
        "maxnumber",
        "salt",
        "signature",
    ]
    assert Application.objects.count() == 0

    solution = solve(challenge)
    invalid = send(vacancy, VALUES | {"email": "mia"}, proof=solution)  # does not use it up
    assert pointers(invalid) == {"/values/email": "pattern"}
    first, again = (send(vacancy, proof=solution, headers=KEY) for _ in range(2))
    assert (first.status_code, again.json()) == (201, first.json())

    assert UsedProof.objects.count() == 1
    other = VALUES | {"email": "other@example.org"}
    assert challenge_of(send(vacancy, other, proof=solution))["salt"] != challenge["salt"]
    assert Application.objects.count() == 1
    for hours in (1, 2):  # deleted when it expires
        assert (
            privacy.purge_credentials(now=at + timedelta(hours=hours))["used_proofs"] == hours - 1
        )


def test_challenge_is_bound_to_the_vacancy(vacancy, settings):
    settings.APPLY_PROOF = "always"
    challenge_of(send(vacancy, proof=solve(challenge_of(send(make_open_vacancy(vacancy.form))))))


def test_challenge_is_bound_to_the_hour(vacancy, settings, time_machine, at):
    settings.APPLY_PROOF = "always"
    challenge = challenge_of(send(vacancy))
    next_hour = at.replace(minute=0, second=0) + timedelta(hours=2)
    assert challenge["salt"].endswith(
        f"?expires={int(next_hour.timestamp())}&vacancy={vacancy.pk}&"
    )

    time_machine.move_to(next_hour, tick=False)
    challenge_of(send(vacancy, proof=solve(challenge)))
    time_machine.move_to(next_hour - timedelta(seconds=1), tick=False)
    assert send(vacancy, proof=solve(challenge)).status_code == 201


def encoded(value):
    return base64.b64encode(json.dumps(value).encode()).decode()


def test_wrong_solutions_are_refused(vacancy, settings):
    settings.APPLY_PROOF = "always"
    right = json.loads(base64.b64decode(solve(challenge_of(send(vacancy)))))
    wrong = [
        "",
        "x",
        "é",
        "e30=",
        encoded([]),
        encoded(None),
        encoded(1),
        encoded("a"),
        "W" * 4_000,
        base64.b64encode(b"[" * 5_000).decode(),
        base64.b64encode(b"\xff").decode(),
        encoded(right | {"number": right["number"] + 1}),
        encoded(right | {"number": str(right["number"])}),
        encoded(right | {"number": True}),
        encoded(right | {"signature": "0" * 64}),
        encoded(right | {"algorithm": "SHA-1"}),
        encoded(right | {"salt": None}),
        encoded(right | {"salt": right["salt"].replace("?", "?vacancy=1&")}),
        encoded(right | {"salt": chr(0xD800)}),
        encoded({name: value for name, value in right.items() if name != "salt"}),
    ]
    for solution in wrong:
        challenge_of(send(vacancy, proof=solution))
    assert send(vacancy, proof=encoded(right)).status_code == 201


def test_proof_is_required_above_30_submissions_an_hour(vacancy, settings, time_machine, at):
    Application.objects.bulk_create(
        Application(vacancy=vacancy, reference=str(number)) for number in range(30)
    )
    assert send(vacancy, VALUES | {"email": "last@example.org"}).status_code == 201
    challenge_of(send(vacancy))
    assert send(make_open_vacancy(vacancy.form)).status_code == 201
    settings.APPLY_PROOF = "off"
    assert send(vacancy, VALUES | {"email": "off@example.org"}, proof="ignored").status_code == 201
    assert UsedProof.objects.count() == 0

    settings.APPLY_PROOF = "auto"
    time_machine.move_to(at + timedelta(hours=1), tick=False)
    assert send(vacancy).status_code == 201


# --- Attempts ---


def test_attempts_are_limited_for_each_client_and_vacancy(vacancy, settings, at):
    settings.RATE_LIMIT = "600/min"
    other = make_open_vacancy(vacancy.form)

    def attempt(vacancy, address="203.0.113.1"):
        return Client(REMOTE_ADDR=address).post(path_of(vacancy), "{}", "application/json")

    assert [attempt(vacancy).status_code for _ in range(20)] == [422] * 20
    refused = attempt(vacancy)
    assert refused.status_code == 429
    assert refused["Retry-After"] == "1785"  # until 10:00:00
    assert "proof_required" not in refused.json()
    assert attempt(other).status_code == 422
    assert attempt(vacancy, "203.0.113.2").status_code == 422
    settings.RATE_LIMIT = "off"
    assert attempt(vacancy).status_code == 422
