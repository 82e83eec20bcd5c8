"""Facts that existing texts state: the places of vacancies, by their locations, and the employment types of
options, by their labels. What is filled in is not overwritten."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from datetime import datetime

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Count, QuerySet

from jobsite.types import JsonObject
from vacancies.choices import WorkPlace
from vacancies.employment_types import employment_type_of
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
class TypeProposal:
    option: FilterOption
    employment_type: str
    used: int  # vacancies that have the option


@dataclass
class Written:
    vacancies: int = 0
    options: int = 0
    skipped: int = 0  # vacancies that changed since the proposal
    failed: list[tuple[int, str]] = field(default_factory=list)  # vacancy and reason

    def __str__(self) -> str:
        text = f"places of {self.vacancies} vacancies and employment types of {self.options} options"
        return text + (f"; {self.skipped} vacancies had changed meanwhile" if self.skipped else "")


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
        if _is_waiting(vacancy, at=at):
            found[location].waiting += 1
        else:
            found[location].pks.append(vacancy.pk)
    return sorted(found.values(), key=lambda each: (-len(each.pks), each.location))


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
        vacancies = _without_places().in_bulk(proposals)
        for pk, proposal in sorted(proposals.items()):
            vacancy = vacancies.get(pk)
            if not vacancy or vacancy.location != proposal.location or _is_waiting(vacancy, at=at):
                written.skipped += 1
                continue
            try:
                save_content(vacancy, {"places": proposal.places}, base={"places": []}, author=None, at=at)
                written.vacancies += 1
            except ConflictError:
                written.skipped += 1
            except ValidationError as error:
                written.failed.append((pk, " ".join(error.messages)))


def write_employment_types(proposals: Iterable[TypeProposal], written: Written) -> None:
    """Write the employment types of options that still have none, and count them in `written`."""
    with transaction.atomic():
        for each in proposals:
            still = FilterOption.objects.filter(pk=each.option.pk, employment_type="")
            written.options += still.update(employment_type=each.employment_type)


def _without_places() -> QuerySet[Vacancy]:
    vacancies = Vacancy.objects.filter(places=None).exclude(location="").exclude(work_place=WorkPlace.REMOTE)
    return vacancies.select_related("brand")


def _is_waiting(vacancy: Vacancy, *, at: datetime) -> bool:
    return needs_approval(before=vacancy, after=vacancy, changed={"places"}, at=at)
