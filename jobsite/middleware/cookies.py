"""Cookies that a malformed one cannot disturb."""

import re
from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse

_FORMS = {
    settings.SESSION_COOKIE_NAME: re.compile(r"[a-z0-9]{32}", re.ASCII),
    settings.CSRF_COOKIE_NAME: re.compile(r"[a-zA-Z0-9]{32}|[a-zA-Z0-9]{64}", re.ASCII),
}


class CookieMiddleware:
    """Makes Django blind to cookies that were never ours.

    It would replace or delete them by a Set-Cookie, on public answers too, which caches must not keep;
    and a session key with a NUL in it is more than PostgreSQL takes.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        for name, form in _FORMS.items():
            if name in request.COOKIES and not form.fullmatch(request.COOKIES[name]):
                del request.COOKIES[name]
        return self.get_response(request)
