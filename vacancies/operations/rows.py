"""Writing the rows of a vacancy: its columns, options, recruiters, places, attachments and texts in
other languages, in the format of Version.content.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from django.core.files import File
from django.db.models import Model

from jobsite.languages import text_languages
from jobsite.types import JsonObject
from vacancies.choices import Keyword, PlaceKind
from vacancies.history.versions import Content, as_json
from vacancies.models import (
    Attachment,
    Place,
    Vacancy,
    VacancyOption,
    VacancyRecruiter,
    VacancyText,
    text_field,
)
from vacancies.operations.options import save_options


def store_uploads(values: Mapping[str, Any]) -> Content:
    """Return `values` with uploaded files in the storage, by name. Raises NotStoredError."""

    def stored(model: Any, name: str, value: Any) -> Any:
        if not isinstance(value, File):
            return value
        row = model(**{name: value})
        return str(model._meta.get_field(name).pre_save(row, add=True))

    found = dict(values)
    if "image" in values:
        found["image"] = stored(Vacancy, "image", values["image"])
    if "attachments" in values:
        rows = values["attachments"]
        found["attachments"] = [
            each | {"file": stored(Attachment, "file", each["file"])} for each in rows
        ]
    return found


def insert(new: Iterable[tuple[Vacancy, Content]]) -> None:
    """Write new vacancies and the rows of their contents. The number of queries does not depend on
    the number of vacancies.
    """
    new = list(new)
    Vacancy.objects.bulk_create([vacancy for vacancy, _ in new])
    rows: dict[type[Model], list[Any]] = {}
    for vacancy, content in new:
        for row in _rows_of(vacancy, content):
            rows.setdefault(type(row), []).append(row)
    for model, of_model in rows.items():
        model._default_manager.bulk_create(of_model)


def _rows_of(vacancy: Vacancy, content: Content) -> Iterator[Model]:
    for keyword in Keyword:
        for n, (pk, _name) in enumerate(content.get(keyword, ())):
            yield VacancyOption(vacancy=vacancy, option_id=pk, position=n)
    for n, (pk, _name) in enumerate(content.get("recruiters", ())):
        yield VacancyRecruiter(vacancy=vacancy, recruiter_id=pk, position=n)
    for name, kind in (("places", PlaceKind.SITE), ("remote_countries", PlaceKind.APPLICANT)):
        for n, address in enumerate(_addresses(name, content.get(name, ()))):
            yield Place(vacancy=vacancy, kind=kind, position=n, **address)
    for n, values in enumerate(content.get("attachments", ())):
        yield Attachment(vacancy=vacancy, position=n, **values)
    for language in text_languages():
        if text := content.get(text_field(language)):
            yield VacancyText(vacancy=vacancy, language=language, **text)


def write(vacancy: Vacancy, changes: Content) -> None:
    """Save `vacancy`, which has the changed columns, and those of its rows that are in `changes`.
    Rows that stay keep their ids.
    """
    vacancy.save()
    for keyword in Keyword:
        if keyword.value in changes:
            pks = [pk for pk, _name in changes[keyword.value]]
            save_options(vacancy=vacancy, keyword=keyword, pks=pks)
    if "recruiters" in changes:
        _save_recruiters(vacancy, [pk for pk, _name in changes["recruiters"]])
    for name, kind in (("places", PlaceKind.SITE), ("remote_countries", PlaceKind.APPLICANT)):
        if name in changes:
            _save_places(vacancy, kind, _addresses(name, changes[name]))
    if "attachments" in changes:
        _save_attachments(vacancy, changes["attachments"])
    for language in text_languages():
        if text_field(language) in changes:
            _save_text(vacancy, language, changes[text_field(language)])


def _addresses(name: str, values: Iterable[Any]) -> list[JsonObject]:
    if name == "places":
        return list(values)
    return [Place(country=code).address for code, _name in values]


def _save_recruiters(vacancy: Vacancy, pks: list[int]) -> None:
    vacancy.recruiter_links.exclude(recruiter__in=pks).delete()
    VacancyRecruiter.objects.bulk_create(
        [
            VacancyRecruiter(vacancy=vacancy, recruiter_id=pk, position=place)
            for place, pk in enumerate(pks)
        ],
        update_conflicts=True,
        unique_fields=["vacancy", "recruiter"],
        update_fields=["position"],
    )


def _save_places(vacancy: Vacancy, kind: PlaceKind, wanted: list[JsonObject]) -> None:
    """Write the places of one kind. A row with the same address is kept:
    open forms name rows by their id.
    """
    rows = list(vacancy.places.filter(kind=kind))
    same = {_address_key(row.address): row for row in reversed(rows)}
    kept = [same.pop(_address_key(each), None) for each in wanted]
    free = [row for row in rows if row not in kept]
    for place, (each, row) in enumerate(zip(wanted, kept, strict=True)):
        row = row or (free.pop(0) if free else Place(vacancy=vacancy, kind=kind))
        if row.pk is None or row.position != place or row not in kept:
            for name, value in each.items():
                setattr(row, name, value)
            row.position = place
            row.save()
    for row in free:
        row.delete()


def _address_key(address: JsonObject) -> str:
    return json.dumps(as_json(address), sort_keys=True)


def _save_text(vacancy: Vacancy, language: str, text: JsonObject | None) -> None:
    rows = VacancyText.objects.filter(vacancy=vacancy, language=language)
    if text is None:
        rows.delete()
    elif not rows.update(**text):
        VacancyText.objects.create(vacancy=vacancy, language=language, **text)


def _save_attachments(vacancy: Vacancy, wanted: list[JsonObject]) -> None:
    """Write the attachments. A row with the same file or URL is kept:
    open forms name rows by their id.
    """
    there = {(row.file.name, row.url): row for row in vacancy.attachments.all()}
    for place, each in enumerate(wanted):
        row = there.pop((each["file"], each["url"]), None)
        if row is None or (row.name, row.position) != (each["name"], place):
            row = row or Attachment(vacancy=vacancy, file=each["file"], url=each["url"])
            row.name, row.position = each["name"], place
            row.save()
    for row in there.values():
        row.delete()
