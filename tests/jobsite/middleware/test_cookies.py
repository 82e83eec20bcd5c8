"""Cookies that Django cannot have set are ignored."""

from django.conf import settings
from django.http import HttpResponse

from jobsite.middleware.cookies import CookieMiddleware


def test_malformed_cookies_are_ignored(rf):
    session, csrf = settings.SESSION_COOKIE_NAME, settings.CSRF_COOKIE_NAME
    cases = [
        (session, "a1" * 16, True),
        (session, "A1" * 16, False),
        (csrf, "aB" * 16, True),
        (csrf, "aB" * 32, True),
        (csrf, "a" * 63, False),
        *(
            (name, text, False)
            for name in (session, csrf)
            for text in ("", "x", "a" * 31, "a" * 33, "a" * 32 + "\0", "a" * 32 + "\n", "é" * 32)
        ),
        ("other", "x", True),
    ]
    wrong = []
    for name, text, is_kept in cases:
        request = rf.get("/")
        request.COOKIES = {name: text}
        CookieMiddleware(lambda request: HttpResponse())(request)
        if (name in request.COOKIES) != is_kept:
            wrong.append((name, text, is_kept))

    assert wrong == []
