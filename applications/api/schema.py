"""OpenAPI schemas of the keys of an application and of a token."""

from drf_spectacular.utils import OpenApiParameter

from jobsite.api.openapi import DATETIME_PATTERN, Schema, field, reference
from jobsite.types import JsonObject
from vacancies.api.schema import VACANCY
from vacancies.api.v1.serializers import VacancySerializer

_DATETIME = {"pattern": DATETIME_PATTERN}
_ZONE = "`YYYY-MM-DD HH:MM:SS` in the time zone of the site."

HISTORY_ENTRY = {
    "name": field("string", "Name of the step.", "First interview", minLength=1),
    "result": field("string", "Result of the step; empty if there is none yet.", "passed"),
    "planned_at": field(
        "string",
        "Scheduled time: `YYYY-MM-DD HH:MM:SS.mmm` in the time zone of the site.",
        "2026-11-12 10:00:00.000",
        pattern=DATETIME_PATTERN.replace("$", r"\.[0-9]{3}$"),
    ),
    "updated_at": field("string", f"Last change. {_ZONE}", "2026-11-10 09:12:44", **_DATETIME),
    "created_at": field("string", f"Creation. {_ZONE}", "2026-11-09 16:03:20", **_DATETIME),
}
APPLICATION = {name: VACANCY[name] for name in VacancySerializer.Meta.fields} | {
    "status": field(
        "string", "Status of the application, in the language of the response.", "In interview"
    ),
    "is_spontaneous": field(
        "boolean", "Whether it is an open application, without an advertised vacancy.", False
    ),
    "history": field(
        "array",
        "Steps that the applicant may see, in order. Absent if the site does not show them.",
        [{name: schema["examples"][0] for name, schema in HISTORY_ENTRY.items()}],
        items=reference("HistoryEntry"),
    ),
}
ACCEPT_LANGUAGE = OpenApiParameter(
    "Accept-Language",
    {"type": "string", "examples": ["nl-BE, fr;q=0.8"]},
    OpenApiParameter.HEADER,
    description=(
        "Language of `status`: `en`, `nl`, `fr` or `de`; otherwise the language of the site."
    ),
)

CREDENTIALS = {
    "username": field(
        "string", "Name of the account.", "jane", maxLength=150, pattern=r"^[^\s\u0000-\u001f]+$"
    ),
    "password": field(
        "string",
        "Its password.",
        "correct horse battery staple",
        maxLength=4096,
        pattern=r"^[^\u0000]+$",
    ),
}
TOKEN = {
    "token": field(
        "string",
        "To send as `Authorization: Bearer <token>`.",
        "9b0c" * 16,
        pattern="^[0-9a-zA-Z]+$",
    ),
    "expires_at": field(
        "string", f"End of its validity. {_ZONE}", "2026-12-12 10:00:00", **_DATETIME
    ),
}

Responses = dict[int, JsonObject]  # of an operation, by status


def complete(fields: JsonObject) -> Schema:
    """An object with all of `fields`."""
    return {"type": "object", "required": list(fields), "properties": fields}


_MEMBER = {
    "parameter": field("string", "Name in the body.", "password"),
    "detail": field(
        "string", "What is wrong with it. The value is not repeated.", "This field is required."
    ),
}
BAD_BODY = complete(  # a Problem whose errors are about values of a body
    {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer", "const": 400},
        "detail": {"type": "string"},
        "instance": {"type": "string", "format": "uri-reference"},
    }
)
BAD_BODY["properties"]["errors"] = {"type": "array", "items": complete(_MEMBER)}


def responses(*others: Responses, errors: dict[int, str]) -> JsonObject:
    """The responses of an operation:
    `others`, the shared ones of `errors`, and those of every operation.
    """
    shared = {
        405: "MethodNotAllowed",
        406: "NotAcceptable",
        500: "ServerError",
        503: "Unavailable",
    } | errors
    found: Responses = {
        status: {"$ref": f"#/components/responses/{name}"} for status, name in shared.items()
    }
    for other in others:
        found |= other
    return {str(status): found[status] for status in sorted(found)}


def refused(status: int, description: str, body: object = None) -> Responses:
    """An error response of its own, a problem document with the schema `body`."""
    content = {"application/problem+json": {"schema": body or reference("Problem")}}
    return {status: {"description": description, "content": content}}
