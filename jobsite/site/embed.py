"""The list of vacancies for pages of other sites: a module with a custom element (embed.js)."""

import json
from functools import cache
from pathlib import Path

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_safe

from jobsite.languages import text_languages

MAX_AGE = 3600  # seconds; its address is the same in each release


@cache
def _module() -> str:
    return Path(__file__).with_suffix(".js").read_text()


@csrf_exempt  # other methods get 405, not a CSRF error
@require_safe
def embed(request: HttpRequest) -> HttpResponse:
    if not settings.CAREER_SITE:
        raise Http404
    languages = f"const LANGUAGES = {json.dumps(text_languages())};\n"
    response = HttpResponse(languages + _module(), content_type="text/javascript; charset=utf-8")
    response["Cache-Control"] = f"public, max-age={MAX_AGE}"
    return response
