"""Answers to invitations by email, read from a small IMAP server."""

import re
from datetime import timedelta
from email import message_from_bytes
from email.message import EmailMessage

import pytest
from django.db import OperationalError

from applications import checks
from applications.mail.interviews import InterviewNews, queue_to
from applications.models import HistoryEntry, Message, Participant
from applications.operations import replies, reply_emails
from jobsite.dispatch import JobError
from tests.applications.admin.conftest import apply, colleague
from tests.applications.makers import make_step
from tests.conftest import NOW
from tests.factories import make_vacancy
from tests.hostile import emails
from tests.servers.imap import Mailbox

pytestmark = pytest.mark.django_db
UID = "ab" * 16


def answer(
    partstat="ACCEPTED", *, address="mia@example.org", uid=UID, sequence=2, method="REPLY", lines=()
):
    mail = EmailMessage()
    mail["Subject"], mail["From"] = "Accepted", "somebody@example.org"
    mail.set_content("I come.")
    calendar = "\r\n".join(
        (
            "BEGIN:VCALENDAR",
            "VERSION:2.0",
            "PRODID:-//x//EN",
            f"METHOD:{method}",
            "BEGIN:VEVENT",
            f"UID:{uid}@jobs.example.org",
            f"SEQUENCE:{sequence}",
            "DTSTAMP:20260302T093000Z",
            "DTSTART:20260305T093000Z",
            f"ATTENDEE;PARTSTAT={partstat}:MAILTO:{address}",
            *lines,
            "END:VEVENT",
            "END:VCALENDAR",
            "",
        )
    )
    mail.add_alternative(
        calendar.encode(), maintype="text", subtype="calendar", params={"method": method}
    )
    return mail.as_bytes()


@pytest.fixture
def invited(at):
    application = apply(make_vacancy(title="Nurse"), "Mia", "mia@example.org", reference="7K3QX9WD")
    start = NOW + timedelta(days=3)
    step = make_step(
        application,
        "Talk",
        uid=UID,
        planned_at=start,
        ends_at=start + timedelta(hours=1),
        zone="UTC",
        sequence=2,
    )
    return Participant.objects.create(entry=step, address="Mia@example.org", sequence=2)


def reply_of(participant):
    participant.refresh_from_db()
    return participant.reply


@pytest.mark.parametrize("partstat", ["ACCEPTED", "TENTATIVE", "DECLINED"])
def test_answer_of_a_participant_is_recorded(invited, partstat):
    assert replies.record_reply(answer(partstat), at=NOW)
    assert reply_of(invited) == partstat.lower()


@pytest.mark.parametrize(
    "content",
    [
        answer(address="other@example.org"),
        answer(uid="cd" * 16),
        answer(sequence=1),
        answer(method="REQUEST"),
        answer("DELEGATED"),
        answer("NEEDS-ACTION"),
        answer(lines=["ATTENDEE;PARTSTAT=ACCEPTED:MAILTO:more@example.org"]),
        answer(lines=["RRULE:x", "SEQUENCE:x"]),
        b"",
        b"Content-Type: text/calendar\r\n\r\n\xff\x00",
        b"Content-Type: multipart/mixed\r\n\r\nno parts",
    ],
)
def test_other_emails_change_nothing(invited, content):
    assert not replies.record_reply(content, at=NOW)
    assert reply_of(invited) == ""


def test_answer_to_a_cancelled_interview_changes_nothing(invited):
    HistoryEntry.objects.update(is_cancelled=True)
    assert not replies.record_reply(answer(), at=NOW)


def test_invitations_ask_for_an_answer_only_with_a_mailbox(invited, settings):
    for mailbox, asked in (("", "RSVP=FALSE"), ("imaps://a:b@c", "RSVP=TRUE")):
        settings.REPLY_MAILBOX = mailbox
        queue_to(invited, [], InterviewNews.INVITED, at=NOW)
        assert asked in Message.objects.latest("pk").calendar.replace("\r\n ", "")


@pytest.mark.parametrize("url", ["imap://a:b@c", "imaps://a@c", "imaps://a:b@", "mailbox"])
def test_wrong_address_of_the_mailbox_is_reported(settings, url):
    settings.REPLY_MAILBOX = url
    (error,) = checks.reply_mailbox_is_valid()
    assert error.msg == "REPLY_MAILBOX is not imaps://USER:PASSWORD@HOST/FOLDER."


def test_hostile_emails_are_no_answers(invited):
    """None ends the process. Each took seconds, or raised what nothing caught."""
    for name, content in emails.KINDS.items():
        assert len(content) < replies.SIZE_MAX, name
        try:
            assert not replies.record_reply(content, at=NOW), name
        except ValueError:  # the job counts it
            continue
    assert reply_of(invited) == ""


def test_answer_is_read_in_every_part_and_encoding():
    for encoding in ("base64", "quoted-printable", "7bit"):
        mail = EmailMessage()
        mail.set_content("I come.\n-- \nMia")
        lines = calendar_of(
            answer(lines=["DESCRIPTION:" + "-" * 100, "BEGIN:VALARM", "UID:x", "END:VALARM"])
        )
        mail.add_alternative(lines.decode(), subtype="calendar", cte=encoding)
        outer = EmailMessage()
        outer.set_content("Forwarded.")
        outer.add_attachment(mail)
        for content in (mail, outer):
            (found,) = reply_emails.answers(content.as_bytes())
            assert (found.uid, found.sequence, found.status) == (UID, 2, "accepted"), encoding


def test_number_of_boundaries_that_are_read_is_limited():
    part = b"Content-Type: multipart/mixed; boundary=b%d\r\n\r\n"
    for count, is_read in (
        (reply_emails.BOUNDARIES_MAX - 1, True),
        (reply_emails.BOUNDARIES_MAX, False),
    ):
        content = b"".join(part % number for number in range(count)) + answer()
        assert any(reply_emails.answers(content)) is is_read


def calendar_of(content):
    """Return the calendar in the email `content`."""
    return message_from_bytes(content).get_payload()[1].get_payload(decode=True)


@pytest.fixture
def server(tmp_path, settings, monkeypatch):
    big = answer() + b"x" * replies.SIZE_MAX
    server = Mailbox(tmp_path, {3: b"Subject: Hello\r\n\r\nNo answer.", 4: answer(), 5: big})
    monkeypatch.setenv("SSL_CERT_FILE", server.certificate)
    settings.REPLY_MAILBOX = server.url("Invites")
    yield server
    server.close()


@pytest.mark.slow("a server with TLS")
def test_only_answers_become_read_and_nothing_is_read_twice(invited, server):
    job = replies.Replies()
    assert job.run(job.next_due(NOW)) == {"answer": 1, "other": 2}
    assert reply_of(invited) == "accepted"
    assert server.seen == {4}
    assert 'LOGIN jobs@acme.test "p:w"' in server.commands
    assert 'SELECT "Invites"' in server.commands
    assert server.fetched() == [3, 4]
    assert job.next_due(NOW + timedelta(seconds=59)) is None
    for each in (job, replies.Replies()):  # the second one is that of another process
        assert each.run(NOW + timedelta(minutes=1)) == {}
        assert not any("FETCH" in command for command in server.commands)
    server.validity = 8  # the numbers are new ones
    assert job.run(NOW + timedelta(minutes=2)) == {"other": 2}


@pytest.mark.slow("a server with TLS")
def test_hostile_emails_do_not_hide_answers(invited, server, caplog):
    contents = [
        content for kind in emails.KINDS.values() for content in (kind, answer(uid="cd" * 16))
    ]
    server.emails = dict(enumerate([*contents, answer()], 1))
    job = replies.Replies()
    outcomes = job.run(NOW)
    assert reply_of(invited) == "accepted"
    assert (outcomes["answer"], outcomes.total()) == (1, len(server.emails))
    warnings = [record.getMessage() for record in caplog.records]
    assert len(warnings) == outcomes["unreadable"] > 0
    assert all(
        re.fullmatch(r"Email \d+ of REPLY_MAILBOX cannot be read: \w+", each) for each in warnings
    )


@pytest.mark.slow("a server with TLS")
def test_errors_that_no_email_causes_lose_no_answer(invited, server, monkeypatch):
    job, record = replies.Replies(), replies.record_reply

    def fail(content, **options):
        raise error

    for error in (OperationalError("locked"), RecursionError()):
        server.emails = {
            max(server.emails) + 1: answer(),
            max(server.emails) + 2: b"Subject: Other\r\n\r\n",
        }
        monkeypatch.setattr(replies, "record_reply", fail)
        if isinstance(error, OperationalError):
            with pytest.raises(OperationalError):
                job.run(NOW)
        else:
            assert job.run(NOW) == {"unreadable": 2}
        monkeypatch.setattr(replies, "record_reply", record)
        # another process goes on: it reads again what the database refused, and what ended the
        # process never
        expected = {"answer": 1, "other": 1} if isinstance(error, OperationalError) else {}
        assert replies.Replies().run(NOW) == expected


@pytest.mark.slow("a server with TLS")
def test_server_that_closes_the_connection_at_an_email_hides_no_answers(invited, server):
    server.emails, server.lost = {1: b"x", 2: answer()}, {1}
    job = replies.Replies()
    for _ in range(2):
        with pytest.raises(JobError):
            job.run(NOW)
        assert server.fetched() == [1]
    assert job.run(NOW) == {"answer": 1}
    assert reply_of(invited) == "accepted"


@pytest.mark.slow("a server with TLS")
def test_slow_server_is_left_and_the_next_run_goes_on(invited, server, monkeypatch):
    monkeypatch.setattr(replies, "RUN_MAX", 0)
    job = replies.Replies()
    assert job.run(NOW) == {}
    monkeypatch.setattr(replies, "RUN_MAX", 60)
    assert job.run(NOW) == {"answer": 1, "other": 2}


@pytest.mark.slow("a server with TLS")
def test_certificate_is_checked_and_a_failure_delays(invited, server, monkeypatch, caplog):
    monkeypatch.delenv("SSL_CERT_FILE")
    job = replies.Replies()
    with pytest.raises(JobError) as caught:
        job.run(job.next_due(NOW))
    assert (str(caught.value), caught.value.wait) == (
        "REPLY_MAILBOX cannot be read: SSLCertVerificationError",
        timedelta(minutes=5),
    )
    assert "p:w" not in caplog.text
    assert server.commands == []


def test_colleague_answers_by_email(invited, module_roles):
    anna = colleague("anna", "Recruiter")
    mine = Participant.objects.create(
        entry=invited.entry, user=anna, address=anna.email, sequence=2
    )
    assert replies.record_reply(answer(address=anna.email), at=NOW)
    assert (reply_of(mine), reply_of(invited)) == ("accepted", "")
