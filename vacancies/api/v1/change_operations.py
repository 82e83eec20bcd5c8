"""The operations of the feed in the OpenAPI document, with their schemas."""

from typing import Any

from jobsite.api.openapi import (
    EXAMPLE_HOST,
    OPTIONAL_CREDENTIALS,
    Operation,
    SuccessResponse,
    example,
    field,
    query,
    reference,
)
from jobsite.types import JsonObject
from vacancies.api.operation_parts import INTERNAL, LANGUAGE, fields_parameter
from vacancies.api.schema import VACANCY
from vacancies.choices import Fact
from vacancies.filtersets import filter_name

CHANGE = {
    "id": field("integer", "Id of the vacancy.", 412, minimum=1),
    "change": field(
        "string",
        "`upsert`: the vacancy is in the list, with this content. `remove`: it is not.",
        "upsert",
        enum=["upsert", "remove"],
    ),
    "vacancy": {
        "description": "The vacancy as in the list; absent if it is removed.",
        "anyOf": [reference("Vacancy"), reference("SparseVacancy")],
        "examples": [{"id": 412, "title": "Ship engineer"}],
    },
}
_CURSOR = "WzAsMCwwLDAsNyw5MjIzMzcyMDM2ODU0Nzc1ODA3XQ"
_NEXT = f"{EXAMPLE_HOST}/v1/vacancies/changes?since={_CURSOR}"
ENVELOPE = {
    "links": {
        "type": "object",
        "required": ["next"],
        "properties": {
            "next": field(
                "string", "Address of the changes after these, also to poll.", _NEXT, format="uri"
            )
        },
    },
    "meta": {
        "type": "object",
        "required": ["cursor", "more"],
        "properties": {
            "cursor": field("string", "The position after these changes.", _CURSOR, minLength=1),
            "more": field("boolean", "Whether there are more changes now.", False),
        },
    },
}
_RULES = (
    " Without `since`, the feed begins with all vacancies of the list. Apply the changes in their "
    "order, and follow `links.next`. After a response with `more: false`, a copy is exactly the "
    "list at the time of that response. A change can come twice. After 410, read the list anew "
    "from `links.restart`, and delete what it does not contain."
)
_PARAMETERS = (
    query(
        "since",
        {"type": "string", "minLength": 1, "maxLength": 400, "examples": [_CURSOR]},
        "Changes after this cursor, which is valid for the same list, brand and keys.",
    ),
    query(
        "page[size]",
        {"type": "integer", "minimum": 1, "maximum": 1000, "default": 100, "examples": [500]},
        "The most changes in one response.",
    ),
    query(
        filter_name(Fact.BRAND),
        {"type": "string", "minLength": 1, "maxLength": 200, "examples": ["harbour-works"]},
        "Only vacancies of the brand with this slug.",
    ),
)


def _examples(path: str, names: tuple[str, ...]) -> JsonObject:
    links = {"next": f"{EXAMPLE_HOST}{path}/changes?since={_CURSOR}"}
    item = example(VACANCY, names)
    changes = [
        {"id": item["id"], "change": "upsert", "vacancy": item},
        {"id": 380, "change": "remove"},
    ]
    meta = {"cursor": _CURSOR, "more": False}
    return {
        "Changes": {"data": changes, "links": links, "meta": meta},
        "Nothing changed": {"data": [], "links": links, "meta": meta},
    }


def operations(serializer: Any, names: tuple[str, ...]) -> dict[str, Operation]:
    """The operations of the public and of the internal feed. `names` are the keys of vacancies."""

    def operation(name: str, path: str, description: str, **more: Any) -> Operation:
        return Operation(
            id=name,
            summary=f"Follow the changes of {path}",
            description=description + _RULES,
            tag="Vacancies",
            takes=(*_PARAMETERS, fields_parameter(names), *LANGUAGE),
            response=SuccessResponse(
                serializer=serializer,
                description="The next changes.",
                examples=_examples(path, names),
            ),
            **more,
        )

    return {
        "external": operation(
            "listVacancyChanges",
            "/v1/vacancies",
            "Changes of the list of public vacancies.",
            errors=(410,),
        ),
        "internal": operation(
            "listInternalVacancyChanges",
            "/v1/vacancies/internal",
            "Changes of the list of internal vacancies. " + INTERNAL,
            credentials=OPTIONAL_CREDENTIALS,
            errors=(401, 403, 410),
        ),
    }
