"""Submission of vacancies for approval, and their approval (docs/decisions.md #188)."""

from copy import copy
from datetime import datetime

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils.dateparse import parse_datetime
from django.utils.translation import gettext as _

from jobsite.languages import text_languages
from vacancies.choices import State, VacancyStatus
from vacancies.history.versions import PUBLICATION, Content, as_json, read_content, replay
from vacancies.models import Approval, Change, Vacancy, Version
from vacancies.models.approval import PUBLIC
from vacancies.operations.approval_requests import (
    close,
    locked_request,
    request_approval,
    waiting_request,
    why_not_decide,
)
from vacancies.operations.blockers import publish_blockers
from vacancies.operations.publication import BulkResult
from vacancies.operations.save import Edit, save_content, set_values
from vacancies.operations.texts import crossing_texts
from vacancies.querysets import VacancyQuerySet


def submit_for_approval(
    *,
    vacancies: VacancyQuerySet,
    at: datetime,
    author: User | None,
    note: str = "",
    publish_from: datetime | None = None,
    is_preview: bool = False,
) -> BulkResult:
    """Submit vacancies that are not public for approval: to be published at `publish_from`, or as
    soon as they are approved. Only say which, if this is a preview.
    """
    result = BulkResult()
    rows = vacancies.without_texts().select_related("brand").order_by("pk")
    with transaction.atomic():
        for vacancy in rows if is_preview else rows.select_for_update(of=("self",)):
            if reasons := _why_not_submit(vacancy, publish_from, at=at):
                result.refused[vacancy] = reasons
                continue
            changes: Content = {"status": VacancyStatus.PUBLISHED.value}
            if publish_from:
                changes |= as_json({"publish_from": publish_from})
            if not is_preview:
                request_approval(vacancy, changes, note=note, at=at, author=author)
            result.done.append(vacancy.pk)
    return result


def _why_not_submit(
    vacancy: Vacancy, publish_from: datetime | None, *, at: datetime
) -> dict[str, str]:
    if not (vacancy.brand and vacancy.brand.requires_approval):
        return {"brand": _("Its brand needs no approval.")}
    if vacancy.state_at(at) in PUBLIC:
        return {"status": _("It is already published or scheduled.")}
    if waiting_request(vacancy):
        return {"status": _("It already waits for approval.")}
    if publish_from and publish_from <= at:
        return {
            "publish_from": _("This time has passed. Leave it empty to publish after the approval.")
        }
    wanted = copy(vacancy)
    wanted.status, wanted.publish_from = VacancyStatus.PUBLISHED, publish_from or at
    return publish_blockers(vacancy=wanted, at=at)


def approve(
    *, vacancy: Vacancy, seen: str, note: str = "", at: datetime, author: User
) -> tuple[Approval, list[str]]:
    """Approve the waiting request of `vacancy`: apply its changes and publish. Return the request,
    and the names of related rows that no longer exist.

    `seen` is the `fingerprint` of what the approver saw. Raises ValidationError if that has
    changed, if `author` may not decide, or if the vacancy cannot be published.
    """
    with transaction.atomic():
        approval = locked_request(vacancy)
        vacancy = Vacancy.objects.select_for_update().get(pk=vacancy.pk)
        if reason := why_not_decide(approval, author):
            raise ValidationError(reason)
        if seen != fingerprint(vacancy, approval):
            raise ValidationError(
                _("The vacancy or the request changed after you opened this page. Read it again.")
            )
        versions = Version.objects.filter(vacancy=vacancy.pk, created_at__lte=approval.submitted_at)
        base = replay(versions) if text_languages() else {}
        if crossing_texts(base, base | approval.changes, read_content(vacancy) if base else {}):
            raise ValidationError(
                _("The languages of the texts were exchanged after the request. Send it back.")
            )
        changes = with_start(approval.changes, vacancy, at=at)
        saved = save_content(
            vacancy,
            Edit(changes, is_approved=True, skips_missing=True),
            author=author,
            at=at,
            change=_kind(vacancy, changes, at=at),
        )
        closed = close(approval, Approval.Outcome.APPROVED, author=author, at=at, note=note)
        return closed, saved.plan.missing


def _kind(vacancy: Vacancy, changes: Content, *, at: datetime) -> Change:
    """Return the kind of the version that `changes` of `vacancy` make."""
    after = copy(vacancy)
    set_values(after, {name: changes[name] for name in PUBLICATION if name in changes})
    if vacancy.state_at(at) in PUBLIC:
        return Change.CHANGED
    kinds = {State.PUBLISHED: Change.PUBLISHED, State.SCHEDULED: Change.SCHEDULED}
    return kinds.get(after.state_at(at), Change.CHANGED)


def fingerprint(vacancy: Vacancy, approval: Approval) -> str:
    """Return a text that changes with the vacancy and with its request."""
    return f"{approval.pk} {vacancy.updated_at.isoformat()}"


def with_start(changes: Content, vacancy: Vacancy, *, at: datetime) -> Content:
    """Return the `changes` with the time when the vacancy goes live if they are approved at `at`:
    the chosen time, unless it has passed. As in `publication.publish`, a vacancy that was public
    before keeps its time.
    """
    if vacancy.state_at(at) in PUBLIC or not set(PUBLICATION) & set(changes):
        return changes
    at = at.replace(microsecond=0)
    if chosen := changes.get("publish_from"):
        start = max(parse_datetime(chosen) or at, at)
    else:
        start = min(vacancy.publish_from or at, at)
    return changes | as_json({"publish_from": start})
