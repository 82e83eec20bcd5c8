"""System checks of the configuration and the machine (manage.py check, check --deploy).

The settings themselves refuse to start with what is never safe (jobsite/environment.py). Checks
that read the tables of an app are in the `checks` module of that app.
"""

import os
import re
import tempfile
from collections.abc import Callable, Iterator
from datetime import date
from email.utils import getaddresses, parseaddr
from ipaddress import ip_network
from pathlib import Path
from urllib.parse import urlsplit

from django.conf import settings
from django.contrib.auth import get_user_model
from django.contrib.staticfiles.storage import ManifestFilesMixin, staticfiles_storage
from django.core.checks import CheckMessage, Error, Info, Tags, Warning, register
from django.core.exceptions import ImproperlyConfigured, ValidationError
from django.core.validators import validate_email
from django.db import DatabaseError
from django.http.request import validate_host

from jobsite.api.throttling import parse_rate
from jobsite.appearance import LIGHT, MIN_CONTRAST, contrast, palette
from jobsite.environment import NEW_KEY, env, is_random
from jobsite.ops.catalogs import outdated

INTERNAL_ACCESS = ("public", "authenticated", "network")
RATES = ("RATE_LIMIT", "SIGN_IN_RATE", "RESET_MAIL_RATE", "RECEIPT_RATE", "INTEGRATION_RATE")
LOOPBACK = ("localhost", "127.0.0.1", "::1", None)


@register(Tags.security)
def settings_are_valid(**kwargs: object) -> list[CheckMessage]:
    """Report settings that would cause an error at the first request."""
    unknown = env.unknown(settings.BASE_DIR / ".env").items()
    return [
        *_settings_of_access(),
        *_settings_of_interface(),
        *_settings_of_site(),
        *_settings_of_storage(),
        *_settings_of_backups(),
        *_folders(),
        *(
            Warning(
                f"{name} is no setting.",
                hint=f"Did you mean {meant}?" if meant else None,
                id="jobsite.W031",
            )
            for name, meant in unknown
        ),
    ]


def _settings_of_access() -> Iterator[CheckMessage]:
    if settings.INTERNAL_ACCESS not in INTERNAL_ACCESS:
        yield Error(
            f"INTERNAL_ACCESS is {settings.INTERNAL_ACCESS!r}, not one of "
            f"{', '.join(INTERNAL_ACCESS)}.",
            id="jobsite.E001",
        )
    for name in ("INTERNAL_NETWORKS", "TRUSTED_PROXIES"):
        for cidr in getattr(settings, name):
            try:
                ip_network(cidr.strip(), strict=name == "TRUSTED_PROXIES")  # as gunicorn
            except ValueError:
                yield Error(f"{name} contains {cidr!r}, which is not a network.", id="jobsite.E002")
    for name in RATES:
        try:
            parse_rate(getattr(settings, name), name)
        except ImproperlyConfigured as error:
            yield Error(str(error), id="jobsite.E003")


def _settings_of_interface() -> Iterator[CheckMessage]:
    if not 1 <= settings.PAGE_SIZE_MAX <= 1000:
        yield Error(
            f"PAGE_SIZE_MAX is {settings.PAGE_SIZE_MAX}; it must be from 1 to 1000.",
            id="jobsite.E004",
        )
    for name, pattern, allowed in (
        ("API_LICENSE", r"[-+.A-Za-z0-9() ]*", "an SPDX expression such as CC-BY-4.0"),
        ("API_CONTACT", r"|[^\s@/]+@[^\s@/]+", "an e-mail address"),
    ):
        value = getattr(settings, name)
        if not re.fullmatch(rf"https?://\S+|{pattern}", value):
            yield Error(f"{name} is {value!r}; it must be {allowed} or a URL.", id="jobsite.E020")
    for name in ("V0_1_DEPRECATED_AT", "V0_1_SUNSET_AT"):
        try:
            date.fromisoformat(getattr(settings, name) or "2000-01-01")
        except ValueError:
            yield Error(f"{name} must be a date such as 2027-01-31.", id="jobsite.E006")


def _settings_of_site() -> Iterator[CheckMessage]:
    if settings.PUBLIC_BASE_URL and not settings.PUBLIC_BASE_URL.startswith(
        ("http://", "https://")
    ):
        yield Error("PUBLIC_BASE_URL must start with http:// or https://.", id="jobsite.E005")
    try:
        [(_name, address)] = getaddresses([settings.DEFAULT_FROM_EMAIL])
        validate_email(address)
    except (ValueError, ValidationError):
        yield Error(
            f"DEFAULT_FROM_EMAIL is {settings.DEFAULT_FROM_EMAIL!r}, which is no e-mail address.",
            hint="Set it to an address such as jobs@example.com, or Jobs <jobs@example.com>.",
            id="jobsite.E051",
        )
    if (ratio := contrast(settings.SITE_COLOR, LIGHT)) < MIN_CONTRAST:
        shade = palette(settings.SITE_COLOR)["600"]
        yield Warning(
            f"SITE_COLOR is {settings.SITE_COLOR}, of contrast {ratio:.1f}: texts are {shade}.",
            hint=f"A contrast of {MIN_CONTRAST} is readable. Choose a darker color, or keep it.",
            id="jobsite.W038",
        )
    for host in settings.ALLOWED_HOSTS:
        if not re.fullmatch(r"\*|\.?[\w-]+(\.[\w-]+)*|\[[0-9a-fA-F:.]+\]", host):
            yield Error(
                f"ALLOWED_HOSTS contains {host!r}, which is not a host name.",
                hint="Use names without scheme, port and path, and IPv6 addresses in brackets.",
                id="jobsite.E010",
            )


def _settings_of_storage() -> Iterator[CheckMessage]:
    if not re.fullmatch(r"|pgbouncer|[1-9][0-9]*", settings.DATABASE_POOL):
        yield Error('DATABASE_POOL must be a number or "pgbouncer".', id="jobsite.E007")
    engines = [database["ENGINE"] for database in settings.DATABASES.values()]
    if len(engines) > 1 and not all(engine.endswith("postgresql") for engine in engines):
        yield Error("REPLICA_URL and DATABASE_URL must both be PostgreSQL.", id="jobsite.E009")
    if not re.search("locmem|dummy|jobsite.serving.cache", settings.CACHES["default"]["BACKEND"]):
        yield Error(
            "CACHE_URL is a cache that unpickles values: anyone who can write to it can execute "
            "code.",
            hint="Use redis://, rediss:// or valkey://, or unset it.",
            id="jobsite.E030",
        )


def _settings_of_backups() -> Iterator[CheckMessage]:
    keys = [key for key in (settings.BACKUP_KEY, *settings.BACKUP_KEY_FALLBACKS) if key]
    if any(not is_random(key) or key == settings.SECRET_KEY for key in keys):
        yield Error(
            "BACKUP_KEY and each of BACKUP_KEY_FALLBACKS must be 50 or more random characters, and "
            "different from SECRET_KEY.",
            hint=NEW_KEY,
            id="jobsite.E031",
        )
    if settings.BACKUP_KEY_FALLBACKS and not settings.BACKUP_KEY:
        yield Error("BACKUP_KEY_FALLBACKS needs a BACKUP_KEY.", id="jobsite.E032")


def _folders() -> list[CheckMessage]:
    """Report public folders that overlap with each other or contain private files.

    MEDIA_ROOT and STATIC_ROOT are served to everyone, and `collectstatic --clear` empties
    STATIC_ROOT.
    """
    media, static, here = (
        Path(folder).resolve()
        for folder in (settings.MEDIA_ROOT, settings.STATIC_ROOT, settings.BASE_DIR)
    )
    messages: list[CheckMessage] = []
    if media.is_relative_to(static) or static.is_relative_to(media):
        messages.append(
            Error("MEDIA_ROOT and STATIC_ROOT must not contain each other.", id="jobsite.E011")
        )
    private = {"the project": here, "PRIVATE_ROOT": Path(settings.PRIVATE_ROOT).resolve()}
    if "sqlite" in settings.DATABASES["default"]["ENGINE"]:
        private["the database"] = Path(settings.DATABASES["default"]["NAME"]).resolve()
    for name, folder in (("MEDIA_ROOT", media), ("STATIC_ROOT", static)):
        messages.extend(
            Error(f"{name} contains {what}, which anyone could download.", id="jobsite.E012")
            for what, place in private.items()
            if place.is_relative_to(folder)
        )
        if folder != private["PRIVATE_ROOT"] and folder.is_relative_to(private["PRIVATE_ROOT"]):
            messages.append(Error(f"PRIVATE_ROOT must not contain {name}.", id="jobsite.E013"))
    return messages


@register(Tags.security, deploy=True)
def production_is_configured(**kwargs: object) -> list[CheckMessage]:
    """Report defaults that are meant for development."""
    subjects = (_access, _address, _cache, _mail, _defaults, _release, _uploads)
    return [message for subject in subjects for message in subject()]


def _access() -> Iterator[CheckMessage]:
    if settings.INTERNAL_ACCESS == "public":
        yield Warning(
            "Internal vacancies are public.",
            hint="Set INTERNAL_ACCESS to authenticated or network.",
            id="jobsite.W001",
        )
    if settings.INTERNAL_ACCESS == "network" and not settings.INTERNAL_NETWORKS:
        yield Warning(
            "Internal vacancies are not reachable: INTERNAL_NETWORKS is empty.",
            id="jobsite.W002",
        )
    for name in ("INTERNAL_NETWORKS", "TRUSTED_PROXIES"):
        if any(cidr.strip().endswith("/0") for cidr in getattr(settings, name)):
            yield Warning(f"{name} contains a network of all addresses.", id="jobsite.W006")


def _address() -> Iterator[CheckMessage]:
    """Report problems with the public address."""
    base = settings.PUBLIC_BASE_URL
    if not base:
        yield Warning(
            "Absolute URLs are built from the Host header.",
            hint="Set PUBLIC_BASE_URL to the public address of the site.",
            id="jobsite.W003",
        )
        return
    host = urlsplit(base).hostname
    if base.startswith("http://") and host not in LOOPBACK:
        yield Warning(
            "PUBLIC_BASE_URL is http://: tokens and responses are not encrypted.",
            hint="Serve the site over https://, and set PUBLIC_BASE_URL to it.",
            id="jobsite.W007",
        )
    if host and not validate_host(host, settings.ALLOWED_HOSTS):
        yield Warning(
            f"ALLOWED_HOSTS does not contain {host}, the host of PUBLIC_BASE_URL.",
            id="jobsite.W008",
        )
    if base.startswith("https://") and not settings.TRUSTED_PROXIES:  # a proxy terminates TLS
        yield Warning(
            "The proxy is not trusted: all visitors share its address and one rate limit.",
            hint="Set TRUSTED_PROXIES to the networks of the proxies, such as 127.0.0.1/32.",
            id="jobsite.W009",
        )


def _cache() -> Iterator[CheckMessage]:
    if (
        settings.RATE_LIMIT != "off"
        and re.search("locmem|dummy", settings.CACHES["default"]["BACKEND"])
        and os.environ.get("WEB_CONCURRENCY") != "1"
    ):
        yield Warning(
            "Each worker process counts the rate limit separately.",
            hint="Set CACHE_URL to a shared cache, such as redis://127.0.0.1:6379/0, or "
            "WEB_CONCURRENCY to 1.",
            id="jobsite.W004",
        )
    location = str(settings.CACHES["default"].get("LOCATION", ""))
    if (
        "sqlite" in settings.DATABASES["default"]["ENGINE"]
        and "://" in location
        and urlsplit(location).hostname not in LOOPBACK
    ):
        yield Warning(
            "The cache is on another machine, but the database is a file on this one.",
            hint="SQLite supports one node: for several, set DATABASE_URL to PostgreSQL.",
            id="jobsite.W013",
        )


def _mail() -> Iterator[CheckMessage]:
    if not settings.IS_MAIL_SENT:
        yield Warning(
            "Emails are not sent: applicants get no receipts, and accounts no password reset "
            "mails.",
            hint="Set EMAIL_URL, such as smtp+tls://user:password@mail.example.com:587.",
            id="jobsite.W005",
        )
    elif parseaddr(settings.DEFAULT_FROM_EMAIL)[1].endswith("@localhost"):
        yield Warning(
            f"Mail is sent from {settings.DEFAULT_FROM_EMAIL}, which most mail servers reject.",
            hint="Set DEFAULT_FROM_EMAIL to an address of a domain that may send.",
            id="jobsite.W010",
        )


def _defaults() -> Iterator[CheckMessage]:
    if "TIME_ZONE" not in os.environ:
        yield Warning(
            f"TIME_ZONE is not set: the interface shows times in {settings.TIME_ZONE}.",
            hint="Set TIME_ZONE, such as Europe/Brussels.",
            id="jobsite.W023",
        )
    if not settings.BACKUP_KEY:
        yield Warning(
            "Backups are not signed: BACKUP_KEY is not set.", hint=NEW_KEY, id="jobsite.W018"
        )


def _release() -> Iterator[CheckMessage]:
    """Report files that each release makes."""
    if (
        isinstance(staticfiles_storage, ManifestFilesMixin)
        and staticfiles_storage.read_manifest() is None
    ):
        yield Warning(
            f"Static files are not collected to {settings.STATIC_ROOT}: pages have no style.",
            hint="Run manage.py collectstatic for each release.",
            id="jobsite.W011",
        )
    if any(outdated()):
        yield Warning(
            "The admin and the forms show old translations, or none: they are not compiled.",
            hint="Run manage.py compilemessages for each release.",
            id="jobsite.W022",
        )


def _uploads() -> Iterator[CheckMessage]:
    if settings.FILES_IN_BUCKET:
        return
    for name in ("MEDIA_ROOT", "PRIVATE_ROOT"):
        folder = Path(getattr(settings, name))
        try:
            with tempfile.TemporaryFile(dir=existing_folder(folder)):
                pass
        except OSError as error:
            yield Warning(
                f"Uploads will fail: {name}, {folder}, is not writable ({error.strerror}).",
                hint="Change its owner to the account that runs the site.",
                id="jobsite.W012",
            )
    private = Path(settings.PRIVATE_ROOT)
    if private.is_dir() and private.stat().st_mode & 0o077:
        yield Warning(
            f"Other accounts of this machine can list PRIVATE_ROOT, {private}.",
            hint=f"Run chmod 700 {private}.",
            id="jobsite.W019",
        )


def existing_folder(folder: Path) -> Path:
    """Return `folder`, or its first parent that exists."""
    return next(path for path in (folder, *folder.absolute().parents) if path.exists())


def register_content_check(
    check: Callable[[], list[CheckMessage]],
) -> Callable[..., list[CheckMessage]]:
    """Register `check`, which reads the database, for check --deploy.

    It reports nothing if there is no database or no table yet, and does not create a SQLite file.
    """

    @register(Tags.security, deploy=True)
    def run(**kwargs: object) -> list[CheckMessage]:
        if not is_database_created():
            return []
        try:
            return check()
        except DatabaseError:
            return []

    return run


@register_content_check
def staff_have_a_second_factor() -> list[CheckMessage]:
    """Report that a password alone opens the admin, if somebody can open it."""
    staff = get_user_model()._default_manager.filter(is_staff=True, is_active=True)
    if settings.SECOND_FACTOR != "off" or not staff.exists():
        return []
    return [
        Info(
            "SECOND_FACTOR is off: whoever knows the password of a colleague can open the admin.",
            hint="Set SECOND_FACTOR to required; see docs/operations/accounts.md.",
            id="jobsite.I001",
        )
    ]


def is_database_created() -> bool:
    """Return whether there is a database to connect to.
    Connecting would create a missing SQLite file.
    """
    database = settings.DATABASES["default"]
    return "sqlite" not in database["ENGINE"] or os.path.exists(database["NAME"])
