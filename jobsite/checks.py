"""System checks for this project's own traps (manage.py check, check --deploy)."""

import re
from datetime import date
from ipaddress import ip_network
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, Warning, register
from django.core.exceptions import ImproperlyConfigured

from jobsite.api.throttling import parse_rate

INTERNAL_ACCESS = ("public", "authenticated", "network")


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
                ip_network(cidr.strip(), strict=False)
            except ValueError:
                messages.append(Error(f"{name} holds {cidr!r}, which is no network.", id="jobsite.E002"))
    try:
        parse_rate(settings.RATE_LIMIT)
    except ImproperlyConfigured as error:
        messages.append(Error(str(error), id="jobsite.E003"))
    if not 1 <= settings.PAGE_SIZE_MAX <= 1000:
        messages.append(
            Error(f"PAGE_SIZE_MAX is {settings.PAGE_SIZE_MAX}; allowed is 1 to 1000.", id="jobsite.E004")
        )
    if settings.PUBLIC_BASE_URL and not settings.PUBLIC_BASE_URL.startswith(("http://", "https://")):
        messages.append(Error("PUBLIC_BASE_URL must start with http:// or https://.", id="jobsite.E005"))
    for name in ("V0_1_DEPRECATED_AT", "V0_1_SUNSET_AT"):
        try:
            date.fromisoformat(getattr(settings, name) or "2000-01-01")
        except ValueError:
            messages.append(Error(f"{name} must be a date such as 2027-01-31.", id="jobsite.E006"))
    if not re.fullmatch(r"|pgbouncer|[1-9][0-9]*", settings.DATABASE_POOL):
        messages.append(Error('DATABASE_POOL must be a number or "pgbouncer".', id="jobsite.E007"))
    if settings.REPLICA_MAX_LAG < 2:  # they are asked once a second
        messages.append(Error("REPLICA_MAX_LAG must be at least 2 seconds.", id="jobsite.E008"))
    if len(settings.DATABASES) > 1 and "postgresql" not in settings.DATABASES["default"]["ENGINE"]:
        messages.append(Error("REPLICA_URLS are for PostgreSQL in DATABASE_URL.", id="jobsite.E009"))
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
    if not settings.PUBLIC_BASE_URL:
        messages.append(
            Warning(
                "Links and file addresses follow the Host header.",
                hint="Set PUBLIC_BASE_URL to the address that the public uses.",
                id="jobsite.W003",
            )
        )
    if settings.RATE_LIMIT != "off" and "locmem" in settings.CACHES["default"]["BACKEND"]:
        messages.append(
            Warning(
                "The rate limit counts per worker process.",
                hint="Set CACHE_URL to a cache that all workers share, such as redis://127.0.0.1:6379/0.",
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
    return messages
