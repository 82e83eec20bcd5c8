"""How answers become bytes."""

from typing import Any

from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.renderers import JSONRenderer as BaseJSONRenderer
from rest_framework.request import Request


class JSONRenderer(BaseJSONRenderer):
    """Compact JSON, whatever the Accept header says about indentation: one URL has one body, or shared
    caches would have to keep one for each header."""

    def get_indent(self, *args: Any) -> None:
        return None


class ContentNegotiation(DefaultContentNegotiation):
    """DRF's, for which an empty Accept header is none."""

    def get_accept_list(self, request: Request) -> list[str]:
        return super().get_accept_list(request) if request.META.get("HTTP_ACCEPT") else ["*/*"]
