"""Idempotency keys, and locks that make equal requests wait or fail while the first one is
processed.

A row of `IdempotencyKey` is written in the transaction of its application. Until then, a lock
stands for it: an advisory lock of PostgreSQL, or a locked file beside an SQLite database, which has
one host.
"""

import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta
from hashlib import sha256
from pathlib import Path

from django.db import IntegrityError, connection, transaction

from applications.models import Application, IdempotencyKey
from jobsite.db.locks import FileLock, lock_transaction
from vacancies.models import Vacancy

KEY_AGE = timedelta(days=1)


class KeyInUseError(Exception):
    """A request with the same key is being processed."""


class KeyReusedError(Exception):
    """The key was used with other content."""


def digest(*parts: object) -> str:
    """Return a hash of JSON data."""
    return sha256(json.dumps(parts, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def application_of(vacancy: int, key: str) -> Application | None:
    """Return the application that the key created, to the vacancy with this id."""
    rows = IdempotencyKey.objects.select_related("application__submission")
    row = rows.filter(vacancy=vacancy, key_hash=digest(key)).first()
    return row.application if row else None


def find(vacancy: Vacancy | int, key: str, content: str, *, at: datetime) -> Application | None:
    """Return the application that the key created within a day before `at`, or None. Raise
    KeyReusedError if it was created with other content.
    """
    row = IdempotencyKey.objects.filter(vacancy=vacancy, key_hash=digest(key)).first()
    if row is None:
        return None
    if row.created_at <= at - KEY_AGE:
        row.delete()
        return None
    if row.fingerprint != content:
        raise KeyReusedError
    # None if it was erased meanwhile
    applications = Application.objects.select_related("submission__snapshot")
    return applications.filter(pk=row.application_id).first()


def record(
    vacancy: Vacancy, key: str, content: str, application: Application, *, at: datetime
) -> None:
    """Store the key, in the transaction of `application`.
    Raise KeyInUseError if another request did.
    """
    try:
        IdempotencyKey.objects.create(
            vacancy=vacancy,
            key_hash=digest(key),
            fingerprint=content,
            application=application,
            created_at=at,
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
            if not lock_transaction(digest("key", vacancy.pk, key), wait=False):
                raise KeyInUseError
            yield
    else:
        name = digest("key", str(connection.settings_dict["NAME"]), vacancy.pk, key)
        with _locked_file(Path(tempfile.gettempdir()) / f"jobsite-{name}"):
            yield


def lock_address(vacancy: Vacancy, address: str) -> None:
    """Wait for other submissions from `address` to `vacancy`, until the end of the transaction."""
    lock_transaction(digest("address", vacancy.pk, address))


@contextmanager
def _locked_file(path: Path) -> Iterator[None]:
    """Hold a lock on a new file. Raise KeyInUseError if it is locked.

    The lock only makes the second request fail early: `record` refuses it in any case. So a folder
    that cannot be written is no error.
    """
    lock = FileLock(path)
    try:
        is_acquired = lock.acquire()
    except OSError:
        yield
        return
    if not is_acquired:
        raise KeyInUseError
    try:
        yield
    finally:
        with suppress(OSError):
            path.unlink()  # while it is locked
        lock.release()
