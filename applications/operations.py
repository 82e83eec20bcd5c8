"""Applications come in and move through stages; each move is recorded, with who made it and when."""

from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Max

from applications.models import Application, Stage, StageChange
from applications.querysets import ApplicationQuerySet


def receive(*, user: Any, vacancy: Any, at: datetime, is_spontaneous: bool = False) -> Application:
    """Create the application of `user` to `vacancy`, received at the moment `at`, in the first stage."""
    with transaction.atomic():
        application = Application.objects.create(
            user=user, vacancy=vacancy, is_spontaneous=is_spontaneous, created_at=at, updated_at=at
        )
        if first := Stage.objects.first():
            StageChange.objects.create(application=application, stage=first, at=at)
    return application


def move(
    *, applications: ApplicationQuerySet, stage: Stage, author: Any, at: datetime
) -> tuple[list[int], list[int]]:
    """Move `applications` to `stage`; return the ids of those that were, and of those that were there
    already. A change is dated `at`, or like the one before it where that is later: its application may have
    been moved while this call waited for its lock, or by a node whose clock is ahead."""
    with transaction.atomic():
        rows = applications.order_by("pk").select_for_update(of=("self",))
        locked = list(rows.values_list("pk", flat=True))
        # A second statement: a subquery beside FOR UPDATE reads the state from before the wait for the lock.
        current: Any = Application.objects.filter(pk__in=locked).with_stage().order_by("pk")
        changes: list[StageChange] = []
        there: list[int] = []
        for application in current.annotate(last_at=Max("changes__at")):
            if application.stage_id == stage.pk:
                there.append(application.pk)
                continue
            moment = max(at, application.last_at or at)
            changes.append(StageChange(application=application, stage=stage, author=author, at=moment))
        StageChange.objects.bulk_create(changes)
        moved = [change.application_id for change in changes]
        Application.objects.filter(pk__in=moved).update(updated_at=at)
    return moved, there
