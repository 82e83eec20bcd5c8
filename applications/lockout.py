"""What django-axes asks of us: where a sign-in comes from, and what one too many is told."""

from datetime import timedelta
from ipaddress import ip_address
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils import translation
from django.utils.translation import gettext as _

from applications.languages import preferred
from jobsite.api import addresses
from jobsite.api.problems import is_api, problem

NOWHERE = "0.0.0.0"


def address(request: HttpRequest) -> str:
    """The address of the client, as the rate limit counts it."""
    client = addresses.client(request)
    try:
        return str(ip_address(client))
    except ValueError:
        return NOWHERE


def refuse(request: HttpRequest, response: HttpResponse | None, credentials: Any) -> HttpResponse:
    """429: too many wrong passwords for this account from this address."""
    wait: timedelta = settings.AXES_COOLOFF_TIME
    return too_many(request, wait=wait.total_seconds())


def too_many(request: HttpRequest, *, wait: float) -> HttpResponse:
    """429: try again in `wait` seconds; a problem document or a page."""
    headers = {"Retry-After": str(int(wait)), "Cache-Control": "no-store"}
    minutes = max(1, round(wait / 60))
    if is_api(request):
        return problem(request, 429, f"Too many wrong passwords. Try again in {minutes} minutes.", headers)
    with translation.override(preferred(request.headers.get("Accept-Language", ""))):
        context = {"minutes": minutes, "heading": _("Locked for a while")}
        return TemplateResponse(request, "locked.html", context, status=429, headers=headers).render()
