"""The vocabularies that classify a vacancy, and the closed lists of its facts."""

from collections.abc import Callable
from functools import cache
from typing import Any

from django.db import models
from django.utils.translation import get_language
from django.utils.translation import gettext_lazy as _

from jobsite.db.folding import fold
from jobsite.text.iso_codes import COUNTRIES, LANGUAGES
from jobsite.text.iso_names import country_name, language_name


class Audience(models.TextChoices):
    PUBLIC = "public", _("Public sites")
    INTERNAL = "internal", _("Internal only")
    BOTH = "both", _("Public sites and internal")


class VacancyStatus(models.TextChoices):
    """The status that a recruiter set. Whether the vacancy is public also depends on the time."""

    DRAFT = "draft", _("Draft")
    PUBLISHED = "published", _("Published")
    UNPUBLISHED = "unpublished", _("Unpublished")
    ARCHIVED = "archived", _("Archived")


class State(models.TextChoices):
    """The status of a vacancy at a given time: `Status` with its publication dates."""

    DRAFT = "draft", _("Draft")
    SCHEDULED = "scheduled", _("Scheduled")
    PUBLISHED = "published", _("Published")
    EXPIRED = "expired", _("Expired")
    UNPUBLISHED = "unpublished", _("Unpublished")
    ARCHIVED = "archived", _("Archived")


class Keyword(models.TextChoices):
    """The nine vocabularies of a vacancy: keys of the API and of `filter[...]`."""

    FUNCTIONGROUP = "functiongroup", "Job category"
    TYPES = "types", "Types"
    CONTRACT_TYPES = "contract_types", "Contract types"
    WORK_REGIMES = "work_regimes", "Work regimes"
    REGIONS = "regions", "Regions"
    JOBCUSTOM1 = "jobcustom1_values", "Custom filter 1"
    JOBCUSTOM2 = "jobcustom2_values", "Custom filter 2"
    JOBCUSTOM3 = "jobcustom3_values", "Custom filter 3"
    JOBCUSTOM4 = "jobcustom4_values", "Custom filter 4"

    @property
    def is_single(self) -> bool:
        """Whether a vacancy has at most one of its options."""
        return self is Keyword.FUNCTIONGROUP


class Fact(models.TextChoices):
    """The facts of a vacancy that `filter[...]` takes and /v1/filters counts, beside the
    vocabularies.
    """

    BRAND = "brand", _("Brand")
    COUNTRY = "country", _("Country")
    WORK_PLACE = "work_place", _("Work place")
    EMPLOYMENT_TYPES = "employment_types", _("Employment type")
    LANGUAGE = "language", _("Language")

    @property
    def filter_id(self) -> int:
        """Its `id` in /v1/filters, after those of the vocabularies."""
        return 101 + list(Fact).index(self)

    def names(self) -> dict[str, str]:
        """Return its values with their names in the active language, in order. Brands are rows:
        {}.
        """
        choices: dict[Fact, Callable[[], list[tuple[str, Any]]]] = {
            Fact.COUNTRY: country_choices,
            Fact.WORK_PLACE: lambda: WorkPlace.choices,
            Fact.EMPLOYMENT_TYPES: lambda: EmploymentType.choices,
            Fact.LANGUAGE: language_choices,
        }
        return {value: str(name) for value, name in choices[self]()} if self in choices else {}


class WorkPlace(models.TextChoices):
    """Where the work is done."""

    ONSITE = "onsite", _("On site")
    HYBRID = "hybrid", _("Hybrid")
    REMOTE = "remote", _("Remote")


class PayPeriod(models.TextChoices):
    """What an amount of pay is for."""

    HOUR = "hour", _("per hour")
    DAY = "day", _("per day")
    WEEK = "week", _("per week")
    MONTH = "month", _("per month")
    YEAR = "year", _("per year")


class EmploymentType(models.TextChoices):
    """The values of `employmentType` of schema.org that search engines read, in the order of the
    API.
    """

    FULL_TIME = "FULL_TIME", _("Full-time")
    PART_TIME = "PART_TIME", _("Part-time")
    CONTRACTOR = "CONTRACTOR", _("Contractor")
    TEMPORARY = "TEMPORARY", _("Temporary")
    INTERN = "INTERN", _("Internship")
    VOLUNTEER = "VOLUNTEER", _("Volunteer")
    PER_DIEM = "PER_DIEM", _("Per day")
    OTHER = "OTHER", _("Other")


class PlaceKind(models.TextChoices):
    """What a place is: where the work is done, or a country in which a remote worker may live."""

    SITE = "site", _("Place of work")
    APPLICANT = "applicant", _("Country for remote work")


PLACES_MAX = 10  # of each kind


def country_choices() -> list[tuple[str, str]]:
    """Return the countries with their names in the active language, in the order of the names."""
    return _by_name(get_language() or "en", country_name, COUNTRIES)


def language_choices() -> list[tuple[str, str]]:
    """Return the languages with their names in the active language, in the order of the names."""
    return _by_name(get_language() or "en", language_name, LANGUAGES)


@cache
def _by_name(
    language: str, name: Callable[[str, str], str], codes: tuple[str, ...]
) -> list[tuple[str, str]]:
    return sorted(((code, name(code, language)) for code in codes), key=lambda pair: fold(pair[1]))
