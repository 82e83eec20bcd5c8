"""Creating an archive, while the site is running."""

import io
import json
import os
import shutil
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path, PurePosixPath
from typing import IO, BinaryIO, NamedTuple

import django
from django.conf import settings
from django.db import connection

from jobsite import private_files
from jobsite.ops import signatures
from jobsite.ops.backups import bucket, databases
from jobsite.ops.backups import manifest as manifests
from jobsite.ops.backups.archive import DATABASE, DIGEST, MEDIA, NAME, PATTERN, PRIVATE
from jobsite.ops.backups.files import (
    CHUNK,
    PART,
    STAGING,
    Add,
    BackupError,
    Progress,
    digest,
    locked,
)
from jobsite.ops.signatures import Signature
from jobsite.private_files import create_private, sync_folder
from jobsite.types import JsonObject

MISSING_MAX = 10  # files that may be lost without a failure of the backup


class Backup(NamedTuple):
    """A new archive."""

    path: Path
    manifest: JsonObject
    signature: Signature
    removed: list[str]  # names of older archives
    is_complete: bool  # False if too many files are missing: a folder is probably not mounted


def create(folder: Path, *, now: datetime, keep: int | None, progress: Progress) -> Backup:
    """Write an archive to `folder`, and remove all but the newest `keep`, unless a file is missing:
    an older archive may be the only one that has it. Raises BackupError.
    """
    media = Path(settings.MEDIA_ROOT).resolve()
    if folder.resolve().is_relative_to(media):
        raise BackupError("The folder is inside MEDIA_ROOT, which is served to everyone.")
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    with locked(folder):
        _remove_parts(folder)  # of a process that was killed
        while (final := folder / NAME.format(now.astimezone(UTC))).exists():
            now += timedelta(seconds=1)  # never replace an archive of the same second
        archive, database = (
            folder / f".{final.name}.{name}{PART}" for name in ("archive", "database")
        )
        try:
            with create_private(archive) as file:
                manifest = _write(file, database, media, now, progress)
                signature = signatures.sign(file)
                file.flush()
                os.fsync(file.fileno())
            archive.rename(final)
            sync_folder(folder)
        finally:
            _remove_parts(folder)
        older: list[Path] = []
        if keep and not manifest["missing"]:
            older = sorted(folder.glob(PATTERN), reverse=True)[keep:]
        for path in older:
            path.unlink()
    removed = [path.name for path in older]
    return Backup(final, manifest, signature, removed, _is_complete(manifest))


def _is_complete(manifest: JsonObject) -> bool:
    """Whether few of the files are missing, and not all private ones."""
    missing: list[str] = manifest["missing"]
    lacks_private = any(name.startswith(PRIVATE) for name in missing)
    has_private = any(name.startswith(PRIVATE) for name in manifest["parts"])
    return len(missing) <= MISSING_MAX and (has_private or not lacks_private)


def _remove_parts(folder: Path) -> None:
    """Remove incomplete files, and the -journal, -wal and -shm files of SQLite beside them."""
    for part in folder.glob(f".{PATTERN}.*{PART}*"):
        part.unlink(missing_ok=True)


def _write(
    archive: BinaryIO, database: Path, media: Path, now: datetime, progress: Progress
) -> JsonObject:
    """Write the parts to `archive`, with `database` as a temporary file. Return the manifest."""
    parts: JsonObject = {}
    with tarfile.open(fileobj=archive, mode="w", format=tarfile.PAX_FORMAT) as tar:

        def add(name: str, file: IO[bytes], modified: float) -> None:
            member = tarfile.TarInfo(name)
            member.size, member.mtime, member.mode = file.seek(0, io.SEEK_END), int(modified), 0o600
            file.seek(0)
            sha256 = digest(file)
            if name == manifests.NAME:
                member.pax_headers = {DIGEST: sha256}
            else:
                parts[name] = {"size": member.size, "sha256": sha256}
            file.seek(0)
            tar.addfile(member, file)

        # The database first: files are stored before the rows that name them.
        with databases.snapshot(database) as execute:
            facts = databases.describe(execute)
        with open(database, "rb") as file:
            add(DATABASE[connection.vendor], file, now.timestamp())
        if settings.FILES_IN_BUCKET:
            bucket.add_media(add, progress)
        else:
            _add_media(media, add, progress)
        private = sorted(facts.pop("private"))
        for name in progress(private, unit="file"):
            # never changed
            with suppress(FileNotFoundError, ValueError), private_files.open_file(name) as kept:
                add(PRIVATE + name, kept, os.fstat(kept.fileno()).st_mtime)
        named = [MEDIA + name for name in facts.pop("named")] + [PRIVATE + name for name in private]
        missing = _missing([name for name in named if name not in parts])
        manifest = {
            "format": manifests.FORMAT,
            "made_at": now.astimezone(UTC).isoformat(),
            "version": settings.VERSION,
            "engine": connection.vendor,
            "django": django.get_version(),
            **facts,
            "missing": missing,
            "parts": parts,
        }
        add(manifests.NAME, io.BytesIO(json.dumps(manifest, indent=1).encode()), now.timestamp())
    return manifest


def _add_media(media: Path, add: Add, progress: Progress) -> None:
    for path in progress(list(_media_files(media)), unit="file"):
        # Copy first: a file that changes or disappears meanwhile is newer than the snapshot.
        with suppress(FileNotFoundError), tempfile.SpooledTemporaryFile(CHUNK * 32) as copy:
            with open(path, "rb") as file:
                shutil.copyfileobj(file, copy, CHUNK)
                modified = os.fstat(file.fileno()).st_mtime
            add(MEDIA + path.relative_to(media).as_posix(), copy, modified)


def _missing(gone: list[str]) -> list[str]:
    """Return those of the parts `gone` that were not deleted meanwhile."""
    current = databases.still_named(name.partition("/")[2] for name in gone)
    return sorted(name.removeprefix(MEDIA) for name in gone if name.partition("/")[2] in current)


def _media_files(folder: Path) -> Iterator[Path]:
    """Yield the files in `folder`, without incomplete ones and the temporary
    folders of `restore`.
    """
    for root, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not PurePosixPath(name).match(STAGING))
        paths = (Path(root, name) for name in sorted(names))
        yield from (path for path in paths if path.is_file() and not path.match(f".*{PART}"))
