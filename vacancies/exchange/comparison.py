"""Comparison of an imported item with the vacancy that is stored."""

from collections.abc import Iterable

from jobsite.types import JsonObject
from vacancies.choices import Keyword
from vacancies.exchange.columns import COLUMNS
from vacancies.exchange.related import comparable
from vacancies.models import Attachment, Change, Vacancy, Version

# Columns that an import does not change once a recruiter has set them.
RECRUITER_COLUMNS = ("publish_until", "audience", "status", "publish_from")


def column_values(item: JsonObject, vacancy: Vacancy) -> JsonObject:
    """Return the values of `item` that are columns of `vacancy`, by column. Missing keys are left out."""
    names = ("title", "created_at", *(column.name for column in COLUMNS))
    values = {name: item[name] for name in names if name in item}
    if "image" in item:
        values["image_url"] = item["image"]
    if "title_internal" in item:
        title = item.get("title", vacancy.title)
        values["title_internal"] = "" if item["title_internal"] == title else item["title_internal"]
    return values


def attachment_pairs(item: JsonObject) -> list[tuple[str, str]]:
    """Return the (name, URL) pairs of the attachments of `item`."""
    return [(data.get("name", ""), data["path"]) for data in item["attachments"] or ()]


def different_keys(item: JsonObject, vacancy: Vacancy, attachments: list[Attachment]) -> list[str]:
    """Return the keys of `item` whose value differs from that of `vacancy`."""
    different = [
        name for name, value in column_values(item, vacancy).items() if getattr(vacancy, name) != value
    ]
    different += [
        keyword.value
        for keyword in Keyword
        if keyword in item
        and list(dict.fromkeys(map(comparable, item[keyword])))
        != list(map(comparable, vacancy.labels(keyword)))
    ]
    stored: JsonObject = {
        "brand": vacancy.brand and comparable(vacancy.brand.name),
        "head_recruiter": vacancy.head_recruiter and vacancy.head_recruiter.name,
    }
    stored["recruiters"] = [link.recruiter.name for link in vacancy.ordered_recruiter_links]
    stored["attachments"] = [(a.name, a.url) for a in attachments if a.url]
    for name, value in stored.items():
        if name not in item:
            continue
        received = item[name]
        if name == "recruiters":
            received = list(dict.fromkeys(data["name"] for data in received or ()))
        elif name == "attachments":
            received = attachment_pairs(item)
        elif name == "brand":
            received = received and comparable(received["name"])
        elif name == "head_recruiter":
            received = received and received["name"]
        if received != value:
            different.append(name)
    for name in ("updated_at", "publish_until"):
        if name in item and item[name] != getattr(vacancy, name):
            different.append(name)
    return different


def set_by_recruiters(pks: Iterable[int]) -> dict[str, set[int]]:
    """Return, by column of RECRUITER_COLUMNS, the vacancies whose value was set in the admin."""
    versions = Version.objects.filter(vacancy__in=list(pks)).exclude(change=Change.EXTERNAL)
    return {
        name: set(versions.filter(content__has_key=name).values_list("vacancy_id", flat=True))
        for name in RECRUITER_COLUMNS
    }
