"""Applications come in and move through stages; each move is recorded, with who made it and when."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import OuterRef, Subquery

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
) -> tuple[int, list[Application]]:
    """Move `applications` to `stage`; return how many were, and those that were there already."""
    latest = StageChange.objects.filter(application=OuterRef("pk")).order_by("-at", "-pk").values("stage")
    with transaction.atomic():
        chosen = applications.select_for_update(of=("self",)).annotate(now_at=Subquery(latest[:1]))
        there: list[Application] = []
        moved: list[int] = []
        for application in chosen:
            if application.now_at == stage.pk:
                there.append(application)
            else:
                moved.append(application.pk)
        _record(moved, stage, author, at)
    return len(moved), there


def _record(pks: Iterable[int], stage: Stage, author: Any, at: datetime) -> None:
    StageChange.objects.bulk_create(
        StageChange(application_id=pk, stage=stage, author=author, at=at) for pk in pks
    )
    Application.objects.filter(pk__in=list(pks)).update(updated_at=at)
