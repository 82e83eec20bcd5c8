"""Rendered items of vacancies:
made by the serializers on first use, and stored in `RenderedItem`.
"""

import zlib
from collections.abc import Iterable
from functools import cache
from time import monotonic
from typing import Any

from django.conf import settings
from django.db import DatabaseError, connections
from rest_framework.serializers import BaseSerializer

from jobsite.api.absolute_urls import host_url
from jobsite.api.placeholders import Placeholder
from jobsite.serving.rendered_items import dumps, render_item, strip_markers
from vacancies.api.schema import ITEM_FORMAT
from vacancies.api.serializers import BrandSerializer, RecruiterSerializer
from vacancies.feed import maintenance as feed
from vacancies.models import Brand, FilterOption, Recruiter, Vacancy
from vacancies.readmodel.maintenance import best_effort_write

STORED = {"is_stored": True}  # the context in which serializers return placeholders
# Seconds to wait for the primary. A reader of a replica must not wait for a frozen one.
PATIENCE = 0.5
PAUSE = 10.0  # seconds without storing after that: until HAProxy has noticed
_STORE = (  # not if the row version has changed since
    "INSERT INTO vacancies_rendereditem (vacancy_id, version, row_version, body) SELECT "
    "vacancy_id, %s, row_version, %s FROM vacancies_listedvacancy WHERE vacancy_id = %s AND "
    "row_version = %s ON CONFLICT (vacancy_id, version) DO UPDATE SET row_version = "
    "excluded.row_version, body = excluded.body"
)
_SHARED: dict[str, Any] = {
    "brand": (Brand, BrandSerializer),
    "recruiter": (Recruiter, RecruiterSerializer),
}

_paused_until = 0.0


def stored_version(version: str) -> str:
    """Return the value of `RenderedItem.version` for items of that version of the interface."""
    return _stored_version(
        version,
        settings.MULTI_BRANDING,
        settings.TIME_ZONE,
        settings.MEDIA_URL,
        settings.LANGUAGE_CODE,
        *settings.TEXT_LANGUAGES,
        settings.CAREER_SITE,
        host_url("host"),
    )


@cache
def _stored_version(version: str, *values: object) -> str:
    return f"{version}/{ITEM_FORMAT}/{zlib.crc32(repr(values).encode()):08x}"


def in_language(version: str, language: str) -> str:
    """Return the name of the items of that version of the interface in `language`: "v1.fr"."""
    return f"{version}.{language}" if language else version


def note_format() -> bool:
    """Let clients of the feed read everything again if items have another format than before.
    Return whether they have.
    """
    return feed.note_format(stored_version("v1"))


def render(
    serializer_class: type[BaseSerializer], pks: Iterable[int], language: str = ""
) -> dict[int, bytes]:
    """Return the items of the vacancies `pks` by id, with placeholders, and with the texts in
    `language` where there are ready ones.
    """
    serializer = serializer_class(context={**STORED, "language": language})
    rendered = {}
    for each in Vacancy.objects.with_related().filter(pk__in=list(pks)):
        for choice in each.ordered_choices:
            choice.translations = {}
            choice.label = Placeholder(f"option:{choice.option_id}:{language}")
        rendered[each.pk] = render_item(serializer.to_representation(each))
    return rendered


def store(version: str, items: dict[int, tuple[int, bytes]]) -> int:
    """Store items by id, each with the row version of the snapshot in which it was rendered, if it
    is still that one. Return the number of stored items.
    """
    global _paused_until
    if monotonic() < _paused_until:
        return 0
    rows = [(stored_version(version), items[pk][1], pk, items[pk][0]) for pk in sorted(items)]
    try:
        with best_effort_write(PATIENCE) as cursor:
            cursor.executemany(_STORE, rows)
            return cursor.rowcount
    except DatabaseError:
        if connections["default"].connection is None:  # lost, as opposed to a lock that is not free
            _paused_until = monotonic() + PAUSE
        return 0  # the next reader renders them again


def resolve(names: Iterable[bytes]) -> dict[bytes, bytes]:
    """Return the values of placeholders by name, without those whose row does not exist."""
    by_kind: dict[str, list[int]] = {}
    languages: dict[int, set[str]] = {}  # of an option
    for name in names:
        kind, pk, *language = name.decode().split(":")
        by_kind.setdefault(kind, []).append(int(pk))
        languages.setdefault(int(pk), set()).update(language)
    resolved = {}
    for kind, pks in by_kind.items():
        if kind == "option":
            rows = FilterOption.objects.filter(pk__in=pks)
            for option, label, translations in rows.values_list("pk", "label", "translations"):
                for code in languages[option]:
                    text = dumps(translations.get(code) or label)
                    resolved[f"option:{option}:{code}".encode()] = text
        else:
            model, serializer = _SHARED[kind]
            for instance in model.objects.filter(pk__in=pks):
                item = serializer(instance, context=STORED).data
                resolved[f"{kind}:{instance.pk}".encode()] = strip_markers(render_item(item))
    return resolved
