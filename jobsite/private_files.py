"""Files below PRIVATE_ROOT, or below private/ of the bucket of FILES_URL. Only this account can
read them, and no URL leads to them.

A file is written before the transaction that stores its name, so that no row is without its file.
purge deletes files without a row, but waits a day for their transaction.
"""

import os
import re
import secrets
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from django.conf import settings
from django.core.files.storage import storages
from django.db import models

_NAME = re.compile(r"[0-9a-f]{32}")


class PrivateNameField(models.CharField):
    """The name of a file below PRIVATE_ROOT. Backups contain the files that such columns name."""

    def deconstruct(self) -> tuple:
        name, _path, args, kwargs = super().deconstruct()
        return name, "django.db.models.CharField", args, kwargs


class Stored(NamedTuple):
    """A file of the folder or bucket."""

    name: str
    place: str  # its path, or private/NAME in the bucket
    size: int
    modified_at: float  # seconds since 1970


def new_name() -> str:
    return secrets.token_hex(16)


def is_name(name: str) -> bool:
    """Whether `name` is like those of `new_name`."""
    return _NAME.fullmatch(name) is not None


def final_path(name: str) -> Path:
    """Return the path of the file `name`.
    Raise ValueError for a name that is not one of `new_name`.
    """
    return Path(settings.PRIVATE_ROOT, checked(name))


def checked(name: str) -> str:
    """Return `name`. Raise ValueError if it is not one of `new_name`."""
    if not is_name(name):
        raise ValueError("This is not the name of a private file.")
    return name


def bucket() -> Any:
    """Return the storage of the files if they are in a bucket, else None."""
    return storages["private"] if settings.FILES_IN_BUCKET else None


def write(name: str, chunks: Iterable[bytes]) -> None:
    """Write the file `name` to the disk, or into the bucket. Raise OSError; then there is no file,
    or in the bucket one that purge deletes.
    """
    if store := bucket():
        with tempfile.TemporaryFile() as file:
            file.writelines(chunks)
            store.put(checked(name), file)
        return
    folder = Path(settings.PRIVATE_ROOT)
    if not folder.exists():
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        sync_folder(folder.parent)
    path = final_path(name)
    try:
        with create_private(path) as file:
            for chunk in chunks:
                file.write(chunk)
            file.flush()
            os.fsync(file.fileno())
        sync_folder(folder)
    except BaseException:
        path.unlink(missing_ok=True)
        raise


def open_file(name: str) -> BinaryIO:
    """Open the file `name` for reading. Raise FileNotFoundError, or another OSError."""
    if store := bucket():
        return store.fetch(checked(name))
    return open(final_path(name), "rb")


def exists(name: str) -> bool:
    return is_name(name) and final_path(name).is_file()


def delete(names: Iterable[str]) -> None:
    """Delete the files. Those that do not exist are ignored. Raise OSError."""
    store = bucket()
    for name in names:
        if store:
            store.delete(checked(name))
        else:
            final_path(name).unlink(missing_ok=True)


def stored() -> Iterator[Stored]:
    """Yield each file. Files with other names, which are not ours, are left out."""
    if store := bucket():
        for name, size, modified_at in store.entries():
            if is_name(name):
                yield Stored(name, f"private/{name}", size, modified_at.timestamp())
        return
    for path in _paths():
        if is_name(path.name):
            with suppress(FileNotFoundError):  # deleted meanwhile
                stat = path.stat()
                yield Stored(path.name, str(path), stat.st_size, stat.st_mtime)


def remove(file: Stored) -> None:
    """Delete `file`, if it still exists. Raise OSError."""
    if bucket():
        delete([file.name])
    else:
        Path(file.place).unlink(missing_ok=True)


def _paths() -> Iterator[Path]:
    folder = Path(settings.PRIVATE_ROOT)
    yield from sorted(folder.iterdir()) if folder.is_dir() else ()


def create_private(path: Path) -> BinaryIO:
    """Create a file that only this user can read, and return it open for reading and writing."""
    return open(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600), "w+b")


def sync_folder(folder: Path) -> None:
    """Write the entries of `folder` to the disk."""
    number = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)
