"""Access to internal vacancies: one setting, INTERNAL_ACCESS (docs/decisions.md #3)."""

from typing import Any

from django.conf import settings
from django.http import HttpRequest
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from jobsite.api import client_address

SEE_INTERNAL = "vacancies.see_internal"  # for colleagues; other accounts do not have it


def is_protected() -> bool:
    """Whether internal vacancies are hidden from the public."""
    return settings.INTERNAL_ACCESS != "public"


def lacks_factor(request: HttpRequest | Request) -> bool:
    """Whether the session of `request` lacks a second factor that its account needs (decisions.md
    #90).

    The middleware jobsite.accounts.sign_in.SecondFactorGate decides. Without it, a password is
    enough.
    """
    lacks = getattr(request, "lacks_factor", None)
    return lacks is not None and lacks()


def is_colleague(user: Any) -> bool:
    """Whether `user` is staff who works here. Who may view applications but no vacancies is in a
    team, as clients are.
    """
    return user.is_staff and (
        user.has_perm("vacancies.view_vacancy")
        or not user.has_perm("applications.view_application")
    )


def may_see_internal(request: Request) -> bool:
    """Whether the client of `request` may see internal vacancies. Raises AuthenticationFailed for
    invalid credentials where INTERNAL_ACCESS is "authenticated".
    """
    if settings.INTERNAL_ACCESS == "authenticated":
        user = request.user
        # A session; a bearer token needs no second factor.
        if request.auth is None and lacks_factor(request):
            return False
        return bool(user and user.is_active and (is_colleague(user) or user.has_perm(SEE_INTERNAL)))
    return not is_protected() or client_address.is_internal(request)


def is_insider(request: Request) -> bool:
    """`may_see_internal`, but False for invalid credentials."""
    try:
        return may_see_internal(request)
    except AuthenticationFailed:
        return False


class InternalAccess(BasePermission):
    """Allows clients that may see internal vacancies. 401 if credentials are missing, else 403."""

    message = "Internal vacancies are not open to you."

    def has_permission(self, request: Request, view: object) -> bool:
        if may_see_internal(request):
            return True
        if settings.INTERNAL_ACCESS == "network":
            # Credentials would not help: answer 403, not 401.
            request.authenticators = ()
        return False
