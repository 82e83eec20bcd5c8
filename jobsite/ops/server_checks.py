"""System checks of the servers of the site and of its disks: manage.py check --deploy --database
default.

Without --database they report nothing: the site starts also while a server is down.
"""

import secrets
import shutil
import socket
import tempfile
from collections.abc import Callable, Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, Warning, register
from django.core.files.storage import storages
from django.db import DatabaseError, connection
from django.utils import timezone

from jobsite.ops import health
from jobsite.ops.checks import existing_folder
from jobsite.serving import replica
from jobsite.types import JsonObject

DISK_LOW = 2 * 2**30  # bytes
MAIL_TIMEOUT = 5  # seconds
CLOCK_DIFFERENCE_MAX = 2.0  # seconds between this machine and the database


def connects(check: Callable[[], Iterator[CheckMessage]]) -> Callable[..., list[CheckMessage]]:
    """Register `check` to run if a database is named."""

    @register(Tags.database, deploy=True)
    def run(*, databases: object = None, **kwargs: object) -> list[CheckMessage]:
        return list(check()) if databases else []

    return run


@connects
def database_is_ready() -> Iterator[CheckMessage]:
    found = health.CachedProbe(health.report, 0)() or {}
    if found.get("database") != "ok":
        is_read_only = found.get("database") == "read-only"
        yield Error(
            "The database is read-only."
            if is_read_only
            else f"The database does not respond: {_reason()}",
            hint="Check DATABASE_URL, and that the server runs.",
            id="jobsite.E040",
        )
    elif found["migrations"] != "ok":
        yield Error(
            f"Migrations: {found['migrations']}.", hint="Run manage.py migrate.", id="jobsite.E041"
        )


def _reason() -> str:
    try:
        connection.ensure_connection()
    except DatabaseError as error:
        return str(error).strip().splitlines()[0]
    return f"no answer within {health.TIMEOUT:.0f} seconds."


@register(Tags.database)  # not only for --deploy: `migrate` creates no tables in such a database
def encoding_is_unicode(*, databases: object = None, **kwargs: object) -> list[CheckMessage]:
    if not databases or connection.vendor != "postgresql":
        return []
    try:
        with connection.cursor() as cursor:
            cursor.execute("SHOW server_encoding")
            [encoding] = cursor.fetchone()
    except DatabaseError:
        return []  # database_is_ready reports it
    if encoding == "UTF8":
        return []
    return [
        Error(
            f"The database of DATABASE_URL is in {encoding}: it cannot store all names.",
            hint="Create it with --template template0 --encoding UTF8 --locale C.UTF-8.",
            id="jobsite.E050",
        )
    ]


@connects
def clocks_agree() -> Iterator[CheckMessage]:
    if connection.vendor != "postgresql":
        return
    before = timezone.now()
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT clock_timestamp()")
            [there] = cursor.fetchone()
    except DatabaseError:
        return  # database_is_ready reports it
    after = timezone.now()
    difference = max((before - there).total_seconds(), (there - after).total_seconds())
    if difference > CLOCK_DIFFERENCE_MAX:
        yield Error(
            f"The clock differs from the database's by {difference:.0f} seconds.",
            hint=(
                "Vacancies appear late or early. Run a time service, such as chrony, on both "
                "machines."
            ),
            id="jobsite.E042",
        )


@connects
def cache_responds() -> Iterator[CheckMessage]:
    if health.cache_state() == "degraded":
        yield Error(
            "CACHE_URL does not respond: each process counts rate limits separately.",
            hint="Start the server.",
            id="jobsite.E043",
        )


@connects
def replica_responds() -> Iterator[CheckMessage]:
    if replica.is_configured() and not health.CachedProbe(health.replica_responds, 0)():
        yield Warning(
            "The replica does not respond: the primary serves its reads.",
            hint="Check REPLICA_URL, and that a replica is healthy.",
            id="jobsite.W025",
        )


@connects
def mail_server_responds() -> Iterator[CheckMessage]:
    if not settings.IS_MAIL_SENT:
        return  # W005
    mailers: Any = getattr(settings, "MAILERS", None)
    options: JsonObject = mailers["default"]["OPTIONS"] if mailers else {}
    host = options.get("host") or getattr(settings, "EMAIL_HOST", "")
    port = int(options.get("port") or getattr(settings, "EMAIL_PORT", None) or 25)
    try:
        socket.create_connection((host, port), timeout=MAIL_TIMEOUT).close()
    except OSError as error:
        reason = error.strerror or str(error)
        yield Error(
            f"{host}:{port} does not respond ({reason}).",
            hint="Check EMAIL_URL.",
            id="jobsite.E044",
        )


@connects
def bucket_is_ready() -> Iterator[CheckMessage]:
    if not settings.FILES_IN_BUCKET:
        return
    name = f"check-{secrets.token_hex(16)}"
    store: Any = storages["private"]
    try:
        store.put(name, BytesIO(b"manage.py check"))
        store.fetch(name).close()
        is_public = store.is_public(name)
        store.delete(name)
    except OSError as error:
        yield Error(
            f"The bucket of FILES_URL cannot be used: {error}",
            hint="Check FILES_URL, that the bucket exists, and what the key may do.",
            id="jobsite.E055",
        )
        return
    if is_public:
        yield Error(
            "The bucket of FILES_URL is public: everybody can read the files of applicants.",
            hint="Remove the policy or access list that lets others read.",
            id="jobsite.E056",
        )


@connects
def disks_have_room() -> Iterator[CheckMessage]:
    names = () if settings.FILES_IN_BUCKET else ("MEDIA_ROOT", "PRIVATE_ROOT")
    folders = {name: Path(getattr(settings, name)) for name in names}
    folders["temporary files"] = Path(tempfile.gettempdir())
    if connection.vendor == "sqlite":
        folders["the database"] = Path(connection.settings_dict["NAME"]).parent
    for name, folder in folders.items():
        free = shutil.disk_usage(existing_folder(folder)).free
        if free < DISK_LOW:
            yield Warning(
                f"{free / 2**30:.1f} GB are free for {name}.",
                hint="Free disk space: writes fail when it is full.",
                id="jobsite.W024",
            )
