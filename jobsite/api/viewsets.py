"""The base viewset of endpoints: read-only, public, with checked parameters and cache headers."""

from datetime import date, datetime
from typing import Any, ClassVar

from django.conf import settings
from django.http import HttpResponse
from django.utils import timezone
from django.utils.http import http_date
from rest_framework.permissions import AllowAny
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import GenericViewSet

from jobsite.api import caching, parameters
from jobsite.api.pagination import PageNumberPagination
from jobsite.api.renderers import JSONRenderer
from jobsite.days import start_of_day
from jobsite.languages import text_languages
from jobsite.types import JsonObject

LANGUAGE = "language"

RENDERERS: list[BaseRenderer] = [JSONRenderer()]


class ReadOnlyViewSet(GenericViewSet):
    """GET, HEAD and OPTIONS. A request has one time, `self.now`.

    `query_names` are the parameters of the endpoint in addition to those of its paginator, in the
    order in which links repeat them. `self.query` has their values. Those in `list_names` take
    lists. `item_keys` are refused as names of parameters.
    """

    http_method_names = ("get", "head", "options")
    permission_classes = [AllowAny]
    parser_classes = ()
    format_kwarg = None
    pagination_class: Any = PageNumberPagination
    query_names: ClassVar[tuple[str, ...]] = ()
    list_names: ClassVar[frozenset[str]] = frozenset()
    item_keys: ClassVar[tuple[str, ...]] = ()
    has_texts: ClassVar[bool] = False  # in several languages: the parameter `language`
    language = ""  # that the client asks for
    now: datetime
    query: dict[str, str]
    until: datetime | None = None  # when the clock alone changes the response
    # Of the database that the response shows; None: the site does not cache it.
    revision: int | None = None

    def get_renderers(self) -> list[BaseRenderer]:
        return RENDERERS

    def initial(self, request: Request, *args: object, **kwargs: object) -> None:
        """Check the request, without formats and versions. Permissions authenticate where they need
        to: stale credentials break no public page.
        """
        if self.action is None:  # before any other error
            self.http_method_not_allowed(request)
        accepted = self.perform_content_negotiation(request)
        request.accepted_renderer, request.accepted_media_type = accepted
        self.check_permissions(request)
        self.check_throttles(request)
        self.now = request.META.get(caching.REQUEST_TIME) or timezone.now()
        paging = self.pagination_class.names if self.pagination_class else ()
        languages = text_languages() if self.has_texts else ()
        names = (*self.query_names, *([LANGUAGE] if languages else []), *paging)
        received = parameters.read(request.query_params, names, self.list_names, self.item_keys)
        self.query = {name: received[name] for name in names if name in received}
        if LANGUAGE in self.query:
            self.language = parameters.choice(LANGUAGE, self.query[LANGUAGE], languages)

    def get_serializer_context(self) -> JsonObject:
        return {**super().get_serializer_context(), "language": self.language}

    def list(self, request: Request, *args: object, **kwargs: object) -> Response:
        page = self.paginate_queryset(self.filter_queryset(self.get_queryset()))
        return self.get_paginated_response(self.get_serializer(page, many=True).data)

    def options(self, request: Request, *args: object, **kwargs: object) -> Response:
        return Response(status=204, headers={"Allow": ", ".join(self.allowed_methods)})

    def is_private(self) -> bool:
        """Whether the response is not public."""
        return False

    def finalize_response(
        self, request: Request, response: Any, *args: object, **kwargs: object
    ) -> HttpResponse:
        response = super().finalize_response(request, response, *args, **kwargs)
        if response.status_code == 200:
            if self.is_private():
                caching.private(response)
            else:
                caching.public(response, now=self.now, until=self.until)
                if self.revision is not None:
                    caching.cache_until(request, self.until, self.revision)
        return response


def mark_deprecated(response: HttpResponse, successor: str) -> None:
    """Add the headers Deprecation and Sunset to v0.1 responses, if set (RFC 9745, RFC 8594)."""
    if not settings.V0_1_DEPRECATED_AT:
        return
    response["Deprecation"] = f"@{_unix(settings.V0_1_DEPRECATED_AT)}"
    if settings.V0_1_SUNSET_AT:
        response["Sunset"] = http_date(_unix(settings.V0_1_SUNSET_AT))
    response["Link"] = f'<{successor}>; rel="successor-version"'


def _unix(day: str) -> int:
    """Return the start of an ISO date in the site's time zone, in seconds since the epoch."""
    return int(start_of_day(date.fromisoformat(day)).timestamp())
