"""The delivery of queued emails, a job of the dispatcher (jobsite/dispatch.py).

    queued -> sending -> sent
                      -> failed      refused for good, unknown, or LAST_AFTER has passed
                      -> queued      refused for now: tried again later

`sending` is committed before the conversation with the mail server begins. An email that is found
in this state was left by a process that was killed. It may have been delivered, so it becomes
failed and is not sent again.
"""

import logging
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from email.policy import EmailPolicy
from typing import Any

import django
from django.conf import settings
from django.core.mail import EmailMessage, EmailMultiAlternatives
from django.db import InterfaceError, OperationalError, connections
from django.utils import timezone
from django.utils.translation import gettext_noop as _

from applications.mail.brand_mail import html_of
from applications.mail.calendars import CANCEL, CalendarEmail, method_of
from applications.mail.links import alert_token, with_personal_links
from applications.mail.preferences import may_still_read
from applications.mail.smtp import (
    DeliveryError,
    PermanentError,
    ServerError,
    TemporaryError,
    Transport,
    UnknownError,
)
from applications.models import JobAlert, Message
from applications.submissions.files import download_name, media_type, read_file
from jobsite.object_store.circuit_breaker import UnavailableError
from jobsite.ops.logs import redacted

# Minutes from a failed attempt to the next one; then hourly. The last attempt is LAST_AFTER after
# the email was queued, so that it is sent or shown as failed within 76 hours (spec/applying.md).
DELAYS = (1, 5, 15, 30, 60)
LAST_AFTER = timedelta(hours=72)
# While the server cannot be used, one email is tried at a time: after 30 seconds, a minute, ... 5
# minutes.
PAUSE, PAUSE_MAX = timedelta(seconds=30), timedelta(minutes=5)
RECORD_WAIT = 600  # seconds to wait for the database, to record that an email was sent
ERROR_MAX = 500  # characters
WRITTEN = (Message.Kind.TEMPLATE, Message.Kind.INTERVIEW)  # by a recruiter
UNSUBSCRIBE = "List-Unsubscribe"  # RFC 2369 and 8058
# Stored in English, and translated where they are shown.
ABANDONED = _(
    "The dispatcher was stopped while the email was being sent: it may have been delivered."
)
FILE_LOST = _("A file of the email cannot be read.")
NOT_ALLOWED = _("The colleague may not see this any more.")
NOT_CONFIGURED = _("EMAIL_URL is not set: emails cannot be sent.")

logger = logging.getLogger("jobsite.dispatch.mail")


class MailDelivery:
    """The emails of the outbox. Implements `jobsite.dispatch.Job`."""

    def __init__(self, *, now: Callable[[], datetime] = timezone.now) -> None:
        self.now = now
        self.transport = Transport()
        self._failures = 0  # of the server, since it worked
        self._paused_until: datetime | None = None

    def next_due(self, at: datetime) -> Message | None:
        """Return an email that was left in `sending`, else the one that is due for longest, bulk
        emails last. While the server cannot be used, only emails that are given up.
        """
        # Without related rows: while a table is locked, only the emails that need it wait.
        rows = Message.objects.all()
        if left := rows.filter(state=Message.State.SENDING).order_by("pk").first():
            return left
        due = rows.filter(state=Message.State.QUEUED, next_at__lte=at).order_by("next_at", "pk")
        if self._paused_until and at < self._paused_until:
            due = due.filter(queued_at__lte=at - LAST_AFTER)
        message = due.filter(is_bulk=False).first() or due.first()
        if message is None:
            self.transport.close()
        return message

    def run(self, item: Message) -> str:
        """Send `item`. Return the outcome: sent, failed or postponed;
        or gone, if it was deleted.
        """
        if item.state == Message.State.SENDING:
            return self._finish(item, Message.State.FAILED, ABANDONED)
        change = item.stage_change
        if change and change.visible_at > self.now():  # somebody made the delay of the stage longer
            later = change.visible_at
            Message.objects.filter(pk=item.pk).update(queued_at=later, next_at=later)
            return "postponed"
        # The mail server refused it for now, and it was not `queued` when the move was undone.
        if change and item.kind == Message.Kind.STAGE and change.is_followed():
            Message.objects.filter(pk=item.pk, state=Message.State.QUEUED).delete()
            return "gone"
        item.attempts += 1
        if _is_superseded(item):
            item.delete()
            return "gone"
        is_readable = may_still_read(item)
        claimed = Message.objects.filter(pk=item.pk, state=Message.State.QUEUED)
        if not claimed.update(state=Message.State.SENDING, attempts=item.attempts):
            return "gone"
        if not is_readable:
            return self._finish(item, Message.State.FAILED, NOT_ALLOWED)
        try:
            self._send(item)
        except (PermanentError, UnknownError) as error:
            return self._finish(item, Message.State.FAILED, str(error))
        except DeliveryError as error:
            if isinstance(error, ServerError):
                self._pause()
            return self._postpone(item, str(error))
        except Exception as error:  # a bug must not stop the other emails
            logger.exception("Email %d could not be made", item.pk)
            return self._finish(
                item, Message.State.FAILED, f"It could not be made: {type(error).__name__}."
            )
        self._failures, self._paused_until = 0, None
        return self._finish(item, Message.State.SENT, "")

    def _send(self, message: Message) -> None:
        if not settings.IS_MAIL_SENT and not settings.DEBUG:
            raise ServerError(NOT_CONFIGURED)  # do not print personal data into a log
        try:
            email = as_email(message)
        except FileNotFoundError:
            raise PermanentError(FILE_LOST) from None
        except UnavailableError:
            raise TemporaryError("The files cannot be reached.") from None
        self.transport.send(email)

    def _pause(self) -> None:
        self._paused_until = self.now() + min(PAUSE * 2**self._failures, PAUSE_MAX)
        self._failures = min(self._failures + 1, 10)

    def _postpone(self, message: Message, reason: str) -> str:
        at, last_at = self.now(), message.queued_at + LAST_AFTER
        if at >= last_at:
            return self._finish(
                message, Message.State.FAILED, f"Not delivered within 72 hours: {reason}"
            )
        delay = timedelta(minutes=DELAYS[min(message.attempts, len(DELAYS)) - 1])
        self._record(
            message,
            state=Message.State.QUEUED,
            error=_readable(reason),
            next_at=min(at + delay, last_at),
        )
        logger.warning("Email %d postponed: %s", message.pk, _readable(reason))
        return "postponed"

    def _finish(self, message: Message, state: Message.State, reason: str) -> str:
        self._record(message, state=state, error=_readable(reason), finished_at=self.now())
        if state == Message.State.SENT:
            logger.info("Email %d sent", message.pk)
        else:
            logger.warning("Email %d failed: %s", message.pk, _readable(reason))
        return state.value

    def _record(self, message: Message, **values: object) -> None:
        """Store the outcome of an attempt. Wait for a database that does not respond: nobody else
        knows it.

        Another process may have taken over meanwhile and stored that the outcome is unknown.
        """
        states = (Message.State.SENDING, Message.State.FAILED)
        rows = Message.objects.filter(pk=message.pk, attempts=message.attempts, state__in=states)
        end = time.monotonic() + RECORD_WAIT
        while True:
            try:
                rows.update(**values)
                return
            except (OperationalError, InterfaceError):
                if time.monotonic() > end or connections["default"].in_atomic_block:
                    raise
                connections["default"].close()
                time.sleep(1)


class AlertPolicy(EmailPolicy):
    """Leaves List-Unsubscribe as it is. Python encodes its long address as if it were text, which
    mail programs do not read.
    """

    def fold(self, name: str, value: str) -> str:
        is_address = name == UNSUBSCRIBE
        return f"{name}: {value}{self.linesep}" if is_address else super().fold(name, value)

    def fold_binary(self, name: str, value: str) -> bytes:
        return (
            self.fold(name, value).encode()
            if name == UNSUBSCRIBE
            else super().fold_binary(name, value)
        )


class AlertEmail(EmailMultiAlternatives):
    def message(self, **options: Any) -> Any:
        own: Any = {} if django.VERSION < (6, 0) else {"policy": AlertPolicy()}
        return super().message(**own)


def as_email(message: Message) -> EmailMessage:
    """Return `message` as it is sent, with the personal link. Replies go to the recruiter who wrote
    it or moved the application, else to the brand.
    """
    domain = settings.DEFAULT_FROM_EMAIL.rpartition("@")[2].strip("> ") or "localhost"
    headers = {"Message-ID": f"<{message.pk}.{message.queued_at.timestamp():.0f}@{domain}>"}
    if message.kind not in WRITTEN:
        headers["Auto-Submitted"] = "auto-generated"
    body = with_personal_links(message, message.body)
    html = with_personal_links(message, message.html) or html_of(message, body)
    email_class = CalendarEmail if message.calendar else EmailMultiAlternatives
    if message.kind == Message.Kind.ALERT and message.alert:
        email_class = AlertEmail
        headers |= _unsubscribing(message.alert, body)
    email = email_class(
        message.subject,
        body,
        from_email=message.sender or None,
        to=[message.to],
        reply_to=_reply_to(message),
        headers=headers,
    )
    if isinstance(email, CalendarEmail):
        email.calendar, email.html = message.calendar, html
    elif html and isinstance(email, EmailMultiAlternatives):
        email.attach_alternative(html, "text/html")
    for file in message.files.all():
        kind = media_type(file).partition(";")[0]
        email.attach(download_name(file), read_file(file), kind)
    return email


def _unsubscribing(alert: JobAlert, body: str) -> dict[str, str]:
    end = f"/{alert_token(alert)}/unsubscribe"
    address = next(line for line in body.splitlines() if line.endswith(end))
    return {UNSUBSCRIBE: f"<{address}>", "List-Unsubscribe-Post": "List-Unsubscribe=One-Click"}


def _reply_to(message: Message) -> list[str]:
    is_of_author = message.kind in (*WRITTEN, Message.Kind.STAGE)
    author = message.author.email if is_of_author and message.author else ""
    return list(filter(None, [author or message.reply_to]))


def _is_superseded(message: Message) -> bool:
    """Return whether `message` invites to an interview that was cancelled or changed since, or
    somebody who takes no longer part: it was refused for now, or is sent again.
    """
    if not message.calendar or method_of(message.calendar) == CANCEL:
        return False
    participant = message.participant
    if participant is None or participant.entry.is_cancelled:
        return True
    return f"\r\nSEQUENCE:{participant.sequence}\r\n" not in message.calendar


def _readable(reason: str) -> str:
    """Return `reason` in one line, without addresses."""
    return " ".join(redacted(reason).split())[:ERROR_MAX]
