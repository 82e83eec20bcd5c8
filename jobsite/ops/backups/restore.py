"""Verifying and restoring an archive."""

import os
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from itertools import chain
from pathlib import Path
from typing import BinaryIO, NamedTuple

from django.conf import settings
from django.core.management import call_command
from django.db import connection

from jobsite import private_files
from jobsite.db.history import missing_parts, replacements
from jobsite.db.locks import dispatcher_stopped
from jobsite.ops.backups import bucket, databases
from jobsite.ops.backups.archive import (
    MEDIA,
    PRIVATE,
    is_private,
    media_path,
    members,
    open_verified,
    private_name,
    verify_content,
)
from jobsite.ops.backups.files import (
    CHUNK,
    BackupError,
    Progress,
    create_folder,
    digest,
    printable,
    staging,
)
from jobsite.ops.signatures import Signature
from jobsite.private_files import create_private
from jobsite.types import JsonObject

# Added to the revision: more than is committed between two of our statements, so that no revision
# repeats.
REVISION_STEP = 1_000_000
# Credentials that were revoked since the backup must not become valid again.
CREDENTIALS = ("django_session", "applications_token", "vacancies_integrationtoken")
# Emails that were queued at the time of the backup have probably been sent since. They are not sent
# twice.
OUTBOX = "applications_message"
# The copy of a site must not tell its receivers anything. An administrator resumes those of a site.
WEBHOOKS = "vacancies_webhook"
DISPATCHER_WAIT = 60.0  # seconds: it finishes its email
# What was erased since the backup must not come back.
ERASURES = "jobsite_erasure"


class Verified(NamedTuple):
    manifest: JsonObject
    signature: Signature


class Restored(NamedTuple):
    manifest: JsonObject
    signature: Signature
    files: int  # that were missing or different
    erased: Counter[str] | None  # accounts that were erased again, None if no erasure is recorded


def verify(archive: Path, *, progress: Progress) -> Verified:
    """Verify the signature and the integrity of `archive`. Raises BackupError."""
    with (
        staging(Path(tempfile.gettempdir())) as folder,
        open_verified(archive) as (file, signature),
    ):
        return Verified(verify_content(file, folder / "database", progress), signature)


def restore(
    archive: Path,
    *,
    is_forced: bool,
    progress: Progress,
    erase_again: Callable[[], Counter[str] | None],
) -> Restored:
    """Restore the database and the files from `archive`, and call `erase_again`. Raises
    BackupError.

    Before the one transaction that replaces the database, nothing changes. Running processes need
    no restart: the revision is higher than any that they have seen.
    """
    with (
        staging(Path(tempfile.gettempdir())) as folder,
        open_verified(archive) as (file, signature),
    ):
        dump = folder / "database"
        manifest = verify_content(file, dump, progress)
        _check_compatible(manifest)
        if connection.vendor == "sqlite":
            Path(connection.settings_dict["NAME"]).parent.mkdir(parents=True, exist_ok=True)
        if not is_forced and databases.is_in_use():
            raise BackupError("The database is not empty: --force replaces all of it.")
        with dispatcher_stopped(DISPATCHER_WAIT) as is_stopped:
            if not is_stopped:
                raise BackupError(
                    "Nothing was replaced: manage.py deliver is active. Stop it (jobsite-deliver)."
                )
            erasures = _erasures()
            also = erasures if ERASURES in manifest["tables"] else []
            files = _replace(file, manifest, dump, progress, also)
            # The triggers may be of older code, and tables of newer code may be missing.
            call_command("migrate", verbosity=0, interactive=False)
            with connection.cursor() as cursor:
                for statement in erasures:  # again: the archive may be of code without the table
                    cursor.execute(statement)
                if connection.vendor == "postgresql":
                    # Otherwise queries have bad plans until autovacuum comes.
                    cursor.execute("ANALYZE")
            return Restored(manifest, signature, files, erase_again())


def _check_compatible(manifest: JsonObject) -> None:
    """Raise BackupError if the archive is of another engine or of newer code."""
    if manifest["engine"] != connection.vendor:
        engine = printable(manifest["engine"])
        raise BackupError(f"The archive is of {engine}, and DATABASE_URL of {connection.vendor}.")
    known = replacements()
    names = {*known, *chain.from_iterable(known.values())}
    apps = {app for app, _ in known}
    unknown = [f"{a}.{n}" for a, n in manifest["migrations"] if a in apps and (a, n) not in names]
    if unknown:
        raise BackupError(f"The archive is of newer code, with {printable(', '.join(unknown))}.")
    if missing := missing_parts([(a, n) for a, n in manifest["migrations"]]):
        raise BackupError(f"The archive is of code before 1.0.0, without {', '.join(missing)}.")


def _replace(
    archive: BinaryIO, manifest: JsonObject, dump: Path, progress: Progress, also: Iterable[str]
) -> int:
    """Replace the database and the files. Return how many files were missing or different.

    A failure before the database is replaced leaves no new file and no new folder.
    """
    if settings.FILES_IN_BUCKET:
        statements = [*_statements(manifest), *also]
        return bucket.replace(
            archive, manifest, lambda: databases.replace(dump, statements), progress
        )
    media, private = Path(settings.MEDIA_ROOT), Path(settings.PRIVATE_ROOT)
    with ExitStack() as undo:
        create_folder(media, undo)
        create_folder(private, undo, 0o700)
        # In the folder itself, because a file cannot be renamed to another file system.
        with staging(media) as of_media, staging(private) as of_private:
            folders = {MEDIA: of_media, PRIVATE: of_private}
            copies = list(_copies(archive, manifest, folders, progress))
            changed = [(copy, path) for copy, path in copies if path.exists()]
            for copy, path in copies:
                if not path.exists():  # no row of the current database names it
                    create_folder(path.parent, undo)
                    undo.callback(path.unlink, missing_ok=True)
                    copy.replace(path)
            databases.replace(dump, [*_statements(manifest), *also])
            undo.pop_all()
            for copy, path in changed:
                copy.replace(path)
    return len(copies)


def _target(name: str) -> Path:
    """Return the path of the file that is the part `name`."""
    return private_files.final_path(private_name(name)) if is_private(name) else media_path(name)


def _is_equal(path: Path, expected: JsonObject) -> bool:
    """Whether `path` is a file of the `expected` size and digest."""
    if not path.is_file() or path.stat().st_size != expected["size"]:
        return False
    with open(path, "rb") as existing:
        return digest(existing) == expected["sha256"]


def _copies(
    archive: BinaryIO, manifest: JsonObject, folders: dict[str, Path], progress: Progress
) -> Iterator[tuple[Path, Path]]:
    """Copy the files that are missing or different to the folder of their kind in `folders`. Yield
    each copy and its path.

    Raises BackupError.
    """
    for number, (member, file) in enumerate(progress(members(archive), unit="part")):
        folder = next((folders[kind] for kind in folders if member.name.startswith(kind)), None)
        if folder is None:
            continue
        expected, path = manifest["parts"][member.name], _target(member.name)
        if path.is_dir():
            raise BackupError(f"Nothing was replaced: {printable(str(path))} is a folder.")
        if _is_equal(path, expected):
            continue
        copy = folder / str(number)
        with create_private(copy) as target:
            shutil.copyfileobj(file, target, CHUNK)
            target.seek(0)
            if digest(target) != expected["sha256"]:
                raise BackupError("Nothing was replaced: the archive changed while it was read.")
        # A private file is new: purge waits a day for its row.
        if not is_private(member.name):
            copy.chmod(settings.FILE_UPLOAD_PERMISSIONS or 0o644)
            os.utime(copy, (member.mtime, member.mtime))
        yield copy, path


def _statements(manifest: JsonObject) -> list[str]:
    """Return the statements that adapt the restored database to this site."""
    tables = manifest["tables"]
    statements = [f"DELETE FROM {table}" for table in CREDENTIALS if table in tables]
    if OUTBOX in tables:
        statements.append(
            f"UPDATE {OUTBOX} SET state = 'failed', error = 'restored from a backup', "
            "finished_at = CURRENT_TIMESTAMP WHERE state IN ('queued', 'sending')"
        )
    if "jobsite_revision" in tables:
        number, shared = _revision()
        highest = "max" if connection.vendor == "sqlite" else "greatest"
        statements.append(
            f"UPDATE jobsite_revision SET number = {highest}(abs(number), {number}) + "
            f"{REVISION_STEP}, shared = {highest}(shared, {shared}) + {REVISION_STEP}"
        )
    if WEBHOOKS in tables:
        statements.append(f"UPDATE {WEBHOOKS} SET state = 'paused' WHERE state = 'active'")
    if "jobsite_cursorgap" in tables:  # clients of a feed have to read the list anew
        statements.append(
            "INSERT INTO jobsite_cursorgap (after, before) SELECT -1, number FROM jobsite_revision"
        )
    return statements


def _erasures() -> list[str]:
    """Return statements that add the recorded erasures of the database that is replaced, if it has
    any.
    """
    if ERASURES not in connection.introspection.table_names():
        return []
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT digest, at FROM {ERASURES}")
        rows = cursor.fetchall()
    into = f"INSERT INTO {ERASURES} (digest, at) VALUES"
    return [f"{into} ('{digest}', '{at}') ON CONFLICT DO NOTHING" for digest, at in rows]


def _revision() -> tuple[int, int]:
    """Return the revision numbers of the database that is replaced; it may have no such table."""
    if "jobsite_revision" not in connection.introspection.table_names():
        return 0, 0
    with connection.cursor() as cursor:
        cursor.execute("SELECT abs(number), shared FROM jobsite_revision WHERE id = 1")
        return cursor.fetchone() or (0, 0)
