"""Answers to invitations that calendar programs send by email, read from REPLY_MAILBOX: a job of
the dispatcher. Without it, applicants and colleagues answer on their pages only.

Other emails in the mailbox stay unread. An email can be forged, so an answer changes nothing else.
"""

import imaplib
import logging
import re
import ssl
from collections import Counter
from contextlib import closing, suppress
from datetime import datetime, timedelta
from time import monotonic
from typing import NamedTuple
from urllib.parse import unquote, urlsplit
from zlib import crc32

from django.conf import settings
from django.db import InterfaceError, OperationalError

from applications.models import Participant
from applications.operations.interviews import reply
from applications.operations.reply_emails import answers
from applications.querysets import folded_address
from jobsite.dispatch import JobError
from jobsite.models import JobRun

EVERY, AFTER_FAILURE = timedelta(minutes=1), timedelta(minutes=5)
# Seconds for each answer of the server; after which no other email is read.
TIMEOUT, RUN_MAX = 10, 120
SIZE_MAX = 256 * 1024  # bytes of an email
_FAILURES = (OSError, imaplib.IMAP4.error)
_CONNECTION_LOST = (OSError, imaplib.IMAP4.abort, OperationalError, InterfaceError)

logger = logging.getLogger("jobsite.dispatch.replies")


class Mailbox(NamedTuple):
    host: str
    port: int
    user: str
    password: str
    folder: str


def mailbox() -> Mailbox | None:
    """Return the mailbox of REPLY_MAILBOX, None without one.
    Raise ValueError if it is no such address.
    """
    if not settings.REPLY_MAILBOX:
        return None
    url = urlsplit(settings.REPLY_MAILBOX)
    if url.scheme != "imaps" or not (url.hostname and url.username and url.password):
        raise ValueError("REPLY_MAILBOX is not imaps://USER:PASSWORD@HOST/FOLDER.")
    folder = unquote(url.path.strip("/")) or "INBOX"
    return Mailbox(
        url.hostname, url.port or 993, unquote(url.username), unquote(url.password), folder
    )


class Replies:
    """Reads the mailbox once a minute. Implements `jobsite.dispatch.Job`."""

    def __init__(self, base_url: str = "") -> None:
        self.base_url = base_url
        self._next_at: datetime | None = None
        # Validity of numbers, and the last one read.
        self._read_until: tuple[str, int] | None = None
        self._failed_at = 0  # the number at which the connection was lost

    def next_due(self, at: datetime) -> datetime | None:
        is_due = self._next_at is None or at >= self._next_at
        return at if settings.REPLY_MAILBOX and is_due else None

    def run(self, at: datetime) -> Counter[str]:
        """Read the new emails. Return how many were answers, other emails, and unreadable."""
        self._next_at = at + EVERY
        context = ssl.create_default_context()  # imaplib's own does not check certificates
        try:
            found = mailbox()
            assert found
            server = imaplib.IMAP4_SSL(found.host, found.port, timeout=TIMEOUT, ssl_context=context)
            # Imaplib leaves a connection open that it cannot log out.
            with closing(server.sock), server:
                server.login(found.user, found.password)
                _checked(server.select(f'"{found.folder}"'))
                return self._read(server, found, at)
        except (*_FAILURES, ValueError) as error:
            reason = f"REPLY_MAILBOX cannot be read: {type(error).__name__}"
            raise JobError(reason, wait=AFTER_FAILURE) from None

    def _read(self, server: imaplib.IMAP4, found: Mailbox, at: datetime) -> Counter[str]:
        outcomes = Counter[str]()
        which = crc32("/".join((found.host, found.user, found.folder)).encode())
        validity = f"{which}:{(server.response('UIDVALIDITY')[1] or [b''])[0]!r:.50}"
        known, last = self._read_until or _stored()
        last = last if known == validity else 0
        end = monotonic() + RUN_MAX
        numbers = (_checked(server.uid("SEARCH", f"UID {last + 1}:* UNSEEN"))[0] or b"").split()
        # the server names the newest email if there is none after `last`
        for number in sorted(each for each in map(int, numbers) if each > last):
            if monotonic() > end:
                break
            # Noted first: an email that ends this process is not read again. One that the server or
            # the database did not let us read is; but a server that ends the connection does so
            # once per email.
            try:
                self._note(validity, number)
                outcomes[self._outcome(server, number, at)] += 1
            except _CONNECTION_LOST as error:
                if number != self._failed_at or isinstance(
                    error, OperationalError | InterfaceError
                ):
                    self._failed_at = number
                    with suppress(OperationalError, InterfaceError):
                        self._note(validity, last)
                raise
            last = number
        return outcomes

    def _note(self, validity: str, number: int) -> None:
        """Remember and store until where the mailbox is read:
        a process that starts goes on there.
        """
        self._read_until = (validity, number)
        JobRun.objects.update_or_create(
            name=type(self).__name__, defaults={"position": f"{validity} {number}"}
        )

    def _outcome(self, server: imaplib.IMAP4, number: int, at: datetime) -> str:
        try:
            if self._is_reply(server, number, at):
                server.uid("STORE", str(number), "+FLAGS", r"(\Seen)")
                return "answer"
        except _CONNECTION_LOST:
            raise
        except Exception as error:  # anybody can send anything
            logger.warning(
                "Email %d of REPLY_MAILBOX cannot be read: %s", number, type(error).__name__
            )
            return "unreadable"
        return "other"

    def _is_reply(self, server: imaplib.IMAP4, number: int, at: datetime) -> bool:
        head = _checked(server.uid("FETCH", str(number), "(RFC822.SIZE)"))[0] or b""
        size = re.search(rb"RFC822\.SIZE (\d+)", head)
        if size is None or int(size[1]) > SIZE_MAX:
            return False
        parts = _checked(server.uid("FETCH", str(number), "(BODY.PEEK[])"))
        content = next((part[1] for part in parts if isinstance(part, tuple)), b"")
        return record_reply(content, base_url=self.base_url, at=at)


def _stored() -> tuple[str, int]:
    row = JobRun.objects.filter(name=Replies.__name__).first()
    validity, _, number = (row.position if row else "").rpartition(" ")
    return validity, int(number or 0)


def _checked(answer: tuple[str, list]) -> list:
    status, data = answer
    if status != "OK":
        raise imaplib.IMAP4.error(status)
    return data


def record_reply(content: bytes, *, base_url: str = "", at: datetime) -> bool:
    """Record the answer in an email. Return False if it has none: not of a participant of a known
    interview that is not cancelled, or about an earlier time than the latest invitation.
    """
    for answer in answers(content):
        if answer.status not in Participant.Reply.values or not answer.status:
            continue
        address = folded_address(answer.address)
        rows = Participant.objects.filter(entry__uid=answer.uid, entry__is_cancelled=False)
        for each in rows.filter(sequence__lte=answer.sequence).select_related(
            "entry__application", "user"
        ):
            if folded_address(each.address) == address:
                reply(
                    participant=each,
                    reply=Participant.Reply(answer.status),
                    base_url=base_url,
                    at=at,
                )
                return True
    return False
