"""The outbox: emails are queued in the transaction that causes them.
`manage.py deliver` sends them.
"""

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

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
from jobsite.languages import supported
from vacancies.facts.pay import states_pay

ADDRESS_MAX, SUBJECT_MAX = 254, 200  # characters
INVALID_ADDRESS = gettext_noop("The address is not valid.")
TOO_MANY = gettext_noop("Not sent: this address got many emails in a short time.")
# Anybody can cause these, for any address. An applicant causes a confirmation in an account of
# their own.
UNASKED = (Message.Kind.RECEIPT, Message.Kind.WITHDRAWAL)
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029]")


@dataclass(frozen=True, kw_only=True)
class Email:
    """An email to the address `to`, in `language`. It concerns `application` or `alert`, and names
    the `vacancies`, by id. `author` is the recruiter who wrote it, `recipient` the colleague it is
    for. If it is about `stage_change`, the applicant gets it when they see the change.
    `link_marker` stands for the secret of the personal links in `body` and `html`. `calendar` is
    the calendar entry that invites `participant`.
    `sender`: as of `sender_of`, which is the default for applicants. `is_bulk`: many have its text.
    """

    kind: Message.Kind
    to: str
    language: str
    subject: str
    body: str
    html: str = ""
    application: Application | None = None
    alert: JobAlert | None = None
    vacancies: Iterable[int] = ()
    author: User | None = None
    recipient: User | None = None
    stage_change: StageChange | None = None
    link_marker: str = ""
    calendar: str = ""
    participant: Participant | None = None
    sender: tuple[str, str] | None = None
    is_bulk: bool = False


def queue(email: Email, *, at: datetime) -> Message:
    """Add `email` to the outbox, and return it. It is sent at `at`, or when the applicant sees its
    stage change if that is later.
    """
    message = message_of(email, at=at)
    message.save()
    return message


def message_of(email: Email, *, at: datetime) -> Message:
    """Return the row of the outbox for `email`, not saved.

    The subject becomes one line, so that nothing in it can add a header. An email to an invalid
    address, or one too many, is added as failed: it is shown, and nobody waits for it.
    """
    application, change = email.application, email.stage_change
    sender, reply_to = _sender(email)
    body = _with_links(email)
    error = _why_not_sent(email, at)
    due_at = max(at, change.visible_at) if change else at
    return Message(
        kind=email.kind,
        application=application,
        alert=email.alert,
        is_bulk=email.is_bulk,
        author=email.author,
        recipient=email.recipient,
        sender=sender,
        reply_to=reply_to,
        calendar=email.calendar,
        participant=email.participant,
        to=one_line(email.to)[:ADDRESS_MAX],
        language=supported(email.language),
        subject=as_subject(email.subject),
        body=as_body(body),
        html=email.html,
        link_marker=email.link_marker,
        has_pay=_tells_pay(email, body),
        vacancies=list(email.vacancies),
        state=Message.State.FAILED if error else Message.State.QUEUED,
        error=error,
        stage_change=change,
        queued_at=due_at,
        next_at=due_at,
        finished_at=at if error else None,
    )


def _sender(email: Email) -> tuple[str, str]:
    if email.sender is not None:
        return email.sender
    return sender_of(email.application) if email.application and not email.recipient else ("", "")


def _with_links(email: Email) -> str:
    """Return the body, with the links of the brand if the email is for an applicant. Not if it is
    one of many, which have one text.
    """
    application, alert = email.application, email.alert
    if not (application or alert) or email.recipient or email.is_bulk:
        return email.body
    brand = application.vacancy.brand_id if application else getattr(alert, "brand_id", None)
    return with_links(email.body, brand, supported(email.language))


def _tells_pay(email: Email, body: str) -> bool:
    # a receipt may repeat the pay that the applicant wishes
    if email.application is None or email.recipient or email.kind in UNASKED:
        return False
    return states_pay(email.application.vacancy.pay, body)


def _why_not_sent(email: Email, at: datetime) -> str:
    if not is_address(email.to):
        return INVALID_ADDRESS
    is_limited = email.kind in UNASKED and email.application is not None
    if is_limited and is_one_too_many(UNASKED, email.to, settings.RECEIPT_RATE, at):
        return TOO_MANY
    return ""


def email_to(
    user: User, kind: Message.Kind, subject: str, lines: Iterable[str], *, base_url: str
) -> Email:
    """Return the email to the colleague `user` in the active language, with a link to switch such
    emails off.
    """
    return Email(
        kind=kind,
        to=user.email,
        language=get_language() or "",
        subject=subject,
        body="\n".join([*lines, *settings_lines(base_url)]),
        recipient=user,
    )


def is_one_too_many(kinds: Sequence[Message.Kind], to: str, rate: str, at: datetime) -> bool:
    """Return whether the mailbox of `to` got `rate` emails of `kinds`, which it may not have asked
    for. The outbox is counted, so that the limit is one for all processes. Call it in a
    transaction: the next email to the mailbox waits for its end.
    """
    parsed = parse_rate(rate, "RECEIPT_RATE")
    if parsed is None:
        return False
    limit, seconds = parsed
    box = mailbox(to)
    lock_transaction(f"{kinds[0]} to {box}")
    since = at - timedelta(seconds=seconds)
    # The first conditions are those of the index `messages_not_bulk`; `next_at` never precedes
    # `queued_at`.
    recent = Message.objects.filter(
        is_bulk=False, state__in=Message.State.values, next_at__gt=since
    )
    recent = recent.filter(kind__in=kinds, queued_at__gt=since).exclude(error=TOO_MANY)
    if sum(mailbox(each) == box for each in recent.values_list("to", flat=True)) >= limit:
        return True
    # Whoever has an account can delete their applications, and so these rows. The cache remembers
    # them.
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
    """Delete the emails about stage changes of `applications` that nobody will see any more; those
    of stages also if they are due but wait for the mail server.
    """
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
    """Return `text` as the body of an email:
    with line breaks \\n and no other control characters.
    """
    return _CONTROL.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))


def one_line(text: str) -> str:
    """Return `text` without line breaks and other control characters."""
    return " ".join(_CONTROL.sub(" ", text).split())
