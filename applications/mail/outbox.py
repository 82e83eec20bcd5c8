"""The outbox: emails are queued in the transaction that causes them. `manage.py deliver` sends them."""

import re
from collections.abc import Collection
from datetime import datetime

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db.models import QuerySet
from django.utils.translation import gettext_noop

from applications.models import Application, Message, StageChange
from jobsite.languages import LANGUAGES, site_language

ADDRESS_MAX, SUBJECT_MAX = 254, 200  # characters
INVALID_ADDRESS = gettext_noop("The address is not valid.")
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029]")


def queue(
    *,
    kind: Message.Kind,
    to: str,
    language: str,
    subject: str,
    body: str,
    application: Application | None = None,
    author: User | None = None,
    recipient: User | None = None,
    stage_change: StageChange | None = None,
    at: datetime,
) -> Message:
    """Add an email to the outbox, and return it. It is sent at `at`, or when the applicant sees
    `stage_change` if that is later. `author` is the recruiter who wrote it, `recipient` the colleague it is
    for.

    The subject becomes one line, so that nothing in it can add a header. An email to an invalid address is
    added as failed: it is shown, and nobody waits for it.
    """
    is_valid = is_address(to)
    due_at = max(at, stage_change.visible_at) if stage_change else at
    return Message.objects.create(
        kind=kind,
        application=application,
        author=author,
        recipient=recipient,
        to=one_line(to)[:ADDRESS_MAX],
        language=language if language in LANGUAGES else site_language(),
        subject=as_subject(subject),
        body=as_body(body),
        state=Message.State.QUEUED if is_valid else Message.State.FAILED,
        error="" if is_valid else INVALID_ADDRESS,
        stage_change=stage_change,
        queued_at=due_at,
        next_at=due_at,
        finished_at=None if is_valid else at,
    )


def not_due(at: datetime) -> QuerySet[Message]:
    """Return the emails of recruiters that wait for their time, and can be cancelled."""
    return Message.objects.filter(
        kind=Message.Kind.TEMPLATE, state=Message.State.QUEUED, attempts=0, next_at__gt=at
    )


def cancel_unseen(applications: Collection[int], *, at: datetime) -> None:
    """Delete the emails about stage changes of `applications` that nobody will see any more."""
    not_due(at).filter(application__in=applications).exclude(stage_change=None).delete()


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
