"""The supported languages, and the selection of one for a request."""

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils import translation
from django.utils.cache import patch_vary_headers
from django.utils.translation.trans_real import parse_accept_lang_header

LANGUAGES = dict(settings.LANGUAGES)
ADMIN_PATHS = ("/admin/", "/preview/", "/vacancies/")


def site_language() -> str:
    """Return the language of LANGUAGE_CODE if it is supported, else English."""
    code = settings.LANGUAGE_CODE.split("-")[0]
    return code if code in LANGUAGES else "en"


def supported(language: str) -> str:
    """Return `language` if there are texts in it, else the site's language."""
    return language if language in LANGUAGES else site_language()


def stated(language: str) -> list[str]:
    """Return what vacancies in `language` state: those without a language are in that of the site."""
    return [language, *([""] if language == site_language() else [])]


def text_languages() -> tuple[str, ...]:
    """Return the languages that the texts of a vacancy may have, first that of the site: the values
    of the parameter `language`. None if TEXT_LANGUAGES is empty.
    """
    codes: list[str] = settings.TEXT_LANGUAGES
    return tuple(dict.fromkeys([site_language(), *codes])) if codes else ()


def preferred_language(header: str) -> str:
    """Return the supported language that an Accept-Language `header` prefers, else the site's
    language.

    Django truncates a long header and ignores the range at which it was cut.
    """
    ranges = parse_accept_lang_header(header)
    listed = {name for name, _ in ranges}
    for name, quality in ranges:
        # RFC 9110: "*" matches every language that the header does not list
        others = (code for code in (site_language(), *LANGUAGES) if code not in listed)
        code = next(others, "") if name == "*" else name.split("-")[0]
        if quality and code in LANGUAGES:
            return code
    return site_language()


class AdminLanguageMiddleware:
    """Activates the user's language for the admin and the previews: the one they chose, else the
    browser's.

    LocaleMiddleware would do this for every path, and add `Vary: Accept-Language` to every API
    response.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if not request.path_info.startswith(ADMIN_PATHS):
            return self.get_response(request)
        with translation.override(translation.get_language_from_request(request)):
            request.LANGUAGE_CODE = translation.get_language()
            response = self.get_response(request)
        patch_vary_headers(response, ("Accept-Language", "Cookie"))
        response.headers.setdefault("Content-Language", request.LANGUAGE_CODE)
        return response
