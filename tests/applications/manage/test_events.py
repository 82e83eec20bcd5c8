"""What webhooks with an integration are told about applications, and what they are never told."""

from datetime import timedelta
from itertools import count
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone
from standardwebhooks import Webhook as Verifier

from applications.models import Application, ConsentRequest, Origin, Outgoing, StageChange
from applications.operations.consents import answer, ask
from applications.privacy.erasure import erase_application
from tests.applications.makers import make_application, make_stage
from tests.conftest import NOW
from tests.factories import make_brand, make_vacancy
from tests.vacancies.feed.test_cursors import restored
from tests.vacancies.manage.client import Api, make_integration
from tests.vacancies.webhooks.fakes import make_webhook
from vacancies.models import IntegrationScope, Vacancy, Webhook
from vacancies.webhooks.delivery import resume
from vacancies.webhooks.signing import secret_of

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.each_database]
SCOPES = (IntegrationScope.APPLICATIONS,)


class Told:
    """What a receiver was told since the last call: (event, brand, ids)."""

    def __init__(self, deliver: Any, receiver: Any) -> None:
        self._deliver, self._receiver, self._seconds = deliver, receiver, count(2, 2)
        self.events: list[dict[str, Any]] = []

    def __call__(self) -> list[tuple[str, str, list[int]]]:
        self._receiver.sent.clear()
        self._deliver(timedelta(seconds=next(self._seconds)))
        sent = [each.event for each in self._receiver.sent]
        self.events = [each for each in sent if each["type"] != "vacancies.changed"]
        return [
            (each["type"].removeprefix("application."), each["data"]["brand"], each["data"]["ids"])
            for each in self.events
        ]


@pytest.fixture
def told(deliver, receiver, time_machine) -> Told:
    time_machine.move_to(NOW, tick=False)
    return Told(deliver, receiver)


def make_in(slug: str = "acme", **values: Any) -> Application:
    brand = make_brand(slug.title(), slug=slug) if slug else None
    return make_application(vacancy=make_vacancy(brand=brand), **values)


def update(application: Application, **values: Any) -> None:
    Application.objects.filter(pk=application.pk).update(**values)


def asked(application: Application) -> None:
    Origin.objects.create(application=application, channel="other", basis="consent")
    ask(application=application, at=timezone.now())


def make_asked() -> Application:
    """An application of somebody who has yet to agree, as a colleague adds it."""
    with transaction.atomic():
        made = make_in(email="mia@example.org", created_at=timezone.now())
        asked(made)
    return made


def test_received_moved_and_gone_in_order_with_ids_only(told, receiver):
    make_in()  # before the webhook
    webhook = make_webhook(integration=make_integration(scopes=SCOPES))
    assert told() == []
    first, second = make_in(given_name="Mia"), make_in()
    assert told() == [("received", "acme", [first.pk, second.pk])]
    [event] = told.events
    assert set(event) == {"type", "timestamp", "data"}
    assert set(event["data"]) == {"brand", "ids", "more", "since"}
    [sent] = [each for each in receiver.sent if each.event["type"] == event["type"]]
    assert Verifier(secret_of(webhook)).verify(sent.body, sent.headers) == event
    assert webhook.attempts.filter(event="application.received").count() == 1

    api = Api(webhook.integration)
    answered = api.get(f"applications?since={event['data']['since']}").json()
    assert [each["id"] for each in answered["data"]] == [first.pk, second.pk]

    StageChange.objects.create(application=first, stage=make_stage("Talk"))
    update(first, updated_at=timezone.now())
    assert told() == [("moved", "acme", [first.pk])]
    update(second, withdrawn_at=timezone.now())
    assert told() == [("moved", "acme", [second.pk])]
    pk = first.pk
    erase_application(application=first)
    third = make_in()
    assert told() == [("gone", "acme", [pk]), ("received", "acme", [third.pk])]
    assert told() == []


def test_applications_of_other_brands_are_not_told_and_leave_as_gone(told):
    acme = make_brand("Acme", slug="acme")
    make_webhook("one", integration=make_integration(brands=(acme,), scopes=SCOPES))
    ours, _theirs, _none = make_in(), make_in("beta"), make_in("")
    assert told() == [("received", "acme", [ours.pk])]
    update(ours, vacancy=make_vacancy(brand=make_brand("Beta", slug="beta")))
    assert told() == [("gone", "acme", [ours.pk])]
    update(ours, phone="1")
    assert told() == []
    Vacancy.objects.update(brand=acme)
    [(kind, brand, pks)] = told()
    assert (kind, brand, set(pks)) == ("received", "acme", {ours.pk, _theirs.pk, _none.pk})


def test_of_every_brand_a_move_to_another_brand_names_the_new_one(told):
    make_webhook(integration=make_integration(scopes=SCOPES))
    made, other = make_in(), make_in("")
    assert told() == [("received", "acme", [made.pk]), ("received", "-", [other.pk])]
    update(made, vacancy=make_vacancy(brand=make_brand("Beta", slug="beta")))
    assert told() == [("received", "beta", [made.pk])]


def test_of_a_brand_that_the_webhook_has_and_the_integration_may_read(told):
    acme = make_brand("Acme", slug="acme")
    make_webhook(brand=acme, integration=make_integration(scopes=SCOPES))
    ours, _theirs = make_in(), make_in("beta")
    assert told() == [("received", "acme", [ours.pk])]


def test_an_application_is_not_told_before_its_applicant_agrees(told):
    make_webhook(integration=make_integration(scopes=SCOPES))
    agreed, refused, silent = make_asked(), make_asked(), make_asked()
    assert told() == []
    update(silent, phone="1")
    assert told() == []
    answer(application=agreed, is_agreed=True, at=timezone.now())
    assert told() == [("received", "acme", [agreed.pk])]
    erase_application(application=refused)
    update(silent, vacancy=make_vacancy(brand=make_brand("Beta", slug="beta")))
    assert told() == []  # nobody was told about them
    pk = agreed.pk
    erase_application(application=agreed)
    assert told() == [("gone", "acme", [pk])]


def test_the_list_does_not_say_that_something_is_gone_that_nobody_could_read():
    make_brand("Acme", slug="acme")
    api = Api(make_integration(scopes=SCOPES))
    since = api.get("applications").json()["meta"]["cursor"]
    refused, made = make_asked(), make_in()
    erase_application(application=refused)
    for kind in ("", "&filter[kind]=open"):
        data = api.get(f"applications?since={since}{kind}").json()["data"]
        assert [each["id"] for each in data] == [made.pk]


def test_one_that_is_asked_again_later_is_gone_when_it_is_erased(told):
    make_webhook(integration=make_integration(scopes=SCOPES))
    made = make_in(email="mia@example.org", created_at=NOW - timedelta(days=9))
    assert told() == [("received", "acme", [made.pk])]
    asked(made)
    assert ConsentRequest.objects.count() == 1
    assert told() == []
    pk = made.pk
    erase_application(application=made)
    assert told() == [("gone", "acme", [pk])]


@pytest.mark.parametrize("change", ["disabled", "scope", "removed"])
def test_integration_that_may_not_read_is_told_nothing(told, receiver, change):
    webhook = make_webhook(integration=make_integration(scopes=SCOPES))
    receiver.refuse(500)
    make_in()
    told()
    assert Webhook.objects.get().pending_event == "application.received"
    integration = webhook.integration
    if change == "removed":
        Webhook.objects.update(integration=None)
    else:
        integration.is_enabled = change != "disabled"
        integration.scopes = [IntegrationScope.READ] if change == "scope" else integration.scopes
        integration.save()
    make_in()
    for _ in range(8):
        assert told() == []  # the request that waited neither
    assert Webhook.objects.get().pending_event == ""
    if change != "removed":  # it continues where it was
        integration.is_enabled, integration.scopes = True, [*SCOPES]
        integration.save()
        [(kind, _, pks)] = told()
        assert (kind, len(pks)) == ("received", 2)


def test_after_a_restore_and_for_long_paused_ones_everything_is_to_be_read_anew(told):
    webhook = make_webhook(integration=make_integration(scopes=SCOPES))
    make_in()
    restored()
    assert told() == [("moved", None, [])]
    assert told.events[0]["data"] == {"brand": None, "ids": [], "more": True, "since": None}
    made = make_in()
    assert told() == [("received", "acme", [made.pk])]
    Webhook.objects.update(state="paused")
    second = make_in()
    assert told() == []
    resume(webhook)
    assert told() == [("received", "acme", [second.pk])]


def test_bursts_are_told_in_parts(told, monkeypatch):
    monkeypatch.setattr("applications.manage.reading.PAGE", 3)
    make_webhook(integration=make_integration(scopes=SCOPES))
    pks = [make_in().pk for _ in range(5)]
    found = told()
    assert [(kind, ids) for kind, _, ids in found] == [
        ("received", pks[:3]),
        ("received", pks[3:]),
    ]
    assert [each["data"]["more"] for each in told.events] == [True, False]
    with transaction.atomic():
        Application.objects.update(vacancy=make_vacancy(brand=make_brand("Beta", slug="beta")))
    told_pks = [
        pk for kind, brand, ids in told() for pk in ids if (kind, brand) == ("received", "beta")
    ]
    assert sorted(told_pks) == pks


def test_a_purge_of_old_changes_makes_no_application_new(told):
    make_webhook(integration=make_integration(scopes=SCOPES))
    made = make_in()
    told()
    Outgoing.objects.all().delete()
    update(made, phone="1")
    assert told() in ([("moved", "acme", [made.pk])], [])  # on SQLite, the numbers begin anew


def test_form_refuses_what_cannot_be_told():
    acme, beta = make_brand("Acme", slug="acme"), make_brand("Beta", slug="beta")
    fitting = make_integration(brands=(acme,), scopes=SCOPES)
    without = make_integration("Other", scopes=(IntegrationScope.READ,))
    base = {"name": "x", "url": "https://hooks.test/"}
    Webhook(**base, integration=fitting, brand=acme).full_clean(exclude=["cursor"])
    for values, name in (
        ({"integration": without}, "integration"),
        ({"integration": fitting, "kind": "build"}, "integration"),
        ({"integration": fitting, "brand": beta}, "brand"),
    ):
        with pytest.raises(ValidationError) as error:
            Webhook(**base, **values).full_clean(exclude=["cursor"])
        assert set(error.value.error_dict) == {name}


def test_events_never_have_words_of_the_application(told, receiver):
    make_webhook(integration=make_integration(scopes=SCOPES))
    made = make_in(given_name="Qqmia", family_name="Qqmaes", email="qqmia@example.org", rating=5)
    made.notes.create(text="Qqnote", author=None)
    assert told()
    update(made, given_name="Qqanna")
    assert told()
    words = ("Qqmia", "Qqmaes", "qqmia@", "Qqanna", "Qqnote")
    sent = " ".join(each.body.decode() for each in receiver.sent)
    assert not [word for word in words if word in sent]
