"""The rendered items of vacancies: made by the serializers on first use, and stored in `ListedVacancy`."""

import zlib
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from time import monotonic
from typing import Any

import django
import rest_framework
from django.conf import settings
from django.db import DatabaseError, connections

from jobsite.api import placeholders, renderers, serializers
from jobsite.api.placeholders import Token
from jobsite.serving import rendered_items
from jobsite.serving.rendered_items import dumps, render_item, strip_markers
from vacancies import choices, models, querysets
from vacancies.api import serializers as shared_serializers
from vacancies.api import v0_1, v1
from vacancies.models import Brand, FilterOption, ListedVacancy, Recruiter, Vacancy, catalogue, vacancy
from vacancies.readmodel.maintenance import best_effort_write

VERSIONS = {"v1": v1.VacancySerializer, "v0_1": v0_1.VacancySerializer}
STORED = {"is_stored": True}  # the context in which serializers return placeholders
# The modules that decide what an item looks like, as this process has loaded them.
_SOURCES = (
    rendered_items, placeholders, renderers, serializers, shared_serializers, models, catalogue, vacancy,
    querysets, choices, v0_1, v1, rest_framework,
)  # fmt: skip
_CODE_CHECKSUM = zlib.crc32(repr(django.VERSION).encode())
for _file in (__file__, *(module.__file__ or "" for module in _SOURCES)):
    _CODE_CHECKSUM = zlib.crc32(Path(_file).read_bytes(), _CODE_CHECKSUM)
_SHARED: dict[str, Any] = {
    "brand": (Brand, v1.BrandSerializer),
    "recruiter": (Recruiter, v1.RecruiterSerializer),
}
FINGERPRINT_LENGTH = 8  # bytes, in front of every stored item
PATIENCE = 0.5  # seconds to wait for the primary. A reader of a replica must not wait for a frozen one.
PAUSE = 10.0  # seconds without storing after that: until HAProxy has noticed

_paused_until = 0.0


class ChangedError(Exception):
    """Concurrent write between two reads; retry."""


def renderer_fingerprint() -> bytes:
    """Return the fingerprint of this code and its settings. Items with another one are rendered again."""
    return _fingerprint(settings.MULTI_BRANDING, settings.TIME_ZONE, settings.MEDIA_URL)


@cache
def _fingerprint(*values: Any) -> bytes:
    return b"%08x" % zlib.crc32(repr(values).encode(), _CODE_CHECKSUM)


@cache
def _serializer(version: str, fingerprint: bytes) -> Any:
    """One instance for each version and `fingerprint`: its fields cost as much to make as an item."""
    return VERSIONS[version](context=STORED)


def render(version: str, pks: Iterable[int]) -> dict[int, bytes]:
    """Return the items of the vacancies `pks`, made by the serializer of the version."""
    fingerprint = renderer_fingerprint()
    serializer = _serializer(version, fingerprint)
    rendered = {}
    for each in Vacancy.objects.with_related().filter(pk__in=list(pks)):
        for choice in each.ordered_choices:
            choice.option.label = Token(f"option:{choice.option_id}")
        rendered[each.pk] = fingerprint + render_item(serializer.to_representation(each))
    return rendered


def render_missing(version: str, rows: list[tuple]) -> dict[int, bytes]:
    """Render and store the items that `rows` (id, row version, item) lack; return them by id.

    Raises ChangedError if a vacancy was changed concurrently.
    """
    fingerprint = renderer_fingerprint()
    missing = {
        row[0]: row[1] for row in rows if not (row[2] and bytes(row[2][:FINGERPRINT_LENGTH]) == fingerprint)
    }
    if not missing:
        return {}
    rendered = render(version, missing)
    if rendered.keys() != missing.keys():
        raise ChangedError
    if store(version, {pk: (missing[pk], item) for pk, item in rendered.items()}) < len(rendered):
        listed = ListedVacancy.objects.filter(pk__in=list(missing))
        if dict(listed.values_list("pk", "row_version")) != missing:
            raise ChangedError
    return rendered


def store(version: str, items: dict[int, tuple[int, bytes]]) -> int:
    """Store items by id, each with the row version that was read before it was rendered. Skip those whose row
    version has changed. Return the number of stored items."""
    global _paused_until
    if monotonic() < _paused_until:
        return 0
    sql = (
        f"UPDATE {ListedVacancy._meta.db_table} SET {version} = %s WHERE vacancy_id = %s AND row_version = %s"
    )
    try:
        with best_effort_write(PATIENCE) as cursor:
            cursor.executemany(sql, [(items[pk][1], pk, items[pk][0]) for pk in sorted(items)])
            return cursor.rowcount
    except DatabaseError:
        if connections["default"].connection is None:  # lost, as opposed to a lock that is not free
            _paused_until = monotonic() + PAUSE
        return 0  # the next reader renders them again


def resolve(names: Iterable[bytes]) -> dict[bytes, bytes]:
    """Return the values of placeholders by name, without those whose row does not exist."""
    by_kind: dict[str, list[int]] = {}
    for name in names:
        kind, _, pk = name.decode().partition(":")
        by_kind.setdefault(kind, []).append(int(pk))
    resolved = {}
    for kind, pks in by_kind.items():
        if kind == "option":
            for option, label in FilterOption.objects.filter(pk__in=pks).values_list("pk", "label"):
                resolved[f"option:{option}".encode()] = dumps(label)
        else:
            model, serializer = _SHARED[kind]
            for instance in model.objects.filter(pk__in=pks):
                item = serializer(instance, context=STORED).data
                resolved[f"{kind}:{instance.pk}".encode()] = strip_markers(render_item(item))
    return resolved
