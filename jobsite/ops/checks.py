"""System checks for this project's own traps (manage.py check, check --deploy).

What is unsafe whatever else is set does not get here: settings.py refuses to start.
"""

import os
import re
from datetime import date
from ipaddress import ip_network
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.contrib.staticfiles.storage import ManifestFilesMixin, staticfiles_storage
from django.core.checks import CheckMessage, Error, Tags, Warning, register
from django.core.exceptions import ImproperlyConfigured
from django.db import DatabaseError
from django.http.request import validate_host

from jobsite.api.throttling import parse_rate

INTERNAL_ACCESS = ("public", "authenticated", "network")
LOOPBACK = ("localhost", "127.0.0.1", "::1", None)
NOBODYS = re.compile(r"(^|\.)example(\.(com|org|net))?$")  # hosts that stand in for a real one


@register(Tags.security)
def settings_are_sane(**kwargs: Any) -> list[CheckMessage]:
    """Settings whose value would be an error at the first request."""
    messages: list[CheckMessage] = []
    if settings.INTERNAL_ACCESS not in INTERNAL_ACCESS:
        messages.append(
            Error(
                f"INTERNAL_ACCESS is {settings.INTERNAL_ACCESS!r}, not one of {', '.join(INTERNAL_ACCESS)}.",
                id="jobsite.E001",
            )
        )
    for name in ("INTERNAL_NETWORKS", "TRUSTED_PROXIES"):
        for cidr in getattr(settings, name):
            try:
                ip_network(cidr.strip(), strict=name == "TRUSTED_PROXIES")  # gunicorn is
            except ValueError:
                messages.append(Error(f"{name} holds {cidr!r}, which is no network.", id="jobsite.E002"))
    for name in ("RATE_LIMIT", "SIGN_IN_RATE", "RESET_MAIL_RATE"):
        try:
            parse_rate(getattr(settings, name), name)
        except ImproperlyConfigured as error:
            messages.append(Error(str(error), id="jobsite.E003"))
    if not 1 <= settings.PAGE_SIZE_MAX <= 1000:
        messages.append(
            Error(f"PAGE_SIZE_MAX is {settings.PAGE_SIZE_MAX}; allowed is 1 to 1000.", id="jobsite.E004")
        )
    if settings.PUBLIC_BASE_URL and not settings.PUBLIC_BASE_URL.startswith(("http://", "https://")):
        messages.append(Error("PUBLIC_BASE_URL must start with http:// or https://.", id="jobsite.E005"))
    for name, pattern, allowed in (
        ("API_LICENSE", r"[-+.A-Za-z0-9() ]*", "an SPDX expression such as CC-BY-4.0"),
        ("API_CONTACT", r"|[^\s@/]+@[^\s@/]+", "an e-mail address"),
    ):
        value = getattr(settings, name)
        if not re.fullmatch(rf"https?://\S+|{pattern}", value):
            messages.append(Error(f"{name} is {value!r}; allowed is {allowed} or a URL.", id="jobsite.E020"))
    for name in ("V0_1_DEPRECATED_AT", "V0_1_SUNSET_AT"):
        try:
            date.fromisoformat(getattr(settings, name) or "2000-01-01")
        except ValueError:
            messages.append(Error(f"{name} must be a date such as 2027-01-31.", id="jobsite.E006"))
    if not re.fullmatch(r"|pgbouncer|[1-9][0-9]*", settings.DATABASE_POOL):
        messages.append(Error('DATABASE_POOL must be a number or "pgbouncer".', id="jobsite.E007"))
    if settings.REPLICA_MAX_LAG < 2:  # they are asked once a second
        messages.append(Error("REPLICA_MAX_LAG must be at least 2 seconds.", id="jobsite.E008"))
    if len(settings.DATABASES) > 1 and settings.DATABASES["default"]["ENGINE"].endswith("sqlite3"):
        messages.append(Error("REPLICA_URLS are for PostgreSQL in DATABASE_URL.", id="jobsite.E009"))
    for host in settings.ALLOWED_HOSTS:
        if not re.fullmatch(r"\*|\.?[\w-]+(\.[\w-]+)*|\[[0-9a-fA-F:.]+\]", host):
            messages.append(
                Error(
                    f"ALLOWED_HOSTS holds {host!r}, which is never the name of a host.",
                    hint="A name alone, without scheme, port and path; an IPv6 address in brackets.",
                    id="jobsite.E010",
                )
            )
    if not re.search("locmem|dummy|jobsite.serving.cache", settings.CACHES["default"]["BACKEND"]):
        messages.append(
            Error(
                "CACHE_URL names a cache whose values are unpickled: who can write there could run code.",
                hint="Use redis://, rediss:// or valkey://, or leave it out.",
                id="jobsite.E030",
            )
        )
    for key in filter(None, (settings.BACKUP_KEY, *settings.BACKUP_KEY_FALLBACKS)):
        if len(key) < 50 or len(set(key)) < 10 or key == settings.SECRET_KEY:
            messages.append(
                Error(
                    "BACKUP_KEY and BACKUP_KEY_FALLBACKS must be 50 random characters or more each, and "
                    "not SECRET_KEY.",
                    hint="""python3 -c 'import secrets; print(secrets.token_urlsafe(50))' makes one.""",
                    id="jobsite.E031",
                )
            )
            break
    if settings.BACKUP_KEY_FALLBACKS and not settings.BACKUP_KEY:
        messages.append(Error("BACKUP_KEY_FALLBACKS needs a BACKUP_KEY.", id="jobsite.E032"))
    messages.extend(_folders())
    return messages


def _folders() -> list[CheckMessage]:
    """Uploads, collected files and what is secret are kept apart: the first two are served to everybody,
    and `collectstatic --clear` empties the second."""
    media, static, here = (
        Path(folder).resolve() for folder in (settings.MEDIA_ROOT, settings.STATIC_ROOT, settings.BASE_DIR)
    )
    messages: list[CheckMessage] = []
    if media.is_relative_to(static) or static.is_relative_to(media):
        messages.append(
            Error("MEDIA_ROOT and STATIC_ROOT must not be one inside the other.", id="jobsite.E011")
        )
    secret = {"the project": here}
    if "sqlite" in settings.DATABASES["default"]["ENGINE"]:
        secret["the database"] = Path(settings.DATABASES["default"]["NAME"]).resolve()
    for name, folder in (("MEDIA_ROOT", media), ("STATIC_ROOT", static)):
        messages.extend(
            Error(f"{name} holds {what}, which anybody could then download.", id="jobsite.E012")
            for what, place in secret.items()
            if place.is_relative_to(folder)
        )
    return messages


@register(Tags.security, deploy=True)
def production_is_deliberate(**kwargs: Any) -> list[CheckMessage]:
    """Defaults that suit a laptop and surprise in production."""
    messages: list[CheckMessage] = []
    if settings.INTERNAL_ACCESS == "public":
        messages.append(
            Warning(
                "Internal vacancies are open to everybody.",
                hint="Set INTERNAL_ACCESS to authenticated or network.",
                id="jobsite.W001",
            )
        )
    if settings.INTERNAL_ACCESS == "network" and not settings.INTERNAL_NETWORKS:
        messages.append(
            Warning("Nobody can see internal vacancies: INTERNAL_NETWORKS is empty.", id="jobsite.W002")
        )
    for name in ("INTERNAL_NETWORKS", "TRUSTED_PROXIES"):
        if any(cidr.strip().endswith("/0") for cidr in getattr(settings, name)):
            messages.append(Warning(f"{name} holds a network of everybody.", id="jobsite.W006"))
    messages.extend(_address())
    if (
        settings.RATE_LIMIT != "off"
        and re.search("locmem|dummy", settings.CACHES["default"]["BACKEND"])
        and os.environ.get("WEB_CONCURRENCY") != "1"
    ):
        messages.append(
            Warning(
                "The rate limit counts per worker process.",
                hint="Set CACHE_URL to a cache that all workers share, such as redis://127.0.0.1:6379/0, "
                "or WEB_CONCURRENCY to 1.",
                id="jobsite.W004",
            )
        )
    if not settings.IS_MAIL_SENT:
        messages.append(
            Warning(
                "Links to choose a new password are printed, not sent.",
                hint="Set EMAIL_URL, such as smtp+tls://user:password@mail.example.com:587.",
                id="jobsite.W005",
            )
        )
    elif settings.DEFAULT_FROM_EMAIL.endswith("@localhost"):
        messages.append(
            Warning(
                f"Mail is sent from {settings.DEFAULT_FROM_EMAIL}, which most servers refuse.",
                hint="Set DEFAULT_FROM_EMAIL to an address that may send.",
                id="jobsite.W010",
            )
        )
    messages.extend(_places())
    return messages


def _address() -> list[CheckMessage]:
    """How the public gets here, and what that makes of its address."""
    base = settings.PUBLIC_BASE_URL
    if not base:
        return [
            Warning(
                "Links and file addresses follow the Host header.",
                hint="Set PUBLIC_BASE_URL to the address that the public uses.",
                id="jobsite.W003",
            )
        ]
    messages: list[CheckMessage] = []
    host = urlsplit(base).hostname
    if base.startswith("http://") and host not in LOOPBACK:
        messages.append(
            Warning(
                "PUBLIC_BASE_URL is http://: anybody on the way reads tokens and changes answers.",
                hint="Serve https://, and say so there.",
                id="jobsite.W007",
            )
        )
    if host and not validate_host(host, settings.ALLOWED_HOSTS):
        messages.append(
            Warning(f"ALLOWED_HOSTS lacks {host}, the host of PUBLIC_BASE_URL.", id="jobsite.W008")
        )
    if base.startswith("https://") and not settings.TRUSTED_PROXIES:  # who ends TLS stands before us
        messages.append(
            Warning(
                "Behind a proxy that is not trusted, all visitors share its address and its rate limit.",
                hint="Set TRUSTED_PROXIES to the networks of the proxies, such as 127.0.0.1/32.",
                id="jobsite.W009",
            )
        )
    return messages


def _places() -> list[CheckMessage]:
    """Folders and files of this machine."""
    messages: list[CheckMessage] = []
    if isinstance(staticfiles_storage, ManifestFilesMixin) and staticfiles_storage.read_manifest() is None:
        messages.append(
            Warning(
                f"{settings.STATIC_ROOT} is not filled: the admin's pages will fail.",
                hint="Run manage.py collectstatic with each release.",
                id="jobsite.W011",
            )
        )
    media = Path(settings.MEDIA_ROOT)
    there = next(folder for folder in (media, *media.absolute().parents) if folder.exists())
    if not (there.is_dir() and os.access(there, os.W_OK | os.X_OK)):
        messages.append(
            Warning(
                f"Uploads will fail: this account may not write to MEDIA_ROOT, {media}.", id="jobsite.W012"
            )
        )
    cache = str(settings.CACHES["default"].get("LOCATION", ""))
    if (
        "sqlite" in settings.DATABASES["default"]["ENGINE"]
        and "://" in cache
        and urlsplit(cache).hostname not in LOOPBACK
    ):
        messages.append(
            Warning(
                "The cache is on another machine, as with several nodes; the database is a file of this one.",
                hint="SQLite is for one node: with more, set DATABASE_URL to PostgreSQL.",
                id="jobsite.W013",
            )
        )
    return messages


@register(Tags.security, deploy=True)
def content_is_deliberate(**kwargs: Any) -> list[CheckMessage]:
    """What is in the database from the start or from the demo, and must not meet applicants. Says nothing
    where there is no database yet, and makes none."""
    if not is_database_made():
        return []
    try:
        return [*_consent(), *_accounts(), *_retention()]
    except DatabaseError:
        return []


def is_database_made() -> bool:
    """Whether there is a database to connect to, as far as its address tells: SQLite would make a file."""
    database = settings.DATABASES["default"]
    return "sqlite" not in database["ENGINE"] or os.path.exists(database["NAME"])


def _consent() -> list[CheckMessage]:
    from forms_structure.models import ConsentText
    from jobsite.languages import site_language
    from vacancies.models import Vacancy

    if not Vacancy.objects.published().exists():
        return []  # nobody is asked yet
    hint = "Add a consent text under Application forms in the admin."
    newest = {text.language: text for text in ConsentText.objects.order_by("version")}
    messages: list[CheckMessage] = [
        Warning(
            f"Applicants consent to a text that stands in for yours: {text} links to {text.statement_url}.",
            hint=hint,
            id="jobsite.W014",
        )
        for text in newest.values()
        if NOBODYS.search(urlsplit(text.statement_url).hostname or "")
    ]
    if site_language() not in newest:
        messages.append(
            Warning(
                "Applicants consent to the text that comes with the code, without a privacy statement.",
                hint=hint,
                id="jobsite.W014",
            )
        )
    return messages


def _accounts() -> list[CheckMessage]:
    from django.contrib.auth import get_user_model
    from django.contrib.auth.hashers import check_password

    from jobsite.management.commands.demo import ACCOUNTS

    users = get_user_model()._default_manager.filter(username__in=ACCOUNTS, is_active=True)
    return [
        Warning(
            f"Everybody knows the password of {user.get_username()}: it is the demo's.",
            hint=f"manage.py changepassword {user.get_username()}",
            id="jobsite.W015",
        )
        for user in users.order_by("pk")
        if check_password(user.get_username(), user.password)
    ]


def _retention() -> list[CheckMessage]:
    from applications.models import Application

    if not Application.objects.exists():
        return []
    messages: list[CheckMessage] = []
    if not settings.APPLICATIONS_KEPT_DAYS:
        messages.append(
            Warning(
                "Applications are kept for ever.",
                hint="Set APPLICATIONS_KEPT_DAYS, and run purge_applications daily (jobsite-purge.timer).",
                id="jobsite.W016",
            )
        )
    if not settings.ERASURE_LOG:
        messages.append(
            Warning(
                "Who is erased comes back with a backup that is restored.",
                hint="Set ERASURE_LOG to a file beside the backups.",
                id="jobsite.W017",
            )
        )
    return messages
