"""RECEIPT_RATE: anybody can apply with the address of somebody else, who then gets few emails."""

from contextlib import ExitStack
from datetime import timedelta
from functools import partial

import pytest
from django.core.cache import cache
from django.db import connection, transaction
from django.test import Client
from django.utils import timezone

from applications.mail.outbox import TOO_MANY
from applications.mail.receipt import queue_receipt
from applications.models import Application, Message
from applications.operations import withdraw_application
from applications.querysets import mailbox as mailbox_of
from tests.applications.applicants import make_anonymous
from tests.applications.makers import make_user, signed_in
from tests.applications.submissions.sending import VALUES, make_open_vacancy, send
from tests.parallel import waiting

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _rate(settings):
    settings.RECEIPT_RATE, settings.RATE_LIMIT = "2/hour", "off"


def apply(vacancy, number, address, client=None):
    """Apply with answers that differ each time. Return the state and the error of the receipt."""
    values = VALUES | {"email": address, "first_name": f"Mia {number}"}
    assert send(vacancy, values, client=client or Client()).status_code == 201
    return Message.objects.values_list("state", "error").latest("pk")


def test_one_address_gets_few_receipts(at, time_machine):
    vacancy, other = make_open_vacancy(), make_open_vacancy()
    sent, held = ("queued", ""), ("failed", TOO_MANY)
    addresses = [
        "Mia@example.org",
        "mia@EXAMPLE.org",
        "mia@example.org",
        "mia@example.org",
        "bo@example.org",
    ]

    found = [apply((vacancy, other)[number % 2], number, to) for number, to in enumerate(addresses)]

    assert found == [sent, sent, held, held, sent]
    assert Application.objects.count() == 5  # none is lost
    time_machine.move_to(at + timedelta(minutes=59, seconds=59), tick=False)
    assert apply(vacancy, 6, addresses[0]) == held
    time_machine.move_to(at + timedelta(hours=1), tick=False)
    assert [apply(vacancy, number, addresses[0]) for number in (7, 8, 9)] == [sent, sent, held]


def test_addresses_of_one_mailbox_count_together(at):
    vacancy = make_open_vacancy()
    mailbox = ("Bp@gmail.com", "b.p+2@gmail.com", "bp+3@googlemail.com", "BP+x+y@Gmail.com")
    found = [apply(vacancy, number, to)[0] for number, to in enumerate((*mailbox, "bp2@gmail.com"))]
    assert found == ["queued", "queued", "failed", "failed", "queued"]
    assert mailbox_of('"bp+1"@Zürich.example.') == mailbox_of("bp@xn--zrich-kva.example")
    for domains in (("icloud.com", "me.com", "mac.com"), ("proton.me", "pm.me", "protonmail.com")):
        assert len({mailbox_of(f"Bp+{domain}@{domain}") for domain in domains}) == 1
    assert mailbox_of("a.b@example.org") != mailbox_of("ab@example.org")
    assert mailbox_of(f"x@{'é' * 63}.org").startswith("x@")


def test_client_is_limited_over_all_vacancies(at, settings, monkeypatch):
    settings.RATE_LIMIT, settings.APPLY_PAGES = "600/min", True
    monkeypatch.setattr("applications.api.submissions.ATTEMPTS_IN_ALL", "2/hour")
    vacancies = [make_open_vacancy() for _ in range(3)]
    answers = [send(vacancy, VALUES, client=Client()) for vacancy in vacancies]
    assert [each.status_code for each in answers] == [201, 201, 429]
    page = Client().post(f"/apply/{vacancies[0].pk}", {})
    assert (page.status_code, page.has_header("Retry-After")) == (429, True)


def test_account_cannot_send_more_by_withdrawing_or_deleting(at):
    vacancy, user = make_open_vacancy(), make_user()
    client = signed_in(user)
    assert apply(vacancy, 1, "victim@example.org", client) == ("queued", "")
    application = Application.objects.get(user=user)
    withdraw_application(application=application, at=at)
    assert apply(vacancy, 2, "victim@example.org") == ("failed", TOO_MANY)

    for number in range(3, 5):
        Application.objects.all().delete()
        assert apply(vacancy, number, "victim@example.org", client) == ("failed", TOO_MANY)
    assert "victim" not in repr(cache._cache)


def test_rate_can_be_off_and_emails_of_recruiters_are_not_limited(at, settings):
    settings.RECEIPT_RATE = "off"
    vacancy = make_open_vacancy()
    assert {apply(vacancy, number, "mia@example.org") for number in range(4)} == {("queued", "")}


@pytest.mark.django_db(transaction=True)
@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite lets one write at a time")
def test_rate_holds_for_processes_at_once():
    first, second, third = (make_anonymous() for _ in range(3))

    with ExitStack() as stack, transaction.atomic():
        queue_receipt(application=first, at=timezone.now())
        queue_receipt(application=second, at=timezone.now())
        cache.clear()  # the other process has its own
        stack.enter_context(waiting(partial(queue_once, third)))

    assert Message.objects.get(application=third).error == TOO_MANY


def queue_once(application):
    with transaction.atomic():
        queue_receipt(application=application, at=timezone.now())
