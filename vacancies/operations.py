"""Publication: what it takes, and what is in the way."""

from datetime import date, datetime, time, timedelta

from django.db import transaction
from django.db.models import Case, Q, Value, When
from django.db.models.functions import Coalesce
from django.utils import timezone

from vacancies.models import State, Status, Vacancy
from vacancies.querysets import VacancyQuerySet


def end_of_day(day: date) -> datetime:
    """The start of the next day in the site's time zone (docs/decisions.md #1)."""
    return datetime.combine(day + timedelta(days=1), time.min, timezone.get_default_timezone())


def obstacles(*, vacancy: Vacancy, at: datetime) -> dict[str, str]:
    """Why `vacancy` cannot go out at the moment `at`, by field; empty when nothing is in the way."""
    found = vacancy.missing_to_publish()
    if vacancy.publish_until and vacancy.publish_until <= at:
        found["publish_until"] = "Its last day has passed: choose a later one, or leave it empty."
    return found


def publish(*, vacancies: VacancyQuerySet, at: datetime) -> tuple[int, dict[Vacancy, dict[str, str]]]:
    """Publish at the moment `at`; return how many were, and by field why the others were not.

    One that appeared before keeps its first moment, so that going offline for a day does not bring
    it back to the top of every list; a planned or missing moment becomes `at`.
    """
    at = at.replace(microsecond=0)  # a recruiter's moment is whole seconds: see imports.Importer.keep_order
    ready, refused = [], {}
    with transaction.atomic():
        for vacancy in vacancies.select_for_update(of=("self",)):
            if vacancy.state_at(at) == State.PUBLISHED:
                refused[vacancy] = {"status": "It is published already."}
            elif reasons := obstacles(vacancy=vacancy, at=at):
                refused[vacancy] = reasons
            else:
                ready.append(vacancy.pk)
        Vacancy.objects.filter(pk__in=ready).update(
            status=Status.PUBLISHED,
            publish_from=Case(
                When(Q(publish_from__gt=at), then=Value(at)), default=Coalesce("publish_from", at)
            ),
            updated_at=at,
        )
    return len(ready), refused
