"""What the page of one application shows beside its form."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import quote

from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.utils.translation import gettext

from applications.models import (
    Application,
    HistoryEntry,
    Message,
    Stage,
    StageChange,
    Submission,
    without_undone,
)
from applications.submissions.answers import Section, answers
from forms_structure.structure import CONSENT
from jobsite.languages import LANGUAGES
from jobsite.text.formats import format_datetime
from jobsite.text.names import person
from vacancies.models import Vacancy

MAX_OTHER_APPLICATIONS = 20  # at most so many other applications of the same person


@dataclass(frozen=True)
class StageLine:
    """A line of the stage history."""

    stage: Stage
    at: str
    author: str  # "" for the system
    reason: str
    is_undo: bool
    is_undone: bool


def submitted(application: Application) -> tuple[Submission | None, list[Section]]:
    """Return the submission of `application` and its answers without the consent, which the page
    shows with its version. Applications that were imported have none.
    """
    rows = Submission.objects.select_related("snapshot", "application__origin__author")
    submission = rows.filter(application=application).first()
    if submission is None:
        return None, []
    sections = [
        Section(section.title, [answer for answer in section.answers if answer.name != CONSENT])
        for section in answers(submission)
    ]
    return submission, [section for section in sections if section.answers]


def contact(application: Application) -> dict[str, object]:
    """Return the address and telephone number of the applicant, with links, and whether the mailbox
    is theirs.
    """
    address, phone = application.address, application.phone
    dialled = re.sub(r"[^0-9+]", "", phone)
    verified_at = application.verified_at
    return {
        "address": address,
        "mailto": f"mailto:{quote(address, safe='@+')}" if address else "",
        "phone": phone,
        "tel": f"tel:{dialled}" if dialled else "",
        "verified": format_datetime(verified_at) if verified_at else "",
        "is_unverified": bool(application.email and not verified_at and not application.user_id),
        "pay": pay_told(application),
        "language": gettext(LANGUAGES.get(application.language, ""))
        if application.language
        else "",
    }


def pay_told(application: Application) -> str:
    """Return when an email told the pay, or that none did, where PAY_TOLD_IN asks for it and the
    vacancy does not state it; else "".
    """
    if not Vacancy.objects.filter(pk=application.vacancy_id).with_pay_to_tell().exists():
        return ""
    told = (
        emails(application)
        .filter(has_pay=True, state=Message.State.SENT)
        .order_by("finished_at")
        .first()
    )
    if told is None or told.finished_at is None:
        return gettext("Not told yet: the law of its country wants it before an interview")
    return gettext("Told on %(at)s") % {"at": format_datetime(told.finished_at)}


def of_person(user: User, application: Application) -> Any:
    """Return the applications of the person of `application` that `user` may see."""
    return Application.objects.visible_to(user).of_person(application)


def other_applications(application: Application, person: Any) -> QuerySet:
    """Return those of `person` beside `application`, the newest first."""
    rows = person.exclude(pk=application.pk).with_stage().select_related("vacancy")
    return rows.newest_first()[:MAX_OTHER_APPLICATIONS]


def stage_history(changes: list[StageChange]) -> list[StageLine]:
    """Return the stage changes of an application, the latest first."""
    in_effect = {change.pk for change in without_undone(changes)}
    return [
        StageLine(
            stage=change.stage,
            at=format_datetime(change.at),
            author=person(change.author) if change.author else "",
            reason=str(change.reason or ""),
            is_undo=change.is_undo,
            is_undone=not change.is_undo and change.pk not in in_effect,
        )
        for change in reversed(changes)
    ]


def undoable(changes: list[StageChange], *, at: datetime) -> StageChange | None:
    """Return the change that `undo` would undo at `at`: the latest one, while the applicant does
    not see it.
    """
    kept = without_undone(changes)
    return kept[-1] if len(kept) > 1 and kept[-1].visible_at > at else None


def statuses(application: Application, *, at: datetime) -> dict[str, object]:
    """Return the status that the applicant sees at `at`, by language, and texts about its scheduled
    changes. Requires `ordered_changes`.
    """
    status = application.visible_status(at=at)
    coming = []
    before = status
    for visible_from in sorted(
        change.visible_at for change in application.ordered_changes if change.visible_at > at
    ):
        after = application.visible_status(at=visible_from)
        if after != before:
            text = gettext("From %(visible_from)s: %(status)s.")
            coming.append(text % {"visible_from": format_datetime(visible_from), "status": after})
        before = after
    labels = (
        {gettext(name): status.label(code) for code, name in LANGUAGES.items()} if status else {}
    )
    return {"labels": labels, "coming": coming}


def steps(entries: Iterable[HistoryEntry]) -> list[str]:
    """Return those of `entries` that the applicant sees."""
    no_result = gettext("no result yet")
    return [
        f"{step.when}: {step.name} ({step.result or no_result})"
        for step in entries
        if step.is_visible and not step.is_cancelled
    ]


def emails(application: Application) -> QuerySet:
    """Return the emails to the applicant, the latest first."""
    to_applicant = Message.objects.filter(application=application, recipient=None)
    rows = to_applicant.select_related("author").prefetch_related("files")
    return rows.order_by("-queued_at", "-pk")
