"""One email to several applicants."""

import re
from datetime import timedelta

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client
from pytest_django.asserts import assertContains, assertNotContains

from applications.admin.list import bulk_email
from applications.mail.delivery import MailDelivery
from applications.models import AccessLog, Application, MailTemplate, Message, Stage
from applications.operations import Move, move
from applications.operations.emails import send_emails
from jobsite.days import days_after
from tests.applications.admin.conftest import apply, staff
from tests.applications.admin.moves.test_bulk_move import queries_of_rows, sent
from tests.applications.applicants import stages_of
from tests.applications.makers import make_stage
from tests.messages import messages_of

pytestmark = pytest.mark.django_db
LIST = "/admin/applications/application/"
EMAILS = f"{LIST}emails/"
MINUTE = timedelta(minutes=1)


@pytest.fixture
def template(db):
    return MailTemplate.objects.create(
        name="Thanks",
        subject_en="Thank you, {name}",
        body_en="About {vacancy}.",
        subject_nl="Bedankt, {name}",
        body_nl="Over {vacancy}.",
    )


@pytest.fixture
def zoe(office):
    return apply(office.own.vacancy, "Zoë", "zoe@example.org", stage=office.new, language="nl")


@pytest.mark.slow("opens many pages")
def test_page_names_everybody_and_previews_each_language(office, zoe, template, at):
    without = apply(office.own.vacancy, "Nobody", "", language="fr")
    Application.objects.filter(pk=zoe.pk).update(withdrawn_at=at)
    chosen = {"action": "email_selected", "_selected_action": [office.own.pk, zoe.pk, without.pk]}

    page = office.anna.post(LIST, chosen)
    assertContains(page, "2 applicants get the email")
    assertContains(page, 'is-withdrawn">Withdrawn</span>')
    assertContains(page, "Without an e-mail address: not sent")
    assertNotContains(page, "Thank you")

    chosen = str(page.context["selection"])
    data = {"applications": chosen, "template": template.pk, "back": f"{LIST}?read=no"}
    page = office.anna.post(EMAILS, data)
    shown = {
        each["code"]: (each["count"], each["email"].subject, each["email"].body)
        for each in page.context["previews"]
    }
    assert shown == {
        "en": (1, "Thank you, Mia", "About Nurse."),
        "nl": (1, "Bedankt, Zoë", "Over Nurse."),
    }
    assertContains(page, "Send 2 emails")
    assert not Message.objects.exists()

    answer = office.anna.post(EMAILS, data | {"confirmed": "1"})
    assert answer["Location"] == f"{LIST}?read=no"
    assert texts_of(answer) == ["2 emails are queued. They are sent in a minute."]
    rows = Message.objects.order_by("to").values_list(
        "application",
        "kind",
        "to",
        "language",
        "subject",
        "body",
        "author__username",
        "state",
        "queued_at",
    )
    assert list(rows) == [
        (application.pk, "template", to, language, *texts, "anna", "queued", at + MINUTE)
        for application, to, language, *texts in (
            (office.own, "mia@example.org", "en", "Thank you, Mia", "About Nurse."),
            (zoe, "zoe@example.org", "nl", "Bedankt, Zoë", "Over Nurse."),
        )
    ]
    log = AccessLog.objects.filter(action="change").values_list("application", flat=True)
    assert sorted(log) == [office.own.pk, zoe.pk]
    again = office.anna.post(EMAILS, data | {"confirmed": "1"})
    assert (messages_of(again)[-1], len(rows.all())) == ("2 emails were queued already.", 2)


def texts_of(answer):
    """Return the messages without their links."""
    return [text.partition(" <")[0] for text in messages_of(answer)]


def due():
    return dict(Message.objects.values_list("application", "next_at"))


def test_email_with_a_stage_is_sent_with_the_status_and_never_after_undo(office, zoe, template, at):
    visible_at = days_after(at, 2)
    data = {
        "applications": sent(office.own, zoe),
        "template": template.pk,
        "stage": office.rejected.pk,
    }
    office.anna.post(EMAILS, data | {"confirmed": "1"})
    assert due() == dict.fromkeys((office.own.pk, zoe.pk), visible_at)
    assert MailDelivery(now=lambda: at).next_due(at + timedelta(days=1)) is None

    undo = {"change": zoe.changes.latest("pk").pk}
    office.anna.post(f"{LIST}{zoe.pk}/undo/", undo)
    assert due() == {office.own.pk: visible_at}

    move(Application.objects.filter(pk=office.own.pk), Move(stage=office.new, author=None, at=at))
    assert due() == {}  # the applicant never sees the rejection


def test_email_waits_if_the_delay_of_the_stage_becomes_longer(office, template, at):
    data = {"applications": sent(office.own), "template": template.pk, "stage": office.rejected.pk}
    office.anna.post(EMAILS, data | {"confirmed": "1"})
    Stage.objects.filter(pk=office.rejected.pk).update(embargo_days=5)

    delivery = MailDelivery(now=lambda: days_after(at, 2))
    assert delivery.run(delivery.next_due(days_after(at, 2))) == "postponed"
    assert due() == {office.own.pk: days_after(at, 5)}


def test_emails_of_an_unseen_stage_wait_for_it_although_nobody_is_moved(office, template, at):
    move(
        Application.objects.filter(pk=office.own.pk),
        Move(stage=office.rejected, author=None, at=at),
    )
    data = {"applications": sent(office.own), "template": template.pk, "stage": office.rejected.pk}
    office.anna.post(EMAILS, data | {"confirmed": "1"})
    assert due() == {office.own.pk: days_after(at, 2)}


def test_emails_can_be_cancelled_for_a_minute(office, zoe, template, at, time_machine):
    data = {"applications": sent(office.own, zoe), "template": template.pk, "confirmed": "1"}
    for is_late in (False, True):
        answer = office.anna.post(EMAILS, data)
        url = re.search('href="(.*?)"', messages_of(answer)[-1])[1].replace("&amp;", "&")
        assertContains(office.anna.get(url), "The emails to 2 applicants are not sent")
        bob = Client()
        bob.force_login(
            User.objects.get_or_create(username="bob", is_staff=True, is_superuser=True)[0]
        )
        bob.post(url)  # who did not send them
        assert Message.objects.count() == 2
        if is_late:
            time_machine.move_to(at + MINUTE, tick=False)
        answer = office.anna.post(url)
        count = 0 if is_late else 2
        assert (messages_of(answer)[-1], Message.objects.count()) == (
            f"{count} emails were cancelled.",
            2 - count,
        )
    assertContains(office.anna.get(url), "Nothing to cancel")
    assert office.anna.get(f"{EMAILS}cancel/?at=x").status_code == 400


def test_text_is_changed_for_one_mailing(office, zoe, template):
    changed = {
        "en-subject": "Hello {given_name}",
        "en-body": "No {vacancy}.",
        "nl-subject": "Dag {given_name}",
    }
    data = {
        "applications": sent(office.own, zoe),
        "template": template.pk,
        "confirmed": "1",
    } | changed
    for body, error in (
        ("", "This field is required."),
        ("{nam}", "These placeholders do not exist: {nam}."),
    ):
        refused = office.anna.post(EMAILS, data | {"nl-body": body})
        assertContains(refused, error, status_code=422)
        assertContains(refused, "Hello Mia", status_code=422)
    assert not Message.objects.exists()

    office.anna.post(EMAILS, data | {"nl-body": "Geen {vacancy}."})
    texts = Message.objects.order_by("to").values_list("subject", "body")
    assert list(texts) == [("Hello Mia", "No Nurse."), ("Dag Zoë", "Geen Nurse.")]
    template.refresh_from_db()
    assert template.body_en == "About {vacancy}."


def test_email_and_move_are_one_confirmation(office, zoe, template):
    data = {
        "applications": sent(office.own, zoe),
        "template": template.pk,
        "stage": office.rejected.pk,
    }

    assertContains(office.anna.post(EMAILS, data), "2 applications move to “Rejected”")
    assert not Message.objects.exists()
    assert stages_of(office.own) == ["New"]

    answer = office.anna.post(EMAILS, data | {"confirmed": "1"})
    assert texts_of(answer) == [
        "2 moved to Rejected.",
        (
            "2 emails are queued. They are sent with the status, on 4 Mar 2026, 09:30. Undo cancels "
            "them."
        ),
    ]
    # A second recruiter.
    staff("bob", brands=[office.brand]).post(EMAILS, data | {"confirmed": "1"})
    assert stages_of(office.own) == stages_of(zoe) == ["New", "Rejected"]
    assert Message.objects.count() == 2


def test_applicant_whom_a_colleague_moved_gets_no_email(office, zoe, template):
    data = {
        "applications": sent(office.own, zoe),
        "template": template.pk,
        "stage": office.rejected.pk,
    }
    hired = make_stage("Hired")
    page = office.anna.post(EMAILS, data)
    office.anna.post(
        f"{LIST}move/", {"applications": sent(zoe), "stage": hired.pk, "confirmed": "1"}
    )

    data["applications"] = str(page.context["selection"])
    office.anna.post(EMAILS, data | {"confirmed": "1"})

    assert list(Message.objects.values_list("application", flat=True)) == [office.own.pk]
    assert stages_of(zoe) == ["New", "Hired"]


def test_move_with_an_email_needs_the_permission_to_change(office, template):
    writer = User.objects.create_user("writer", is_staff=True)
    writer.brands.set([office.brand])
    writer.user_permissions.set(
        Permission.objects.filter(codename__in=["view_application", "add_message"])
    )
    client = Client()
    client.force_login(writer)
    data = {"applications": sent(office.own), "template": template.pk, "stage": office.rejected.pk}

    assert client.post(EMAILS, data).status_code == 403
    assert client.post(EMAILS, data | {"stage": ""}).context["stages"] == []
    assert office.anna.post(EMAILS, data | {"stage": "x"}).status_code == 400


def test_application_deleted_in_the_meantime_is_not_a_repeated_email(
    office, zoe, template, monkeypatch
):
    def delete_and_send(emails, **values):
        Application.objects.filter(pk=zoe.pk).delete()
        return send_emails(emails, **values)

    monkeypatch.setattr(bulk_email, "send_emails", delete_and_send)
    data = {"applications": sent(office.own, zoe), "template": template.pk, "confirmed": "1"}

    answer = office.anna.post(EMAILS, data)

    assert texts_of(answer) == [
        "1 email is queued. It is sent in a minute.",
        "1 application was deleted in the meantime.",
    ]


def test_template_that_is_unknown_or_has_no_text_asks_again(office, template):
    empty = MailTemplate.objects.create(name="Empty", subject_en="Only a subject")
    for chosen in ("", "x", "9" * 30, "0", empty.pk):
        data = {"applications": sent(office.own), "template": chosen, "confirmed": "1"}
        asked = office.anna.post(EMAILS, data)
        assertContains(asked, "Preview", msg_prefix=repr(chosen))
        assertNotContains(asked, "Empty")
    assert not Message.objects.exists()


def test_too_many_are_refused(office, zoe, template, monkeypatch):
    monkeypatch.setattr(bulk_email, "MAX_EMAILS", 1)
    data = {"applications": sent(office.own, zoe), "template": template.pk, "confirmed": "1"}

    assertContains(
        office.anna.post(EMAILS, data), "Nothing was sent. Choose at most 1 applications at a time."
    )
    assert not Message.objects.exists()


def test_query_count_of_a_preview_does_not_depend_on_the_rows(office, template):
    few, many = queries_of_rows(office, EMAILS, {"template": template.pk})

    assert few == many <= 13
