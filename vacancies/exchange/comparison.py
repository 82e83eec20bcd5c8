"""Comparison of an imported item with the vacancy that is stored."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from django.utils import timezone

from jobsite.text.iso_names import country_name
from jobsite.types import JsonObject
from vacancies.choices import Keyword
from vacancies.exchange.columns import COLUMNS
from vacancies.exchange.related import comparable
from vacancies.exchange.serializers import PAY
from vacancies.history.versions import Content, as_json
from vacancies.models import (
    TRANSLATED,
    Attachment,
    Change,
    Place,
    Vacancy,
    Version,
    text_field,
)

# Columns that an import does not change once a recruiter has set them.
RECRUITER_COLUMNS = ("publish_until", "audience", "status", "publish_from")
# The keys of the end of the publication. The first one that an item has is used.
ENDS = ("publish_until", "closes_at", "closing_date")
_NO_PAY = {f"pay_{key}": empty for key, empty in PAY.items()}


def column_values(item: JsonObject, vacancy: Vacancy) -> JsonObject:
    """Return the values of `item` that are columns of `vacancy`, by column.
    Missing keys are left out.
    """
    names = ("title", "created_at", *(column.name for column in COLUMNS))
    values = {name: item[name] for name in names if name in item}
    if "created_at" in values:
        values["created_at"] = as_shown(values["created_at"], vacancy.created_at)
    if values.get("language") == vacancy.shown_language:
        values["language"] = vacancy.language
    # The source shows public pay only. Where it shows none, ours is kept if it is not public.
    if "pay" in item and (item["pay"] or vacancy.is_pay_public):
        values |= item["pay"] or _NO_PAY
    if "image" in item:
        values["image_url"] = item["image"]
    if "title_internal" in item:
        title = item.get("title", vacancy.title)
        values["title_internal"] = "" if item["title_internal"] == title else item["title_internal"]
    return values


def as_shown(received: Any, stored: datetime | None) -> Any:
    """Return `stored` if the interface shows it as `received`. It shows seconds and no offset, so
    that two times at the end of summer time look the same.
    """
    is_same = (
        stored and received and not received.microsecond and _shown(received) == _shown(stored)
    )
    return stored if is_same else received


def _shown(at: datetime) -> datetime:
    return timezone.make_naive(at, timezone.get_default_timezone()).replace(microsecond=0)


def end_key(item: JsonObject) -> str | None:
    return next((name for name in ENDS if name in item), None)


def addresses(places: Iterable[Place]) -> list[JsonObject]:
    return [place.address for place in places]


def attachment_pairs(item: JsonObject) -> list[tuple[str, str]]:
    """Return the (name, URL) pairs of the attachments of `item`."""
    return [(data.get("name", ""), data["path"]) for data in item["attachments"] or ()]


def different_keys(item: JsonObject, vacancy: Vacancy, attachments: list[Attachment]) -> list[str]:
    """Return the keys of `item` whose value differs from that of `vacancy`."""
    return [
        *_different_columns(item, vacancy),
        *_different_options(item, vacancy),
        *_different_rows(item, vacancy, attachments),
        *_different_times(item, vacancy),
    ]


def _different_columns(item: JsonObject, vacancy: Vacancy) -> list[str]:
    values = column_values(item, vacancy)
    names = [name for name, value in values.items() if getattr(vacancy, name) != value]
    return list(dict.fromkeys("pay" if "pay_" in name else name for name in names))


def _different_options(item: JsonObject, vacancy: Vacancy) -> list[str]:
    return [
        keyword.value
        for keyword in Keyword
        if keyword in item
        and list(dict.fromkeys(map(comparable, item[keyword])))
        != list(map(comparable, vacancy.labels(keyword)))
    ]


def _different_rows(item: JsonObject, vacancy: Vacancy, attachments: list[Attachment]) -> list[str]:
    stored: JsonObject = {
        "brand": vacancy.brand and comparable(vacancy.brand.name),
        "head_recruiter": vacancy.head_recruiter and vacancy.head_recruiter.name,
        "recruiters": [link.recruiter.name for link in vacancy.ordered_recruiter_links],
        "places": addresses(vacancy.sites),
        "remote_countries": vacancy.remote_countries,
        "attachments": [(a.name, a.url) for a in attachments if a.url],
    }
    return [
        name
        for name, value in stored.items()
        if name in item and _comparable_row(name, item) != value
    ]


def _different_times(item: JsonObject, vacancy: Vacancy) -> list[str]:
    times = (("updated_at", vacancy.updated_at), (end_key(item), vacancy.publish_until))
    return [key for key, at in times if key in item and as_shown(item[key], at) != at]


def _comparable_row(name: str, item: JsonObject) -> Any:
    """Return the rows of the key `name` of `item` as `different_keys` has those of a vacancy."""
    received = item[name]
    match name:
        case "brand":
            return received and comparable(received["name"])
        case "head_recruiter":
            return received and received["name"]
        case "recruiters":
            return list(dict.fromkeys(data["name"] for data in received or ()))
        case "attachments":
            return attachment_pairs(item)
    return received


def set_by_recruiters(pks: Iterable[int]) -> dict[str, set[int]]:
    """Return, by column of RECRUITER_COLUMNS, the vacancies whose value was set in the admin, not
    by an integration.
    """
    versions = Version.objects.filter(vacancy__in=list(pks), author__integration=None)
    versions = versions.exclude(change=Change.EXTERNAL)
    return {
        name: set(versions.filter(content__has_key=name).values_list("vacancy_id", flat=True))
        for name in RECRUITER_COLUMNS
    }


def rows_of_item(item: JsonObject, before: Content) -> Content:
    """Return the places and countries of `item` and its texts in other languages, in the format of
    Version.content. Texts that it does not have stay as in `before`.
    """
    found: Content = {}
    if "places" in item:
        found["places"] = [as_json(place) for place in item["places"]]
    if "remote_countries" in item:
        codes = item["remote_countries"]
        found["remote_countries"] = [[code, country_name(code)] for code in codes]
    for language, values in (item.get("translations") or {}).items():
        old = before.get(text_field(language)) or {"texts": {}, "is_ready": False, "based_on": ""}
        texts = {name: values[name] for name in TRANSLATED if name in values} if values else {}
        states = "ready" in values if values else False
        found[text_field(language)] = values and {
            "texts": {**old["texts"], **texts},
            "is_ready": values["ready"] if states else old["is_ready"],
            # "ready" says so of the texts that the item has now.
            "based_on": "" if states else old["based_on"],
        }
    return found
