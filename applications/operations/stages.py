"""Creating applications and moving them between stages. Each move is recorded with author and time,
and cancels the emails about an earlier move that the applicant does not see yet.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Max

from applications.mail.outbox import cancel_unseen
from applications.mail.stage_email import queue_stage_emails
from applications.models import (
    Application,
    Message,
    Reason,
    Stage,
    StageChange,
    without_undone,
)
from applications.operations.interviews import cancel_upcoming
from applications.querysets import ApplicationQuerySet, phone_digits
from vacancies.models import Vacancy


def create_application(
    *, user: User | None, vacancy: Vacancy, at: datetime, **values: object
) -> Application:
    """Create the application of `user` (None: of nobody yet) to `vacancy`, received at `at`, in the
    first stage. `values` are other columns.
    """
    values["phone_digits"] = phone_digits(str(values.get("phone", "")))
    with transaction.atomic(savepoint=False):
        application = Application.objects.create(
            user=user, vacancy=vacancy, created_at=at, updated_at=at, **values
        )
        if first := Stage.objects.first():
            StageChange.objects.create(application=application, stage=first, at=at)
    return application


@dataclass(frozen=True, kw_only=True)
class Move:
    """A move to `stage` at `at`, by `author` (None: by the system or the applicant), for a
    `reason`.
    `reasons`: of an application, by its id, if it has another one.
    `is_known`: the applicants know it already, so it has no embargo. `sends_email`: applicants who
    did not withdraw get the email of the stage, with links below `base_url`. `cancels_interviews`:
    the coming ones are cancelled when the applicant sees the status, those before that at once.
    """

    stage: Stage
    author: User | None
    at: datetime
    reason: Reason | None = None
    reasons: Mapping[int, Reason] = field(default_factory=dict)
    is_known: bool = False
    sends_email: bool = False
    cancels_interviews: bool = False
    base_url: str = ""


@dataclass(frozen=True, kw_only=True)
class Moved:
    """What a move did: the stage `changes`, the `emails` of the stage about them, and the ids of
    the applications that were in the stage already, and that somebody else moved in the meantime.
    """

    changes: Sequence[StageChange]
    emails: Sequence[Message] = ()
    there: Sequence[int] = ()
    elsewhere: Sequence[int] = ()

    @property
    def applications(self) -> list[int]:
        """The ids of those that were moved."""
        return [change.application_id for change in self.changes]


def move(applications: ApplicationQuerySet, wanted: Move) -> Moved:
    """Move `applications`. Moving a withdrawn application reopens it.

    A change has the time of the move, or that of the previous change if it is later: the
    application may have been moved while this call waited for its lock, or by a node whose clock is
    ahead.
    """
    stage, at = wanted.stage, wanted.at
    with transaction.atomic():
        rows = applications.order_by("pk").select_for_update(of=("self",))
        locked = list(rows.values_list("pk", flat=True))
        # A second statement: a subquery in the FOR UPDATE statement reads data from before the
        # wait.
        current = Application.objects.filter(pk__in=locked).with_stage().order_by("pk")
        changes: list[StageChange] = []
        there: list[int] = []
        emails: list[Message] = []
        withdrawn: set[int] = set()
        for application in current.annotate(last_at=Max("changes__at")):
            if application.stage_id == stage.pk:
                there.append(application.pk)
                continue
            changes.append(_change_of(application, wanted))
            if application.withdrawn_at:
                withdrawn.add(application.pk)
        StageChange.objects.bulk_create(changes)
        moved = [change.application_id for change in changes]
        Application.objects.filter(pk__in=moved).update(updated_at=at, withdrawn_at=None)
        cancel_unseen(moved, at=at)
        if wanted.sends_email:
            told = [change for change in changes if change.application_id not in withdrawn]
            emails = queue_stage_emails(told, base_url=wanted.base_url, at=at)
        if wanted.cancels_interviews:
            later = [change for change in changes if change.cancels_interviews]
            seen = min((change.visible_at for change in later), default=None)
            cancel_upcoming(
                moved, author=wanted.author, base_url=wanted.base_url, before=seen, at=at
            )
    return Moved(changes=changes, emails=emails, there=there)


def _change_of(application: Any, wanted: Move) -> StageChange:
    """Return the change of `application`, with its `last_at`, that `wanted` makes; not saved."""
    change = StageChange(
        application=application,
        stage=wanted.stage,
        author=wanted.author,
        at=max(wanted.at, application.last_at or wanted.at),
        reason=wanted.reasons.get(application.pk, wanted.reason),
    )
    change.is_exempt_from_embargo = wanted.is_known
    change.cancels_interviews = wanted.cancels_interviews and change.visible_at > wanted.at
    return change


def move_if_unchanged(seen: dict[int, int | None], wanted: Move) -> Moved:
    """Move the applications `seen`, whose values are the ids of the latest stage change that the
    author knows. Those that somebody else moved in the meantime are not moved.
    """
    with transaction.atomic():
        rows = (
            Application.objects.filter(pk__in=list(seen))
            .order_by("pk")
            .select_for_update(of=("self",))
        )
        locked = list(rows.values_list("pk", flat=True))
        current: Any = (
            Application.objects.filter(pk__in=locked).order_by().with_stage().with_latest_change()
        )
        elsewhere = {
            pk
            for pk, stage_id, change in current.values_list("pk", "stage_id", "change_id")
            if change != seen[pk] and stage_id != wanted.stage.pk
        }
        rest = Application.objects.filter(pk__in=[pk for pk in locked if pk not in elsewhere])
        return replace(move(rest, wanted), elsewhere=sorted(elsewhere))


def current_changes(applications: Collection[int]) -> dict[int, StageChange]:
    """Return the stage change that put each of the `applications` into its current stage."""
    rows = StageChange.objects.filter(application__in=applications).select_related("stage")
    by_application: dict[int, list[StageChange]] = defaultdict(list)
    for change in rows:
        by_application[change.application_id].append(change)
    kept = {pk: without_undone(changes) for pk, changes in by_application.items()}
    return {pk: changes[-1] for pk, changes in kept.items() if changes}


def undo_moves(
    change_ids: Collection[int], *, author: User | None, at: datetime
) -> tuple[list[int], list[int]]:
    """Undo the stage changes `change_ids`: move each application back to its previous stage. Return
    the ids of the applications that were moved back, and of those that were not.

    A change can be undone before the applicant sees it (`visible_at`), as long as it is the latest
    one and not the first one. Applicants see neither the change nor its undoing: the status of the
    previous stage appears when it would have appeared anyway. A change back without an embargo
    would show a rejection early.
    """
    wanted = set(change_ids)
    with transaction.atomic(savepoint=False):
        named = StageChange.objects.filter(pk__in=wanted).order_by().values("application")
        rows = (
            Application.objects.filter(pk__in=named).order_by("pk").select_for_update(of=("self",))
        )
        locked = list(rows.values_list("pk", flat=True))
        changes: dict[int, list[StageChange]] = defaultdict(list)
        for change in StageChange.objects.filter(application__in=locked).select_related("stage"):
            changes[change.application_id].append(change)
        added: list[StageChange] = []
        for pk in locked:
            kept = without_undone(changes[pk])
            if len(kept) > 1 and kept[-1].pk in wanted and kept[-1].visible_at > at:
                undone_at = max(at, changes[pk][-1].at)
                before = {"stage": kept[-2].stage, "reason_id": kept[-2].reason_id}
                added.append(
                    StageChange(
                        application_id=pk, author=author, at=undone_at, is_undo=True, **before
                    )
                )
        StageChange.objects.bulk_create(added)
        undone = [change.application_id for change in added]
        Application.objects.filter(pk__in=undone).update(updated_at=at)
        cancel_unseen(undone, at=at)
    return undone, sorted(set(locked) - set(undone))
