"""What Google requires of the page of a job."""

from django.db import models
from django.db.models import (
    Case,
    Exists,
    ExpressionWrapper,
    OuterRef,
    Q,
    Value,
    When,
)
from django.db.models.lookups import Exact
from django.utils.translation import gettext_lazy as _

from jobsite.types import StrOrPromise
from vacancies.choices import PlaceKind, WorkPlace
from vacancies.models import Place, Requisition, Vacancy
from vacancies.querysets import VacancyQuerySet


def has_place(**values: object) -> Q:
    return Q(Exists(Place.objects.filter(vacancy=OuterRef("pk"), **values)))


# What Google requires of a job posting, and when a vacancy lacks it. It always has the others:
# title, name of the employer and, when it is published, start.
_has_no_text = Q(description="", profile="", offer="", company="")
_is_remote = Q(work_place=WorkPlace.REMOTE)
# One subquery for both kinds of places: PostgreSQL cannot turn an OR of two into a join.
LACKS_PLACE = ~has_place(
    kind=Case(
        When(
            Exact(OuterRef("work_place"), Value(WorkPlace.REMOTE)), then=Value(PlaceKind.APPLICANT)
        ),
        default=Value(PlaceKind.SITE),
    )
)
REQUIRED_BY_GOOGLE: dict[str, tuple[StrOrPromise, Q]] = {
    "description": (_("a description"), _has_no_text),
    "place": (_("a place"), ~_is_remote & LACKS_PLACE),
    "remote_country": (_("a country for remote work"), _is_remote & LACKS_PLACE),
}
# Who answers a vacancy for open applications has no particular job in mind: it is no job for a
# search engine.
IS_A_JOB = ~Q(
    Exists(Requisition.objects.filter(vacancy=OuterRef("pk"), is_for_open_applications=True))
)


def with_missing_for_google(vacancies: VacancyQuerySet) -> VacancyQuerySet:
    """Annotate `vacancies` for `missing_for_google`."""
    return vacancies.annotate(
        **{
            f"lacks_{name}": ExpressionWrapper(condition, output_field=models.BooleanField())
            for name, (_text, condition) in REQUIRED_BY_GOOGLE.items()
        }
    )


def missing_for_google(vacancy: Vacancy) -> list[str]:
    """Return the names of the REQUIRED_BY_GOOGLE that `vacancy` lacks. Requires `with_warnings()`
    or `with_missing_for_google()`.
    """
    return [name for name in REQUIRED_BY_GOOGLE if getattr(vacancy, f"lacks_{name}")]
