"""The delivery of emails: each is sent once, or is shown as failed."""

import logging
import smtplib
from datetime import timedelta

import pytest
from django.contrib.auth.models import User

from applications.mail.delivery import ABANDONED, FILE_LOST, NOT_CONFIGURED, as_email
from applications.models import Message
from tests.applications.mail.conftest import put, states, work
from tests.applications.makers import make_application, make_file
from tests.conftest import NOW

pytestmark = pytest.mark.django_db


def only():
    return Message.objects.get()


# --- What is sent ------------------------------------------------------------------------------


def test_email_is_sent_once(delivery, clock, mail_server):
    put(subject="Grüße", body="Ein Text\n.mit Punkt\n" + "ü" * 2000)

    assert work(delivery, clock) == ["sent"]
    assert work(delivery, clock) == []

    [email] = mail_server.accepted
    assert (email["From"], email["To"]) == ("Jobs <jobs@example.com>", "mia@example.org")
    assert email["Subject"] == "Grüße"
    assert email["Auto-Submitted"] == "auto-generated"
    assert email["Message-ID"] == f"<{only().pk}.{NOW.timestamp():.0f}@example.com>"
    assert (
        email.get_content().replace("\r\n", "\n").rstrip("\n")
        == "Ein Text\n.mit Punkt\n" + "ü" * 2000
    )
    assert (only().state, only().attempts, only().error, only().finished_at) == ("sent", 1, "", NOW)


def test_emails_share_a_connection(delivery, clock, mail_server):
    for limit, connections in ((None, 1), (2, 3)):
        for number in range(5):
            put(f"a{number}@example.org")
        if limit:
            delivery.transport.close()
            mail_server.per_connection, mail_server.connections = limit, 0
        assert work(delivery, clock) == ["sent"] * 5
        assert mail_server.connections == connections


def test_email_to_the_applicant_has_the_secret_that_is_not_stored(delivery, clock, mail_server):
    application = make_application(reference="7K3QX9WD", email="mia@example.org")
    link = {"body": "https://jobs.example.org/account/receipt/f00d", "link_marker": "f00d"}
    put(**link, application=application)
    work(delivery, clock)
    text = mail_server.accepted[0].get_body(("plain",)).get_content().strip()
    assert text == "https://jobs.example.org/account/receipt/7K3QX9WD:secret"
    assert "secret" not in only().body

    an = User.objects.create_user("an", email="an@example.com")
    message = put(**link, application=application, recipient=an)
    # A colleague never gets it.
    assert as_email(message).body.endswith("/account/receipt/personal-link")
    written = as_email(put(kind=Message.Kind.TEMPLATE, author=an))  # applicants reply to who wrote
    assert (written.reply_to, "Auto-Submitted" in written.extra_headers) == (
        ["an@example.com"],
        False,
    )
    assert as_email(put(author=an)).reply_to == []


def test_files_are_sent_and_one_that_is_lost_fails_the_email(delivery, clock, mail_server):
    message = put("grey-mia@example.org", kind=Message.Kind.TEMPLATE)
    make_file(message, "Contract é.pdf", b"%PDF-1.7")
    make_file(message, "Info.txt", "ü\n".encode(), kind="txt")

    assert work(delivery, clock) == ["postponed"]
    clock.advance(hours=1)
    assert work(delivery, clock) == ["sent"]
    files = {
        each.get_filename(): (each.get_content_type(), each.get_payload(decode=True))
        for each in mail_server.accepted[0].iter_attachments()
    }
    assert files == {
        "Contract é.pdf": ("application/pdf", b"%PDF-1.7"),
        "Info.txt": ("text/plain", "ü\r\n".encode()),
    }

    make_file(put("an@example.org"))
    assert work(delivery, clock) == ["failed"]
    assert Message.objects.latest("pk").error == FILE_LOST


# --- What the server refuses -------------------------------------------------------------------


def test_permanent_refusal_fails_at_once(delivery, clock, mail_server):
    reasons = {
        "550-x@example.org": "550 <...@...> is refused",
        "550d-x@example.org": "550 the content is refused",
    }
    for to in (*reasons, "mia@münchen.example"):
        put(to)

    assert work(delivery, clock) == ["failed", "failed", "sent"]
    failed = Message.objects.filter(state="failed", finished_at=NOW)
    assert dict(failed.values_list("to", "error")) == reasons
    assert mail_server.connections == 1
    assert mail_server.recipients["mia@xn--mnchen-3ya.example"] == 1


def test_temporary_refusal_is_tried_again(delivery, clock, mail_server):
    for to in ("451-x@example.org", "451d-x@example.org", "mia@example.org"):
        put(to)

    assert work(delivery, clock) == ["postponed", "postponed", "sent"]
    postponed = Message.objects.filter(
        state="queued", attempts=1, next_at=NOW + timedelta(minutes=1)
    )
    assert [each.error[:4] for each in postponed] == ["451 ", "451 "]
    clock.advance(seconds=59)
    assert work(delivery, clock) == []
    clock.advance(seconds=1)
    assert work(delivery, clock) == ["postponed", "postponed"]
    assert Message.objects.filter(next_at=clock() + timedelta(minutes=5)).count() == 2


@pytest.mark.slow("76 hours of retries")
def test_retries_end_within_76_hours(delivery, clock, mail_server):
    put("451-x@example.org")
    attempts = 0
    while only().state == "queued":
        clock.at = max(clock.at, only().next_at)
        attempts += len(work(delivery, clock))

    assert attempts == only().attempts == 77
    assert only().finished_at == NOW + timedelta(hours=72)
    assert only().error == "Not delivered within 72 hours: 451 <...@...> is refused"


# --- A server that fails -----------------------------------------------------------------------


def test_server_that_is_down_pauses_the_delivery(delivery, clock, mail_server):
    mail_server.is_down = True
    for number in range(3):
        put(f"a{number}@example.org")

    assert work(delivery, clock) == ["postponed"]
    clock.advance(seconds=29)
    assert work(delivery, clock) == []
    clock.advance(seconds=1)
    assert work(delivery, clock) == ["postponed"]
    mail_server.is_down = False
    clock.advance(minutes=1)
    assert work(delivery, clock) == ["sent", "sent", "sent"]
    assert set(mail_server.recipients.values()) == {1}


def test_emails_are_given_up_while_the_server_is_down(delivery, clock, mail_server):
    put("a0@example.org")
    put("a1@example.org")
    mail_server.stop()
    assert (work(delivery, clock), only_errors()) == (["postponed"], {"Connection refused", ""})
    clock.advance(hours=72)

    assert work(delivery, clock) == ["failed", "failed"]
    assert set(states().values()) == {"failed"}
    assert only_errors() == {"Not delivered within 72 hours: Connection refused"}


def only_errors():
    return set(Message.objects.values_list("error", flat=True))


def test_email_of_a_stage_is_not_tried_again_after_an_undo(
    delivery, clock, mail_server, monkeypatch
):
    application = make_application(created_at=NOW)
    move = application.changes.get()
    put("grey-x@example.org", kind=Message.Kind.STAGE, application=application, stage_change=move)
    send = delivery.transport.send

    def undo_meanwhile(email):
        move.stage.changes.create(application=application, is_undo=True)
        send(email)

    monkeypatch.setattr(delivery.transport, "send", undo_meanwhile)
    assert work(delivery, clock) == ["postponed"]
    clock.advance(seconds=60)
    assert work(delivery, clock) == ["gone"]
    assert (list(Message.objects.all()), mail_server.accepted) == ([], [])


def test_connection_lost_before_the_content_is_tried_again(delivery, clock, mail_server):
    for to in ("421-x@example.org", "lost-x@example.org", "mia@example.org"):
        put(to)

    assert work(delivery, clock) == ["postponed", "postponed", "sent"]  # without a pause
    later = Message.objects.filter(next_at=NOW + timedelta(minutes=1))
    assert [each.error for each in later] == ["The mail server closed the connection."] * 2


def test_connection_lost_after_the_content_fails(delivery, clock, mail_server):
    put("drop-x@example.org")
    put("mia@example.org")

    assert work(delivery, clock) == ["failed", "sent"]
    text = "The connection was lost while the email was being sent: it may have been delivered."
    assert Message.objects.get(to="drop-x@example.org").error.startswith(text)
    assert dict(mail_server.recipients) == {"drop-x@example.org": 1, "mia@example.org": 1}


def test_slow_server_ends_with_a_timeout(delivery, clock, mail_server, monkeypatch):
    announce = smtplib.SMTP.rcpt

    def announce_impatiently(connection, recipient):
        # Not from the start: on a busy machine, its greeting takes longer.
        connection.sock.settimeout(0.1)
        return announce(connection, recipient)

    monkeypatch.setattr(smtplib.SMTP, "rcpt", announce_impatiently)
    mail_server.delay = 5
    put("slow-x@example.org")

    assert work(delivery, clock) == ["postponed"]
    assert only().error == "No reply within 30 seconds."


# --- A dispatcher that was killed --------------------------------------------------------------


def test_email_of_a_killed_dispatcher_is_not_sent_again(delivery, clock, mail_server):
    message = put()
    Message.objects.update(state="sending", attempts=1)

    assert work(delivery, clock) == ["failed"]
    message.refresh_from_db()
    assert (message.state, message.error, message.finished_at) == ("failed", ABANDONED, NOW)
    assert mail_server.accepted == []


def test_outcome_is_stored_after_another_process_gave_up(delivery, clock, mail_server, monkeypatch):
    """The lock was lost during the conversation:
    another process stored that the outcome is unknown.
    """
    put()
    send = delivery.transport.send

    def lose(email):
        send(email)
        Message.objects.update(state="failed", error=ABANDONED)

    monkeypatch.setattr(delivery.transport, "send", lose)
    work(delivery, clock)
    assert (only().state, only().error) == ("sent", "")


def test_email_that_cannot_be_made_fails(delivery, clock, mail_server, monkeypatch):
    put()
    Message.objects.update(to="mïa@example.org")
    assert work(delivery, clock) == ["failed"]
    assert only().error == "The address is not valid."

    Message.objects.update(to="mia@example.org", state="queued", finished_at=None)
    with monkeypatch.context() as patch:
        patch.setattr("applications.mail.delivery.with_personal_links", lambda *_: 1 / 0)
        assert work(delivery, clock) == ["failed"]
    assert only().error == "It could not be made: ZeroDivisionError."

    Message.objects.update(state="queued", finished_at=None)
    item = delivery.next_due(clock())
    Message.objects.all().delete()
    assert (delivery.run(item), mail_server.accepted) == ("gone", [])


# --- Settings and logs -------------------------------------------------------------------------


def test_without_a_mail_server_only_a_development_site_prints_emails(
    delivery, clock, settings, capsys, mailoutbox
):
    settings.IS_MAIL_SENT, settings.DEBUG = False, False
    put()
    assert work(delivery, clock) == ["postponed"]
    assert (only().error, capsys.readouterr().out, mailoutbox) == (NOT_CONFIGURED, "", [])

    settings.DEBUG = True
    clock.advance(hours=1)
    assert work(delivery, clock) == ["sent"]
    assert [email.to for email in mailoutbox] == [["mia@example.org"]]


def test_logs_contain_no_addresses(delivery, clock, mail_server, caplog):
    for to in (
        "mia@example.org",
        "550-mia@example.org",
        "451-mia@example.org",
        "drop-mia@example.org",
    ):
        put(to)
    with caplog.at_level(logging.INFO):
        work(delivery, clock)

    assert len(caplog.messages) == 4
    assert "mia" not in caplog.text
    assert not any("mia" in error for error in only_errors())
