"""The record of erasures, from which `restore` erases again what a backup still contains.

It is a table, so that all nodes share it, with the transaction of the erasure. `backup` copies it
to a file beside the archives, and `restore` keeps the rows of the database that it replaces.
ERASURE_LOG is one more copy, which is written at once.
"""

import os
from collections.abc import Iterable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from django.conf import settings
from django.utils import timezone

from jobsite.models import Erasure

COPY = "erased"  # the file beside the archives; lines of the time and digests


def record(digests: Iterable[str]) -> None:
    """Add `digests`, within the transaction that erases their rows: what cannot be recorded is not
    erased. Raise OSError.
    """
    found = list(digests)
    _add(found)
    if settings.ERASURE_LOG:
        _append(Path(settings.ERASURE_LOG), found)


def copy(folder: Path) -> None:
    """Add the digests that the file in `folder` lacks. Raise OSError."""
    file = folder / COPY
    missing = set(Erasure.objects.values_list("digest", flat=True)) - _read(file)
    if missing:
        _append(file, sorted(missing))


def recorded(folder: Path | None = None) -> set[str]:
    """Return all digests of the table, ERASURE_LOG and the file in `folder`, and add them to the
    table.
    """
    files = [Path(settings.ERASURE_LOG)] if settings.ERASURE_LOG else []
    files += [folder / COPY] if folder else []
    of_files = {digest for file in files for digest in _read(file)}
    _add(of_files)
    return of_files | set(Erasure.objects.values_list("digest", flat=True))


def exact(at: datetime) -> str:
    """Return `at` as digests have it."""
    return f"{at.astimezone(UTC):%Y-%m-%dT%H:%M:%S.%f}"


def _add(digests: Iterable[str]) -> None:
    rows = [Erasure(digest=digest) for digest in digests]
    Erasure.objects.bulk_create(rows, batch_size=500, ignore_conflicts=True)


def _read(file: Path) -> set[str]:
    if not file.is_file():
        return set()
    return {digest for line in file.read_text().splitlines() for digest in line.split()[1:]}


def _append(file: Path, digests: Iterable[str]) -> None:
    with open(file, "a", opener=partial(os.open, mode=0o600)) as log:
        log.write(f"{timezone.now():%Y-%m-%dT%H:%M:%SZ} {' '.join(digests)}\n")
        log.flush()
        os.fsync(log.fileno())
