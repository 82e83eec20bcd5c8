"""What an idempotency key and an attempt to deliver stand for: one vacancy, one attempt."""

from datetime import timedelta

import pytest

from applications.mail.delivery import MailDelivery
from applications.models import Message
from applications.submissions import idempotency
from tests.applications.makers import make_application
from tests.conftest import NOW
from tests.factories import make_vacancy

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("at")]
DAY, SECOND = timedelta(days=1), timedelta(seconds=1)


def test_key_belongs_to_a_vacancy_for_a_day():
    own, others = make_application(), make_vacancy()
    make_application(vacancy=others)
    idempotency.record(own.vacancy, "key", "content", own, at=NOW)
    for vacancy, expected in ((own.vacancy, own), (others, None)):
        assert idempotency.application_of(vacancy.pk, "key") == expected
        assert idempotency.find(vacancy, "key", "content", at=NOW + DAY - SECOND) == expected
    assert idempotency.application_of(own.vacancy.pk, "other") is None
    with pytest.raises(idempotency.KeyReusedError):
        idempotency.find(own.vacancy, "key", "changed", at=NOW)
    assert idempotency.find(own.vacancy, "key", "changed", at=NOW + DAY) is None
    assert idempotency.application_of(own.vacancy.pk, "key") is None


def test_lock_of_an_address_is_of_a_vacancy(monkeypatch):
    locks = []
    monkeypatch.setattr(idempotency, "lock_transaction", locks.append)
    first, second = make_vacancy(), make_vacancy()
    for vacancy, address in ((first, "a"), (first, "a"), (second, "a"), (first, "b")):
        idempotency.lock_address(vacancy, address)
    assert (len(locks), len(set(locks)), locks[0] == locks[1]) == (4, 3, True)


def test_outcome_of_an_earlier_attempt_changes_nothing():
    """Another process took over, and stored the outcome or tries again."""
    for state, attempts, is_recorded in (
        ("sending", 1, True),
        ("failed", 1, True),
        ("sending", 2, False),
        ("sent", 1, False),
        ("queued", 1, False),
    ):
        message = Message.objects.create(
            kind="digest",
            to="a@example.org",
            language="en",
            subject="",
            body="",
            state=state,
            attempts=attempts,
        )
        message.attempts = 1
        MailDelivery()._record(message, error="later")
        message.refresh_from_db()
        assert (message.error == "later") == is_recorded, (state, attempts)
