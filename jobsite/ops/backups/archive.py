"""Reading an archive: its signature, its members, and its integrity."""

import hashlib
import io
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO, BinaryIO

from django.conf import settings

from jobsite import private_files
from jobsite.ops import signatures
from jobsite.ops.backups import manifest as manifests
from jobsite.ops.backups.files import CHUNK, BackupError, Progress, printable
from jobsite.ops.signatures import Signature, SignatureError
from jobsite.private_files import create_private
from jobsite.types import JsonObject

NAME = "jobsite-{:%Y%m%dT%H%M%SZ}.tar"
PATTERN = "jobsite-*T*Z.tar"
MEDIA, PRIVATE = "media/", "private/"  # prefixes of parts
# Name of the part, by engine.
DATABASE = {"postgresql": "database.dump", "sqlite": "database.sqlite3.gz"}
DIGEST = "comment"  # PAX header of the manifest with its own digest
# Seconds since 1970; os.utime fails beyond the range of the operating system.
MODIFIED_MAX = 1 << 33


def media_path(name: str) -> Path:
    """Return the path of the media file that is the part `name`."""
    return Path(settings.MEDIA_ROOT) / name.removeprefix(MEDIA)


def is_private(name: str) -> bool:
    return name.startswith(PRIVATE)


def private_name(name: str) -> str:
    """Return the name of the private file that is the part `name`."""
    return name.removeprefix(PRIVATE)


@contextmanager
def open_verified(archive: Path) -> Iterator[tuple[BinaryIO, Signature]]:
    """Verify the signature of `archive` before anything else is read. Raises BackupError.

    The file is opened once, so that nobody can replace it after the verification.
    """
    with open(archive, "rb") as file:
        try:
            signature = signatures.verify(file)
        except SignatureError as error:
            raise BackupError(str(error)) from None
        yield file, signature


def members(archive: BinaryIO) -> Iterator[tuple[tarfile.TarInfo, IO[bytes] | None]]:
    """Yield the parts of `archive` and their content. Raises BackupError.

    A part must be a plain file, with a canonical name inside MEDIA_ROOT, that of a private file, or
    a name of ours.
    """
    archive.seek(0)
    with tarfile.open(fileobj=archive, mode="r:") as tar:
        for member in tar:
            if not (_is_ours(member.name) and _is_plain(member)):
                raise BackupError(f"Not part of a backup: {printable(member.name)}.")
            if member.name == manifests.NAME and member.size > manifests.BYTES_MAX:
                raise BackupError(f"The archive is damaged: {manifests.NAME} is too large.")
            yield member, tar.extractfile(member)


def _is_ours(name: str) -> bool:
    if is_private(name):
        return private_files.is_name(private_name(name))
    if name == manifests.NAME or name in DATABASE.values():
        return True
    # a//b and a/../b would be second names of the same file
    path = PurePosixPath(name)
    if not name.startswith(MEDIA) or str(path) != name or ".." in path.parts:
        return False
    return media_path(name).resolve().is_relative_to(media_path("").resolve())


def _is_plain(member: tarfile.TarInfo) -> bool:
    # a sparse file has a few bytes here, and any size when it is read
    is_file = member.type in (tarfile.REGTYPE, tarfile.AREGTYPE) and not member.issparse()
    return is_file and member.size >= 0 and 0 <= member.mtime < MODIFIED_MAX


def verify_content(archive: BinaryIO, database: Path, progress: Progress) -> JsonObject:
    """Return the manifest of `archive` if every part matches it. Raises BackupError.

    Writes the part with the database to the file `database`.
    """
    found: JsonObject = {}
    manifest: JsonObject = {}
    try:
        for member, file in progress(members(archive), unit="part"):
            if manifest or member.name in found:
                raise BackupError(
                    "The archive is damaged: a part occurs twice, or after the manifest."
                )
            if member.name == manifests.NAME:
                manifest = _read_manifest(member, file)
                continue
            if member.name in DATABASE.values():
                if database.exists():
                    raise BackupError("The archive is damaged: it contains two databases.")
                with create_private(database) as target:
                    sha256 = _copy(file, target)
            else:
                sha256 = _copy(file, None)
            found[member.name] = {"size": member.size, "sha256": sha256}
    except (tarfile.TarError, EOFError, ValueError, OverflowError) as error:
        raise BackupError(
            f"The archive is truncated, or not a backup: {printable(str(error))}."
        ) from None
    if not manifest:
        raise BackupError("The archive is truncated, or not a backup: it has no manifest.")
    _compare(found, manifest)
    if not database.exists():
        raise BackupError("The archive contains no database.")
    expected = DATABASE.get(manifest["engine"])
    if expected and expected not in found:
        raise BackupError(f"The archive is damaged: it contains no {expected}.")
    return manifest


def _copy(file: IO[bytes], target: IO[bytes] | None) -> str:
    """Copy `file` to `target`, if there is one. Return its SHA-256."""
    sha256 = hashlib.sha256()
    while chunk := file.read(CHUNK):
        sha256.update(chunk)
        if target:
            target.write(chunk)
    return sha256.hexdigest()


def _read_manifest(member: tarfile.TarInfo, file: IO[bytes]) -> JsonObject:
    text = io.BytesIO()
    if member.pax_headers.get(DIGEST) != _copy(file, text):
        raise BackupError(f"The archive is damaged: {manifests.NAME} differs.")
    return manifests.parse(text.getvalue())


def _compare(found: JsonObject, manifest: JsonObject) -> None:
    """Raise BackupError if the parts that were `found` are not those of the manifest."""
    for name in sorted(found.keys() | manifest["parts"].keys()):
        if found.get(name) != manifest["parts"].get(name):
            raise BackupError(f"The archive is damaged: {printable(name)} differs.")
    for name in found:
        if parents := found.keys() & {str(folder) for folder in PurePosixPath(name).parents}:
            raise BackupError(
                f"The archive is damaged: {printable(parents.pop())} is a file and a folder."
            )
