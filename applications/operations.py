"""Applications come in and move through stages; each move is recorded, with who made it and when."""

from datetime import datetime
from typing import Any

from django.db import transaction

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
    already."""
    with transaction.atomic():
        chosen = applications.select_for_update(of=("self",)).with_stage()
        moved: list[int] = []
        there: list[int] = []
        for application in chosen:
            (there if application.stage_id == stage.pk else moved).append(application.pk)
        StageChange.objects.bulk_create(
            StageChange(application_id=pk, stage=stage, author=author, at=at) for pk in moved
        )
        Application.objects.filter(pk__in=moved).update(updated_at=at)
    return moved, there
