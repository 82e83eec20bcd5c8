"""The delivery of emails: each is sent once, or is shown as failed."""

import logging
import smtplib
from datetime import timedelta

import pytest
from django.contrib.auth.models import User

from applications.mail.delivery import ABANDONED, NOT_CONFIGURED, as_email
from applications.models import Message
from tests.applications.mail.conftest import put, states, work
from tests.applications.makers import make_application
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
    assert (email["From"], email["To"], email["Subject"]) == (
        "Jobs <jobs@example.com>",
        "mia@example.org",
        "Grüße",
    )
    assert email["Auto-Submitted"] == "auto-generated"
    assert email["Message-ID"] == f"<{only().pk}.{NOW.timestamp():.0f}@example.com>"
    assert email.get_content().replace("\r\n", "\n").rstrip("\n") == "Ein Text\n.mit Punkt\n" + "ü" * 2000
    assert (only().state, only().attempts, only().error, only().finished_at) == ("sent", 1, "", NOW)


def test_emails_share_a_connection(delivery, clock, mail_server):
    for number in range(5):
        put(f"a{number}@example.org")

    assert work(delivery, clock) == ["sent"] * 5
    assert mail_server.connections == 1


def test_server_that_limits_a_connection_gets_several(delivery, clock, mail_server):
    mail_server.per_connection = 2
    for number in range(5):
        put(f"a{number}@example.org")

    assert work(delivery, clock) == ["sent"] * 5
    assert mail_server.connections == 3


def test_email_has_the_secret_that_is_not_stored(delivery, clock, mail_server):
    application = make_application(reference="7K3QX9WD", email="mia@example.org")
    put(body="https://jobs.example.org/account/receipt/personal-link", application=application)

    work(delivery, clock)
    text = mail_server.accepted[0].get_content().strip()
    assert text == "https://jobs.example.org/account/receipt/7K3QX9WD:secret"
    assert "secret" not in only().body


def test_email_to_a_colleague_never_has_the_secret(db):
    application = make_application(reference="7K3QX9WD")
    colleague = User.objects.create_user("colleague", email="colleague@example.org")
    message = put(body="/account/receipt/personal-link", application=application, recipient=colleague)

    assert as_email(message).body == "/account/receipt/personal-link"


def test_applicants_reply_to_the_recruiter_who_wrote(db):
    author = User.objects.create_user("an", email="an@example.com")

    written = as_email(put(kind=Message.Kind.TEMPLATE, author=author))
    assert (written.reply_to, "Auto-Submitted" in written.extra_headers) == (["an@example.com"], False)
    assert as_email(put(author=author)).reply_to == []


def test_address_with_another_alphabet_is_sent_to_its_domain(delivery, clock, mail_server):
    put("mia@münchen.example")

    assert work(delivery, clock) == ["sent"]
    assert dict(mail_server.recipients) == {"mia@xn--mnchen-3ya.example": 1}


# --- What the server refuses -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("to", "reason"),
    [("550-x@example.org", "550 <...@...> is refused"), ("550d-x@example.org", "550 the content is refused")],
)
def test_permanent_refusal_fails_at_once(delivery, clock, mail_server, to, reason):
    put(to)
    put("mia@example.org")

    assert work(delivery, clock) == ["failed", "sent"]
    failed = Message.objects.get(to=to)
    assert (failed.state, failed.error, failed.finished_at) == ("failed", reason, NOW)
    assert mail_server.connections == 1


@pytest.mark.parametrize("to", ["451-x@example.org", "451d-x@example.org"])
def test_temporary_refusal_is_tried_again(delivery, clock, mail_server, to):
    put(to)
    put("mia@example.org")

    assert work(delivery, clock) == ["postponed", "sent"]
    postponed = Message.objects.get(to=to)
    assert (postponed.state, postponed.attempts, postponed.next_at) == (
        "queued",
        1,
        NOW + timedelta(minutes=1),
    )
    assert postponed.error.startswith("451 ")
    clock.advance(seconds=59)
    assert work(delivery, clock) == []
    clock.advance(seconds=1)
    assert work(delivery, clock) == ["postponed"]
    assert Message.objects.get(to=to).next_at == clock() + timedelta(minutes=5)


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
    mail_server.is_down = True
    put("a0@example.org")
    put("a1@example.org")
    work(delivery, clock)
    clock.advance(hours=72)

    assert work(delivery, clock) == ["failed", "failed"]
    assert set(states().values()) == {"failed"}
    assert only_errors() == {"Not delivered within 72 hours: Connection unexpectedly closed"}


def only_errors():
    return set(Message.objects.values_list("error", flat=True))


def test_nobody_listens(delivery, clock, mail_server, settings):
    mail_server.stop()
    put()

    assert work(delivery, clock) == ["postponed"]
    assert only().error == "Connection refused"


@pytest.mark.parametrize("to", ["421-x@example.org", "lost-x@example.org"])
def test_connection_lost_before_the_content_is_tried_again(delivery, clock, mail_server, to):
    put(to)
    put("mia@example.org")

    assert work(delivery, clock) == ["postponed", "sent"]  # without a pause
    postponed = Message.objects.get(to=to)
    assert postponed.error == "The mail server closed the connection."
    assert postponed.next_at == NOW + timedelta(minutes=1)


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
        connection.sock.settimeout(0.1)  # not from the start: on a busy machine, its greeting takes longer
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
    """The lock was lost during the conversation: another process stored that the outcome is unknown."""
    put()
    send = delivery.transport.send

    def lose(email):
        send(email)
        Message.objects.update(state="failed", error=ABANDONED)

    monkeypatch.setattr(delivery.transport, "send", lose)
    work(delivery, clock)
    assert (only().state, only().error) == ("sent", "")


def test_address_that_no_server_takes_fails(delivery, clock, mail_server):
    put()
    Message.objects.update(to="mïa@example.org")

    assert work(delivery, clock) == ["failed"]
    assert only().error == "The address is not valid."


def test_deleted_email_is_not_sent(delivery, clock, mail_server):
    put()
    item = delivery.next_due(clock())
    Message.objects.all().delete()

    assert delivery.do(item) == "gone"
    assert mail_server.accepted == []


def test_email_that_cannot_be_made_fails(delivery, clock, mail_server, monkeypatch):
    monkeypatch.setattr("applications.mail.delivery.with_personal_links", lambda message: 1 / 0)
    put()

    assert work(delivery, clock) == ["failed"]
    assert only().error == "It could not be made: ZeroDivisionError."


# --- Settings and logs -------------------------------------------------------------------------


def test_production_without_a_mail_server_sends_and_prints_nothing(delivery, clock, settings, capsys):
    settings.IS_MAIL_SENT, settings.DEBUG = False, False
    put()

    assert work(delivery, clock) == ["postponed"]
    assert only().error == NOT_CONFIGURED
    assert capsys.readouterr().out == ""


def test_development_site_prints_emails(delivery, clock, settings, mailoutbox):
    settings.IS_MAIL_SENT, settings.DEBUG = False, True
    put()

    assert work(delivery, clock) == ["sent"]
    assert [email.to for email in mailoutbox] == [["mia@example.org"]]


def test_logs_contain_no_addresses(delivery, clock, mail_server, caplog):
    for to in ("mia@example.org", "550-mia@example.org", "451-mia@example.org", "drop-mia@example.org"):
        put(to)
    with caplog.at_level(logging.INFO):
        work(delivery, clock)

    assert len(caplog.messages) == 4
    assert "mia" not in caplog.text
    assert not any("mia" in error for error in only_errors())
