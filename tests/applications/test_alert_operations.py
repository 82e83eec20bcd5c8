"""Sign-up, confirmation and frequency of job alerts: what they change, and what they leave."""

from datetime import timedelta

import pytest
from django.core.cache import cache

from applications.alerts import operations
from applications.models import JobAlert, Message
from tests.conftest import NOW
from tests.factories import make_brand

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("at")]
DAY = timedelta(days=1)
MAIL = "a@example.org"


def sign_up(query="", address=MAIL, *, at=NOW, **values):
    given = {"brand": None, "frequency": "daily", "language": "en"} | values
    operations.sign_up(alert=JobAlert(address=address, query=query, **given), at=at)


def stored():
    return list(JobAlert.objects.order_by("pk").values_list("language", "confirmed_at", "ends_at"))


def test_sign_up_extends_an_unconfirmed_alert_and_leaves_a_confirmed_one():
    sign_up()
    assert stored() == [("en", None, NOW + 7 * DAY)]
    sign_up(at=NOW + 3 * DAY, language="nl")
    assert stored() == [("nl", None, NOW + 10 * DAY)]
    JobAlert.objects.update(ends_at=NOW + 30 * DAY)  # it was asked to be confirmed again
    sign_up(at=NOW + 4 * DAY, language="fr")
    assert stored() == [("fr", None, NOW + 30 * DAY)]

    sign_up("other", address="b@example.org", at=NOW + 4 * DAY)
    alert = JobAlert.objects.first()
    operations.confirm(alert, at=NOW + 5 * DAY)
    confirmed = ("fr", NOW + 5 * DAY, NOW + 370 * DAY)
    assert stored() == [confirmed, ("en", None, NOW + 11 * DAY)]
    sign_up(at=NOW + 6 * DAY, language="de")
    operations.confirm(alert, at=NOW + 6 * DAY)  # a second click
    assert stored()[0] == confirmed


def test_limit_counts_the_links_of_an_address_in_an_hour():
    sign_up()
    alert = JobAlert.objects.get()
    for _ in range(5):
        Message.objects.create(
            kind="alert", alert=alert, to=MAIL, language="en", subject="", body="", queued_at=NOW
        )
    for minutes in (0, 30, 59):
        sign_up("x", at=NOW + timedelta(minutes=minutes))
    links = Message.objects.filter(kind="alert_confirmation", to=MAIL)
    assert links.count() == 3
    cache.clear()  # it counts in real time
    sign_up("x", at=NOW + timedelta(minutes=60))  # the first is an hour old
    assert links.count() == 4


def test_frequency_replaces_the_equal_alert_only(monkeypatch):
    acme, locks = make_brand("Acme"), []
    monkeypatch.setattr(operations, "lock_transaction", locks.append)
    for address, query, brand, frequency in (
        (MAIL, "x", None, "daily"),
        (MAIL, "x", None, "weekly"),
        (MAIL, "y", None, "weekly"),
        (MAIL, "x", acme, "weekly"),
        ("b@example.org", "x", None, "weekly"),
        ("c@example.org", "x", None, "daily"),
    ):
        sign_up(
            query,
            address,
            brand=brand,
            frequency=frequency,
            at=NOW - DAY * JobAlert.objects.count(),
        )
    first, *others = JobAlert.objects.order_by("pk")
    operations.set_frequency(first, "weekly")
    first.refresh_from_db()
    assert first.frequency == "weekly"
    assert list(JobAlert.objects.exclude(pk=first.pk).order_by("pk")) == others[1:]
    assert JobAlert.objects.get(address="c@example.org").frequency == "daily"
    assert locks == [
        f"job alerts of {each}" for each in (*[MAIL] * 4, "b@example.org", "c@example.org", MAIL)
    ]
