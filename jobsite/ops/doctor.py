"""Diagnoses the environment of a process: settings, database, cache, files, mail and clock.

Each finding says what is wrong and what to do, and contains no secret. Django's system checks and the health
probes are run, not repeated.
"""

import os
import re
import shutil
import socket
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core import checks
from django.db import DatabaseError, connection
from django.utils import timezone

from jobsite.ops import health
from jobsite.ops.checks import is_database_created
from jobsite.serving import replica

MAIL_TIMEOUT = 5  # seconds
CLOCK_DIFFERENCE_MAX = 2.0  # seconds between this machine and the database
DISK_LOW, DISK_FULL = 2 * 2**30, 200 * 2**20  # bytes
COVERED = {"jobsite.W012"}  # checks that `_files` replaces, since it writes a file


@dataclass
class Finding:
    """The result of one check; `level` is ok, warning or error."""

    level: str
    name: str
    text: str
    hint: str = ""

    def __str__(self) -> str:
        return " ".join(f"{self.level}: {self.name}: {self.text} {self.hint}".split())


def examine() -> Iterator[Finding]:
    """Yield all findings. A check that fails is reported as an error."""
    for check in (_settings, _checks, _database, _files, _disk, _mail, _time_zone):
        try:
            for finding in check():
                finding.text = redact(finding.text)
                yield finding
        except Exception as error:
            name = check.__name__.strip("_").replace("_", " ")
            yield Finding("error", name, redact(f"could not be checked: {type(error).__name__}: {error}"))


def redact(text: str) -> str:
    """Return `text` without the secrets of the environment variables, and without passwords in URLs."""
    for name, value in os.environ.items():
        if not re.search("SECRET|PASSWORD|TOKEN|KEY|URL", name):
            continue
        secrets = [value] if "URL" not in name else []
        for part in value.split(","):
            try:
                secrets.append(urlsplit(part.strip()).password or "")
            except ValueError:  # not a URL
                secrets.append(value)
        for secret in filter(None, secrets):
            text = text.replace(secret, "***")
    return re.sub(r"(://[^\s/:@]*):[^\s/@]*@", r"\1:***@", text)


def describe_unreadable(error: Exception) -> Finding:
    """Return a finding for an error that prevented reading the settings."""
    received = re.findall(r"'([^']*)'", str(error))
    names = [name for name, value in os.environ.items() if value and value in received]
    hint = f"Check {', '.join(names)}." if names else "Check the variable that was changed last."
    text = f"cannot be read: {type(error).__name__}: {error}. No other check was run."
    return Finding("error", "settings", redact(text), hint)


# --- Settings ------------------------------------------------------------------------------------------


def _settings() -> Iterator[Finding]:
    for text in settings.UNSAFE:
        yield Finding("error", "settings", text, "The site does not start with this configuration.")
    if settings.DEBUG:
        yield Finding(
            "warning",
            "settings",
            "DEBUG is on: this is a development site, for this machine only.",
            "For production, set SECRET_KEY and the variables below.",
        )
    elif not settings.UNSAFE:
        yield Finding("ok", "settings", "this is a production configuration.")


def _checks() -> Iterator[Finding]:
    # Without a database file, run no database checks: those of Django 6.1 would create it.
    databases: list[str] | None = None if is_database_created() else []
    messages = [
        message
        for message in checks.run_checks(include_deployment_checks=True, databases=databases)
        if not message.is_silenced() and message.id not in COVERED
    ]
    for message in messages:
        level = "error" if message.level >= checks.ERROR else "warning"
        yield Finding(level, f"check {message.id}", message.msg, message.hint or "")
    if not messages:
        yield Finding("ok", "checks", "manage.py check --deploy reports nothing.")


# --- Database and cache --------------------------------------------------------------------------------


def _database() -> Iterator[Finding]:
    if not is_database_created():
        yield Finding(
            "error",
            "database",
            f"there is no file {settings.DATABASES['default']['NAME']}.",
            "Run `manage.py migrate`.",
        )
        return
    found = health.CachedProbe(health.report, 0)() or {"database": "no answer"}
    if found["database"] != "ok":
        yield Finding("error", "database", _reason(), "Check DATABASE_URL, and that the server runs.")
    else:
        yield Finding("ok", "database", f"{connection.display_name} responds.")
        migrations = found["migrations"]
        if migrations == "ok":
            yield Finding("ok", "migrations", "all are applied.")
        else:
            yield Finding("error", "migrations", f"{migrations}.", "Run `manage.py migrate`.")
        yield from _clock()
    cache = found.get("cache", health.cache_state())
    if cache == "degraded":
        yield Finding(
            "error",
            "cache",
            "CACHE_URL does not respond: each process counts rate limits separately.",
            "Start the server.",
        )
    else:
        yield Finding("ok", "cache", "it responds." if cache == "ok" else "each process has its own.")
    if replica.is_configured():
        if health.CachedProbe(health.replica_responds, 0)():
            yield Finding("ok", "replica", "it responds.")
        else:
            text = "it does not respond: the primary serves its reads."
            yield Finding("warning", "replica", text, "Check REPLICA_URL, and that a replica is healthy.")


def _reason() -> str:
    try:
        connection.ensure_connection()
    except DatabaseError as error:
        return str(error).strip().splitlines()[0]
    return f"no answer within {health.TIMEOUT:.0f} seconds."


def _clock() -> Iterator[Finding]:
    if connection.vendor != "postgresql":
        return
    before = timezone.now()
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        [there] = cursor.fetchone()
    after = timezone.now()
    difference = max((before - there).total_seconds(), (there - after).total_seconds(), 0.0)
    if difference > CLOCK_DIFFERENCE_MAX:
        yield Finding(
            "error",
            "clock",
            f"it differs from the database's by {difference:.0f} seconds: vacancies appear late or early.",
            "Run a time service, such as chrony, on both machines.",
        )
    else:
        yield Finding("ok", "clock", "it agrees with that of the database.")


# --- Files ---------------------------------------------------------------------------------------------


def _existing(folder: Path) -> Path:
    """Return `folder`, or its first parent that exists."""
    return next(path for path in (folder, *folder.absolute().parents) if path.exists())


def _files() -> Iterator[Finding]:
    for name in ("MEDIA_ROOT", "PRIVATE_ROOT"):
        folder = Path(getattr(settings, name))
        try:
            with tempfile.TemporaryFile(dir=_existing(folder)):
                yield Finding("ok", "uploads", f"{folder} is writable.")
        except OSError as error:
            yield Finding(
                "error",
                "uploads",
                f"{name}, {folder}, is not writable ({error.strerror}).",
                "Change its owner to the account that runs the site.",
            )


def _disk() -> Iterator[Finding]:
    folders = {name: Path(getattr(settings, name)) for name in ("MEDIA_ROOT", "PRIVATE_ROOT")}
    folders["temporary files"] = Path(tempfile.gettempdir())
    if connection.vendor == "sqlite":
        folders["the database"] = Path(connection.settings_dict["NAME"]).parent
    for name, folder in folders.items():
        free = shutil.disk_usage(_existing(folder)).free
        level = "error" if free < DISK_FULL else "warning" if free < DISK_LOW else "ok"
        hint = "" if level == "ok" else "Free disk space: writes fail when it is full."
        yield Finding(level, "disk", f"{free / 2**30:.1f} GB free for {name}.", hint)


# --- Mail and time -------------------------------------------------------------------------------------


def _mail() -> Iterator[Finding]:
    if not settings.IS_MAIL_SENT:
        return  # a system check reports it
    mailers: Any = getattr(settings, "MAILERS", None)
    options: dict[str, Any] = mailers["default"]["OPTIONS"] if mailers else {}
    host = options.get("host") or getattr(settings, "EMAIL_HOST", "")
    port = int(options.get("port") or getattr(settings, "EMAIL_PORT", None) or 25)
    try:
        socket.create_connection((host, port), timeout=MAIL_TIMEOUT).close()
        yield Finding("ok", "mail", f"{host}:{port} responds.")
    except OSError as error:
        reason = error.strerror or str(error)
        yield Finding("error", "mail", f"{host}:{port} does not respond ({reason}).", "Check EMAIL_URL.")


def _time_zone() -> Iterator[Finding]:
    now = timezone.localtime()
    text = f"{settings.TIME_ZONE}, where it is {now:%Y-%m-%d %H:%M} (UTC{now:%z})."
    if "TIME_ZONE" in os.environ:
        yield Finding("ok", "time zone", text)
    else:
        yield Finding("warning", "time zone", text, "Set TIME_ZONE: the interface shows times in it.")
