"""Emails that recruiters write to applicants."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta

from django.contrib.auth.models import User
from django.db import transaction

from applications.mail import outbox
from applications.mail.templates import WrittenEmail
from applications.models import (
    Application,
    Message,
    MessageFile,
    PrivateFile,
    StageChange,
    SubmissionFile,
)

# An equal email by the same author within this time is a second click.
DUPLICATE_AGE = timedelta(minutes=5)


def send_emails(
    emails: Sequence[WrittenEmail],
    *,
    author: User | None,
    at: datetime,
    delay: timedelta = timedelta(0),
    changes: Mapping[int, StageChange] | None = None,
    files: Sequence[SubmissionFile] = (),
) -> tuple[list[int], list[int]]:
    """Queue `emails`, to be sent after `delay`. `changes` are the stage changes that they are
    about, by application: such an email is sent when the applicant sees the change. `files` are the
    unsaved rows of stored files that a single email has.

    Return the ids of the applications that get one, and of those to which `author` sent the same
    one within the last minutes. Applications that were deleted meanwhile are in neither.
    """
    applications = [email.application.pk for email in emails]
    with transaction.atomic():
        # Of two clicks, the second one waits here and finds the emails of the first one.
        rows = Application.objects.filter(pk__in=applications).order_by("pk").select_for_update()
        present = set(rows.values_list("pk", flat=True))
        recent = Message.objects.filter(
            application__in=present, author=author, queued_at__gt=at - DUPLICATE_AGE
        )
        known = {
            (each.application_id, each.subject, each.text, _content(each.files.all()))
            for each in recent.prefetch_related("files")
        }
        sent, repeated = [], []
        for email in emails:
            application = email.application
            if application.pk not in present:
                continue
            if (application.pk, email.subject, email.body, _content(files)) in known:
                repeated.append(application.pk)
                continue
            change = changes.get(application.pk) if changes else None
            outgoing = email.outgoing(
                kind=Message.Kind.TEMPLATE, author=author, stage_change=change
            )
            message = outbox.queue(outgoing, at=at + delay)
            MessageFile.objects.bulk_create(
                MessageFile(message=message, path=file.path, **file.facts()) for file in files
            )
            sent.append(application.pk)
    return sent, repeated


def _content(files: Iterable[PrivateFile]) -> tuple[str, ...]:
    return tuple(sorted(file.sha256 for file in files))
