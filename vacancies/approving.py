"""Submission of vacancies for approval, and their approval (docs/decisions.md #188)."""

from copy import copy
from datetime import datetime
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import QuerySet
from django.utils.dateparse import parse_datetime
from django.utils.translation import gettext as _

from jobsite.db.transactions import dry_run
from vacancies.approval import close, locked_request, request_approval, waiting_request, why_not_decide
from vacancies.history.versions import (
    PUBLICATION,
    Content,
    as_json,
    changed_content,
    content,
    content_at,
    record,
    record_drift,
)
from vacancies.models import Approval, Change, State, Status, Vacancy, Version
from vacancies.models.approval import PUBLIC
from vacancies.operations import BulkResult, apply_content, publish_blockers
from vacancies.querysets import VacancyQuerySet


def submit(
    *,
    vacancies: VacancyQuerySet,
    at: datetime,
    author: Any,
    note: str = "",
    publish_from: datetime | None = None,
    is_preview: bool = False,
) -> BulkResult:
    """Submit vacancies that are not public for approval: to be published at `publish_from`, or as soon as
    they are approved. Only say which, if this is a preview."""
    result = BulkResult()
    rows = vacancies.without_texts().select_related("brand").order_by("pk")
    with transaction.atomic():
        for vacancy in rows if is_preview else rows.select_for_update(of=("self",)):
            if reasons := _why_not_submit(vacancy, publish_from, at=at):
                result.refused[vacancy] = reasons
                continue
            changes: Content = {"status": Status.PUBLISHED.value}
            if publish_from:
                changes |= as_json({"publish_from": publish_from})
            if not is_preview:
                request_approval(vacancy, changes, note=note, at=at, author=author)
            result.done.append(vacancy.pk)
    return result


def _why_not_submit(vacancy: Vacancy, publish_from: datetime | None, *, at: datetime) -> dict[str, str]:
    if not (vacancy.brand and vacancy.brand.requires_approval):
        return {"brand": _("Its brand needs no approval.")}
    if vacancy.state_at(at) in PUBLIC:
        return {"status": _("It is already published or scheduled.")}
    if waiting_request(vacancy):
        return {"status": _("It already waits for approval.")}
    if publish_from and publish_from <= at:
        return {"publish_from": _("This time has passed. Leave it empty to publish after the approval.")}
    wanted = copy(vacancy)
    wanted.status, wanted.publish_from = Status.PUBLISHED, publish_from or at
    return publish_blockers(vacancy=wanted, at=at)


def submit_restore(version: Version, *, author: Any, at: datetime, forms: QuerySet | None = None) -> Approval:
    """Submit the content of the vacancy after `version` for approval. The vacancy is public."""
    with transaction.atomic():
        vacancy = Vacancy.objects.select_for_update().get(pk=version.vacancy_id)
        before = content(vacancy)
        with dry_run(True):
            apply_content(vacancy, content_at(version), at=at, forms=forms)
            after = content(vacancy)
        changes = changed_content(before, after)
        if not changes:
            raise ValidationError(_("The vacancy already has this content."))
        return request_approval(vacancy, changes, at=at, author=author)


def approve(
    *, vacancy: Vacancy, seen: str, note: str = "", at: datetime, author: Any
) -> tuple[Approval, list[str]]:
    """Approve the waiting request of `vacancy`: apply its changes and publish. Return the request, and the
    names of related rows that no longer exist.

    `seen` is the `fingerprint` of what the approver saw. Raises ValidationError if that has changed, if
    `author` may not decide, or if the vacancy cannot be published.
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
        record_drift(vacancy, at=at)
        was_public = vacancy.state_at(at) in PUBLIC
        changes = with_start(approval.changes, vacancy, at=at)
        vacancy.updated_at = at
        missing = apply_content(vacancy, changes, at=at, excluded=())
        kinds = {State.PUBLISHED: Change.PUBLISHED, State.SCHEDULED: Change.SCHEDULED}
        change = Change.CHANGED if was_public else kinds.get(vacancy.state_at(at), Change.CHANGED)
        record(vacancy, change, author=author, at=at)
        return close(approval, Approval.Outcome.APPROVED, author=author, at=at, note=note), missing


def fingerprint(vacancy: Vacancy, approval: Approval) -> str:
    """Return a text that changes with the vacancy and with its request."""
    return f"{approval.pk} {vacancy.updated_at.isoformat()}"


def with_start(changes: Content, vacancy: Vacancy, *, at: datetime) -> Content:
    """Return the `changes` with the time when the vacancy goes live if they are approved at `at`: the chosen
    time, unless it has passed. As in `operations.publish`, a vacancy that was public before keeps its time.
    """
    if vacancy.state_at(at) in PUBLIC or not set(PUBLICATION) & set(changes):
        return changes
    at = at.replace(microsecond=0)
    if chosen := changes.get("publish_from"):
        start = max(parse_datetime(chosen) or at, at)
    else:
        start = min(vacancy.publish_from or at, at)
    return changes | as_json({"publish_from": start})
