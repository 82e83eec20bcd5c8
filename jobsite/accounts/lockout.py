"""How often somebody may try to sign in: what django-axes asks of us about one account, the limit on all of
them from one address, and what one too many is told."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from functools import wraps
from ipaddress import ip_address
from typing import Any
from uuid import uuid4

from axes.handlers.database import AxesDatabaseHandler
from axes.helpers import get_client_username
from axes.models import AccessAttempt
from django.conf import settings
from django.db import connection, transaction
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils import timezone, translation
from django.utils.translation import gettext as _

from jobsite.api import addresses
from jobsite.api.problems import is_api, problem
from jobsite.api.throttling import RateLimit
from jobsite.languages import preferred_language

NOWHERE = "0.0.0.0"


class Handler(AxesDatabaseHandler):
    """django-axes, counting atomically: an attempt is a row from before its password is checked. So
    parallel attempts cannot all pass a check of the failures before the first of them has failed.

    The row goes when the attempt fails (then the failure is counted), when the user is signed in, or at the
    end of the request (ReleaseMiddleware): a right password that waits for its second factor is no failure.
    """

    def is_allowed(self, request: Any, credentials: Any = None) -> bool:
        if getattr(request, "axes_attempt", None):
            return True
        with self._alone(request, credentials):
            if not super().is_allowed(request, credentials):
                return False
            request.axes_attempt = AccessAttempt.objects.create(
                username=get_client_username(request, credentials),
                ip_address=request.axes_ip_address,
                user_agent=f"attempt {uuid4()}",
                failures_since_start=1,
            )
        return True

    def user_login_failed(self, sender: Any, credentials: Any, request: Any = None, **kwargs: Any) -> None:
        if request is None:  # axes says so in its log
            return
        with self._alone(request, credentials):
            release(request)
            super().user_login_failed(sender, credentials, request, **kwargs)

    @contextmanager
    def _alone(self, request: Any, credentials: Any) -> Iterator[None]:
        """A transaction that waits for others about the same account and address. On SQLite, every
        transaction waits for all others."""
        with transaction.atomic():
            if connection.vendor == "postgresql":
                with connection.cursor() as cursor:
                    about = f"axes {get_client_username(request, credentials)} {request.axes_ip_address}"
                    cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [about])
            yield


def release(request: Any) -> None:
    """Delete the row of the attempt that `request` makes, if it makes one."""
    if attempt := request.__dict__.pop("axes_attempt", None):
        AccessAttempt.objects.filter(pk=attempt.pk).delete()


class ReleaseMiddleware:
    """Ends an attempt with its request."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        try:
            return self.get_response(request)
        finally:
            release(request)


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
    for attempts in Handler().get_user_attempts(request, credentials):
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
    with translation.override(chosen or preferred_language(request.headers.get("Accept-Language", ""))):
        context = {"minutes": minutes, "heading": _("Temporarily locked")}
        return TemplateResponse(request, "locked.html", context, status=429, headers=headers).render()
