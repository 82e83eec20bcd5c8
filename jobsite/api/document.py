"""What all operations of the OpenAPI document share, said once: headers, problem documents, credentials.

The hook `complete()` adds it to what the apps declared in the words of `openapi`.
"""

import tomllib
from collections.abc import Collection, Mapping
from functools import lru_cache
from http import HTTPStatus
from typing import Any

from django.conf import settings

from jobsite.api import parameters
from jobsite.api.openapi import EXAMPLE_HOST, Schema, field, reference, titled
from jobsite.api.pagination import NUMBER, SIZE

DESCRIPTION = """\
Published vacancies of a job site as JSON: lists, hot lists, internal lists, single vacancies, their
application forms, the filters to narrow lists by, and for an applicant the own applications. All but signing
in is a `GET`; `HEAD` answers the same without a body, `OPTIONS` with the allowed methods, and pages of any
origin may read public answers (CORS). Paths have no trailing slash.

### Paging
Lists come as `{"data": [...], "links": {...}, "meta": {...}}`. `page[size]` (20 unless asked otherwise) and
`page[number]` choose the page; a size above the maximum is cut to it, and `meta.per_page` says so. Follow
`links.next` until it is null. A page beyond the last one is an empty `data`, not an error. Newest come
first, by moment of publication and then by id, so pages never overlap. Brackets may be sent as they are or
encoded (`page%5Bsize%5D=20`). `/v1/filters` is one `{"data": [...]}` without pages.

### Filters, search, sorting, fewer keys
`/v1/filters` lists the filters in use: `keyword` is the member of `filter[...]`, each option's `value` what
to send, its `count` how many vacancies follow. `?filter[regions]=antwerp,ghent&filter[types]=engineering`
is OR inside a filter and AND across filters; the same parameters on `/v1/filters` give counts that fit the
choice made so far. `filter[search]` looks for words, `sort` orders, and `fields=id,title,slug` leaves out
all other keys, so that a list page does not carry long texts. A list may also be sent as a repeated parameter
(`filter[regions]=antwerp&filter[regions]=ghent`, `fields[]=id&fields[]=title`); links use commas. The lists
of v0.1 take paging only.

### Times
Times are `YYYY-MM-DD HH:MM:SS` in the time zone that the header `Time-Zone` names, such as
`Europe/Brussels`.

### Application forms
`/v1/vacancies/{id}/form` is what applicants are asked: sections of fields with options and conditional
fields, the consent last. `/v1/vacancies/{id}/form/schema` is a JSON Schema of a valid submission. Both
carry `Form-Version`, which changes exactly when the structure does: submit it along, and prove which form
was filled in.

### My applications
`/v1/user/applications` is what the signed-in user applied to, with a status in the language that
`Accept-Language` asks for and the steps that they may see. Send `Authorization: Bearer <token>`, which
`POST /v1/auth/token` gives for a name and a password, or a session cookie. No cache may keep it.

### Errors
Every error is an [RFC 9457](https://www.rfc-editor.org/rfc/rfc9457) document, `application/problem+json`. A
bad value, a parameter with one value given twice and an unknown `page[...]`, `filter[...]`, `sort` or
`fields` are answered with 400; `errors` names each parameter, what came and what is allowed. So are names
that other interfaces use for the same (`limit`, `offset`, `page_size`, `q`): the error names the right one.
Other unknown parameters (`utm_source`) are ignored. An id that is unknown and one that is not published look
the same: 404. Too many requests: 429 with `Retry-After`.

### Caching
Public answers carry an `ETag` and `Cache-Control: public, max-age=...`, which never reaches past the next
moment at which a vacancy appears or expires. Send the tag back in `If-None-Match` and an unchanged answer
is a 304 without body; tags are compared weakly. Errors are not to be stored.

### Internal vacancies
The internal lists are open, limited to networks, or limited to colleagues who signed in, as the operator
decides. Where they are limited, send `Authorization: Bearer <token>` or a session cookie; without the right
to see them the answer is 401 or 403, and an internal vacancy asked for by its id is a 404. Public lists never
look at credentials.

### Compatibility
The version is in the path. Changes within v1 only add keys and parameters, so ignore keys you do not know.
When v0.1 is to go, its answers say so in advance with `Deprecation`, `Sunset` and a `Link` to the
successor.
"""


# --- What all answers share --------------------------------------------------------------------


def _problem(status: int, detail: str, instance: str = "/v1/vacancies", **more: Any) -> dict[str, Any]:
    title = HTTPStatus(status).phrase
    said = {"title": title, "status": status, "detail": detail, "instance": instance}
    return {"type": "about:blank", **said, **more}


def _refused(
    name: str, received: str | list[str], allowed: str | list[str], detail: str = ""
) -> dict[str, Any]:
    if not detail:
        wanted = allowed if isinstance(allowed, str) else f"one of {', '.join(allowed)}"
        detail = f"{name} must be {wanted}; received {received!r}."
    return {"parameter": name, "detail": detail, "received": received, "allowed": allowed}


def _bad(error: dict[str, Any]) -> dict[str, Any]:
    return _problem(400, error["detail"], errors=[error])


_ONE_OR_MORE = {
    "anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}],
}

_ERROR = {
    "parameter": field("string", "Name of the query parameter.", SIZE),
    "detail": field("string", "What is wrong with it, in a sentence.", "page[size] must be a whole number."),
    "received": _ONE_OR_MORE
    | {"description": "What came; every value when it came twice.", "examples": ["abc"]},
    "allowed": _ONE_OR_MORE
    | {"description": "What is allowed: a sentence, or a list.", "examples": [parameters.NUMBER_ALLOWED]},
}
_PROBLEM = {
    "type": field("string", "Kind of problem; `about:blank`: the status says it all.", "about:blank"),
    "title": field("string", "Name of the status.", "Not Found"),
    "status": field("integer", "HTTP status.", 404, minimum=400, maximum=599),
    "detail": field("string", "What happened, for a person.", "No published vacancy has this id."),
    "instance": field("string", "Path that was asked for.", "/v1/vacancies/1", format="uri-reference"),
    "errors": {
        "type": "array",
        "description": "One entry per refused query parameter (400 only).",
        "items": reference("ParameterError"),
        "examples": [[_refused(SIZE, "abc", parameters.NUMBER_ALLOWED)]],
    },
}
_URL = f"{EXAMPLE_HOST}/v1/vacancies?page%5Bsize%5D=20&page%5Bnumber%5D="
_LINKS = {
    "first": field("string", "Address of the first page.", f"{_URL}1", format="uri"),
    "last": field("string", "Address of the last page.", f"{_URL}3", format="uri"),
    "prev": field(["string", "null"], "Address of the page before; null on the first.", None, format="uri"),
    "next": field(
        ["string", "null"], "Address of the page after; null on the last.", f"{_URL}2", format="uri"
    ),
}
_META = {
    "current_page": field("integer", "Number of this page.", 1, minimum=1),
    "from": field(["integer", "null"], "Position of its first item; null when it has none.", 1, minimum=1),
    "last_page": field("integer", "Number of the last page; 1 when there are no items.", 3, minimum=1),
    "path": field("string", "Address of the list without any parameters.", f"{EXAMPLE_HOST}/v1/vacancies"),
    "per_page": field("integer", "Page size in effect.", 20, minimum=1),
    "to": field(["integer", "null"], "Position of its last item; null when it has none.", 20, minimum=1),
    "total": field("integer", "Number of items in the whole list.", 41, minimum=0),
}


def _object(description: str, fields: Mapping[str, Schema], optional: Collection[str] = ()) -> Schema:
    required = [name for name in fields if name not in optional]
    return {"type": "object", "description": description, "required": required, "properties": dict(fields)}


SCHEMAS = {
    "Links": _object("Addresses of other pages, absolute, with the parameters in effect.", _LINKS),
    "Meta": _object("Where this page stands in the list.", _META),
    "ParameterError": _object("What is wrong with one query parameter.", _ERROR),
    "Problem": _object("An error (RFC 9457).", _PROBLEM, optional=["errors"]),
}


def _header(description: str, example: Any, **rules: Any) -> dict[str, Any]:
    return {"description": description, "schema": {"type": "string", **rules}, "example": example}


HEADERS = {
    "ETag": _header("Tag of this answer, to send back in `If-None-Match`.", 'W/"b0c1f0d5a8e94d3a"'),
    "Cache-Control": _header(
        "How long the answer may be kept. Internal answers of a limited service: `private, no-store`.",
        "public, max-age=60",
    ),
    "No-Store": _header("Errors are not to be kept.", "no-store"),
    "Private": _header("The answer is for who asked, and not to be kept.", "private, no-store"),
    "Vary": _header("Request headers that the answer depends on.", "Accept-Encoding"),
    "Time-Zone": _header("Time zone (IANA name) of all times of the service.", settings.TIME_ZONE),
    "Allow": _header("Methods that there are.", "GET, HEAD, OPTIONS"),
    "Content-Language": _header("Language of the answer.", "nl", enum=["en", "nl", "fr", "de"]),
    "Form-Version": _header(
        "Version of the form: changes exactly when its structure does.",
        "9f86d081884c7d65",
        pattern="^[0-9a-f]{16}$",
    ),
    "Retry-After": _header("Seconds to wait.", "17", pattern="^[0-9]+$"),
    "WWW-Authenticate": _header("The kind of credentials asked for.", "Bearer"),
    "Deprecation": _header(
        "Since when v0.1 is deprecated (RFC 9745); absent while it is not.", "@1798761600"
    ),
    "Sunset": _header(
        "When v0.1 goes (RFC 8594); absent while that is open.", "Thu, 01 Jul 2027 00:00:00 GMT"
    ),
    "Link": _header(
        "The list of v1 that replaces this one; absent while v0.1 is not deprecated.",
        f'<{EXAMPLE_HOST}/v1/vacancies>; rel="successor-version"',
    ),
}
_CACHED = ("ETag", "Cache-Control", "Vary", "Time-Zone")
_ANSWER = (*_CACHED, "Allow")
_GOING = ("Deprecation", "Sunset", "Link")

# Status, name of the shared response, description, headers of its own, example bodies.
_SHARED: dict[int, tuple[str, str, tuple[str, ...], dict[str, Any]]] = {
    304: ("NotModified", "Unchanged since the answer that `If-None-Match` names; no body.", _CACHED, {}),
    400: (
        "BadRequest",
        "A parameter is unknown, given twice, or its value not allowed.",
        (),
        {
            "Bad value": _bad(_refused(SIZE, "abc", parameters.NUMBER_ALLOWED)),
            "Unknown parameter": _bad(
                _refused("page[nope]", "5", [SIZE, NUMBER], "page[nope] is not a parameter here.")
            ),
            "Another name": _bad(_refused("limit", "5", [SIZE], f"Use {SIZE} instead of limit.")),
            "Given twice": _bad(
                _refused(NUMBER, ["1", "2"], "one value", "page[number] is given more than once.")
            ),
        },
    ),
    401: (
        "Unauthorized",
        "Credentials are missing, wrong, expired or revoked.",
        ("WWW-Authenticate",),
        {
            "No credentials": _problem(
                401, "Authentication credentials were not provided.", "/v0.1/vacancies/internal"
            )
        },
    ),
    403: (
        "Forbidden",
        "Not open to this client.",
        (),
        {
            "Outside the network": _problem(
                403, "Internal vacancies are not open to you.", "/v0.1/vacancies/internal"
            )
        },
    ),
    404: (
        "NotFound",
        "Nothing published has this id.",
        (),
        {"Unknown": _problem(404, "No published vacancy has this id.", "/v1/vacancies/1")},
    ),
    405: (
        "MethodNotAllowed",
        "The answer to every method but GET, HEAD and OPTIONS.",
        ("Allow",),
        {"POST": _problem(405, 'Method "POST" not allowed.')},
    ),
    406: (
        "NotAcceptable",
        "The `Accept` header rules JSON out.",
        (),
        {"Wants HTML only": _problem(406, "Could not satisfy the request Accept header.")},
    ),
    429: (
        "TooManyRequests",
        "Too many requests from this client.",
        ("Retry-After",),
        {"Slow down": _problem(429, "Request was throttled. Expected available in 17 seconds.")},
    ),
    500: (
        "ServerError",
        "The server failed.",
        (),
        {"Failure": _problem(500, "The server failed to answer; the failure has been logged.")},
    ),
}
ALWAYS = (304, 400, 405, 406, 429, 500)  # what every operation may answer beside a 200


def _headers(names: Collection[str]) -> dict[str, Any]:
    called = {"Private": "Cache-Control"}
    return {called.get(name, name): {"$ref": f"#/components/headers/{name}"} for name in names}


def _responses() -> dict[str, Any]:
    responses: dict[str, Any] = {}
    for status, (name, description, headers, examples) in _SHARED.items():
        responses[name] = {"description": description, "headers": _headers(headers)}
        if status >= 400:
            responses[name]["headers"]["Cache-Control"] = {"$ref": "#/components/headers/No-Store"}
            responses[name]["content"] = {
                "application/problem+json": {
                    "schema": reference("Problem"),
                    "examples": titled(examples),
                }
            }
    return responses


SECURITY_SCHEMES = {
    "bearer": {
        "type": "http",
        "scheme": "bearer",
        "description": "A token of this service: `Bearer <token>`.",
    },
    "session": {
        "type": "apiKey",
        "in": "cookie",
        "name": settings.SESSION_COOKIE_NAME,
        "description": "The session of somebody signed in on this site.",
    },
}


# The version of the document: that of the newest interface, and a number for each release that adds to it.
# The version of the project, 0.1.0, would be read as that of the interface v0.1.
DOCUMENT_VERSION = "1.1.0"


@lru_cache
def version() -> str:
    """The version of this project, as pyproject.toml has it."""
    return tomllib.loads((settings.BASE_DIR / "pyproject.toml").read_text())["project"]["version"]


def _info() -> dict[str, Any]:
    """Who publishes the interface, and on which terms."""
    contact = {"name": "Operator of this site"}
    if settings.API_CONTACT:
        contact["url" if "://" in settings.API_CONTACT else "email"] = settings.API_CONTACT
    licence = {"name": "All rights reserved", "identifier": "LicenseRef-All-rights-reserved"}
    if "://" in settings.API_LICENSE:
        licence = {"name": "Terms of use", "url": settings.API_LICENSE}
    elif settings.API_LICENSE:
        licence = {"name": settings.API_LICENSE, "identifier": settings.API_LICENSE}
    return {"version": DOCUMENT_VERSION, "description": DESCRIPTION, "contact": contact, "license": licence}


def complete(result: dict[str, Any], **kwargs: Any) -> dict[str, Any]:
    """drf-spectacular hook: put what all operations share into the document."""
    result["info"] |= _info()
    result["servers"] = [{"url": settings.PUBLIC_BASE_URL or "/"}]
    components = result["components"]
    schemas = components["schemas"] = {**components["schemas"], **SCHEMAS}
    for path, methods in result["paths"].items():
        for described in methods.values():
            if "x-examples" in described:  # declared by operation()
                _complete_operation(path, described, schemas)
            described.setdefault("security", [])  # drf-spectacular leaves an empty list out
    names = {name: _plain(name, schema) for name, schema in schemas.items()}
    _rename(result, names)
    components |= {
        "schemas": {names[old]: schemas[old] for old in sorted(schemas, key=lambda old: names[old])},
        "responses": _responses(),
        "headers": HEADERS,
        "securitySchemes": SECURITY_SCHEMES,
    }
    return result


def _complete_operation(path: str, described: dict[str, Any], schemas: dict[str, Any]) -> None:
    responses = described["responses"]
    examples, own_headers = described.pop("x-examples"), described.pop("x-headers")
    is_private = described.pop("x-private")
    answer = responses["200"]
    body = answer["content"]["application/json"]
    body["examples"] = examples
    envelope = body["schema"].get("$ref", "").rpartition("/")[2]
    if not envelope.startswith("Paginated"):
        body["schema"] = _object("One resource.", {"data": body["schema"]})
    usual: tuple[str, ...] = (*_ANSWER, *_GOING) if path.startswith("/v0.1/") else _ANSWER
    if is_private:
        usual = ("Private", "Vary", "Time-Zone", "Allow")
    answer["headers"] = _headers((*usual, *own_headers))
    statuses = sorted({*map(int, responses), *ALWAYS} - ({200, 304} if is_private else {200}))
    described["responses"] = {"200": answer} | {
        str(status): {"$ref": f"#/components/responses/{_SHARED[status][0]}"} for status in statuses
    }
    if "fields" in (parameter["name"] for parameter in described["parameters"]):
        _allow_sparse_items(schemas[envelope], schemas)


def _allow_sparse_items(listed: Schema, schemas: dict[str, Any]) -> None:
    """Let the items of the list schema `listed` be cut to some of their keys."""
    data = listed["properties"]["data"]
    if "anyOf" in data["items"]:  # another operation has the same list
        return
    name = data["items"]["$ref"].rpartition("/")[2]
    schemas[f"Sparse{name}"] = {
        "type": "object",
        "description": f"A {name} cut to the keys that `fields` names; each is as it is in the whole one.",
        "properties": schemas[name]["properties"],
    }
    data["items"] = {
        "description": f"A whole {name}; with the parameter `fields`, only some of its keys.",
        "anyOf": [data["items"], reference(f"Sparse{name}")],
    }


def _plain(name: str, schema: Schema) -> str:
    """The name of a list schema: "VacancyPage" for "PaginatedVacancyList", "FilterList" without pages."""
    if not name.startswith("Paginated"):
        return name
    item = name.removeprefix("Paginated").removesuffix("List")
    return f"{item}Page" if "meta" in schema["properties"] else f"{item}List"


def _rename(node: Any, names: Mapping[str, str]) -> None:
    """Let every reference to a schema use its new name, in place."""
    if isinstance(node, dict):
        if isinstance(node.get("$ref"), str):
            kind, _, name = node["$ref"].rpartition("/")
            node["$ref"] = f"{kind}/{names.get(name, name)}"
        node = list(node.values())
    if isinstance(node, list):
        for member in node:
            _rename(member, names)
