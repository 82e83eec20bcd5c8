"""Requests for approval: who submits, sends back and withdraws them. `approval_decisions` approves
them.

Every function locks the vacancy first, so that a vacancy has one waiting request and one decision
about it.
"""

from collections.abc import Collection, Mapping
from datetime import datetime

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Max, OuterRef, Subquery
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from jobsite.text.names import person
from vacancies.history.versions import PUBLICATION, Content, changed_content
from vacancies.models import APPROVE, Approval, Change, Vacancy, Version
from vacancies.models.approval import FREE_FIELDS
from vacancies.operations.texts import crossing_requests, unit

SUBMITTED = gettext_lazy(
    "Submitted for approval. Nothing changes in public before a colleague approves it."
)
Overrides = Collection[tuple[int | None, str]]  # the ids of waiting requests, and fields
TEXT_CHANGES = (Change.CREATED, Change.CHANGED, Change.RESTORED, Change.DUPLICATED)


class SaveConflictError(Exception):
    """Somebody else changed the same fields, and to other values. Nothing was saved."""

    def __init__(self, fields: list[str]) -> None:
        super().__init__(", ".join(fields))
        self.fields = fields


class RequestConflictError(SaveConflictError, ValidationError):
    """Colleagues, by field, asked for other values in the request that waits for approval."""

    def __init__(self, waiting: Approval, fields: Mapping[str, User | None]) -> None:
        text = _("%(person)s submitted another value for approval. Open the vacancy to choose.")
        people = {name: person(user) if user else _("A colleague") for name, user in fields.items()}
        ValidationError.__init__(
            self, {name: text % {"person": each} for name, each in people.items()}
        )
        self.waiting, self.fields, self.people = (
            waiting,
            list(fields),
            ", ".join(set(people.values())),
        )


def needed_reason() -> str:
    return _("The brand publishes with approval only. Submit the vacancy for approval.")


def waiting_request(vacancy: Vacancy) -> Approval | None:
    """Return the request of `vacancy` that waits for a decision, also if its brand needs none any
    more.
    """
    return (
        Approval.objects.waiting().filter(vacancy=vacancy.pk).select_related("submitted_by").first()
    )


def request_approval(
    vacancy: Vacancy,
    changes: Mapping[str, object],
    *,
    note: str = "",
    at: datetime,
    author: User | None,
    overrides: Overrides = (),
) -> Approval:
    """Store a request for `changes` of `vacancy`, in the format of Version.content. An earlier
    request that waits is replaced, and its changes become part of the new one; an equal one is
    returned. Raises RequestConflictError if colleagues asked for other values, which are not in
    `overrides`.
    """
    with transaction.atomic():
        Vacancy.objects.select_for_update().only("pk").get(pk=vacancy.pk)
        merged: Content = dict(changes)
        if earlier := waiting_request(vacancy):
            check_conflicts(earlier, merged, author, overrides)
            crossing = crossing_requests(earlier.changes, merged)
            kept = {name: each for name, each in earlier.changes.items() if name not in crossing}
            merged, note = kept | merged, note or earlier.note
            if note == earlier.note and not changed_content(earlier.changes, merged):
                return earlier
            close(earlier, Approval.Outcome.REPLACED, author=author, at=at)
        return Approval.objects.create(
            vacancy=vacancy,
            brand_id=vacancy.brand_id,
            changes=merged,
            note=note,
            submitted_by=author,
            submitted_at=at,
        )


def check_conflicts(
    waiting: Approval, changes: Content, author: User | None, seen: Overrides = ()
) -> None:
    """Raise RequestConflictError if `changes` differ from what a colleague of `author` asks for."""
    changed = {*changed_content(waiting.changes, changes)}
    changed |= crossing_requests(waiting.changes, changes) if changed & {*unit()} else set()
    people = {
        name: user
        for name, user in authors_of(waiting).items()
        if name in changed and user != author
    }
    if fields := {name: user for name, user in people.items() if (waiting.pk, name) not in seen}:
        raise RequestConflictError(waiting, fields)


def requests_of(approval: Approval) -> list[Approval]:
    """Return the requests that `approval` contains:
    those that it replaced, in order, and itself.
    """
    earlier = Approval.objects.filter(vacancy=approval.vacancy_id, pk__lt=approval.pk)
    decided = earlier.exclude(outcome=Approval.Outcome.REPLACED).aggregate(pk=Max("pk"))["pk"] or 0
    return [*earlier.filter(pk__gt=decided).select_related("submitted_by").order_by("pk"), approval]


def authors_of(approval: Approval) -> dict[str, User | None]:
    """Return who asked for each change of `approval`."""
    found: dict[str, User | None] = {}
    before: Content = {}
    for each in requests_of(approval):
        found |= dict.fromkeys(changed_content(before, each.changes), each.submitted_by)
        before = each.changes
    return found


def names_of_authors(approval: Approval) -> str:
    people = dict.fromkeys([*authors_of(approval).values(), approval.submitted_by])
    return ", ".join(person(each) if each else _("a former user") for each in people)


def approved_unchanged(pks: Collection[int]) -> set[int]:
    """Return those of the vacancies `pks` that were approved, and whose text has not changed since
    then.
    """
    approvals = Approval.objects.filter(outcome=Approval.Outcome.APPROVED)
    latest = (
        approvals.filter(vacancy=OuterRef("vacancy"))
        .order_by("-decided_at")
        .values("decided_at")[:1]
    )
    later = Version.objects.filter(vacancy__in=pks, created_at__gt=Subquery(latest))
    later = later.exclude(change=Change.DELETED).order_by()  # that has the whole content
    free = FREE_FIELDS.union(PUBLICATION)
    changed = {
        pk for pk, values in later.values_list("vacancy", "content") if not free.issuperset(values)
    }
    return set(approvals.filter(vacancy__in=pks).values_list("vacancy", flat=True)) - changed


def send_back(*, vacancy: Vacancy, note: str, at: datetime, author: User) -> Approval:
    """Send the request of `vacancy` back with a note.
    Raises ValidationError if `author` may not decide.
    """
    if not note.strip():
        raise ValidationError(_("Write what has to change."))
    with transaction.atomic():
        approval = locked_request(vacancy)
        if reason := why_not_decide(approval, author):
            raise ValidationError(reason)
        return close(approval, Approval.Outcome.SENT_BACK, author=author, at=at, note=note)


def withdraw_request(*, vacancy: Vacancy, at: datetime, author: User) -> Approval:
    """Withdraw the request of `vacancy`. The vacancy does not change; the request is kept."""
    with transaction.atomic():
        return close(locked_request(vacancy), Approval.Outcome.WITHDRAWN, author=author, at=at)


def locked_request(vacancy: Vacancy) -> Approval:
    """Lock `vacancy` and return its waiting request.
    Raises ValidationError if there is none any more.
    """
    Vacancy.objects.select_for_update().only("pk").filter(pk=vacancy.pk).first()
    approval = waiting_request(vacancy)
    if approval is None:
        raise ValidationError(
            _("Somebody else has decided in the meantime, or the request was withdrawn.")
        )
    return approval


def why_not_decide(approval: Approval, user: User) -> str:
    """Return why `user` may not decide about `approval`; "" if they may. Four eyes: neither who
    submitted it, or an earlier request that it contains, nor who changed the texts since then.
    """
    if not user.has_perm(APPROVE):
        return _("You do not have the permission to approve.")
    if any(each.submitted_by == user for each in requests_of(approval)):
        return _("You submitted this request. Another person has to approve it.")
    changed = Version.objects.filter(
        vacancy=approval.vacancy_id,
        author=user,
        change__in=TEXT_CHANGES,
        created_at__gte=approval.submitted_at,
    )
    if changed.exists():
        return _(
            "You changed the vacancy after it was submitted. Another person has to approve it."
        )
    return ""


def close(
    approval: Approval,
    outcome: Approval.Outcome,
    *,
    author: User | None,
    at: datetime,
    note: str = "",
) -> Approval:
    approval.outcome, approval.decided_by, approval.decided_at = outcome, author, at
    approval.decision_note = note
    approval.save(update_fields=["outcome", "decided_by", "decided_at", "decision_note"])
    return approval
