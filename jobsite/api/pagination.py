"""The envelopes of lists (interface 2.1, docs/api.md, response bodies)."""

from django.conf import settings
from django.db.models import QuerySet
from rest_framework.pagination import BasePagination
from rest_framework.request import Request
from rest_framework.response import Response

from jobsite.api import parameters
from jobsite.types import JsonObject

SIZE, NUMBER = "page[size]", "page[number]"
DEFAULT_SIZE = 20


class PageNumberPagination(BasePagination):
    """`{"data": [...], "links": {...}, "meta": {...}}` by `page[size]` and `page[number]`.

    The view calls `read`, then `set_total`, then `links_and_meta`. The links repeat the view's
    `query`: its parameters by name, in canonical order.
    """

    names = (SIZE, NUMBER)
    suggestions: list[str] | None = None  # other searches, where one found nothing

    def read(self, query: dict[str, str]) -> None:
        """Read the parameters of `query`. Raises InvalidParameters."""
        self.size = min(
            parameters.number(SIZE, query.get(SIZE, str(DEFAULT_SIZE))), settings.PAGE_SIZE_MAX
        )
        self.number = parameters.number(NUMBER, query.get(NUMBER, "1"))
        self.others = {name: value for name, value in query.items() if name not in self.names}

    def set_total(self, total: int) -> range:
        """Set the number of items of the list. Return the positions of those of the page."""
        self.total = total
        self.last = max(1, -(-total // self.size))
        start = (self.number - 1) * self.size
        self.positions = range(total)[start : start + self.size]
        return self.positions

    def link(self, number: int) -> str:
        return f"{self.stem}{number}"

    def links_and_meta(self, path: str) -> JsonObject:
        """Return `links` and `meta` of the page of the list at `path`."""
        self.stem = f"{path}?{parameters.encode({**self.others, SIZE: self.size, NUMBER: ''})}"
        previous = min(self.number - 1, self.last)
        return {
            "links": {
                "first": self.link(1),
                "last": self.link(self.last),
                "prev": self.link(previous) if previous else None,
                "next": self.link(self.number + 1) if self.number < self.last else None,
            },
            "meta": {
                "current_page": self.number,
                "from": self.positions.start + 1 if self.positions else None,
                "last_page": self.last,
                "path": path,
                "per_page": self.size,
                "to": self.positions.stop if self.positions else None,
                "total": self.total,
                **({} if self.suggestions is None else {"suggestions": self.suggestions}),
            },
        }

    def get_paginated_response_schema(self, schema: JsonObject) -> JsonObject:
        return {
            "type": "object",
            "description": "One page of a list.",
            "required": ["data", "links", "meta"],
            "properties": {
                "data": schema,
                "links": {"$ref": "#/components/schemas/Links"},
                "meta": {"$ref": "#/components/schemas/Meta"},
            },
        }


class Unpaged(BasePagination):
    """`{"data": [...]}`: the whole list."""

    names = ()

    def paginate_queryset(
        self, queryset: QuerySet, request: Request, view: object = None
    ) -> list[object]:
        return list(queryset)

    def get_paginated_response(self, data: object) -> Response:
        return Response({"data": data})

    def get_paginated_response_schema(self, schema: JsonObject) -> JsonObject:
        return {
            "type": "object",
            "description": "A whole list.",
            "required": ["data"],
            "properties": {"data": schema},
        }
