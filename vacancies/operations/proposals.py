"""Facts that existing texts state: the places of vacancies, by their locations, their languages,
and the employment types of options, by their labels. What is filled in is not overwritten.
"""

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Count, QuerySet

from jobsite.languages import site_language
from vacancies.choices import WorkPlace
from vacancies.facts.employment_types import employment_type_of
from vacancies.facts.locations import places_of
from vacancies.models import FilterOption, Vacancy, needs_approval
from vacancies.operations.save import Edit, SaveConflictError, save_content

_EMPTY: dict[str, Any] = {"places": [], "language": ""}


@dataclass
class Proposal:
    """The value of a column of the vacancies `pks`.
    Without a value, it is unclear or not recognised.
    """

    column: str  # "places" or "language"
    value: Any
    location: str = ""  # of all these vacancies, if the value is that of their location
    pks: list[int] = field(default_factory=list)
    waiting: int = 0  # vacancies that are left out, because their change needs approval

    def add(self, vacancy: Vacancy, *, at: datetime) -> None:
        if self.value and _is_waiting(vacancy, self.column, at=at):
            self.waiting += 1
        else:
            self.pks.append(vacancy.pk)


@dataclass
class TypeProposal:
    option: FilterOption
    employment_type: str
    used: int  # vacancies that have the option


@dataclass
class Written:
    # By column; "options": of employment types.
    counts: Counter[str] = field(default_factory=Counter)
    skipped: int = 0  # vacancies that changed since the proposal
    failed: list[tuple[int, str]] = field(default_factory=list)  # vacancy and reason

    def __str__(self) -> str:
        return in_words(self.counts) + (
            f"; {self.skipped} vacancies had changed meanwhile" if self.skipped else ""
        )


def in_words(counts: Counter[str]) -> str:
    also = f", languages of {counts['language']}" if counts["language"] else ""
    return (
        f"places of {counts['places']} vacancies{also} and employment types of "
        f"{counts['options']} options"
    )


def propose_places(countries: Collection[str], *, at: datetime) -> list[Proposal]:
    """Return the places of vacancies that have none, neither places of work nor countries for
    remote work, by location, those of most vacancies first. `countries` are those of locations that
    name none.
    """
    columns = "location", "status", "publish_from", "publish_until", "brand__requires_approval"
    found: dict[str, Proposal] = {}
    for vacancy in _without("places").only(*columns).order_by("pk"):
        location = vacancy.location
        if location not in found:
            found[location] = Proposal("places", places_of(location, countries), location)
        found[location].add(vacancy, at=at)
    return sorted(found.values(), key=lambda each: (-len(each.pks), each.location))


def propose_languages(*, at: datetime) -> list[Proposal]:
    """Return the languages of vacancies that state none and whose texts are not in that of the
    site, those of most vacancies first.
    """
    found: dict[str, Proposal] = {}
    for vacancy in _without("language").order_by("pk").iterator(chunk_size=500):
        language = vacancy.recognised_language()
        if language != site_language():
            found.setdefault(language, Proposal("language", language)).add(vacancy, at=at)
    return sorted(found.values(), key=lambda each: (not each.value, -len(each.pks), each.value))


def propose_employment_types() -> list[TypeProposal]:
    """Return the employment types of options without one whose label has one, by filter, those of
    most vacancies first.
    """
    options = FilterOption.objects.filter(employment_type="").select_related("filter")
    rows = options.annotate(used=Count("choices")).order_by("filter__position", "-used", "label")
    found = [TypeProposal(row, employment_type_of(row.label), row.used) for row in rows]
    return [each for each in found if each.employment_type]


def write_values(rows: Iterable[tuple[int, Proposal]], written: Written, *, at: datetime) -> None:
    """Write the values of some vacancies, each by its id, in one transaction, and count them in
    `written`.
    """
    with transaction.atomic():
        for pk, each in rows:
            column, same = each.column, {"location": each.location} if each.location else {}
            vacancy = _without(column).filter(pk=pk, **same).first()
            if vacancy is None or _is_waiting(vacancy, column, at=at):
                written.skipped += 1
                continue
            try:
                save_content(
                    vacancy,
                    Edit({column: each.value}, base={column: _EMPTY[column]}),
                    author=None,
                    at=at,
                )
                written.counts[column] += 1
            except SaveConflictError:
                written.skipped += 1
            except ValidationError as error:
                written.failed.append((pk, " ".join(error.messages)))


def write_employment_types(proposals: Iterable[TypeProposal], written: Written) -> None:
    """Write the employment types of options that still have none, and count them in `written`."""
    with transaction.atomic():
        for each in proposals:
            still = FilterOption.objects.filter(pk=each.option.pk, employment_type="")
            written.counts["options"] += still.update(employment_type=each.employment_type)


def _without(column: str) -> QuerySet[Vacancy]:
    """Return the vacancies without a value that can be proposed:
    with a place of work, if it is places.
    """
    found = Vacancy.objects.select_related("brand")
    if column == "language":
        return found.filter(language="")
    return found.filter(places=None).exclude(location="").exclude(work_place=WorkPlace.REMOTE)


def _is_waiting(vacancy: Vacancy, name: str, *, at: datetime) -> bool:
    return needs_approval(before=vacancy, after=vacancy, changed={name}, at=at)
