"""What became of a vacancy: every save and decision on record, to be read, compared and brought back."""

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from django.db import models
from django.db.models.fields.files import FieldFile

from vacancies.choices import Keyword
from vacancies.models import Change, Vacancy, Version

PUBLICATION = ("status", "publish_from", "publish_until")
# Decisions of the day, which bringing an older text back does not take again.
EXCLUDED_FIELDS = (*PUBLICATION, "audience", "brand")
DERIVED = ("id", "created_at", "updated_at", "title_folded", "search_text")

Content = dict[str, Any]


def publication(vacancy: Vacancy) -> Content:
    """When `vacancy` shows, as decided."""
    return {name: getattr(vacancy, name) for name in PUBLICATION}


def content(vacancy: Vacancy) -> Content:
    """Return all that the workplace edits of the vacancy as it is stored, as JSON has it: by field, what
    it points to as [id, name], options, recruiters and attachments in order. Five queries."""
    row = Vacancy.objects.with_related().select_related("form").get(pk=vacancy.pk)
    values: Content = {}
    for field in Vacancy._meta.concrete_fields:
        if field.name in DERIVED:
            continue
        value = getattr(row, field.name)
        if isinstance(value, models.Model):
            value = [value.pk, str(value)]
        elif isinstance(value, FieldFile):
            value = value.name
        values[field.name] = value
    for keyword in Keyword:
        values[keyword.value] = [
            [choice.option_id, choice.option.label]
            for choice in row.ordered_choices
            if choice.option.filter.keyword == keyword
        ]
    values["recruiters"] = [[link.recruiter_id, str(link.recruiter)] for link in row.ordered_recruiter_links]
    values["attachments"] = [
        {"name": each.name, "file": each.file.name, "url": each.url} for each in row.attachments.all()
    ]
    return _as_json(values)


def _as_json(values: Content) -> Content:
    return {
        name: value.astimezone(UTC).isoformat() if isinstance(value, datetime) else value
        for name, value in values.items()
    }


def bare(value: Any) -> Any:
    """What a value of `content` says whatever the names are by now: ids alone of what it points to."""
    if isinstance(value, list) and value and not isinstance(value[0], dict):
        return [bare(each) for each in value] if isinstance(value[0], list) else value[0]
    return value


def content_at(version: Version) -> Content:
    """The vacancy as it was after `version`."""
    return replay(Version.objects.filter(vacancy=version.vacancy_id, pk__lte=version.pk))


def replay(versions: "models.QuerySet[Version]") -> Content:
    """The content after the last of `versions`."""
    whole: Content = {}
    for part in versions.order_by("pk").values_list("content", flat=True):
        whole |= part
    return whole


def record_drift(vacancy: Vacancy, *, at: datetime) -> None:
    """Before a change: put on record what changed outside the workplace since the last one, so that it is
    nobody's doing and can be brought back."""
    record(vacancy, Change.FOUND, author=None, at=at)


def record(vacancy: Vacancy, change: Change, *, author: Any, at: datetime) -> Version | None:
    """Put `change` on record with what differs from the version before; return None where it is nothing
    but one of these: a change without a difference."""
    before = replay(Version.objects.filter(vacancy=vacancy.pk))
    now = content(vacancy)
    if change == Change.DELETED:
        before = {}  # the last version tells all by itself
    different = {
        name: value for name, value in now.items() if name not in before or bare(before[name]) != bare(value)
    }
    if not different and change in (Change.FOUND, Change.CHANGED):
        return None
    return Version.objects.create(
        vacancy=vacancy,
        brand_id=now["brand"] and now["brand"][0],
        change=change,
        content=different,
        author=author,
        created_at=at,
    )


def record_publication(vacancies: Iterable[Vacancy], change: Change, *, author: Any, at: datetime) -> None:
    """Put a decision about `vacancies` on record, whose publication is as it was left by it."""
    Version.objects.bulk_create(
        [
            Version(
                vacancy=vacancy,
                brand_id=vacancy.brand_id,
                change=change,
                content=_as_json(publication(vacancy)),
                author=author,
                created_at=at,
            )
            for vacancy in vacancies
        ],
        batch_size=500,
    )
