"""The email that an applicant gets about a move to a stage, if the stage has one."""

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime, timedelta

from applications.mail import outbox
from applications.mail.templates import email_from
from applications.models import Application, MailTemplate, Message, Stage, StageChange
from jobsite.days import days_after


def sent_at(stage: Stage, *, at: datetime) -> datetime:
    """Return when the email of `stage` about a move at `at` is sent:
    not before the applicant sees it.
    """
    return max(days_after(at, stage.embargo_days), at + timedelta(hours=stage.email_after_hours))


def templates_of(stage: Stage, people: Iterable[Application]) -> dict[int, MailTemplate | None]:
    """Return the email that each of `people`, by id, gets about a move to `stage`: for a rejection,
    that of the brand if it has one. Requires `with_email_facts()`.
    """
    named: dict[int, int | None] = {}
    for each in people:
        mail = getattr(each.vacancy.brand, "mail", None)
        is_own = mail and stage.kind == Stage.Kind.REJECTED
        named[each.pk] = mail.rejection_id if mail and is_own else None
    own = MailTemplate.objects.in_bulk({pk for pk in named.values() if pk})
    return {each: own.get(pk or 0, stage.email) for each, pk in named.items()}


def already_written(stage: Stage, applications: Collection[int]) -> set[int]:
    """Return those of `applications` that got the email of `stage`, or that it waits for."""
    rows = Message.objects.filter(kind=Message.Kind.STAGE, stage_change__stage=stage)
    return set(rows.filter(application__in=applications).values_list("application", flat=True))


def queue_stage_emails(
    changes: Sequence[StageChange], *, base_url: str, at: datetime
) -> list[Message]:
    """Queue the email of the stage about `changes`, which a recruiter made. Nobody gets it twice.
    Call it under the lock of `move`, after the emails about earlier changes were cancelled.
    """
    by_application = {change.application_id: change for change in changes}
    stage = changes[0].stage if changes else None
    if stage is None:
        return []
    wanted = by_application.keys() - already_written(stage, by_application)
    queued = []
    people = list(Application.objects.filter(pk__in=wanted).with_email_facts().order_by("pk"))
    templates = templates_of(stage, people)
    for application in people:
        template = templates[application.pk]
        if template is None or not application.address:
            continue
        change = by_application[application.pk]
        email = email_from(template, application, language=application.language, base_url=base_url)
        due = sent_at(stage, at=change.at)
        outgoing = email.outgoing(
            kind=Message.Kind.STAGE, author=change.author, stage_change=change
        )
        queued.append(outbox.queue(outgoing, at=due))
    return queued
