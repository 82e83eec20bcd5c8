"""The items of vacancies as they are stored: made by the serializers, when they are first asked for."""

import zlib
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

import django
import rest_framework
from django.conf import settings
from django.db import DatabaseError, connections

from jobsite.api import placeholders, renderers, serializers
from jobsite.api.placeholders import Token
from jobsite.serving import rendered_items
from jobsite.serving.rendered_items import document, dumps, whole
from vacancies import choices, models, querysets
from vacancies.api import serializers as shared_serializers
from vacancies.api import v0_1, v1
from vacancies.models import Brand, FilterOption, ListedVacancy, Recruiter, Vacancy
from vacancies.readmodel.listing import impatiently

VERSIONS = {"v1": v1.VacancySerializer, "v0_1": v0_1.VacancySerializer}
STORED = {"is_stored": True}  # the context in which serializers leave tokens
# Of the code that makes items, as this process has read it.
MADE_OF = (
    rendered_items, placeholders, renderers, serializers, shared_serializers, models, querysets, choices, v0_1, v1,
    rest_framework,
)  # fmt: skip
CODE = zlib.crc32(repr(django.VERSION).encode())
for _file in (__file__, *(module.__file__ or "" for module in MADE_OF)):
    CODE = zlib.crc32(Path(_file).read_bytes(), CODE)
SHARED: dict[str, Any] = {
    "brand": (Brand, v1.BrandSerializer),
    "recruiter": (Recruiter, v1.RecruiterSerializer),
}


class ChangedError(Exception):
    """Somebody wrote between two of our reads."""


def render(version: str, pks: Iterable[int]) -> dict[int, bytes]:
    """Return the documents of the vacancies `pks`, made by the serializer of the version."""
    serializer = _serializer(version, made_by())
    made = {}
    for vacancy in Vacancy.objects.with_related().filter(pk__in=list(pks)):
        for choice in vacancy.ordered_choices:
            choice.option.label = Token(f"option:{choice.option_id}")
        made[vacancy.pk] = made_by() + document(serializer.to_representation(vacancy))
    return made


@cache
def _serializer(version: str, mark: bytes) -> Any:
    """One for each version and `mark`: making its fields takes as long as making an item."""
    return VERSIONS[version](context=STORED)


def made_by() -> bytes:
    """The mark of documents that this code makes under these settings, 8 bytes; others are made anew."""
    return _made_by(settings.MULTI_BRANDING, settings.TIME_ZONE, settings.MEDIA_URL)


@cache
def _made_by(*values: Any) -> bytes:
    return b"%08x" % zlib.crc32(repr(values).encode(), CODE)


def fill_in(version: str, rows: list[tuple]) -> dict[int, bytes]:
    """Return the documents of those of `rows` (id, stamp, document) that have none, and store them.
    Raises ChangedError if one was written meanwhile."""
    mark = made_by()
    lacking = {row[0]: row[1] for row in rows if not (row[2] and bytes(row[2][:8]) == mark)}
    if not lacking:
        return {}
    made = render(version, lacking)
    if made.keys() != lacking.keys():
        raise ChangedError
    if store(version, {pk: (lacking[pk], item) for pk, item in made.items()}) < len(made):
        stamps = dict(ListedVacancy.objects.filter(pk__in=list(lacking)).values_list("pk", "stamp"))
        if stamps != lacking:
            raise ChangedError
    return made


def store(version: str, made: dict[int, tuple[int, bytes]]) -> int:
    """Keep documents by id, each with the stamp that its vacancy had before it was read, where that still
    is the stamp; return how many are kept."""
    sql = f"UPDATE {ListedVacancy._meta.db_table} SET {version} = %s WHERE vacancy_id = %s AND stamp = %s"
    try:
        with impatiently(), connections["default"].cursor() as cursor:
            cursor.executemany(sql, [(made[pk][1], pk, made[pk][0]) for pk in sorted(made)])
            return cursor.rowcount
    except DatabaseError:
        return 0  # made again for the next reader


def look_up(tokens: Iterable[bytes]) -> dict[bytes, bytes]:
    """Return what `tokens` stand for; those of what is no more are left out."""
    by_kind: dict[str, list[int]] = {}
    for token in tokens:
        kind, _, pk = token.decode().partition(":")
        by_kind.setdefault(kind, []).append(int(pk))
    found = {}
    for kind, pks in by_kind.items():
        if kind == "option":
            for option, label in FilterOption.objects.filter(pk__in=pks).values_list("pk", "label"):
                found[f"option:{option}".encode()] = dumps(label)
        else:
            model, serializer = SHARED[kind]
            for instance in model.objects.filter(pk__in=pks):
                item = serializer(instance, context=STORED).data
                found[f"{kind}:{instance.pk}".encode()] = whole(document(item))
    return found
