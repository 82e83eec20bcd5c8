"""How answers become bytes."""

from typing import Any

from rest_framework.renderers import JSONRenderer as BaseJSONRenderer


class JSONRenderer(BaseJSONRenderer):
    """Compact JSON, whatever the Accept header says about indentation: one URL has one body, or shared
    caches would have to keep one for each header."""

    def get_indent(self, *args: Any) -> None:
        return None
