"""Attempts: when they follow each other, and what ends them."""

from datetime import timedelta

import pytest
from django.utils.http import http_date

from jobsite.http_client import PostAnswer
from tests.conftest import NOW
from tests.factories import make_vacancy
from tests.vacancies.webhooks.fakes import make_webhook
from vacancies.models import Vacancy, Webhook, WebhookAttempt
from vacancies.webhooks import delivery
from vacancies.webhooks.delivery import DELAYS, WebhookDelivery

pytestmark = pytest.mark.django_db(transaction=True)
STARTED = NOW - timedelta(hours=1)


@pytest.fixture
def webhook():
    made = make_webhook()
    make_vacancy(publish_from=STARTED)
    return made


def test_attempts_follow_each_other_for_three_days_and_end(deliver, receiver, webhook):
    receiver.refuse(500, times=99)
    deliver()
    for _ in range(12):
        webhook.refresh_from_db()
        if webhook.state != "active":
            break
        due = webhook.next_at - NOW
        deliver(due - timedelta(seconds=1))
        deliver(due)
    offsets = [each.at - receiver.sent[0].at for each in receiver.sent]
    assert offsets == [sum(DELAYS[:n], timedelta()) for n in range(10)]
    assert offsets[-1] == timedelta(days=3, hours=3, minutes=35, seconds=5)
    assert (webhook.state, webhook.tries) == ("failed", 10)
    # the same bytes and id, and a signature of its own time
    assert len({each.body for each in receiver.sent}) == 1
    assert len({each.headers["webhook-id"] for each in receiver.sent}) == 1
    assert len({each.headers["webhook-signature"] for each in receiver.sent}) == 10

    assert {*WebhookAttempt.objects.values_list("status", "answer")} == {(500, "No")}
    deliver(timedelta(days=30))
    assert len(receiver.sent) == 10


def test_event_that_was_accepted_late_is_followed_by_what_changed_meanwhile(
    deliver, receiver, webhook
):
    [first] = Vacancy.objects.values_list("pk", flat=True)
    receiver.answers.extend(["There was no connection.", PostAnswer(200, {}, b"")])
    deliver()
    second = make_vacancy(publish_from=STARTED).pk
    deliver(timedelta(seconds=5))
    assert [each.ids for each in receiver.sent] == [[first], [first], [second]]
    reasons = WebhookAttempt.objects.order_by("pk").values_list("status", "reason")
    assert list(reasons) == [(None, "There was no connection."), (200, ""), (200, "")]
    webhook.refresh_from_db()
    assert (webhook.tries, webhook.pending_id, webhook.pending_body) == (0, "", "")


@pytest.mark.parametrize(
    ("asked", "seconds"),
    [
        ("120", 120),
        ("1", 5),  # not sooner than without
        ("999999", 86_400),
        (http_date((NOW + timedelta(seconds=90)).timestamp()), 90),
        (http_date((NOW - timedelta(seconds=90)).timestamp()), 5),
        ("soon", 5),
        ("-3", 5),
    ],
)
def test_receiver_can_ask_for_a_later_attempt(deliver, receiver, webhook, asked, seconds):
    receiver.refuse(429, Retry_After=asked)
    deliver()
    webhook.refresh_from_db()
    assert webhook.next_at == NOW + timedelta(seconds=seconds)


def test_redirects_and_other_answers_are_refusals_and_410_pauses(deliver, receiver, webhook):
    for status in (302, 400, 199):
        receiver.refuse(status)
        deliver(timedelta(days=1) * (webhook.tries + len(receiver.sent)))
    webhook.refresh_from_db()
    assert (webhook.tries, webhook.state) == (3, "active")
    receiver.refuse(410)
    deliver(timedelta(days=9))
    webhook.refresh_from_db()
    assert (webhook.tries, webhook.state) == (4, "paused")


def test_one_receiver_that_fails_does_not_stop_the_others(deliver, receiver, webhook):
    """Each gets one attempt in turn."""
    make_webhook("Other")
    Webhook.objects.filter(name="Other").update(cursor=webhook.cursor)
    receiver.refuse(500)
    deliver()
    [failed, other] = Webhook.objects.order_by("pk")
    assert (failed.tries, other.tries, other.sent_at) == (1, 0, NOW)


def test_killed_process_sends_the_same_again(deliver, receiver, webhook, monkeypatch):
    def die(*args):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(delivery, "_after", die)
        with pytest.raises(KeyboardInterrupt):
            deliver()
    deliver(timedelta(seconds=1))
    first, again = receiver.sent
    assert (first.body, first.headers["webhook-id"]) == (again.body, again.headers["webhook-id"])
    deliver(timedelta(seconds=2))
    assert len(receiver.sent) == 2


def test_webhook_that_changes_during_an_attempt(receiver, webhook, deliver, monkeypatch):
    """Resumed, it begins with another event; deleted, nothing is stored."""
    send = delivery.send

    def resume_then_delete(row, *, at):
        result = send(row, at=at)
        if len(receiver.sent) == 1:
            Webhook.objects.update(pending_id="", pending_body="", pending_cursor="")
        else:
            Webhook.objects.all().delete()
        return result

    monkeypatch.setattr(delivery, "send", resume_then_delete)
    deliver()
    first, second = receiver.sent
    assert first.ids == second.ids
    assert first.headers["webhook-id"] != second.headers["webhook-id"]
    assert not Webhook.objects.exists()


def test_answers_are_shortened_and_the_last_hundred_attempts_kept(deliver, receiver, webhook):
    receiver.answers.append(PostAnswer(500, {}, b"\x00\x1b[1m" + b"\xff" * 600))
    deliver()
    [attempt] = WebhookAttempt.objects.all()
    assert attempt.answer == "[1m" + "\ufffd" * 497
    WebhookAttempt.objects.bulk_create(
        WebhookAttempt(webhook=webhook, at=NOW, event="ping", milliseconds=1) for _ in range(150)
    )
    deliver(timedelta(seconds=5))
    assert webhook.attempts.count() == 100
    assert webhook.attempts.first().status == 200


def test_nothing_is_read_for_paused_webhooks(webhook, django_assert_num_queries):
    Webhook.objects.update(state="paused")
    with django_assert_num_queries(1):
        assert WebhookDelivery().next_due(NOW) is None
