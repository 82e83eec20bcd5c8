"""An application as other systems see it: what the applicant sent and sees, not what recruiters
think of it.
"""

from collections.abc import Callable, Collection, Iterable
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


def sent(brand: Brand | None, pks: Collection[int], *, now: datetime) -> QuerySet[Application]:
    """Return those of the applications `pks` that systems of `brand` may read."""
    return permitted(pks, now=now).filter(vacancy__brand=brand)


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


def with_parts(rows: QuerySet[Application]) -> QuerySet[Application]:
    changes = StageChange.objects.select_related("stage__status").order_by("at", "pk")
    interviews = Interview.objects.filter(is_cancelled=False).order_by("planned_at", "pk")
    parts: list[Any] = [  # Application declares the first attribute, which mypy takes for another
        Prefetch("changes", changes, to_attr="ordered_changes"),
        Prefetch("history", interviews, to_attr="held_interviews"),
        "submission__files",
    ]
    found = rows.select_related("user", "vacancy", "submission__snapshot")
    return found.prefetch_related(*parts)


def stage_of(application: Application) -> Stage | None:
    """Return the current stage. Requires `with_parts`."""
    changes = without_undone(application.ordered_changes)
    return changes[-1].stage if changes else None


def kind_of(application: Application) -> str | None:
    """Return the kind of the current stage. Requires `with_parts`."""
    stage = stage_of(application)
    return stage.kind if stage else None


def item_of(request: HttpRequest, slug: str, application: Any, *, now: datetime) -> JsonObject:
    time: Any = serializers.DateTimeField().to_representation
    stage, status = stage_of(application), application.visible_status(at=now)
    submission = getattr(application, "submission", None)
    is_withdrawn = application.withdrawn_at is not None
    shown = submission if not is_withdrawn else None
    return {
        "id": application.pk,
        "reference": application.reference,
        "vacancy": {
            "id": application.vacancy_id,
            "reference": application.vacancy.reference or None,
        },
        "received_at": time(application.created_at),
        "withdrawn_at": time(application.withdrawn_at) if is_withdrawn else None,
        "language": application.language,
        "names": _names(application),
        "email": application.address or None,
        "phone": application.phone or None,
        "stage": {"name": stage.name, "kind": stage.kind} if stage else None,
        "status": status.label(application.language) if status else None,
        "answers": _answers(application, shown) if shown else [],
        "consent": _consent(submission, time) if submission else None,
        "source": (submission.source or None) if submission else None,
        "interviews": [
            {
                "name": each.name,
                "start": time(each.planned_at),
                "end": time(each.ends_at) if each.ends_at else None,
            }
            for each in application.held_interviews
        ],
        "files": _files(request, slug, application, shown.files.all()) if shown else [],
    }


def _names(application: Application) -> JsonObject:
    user = application.user
    first, last = (user.first_name, user.last_name) if user else ("", "")
    return {
        "given": application.given_name or first or None,
        "family": application.family_name or last or None,
    }


def _consent(submission: Any, time: Callable[[datetime], str]) -> JsonObject:
    return {
        "text": submission.consent_text,
        "version": submission.consent_version,
        "time": time(submission.consented_at),
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
