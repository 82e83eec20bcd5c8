"""How often somebody may try to sign in: what django-axes asks of us about one account, the limit on all of
them from one address, and what one too many is told."""

from collections.abc import Callable
from datetime import datetime, timedelta
from functools import wraps
from ipaddress import ip_address
from typing import Any

from axes.handlers.database import AxesDatabaseHandler
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils import timezone, translation
from django.utils.translation import gettext as _

from applications.languages import preferred
from jobsite.api import addresses
from jobsite.api.problems import is_api, problem
from jobsite.api.throttling import RateLimit

NOWHERE = "0.0.0.0"


def address(request: HttpRequest) -> str:
    """The address of the client, as the rate limit counts it."""
    try:
        return str(ip_address(addresses.counted(request)))
    except ValueError:
        return NOWHERE


def name(request: HttpRequest, credentials: Any = None) -> str | None:
    """The name of the account that is tried, as far as it fits where failures are kept."""
    given = (credentials or request.POST).get("username")
    return given and given[:255]


def refuse(request: HttpRequest, response: HttpResponse | None, credentials: Any) -> HttpResponse:
    """429: too many wrong passwords for this account from this address."""
    wait = opens_at(request, credentials) - timezone.now()
    return too_many(request, wait=wait.total_seconds())


def opens_at(request: HttpRequest, credentials: Any) -> datetime:
    """When so many failures are long enough ago that what is left is below the limit."""
    cool_off: timedelta = settings.AXES_COOLOFF_TIME
    end = timezone.now()
    for attempts in AxesDatabaseHandler().get_user_attempts(request, credentials):
        rows = attempts.order_by("attempt_time").values_list("attempt_time", "failures_since_start")
        left = sum(failures for _, failures in rows)  # each browser that was used has a row
        for at, failures in rows:
            if left < settings.AXES_FAILURE_LIMIT:
                break
            left -= failures
            end = max(end, at + cool_off)
    return end


def limited(view: Callable[..., Any]) -> Callable[..., Any]:
    """`view`, but for posts from an address that posted too often: many accounts may be tried in turn."""

    @wraps(view)
    def answer(request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        limit = RateLimit(settings.SIGN_IN_RATE)
        if request.method == "POST" and not limit.allow_request(request):
            return too_many(request, wait=limit.wait())
        return view(request, *args, **kwargs)

    return answer


def too_many(request: HttpRequest, *, wait: float) -> HttpResponse:
    """429: try again in `wait` seconds; a problem document or a page."""
    seconds = max(1, -int(-wait // 1))
    headers = {"Retry-After": str(seconds), "Cache-Control": "no-store"}
    minutes = max(1, -(-seconds // 60))
    if is_api(request):
        return problem(request, 429, f"Too many wrong passwords. Try again in {minutes} minutes.", headers)
    chosen = getattr(request, "LANGUAGE_CODE", "")  # in the workplace
    with translation.override(chosen or preferred(request.headers.get("Accept-Language", ""))):
        context = {"minutes": minutes, "heading": _("Locked for a while")}
        return TemplateResponse(request, "locked.html", context, status=429, headers=headers).render()
