"""Limits of sign-in attempts: for an account by django-axes, for all accounts from one address, and
their 429.
"""

from collections.abc import Callable, Iterator, Mapping
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
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils import timezone, translation
from django.utils.translation import gettext as _

from jobsite.api import client_address
from jobsite.api.problems import is_api, problem
from jobsite.api.throttling import RateLimit
from jobsite.db.locks import lock_transaction
from jobsite.languages import preferred_language
from jobsite.unseen import visible

Credentials = Mapping[str, str] | None  # of a sign-in; None: those that the request posts
NOWHERE = "0.0.0.0"


class Handler(AxesDatabaseHandler):
    """django-axes with atomic counting: each attempt is a row before its password is checked.
    Otherwise, parallel attempts could all pass the limit before the first of them has failed.

    The row is deleted when the attempt fails, and the failure is counted instead; when the user is
    signed in; or at the end of the request (ReleaseMiddleware): a correct password that waits for
    its second factor is not a failure.
    """

    def is_allowed(self, request: Any, credentials: Credentials = None) -> bool:
        if getattr(request, "axes_attempt", None):
            return True
        with self._locked(request, credentials):
            if not super().is_allowed(request, credentials):
                return False
            request.axes_attempt = AccessAttempt.objects.create(
                username=get_client_username(request, credentials),
                ip_address=request.axes_ip_address,
                user_agent=f"attempt {uuid4()}",
                failures_since_start=1,
            )
        return True

    def user_login_failed(
        self,
        sender: object,
        credentials: Credentials,
        request: HttpRequest | None = None,
        **kwargs: object,
    ) -> None:
        if request is None:  # axes logs it
            return
        with self._locked(request, credentials):
            release(request)
            super().user_login_failed(sender, credentials, request, **kwargs)

    @contextmanager
    def _locked(self, request: Any, credentials: Credentials) -> Iterator[None]:
        """Run the block in a transaction that waits for others of the same account and address. On
        SQLite, all transactions wait for each other.
        """
        with transaction.atomic():
            lock_transaction(
                f"axes {get_client_username(request, credentials)} {request.axes_ip_address}"
            )
            yield


def release(request: HttpRequest) -> None:
    """Delete the row of the attempt of `request`, if there is one."""
    if attempt := request.__dict__.pop("axes_attempt", None):
        AccessAttempt.objects.filter(pk=attempt.pk).delete()


class ReleaseMiddleware:
    """Releases the attempt at the end of its request."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        try:
            return self.get_response(request)
        finally:
            release(request)


def address(request: HttpRequest) -> str:
    """Return the address of the client, as used by the rate limit."""
    try:
        return str(ip_address(client_address.rate_limit_key(request)))
    except ValueError:
        return NOWHERE


def name(request: HttpRequest, credentials: Credentials = None) -> str | None:
    """Return the user name of the attempt, as it is compared, truncated to the length of its
    column.
    """
    given = (credentials or request.POST).get("username")
    return given and visible(given)[:255]


def refuse(
    request: HttpRequest, response: HttpResponse | None, credentials: Credentials
) -> HttpResponse:
    """Return 429: too many wrong passwords for this account from this address."""
    wait = opens_at(request, credentials) - timezone.now()
    return too_many(request, wait=wait.total_seconds())


def opens_at(request: HttpRequest, credentials: Credentials) -> datetime:
    """Return the time when enough failures have expired for another attempt."""
    cool_off: timedelta = settings.AXES_COOLOFF_TIME
    end = timezone.now()
    for attempts in Handler().get_user_attempts(request, credentials):
        rows = attempts.order_by("attempt_time").values_list("attempt_time", "failures_since_start")
        left = sum(failures for _, failures in rows)  # a row for each browser
        for at, failures in rows:
            if left < settings.AXES_FAILURE_LIMIT:
                break
            left -= failures
            end = max(end, at + cool_off)
    return end


def limited(view: Callable) -> Callable:
    """Limit the posts to `view` from one address, which may try many accounts."""

    @wraps(view)
    def answer(request: HttpRequest, *args: object, **kwargs: object) -> object:
        limit = RateLimit(settings.SIGN_IN_RATE)
        if request.method == "POST" and not limit.allow_request(request):
            return too_many(request, wait=limit.wait())
        return view(request, *args, **kwargs)

    return answer


def too_many(request: HttpRequest, *, wait: float) -> HttpResponse:
    """Return 429 with a problem document or a page: try again in `wait` seconds."""
    seconds = max(1, -int(-wait // 1))
    headers = {"Retry-After": str(seconds), "Cache-Control": "no-store"}
    minutes = max(1, -(-seconds // 60))
    if is_api(request):
        return problem(
            request, 429, f"Too many wrong passwords. Try again in {minutes} minutes.", headers
        )
    chosen = getattr(request, "LANGUAGE_CODE", "")  # set in the admin
    with translation.override(
        chosen or preferred_language(request.headers.get("Accept-Language", ""))
    ):
        context = {"minutes": minutes, "heading": _("Temporarily locked")}
        return TemplateResponse(
            request, "locked.html", context, status=429, headers=headers
        ).render()
