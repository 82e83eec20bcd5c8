"""Content negotiation and JSON rendering."""

import re
from collections.abc import Sequence

from rest_framework.exceptions import NotAcceptable
from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.renderers import BaseRenderer
from rest_framework.renderers import JSONRenderer as BaseJSONRenderer
from rest_framework.request import Request

_RANGE = re.compile(
    r"\s*(\*/\*|application/\*|application/json)\s*(;.*)?", re.ASCII | re.IGNORECASE
)
_REFUSED = re.compile(r";\s*q=0(\.0*)?\s*(;|$)", re.ASCII | re.IGNORECASE)


def accepts_json(accept: str) -> bool:
    """Return whether a client with this Accept header takes JSON. Parameters other than the quality
    are ignored, and an empty header counts as absent (RFC 9110, 12.5.1). The response cache and the
    views use it.
    """
    if accept.strip() in ("", "*/*", "application/json"):
        return True
    found = [match for each in accept.split(",") if (match := _RANGE.fullmatch(each))]
    # The most specific range decides: application/json, then application/*, then */*.
    best = min(found, key=lambda match: match[1].count("*"), default=None)
    return best is not None and not _REFUSED.search(best[2] or "")


class JSONRenderer(BaseJSONRenderer):
    """Compact JSON. It ignores the indentation that an Accept header asks for, so that the body of
    a URL does not vary by that header.
    """

    def get_indent(self, *args: object) -> None:
        return None


class ContentNegotiation(DefaultContentNegotiation):
    """The API renders JSON only, so a client takes that or gets 406."""

    def select_renderer(
        self, request: Request, renderers: Sequence[BaseRenderer], format_suffix: str | None = None
    ) -> tuple[BaseRenderer, str]:
        if not accepts_json(request.META.get("HTTP_ACCEPT", "")):
            raise NotAcceptable
        return renderers[0], renderers[0].media_type
