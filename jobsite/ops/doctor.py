"""Looks at the environment that this process has: settings, database, cache, files, mail, clock. Says what is
missing or wrong and what to do about it, and never shows a secret.

Django's system checks and the health checks are asked, not repeated.
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
from jobsite.ops.checks import is_database_made

WITHIN = 5  # seconds for a mail server to answer
CLOCKS_APART = 2.0  # seconds between our clock and that of the database, at most
DISK_LOW, DISK_FULL = 2 * 2**30, 200 * 2**20  # bytes
COVERED = {"jobsite.W012"}  # by `_media`, which really writes


@dataclass
class Finding:
    """What was found about one thing; `level` is ok, warning or error."""

    level: str
    name: str
    text: str
    hint: str = ""

    def __str__(self) -> str:
        return " ".join(f"{self.level}: {self.name}: {self.text} {self.hint}".split())


def examine() -> Iterator[Finding]:
    """Yield what there is to say, one thing after the other; what cannot be examined is an error too."""
    for look in (_settings, _checks, _database, _files, _disk, _mail, _time_zone):
        try:
            for finding in look():
                finding.text = redact(finding.text)
                yield finding
        except Exception as error:
            name = look.__name__.strip("_").replace("_", " ")
            yield Finding("error", name, redact(f"could not be examined: {type(error).__name__}: {error}"))


def redact(text: str) -> str:
    """Return `text` without passwords and keys of this environment, and without passwords in URLs."""
    for name, value in os.environ.items():
        if not re.search("SECRET|PASSWORD|TOKEN|KEY|URL", name):
            continue
        secrets = [value] if "URL" not in name else []
        for part in value.split(","):
            try:
                secrets.append(urlsplit(part.strip()).password or "")
            except ValueError:  # no URL at all
                secrets.append(value)
        for secret in filter(None, secrets):
            text = text.replace(secret, "***")
    return re.sub(r"(://[^\s/:@]*):[^\s/@]*@", r"\1:***@", text)


def describe_refusal(error: Exception) -> Finding:
    """What kept the settings from being read at all."""
    received = re.findall(r"'([^']*)'", str(error))
    names = [name for name, value in os.environ.items() if value and value in received]
    hint = f"Look at {', '.join(names)}." if names else "Look at the variable that was changed last."
    text = f"cannot be read: {type(error).__name__}: {error}. Nothing else was examined."
    return Finding("error", "settings", redact(text), hint)


# --- Settings ------------------------------------------------------------------------------------------


def _settings() -> Iterator[Finding]:
    for text in settings.UNSAFE:
        yield Finding("error", "settings", text, "The site does not start like that.")
    if settings.DEBUG:
        yield Finding(
            "warning",
            "settings",
            "DEBUG is on: a development site, for this machine only.",
            "For production set SECRET_KEY and the variables below.",
        )
    elif not settings.UNSAFE:
        yield Finding("ok", "settings", "they are those of production.")


def _checks() -> Iterator[Finding]:
    # Without databases where there is no file yet: Django 6.1's checks of models would create it.
    databases: list[str] | None = None if is_database_made() else []
    messages = [
        message
        for message in checks.run_checks(include_deployment_checks=True, databases=databases)
        if not message.is_silenced() and message.id not in COVERED
    ]
    for message in messages:
        level = "error" if message.level >= checks.ERROR else "warning"
        yield Finding(level, f"check {message.id}", message.msg, message.hint or "")
    if not messages:
        yield Finding("ok", "checks", "manage.py check --deploy has nothing to say.")


# --- Database and cache --------------------------------------------------------------------------------


def _database() -> Iterator[Finding]:
    if not is_database_made():
        yield Finding(
            "error",
            "database",
            f"there is no file {settings.DATABASES['default']['NAME']}.",
            "Run `manage.py migrate`.",
        )
        return
    found = health.Asked(health.report, 0)() or {"database": "no answer"}
    if found["database"] != "ok":
        yield Finding("error", "database", _reason(), "Look at DATABASE_URL, and whether the server runs.")
    else:
        yield Finding("ok", "database", f"{connection.display_name} answers.")
        migrations = found["migrations"]
        if migrations == "ok":
            yield Finding("ok", "migrations", "all are applied.")
        else:
            yield Finding("error", "migrations", f"{migrations}.", "Run `manage.py migrate`.")
        yield from _clock()
    cache = found.get("cache", health.cache())
    if cache == "degraded":
        yield Finding(
            "error", "cache", "CACHE_URL does not answer: limits count per process.", "Start the server."
        )
    else:
        yield Finding("ok", "cache", "it answers." if cache == "ok" else "each process has its own.")
    for alias, state in found.get("replicas", {}).items():
        if state != "ok":
            yield Finding("warning", alias, "is left out.", "Look whether it runs, and how late it is.")


def _reason() -> str:
    try:
        connection.ensure_connection()
    except DatabaseError as error:
        return str(error).strip().splitlines()[0]
    return f"no answer within {health.WITHIN:.0f} seconds."


def _clock() -> Iterator[Finding]:
    if connection.vendor != "postgresql":
        return
    before = timezone.now()
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        [there] = cursor.fetchone()
    after = timezone.now()
    apart = max((before - there).total_seconds(), (there - after).total_seconds(), 0.0)
    if apart > CLOCKS_APART:
        yield Finding(
            "error",
            "clock",
            f"it is {apart:.0f} seconds away from the database's: vacancies appear at another moment.",
            "Run a time service, such as chrony, on both machines.",
        )
    else:
        yield Finding("ok", "clock", "it agrees with the database's.")


# --- Files ---------------------------------------------------------------------------------------------


def _existing(folder: Path) -> Path:
    return next(place for place in (folder, *folder.absolute().parents) if place.exists())


def _files() -> Iterator[Finding]:
    media = Path(settings.MEDIA_ROOT)
    try:
        with tempfile.TemporaryFile(dir=_existing(media)):
            yield Finding("ok", "uploads", f"{media} can be written to.")
    except OSError as error:
        yield Finding(
            "error",
            "uploads",
            f"MEDIA_ROOT, {media}, cannot be written to ({error.strerror}).",
            "Give it to the account that runs the site.",
        )


def _disk() -> Iterator[Finding]:
    folders = {"MEDIA_ROOT": Path(settings.MEDIA_ROOT), "temporary files": Path(tempfile.gettempdir())}
    if connection.vendor == "sqlite":
        folders["the database"] = Path(connection.settings_dict["NAME"]).parent
    for name, folder in folders.items():
        free = shutil.disk_usage(_existing(folder)).free
        level = "error" if free < DISK_FULL else "warning" if free < DISK_LOW else "ok"
        hint = "" if level == "ok" else "Make room: writes fail when it is full."
        yield Finding(level, "disk", f"{free / 2**30:.1f} GB free for {name}.", hint)


# --- Mail and time -------------------------------------------------------------------------------------


def _mail() -> Iterator[Finding]:
    if not settings.IS_MAIL_SENT:
        return  # a check says so
    mailers: Any = getattr(settings, "MAILERS", None)
    options: dict[str, Any] = mailers["default"]["OPTIONS"] if mailers else {}
    host = options.get("host") or getattr(settings, "EMAIL_HOST", "")
    port = int(options.get("port") or getattr(settings, "EMAIL_PORT", None) or 25)
    try:
        socket.create_connection((host, port), timeout=WITHIN).close()
        yield Finding("ok", "mail", f"{host}:{port} answers.")
    except OSError as error:
        reason = error.strerror or str(error)
        yield Finding("error", "mail", f"{host}:{port} does not answer ({reason}).", "Look at EMAIL_URL.")


def _time_zone() -> Iterator[Finding]:
    now = timezone.localtime()
    text = f"{settings.TIME_ZONE}, where it is {now:%Y-%m-%d %H:%M} (UTC{now:%z})."
    if "TIME_ZONE" in os.environ:
        yield Finding("ok", "time zone", text)
    else:
        yield Finding("warning", "time zone", text, "Set TIME_ZONE: the interface shows times in it.")
