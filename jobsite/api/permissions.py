"""Who may see what is internal: one setting, INTERNAL_ACCESS (docs/decisions.md #3)."""

from typing import Any

from django.conf import settings
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from jobsite.api import addresses

SEE_INTERNAL = "vacancies.see_internal"  # colleagues have it; an account alone makes nobody one


def is_protected() -> bool:
    """Whether internal vacancies are kept from the public."""
    return settings.INTERNAL_ACCESS != "public"


def lacks_factor(request: Any) -> bool:
    """Whether the session of `request` was made by less than its account needs (decisions.md #90). The
    middleware jobsite.accounts.sign_in.SecondFactorGate knows; without it a password is enough."""
    lacks = getattr(request, "lacks_factor", None)
    return lacks is not None and lacks()


def may_see_internal(request: Request) -> bool:
    """Whether the client of `request` may see internal vacancies. Raises AuthenticationFailed for a
    bad credential where credentials decide."""
    if settings.INTERNAL_ACCESS == "authenticated":
        user = request.user
        if request.auth is None and lacks_factor(request):  # a session; a bearer token has no factors
            return False
        return bool(user and user.is_active and (user.is_staff or user.has_perm(SEE_INTERNAL)))
    return not is_protected() or addresses.is_internal(request)


def is_insider(request: Request) -> bool:
    """`may_see_internal`, a bad credential being as good as none."""
    try:
        return may_see_internal(request)
    except AuthenticationFailed:
        return False


class InternalAccess(BasePermission):
    """Lets those through who may see internal vacancies: 401 for want of credentials, else 403."""

    message = "Internal vacancies are not open to you."

    def has_permission(self, request: Request, view: Any) -> bool:
        if may_see_internal(request):
            return True
        if settings.INTERNAL_ACCESS == "network":
            # No credential would help, so none is asked for.
            request.authenticators = ()
        return False
