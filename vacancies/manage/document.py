"""The OpenAPI document of the management interface, which is not part of the public one.

`operation` and `PROBLEMS` serve other apps too: `EXTENSIONS` has the paths and schemas that they
add.
"""

from collections.abc import Callable, Iterable
from functools import lru_cache

from jobsite.api.openapi import DATETIME_PATTERN, Schema, example, field, reference
from jobsite.types import JsonObject
from vacancies.api import schema
from vacancies.api.v1.serializers import VacancySerializer
from vacancies.choices import COUNTRIES, Audience, Keyword, PayPeriod, State, WorkPlace
from vacancies.exchange.serializers import TEXTS
from vacancies.manage.items import OWN_KEYS
from vacancies.manage.parsing import BYTES_MAX, COMPUTED
from vacancies.models import Scope

VERSION = "1.0.0"
TIME = {
    "type": ["string", "null"],
    "pattern": DATETIME_PATTERN,
    "examples": ["2026-11-01 09:00:00"],
}
_TIME_IN = {
    "type": ["string", "null"],
    "description": "ISO 8601, or `YYYY-MM-DD HH:MM:SS` in the time zone of the site.",
    "examples": ["2026-11-01T09:00:00+01:00"],
}
EXTENSIONS: list[Callable[[], tuple[JsonObject, JsonObject]]] = []


def complete(properties: JsonObject, **more: object) -> Schema:
    return {"type": "object", "properties": properties, "required": [*properties], **more}


def array(items: JsonObject, **more: object) -> Schema:
    return {"type": "array", "items": items, **more}


_FAULT = {
    "type": "object",
    "description": "An error or a warning.",
    "properties": {
        "pointer": field(
            "string", "JSON Pointer into the body; empty for the whole.", "/regions/0"
        ),
        "code": field("string", "For programs.", "unknown"),
        "detail": field("string", "For people.", 'There is no option "Gent".'),
        "allowed": field("array", "The allowed values.", ["Antwerp", "Ghent"], items={}),
    },
    "required": ["pointer", "code", "detail"],
}
_PROBLEM = {
    "type": "object",
    "description": "An error (RFC 9457).",
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
        "instance": {"type": "string"},
        "errors": array({"anyOf": [reference("Fault"), reference("ParameterError")]}),
    },
    "required": ["type", "title", "status", "detail", "instance"],
}
_PARAMETER_ERROR = complete(
    {"parameter": {"type": "string"}, "detail": {"type": "string"}, "received": {}, "allowed": {}}
)
PROBLEMS = {
    400: "The body is not JSON, has an unknown or repeated key, or a parameter is invalid.",
    401: "No valid token: missing, wrong, expired, revoked or of a disabled integration.",
    403: "The token lacks a scope, which `detail` names.",
    404: "There is no such brand for this token, or no such row in it.",
    405: "The method is not allowed.",
    406: "The `Accept` header excludes JSON.",
    410: "The cursor has expired: begin anew.",
    412: "`If-Match` or `If-None-Match` does not hold.",
    413: f"The body has more than {BYTES_MAX} bytes.",
    415: "The body is not `application/json`.",
    422: "Values are invalid, or keep the vacancy from being published. Nothing was stored.",
    429: "Too many requests of this integration: wait `Retry-After` seconds.",
    500: "The server failed.",
    503: "The database cannot be reached just now: repeat the request.",
}
_ALWAYS = (401, 403, 404, 405, 406, 429, 500, 503)


def parameter(name: str, place: str, description: str, schema: Schema) -> JsonObject:
    stated = {"name": name, "in": place, "description": description, "schema": schema}
    return stated | ({"required": True} if place == "path" else {})


BRAND = parameter(
    "brand",
    "path",
    "Slug of the brand; `-`: none.",
    {"type": "string", "examples": ["harbour-works"]},
)
_REFERENCE = parameter(
    "reference",
    "path",
    "The reference of the vacancy in the source. Public.",
    {"type": "string", "pattern": "^[A-Za-z0-9._~-]{1,100}$", "examples": ["HW-2026-041"]},
)
_IF_MATCH = parameter("If-Match", "header", "ETag of an earlier response.", {"type": "string"})


def answer(description: str, body: Schema | None = None, headers: Iterable[str] = ()) -> JsonObject:
    stated: JsonObject = {"description": description}
    if body is not None:
        stated["content"] = {"application/json": {"schema": body}}
    if headers:
        stated["headers"] = {name: {"schema": {"type": "string"}} for name in headers}
    return stated


def operation(
    name: str,
    summary: str,
    scope: Scope,
    answers: dict[int, JsonObject],
    *,
    parameters: Iterable[JsonObject] = (),
    errors: Iterable[int] = (),
) -> JsonObject:
    """Return an operation that needs a token with `scope`."""
    found = {str(status): answers[status] for status in sorted(answers)}
    for status in sorted({*_ALWAYS, *errors}):
        content = {"application/problem+json": {"schema": reference("Problem")}}
        found[str(status)] = {"description": PROBLEMS[status], "content": content}
    return {
        "operationId": name,
        "summary": summary,
        "description": f"Needs the scope `{scope}`.",
        "security": [{"token": []}],
        "parameters": list(parameters),
        "responses": found,
    }


def _item() -> Schema:
    """The item of v1 in any state, with the keys of this interface."""
    keys = dict(schema.VACANCY) | {
        "head_recruiter": {"anyOf": [reference("Recruiter"), {"type": "null"}]},
        "published_at": TIME,
        "form": {"type": ["integer", "null"], "description": "Id of its application form."},
        "audience": {"type": "string", "enum": Audience.values},
        "is_pay_public": {"type": "boolean", "description": "Whether the public sees the pay."},
        "publication": complete(
            {"state": {"type": "string", "enum": ["public", "closed"]}, "from": TIME, "until": TIME}
        ),
    }
    names = (*VacancySerializer.Meta.fields, *OWN_KEYS)
    optional = VacancySerializer.Meta.omit_absent
    required = [name for name in names if name not in optional]
    shown = {name: keys[name] for name in names}
    return {"type": "object", "properties": shown, "required": required}


def _text(length: int = 0) -> Schema:
    return {"type": ["string", "null"], **({"maxLength": length} if length else {})}


def _body() -> Schema:
    """The keys that a source decides. A missing key changes nothing, an empty value clears."""
    person = {
        "id": {"type": "integer", "minimum": 1},
        "name": _text(200),
        "function": _text(200),
        "email": {"type": ["string", "null"], "description": "By which the recruiter is found."},
        "phone": _text(50),
        "image": _text(1000),
    }
    one = {"type": ["object", "null"], "properties": person, "additionalProperties": False}
    number = {"type": ["number", "null"], "minimum": 0}
    place = {name: _text() for name in schema.PLACE} | {
        "locality": {"type": "string", "minLength": 1, "maxLength": 100},
        "country": {"type": "string", "enum": list(COUNTRIES)},
        "latitude": {"type": ["number", "null"], "minimum": -90, "maximum": 90},
        "longitude": {"type": ["number", "null"], "minimum": -180, "maximum": 180},
    }
    labels = {"type": ["array", "string", "null"], "items": {"type": "string"}}
    keys: JsonObject = {name: {**_text(), "contentMediaType": "text/html"} for name in TEXTS} | {
        keyword.value: {**labels, "description": "Labels or values."} for keyword in Keyword
    }
    keys |= {
        "title": {"type": "string", "minLength": 1, "maxLength": 300},
        "title_internal": _text(300),
        "brand": {
            "type": ["object", "null"],
            "description": "If sent, that of the address.",
            "properties": {name: {} for name in schema.BRAND},
        },
        "is_hot": {"type": ["boolean", "null"]},
        "is_permanent": {"type": ["boolean", "null"]},
        "location": _text(200),
        "image": {**_text(1000), "description": "URL. It is stored, not fetched."},
        "video": _text(1000),
        "attachments": {
            "type": ["array", "null"],
            "items": {
                "type": "object",
                "properties": {"name": _text(200), "path": {"type": "string", "maxLength": 1000}},
                "required": ["path"],
                "additionalProperties": False,
            },
        },
        "head_recruiter": one,
        "recruiters": {"type": ["array", "null"], "items": one | {"type": "object"}},
        "apply_url": _text(1000),
        "language": {**_text(), "description": "ISO 639-1."},
        "work_place": {"enum": [*WorkPlace.values, "", None]},
        "places": {
            "type": ["array", "null"],
            "maxItems": 10,
            "items": {
                "type": "object",
                "properties": place,
                "required": ["locality", "country"],
                "additionalProperties": False,
            },
        },
        "remote_countries": {
            "type": ["array", "null"],
            "maxItems": 10,
            "items": {"type": "string", "enum": list(COUNTRIES)},
        },
        "pay": {
            "type": ["object", "null"],
            "properties": {
                "min": number,
                "max": number,
                "currency": {**_text(), "description": "ISO 4217."},
                "period": {"enum": [*PayPeriod.values, "", None]},
                "note": _text(300),
            },
            "additionalProperties": False,
        },
        "form": {"type": ["integer", "null"], "minimum": 1},
        "audience": {"type": "string", "enum": Audience.values},
        "is_pay_public": {"type": ["boolean", "null"]},
        "publication": {
            "type": "object",
            "properties": {
                "state": {"type": "string", "enum": ["public", "closed"]},
                "from": _TIME_IN,
                "until": _TIME_IN,
            },
            "additionalProperties": False,
        },
    }
    names = [name for name in VacancySerializer.Meta.fields if name not in COMPUTED]
    shown = {name: keys[name] for name in (*names, *OWN_KEYS)}
    return {"type": "object", "properties": shown, "additionalProperties": False}


def _answer() -> Schema:
    names = array({"type": "string"})
    waiting = complete({"id": {"type": ["integer", "null"]}, "waiting": names})
    return complete(
        {
            "data": {"anyOf": [reference("ManagedVacancy"), {"type": "null"}]},
            "changed": {**names, "description": "The keys that were written."},
            "kept": {**names, "description": "The keys that were not, as `warnings` says."},
            "warnings": array(reference("Fault")),
            "approval": {"anyOf": [{**waiting, "description": "Waits."}, {"type": "null"}]},
        }
    )


def _values() -> Schema:
    option = complete({"label": {"type": "string"}, "value": {"type": "string"}})
    named = {"id": {"type": "integer"}, "name": {"type": "string"}}
    return complete(
        {
            "options": complete({keyword.value: array(option) for keyword in Keyword}),
            "recruiters": array(complete({**named, "email": {"type": "string"}})),
            "forms": array(complete(named)),
            "languages": array({"type": "string"}),
        }
    )


def _paths() -> JsonObject:
    listed = {"allOf": [reference("ManagedVacancy")], "type": "object", "required": ["address"]}
    listed["properties"] = {"address": {"type": ["string", "null"]}}
    links = complete({"next": {"type": ["string", "null"]}})
    page = complete({"data": array(listed), "links": links})
    one, written = complete({"data": reference("ManagedVacancy")}), reference("PutAnswer")
    state = {"type": "string", "enum": State.values}
    after = {"type": "integer", "minimum": 1, "maximum": 999_999_999}
    flag = {"type": "string", "enum": ["true", "false"]}
    put = operation(
        "putVacancy",
        "Create or update a vacancy",
        Scope.WRITE,
        {
            200: answer("Updated, equal, or a dry run.", written, ["ETag"]),
            201: answer("Created.", written, ["ETag"]),
            202: answer("What needs approval waits for it.", written, ["ETag"]),
        },
        parameters=[
            parameter("dry_run", "query", "Say what would happen, and write nothing.", flag),
            _IF_MATCH,
            parameter("If-None-Match", "header", "`*`: only create.", {"type": "string"}),
        ],
        errors=(400, 412, 413, 415, 422),
    )
    body = {"schema": reference("VacancyBody"), "example": {"title": "Naval architect"}}
    put["requestBody"] = {"required": True, "content": {"application/json": body}}
    return {
        "/v1/manage/{brand}/vacancies": {
            "parameters": [BRAND],
            "get": operation(
                "listVacancies",
                "Vacancies in every state, by id",
                Scope.READ,
                {200: answer("At most 100.", page)},
                parameters=[
                    parameter("filter[state]", "query", "Only those in this state.", state),
                    parameter("after", "query", "Only those with a higher id.", after),
                ],
                errors=[400],
            ),
        },
        "/v1/manage/{brand}/vacancies/{reference}": {
            "parameters": [BRAND, _REFERENCE],
            "get": operation(
                "readVacancy",
                "One vacancy",
                Scope.READ,
                {200: answer("The vacancy.", one, ["ETag"])},
                errors=[400],
            ),
            "put": put,
            "delete": operation(
                "archiveVacancy",
                "Unpublish and archive a vacancy",
                Scope.WRITE,
                {204: answer("It is archived. Nothing is deleted.")},
                parameters=[_IF_MATCH],
                errors=(400, 412),
            ),
        },
        "/v1/manage/{brand}/values": {
            "parameters": [BRAND],
            "get": operation(
                "readValues",
                "What a body can refer to",
                Scope.READ,
                {200: answer("The values.", complete({"data": _values()}))},
                errors=[400],
            ),
        },
    }


@lru_cache(maxsize=4)
def document(address: str) -> JsonObject:
    """Return the document of a service at `address`."""
    paths = _paths()
    schemas: JsonObject = {
        "ManagedVacancy": _item(),
        "VacancyBody": _body(),
        "PutAnswer": _answer(),
        "Fault": _FAULT,
        "ParameterError": _PARAMETER_ERROR,
        "Problem": _PROBLEM,
    }
    for name, keys in (
        ("Brand", schema.BRAND),
        ("Recruiter", schema.RECRUITER),
        ("Attachment", schema.ATTACHMENT),
        ("Place", schema.PLACE),
        ("Pay", schema.PAY),
    ):
        schemas[name] = complete(dict(keys), examples=[example(keys)])
    for extend in EXTENSIONS:
        more, its_schemas = extend()
        paths, schemas = paths | more, schemas | its_schemas
    token = {"type": "http", "scheme": "bearer", "description": "A token of an integration."}
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Management interface",
            "version": VERSION,
            "description": "Other systems write vacancies and read applications.",
        },
        "servers": [{"url": address}],
        "paths": paths,
        "components": {"schemas": schemas, "securitySchemes": {"token": token}},
    }
