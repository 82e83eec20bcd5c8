"""Sessions that a malformed cookie cannot disturb."""

import re

from django.conf import settings
from django.contrib.sessions import middleware
from django.http import HttpRequest

_KEY = re.compile(r"[a-z0-9]{32}", re.ASCII)


class SessionMiddleware(middleware.SessionMiddleware):
    """Django's, blind to a cookie that was never ours.

    Such a cookie would be deleted by a Set-Cookie on a public answer, which caches must not keep, and
    with a NUL in it PostgreSQL refuses the look-up.
    """

    def process_request(self, request: HttpRequest) -> None:
        key = request.COOKIES.get(settings.SESSION_COOKIE_NAME)
        if key is not None and not _KEY.fullmatch(key):
            del request.COOKIES[settings.SESSION_COOKIE_NAME]
        super().process_request(request)
