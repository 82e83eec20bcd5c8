"""Versions of vacancies: one per save or publication change, for reading,
comparing and restoring.
"""

from collections.abc import Collection, Iterable, Iterator
from datetime import UTC, date, datetime
from decimal import Decimal

from django.contrib.auth.models import User
from django.db import models
from django.db.models.fields.files import FieldFile

from jobsite.text.iso_names import country_name
from jobsite.types import JsonObject
from vacancies.choices import Keyword
from vacancies.models import Change, Vacancy, Version, text_field, text_fields
from vacancies.querysets import VacancyQuerySet

PUBLICATION = ("status", "publish_from", "publish_until")
# A restored version does not change these: they decide when, to whom and for which brand it shows.
EXCLUDED_FIELDS = (*PUBLICATION, "audience", "brand")
DERIVED = ("id", "created_at", "updated_at", "title_folded", "search_text")

Content = JsonObject


def values_of(vacancy: Vacancy, fields: Iterable[str]) -> Content:
    """Return the plain `fields` of `vacancy`, such as PUBLICATION, as JSON values."""
    return as_json({name: getattr(vacancy, name) for name in fields})


def read_content(vacancy: Vacancy) -> Content:
    """Return the stored fields of `vacancy` that the admin edits, as JSON values by field. A
    related row is [id, name], a country [code, name]; options, recruiters, places, countries for
    remote work and attachments are lists in order. Texts in another language are an object with
    `texts`, `is_ready` and `based_on`, or null. Six queries, one more with other languages.
    """
    return content_of(_rows().get(pk=vacancy.pk))


def _rows() -> VacancyQuerySet:
    return Vacancy.objects.with_related().select_related("form")


def content_fields() -> list[str]:
    """Return the names of the fields of a content."""
    columns = [field.name for field in Vacancy._meta.concrete_fields if field.name not in DERIVED]
    rows = ("places", "remote_countries", "recruiters", "attachments")
    return [*columns, *Keyword.values, *rows, *text_fields()]


def columns_of(row: Vacancy) -> Content:
    """Return the columns of `row` as a content has them.
    An upload that is not stored stays a file.
    """
    values: Content = {}
    for field in Vacancy._meta.concrete_fields:
        if field.name in DERIVED:
            continue
        value = getattr(row, field.name)
        if isinstance(value, models.Model):
            value = [value.pk, str(value)]
        elif isinstance(value, FieldFile):
            value = file_of(value)
        values[field.name] = value
    return as_json(values)


def file_of(file: FieldFile) -> object:
    """Return the name of the stored `file`, "" for none, or the upload that is not stored yet."""
    is_stored = file._committed  # type: ignore[attr-defined] # Django's, without a stub
    return file.file if file and not is_stored else file.name or ""


def content_of(row: Vacancy) -> Content:
    """Return the content of `row`, which was read `with_related()`."""
    values = columns_of(row)
    for keyword in Keyword:
        values[keyword.value] = [
            [choice.option_id, choice.label]
            for choice in row.ordered_choices
            if choice.keyword == keyword
        ]
    values["places"] = [as_json(place.address) for place in row.sites]
    values["remote_countries"] = [[code, country_name(code)] for code in row.remote_countries]
    values["recruiters"] = [
        [link.recruiter_id, str(link.recruiter)] for link in row.ordered_recruiter_links
    ]
    values["attachments"] = [
        {"name": each.name, "file": each.file.name, "url": each.url}
        for each in row.attachments.all()
    ]
    if names := text_fields():
        texts = {text_field(each.language): each.content for each in row.translations.all()}
        values |= {name: texts.get(name) for name in names}
    return values


def as_json(values: Content) -> Content:
    return {name: _as_json(value) for name, value in values.items()}


def _as_json(value: object) -> object:
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat()
    if isinstance(value, Decimal):
        return decimal_text(value)
    return value.isoformat() if isinstance(value, date) else value


def decimal_text(value: Decimal) -> str:
    """Return `value` without trailing zeros: a stored 2500.00 and an entered 2500 are equal."""
    return f"{(value + 0).normalize():f}"  # + 0: without the sign of -0


def without_names(value: object) -> object:
    """Return a value of a content with ids only, without the names of related rows."""
    if isinstance(value, list) and value and not isinstance(value[0], dict):
        return [without_names(each) for each in value] if isinstance(value[0], list) else value[0]
    return value


def changed_outside(known: Content, now: Content) -> Content:
    """Return the fields of `now` that differ from `known`, the versions. Fields that no version
    has, because they were added to the model later, count only if they are filled in.
    """
    unset = columns_of(Vacancy()) | dict.fromkeys(text_fields()) if known else {}
    return {
        name: value
        for name, value in changed_content(known, now).items()
        if not known or name in known or value != unset.get(name, [])
    }


def changed_content(before: Content, now: Content) -> Content:
    """Return the fields of `now` that differ from `before`."""
    return {
        name: value
        for name, value in now.items()
        if name not in before or without_names(before[name]) != without_names(value)
    }


def content_at(version: Version) -> Content:
    """Return the content of the vacancy after `version`."""
    return replay(Version.objects.filter(vacancy=version.vacancy_id, pk__lte=version.pk))


def replay(versions: "models.QuerySet[Version]") -> Content:
    """Return the content after the last of `versions`."""
    result: Content = {}
    for changes in versions.order_by("pk").values_list("content", flat=True):
        result |= changes
    return result


def record_drift(vacancy: Vacancy, *, at: datetime) -> None:
    """Record what changed outside the admin since the last version, so that it is not attributed to
    the author of the next one and can be restored. Call this before a change.
    """
    record(vacancy, Change.EXTERNAL, author=None, at=at)


def record(
    vacancy: Vacancy, change: Change, *, author: User | None, at: datetime
) -> Version | None:
    """Create a version with the fields that differ from the version before. Return None, and create
    none, for an EXTERNAL or CHANGED without a difference.
    """
    now = read_content(vacancy)
    different = changed_outside(replay(Version.objects.filter(vacancy=vacancy.pk)), now)
    if not different and change in (Change.EXTERNAL, Change.CHANGED):
        return None
    version = _version(vacancy, now, change, author=author, at=at)
    version.content = different
    version.save()
    return version


def _version(
    vacancy: Vacancy, now: Content, change: Change, *, author: User | None, at: datetime
) -> Version:
    """Return a version, not saved, with the whole content `now`."""
    brand = now["brand"] and now["brand"][0]
    return Version(
        vacancy=vacancy, brand_id=brand, change=change, content=now, author=author, created_at=at
    )


def record_drifts(pks: Collection[int], *, at: datetime) -> None:
    """Record what changed in the vacancies `pks` since their last versions, as an import does. A
    fixed number of queries.
    """
    found = [each for _row, _now, each in _with_drift(pks, at=at) if each]
    Version.objects.bulk_create(found, batch_size=500)


def record_deletion(pks: Collection[int], *, author: User | None, at: datetime) -> list[Version]:
    """Create the last versions of vacancies that are deleted next, each with the whole content, and
    before them what changed outside the admin. A fixed number of queries.
    """
    found, deleted = [], []
    for row, now, drift in _with_drift(pks, at=at):
        found += [drift] if drift else []
        deleted.append(_version(row, now, Change.DELETED, author=author, at=at))
    Version.objects.bulk_create(found, batch_size=500)
    return Version.objects.bulk_create(deleted, batch_size=500)


def _with_drift(
    pks: Collection[int], *, at: datetime
) -> Iterator[tuple[Vacancy, Content, Version | None]]:
    """Yield each of the vacancies `pks` with its content and with a version, not saved, of what
    changed outside the admin since the last one.
    """
    known: dict[int, Content] = {pk: {} for pk in pks}
    versions = Version.objects.filter(vacancy__in=pks).order_by("pk")
    for pk, values in versions.values_list("vacancy", "content"):
        known[pk] |= values
    for row in _rows().filter(pk__in=pks).order_by("pk"):
        now = content_of(row)
        drift = None
        if different := changed_outside(known[row.pk], now):
            drift = _version(row, now, Change.EXTERNAL, author=None, at=at)
            drift.content = different
        yield row, now, drift


def record_values(
    vacancies: Iterable[Vacancy],
    before: Iterable[Content],
    change: Change,
    *,
    author: User | None,
    at: datetime,
) -> list[Version]:
    """Create a version for each of `vacancies`, some of whose fields were just saved. `before`
    holds the `values_of` these fields before that, in the same order.
    """
    return Version.objects.bulk_create(
        [
            Version(
                vacancy=vacancy,
                brand_id=vacancy.brand_id,
                change=change,
                content=values_of(vacancy, was),
                before=was,
                author=author,
                created_at=at,
            )
            for vacancy, was in zip(vacancies, before, strict=True)
        ],
        batch_size=500,
    )
