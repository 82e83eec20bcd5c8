"""A second database and temporary folders, for the rehearsal of a restore."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.conf import settings
from django.db import DatabaseError, connection
from django.test import override_settings

from jobsite.ops.backups.files import BackupError
from jobsite.types import JsonObject

DATABASE = "{}_drill"  # name of the second database


@contextmanager
def elsewhere() -> Iterator[None]:
    """Use another database and empty folders in this process until the end of the block; they are
    emptied then. On PostgreSQL the database must exist, because the role of the site may create
    none. Raises BackupError.
    """
    original = connection.settings_dict["NAME"]
    with tempfile.TemporaryDirectory(prefix="jobsite-drill-") as folder:
        is_file = connection.vendor == "sqlite"
        name = str(Path(folder, "db.sqlite3")) if is_file else DATABASE.format(original)
        files: JsonObject = {root: Path(folder, root) for root in ("MEDIA_ROOT", "PRIVATE_ROOT")}
        on_disk = {"default": {"BACKEND": "django.core.files.storage.FileSystemStorage"}}
        files |= {"FILES_IN_BUCKET": False, "STORAGES": settings.STORAGES | on_disk}
        _use(name)
        try:
            if not is_file:
                _require(name)
            with override_settings(**files):
                yield
        finally:
            if not is_file and connection.settings_dict["NAME"] == name:
                _empty(name)
            _use(original)


def _use(name: str) -> None:
    connection.close()
    if close_pool := getattr(connection, "close_pool", None):
        close_pool()  # its connections are to the other database
    connection.settings_dict["NAME"] = name


def _require(name: str) -> None:
    """Raise BackupError unless this process is connected to the database `name`."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT current_database()")
            [found] = cursor.fetchone()
    except DatabaseError as error:
        reason = str(error).strip().splitlines()[0]
        raise BackupError(
            f"A rehearsal needs an empty database {name}: {reason}. Create it with createdb "
            f"--owner ROLE --template template0 --encoding UTF8 --locale C.UTF-8 {name}"
        ) from None
    if found != name:
        raise BackupError(f"Nothing was restored: connected to the database {found}, not {name}.")


def _empty(name: str) -> None:
    try:
        _require(name)
    except BackupError:
        return  # it could not be used either
    with connection.cursor() as cursor:
        cursor.execute("DROP SCHEMA public CASCADE")
        cursor.execute("CREATE SCHEMA public")
