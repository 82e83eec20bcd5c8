"""Answers to invitations that calendar programs send by email, read from REPLY_MAILBOX: a job of the
dispatcher. Without it, applicants and colleagues answer on their pages only.

Other emails in the mailbox stay unread. An email can be forged, so an answer changes nothing else.
"""

import imaplib
import logging
import re
import ssl
from datetime import datetime, timedelta
from email import message_from_bytes, policy
from typing import NamedTuple, cast
from urllib.parse import unquote, urlsplit

from django.conf import settings
from icalendar import Calendar, vCalAddress

from applications.models import Participant
from applications.operations.interviews import reply
from applications.querysets import folded_address

EVERY, AFTER_FAILURE = timedelta(minutes=1), timedelta(minutes=5)
TIMEOUT = 10  # seconds for each answer of the server: emails wait meanwhile
SIZE_MAX, EMAILS_MAX = 256 * 1024, 50  # bytes of an email; emails of one run
_UID = re.compile(r"([0-9a-f]{32})@")
_FAILURES = (OSError, imaplib.IMAP4.error)

logger = logging.getLogger("jobsite.dispatch.replies")


class Mailbox(NamedTuple):
    host: str
    port: int
    user: str
    password: str
    folder: str


def mailbox() -> Mailbox | None:
    """Return the mailbox of REPLY_MAILBOX, None without one. Raise ValueError if it is no such address."""
    if not settings.REPLY_MAILBOX:
        return None
    url = urlsplit(settings.REPLY_MAILBOX)
    if url.scheme != "imaps" or not (url.hostname and url.username and url.password):
        raise ValueError("REPLY_MAILBOX is not imaps://USER:PASSWORD@HOST/FOLDER.")
    folder = unquote(url.path.strip("/")) or "INBOX"
    return Mailbox(url.hostname, url.port or 993, unquote(url.username), unquote(url.password), folder)


class Replies:
    """Reads the mailbox once a minute. Implements `jobsite.dispatch.Job`."""

    def __init__(self, base_url: str = "") -> None:
        self.base_url = base_url
        self._next_at: datetime | None = None
        self._seen: tuple[bytes, int] = (b"", 0)  # the mailbox's validity of numbers, and the last one read

    def next_due(self, at: datetime) -> datetime | None:
        is_due = self._next_at is None or at >= self._next_at
        return at if settings.REPLY_MAILBOX and is_due else None

    def run(self, at: datetime) -> str:
        """Read the new emails. Return the outcome."""
        self._next_at = at + EVERY
        try:
            count = self._read(at)
        except (*_FAILURES, ValueError) as error:
            self._next_at = at + AFTER_FAILURE
            logger.warning("REPLY_MAILBOX cannot be read: %s", type(error).__name__)
            return "replies failed"
        return f"replies {count}" if count else "replies none"

    def _read(self, at: datetime) -> int:
        found = mailbox()
        assert found
        count = 0
        context = ssl.create_default_context()  # imaplib's own does not check certificates
        with imaplib.IMAP4_SSL(found.host, found.port, timeout=TIMEOUT, ssl_context=context) as server:
            server.login(found.user, found.password)
            _checked(server.select(f'"{found.folder}"'))
            validity = (server.response("UIDVALIDITY")[1] or [b""])[0] or b""
            last = self._seen[1] if self._seen[0] == validity else 0
            numbers = _checked(server.uid("SEARCH", f"UID {last + 1}:* UNSEEN"))[0].split()
            for number in sorted(map(int, numbers))[:EMAILS_MAX]:
                if number > last and self._is_reply(server, number, at):
                    server.uid("STORE", str(number), "+FLAGS", r"(\Seen)")
                    count += 1
                self._seen = validity, max(number, last)
        return count

    def _is_reply(self, server: imaplib.IMAP4, number: int, at: datetime) -> bool:
        head = _checked(server.uid("FETCH", str(number), "(RFC822.SIZE)"))[0] or b""
        size = re.search(rb"RFC822\.SIZE (\d+)", head)
        if size is None or int(size[1]) > SIZE_MAX:
            return False
        parts = _checked(server.uid("FETCH", str(number), "(BODY.PEEK[])"))
        content = next((part[1] for part in parts if isinstance(part, tuple)), b"")
        return record_reply(content, base_url=self.base_url, at=at)


def _checked(answer: tuple[str, list]) -> list:
    status, data = answer
    if status != "OK":
        raise imaplib.IMAP4.error(status)
    return data


def record_reply(content: bytes, *, base_url: str = "", at: datetime) -> bool:
    """Record the answer in an email. Return False if it has none: not of a participant of a known interview
    that is not cancelled, or about an earlier time than the latest invitation."""
    for part in message_from_bytes(content, policy=policy.default).walk():
        if part.get_content_type() != "text/calendar":
            continue
        try:
            calendar = Calendar.from_ical(cast(bytes, part.get_payload(decode=True)))
            (event,) = calendar.events
            method, uid = str(calendar.get("METHOD", "")), str(event.get("UID", ""))
            sequence, attendees = int(event.get("SEQUENCE", 0)), event.get("ATTENDEE")
        except (ValueError, KeyError, IndexError, TypeError, AttributeError):
            continue  # anybody can send anything
        if method != "REPLY" or not isinstance(attendees, vCalAddress):  # several are a list
            continue
        answer = str(attendees.params.get("PARTSTAT", "")).lower()
        found = _UID.match(uid)
        if answer not in Participant.Reply.values or not (answer and found):
            continue
        address = folded_address(re.sub("(?i)^mailto:", "", str(attendees)))
        rows = Participant.objects.filter(entry__uid=found[1], entry__is_cancelled=False)
        for each in rows.filter(sequence__lte=sequence).select_related("entry__application", "user"):
            if folded_address(each.address) == address:
                reply(participant=each, reply=Participant.Reply(answer), base_url=base_url, at=at)
                return True
    return False
