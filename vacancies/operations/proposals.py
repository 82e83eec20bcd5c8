"""Facts that existing texts state: the places of vacancies, by their locations, their languages, and the
employment types of options, by their labels. What is filled in is not overwritten."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from datetime import datetime

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Count, QuerySet

from jobsite.languages import site_language
from jobsite.types import JsonObject
from vacancies.choices import WorkPlace
from vacancies.employment_types import employment_type_of
from vacancies.history.versions import Content
from vacancies.locations import places_of
from vacancies.models import FilterOption, Vacancy, needs_approval
from vacancies.operations.save import ConflictError, save_content


@dataclass
class PlaceProposal:
    """The places of the vacancies `pks`, which have the same location. Without `places`, it is unclear."""

    location: str
    places: list[JsonObject]
    pks: list[int] = field(default_factory=list)
    waiting: int = 0  # vacancies that are left out, because their change needs approval


@dataclass
class LanguageProposal:
    """The language of the texts of the vacancies `pks`, which state none. "": it is not recognised."""

    language: str
    pks: list[int] = field(default_factory=list)
    waiting: int = 0  # as of places


@dataclass
class TypeProposal:
    option: FilterOption
    employment_type: str
    used: int  # vacancies that have the option


@dataclass
class Written:
    vacancies: int = 0
    languages: int = 0
    options: int = 0
    skipped: int = 0  # vacancies that changed since the proposal
    failed: list[tuple[int, str]] = field(default_factory=list)  # vacancy and reason

    def __str__(self) -> str:
        text = in_words(self.vacancies, self.languages, self.options)
        return text + (f"; {self.skipped} vacancies had changed meanwhile" if self.skipped else "")


def in_words(places: int, languages: int, options: int) -> str:
    also = f", languages of {languages}" if languages else ""
    return f"places of {places} vacancies{also} and employment types of {options} options"


def propose_places(countries: Collection[str], *, at: datetime) -> list[PlaceProposal]:
    """Return the places of vacancies that have none, neither places of work nor countries for remote work, by
    location, those of most vacancies first. `countries` are those of locations that name none."""
    vacancies = _without_places().only(
        "location", "status", "publish_from", "publish_until", "brand__requires_approval"
    )
    found: dict[str, PlaceProposal] = {}
    for vacancy in vacancies.order_by("pk"):
        location = vacancy.location
        if location not in found:
            found[location] = PlaceProposal(location, places_of(location, countries))
        if _is_waiting(vacancy, "places", at=at):
            found[location].waiting += 1
        else:
            found[location].pks.append(vacancy.pk)
    return sorted(found.values(), key=lambda each: (-len(each.pks), each.location))


def propose_languages(*, at: datetime) -> list[LanguageProposal]:
    """Return the languages of vacancies that state none and whose texts are not in that of the site, those of
    most vacancies first."""
    found: dict[str, LanguageProposal] = {}
    for vacancy in _without_language().order_by("pk").iterator(chunk_size=500):
        language = vacancy.recognised_language()
        if language == site_language():
            continue
        proposal = found.setdefault(language, LanguageProposal(language))
        if language and _is_waiting(vacancy, "language", at=at):
            proposal.waiting += 1
        else:
            proposal.pks.append(vacancy.pk)
    return sorted(found.values(), key=lambda each: (not each.language, -len(each.pks), each.language))


def propose_employment_types() -> list[TypeProposal]:
    """Return the employment types of options without one whose label has one, by filter, those of most
    vacancies first."""
    options = FilterOption.objects.filter(employment_type="").select_related("filter")
    rows = options.annotate(used=Count("choices")).order_by("filter__position", "-used", "label")
    found = [TypeProposal(row, employment_type_of(row.label), row.used) for row in rows]
    return [each for each in found if each.employment_type]


def write_places(rows: Iterable[tuple[int, PlaceProposal]], written: Written, *, at: datetime) -> None:
    """Write the places of some vacancies, each by its id, in one transaction, and count them in `written`."""
    proposals = dict(rows)
    with transaction.atomic():
        for pk, vacancy in _still(_without_places(), proposals, written):
            if vacancy.location != proposals[pk].location:
                written.skipped += 1
            elif _save(vacancy, {"places": proposals[pk].places}, {"places": []}, written, at=at):
                written.vacancies += 1


def write_languages(rows: Iterable[tuple[int, str]], written: Written, *, at: datetime) -> None:
    """Write the languages of some vacancies, each by its id, in one transaction, and count them."""
    languages = dict(rows)
    with transaction.atomic():
        for pk, vacancy in _still(_without_language(), languages, written):
            if _save(vacancy, {"language": languages[pk]}, {"language": ""}, written, at=at):
                written.languages += 1


def _still(
    vacancies: QuerySet[Vacancy], wanted: Collection[int], written: Written
) -> Iterable[tuple[int, Vacancy]]:
    """Return those of `vacancies` that are still to be written, by id, and count the others as skipped."""
    found = vacancies.in_bulk(wanted)
    written.skipped += len(wanted) - len(found)
    return sorted(found.items())


def _save(vacancy: Vacancy, values: Content, base: Content, written: Written, *, at: datetime) -> bool:
    """Save the `values` of one column and return whether it was done. `base`: the values before."""
    [name] = values
    if _is_waiting(vacancy, name, at=at):
        written.skipped += 1
        return False
    try:
        save_content(vacancy, values, base=base, author=None, at=at)
    except ConflictError:
        written.skipped += 1
        return False
    except ValidationError as error:
        written.failed.append((vacancy.pk, " ".join(error.messages)))
        return False
    return True


def write_employment_types(proposals: Iterable[TypeProposal], written: Written) -> None:
    """Write the employment types of options that still have none, and count them in `written`."""
    with transaction.atomic():
        for each in proposals:
            still = FilterOption.objects.filter(pk=each.option.pk, employment_type="")
            written.options += still.update(employment_type=each.employment_type)


def _without_places() -> QuerySet[Vacancy]:
    vacancies = Vacancy.objects.filter(places=None).exclude(location="").exclude(work_place=WorkPlace.REMOTE)
    return vacancies.select_related("brand")


def _without_language() -> QuerySet[Vacancy]:
    return Vacancy.objects.filter(language="").select_related("brand")


def _is_waiting(vacancy: Vacancy, name: str, *, at: datetime) -> bool:
    return needs_approval(before=vacancy, after=vacancy, changed={name}, at=at)
