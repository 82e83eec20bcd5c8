"""An application as other systems see it: what the applicant sent and sees, not what recruiters
think of it.
"""

from collections.abc import Collection, Iterable
from datetime import datetime
from typing import Any

from django.db.models import Prefetch, QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils import translation
from rest_framework import serializers

from applications.models import (
    Application,
    ConsentRequest,
    Interview,
    Stage,
    StageChange,
    SubmissionFile,
    without_undone,
)
from applications.privacy.retention import not_permitted
from applications.submissions.answers import answers
from applications.submissions.files import download_name
from jobsite.api.absolute_urls import absolute
from jobsite.types import JsonObject
from vacancies.models import Brand


def permitted(pks: Collection[int], *, now: datetime) -> QuerySet[Application]:
    """Return those of the applications `pks` that systems of their brand may read: not those whose
    applicant has yet to agree, or did not.
    """
    waiting = ConsentRequest.objects.filter(
        purpose=ConsentRequest.Purpose.APPLICATION, answer="", application__in=pks
    )
    refused = not_permitted(now).filter(pk__in=pks)
    rows = Application.objects.filter(pk__in=pks)
    return rows.exclude(pk__in=waiting.values("application")).exclude(pk__in=refused.values("pk"))


def readable(brand: Brand | None, pks: Collection[int], *, now: datetime) -> QuerySet[Application]:
    """Return those of the applications `pks` that systems of `brand` may read, for `item_of`."""
    changes = StageChange.objects.select_related("stage__status").order_by("at", "pk")
    interviews = Interview.objects.filter(is_cancelled=False).order_by("planned_at", "pk")
    parts: list[Any] = [  # Application declares the first attribute, which mypy takes for another
        Prefetch("changes", changes, to_attr="ordered_changes"),
        Prefetch("history", interviews, to_attr="held_interviews"),
        "submission__files",
    ]
    rows = permitted(pks, now=now).filter(vacancy__brand=brand)
    rows = rows.select_related("user", "vacancy", "submission__snapshot")
    return rows.prefetch_related(*parts)


def stage_of(application: Application) -> Stage | None:
    """Return the current stage. Requires `readable`."""
    changes = without_undone(application.ordered_changes)
    return changes[-1].stage if changes else None


def item_of(request: HttpRequest, slug: str, application: Any, *, now: datetime) -> JsonObject:
    time: Any = serializers.DateTimeField().to_representation
    stage, status = stage_of(application), application.visible_status(at=now)
    submission = getattr(application, "submission", None)
    user, withdrawn_at = application.user, application.withdrawn_at
    shown = None if withdrawn_at else submission
    return {
        "id": application.pk,
        "reference": application.reference,
        "vacancy": {
            "id": application.vacancy_id,
            "reference": application.vacancy.reference or None,
        },
        "received_at": time(application.created_at),
        "withdrawn_at": withdrawn_at and time(withdrawn_at),
        "language": application.language,
        "names": {
            "given": application.given_name or (user and user.first_name) or None,
            "family": application.family_name or (user and user.last_name) or None,
        },
        "email": application.address or None,
        "phone": application.phone or None,
        "stage": {"name": stage.name, "kind": stage.kind} if stage else None,
        "status": status.label(application.language) if status else None,
        "answers": _answers(application, shown) if shown else [],
        "consent": submission
        and {
            "text": submission.consent_text,
            "version": submission.consent_version,
            "time": time(submission.consented_at),
        },
        "source": (submission and submission.source) or None,
        "interviews": [
            {
                "name": each.name,
                "start": time(each.planned_at),
                "end": each.ends_at and time(each.ends_at),
            }
            for each in application.held_interviews
        ],
        "files": _files(request, slug, application, shown.files.all()) if shown else [],
    }


def _answers(application: Application, submission: Any) -> list[JsonObject]:
    with translation.override(application.language):
        return [
            {"field": each.name, "label": each.label, "values": list(each.values)}
            for section in answers(submission)
            for each in section.answers
        ]


def _files(
    request: HttpRequest, slug: str, application: Application, files: Iterable[SubmissionFile]
) -> list[JsonObject]:
    return [
        {
            "name": download_name(each),
            "size": each.size,
            "kind": each.kind,
            "scan": each.scan_state,
            "address": absolute(
                request, reverse("manage:application-file", args=[slug, application.pk, number])
            ),
        }
        for number, each in enumerate(files, start=1)
    ]
