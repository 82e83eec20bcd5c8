"""One archive of the database and the media as they were together, and the way back from it.

An archive is a plain tar: the database (by pg_dump, or a SQLite file, compressed), the files of the media,
and at the end `manifest.json`, with the size and the digest of each part. What has no end is no archive.
A signature follows if there is a BACKUP_KEY (`jobsite.ops.signatures`).
"""

import fcntl
import gzip
import hashlib
import io
import json
import os
import re
import shutil
import sqlite3
import subprocess
import tarfile
import tempfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO, NamedTuple

import django
import jsonschema
from django.apps import apps
from django.conf import settings
from django.core.management import call_command
from django.db import connection, models
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

from applications import privacy
from jobsite.api.document import version
from jobsite.ops import signatures
from jobsite.ops.signatures import Signature, SignatureError

FORMAT = 1
NAME = "jobsite-{:%Y%m%dT%H%M%SZ}.tar"
PATTERN = "jobsite-*T*Z.tar"
PART = ".part"  # at the end of what is not complete
STAGING = f".jobsite-restore-*{PART}"  # folders that `restore` works in
MANIFEST, MEDIA = "manifest.json", "media/"
DIGEST = "comment"  # the field for it in the header of the manifest
DATABASE = {"postgresql": "database.dump", "sqlite": "database.sqlite3.gz"}
# More than anybody commits between two statements of ours: the revision never comes by again.
LEAP = 1_000_000
# One row in any of these, and there is something to lose.
CONTENT = ("auth_user", "vacancies_vacancy", "vacancies_brand", "vacancies_recruiter", "forms_structure_form")
# Who signed out, or was signed out, since the backup is not signed in again.
CREDENTIALS = ("django_session", "applications_token")
CHUNK = 1 << 20
MANIFEST_BYTES_MAX = 1 << 30  # it is parsed in memory
MODIFIED_MAX = 1 << 33  # seconds since 1970; os.utime fails beyond the range of the operating system

_TEXT = {"type": "string", "maxLength": 200}
_COUNT = {"type": "integer", "minimum": 0, "maximum": 2**63 - 1}
# What `_write` puts into the manifest. An archive may come from anybody.
SCHEMA = {
    "type": "object",
    "required": [
        "format", "made_at", "version", "engine", "django", "server", "migrations", "tables", "missing",
        "parts",
    ],
    "properties": {
        "format": {"const": FORMAT},
        "made_at": {"type": "string", "pattern": r"^\d{4}-\d\d-\d\dT[\d:.]{8,15}\+00:00\Z"},
        **dict.fromkeys(("version", "engine", "django", "server"), _TEXT),
        "migrations": {
            "type": "array",
            "items": {"type": "array", "items": _TEXT, "minItems": 2, "maxItems": 2},
        },
        "tables": {"type": "object", "additionalProperties": _COUNT},
        "missing": {"type": "array", "items": {"type": "string"}},
        "parts": {
            "type": "object",
            "additionalProperties": {
                "type": "object",
                "required": ["size", "sha256"],
                "properties": {"size": _COUNT, "sha256": {"type": "string", "pattern": r"^[0-9a-f]{64}\Z"}},
                "additionalProperties": False,
            },
        },
    },
}  # fmt: skip

Progress = Callable[..., Any]  # draws a bar over an iterable


class BackupError(Exception):
    """Why there is no archive, or none that can be used."""


class Made(NamedTuple):
    path: Path
    manifest: dict[str, Any]
    signature: Signature
    removed: list[str]  # older archives


# --- There -----------------------------------------------------------------------------------------------


def make(folder: Path, *, now: datetime, keep: int | None, progress: Progress) -> Made:
    """Write an archive of everything to `folder`; leave the newest `keep` there. Raises BackupError."""
    media = Path(settings.MEDIA_ROOT).resolve()
    if folder.resolve().is_relative_to(media):
        raise BackupError("Not in the media folder: what is there is served to everybody.")
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    with _alone_in(folder):
        _remove_parts(folder)  # of one that was killed
        final = folder / NAME.format(now.astimezone(UTC))
        archive, database = (folder / f".{final.name}.{what}{PART}" for what in ("archive", "database"))
        try:
            with _create(archive) as file:
                manifest = _write(file, database, media, now, progress)
                signature = signatures.sign(file)
                file.flush()
                os.fsync(file.fileno())
            archive.rename(final)
            _sync(folder)
        finally:
            _remove_parts(folder)
        older = sorted(folder.glob(PATTERN), reverse=True)[keep:] if keep else []
        for path in older:
            path.unlink()
    return Made(final, manifest, signature, [path.name for path in older])


def _remove_parts(folder: Path) -> None:
    """Remove what is not complete, and the files that SQLite keeps beside it (-journal, -wal, -shm)."""
    for part in folder.glob(f".{PATTERN}.*{PART}*"):
        part.unlink(missing_ok=True)


@contextmanager
def _alone_in(folder: Path) -> Iterator[None]:
    """One at a time: two that begin together would clear away each other's parts."""
    number = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BackupError(f"Another backup is being written to {folder}.") from None
        yield
    finally:
        os.close(number)


def _create(path: Path) -> Any:
    """A new file, for nobody else to read: it holds personal data."""
    return open(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600), "w+b")


def _sync(folder: Path) -> None:
    number = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)


def _write(archive: Any, database: Path, media: Path, now: datetime, progress: Progress) -> dict[str, Any]:
    parts: dict[str, Any] = {}
    with tarfile.open(fileobj=archive, mode="w", format=tarfile.PAX_FORMAT) as tar:

        def add(name: str, file: Any, modified: float) -> None:
            member = tarfile.TarInfo(name)
            member.size, member.mtime, member.mode = file.seek(0, io.SEEK_END), int(modified), 0o600
            file.seek(0)
            digest = _digest(file)
            if name == MANIFEST:
                member.pax_headers = {DIGEST: digest}
            else:
                parts[name] = {"size": member.size, "sha256": digest}
            file.seek(0)
            tar.addfile(member, file)

        # The database first: a file is stored before the row that names it, so what it names is there.
        with _snapshot(database) as execute:
            told = _describe(execute)
        with open(database, "rb") as file:
            add(DATABASE[connection.vendor], file, now.timestamp())
        for path in progress(list(_files(media)), unit="file"):
            # A copy: one that is being written to or goes away meanwhile is not ours, its row came later.
            with suppress(FileNotFoundError), tempfile.SpooledTemporaryFile(CHUNK * 32) as copy:
                with open(path, "rb") as file:
                    shutil.copyfileobj(file, copy, CHUNK)
                    modified = os.fstat(file.fileno()).st_mtime
                add(MEDIA + path.relative_to(media).as_posix(), copy, modified)
        missing = sorted(name for name in told.pop("named") if MEDIA + name not in parts)
        manifest = {
            "format": FORMAT,
            "made_at": now.astimezone(UTC).isoformat(),
            "version": version(),
            "engine": connection.vendor,
            "django": django.get_version(),
            **told,
            "missing": missing,
            "parts": parts,
        }
        add(MANIFEST, io.BytesIO(json.dumps(manifest, indent=1).encode()), now.timestamp())
    return manifest


def _files(folder: Path) -> Iterator[Path]:
    for root, folders, names in os.walk(folder):
        # nor what a restore works with, or one that was killed has left
        folders[:] = sorted(name for name in folders if not PurePosixPath(name).match(STAGING))
        paths = (Path(root, name) for name in sorted(names))
        yield from (path for path in paths if path.is_file() and not path.match(f".*{PART}"))


def _digest(file: Any) -> str:
    return hashlib.file_digest(file, "sha256").hexdigest()


@contextmanager
def _snapshot(into: Path) -> Iterator[Callable[[str], list[tuple]]]:
    """Write the database to the file `into`, and give a way to ask it as it was at that moment."""
    database: Any = connection.copy()  # beside whatever transaction is going on
    _create(into).close()
    try:
        if connection.vendor == "sqlite":
            # One read transaction, which keeps no writer waiting; without what was deleted, too.
            plain = into.with_suffix(f".plain{PART}")
            _create(plain).close()
            try:
                with database.cursor() as cursor:
                    cursor.execute("VACUUM INTO %s", [str(plain)])
                with open(plain, "rb") as source, gzip.open(into, "wb", compresslevel=1) as target:
                    shutil.copyfileobj(source, target, CHUNK)
                with closing(sqlite3.connect(f"{plain.as_uri()}?mode=ro&immutable=1", uri=True)) as copy:
                    yield lambda sql: copy.execute(sql).fetchall()
            finally:
                plain.unlink(missing_ok=True)
        else:
            database.set_autocommit(False)
            with database.cursor() as cursor:

                def execute(sql: str) -> list[tuple]:
                    cursor.execute(sql)
                    return cursor.fetchall() if cursor.description else []

                execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
                execute("SET LOCAL idle_in_transaction_session_timeout = 0")
                execute("SET LOCAL statement_timeout = 0")
                snapshot = execute("SELECT pg_export_snapshot()")[0][0]
                _postgresql(
                    "pg_dump", "--format=custom", "--compress=1", "--no-owner", "--no-privileges",
                    f"--snapshot={snapshot}", f"--file={into}",
                )  # fmt: skip
                yield execute
    finally:
        database.close()


def _describe(execute: Callable[[str], list[tuple]]) -> dict[str, Any]:
    """What is in the database: its migrations, how many rows, which files it names."""
    if connection.vendor == "sqlite":
        found = execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'")
        server = sqlite3.sqlite_version
    else:
        found = execute("SELECT tablename FROM pg_tables WHERE schemaname = current_schema()")
        server = execute("SHOW server_version")[0][0]
    tables = sorted(name for (name,) in found)
    named: set[str] = set()
    for model in apps.get_models():
        for field in model._meta.local_fields:
            if isinstance(field, models.FileField) and model._meta.db_table in tables:
                rows = execute(f'SELECT DISTINCT "{field.column}" FROM "{model._meta.db_table}"')
                named.update(name for (name,) in rows if name)
    return {
        "server": server,
        "migrations": execute("SELECT app, name FROM django_migrations ORDER BY app, name"),
        "tables": {name: execute(f'SELECT COUNT(*) FROM "{name}"')[0][0] for name in tables},
        "named": named,
    }


def _postgresql(program: str, *words: str) -> None:
    """Run a program of PostgreSQL's on our database; the password goes by the environment."""
    from django.db.backends.postgresql.client import DatabaseClient

    path = shutil.which(program)
    if path is None:
        raise BackupError(
            f"{program} is not installed: on Debian and Ubuntu, install postgresql-client; it has to be as "
            "new as the server."
        )
    said = subprocess.run([path, "--version"], capture_output=True, text=True, check=False).stdout
    ours, servers = int(re.findall(r"\d+", said or "0")[0]), connection.pg_version // 10_000  # type: ignore[attr-defined]
    if ours < servers:
        raise BackupError(
            f"{program} is of version {ours}, and the server of {servers}: install a newer one."
        )
    command, said_env = DatabaseClient.settings_to_cmd_args_env(connection.settings_dict, [])
    env = os.environ | (said_env or {})
    if target := connection.settings_dict["OPTIONS"].get("target_session_attrs"):
        env["PGTARGETSESSIONATTRS"] = target  # of several hosts, the one that may be written to
    where = [] if program == "pg_restore" else command[1:]
    done = subprocess.run(
        [path, *words, *where], env=env, stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, errors="replace", check=False,
    )  # fmt: skip
    if done.returncode:
        raise BackupError(f"{program} failed: {' '.join(done.stderr.split())[-1000:]}")


# --- And back --------------------------------------------------------------------------------------------


class Checked(NamedTuple):
    manifest: dict[str, Any]
    signature: Signature


class Restored(NamedTuple):
    manifest: dict[str, Any]
    signature: Signature
    files: int  # that were not there as they are in the archive
    again: Counter[str] | None  # who was erased again, or None where nothing tells whom


def check(archive: Path, *, progress: Progress) -> Checked:
    """Return what is in `archive` if its signature is right and all of it is as it was written. Raises
    BackupError."""
    with _staging(Path(tempfile.gettempdir())) as folder, _opened(archive) as (file, signature):
        return Checked(_check(file, folder / "database", progress), signature)


@contextmanager
def _opened(archive: Path) -> Iterator[tuple[BinaryIO, Signature]]:
    """Open `archive` once, so that nobody can put another file into its place after its signature has been
    verified. Nothing in it is looked at before that. Raises BackupError."""
    with open(archive, "rb") as file:
        try:
            signature = signatures.verify(file)
        except SignatureError as error:
            raise BackupError(str(error)) from None
        yield file, signature


@contextmanager
def _staging(parent: Path) -> Iterator[Path]:
    """A folder in `parent` for as long as the block runs. Those that a killed process left are removed."""
    for leftover in parent.glob(STAGING):
        with suppress(OSError, BackupError), _alone_in(leftover):  # else its process lives
            shutil.rmtree(leftover)
    made, (prefix, suffix) = Path(tempfile.mkdtemp(dir=parent, prefix=".")), STAGING.split("*")
    with _alone_in(made):
        # Only now that it is locked has it a name by which others look for leftovers.
        folder = made.rename(parent / f"{prefix}{made.name.removeprefix('.')}{suffix}")
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def _check(archive: BinaryIO, into: Path, progress: Progress) -> dict[str, Any]:
    """Return the manifest of `archive` if all of it is as it was written; `into` gets the database.
    Raises BackupError."""
    found: dict[str, Any] = {}
    manifest: dict[str, Any] = {}
    try:
        for member, file in progress(_members(archive), unit="part"):
            if manifest or member.name in found:
                raise BackupError("Not as it was written: something is twice, or after the end.")
            digest, text = hashlib.sha256(), io.BytesIO()
            is_database, is_end = member.name in DATABASE.values(), member.name == MANIFEST
            if is_database and into.exists():
                raise BackupError("Not as it was written: it holds two databases.")
            with _create(into) if is_database else text if is_end else open(os.devnull, "wb") as target:
                while chunk := file.read(CHUNK):
                    digest.update(chunk)
                    target.write(chunk)
                if is_end:
                    if member.pax_headers.get(DIGEST) != digest.hexdigest():
                        raise BackupError(f"Not as it was written: {MANIFEST}.")
                    manifest = _parse(text.getvalue())
                else:
                    found[member.name] = {"size": member.size, "sha256": digest.hexdigest()}
    except (tarfile.TarError, EOFError, ValueError, OverflowError) as error:
        raise BackupError(f"It was cut off, or is no backup: {_shown(str(error))}.") from None
    if not manifest:
        raise BackupError("It has no end: it was cut off, or is no backup.")
    for name in sorted(found.keys() | manifest["parts"].keys()):
        if found.get(name) != manifest["parts"].get(name):
            raise BackupError(f"Not as it was written: {_shown(name)}.")
    for name in found:
        if inside := found.keys() & {str(folder) for folder in PurePosixPath(name).parents}:
            raise BackupError(f"Not as it was written: {_shown(inside.pop())} is a file and a folder.")
    if not into.exists():
        raise BackupError("It holds no database.")
    if DATABASE.get(manifest["engine"], "") not in found and manifest["engine"] in DATABASE:
        raise BackupError(f"Not as it was written: it holds no {DATABASE[manifest['engine']]}.")
    return manifest


def _parse(text: bytes) -> dict[str, Any]:
    """Return the manifest that `text` is. Raises BackupError."""
    try:
        manifest = json.loads(text)
    except RecursionError:
        raise BackupError(f"{MANIFEST} is not as a backup has it: it is nested too deeply.") from None
    if isinstance(manifest, dict) and (number := manifest.get("format", FORMAT)) != FORMAT:
        raise BackupError(f"It is of format {_shown(number)}; this is {FORMAT}.")
    error = jsonschema.exceptions.best_match(jsonschema.Draft202012Validator(SCHEMA).iter_errors(manifest))
    if error:
        raise BackupError(
            f"{MANIFEST} is not as a backup has it, at {_shown(error.json_path)}: {_shown(error.message)}."
        )
    return manifest


def _shown(value: Any) -> str:
    """`value`, which somebody else may have made, on one line for a terminal."""
    text = ascii(str(value))[1:-1]
    return text if len(text) <= 200 else f"{text[:200]}..."


def _members(archive: BinaryIO) -> Iterator[tuple[tarfile.TarInfo, Any]]:
    """The parts of `archive`: plain files with one name each, whose places are inside ours. Raises
    BackupError."""
    media = _place("").resolve()
    archive.seek(0)
    with tarfile.open(fileobj=archive, mode="r:") as tar:
        for member in tar:
            name = member.name
            is_ours = name == MANIFEST or name in DATABASE.values()
            if not is_ours and name.startswith(MEDIA):
                # another spelling of a name (a//b, a/../b) would be a second file at the same place
                path = PurePosixPath(name)
                is_ours = str(path) == name and ".." not in path.parts
                is_ours = is_ours and _place(name).resolve().is_relative_to(media)
            # a sparse file is a few bytes here, and as large as it likes when it is read
            is_plain = member.type in (tarfile.REGTYPE, tarfile.AREGTYPE) and not member.issparse()
            if not (is_ours and is_plain and member.size >= 0 and 0 <= member.mtime < MODIFIED_MAX):
                raise BackupError(f"This is not of a backup: {_shown(name)}.")
            if name == MANIFEST and member.size > MANIFEST_BYTES_MAX:
                raise BackupError(f"Not as it was written: {MANIFEST} is too large.")
            yield member, tar.extractfile(member)


def _place(name: str) -> Path:
    return Path(settings.MEDIA_ROOT) / name.removeprefix(MEDIA)


def occupied() -> bool:
    """Whether the database has something to lose."""
    tables = set(connection.introspection.table_names())
    if tables and MigrationRecorder.Migration._meta.db_table not in tables:
        return True  # of something else
    with connection.cursor() as cursor:
        for table in tables.intersection(CONTENT):
            cursor.execute(f"SELECT 1 FROM {table} LIMIT 1")
            if cursor.fetchone():
                return True
    return False


def restore(archive: Path, *, is_forced: bool, progress: Progress) -> Restored:
    """Put the database and the media back as `archive` has them. Raises BackupError; until the database is
    replaced, by one transaction, nothing has changed then.

    Processes that serve may go on: the revision is beyond any that they have seen.
    """
    with _staging(Path(tempfile.gettempdir())) as folder, _opened(archive) as (file, signature):
        database = folder / "database"
        manifest = _check(file, database, progress)
        if manifest["engine"] != connection.vendor:
            raise BackupError(f"It is of {_shown(manifest['engine'])}, DATABASE_URL of {connection.vendor}.")
        known = MigrationLoader(None).disk_migrations.keys()
        apps_here = {app for app, _ in known}
        unknown = [f"{a}.{n}" for a, n in manifest["migrations"] if a in apps_here and (a, n) not in known]
        if unknown:
            raise BackupError(f"It is of newer code, with {_shown(', '.join(unknown))}.")
        if connection.vendor == "sqlite":
            Path(connection.settings_dict["NAME"]).parent.mkdir(parents=True, exist_ok=True)
        if not is_forced and occupied():
            raise BackupError("The database is not empty: --force replaces all of it.")
        files = _put_back(file, manifest, database, progress)
    # Triggers of an older code, tables of a newer one.
    call_command("migrate", verbosity=0, interactive=False)
    return Restored(manifest, signature, files, privacy.erase_again())


def _put_back(archive: BinaryIO, manifest: dict[str, Any], database: Path, progress: Progress) -> int:
    """Replace the database and the media; return how many files were not there as they are in the archive.
    Whatever fails before the database is replaced leaves no file and no folder behind."""
    media = Path(settings.MEDIA_ROOT)
    with ExitStack() as undo:
        _make_folder(media, undo)
        with _staging(media) as folder:
            copies = list(_copies(archive, manifest, folder, progress))
            changed = [(copy, place) for copy, place in copies if place.exists()]
            for copy, place in copies:
                if not place.exists():  # which no row names that is there now
                    _make_folder(place.parent, undo)
                    undo.callback(place.unlink, missing_ok=True)
                    copy.replace(place)
            _replace(database, _after(manifest))
            undo.pop_all()
            for copy, place in changed:
                copy.replace(place)
    return len(copies)


def _make_folder(folder: Path, undo: ExitStack) -> None:
    """Make `folder`, and have `undo` remove what had to be made for it if it is empty then."""
    for missing in reversed([each for each in (folder, *folder.parents) if not each.exists()]):
        missing.mkdir(exist_ok=True)
        undo.callback(_remove_if_empty, missing)


def _remove_if_empty(folder: Path) -> None:
    with suppress(OSError):
        folder.rmdir()


def _copies(
    archive: BinaryIO, manifest: dict[str, Any], folder: Path, progress: Progress
) -> Iterator[tuple[Path, Path]]:
    """Copy those files of `archive` to `folder` that the media do not have as they are there; give each copy
    and its place. Raises BackupError."""
    for number, (member, file) in enumerate(progress(_members(archive), unit="part")):
        if not member.name.startswith(MEDIA):
            continue
        expected, place = manifest["parts"][member.name], _place(member.name)
        if place.is_dir():
            raise BackupError(f"Nothing was replaced: {_shown(str(place))} is a folder.")
        if place.is_file() and place.stat().st_size == expected["size"]:
            with open(place, "rb") as there:
                if _digest(there) == expected["sha256"]:
                    continue
        copy = folder / str(number)
        with _create(copy) as target:
            shutil.copyfileobj(file, target, CHUNK)
            target.seek(0)
            if _digest(target) != expected["sha256"]:
                raise BackupError("Nothing was replaced: the archive was changed while it was read.")
        copy.chmod(settings.FILE_UPLOAD_PERMISSIONS or 0o644)
        os.utime(copy, (member.mtime, member.mtime))
        yield copy, place


def _after(manifest: dict[str, Any]) -> list[str]:
    """What to change in the database of the backup before it becomes ours."""
    tables = manifest["tables"]
    statements = [f"DELETE FROM {table}" for table in CREDENTIALS if table in tables]
    if "jobsite_revision" in tables:
        number, shared = _revision()
        highest = "max" if connection.vendor == "sqlite" else "greatest"
        columns = {
            "number": f"{highest}(abs(number), {number}) + {LEAP}",
            "shared": f"{highest}(shared, {shared}) + {LEAP}",
            "watermark": "0",
        }
        changes = ", ".join(f"{column} = {value}" for column, value in columns.items())
        statements.append(f"UPDATE jobsite_revision SET {changes}")
    return statements


def _revision() -> tuple[int, int]:
    """Where the database stands that is going to be replaced."""
    if "jobsite_revision" not in connection.introspection.table_names():
        return 0, 0
    with connection.cursor() as cursor:
        cursor.execute("SELECT * FROM jobsite_revision WHERE id = 1")
        row = dict(zip([c[0] for c in cursor.description], cursor.fetchone() or (), strict=False))
    return abs(row.get("number", 0)), row.get("shared", 0)


def _replace(database: Path, after: Iterable[str]) -> None:
    """Replace our database by that of the file, changed by the statements `after`, in one transaction."""
    if connection.vendor == "sqlite":
        plain = database.with_suffix(".sqlite3")
        try:
            with gzip.open(database) as packed, _create(plain) as target:
                shutil.copyfileobj(packed, target, CHUNK)
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise BackupError(f"Nothing was replaced: {database.name} cannot be unpacked: {error}") from None
        database.unlink()
        ours: Any = connection.copy()
        try:
            with closing(sqlite3.connect(plain)) as source:
                for statement in after:
                    source.execute(statement)
                source.commit()
                # A transaction like any other: who reads sees the one or the other.
                ours.ensure_connection()
                source.backup(ours.connection)
        except sqlite3.Error as error:
            raise BackupError(f"Nothing was replaced: {error}") from None
        finally:
            ours.close()
    else:
        before, script, last = (database.with_suffix(f".{number}.sql") for number in range(3))
        _postgresql("pg_restore", "--no-owner", "--no-privileges", f"--file={script}", str(database))
        database.unlink()
        before.write_text(
            "SET lock_timeout = '10s'; SET client_min_messages = warning; "
            "DROP SCHEMA public CASCADE; CREATE SCHEMA public; GRANT USAGE ON SCHEMA public TO PUBLIC;"
        )
        last.write_text("".join(f"{each};\n" for each in ("SET search_path = public", *after)))
        connection.close()  # it may hold a lock
        _postgresql(
            "psql", "--no-psqlrc", "--quiet", "--set=ON_ERROR_STOP=1", "--single-transaction",
            *(f"--file={path}" for path in (before, script, last)),
        )  # fmt: skip
    connection.close()
