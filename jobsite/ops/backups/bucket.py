"""Files of a bucket (FILES_URL) in an archive."""

import os
from collections.abc import Callable
from contextlib import ExitStack, suppress
from typing import Any, BinaryIO

from django.core.files.storage import default_storage

from jobsite import private_files
from jobsite.ops.backups.archive import MEDIA, is_private, members, private_name
from jobsite.ops.backups.files import Add, BackupError, Progress, digest
from jobsite.types import JsonObject


def add_media(add: Add, progress: Progress) -> None:
    """Call `add` with name, content and time of each file of media/. Raises OSError."""
    store: Any = default_storage
    for entry in progress(list(store.entries()), unit="file"):
        with suppress(FileNotFoundError), store.fetch(entry.name) as file:
            add(MEDIA + entry.name, file, os.fstat(file.fileno()).st_mtime)


def replace(
    archive: BinaryIO,
    manifest: JsonObject,
    replace_database: Callable[[], None],
    progress: Progress,
) -> int:
    """Store the files that are missing, call `replace_database`, and store the files that differ.
    Return how many there are. Raises BackupError and OSError.

    A failure before the database is replaced leaves no new file.
    """
    added, changed = 0, set[str]()
    with ExitStack() as undo:
        for member, file in progress(members(archive), unit="part"):
            if (place := _place(member.name)) is None:
                continue
            store, name = place
            expected = manifest["parts"][member.name]["sha256"]
            try:
                with store.fetch(name) as existing:
                    if digest(existing) != expected:
                        changed.add(member.name)
            except FileNotFoundError:
                undo.callback(store.delete, name)
                _put(store, name, file, expected)
                added += 1
        replace_database()
        undo.pop_all()
        for member, file in members(archive):
            if member.name in changed and (place := _place(member.name)):
                _put(*place, file, manifest["parts"][member.name]["sha256"])
    return added + len(changed)


def _place(part: str) -> tuple[Any, str] | None:
    """Return the storage and the name of the file that is `part`; None for other parts."""
    if is_private(part):
        return private_files.bucket(), private_name(part)
    return (default_storage, part.removeprefix(MEDIA)) if part.startswith(MEDIA) else None


def _put(store: Any, name: str, file: Any, expected: str) -> None:
    if digest(file) != expected:
        raise BackupError("Nothing was replaced: the archive changed while it was read.")
    store.put(name, file)
