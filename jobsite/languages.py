"""The languages that the workplace, forms and statuses speak, and which of them a request is answered in."""

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils import translation
from django.utils.cache import patch_vary_headers

LANGUAGES = dict(settings.LANGUAGES)
PLACES = ("/admin/", "/preview/")  # of the workplace


def site_language() -> str:
    """The site's language if it is one of ours, else English."""
    code = settings.LANGUAGE_CODE.split("-")[0]
    return code if code in LANGUAGES else "en"


class WorkplaceLanguage:
    """Speaks, in the workplace and its previews alone, the language that a colleague chose there, else that
    of their browser.

    Django's LocaleMiddleware would do so on every path, and make each answer of the interface vary with
    Accept-Language.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if not request.path_info.startswith(PLACES):
            return self.get_response(request)
        with translation.override(translation.get_language_from_request(request)):
            request.LANGUAGE_CODE = translation.get_language()
            response = self.get_response(request)
        patch_vary_headers(response, ("Accept-Language", "Cookie"))
        response.headers.setdefault("Content-Language", request.LANGUAGE_CODE)
        return response
