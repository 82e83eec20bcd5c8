"""Emails to the applicant from the page of an application."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.core import mail
from django.core.files.uploadedfile import SimpleUploadedFile
from pytest_django.asserts import assertContains, assertNotContains

from applications.models import Application, MailTemplate, Message, MessageFile
from applications.operations import Move, move
from applications.privacy.deletion import delete_applications
from jobsite import private_files
from jobsite.days import days_after
from tests.applications.admin.page.test_page import page
from tests.messages import messages_of

pytestmark = pytest.mark.django_db

WRITTEN = {"subject": "Talk about {vacancy}", "body": "Dear {given_name},\r\nsee {link}"}


@pytest.fixture
def template(db):
    return MailTemplate.objects.create(
        name="Talk",
        subject_nl="Gesprek",
        body_nl="Dag {given_name}",
        subject_en="Talk",
        body_en="Hello",
    )


def write(office, step, **values):
    return office.anna.post(page(office.own, "email"), WRITTEN | {"step": step} | values)


@pytest.mark.slow("opens many pages")
def test_template_is_filled_in_in_the_language_of_the_applicant(office, template):
    for language, subject, other in (
        ("nl", "Gesprek", False),
        ("en", "Talk", False),
        ("fr", "Talk", True),
    ):
        Application.objects.filter(pk=office.own.pk).update(language=language)
        response = office.anna.get(page(office.own, "email"), {"template": template.pk})
        assert response.context["form"]["subject"].value() == subject
        assert ("This is its text in English." in response.content.decode()) == other
    for data in ({}, *({"template": sent} for sent in ("x", "0", "9" * 30, ""))):
        response = office.anna.get(page(office.own, "email"), data)
        assert (response.status_code, response.context["form"]["subject"].value()) == (200, ""), (
            data
        )


def test_preview_shows_the_email_and_queues_nothing(office, template):
    response = office.anna.get(page(office.own, "email"), {"template": template.pk})
    assert response.context["message"].text == "Hello"  # at once

    response = write(office, "preview")
    message = response.context["message"]
    assert (message.to, message.subject) == ("mia@example.org", "Talk about Nurse")
    assert message.text == "Dear Mia,\nsee http://testserver/account/receipt/personal-link"
    assertContains(response, "Dear {given_name},")  # kept, to edit it
    response = write(office, "preview", body="{surname}")
    assert not response.context["is_shown"]
    assert not Message.objects.exists()


def test_sent_email_is_queued_once(office, at, time_machine):
    Application.objects.filter(pk=office.own.pk).update(language="nl")

    assert write(office, "send")["Location"] == f"{page(office.own)}#emails"
    message = Message.objects.get()
    assert (message.kind, message.state, message.to, message.language, message.author.username) == (
        "template",
        "queued",
        "mia@example.org",
        "nl",
        "anna",
    )
    assert (message.subject, message.queued_at) == ("Talk about Nurse", at)
    assert mail.outbox == []
    # Without its secret.
    assertContains(office.anna.get(page(office.own)), "/account/receipt/personal-link")

    assert messages_of(write(office, "send"))[-1] == "This email is queued already."
    write(office, "send", subject="Hello\r\nBcc: x@example.org")
    assert Message.objects.latest("pk").subject == "Hello Bcc: x@example.org"
    time_machine.move_to(at + timedelta(minutes=6))
    write(office, "send")
    assert Message.objects.count() == 3


def test_invalid_email_is_shown_again(office):
    invalid = {
        "subject": ("", "x" * 201, "{x}"),
        "body": (" ", "x" * 10_001, "{surname} {link}", "a\0b"),
    }
    steps = ("preview", "send")

    wrong = []
    for number, (field, value) in enumerate(
        (name, each) for name in invalid for each in invalid[name]
    ):
        response = write(office, steps[number % 2], **{field: value})
        found = response.status_code, response.context and set(response.context["form"].errors)
        if found != (422, {field}):
            wrong.append((field, value[:20], *found))
    assert wrong == []
    assert not Message.objects.exists()


@pytest.mark.slow("opens many pages")
def test_files_are_kept_with_the_email(office, django_capture_on_commit_callbacks):
    def send(*files):
        sent = [SimpleUploadedFile(*each) for each in files]
        return write(office, "send", attachments=sent)

    pdf, exe = ("a.pdf", b"%PDF-1.7"), ("b.exe", b"MZ")
    wrong = {
        "b.exe: This is a file in the format EXE: save it as PDF.": [pdf, exe],
        "These are 6 files. Choose at most 5.": [pdf] * 6,
        "These files have 10.0\xa0MB together. At most 10 MB are sent.": [
            ("a.txt", b"x" * 6 * 2**20),
            ("b.txt", b"x" * (4 * 2**20 + 1)),
        ],
    }
    found = {text: send(*files).context["form"].errors for text, files in wrong.items()}
    assert found == {text: {"attachments": [text]} for text in wrong}
    assert (Message.objects.count(), list(private_files.stored())) == (0, [])

    assert messages_of(send(pdf))[-1] == "The email is queued."
    assert messages_of(send(pdf))[-1] == "This email is queued already."
    assert messages_of(send(pdf, ("c.txt", b"c")))[-1] == "The email is queued."  # another one
    files = MessageFile.objects.filter(message=Message.objects.latest("pk"))
    assert [each.original_name for each in files] == ["a.pdf", "c.txt"]
    assert sum(1 for _ in private_files.stored()) == 3

    url = f"/admin/applications/application/email-files/{files[0].pk}/"
    assertContains(office.anna.get(page(office.own)), f'href="{url}">a.pdf</a>')
    response = office.anna.get(url)
    assert (response.content, response["Content-Type"]) == (b"%PDF-1.7", "application/pdf")
    with django_capture_on_commit_callbacks(execute=True):
        delete_applications([office.own.pk])
    assert list(private_files.stored()) == []


def test_applicant_without_an_address_gets_no_email(office):
    Application.objects.filter(pk=office.own.pk).update(email="", email_folded="")

    assertNotContains(office.anna.get(page(office.own)), "Write an email")
    assert messages_of(write(office, "send")) == ["The applicant has no e-mail address."]
    assert not Message.objects.exists()


def test_page_lists_emails_to_the_applicant_with_their_state(office, at):
    common = {"application": office.own, "to": "mia@example.org", "language": "en", "body": "Text."}
    Message.objects.create(
        **common,
        kind="receipt",
        subject="Received",
        state="failed",
        error="Mailbox full.",
        queued_at=at,
    )
    Message.objects.create(**common, kind="template", subject="Talk", state="sent", finished_at=at)
    anna = User.objects.get(username="anna")
    Message.objects.create(**common, kind="mention", subject="Mentioned", recipient=anna)

    response = office.anna.get(page(office.own))

    shown = [(each["message"].subject, each["reason"]) for each in response.context["emails"]]
    assert sorted(shown) == [("Received", "Mailbox full."), ("Talk", "")]
    assertContains(response, "Mailbox full.")
    assertNotContains(response, "Mentioned")


def test_users_without_permission_see_and_write_no_emails(office):
    write(office, "send")
    group = User.objects.get(username="anna").groups.get()
    group.permissions.remove(
        *group.permissions.filter(codename__in=("view_message", "add_message"))
    )

    assertNotContains(office.anna.get(page(office.own)), "Talk about Nurse")
    assert write(office, "send").status_code == 403
    assert office.anna.get(page(office.own, "email")).status_code == 403


def test_email_about_a_status_waits_until_the_applicant_sees_it(office, at):
    move(
        Application.objects.filter(pk=office.own.pk),
        Move(stage=office.rejected, author=None, at=at),
    )
    assertContains(office.anna.get(page(office.own, "email")), "on 4 Mar 2026, 09:30")
    due = {}
    for chosen in ({}, {"with_status": "on"}):
        write(office, "send", subject=f"Sorry {len(chosen)}", **chosen)
        due[len(chosen)] = Message.objects.latest("pk").next_at
    assert due == {0: at, 1: days_after(at, 2)}

    waiting = Message.objects.latest("pk")
    assertContains(office.anna.get(page(office.own)), "Is sent on 4 Mar 2026, 09:30.", count=1)
    cancel = page(office.own, "cancel-email")
    for email, left in ((Message.objects.earliest("pk").pk, 2), ("x", 2), (waiting.pk, 1)):
        office.anna.post(cancel, {"email": email})
        assert Message.objects.count() == left, email
    assert office.anna.get(cancel).status_code == 404
