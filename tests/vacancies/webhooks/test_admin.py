"""The admin of webhooks: the secret that is shown once, the buttons, and who is told."""

import re

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import Client

from applications.models import EmailOptOut, Message
from jobsite.accounts import roles
from jobsite.office.start_page import problems
from jobsite.office.webhook_emails import WebhookEmails
from tests.conftest import NOW
from tests.factories import make_brand
from tests.messages import messages_of
from tests.vacancies.admin.forms import staff
from tests.vacancies.webhooks.fakes import make_webhook
from vacancies.models import Webhook
from vacancies.webhooks.signing import secret_of

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("at")]
LIST = "/admin/vacancies/webhook/"
RIGHTS = ("view_webhook", "add_webhook", "change_webhook", "work_for_every_brand", "change_group")
VALUES = {"name": "Site", "url": "https://hooks.test/in", "kind": "events", "audience": "public"}


@pytest.fixture
def ada() -> Client:
    client = staff("ada", *RIGHTS)
    User.objects.update(email="ada@example.com")
    return client


def page(webhook: Webhook, name: str = "change") -> str:
    return f"{LIST}{webhook.pk}/{name}/"


def shown(response) -> list[str]:
    return re.findall("whsec_[A-Za-z0-9+/=]+", response.content.decode())


def test_secret_is_shown_once_and_never_stored(ada, tmp_path):
    response = ada.post(f"{LIST}add/", VALUES)
    webhook = Webhook.objects.get()
    assert shown(response) == [secret_of(webhook)]
    assert (webhook.state, webhook.owner) == ("active", None)
    assert shown(ada.get(page(webhook))) == shown(ada.get(LIST)) == []

    response = ada.post(page(webhook, "new-secret"))
    first, [second] = webhook, shown(response)
    webhook = Webhook.objects.get()
    assert second == secret_of(webhook) != secret_of(first)
    assert webhook.secret_at == NOW
    assert LogEntry.objects.latest("pk").change_message == "Made a new secret."
    call_command("dumpdata", output=str(tmp_path / "all.json"))
    stored = (tmp_path / "all.json").read_text()
    assert webhook.url in stored
    assert not any(secret.removeprefix("whsec_") in stored for secret in (second, secret_of(first)))


def test_build_hook_has_no_secret(ada):
    response = ada.post(f"{LIST}add/", VALUES | {"kind": "build"})
    assert response.status_code == 302
    assert b"New secret" not in ada.get(page(Webhook.objects.get())).content


def test_form_refuses_addresses_that_are_not_sent_to(ada, settings):
    response = ada.post(
        f"{LIST}add/", VALUES | {"url": "http://hooks.test/"}, headers={"accept-language": "nl"}
    )
    assert response.context_data["errors"]
    assert "Het adres moet met https:// beginnen." in response.content.decode()
    port = VALUES | {"url": "https://hooks.test:8443/"}
    ada.post(f"{LIST}add/", port)
    assert not Webhook.objects.exists()
    settings.WEBHOOK_PORTS = [8443]
    ada.post(f"{LIST}add/", port)
    assert Webhook.objects.get().url == "https://hooks.test:8443/"


def test_changing_a_webhook_keeps_what_the_dispatcher_writes(ada, monkeypatch):
    brand, webhook = make_brand(slug="acme"), make_webhook()
    save = Webhook.save

    def meanwhile(row, **options):
        Webhook.objects.update(cursor="later", tries=2)
        save(row, **options)

    monkeypatch.setattr(Webhook, "save", meanwhile)
    ada.post(page(webhook), VALUES | {"name": "New", "audience": "internal", "brand": brand.pk})
    webhook.refresh_from_db()
    assert (webhook.name, webhook.cursor, webhook.tries) == ("New", "later", 2)
    assert (webhook.audience, webhook.brand) == ("public", None)  # fixed


def test_buttons_test_and_resume(ada, receiver):
    webhook = make_webhook()
    receiver.refuse(500)
    response = ada.post(page(webhook, "test"))
    assert messages_of(response)[0].startswith("The receiver answered 500 after ")
    receiver.answers.append("There was no connection.")
    assert messages_of(ada.post(page(webhook, "test")))[1:] == ["There was no connection."]
    shown = ada.get(page(webhook)).content.decode().partition('id="attempts"')[2]
    assert shown.index("There was no connection.") < shown.index("The receiver answered 500")
    assert b"Resume" not in ada.get(page(webhook)).content

    Webhook.objects.update(state="failed", tries=10, pending_id="msg_1", told_at=NOW)
    assert "Resume" in ada.get(page(webhook)).content.decode()
    ada.post(page(webhook, "resume"))
    webhook.refresh_from_db()
    assert (webhook.state, webhook.tries, webhook.pending_id) == ("active", 0, "")
    assert webhook.told_at is None
    assert [ada.get(page(webhook, name)).status_code for name in ("test", "resume")] == [405, 405]


def test_users_of_some_brands_see_no_webhooks(receiver):
    webhook = make_webhook()
    handy = staff("handy", *(set(RIGHTS) - {"work_for_every_brand"}), brands=[make_brand()])
    assert handy.get(f"{LIST}add/").status_code == 403
    assert "Site" not in handy.get(LIST).content.decode().partition("<main")[2]
    assert handy.post(page(webhook, "test")).status_code == 404
    assert receiver.sent == []


def test_owner_and_administrators_are_told_about_failures(ada):
    owner = User.objects.get(username="ada")
    broken = make_webhook("Broken", state="failed")
    make_webhook("Resting", state="paused")
    make_webhook("Fine")
    roles.create()
    lines = problems(owner)[1:]
    assert [re.sub("<[^>]*>", "", line) for line in lines] == [
        "The webhook Broken failed: its receiver cannot be reached.",
        "The webhook Resting is paused.",
    ]
    assert page(broken) in lines[0]

    job = WebhookEmails("https://jobs.example.org")

    def run() -> list[str]:
        outcomes = []
        while item := job.next_due(NOW):
            outcomes.append(job.run(item))
        return outcomes

    assert run() == ["webhook email queued"]
    [message] = Message.objects.all()
    assert (message.to, message.subject) == ("ada@example.com", "The webhook Broken failed")
    assert f"https://jobs.example.org{page(broken)}" in message.body
    assert run() == []

    EmailOptOut.objects.create(user=owner, kind="webhook")
    Webhook.objects.update(state="failed", told_at=None)
    assert run() == ["webhook email nothing"] * 3
    EmailOptOut.objects.all().delete()
    Webhook.objects.update(told_at=None, owner=None)
    assert run() == ["webhook email nothing"] * 3
    assert Message.objects.count() == 1
    assert Webhook.objects.filter(told_at=NOW).count() == 3
