"""One archive of the database and the media as they were together, and the way back from it.

An archive is a plain tar: the database (by pg_dump, or a SQLite file, compressed), the files of the media,
and at the end `manifest.json`, with the size and the digest of each part. What has no end is no archive.
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
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import django
from django.apps import apps
from django.conf import settings
from django.core.management import call_command
from django.db import connection, models
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

from applications import privacy
from jobsite.api.document import version

FORMAT = 1
NAME = "jobsite-{:%Y%m%dT%H%M%SZ}.tar"
PATTERN = "jobsite-*T*Z.tar"
PART = ".part"  # at the end of what is not complete
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

Progress = Callable[..., Any]  # draws a bar over an iterable


class BackupError(Exception):
    """Why there is no archive, or none that can be used."""


class Made(NamedTuple):
    path: Path
    manifest: dict[str, Any]
    removed: list[str]  # older archives


# --- There -----------------------------------------------------------------------------------------------


def make(folder: Path, *, now: datetime, keep: int | None, progress: Progress) -> Made:
    """Write an archive of everything to `folder`; leave the newest `keep` there. Raises BackupError."""
    media = Path(settings.MEDIA_ROOT).resolve()
    if folder.resolve().is_relative_to(media):
        raise BackupError("Not in the media folder: what is there is served to everybody.")
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    with _alone_in(folder):
        for leftover in folder.glob(f".*{PART}"):  # of one that was killed
            leftover.unlink()
        final = folder / NAME.format(now.astimezone(UTC))
        archive, database = (folder / f".{final.name}.{what}{PART}" for what in ("archive", "database"))
        try:
            with _create(archive) as file:
                manifest = _write(file, database, media, now, progress)
                file.flush()
                os.fsync(file.fileno())
            archive.rename(final)
            _sync(folder)
        finally:
            for path in (archive, database):
                path.unlink(missing_ok=True)
        older = sorted(folder.glob(PATTERN), reverse=True)[keep:] if keep else []
        for path in older:
            path.unlink()
    return Made(final, manifest, [path.name for path in older])


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
        folders.sort()
        paths = (Path(root, name) for name in sorted(names))
        # nor what a restore that was killed has left
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
        raise BackupError(f"{program} failed: {done.stderr.strip()[-1000:]}")


# --- And back --------------------------------------------------------------------------------------------


class Restored(NamedTuple):
    manifest: dict[str, Any]
    files: int  # that were not there as they are in the archive
    again: Counter[str] | None  # who was erased again, or None where nothing tells whom


def check(archive: Path, into: Path, *, progress: Progress) -> dict[str, Any]:
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
            with _create(into) if is_database else text if is_end else open(os.devnull, "wb") as target:
                while chunk := file.read(CHUNK):
                    digest.update(chunk)
                    target.write(chunk)
                if is_end:
                    if member.pax_headers.get(DIGEST) != digest.hexdigest():
                        raise BackupError(f"Not as it was written: {MANIFEST}.")
                    manifest = json.loads(text.getvalue())
                else:
                    found[member.name] = {"size": member.size, "sha256": digest.hexdigest()}
    except (tarfile.TarError, EOFError, ValueError) as error:
        raise BackupError(f"It was cut off, or is no backup: {error}.") from None
    if not manifest:
        raise BackupError("It has no end: it was cut off, or is no backup.")
    if manifest["format"] != FORMAT:
        raise BackupError(f"It is of format {manifest['format']}; this is {FORMAT}.")
    for name in sorted(found.keys() | manifest["parts"].keys()):
        if found.get(name) != manifest["parts"].get(name):
            raise BackupError(f"Not as it was written: {name}.")
    if not into.exists():
        raise BackupError("It holds no database.")
    return manifest


def _members(archive: Path) -> Iterator[tuple[tarfile.TarInfo, Any]]:
    """The parts of `archive`, plain files whose places are inside ours. Raises BackupError."""
    media = _place("").resolve()
    with tarfile.open(archive, "r:") as tar:
        for member in tar:
            is_ours = member.name == MANIFEST or member.name in DATABASE.values()
            if not is_ours and member.name.startswith(MEDIA):
                is_ours = _place(member.name).resolve().is_relative_to(media)
            if not (is_ours and member.isreg()):
                raise BackupError(f"This is not of a backup: {member.name!r}.")
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
    with tempfile.TemporaryDirectory(prefix="jobsite-restore-") as name:
        database = Path(name, "database")
        manifest = check(archive, database, progress=progress)
        if manifest["engine"] != connection.vendor:
            raise BackupError(f"It is of {manifest['engine']}, DATABASE_URL names {connection.vendor}.")
        known = MigrationLoader(None).disk_migrations.keys()
        apps_here = {app for app, _ in known}
        unknown = [f"{a}.{n}" for a, n in manifest["migrations"] if a in apps_here and (a, n) not in known]
        if unknown:
            raise BackupError(f"It is of newer code, with {', '.join(unknown)}.")
        if connection.vendor == "sqlite":
            Path(connection.settings_dict["NAME"]).parent.mkdir(parents=True, exist_ok=True)
        if not is_forced and occupied():
            raise BackupError("The database is not empty: --force replaces all of it.")
        files, waiting = 0, []
        try:
            for part, target in _missing(archive, manifest, progress):
                files += 1
                if target.exists():  # as another file, until the database is the other one
                    waiting.append((part, target))
                else:
                    part.replace(target)
            _replace(database, _after(manifest))
            while waiting:
                part, target = waiting.pop()
                part.replace(target)
        finally:
            for part, _target in waiting:
                part.unlink(missing_ok=True)
    # Triggers of an older code, tables of a newer one.
    call_command("migrate", verbosity=0, interactive=False)
    return Restored(manifest, files, privacy.erase_again())


def _missing(archive: Path, manifest: dict[str, Any], progress: Progress) -> Iterator[tuple[Path, Path]]:
    """The files of the archive that the media do not have as they are there: each beside its place, and
    the place."""
    for member, file in progress(_members(archive), unit="part"):
        if not member.name.startswith(MEDIA):
            continue
        expected, target = manifest["parts"][member.name], _place(member.name)
        if target.is_file() and target.stat().st_size == expected["size"]:
            with open(target, "rb") as there:
                if _digest(there) == expected["sha256"]:
                    continue
        target.parent.mkdir(parents=True, exist_ok=True)
        number, name = tempfile.mkstemp(prefix=".", suffix=PART, dir=target.parent)
        with open(number, "wb") as copy:
            shutil.copyfileobj(file, copy, CHUNK)
            os.fchmod(number, settings.FILE_UPLOAD_PERMISSIONS or 0o644)
        os.utime(name, (member.mtime, member.mtime))
        yield Path(name), target


def _after(manifest: dict[str, Any]) -> list[str]:
    """What to change in the database of the backup before it becomes ours."""
    tables = manifest["tables"]
    statements = [f"DELETE FROM {table}" for table in CREDENTIALS if table in tables]
    if "jobsite_revision" in tables:
        number, shared = _revision()
        highest = "max" if connection.vendor == "sqlite" else "greatest"
        columns = {"number": f"{highest}(abs(number), {number}) + {LEAP}"}
        if ["jobsite", "0002_state"] in manifest["migrations"]:
            columns |= {"shared": f"{highest}(shared, {shared}) + {LEAP}", "settled": "0"}
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
        with gzip.open(database) as packed, _create(plain) as target:
            shutil.copyfileobj(packed, target, CHUNK)
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
