"""Content negotiation and JSON rendering."""

import re

from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.renderers import JSONRenderer as BaseJSONRenderer
from rest_framework.request import Request

_JSON = re.compile(r"(?:^|,)\s*(?:\*/\*|application/(?:\*|json))\s*(?:[;,]|$)", re.IGNORECASE)


def accepts_json(accept: str) -> bool:
    """Whether ContentNegotiation is sure to return JSON for this Accept header. Caches answer only these
    headers; deploy/nginx.conf has the same pattern."""
    return not accept or bool(_JSON.search(accept))


class JSONRenderer(BaseJSONRenderer):
    """Compact JSON. It ignores the indentation that an Accept header asks for, so that the body of a URL does
    not vary by that header."""

    def get_indent(self, *args: object) -> None:
        return None


class ContentNegotiation(DefaultContentNegotiation):
    """DRF's, but an empty Accept header counts as absent."""

    def get_accept_list(self, request: Request) -> list[str]:
        return super().get_accept_list(request) if request.META.get("HTTP_ACCEPT") else ["*/*"]
