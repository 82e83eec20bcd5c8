"""What webhooks tell: which vacancies changed, and nothing else."""

from datetime import timedelta

import pytest
from django.test import Client, override_settings
from standardwebhooks import Webhook as Verifier
from standardwebhooks import WebhookVerificationError

from jobsite.models import CursorGap
from jobsite.serving.revision import read_state
from tests.conftest import NOW
from tests.factories import make_brand, make_vacancy
from tests.vacancies.webhooks.fakes import make_webhook
from vacancies.models import Vacancy, Webhook
from vacancies.webhooks import sending
from vacancies.webhooks.delivery import resume
from vacancies.webhooks.signing import secret_of

pytestmark = pytest.mark.django_db(transaction=True)
HOUR = timedelta(hours=1)


def make(title="Nurse", **values):
    return make_vacancy(**{"title": title, "publish_from": NOW - HOUR} | values)


def change(*vacancies, **values):
    Vacancy.objects.filter(pk__in=[each.pk for each in vacancies]).update(**values)


def verified(webhook, sent):
    return Verifier(secret_of(webhook)).verify(sent.body, sent.headers)


def test_changes_become_one_signed_event(deliver, receiver):
    before = make("Before")
    webhook = make_webhook()
    deliver()
    assert receiver.sent == []  # what was there is no change

    first, second = make("First"), make("Second")
    change(before, status="archived")
    deliver(HOUR)
    [sent] = receiver.sent
    assert (sent.url, sent.headers["Content-Type"]) == (webhook.url, "application/json")
    assert verified(webhook, sent) == sent.event
    since = sent.event["data"]["since"]
    assert sent.event == {
        "type": "vacancies.changed",
        "timestamp": (NOW + HOUR).isoformat(),
        "data": {"ids": [first.pk, second.pk, before.pk], "more": False, "since": since},
    }
    # the receiver reads the feed from there
    feed = Client().get("/v1/vacancies/changes", {"since": since}).json()
    assert [(each["id"], each["change"]) for each in feed["data"]] == [
        (first.pk, "upsert"),
        (second.pk, "upsert"),
        (before.pk, "remove"),
    ]

    deliver(2 * HOUR)
    assert len(receiver.sent) == 1
    change(first, title="Head nurse")
    deliver(2 * HOUR)
    assert receiver.sent[1].event["data"]["since"] == feed["meta"]["cursor"]
    assert receiver.sent[1].ids == [first.pk]


def test_starts_and_ends_are_changes(deliver, receiver):
    make_webhook()
    vacancy = make(publish_from=NOW + HOUR, publish_until=NOW + 2 * HOUR)
    told = []
    for later in (timedelta(), HOUR - timedelta(seconds=1), HOUR, 2 * HOUR, 3 * HOUR):
        deliver(later)
        told.append(len(receiver.sent))
    assert told == [0, 0, 1, 2, 2]
    assert receiver.ids == [vacancy.pk] * 2


def test_event_has_at_most_100_ids(deliver, receiver):
    make_webhook()
    vacancies = [make() for _ in range(101)]
    deliver()
    assert [len(each.ids) for each in receiver.sent] == [100, 1]
    assert [each.event["data"]["more"] for each in receiver.sent] == [True, False]
    assert receiver.ids == [each.pk for each in vacancies]


def test_webhook_hears_of_its_brand_and_its_list_only(deliver, receiver):
    acme, other = make_brand(slug="acme"), make_brand("Other", slug="other")
    hooks = {
        "all": {},
        "acme": {"brand": acme},
        "internal": {"audience": "internal"},
        "acme internal": {"brand": acme, "audience": "internal"},
    }
    for name, values in hooks.items():
        make_webhook(name, **values)
        Webhook.objects.filter(name=name).update(url=name)
    rows = [
        make(brand=brand, audience=audience).pk
        for brand in (acme, other)
        for audience in ("public", "internal", "both")
    ]
    ours, public, internal = rows[:3], {0, 2, 3, 5}, {1, 2, 4, 5}
    unseen = (
        make(status="draft"),
        make(status="archived"),
        make(publish_from=NOW + HOUR),
        make(publish_until=NOW - timedelta(seconds=1)),
    )
    deliver()
    change(*unseen[:2], title="Still not public")
    deliver()
    told = {each.url: [] for each in receiver.sent}
    for each in receiver.sent:
        told[each.url] += each.ids
    # one that has ended was public for some time
    told = {url: [pk for pk in pks if pk != unseen[3].pk] for url, pks in told.items()}
    assert told == {
        "all": [pk for n, pk in enumerate(rows) if n in public],
        "acme": [ours[0], ours[2]],
        "internal": [pk for n, pk in enumerate(rows) if n in internal],
        "acme internal": [ours[1], ours[2]],
    }

    receiver.sent.clear()
    change(Vacancy(pk=rows[0]), brand=other)  # it leaves a list
    deliver()
    assert {each.url: each.ids for each in receiver.sent} == {"all": [rows[0]], "acme": [rows[0]]}


def test_receiver_reads_the_list_anew_if_the_changes_are_not_known(deliver, receiver):
    webhook = make_webhook()
    vacancy = make()
    CursorGap.objects.create(after=-1, before=read_state().number)
    deliver()
    change(vacancy, title="Head nurse")
    deliver()
    assert [each.event["data"] for each in receiver.sent] == [
        {"ids": [], "more": True, "since": None},
        {"ids": [vacancy.pk], "more": False, "since": receiver.sent[1].event["data"]["since"]},
    ]
    assert Webhook.objects.get(pk=webhook.pk).state == "active"


def test_brand_with_another_value_stays_the_same_feed(deliver, receiver):
    acme = make_brand(slug="acme")
    make_webhook(brand=acme)
    vacancy = make(brand=acme)
    acme.slug = "acme-jobs"
    acme.save()
    deliver()
    since = receiver.sent[0].event["data"]["since"]
    query = {"since": since, "filter[brand]": "acme-jobs"}
    feed = Client().get("/v1/vacancies/changes", query).json()
    assert {*receiver.ids} == {each["id"] for each in feed["data"]} == {vacancy.pk}


def test_skipped_changes_are_not_read_again(deliver, receiver, django_assert_max_num_queries):
    webhook = make_webhook(brand=make_brand("Quiet", slug="quiet"))
    rows = [make() for _ in range(30)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("vacancies.feed.reading.SCAN", 10)
        patch.setattr("vacancies.webhooks.events.IDS_MAX", 10)
        deliver()
    assert receiver.sent == []
    assert Webhook.objects.get(pk=webhook.pk).cursor != webhook.cursor
    with django_assert_max_num_queries(3):  # nothing changed: it does not look
        deliver()
    change(rows[0], brand=webhook.brand)
    deliver()
    assert receiver.ids == [rows[0].pk]


def test_build_hook_waits_for_the_last_change_of_a_burst(deliver, receiver):
    make_webhook(kind="build")
    vacancy = make()
    minute = timedelta(minutes=1)
    built = {}

    def at(minutes, *, changed=False):
        if changed:
            change(vacancy, title=f"Nurse {minutes}")
        before = len(receiver.sent)
        deliver(minutes * minute)
        built[minutes] = len(receiver.sent) - before

    for minutes in (0, 0.4, 0.8):
        at(minutes, changed=True)
    for minutes in (1.25, 1.3, 1.5):
        at(minutes)
    assert built == {0: 0, 0.4: 0, 0.8: 0, 1.25: 0, 1.3: 1, 1.5: 0}
    [sent] = receiver.sent
    assert (sent.body, set(sent.headers)) == (b"", {"User-Agent"})

    built.clear()
    at(2, changed=True)  # 5 minutes after the last build
    for minutes in (6, 6.3, 7):
        at(minutes)
    assert built == {2: 0, 6: 0, 6.3: 1, 7: 0}

    built.clear()
    for number in range(15):  # changes that do not end: 5 minutes after the first one
        at(20 + number * 0.4, changed=True)
    assert [minutes for minutes, number in built.items() if number] == [25.2]


def test_secret_rotation_signs_with_both_for_seven_days(deliver, receiver, settings):
    webhook = make_webhook()
    vacancy = make()
    old = Webhook(pk=webhook.pk, secret_number=1)
    settings.SECRET_KEY_FALLBACKS = ["x" * 50]
    Webhook.objects.update(secret_number=2, secret_at=NOW)
    webhook.refresh_from_db()
    deliver()
    assert secret_of(webhook) != secret_of(old)
    verified(old, receiver.sent[0])
    verified(webhook, receiver.sent[0])
    change(vacancy, title="Head nurse")
    deliver(timedelta(days=7))
    verified(webhook, receiver.sent[1])
    with pytest.raises(WebhookVerificationError):
        verified(old, receiver.sent[1])

    # The key of the site was replaced: receivers have the secret of the earlier one.
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = "y" * 50, [settings.SECRET_KEY]
    change(vacancy, title="Nurse")
    deliver(timedelta(days=8))
    new = receiver.sent[2]
    verified(webhook, new)
    with override_settings(SECRET_KEY=settings.SECRET_KEY_FALLBACKS[0]):
        verified(webhook, new)
    with pytest.raises(WebhookVerificationError):
        Verifier(secret_of(webhook)).verify(new.body + b" ", new.headers)


def test_ping_is_signed_and_moves_no_cursor(deliver, receiver):
    webhook = make_webhook()
    make()
    deliver(timedelta())
    receiver.sent.clear()
    attempt = sending.test(webhook, at=NOW)
    [sent] = receiver.sent
    assert verified(webhook, sent) == {"type": "ping", "timestamp": NOW.isoformat(), "data": {}}
    assert (attempt.status, attempt.answer, attempt.event) == (200, "Thanks", "ping")
    assert Webhook.objects.get(pk=webhook.pk).cursor != webhook.cursor  # that of the event


def test_resumed_webhook_tells_what_changed_meanwhile(deliver, receiver):
    webhook = make_webhook()
    first = make()
    receiver.refuse(410)
    deliver()
    second = make()
    deliver(timedelta(days=3))
    assert [each.ids for each in receiver.sent] == [[first.pk]]
    webhook.refresh_from_db()
    assert webhook.state == "paused"
    resume(webhook)
    deliver(timedelta(days=3))
    assert [each.ids for each in receiver.sent] == [[first.pk], [first.pk, second.pk]]
