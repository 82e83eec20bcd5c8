"""The outbox: emails are queued in the transaction that causes them. `manage.py deliver` sends them."""

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db.models import Q, QuerySet
from django.utils.crypto import salted_hmac
from django.utils.translation import get_language, gettext_noop

from applications.mail.brand_mail import sender_of, with_links
from applications.mail.links import settings_lines
from applications.models import Application, JobAlert, Message, Participant, StageChange
from applications.querysets import mailbox
from jobsite.api.throttling import RateLimit, parse_rate
from jobsite.db.locks import lock_transaction
from jobsite.db.transactions import dry_run
from jobsite.languages import supported
from vacancies.pay import states_pay

ADDRESS_MAX, SUBJECT_MAX = 254, 200  # characters
INVALID_ADDRESS = gettext_noop("The address is not valid.")
TOO_MANY = gettext_noop("Not sent: this address got many emails in a short time.")
# Anybody can cause these, for any address. An applicant causes a confirmation in an account of their own.
UNASKED = (Message.Kind.RECEIPT, Message.Kind.WITHDRAWAL)
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029]")


def queue(
    *,
    kind: Message.Kind,
    to: str,
    language: str,
    subject: str,
    body: str,
    application: Application | None = None,
    alert: JobAlert | None = None,
    author: User | None = None,
    recipient: User | None = None,
    stage_change: StageChange | None = None,
    vacancies: Iterable[int] = (),
    html: str = "",
    link_marker: str = "",
    calendar: str = "",
    participant: Participant | None = None,
    sender: tuple[str, str] | None = None,
    is_bulk: bool = False,
    at: datetime,
) -> Message:
    """Add an email to the outbox, and return it. It is sent at `at`, or when the applicant sees
    `stage_change` if that is later. `author` is the recruiter who wrote it, `recipient` the colleague it is
    for. It names the `vacancies`, by id. `link_marker` stands for the secret of the personal links in `body`
    and `html`. `calendar` is the calendar entry that invites `participant`. `sender`: as of `sender_of`,
    which is the default for applicants. An email that `is_bulk` is not saved: the caller inserts many.

    The subject becomes one line, so that nothing in it can add a header. An email to an invalid address, or
    one too many, is added as failed: it is shown, and nobody waits for it.
    """
    if sender is None:
        sender = sender_of(application) if application and not recipient else ("", "")
    if (application or alert) and not (recipient or is_bulk):  # one text is for many bulk emails
        brand = application.vacancy.shown_brand_id if application else getattr(alert, "brand_id", None)
        body = with_links(body, brand, supported(language))
    # a receipt may repeat the pay that the applicant wishes
    is_told = application is not None and recipient is None and kind not in UNASKED
    has_pay = bool(is_told and application and states_pay(application.vacancy, body))
    error = ""
    if not is_address(to):
        error = INVALID_ADDRESS
    elif kind in UNASKED and application and is_one_too_many(UNASKED, to, settings.RECEIPT_RATE, at):
        error = TOO_MANY
    due_at = max(at, stage_change.visible_at) if stage_change else at
    message = Message(
        kind=kind,
        application=application,
        alert=alert,
        is_bulk=is_bulk,
        author=author,
        recipient=recipient,
        sender=sender[0],
        reply_to=sender[1],
        calendar=calendar,
        participant=participant,
        to=one_line(to)[:ADDRESS_MAX],
        language=supported(language),
        subject=as_subject(subject),
        body=as_body(body),
        html=html,
        link_marker=link_marker,
        has_pay=has_pay,
        vacancies=list(vacancies),
        state=Message.State.FAILED if error else Message.State.QUEUED,
        error=error,
        stage_change=stage_change,
        queued_at=due_at,
        next_at=due_at,
        finished_at=at if error else None,
    )
    if not is_bulk:
        message.save()
    return message


def queue_for(
    user: User, kind: Message.Kind, subject: str, lines: Iterable[str], *, base_url: str, **values: Any
) -> Message:
    """Queue an email to the colleague `user` in the active language, with a link to switch such emails
    off."""
    return queue(
        kind=kind,
        to=user.email,
        language=get_language() or "",
        subject=subject,
        body="\n".join([*lines, *settings_lines(base_url)]),
        recipient=user,
        **values,
    )


def planned(queue_all: Callable[[], object], applications: Collection[int]) -> list[Message]:
    """Return the emails to or about `applications` that `queue_all` would queue, and write nothing."""
    with dry_run(True):
        last = Message.objects.order_by("-pk").values_list("pk", flat=True).first() or 0
        queue_all()
        rows = Message.objects.filter(application__in=applications, pk__gt=last)
        return list(rows.select_related("recipient", "application__user").order_by("pk"))


def is_one_too_many(kinds: Sequence[Message.Kind], to: str, rate: str, at: datetime) -> bool:
    """Return whether the mailbox of `to` got `rate` emails of `kinds`, which it may not have asked for. The
    outbox is counted, so that the limit is one for all processes. Call it in a transaction: the next email to
    the mailbox waits for its end."""
    parsed = parse_rate(rate, "RECEIPT_RATE")
    if parsed is None:
        return False
    limit, seconds = parsed
    box = mailbox(to)
    lock_transaction(f"{kinds[0]} to {box}")
    since = at - timedelta(seconds=seconds)
    # The first conditions are those of the index `messages_not_bulk`; `next_at` never precedes `queued_at`.
    recent = Message.objects.filter(is_bulk=False, state__in=Message.State.values, next_at__gt=since)
    recent = recent.filter(kind__in=kinds, queued_at__gt=since).exclude(error=TOO_MANY)
    if sum(mailbox(each) == box for each in recent.values_list("to", flat=True)) >= limit:
        return True
    # Whoever has an account can delete their applications, and so these rows. The cache remembers them.
    counted = salted_hmac("applications.receipts", box, algorithm="sha256").hexdigest()
    return not RateLimit(rate).allow(f"{kinds[0]}-{counted}")


def not_due(at: datetime) -> QuerySet[Message]:
    """Return the emails of recruiters that wait for their time, and can be cancelled."""
    return Message.objects.filter(
        kind__in=(Message.Kind.TEMPLATE, Message.Kind.STAGE),
        state=Message.State.QUEUED,
        attempts=0,
        next_at__gt=at,
    )


def cancel_unseen(applications: Collection[int], *, at: datetime) -> None:
    """Delete the emails about stage changes of `applications` that nobody will see any more; those of stages
    also if they are due but wait for the mail server."""
    waiting = Message.objects.filter(application__in=applications, state=Message.State.QUEUED)
    not_tried = Q(attempts=0, next_at__gt=at)
    waiting.exclude(stage_change=None).filter(not_tried | Q(kind=Message.Kind.STAGE)).delete()


def is_address(text: str) -> bool:
    """Return whether `text` is one e-mail address, and nothing else."""
    try:
        validate_email(text)
    except ValidationError:
        return False
    return len(text) <= ADDRESS_MAX


def as_subject(text: str) -> str:
    """Return `text` as the subject of an email: one line of at most SUBJECT_MAX characters."""
    return one_line(text)[:SUBJECT_MAX]


def as_body(text: str) -> str:
    """Return `text` as the body of an email: with line breaks \\n and no other control characters."""
    return _CONTROL.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))


def one_line(text: str) -> str:
    """Return `text` without line breaks and other control characters."""
    return " ".join(_CONTROL.sub(" ", text).split())
