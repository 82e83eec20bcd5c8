"""Content negotiation and JSON rendering."""

from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.renderers import JSONRenderer as BaseJSONRenderer
from rest_framework.request import Request


class JSONRenderer(BaseJSONRenderer):
    """Compact JSON. It ignores the indentation that an Accept header asks for, so that the body of a URL does
    not vary by that header."""

    def get_indent(self, *args: object) -> None:
        return None


class ContentNegotiation(DefaultContentNegotiation):
    """DRF's, but an empty Accept header counts as absent."""

    def get_accept_list(self, request: Request) -> list[str]:
        return super().get_accept_list(request) if request.META.get("HTTP_ACCEPT") else ["*/*"]
