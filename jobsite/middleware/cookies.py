"""Ignores malformed cookies."""

import re
from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse

_PATTERNS = {
    settings.SESSION_COOKIE_NAME: re.compile(r"[a-z0-9]{32}", re.ASCII),
    settings.CSRF_COOKIE_NAME: re.compile(r"[a-zA-Z0-9]{32}|[a-zA-Z0-9]{64}", re.ASCII),
}


class CookieMiddleware:
    """Removes session and CSRF cookies that Django cannot have set.

    Django would replace or delete them with Set-Cookie, also on public responses, which then could
    not be cached. PostgreSQL rejects a session key that contains NUL.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        for name, pattern in _PATTERNS.items():
            if name in request.COOKIES and not pattern.fullmatch(request.COOKIES[name]):
                del request.COOKIES[name]
        return self.get_response(request)
