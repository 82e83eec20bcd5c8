"""Idempotency keys, and locks that make equal requests wait or fail while the first one is processed.

A row of `IdempotencyKey` is written in the transaction of its application. Until then, a lock stands for it:
an advisory lock of PostgreSQL, or a locked file beside an SQLite database, which has one host.
"""

import fcntl
import json
import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any

from django.core.files import File
from django.db import IntegrityError, connection, transaction

from applications.models import Application, IdempotencyKey
from vacancies.models import Vacancy

KEPT = timedelta(days=1)


class KeyInUseError(Exception):
    """A request with the same key is being processed."""


class KeyReusedError(Exception):
    """The key was used with other content."""


def digest(*parts: Any) -> str:
    """Return a hash of JSON data."""
    return sha256(json.dumps(parts, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def fingerprint(values: dict[str, Any], files: Mapping[str, File]) -> str:
    """Return a hash of the values and of the content of the files."""
    hashes = {}
    for name, file in files.items():
        content = sha256()
        file.seek(0)
        for chunk in file.chunks():
            content.update(chunk)
        hashes[name] = content.hexdigest()
    return digest(values, hashes)


def find(vacancy: Vacancy, key: str, content: str, *, at: datetime) -> Application | None:
    """Return the application that the key created within a day before `at`, or None. Raise KeyReusedError if
    it was created with other content."""
    row = IdempotencyKey.objects.filter(vacancy=vacancy, key_hash=digest(key)).first()
    if row is None:
        return None
    if row.created_at <= at - KEPT:
        row.delete()
        return None
    if row.fingerprint != content:
        raise KeyReusedError
    # None if it was erased meanwhile
    applications = Application.objects.select_related("submission__snapshot")
    return applications.filter(pk=row.application_id).first()


def record(vacancy: Vacancy, key: str, content: str, application: Application, *, at: datetime) -> None:
    """Store the key, in the transaction of `application`. Raise KeyInUseError if another request did."""
    try:
        IdempotencyKey.objects.create(
            vacancy=vacancy, key_hash=digest(key), fingerprint=content, application=application, created_at=at
        )
    except IntegrityError as error:
        raise KeyInUseError from error


@contextmanager
def in_use(vacancy: Vacancy, key: str) -> Iterator[None]:
    """Mark the key as being processed. Raise KeyInUseError if it is already.

    On PostgreSQL the block is a transaction: session locks do not work behind pgbouncer.
    """
    if connection.vendor == "postgresql":
        with transaction.atomic():
            if not _advisory_lock("pg_try_advisory_xact_lock", "key", vacancy.pk, key):
                raise KeyInUseError
            yield
    else:
        name = digest("key", str(connection.settings_dict["NAME"]), vacancy.pk, key)
        with _locked_file(Path(tempfile.gettempdir()) / f"jobsite-{name}"):
            yield


def lock_address(vacancy: Vacancy, address: str) -> None:
    """Wait for other submissions from `address` to `vacancy`, until the end of the transaction.

    SQLite has one writer at a time, so its transactions need no lock.
    """
    if connection.vendor == "postgresql":
        _advisory_lock("pg_advisory_xact_lock", "address", vacancy.pk, address)


def _advisory_lock(function: str, *name: Any) -> bool:
    number = int.from_bytes(bytes.fromhex(digest(*name))[:8], signed=True)
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {function}(%s)", [number])
        return cursor.fetchone()[0]


@contextmanager
def _locked_file(path: Path) -> Iterator[None]:
    """Hold a lock on a new file. Raise KeyInUseError if it is locked.

    The lock only makes the second request fail early: `record` refuses it in any case. So a folder that
    cannot be written is no error.
    """
    lock = None
    with suppress(OSError):
        lock = os.open(path, os.O_CREAT | os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    if lock is None:
        yield
        return
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise KeyInUseError from error
        try:
            yield
        finally:
            with suppress(OSError):
                path.unlink()  # while it is locked
    finally:
        os.close(lock)
