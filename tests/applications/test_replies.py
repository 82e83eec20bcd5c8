"""Answers to invitations by email, read from a small IMAP server."""

import socket
import ssl
import subprocess
from datetime import timedelta
from email.message import EmailMessage
from threading import Thread

import pytest

from applications import checks
from applications.mail.interviews import queue_to
from applications.models import HistoryEntry, Message, Participant
from applications.operations import replies
from tests.applications.admin.conftest import apply, colleague
from tests.applications.makers import make_step
from tests.conftest import NOW
from tests.factories import make_vacancy

pytestmark = pytest.mark.django_db
UID = "ab" * 16


def answer(partstat="ACCEPTED", *, address="mia@example.org", uid=UID, sequence=2, method="REPLY", lines=()):
    mail = EmailMessage()
    mail["Subject"], mail["From"] = "Accepted", "somebody@example.org"
    mail.set_content("I come.")
    calendar = "\r\n".join((
        "BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//x//EN", f"METHOD:{method}", "BEGIN:VEVENT",
        f"UID:{uid}@jobs.example.org", f"SEQUENCE:{sequence}", "DTSTAMP:20260302T093000Z",
        "DTSTART:20260305T093000Z", f"ATTENDEE;PARTSTAT={partstat}:MAILTO:{address}", *lines, "END:VEVENT",
        "END:VCALENDAR", "",
    ))  # fmt: skip
    mail.add_alternative(calendar.encode(), maintype="text", subtype="calendar", params={"method": method})
    return mail.as_bytes()


@pytest.fixture
def invited(at):
    application = apply(make_vacancy(title="Nurse"), "Mia", "mia@example.org", reference="7K3QX9WD")
    start = NOW + timedelta(days=3)
    step = make_step(application, "Talk", uid=UID, planned_at=start, ends_at=start + timedelta(hours=1),
                     zone="UTC", sequence=2)  # fmt: skip
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
        queue_to(invited, [], at=NOW)
        assert asked in Message.objects.latest("pk").calendar.replace("\r\n ", "")


@pytest.mark.parametrize("url", ["imap://a:b@c", "imaps://a@c", "imaps://a:b@", "mailbox"])
def test_wrong_address_of_the_mailbox_is_reported(settings, url):
    settings.REPLY_MAILBOX = url
    (error,) = checks.reply_mailbox_is_valid()
    assert error.msg == "REPLY_MAILBOX is not imaps://USER:PASSWORD@HOST/FOLDER."


class Server:
    """The part of an IMAP server that the job uses, with TLS, one connection at a time."""

    def __init__(self, folder, emails):
        key, certificate = folder / "key.pem", folder / "cert.pem"
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
             "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-days", "3650",
             "-keyout", key, "-out", certificate],
            check=True, capture_output=True,
        )  # fmt: skip
        self.certificate, self.emails, self.commands = str(certificate), emails, []
        self.seen: set[int] = set()
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        self.socket = context.wrap_socket(socket.create_server(("localhost", 0)), server_side=True)
        self.socket.settimeout(20)
        self.port = self.socket.getsockname()[1]
        Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            try:
                connection, _ = self.socket.accept()
            except OSError:
                return
            with connection, connection.makefile("rwb") as file:
                self.talk(file)

    def talk(self, file):
        def say(line):
            file.write(line + b"\r\n")
            file.flush()

        say(b"* OK ready")
        for line in file:
            tag, command = line.strip().split(b" ", 1)
            self.commands.append(command.decode())
            words = command.upper().split()
            if words[0] == b"CAPABILITY":
                say(b"* CAPABILITY IMAP4rev1")
            elif words[0] == b"SELECT":
                say(b"* OK [UIDVALIDITY 7] valid")
            elif words[:2] == [b"UID", b"SEARCH"]:
                first = int(words[3].split(b":")[0])
                found = [
                    n for n in self.emails if n not in self.seen and (n >= first or n == max(self.emails))
                ]
                say(b"* SEARCH " + b" ".join(b"%d" % n for n in found))
            elif words[:2] == [b"UID", b"FETCH"]:
                number, content = int(words[2]), self.emails[int(words[2])]
                if b"SIZE" in words[3]:
                    say(b"* 1 FETCH (UID %d RFC822.SIZE %d)" % (number, len(content)))
                else:
                    say(b"* 1 FETCH (UID %d BODY[] {%d}" % (number, len(content)))
                    file.write(content)
                    say(b")")
            elif words[:2] == [b"UID", b"STORE"]:
                self.seen.add(int(words[2]))
            say(tag + b" OK done")
            if words[0] == b"LOGOUT":
                return


@pytest.fixture
def server(tmp_path, settings, monkeypatch):
    big = answer() + b"x" * replies.SIZE_MAX
    server = Server(tmp_path, {3: b"Subject: Hello\r\n\r\nNo answer.", 4: answer(), 5: big})
    monkeypatch.setenv("SSL_CERT_FILE", server.certificate)
    settings.REPLY_MAILBOX = f"imaps://jobs%40acme.test:p%3Aw@localhost:{server.port}/Invites"
    yield server
    server.socket.close()


@pytest.mark.slow("a server with TLS")
def test_only_answers_become_read_and_nothing_is_read_twice(invited, server):
    job = replies.Replies()
    assert job.run(job.next_due(NOW)) == "replies 1"
    assert reply_of(invited) == "accepted"
    assert server.seen == {4}
    assert 'LOGIN jobs@acme.test "p:w"' in server.commands
    assert 'SELECT "Invites"' in server.commands
    assert not any("UID FETCH 5 (BODY" in command for command in server.commands)
    assert job.next_due(NOW + timedelta(seconds=59)) is None
    server.commands.clear()
    assert job.run(job.next_due(NOW + timedelta(minutes=1))) == "replies none"
    assert not any("FETCH" in command for command in server.commands)


@pytest.mark.slow("a server with TLS")
def test_certificate_is_checked_and_a_failure_delays(invited, server, monkeypatch, caplog):
    monkeypatch.delenv("SSL_CERT_FILE")
    job = replies.Replies()
    assert job.run(job.next_due(NOW)) == "replies failed"
    assert "p:w" not in caplog.text
    assert server.commands == []
    assert job.next_due(NOW + timedelta(minutes=4)) is None
    assert job.next_due(NOW + timedelta(minutes=5))


def test_colleague_answers_by_email(invited, module_roles):
    anna = colleague("anna", "Recruiter")
    mine = Participant.objects.create(entry=invited.entry, user=anna, address=anna.email, sequence=2)
    assert replies.record_reply(answer(address=anna.email), at=NOW)
    assert (reply_of(mine), reply_of(invited)) == ("accepted", "")
