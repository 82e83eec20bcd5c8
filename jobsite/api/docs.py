"""Views of the OpenAPI document, of the page that shows it, and of docs/api.md."""

import json
from functools import lru_cache

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_safe
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.views import SpectacularSwaggerSplitView
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response

from jobsite.api.absolute_urls import absolute
from jobsite.types import JsonObject


@lru_cache(maxsize=4)
def _document(base_url: str) -> JsonObject:
    """The document of a service at `base_url`. It depends on code and settings only."""
    return SchemaGenerator().get_schema(public=True)


@lru_cache(maxsize=4)
def _body(base_url: str, address: str) -> bytes:
    """The document with `address` as its server, for generated clients."""
    more = {"description": "The guide, with examples", "url": f"{address}/docs/api.md"}
    document = {**_document(base_url), "servers": [{"url": address}], "externalDocs": more}
    return json.dumps(document, ensure_ascii=False, indent=1).encode()


@csrf_exempt  # other methods get 405, not a CSRF error
@require_safe
def openapi_json(request: HttpRequest) -> HttpResponse:
    """The OpenAPI document, generated once per process."""
    address = absolute(request, "/").removesuffix("/")
    body = _body(settings.PUBLIC_BASE_URL, address)
    response = HttpResponse(body, content_type="application/json")
    response["Cache-Control"] = f"public, max-age={settings.PUBLIC_MAX_AGE}"
    return response


@csrf_exempt
@require_safe
def guide(request: HttpRequest, name: str = "api.md") -> HttpResponse:
    """A file of docs/ as text, with the address of this service in its examples."""
    text = (settings.BASE_DIR / "docs" / name).read_text()
    for shown in ("http://127.0.0.1:8000", "https://jobs.example.com"):
        text = text.replace(shown, absolute(request, "/").removesuffix("/"))
    response = HttpResponse(text, content_type="text/plain; charset=utf-8")
    response["Cache-Control"] = f"public, max-age={settings.PUBLIC_MAX_AGE}"
    return response


class DocsView(SpectacularSwaggerSplitView):
    """A page to read the document and to try the operations. It loads nothing from other hosts."""

    authentication_classes = ()
    permission_classes = (AllowAny,)
    throttle_classes = ()
    url_name = "openapi"
    template_name = "docs.html"
    schema = None  # not in the document itself

    def get(self, request: Request, *args: object, **kwargs: object) -> Response:
        response = super().get(request, *args, **kwargs)
        response.data["csrf_token"] = ""  # nothing here writes, and a cookie would prevent caching
        # Swagger UI uses data: images and style attributes.
        response["Content-Security-Policy"] = (
            "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src "
            "'self' data:; connect-src 'self'; base-uri 'none'; form-action 'self'; "
            "frame-ancestors 'none'"
        )
        return response
