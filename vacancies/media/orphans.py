"""Uploaded files that nothing references."""

from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.core.files.storage import default_storage
from django.db.models import Q

from vacancies.media.visibility import COLUMNS, STEP, names_in
from vacancies.models import Approval, VacancyTemplate, Version
from vacancies.uploads.image_copies import originals

ORPHAN_AGE = timedelta(days=1)  # a save stores its files before it references them


def orphans(*, at: datetime) -> Iterator[tuple[str, int]]:
    """Yield (name, size in bytes) of each file older than ORPHAN_AGE that nothing references, and
    of the copies of such images.
    """
    files = {
        name: size
        for folder in COLUMNS
        for name, size, modified_at in _files(folder)
        if modified_at < at - ORPHAN_AGE
    }
    copies = {name for name in files if originals(name)[1]}
    old = {name: size for name, size in files.items() if name not in copies}
    for name in _referenced_by_rows(sorted(old)):
        old.pop(name, None)
    if old:  # a version can be restored, a request approved, a template used
        for name in _referenced_by_contents():
            old.pop(name, None)
    kept = files.keys() - copies - old.keys()
    old |= {name: files[name] for name in copies if kept.isdisjoint(originals(name)[0])}
    yield from sorted(old.items())


def _referenced_by_rows(names: list[str]) -> Iterator[str]:
    columns = [pair for pairs in COLUMNS.values() for pair in pairs]
    for start in range(0, len(names), STEP):
        step = names[start : start + STEP]
        for model, column in columns:
            rows = model._default_manager.filter(**{f"{column}__in": step})
            yield from rows.values_list(column, flat=True)


def _files(folder: str) -> Iterator[tuple[str, int, datetime]]:
    """Yield name, size and time of modification of each file."""
    storage: Any = default_storage
    if settings.FILES_IN_BUCKET:
        yield from storage.entries(f"{folder}/")
        return
    with suppress(FileNotFoundError):
        for file in default_storage.listdir(folder)[1]:
            name = f"{folder}/{file}"
            yield name, default_storage.size(name), default_storage.get_modified_time(name)


# The models with contents of vacancies as JSON, and their columns.
CONTENTS: tuple[tuple[Any, str], ...] = (
    (Version, "content"),
    (Approval, "changes"),
    (VacancyTemplate, "content"),
)


def _referenced_by_contents() -> Iterator[str]:
    for model, column in CONTENTS:
        with_files = Q(**{f"{column}__has_key": "image"}) | Q(
            **{f"{column}__has_key": "attachments"}
        )
        rows = model.objects.filter(with_files).order_by("pk")
        yield from names_in(rows.values_list(f"{column}__image", f"{column}__attachments"))
