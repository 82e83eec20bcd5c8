"""How apps declare items and operations for the OpenAPI document.

An app declares an operation with `Operation` and the keys of an item with `documented()`. The types
of an item are declared, not derived from models: the document is the same on every version of
Django, and a changed column does not change the API unnoticed.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from django.conf import settings
from drf_spectacular.extensions import OpenApiSerializerExtension
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework import serializers

from jobsite.api import parameters
from jobsite.api.pagination import DEFAULT_SIZE, NUMBER, SIZE
from jobsite.types import JsonObject

if TYPE_CHECKING:  # importing it imports the settings of DRF, which import this package
    from drf_spectacular.openapi import AutoSchema

Schema = JsonObject

EXAMPLE_HOST = "https://jobs.example.com"
DATETIME_PATTERN = "^[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}$"
ADDRESS = r"^https?://[^/\s]"  # the pattern of an absolute URL
NUMBER_MAX = 999_999_999


# --- Schemas -----------------------------------------------------------------------------------


def field(types: str | list[str], description: str, example: object, **rules: object) -> Schema:
    """A key of an item: JSON type (or types, with "null"), description, one example, other
    keywords.
    """
    return {"type": types, "description": description, **rules, "examples": [example]}


def open_list(
    description: str, example: str, values: Iterable[str], *, types: str | list[str] = "string"
) -> Schema:
    """A key whose list of `values` may grow within a version. With an `enum`, generated clients
    would reject a new value.
    """
    return field(
        types, f"{description} Expect other values.", example, **{"x-extensible-enum": [*values]}
    )


def reference(name: str, description: str = "", **more: object) -> Schema:
    """A reference to the schema called `name`."""
    return {
        "$ref": f"#/components/schemas/{name}",
        **({"description": description} if description else {}),
        **more,
    }


def example(fields: Mapping[str, Schema], names: Collection[str] | None = None) -> JsonObject:
    """An item made of the examples of its fields, or only of those in `names`."""
    return {name: fields[name]["examples"][0] for name in (fields if names is None else names)}


def page(
    path: str, items: list[JsonObject], total: int, size: int = DEFAULT_SIZE, **others: str
) -> JsonObject:
    """An example of the first page of a list of `total` items."""
    address, last = EXAMPLE_HOST + path, max(1, -(-total // size))

    def link(number: int) -> str:
        return f"{address}?{parameters.encode({**others, SIZE: size, NUMBER: number})}"

    return {
        "data": items,
        "links": {
            "first": link(1),
            "last": link(last),
            "prev": None,
            "next": link(2) if last > 1 else None,
        },
        "meta": {
            "current_page": 1,
            "from": 1 if items else None,
            "last_page": last,
            "path": address,
            "per_page": size,
            "to": len(items) or None,
            "total": total,
        },
    }


# --- Declaring items and operations ------------------------------------------------------------


def documented(name: str, description: str, fields: Mapping[str, Schema]) -> Callable[[type], type]:
    """Class decorator: the serializer's items have the schema `name`. `fields` describes their
    keys, and may have more.
    """

    def decorate(serializer: type) -> type:
        serializer.documentation = name, description, fields  # type: ignore[attr-defined]
        return serializer

    return decorate


class ItemExtension(OpenApiSerializerExtension):
    """Makes a serializer's schema from its `documented()` fields.
    Keys that it never omits are required.
    """

    target_class = "jobsite.api.serializers.PlainItemSerializer"
    match_subclasses = True

    def get_name(self, *args: object, **kwargs: object) -> str:
        return self.target.documentation[0]

    def map_serializer(
        self, auto_schema: "AutoSchema", direction: Literal["request", "response"]
    ) -> Schema:
        _, description, fields = self.target.documentation
        for child in self.target.fields.values():
            child = child.child if isinstance(child, serializers.ListSerializer) else child
            if isinstance(child, serializers.Serializer) and hasattr(child, "documentation"):
                auto_schema.resolve_serializer(child, direction)
        omitted = getattr(getattr(self.target, "Meta", None), "omit_absent", ())
        return {
            "type": "object",
            "description": description,
            "required": [name for name in self.target.keys if name not in omitted],
            "properties": {name: fields[name] for name in self.target.keys},
        }


@dataclass(frozen=True, kw_only=True)
class SuccessResponse:
    """The 200 of an operation: its `serializer`, and full bodies as `examples` by title. `headers`
    are those in addition to the usual ones, `links` the operations that take values of it. A
    response that `is_private` is not cached, so it has no ETag.
    """

    serializer: object
    description: str
    examples: Mapping[str, object]
    headers: Collection[str] = ()
    links: Mapping[str, JsonObject] | None = None
    is_private: bool = False


@dataclass(frozen=True, kw_only=True)
class Operation:
    """An operation of the API, and a decorator of its view, for `extend_schema_view`.

    It `takes` parameters. `errors` are the statuses in addition to those of every operation.
    `credentials` are the OpenAPI security requirements, by default none: a public operation.
    """

    id: str
    summary: str
    description: str
    tag: str
    response: SuccessResponse
    takes: Collection[OpenApiParameter] = ()
    credentials: list[dict[str, list[str]]] | None = None
    errors: Collection[int] = ()
    is_deprecated: bool = False

    def __call__(self, view: Any) -> Any:
        success = self.response
        decorate = extend_schema(
            operation_id=self.id,
            summary=self.summary,
            description=self.description,
            tags=[self.tag],
            parameters=list(self.takes),
            auth=self.credentials or [],  # type: ignore[arg-type]  # OpenAPI security requirements
            responses={
                200: OpenApiResponse(success.serializer, description=success.description),
                **{status: OpenApiResponse(reference("Problem")) for status in self.errors},
            },
            deprecated=self.is_deprecated,
            filters=False,  # declared by `takes`
            extensions={
                "x-examples": titled(success.examples),
                "x-headers": list(success.headers),
                "x-private": success.is_private,
                "x-links": success.links or {},
            },
        )
        return decorate(view)


def titled(examples: Mapping[str, object]) -> JsonObject:
    return {title: {"summary": title, "value": body} for title, body in examples.items()}


OPTIONAL_CREDENTIALS: list[dict[str, list[str]]] = [{}, {"bearer": []}, {"session": []}]


def query(name: str, schema: Schema, description: str) -> OpenApiParameter:
    """A query parameter. An array is sent as one comma-separated list, or repeated."""
    comma_list: JsonObject = {}
    if schema["type"] == "array":
        comma_list = {"style": "form", "explode": False}
        description += " The parameter may also be repeated, and its name may end with `[]`."
    return OpenApiParameter(
        name, schema, OpenApiParameter.QUERY, description=description, **comma_list
    )


_COUNTING = {"type": "integer", "minimum": 1, "maximum": NUMBER_MAX}
PAGING = (
    query(
        SIZE,
        {**_COUNTING, "default": DEFAULT_SIZE, "examples": [50]},
        f"Number of items per page. More than {settings.PAGE_SIZE_MAX} counts as "
        f"{settings.PAGE_SIZE_MAX}: `meta.per_page` and the links show the size in effect.",
    ),
    query(
        NUMBER,
        {**_COUNTING, "default": 1, "examples": [2]},
        "Number of the page. Beyond the last page `data` is empty.",
    ),
)
