"""What the operations of the OpenAPI document share: schemas, headers, error responses, credentials."""

from collections.abc import Collection, Mapping
from http import HTTPStatus

from django.conf import settings

from jobsite.api import parameters
from jobsite.api.openapi import ADDRESS, EXAMPLE_HOST, Schema, field, reference, titled
from jobsite.api.pagination import NUMBER, SIZE
from jobsite.types import JsonObject


def _problem(
    status: int, detail: str, instance: str = "/v1/vacancies", **more: object
) -> JsonObject:
    title = HTTPStatus(status).phrase
    members = {"title": title, "status": status, "detail": detail, "instance": instance}
    return {"type": "about:blank", **members, **more}


def _refused(
    name: str, received: str | list[str], allowed: str | list[str], detail: str = ""
) -> JsonObject:
    if not detail:
        wanted = allowed if isinstance(allowed, str) else f"one of {', '.join(allowed)}"
        detail = f"{name} must be {wanted}; received {received!r}."
    return {"parameter": name, "detail": detail, "received": received, "allowed": allowed}


def _bad(error: JsonObject) -> JsonObject:
    return _problem(400, error["detail"], errors=[error])


_ONE_OR_MORE = {
    "anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}],
}

_ERROR = {
    "parameter": field("string", "Name of the query parameter.", SIZE),
    "detail": field(
        "string", "What is wrong with it, in a sentence.", "page[size] must be a whole number."
    ),
    "received": _ONE_OR_MORE
    | {
        "description": "The received value, or all values if there were several.",
        "examples": ["abc"],
    },
    "allowed": _ONE_OR_MORE
    | {
        "description": "The allowed values: a sentence, or a list.",
        "examples": [parameters.NUMBER_ALLOWED],
    },
}
_PROBLEM = {
    "type": field(
        "string",
        "Type of the problem. `about:blank`: see the status. `cursor-expired`: see 410.",
        "about:blank",
    ),
    "title": field("string", "Name of the status.", "Not Found"),
    "status": field("integer", "HTTP status.", 404, minimum=400, maximum=599),
    "detail": field("string", "A sentence for people.", "No published vacancy has this id."),
    "instance": field("string", "Path of the request.", "/v1/vacancies/1", format="uri-reference"),
    "errors": {
        "type": "array",
        "description": "One entry for each invalid query parameter (400 only).",
        "items": reference("ParameterError"),
        "examples": [[_refused(SIZE, "abc", parameters.NUMBER_ALLOWED)]],
    },
    "links": {
        "type": "object",
        "description": "Addresses that help (410 only): `restart` begins a feed anew.",
        "properties": {"restart": {"type": "string", "format": "uri"}},
        "examples": [{"restart": f"{EXAMPLE_HOST}/v1/vacancies/changes"}],
    },
}
_URL = f"{EXAMPLE_HOST}/v1/vacancies?page%5Bsize%5D=20&page%5Bnumber%5D="
_LINKS = {
    "first": field("string", "Address of the first page.", f"{_URL}1", format="uri"),
    "last": field("string", "Address of the last page.", f"{_URL}3", format="uri"),
    "prev": field(
        ["string", "null"], "Address of the previous page; null on the first.", None, format="uri"
    ),
    "next": field(
        ["string", "null"], "Address of the next page; null on the last.", f"{_URL}2", format="uri"
    ),
}
_META = {
    "current_page": field("integer", "Number of this page.", 1, minimum=1),
    "from": field(
        ["integer", "null"], "Position of its first item; null if the page is empty.", 1, minimum=1
    ),
    "last_page": field("integer", "Number of the last page; 1 if the list is empty.", 3, minimum=1),
    "path": field(
        "string",
        "Address of the list without any parameters.",
        f"{EXAMPLE_HOST}/v1/vacancies",
        pattern=ADDRESS,
    ),
    "per_page": field("integer", "Page size in effect.", 20, minimum=1),
    "to": field(
        ["integer", "null"], "Position of its last item; null if the page is empty.", 20, minimum=1
    ),
    "total": field("integer", "Number of items in the whole list.", 41, minimum=0),
    "suggestions": {
        "type": "array",
        "description": "Only if a search found nothing: up to three searches that find something "
        "with the same filters, with typing errors corrected.",
        "items": {"type": "string"},
        "maxItems": 3,
        "examples": [["verpleegkundige nacht"]],
    },
}


def object_schema(
    description: str, fields: Mapping[str, Schema], optional: Collection[str] = ()
) -> Schema:
    required = [name for name in fields if name not in optional]
    return {
        "type": "object",
        "description": description,
        "required": required,
        "properties": dict(fields),
    }


SCHEMAS = {
    "Links": object_schema(
        "Absolute addresses of other pages, with the parameters in effect.", _LINKS
    ),
    "Meta": object_schema("Position of the page in the list.", _META, optional=["suggestions"]),
    "ParameterError": object_schema("The error of one query parameter.", _ERROR),
    "Problem": object_schema("An error (RFC 9457).", _PROBLEM, optional=["errors", "links"]),
}


def _header(description: str, example: object, **rules: object) -> JsonObject:
    return {"description": description, "schema": {"type": "string", **rules}, "example": example}


HEADERS = {
    "ETag": _header(
        "Tag of this response, to send in `If-None-Match`.", 'W/"b0c1f0d5a8e94d3a5c2f7716e08b9d42"'
    ),
    "Cache-Control": _header(
        "How long the response may be cached. Internal responses of a limited service: `private, "
        "no-store`.",
        "public, max-age=60",
    ),
    "No-Store": _header("Errors must not be cached.", "no-store"),
    "Private": _header("The response is for one user and must not be cached.", "private, no-store"),
    "Vary": _header("Request headers that the response depends on.", "Accept-Encoding"),
    "Time-Zone": _header("Time zone (IANA name) of all times of the service.", settings.TIME_ZONE),
    "Allow": _header("Allowed methods.", "GET, HEAD, OPTIONS"),
    "Content-Language": _header("Language of the response.", "nl", enum=["en", "nl", "fr", "de"]),
    "Form-Version": _header(
        "Version of the form. It changes exactly when the structure changes.",
        "9f86d081884c7d65",
        pattern="^[0-9a-f]{16}$",
    ),
    "Apply": _header(
        "Address to send a submission to. Absent if the vacancy does not accept applications here.",
        f"{EXAMPLE_HOST}/v1/vacancies/412/applications",
        format="uri",
    ),
    "Retry-After": _header("Seconds to wait.", "17", pattern="^[0-9]+$"),
    "WWW-Authenticate": _header("The scheme of the required credentials.", "Bearer"),
    "Deprecation": _header(
        "Time since which v0.1 is deprecated (RFC 9745); absent until then.", "@1798761600"
    ),
    "Sunset": _header(
        "Time at which v0.1 is removed (RFC 8594); absent if not decided.",
        "Thu, 01 Jul 2027 00:00:00 GMT",
    ),
    "Link": _header(
        "The v1 list that replaces this one; absent until v0.1 is deprecated.",
        f'<{EXAMPLE_HOST}/v1/vacancies>; rel="successor-version"',
    ),
}
_CACHED = ("ETag", "Cache-Control", "Vary", "Time-Zone")
ANSWER = (*_CACHED, "Allow")
GOING = ("Deprecation", "Sunset", "Link")

# Status: name of the shared response, description, its own headers, example bodies.
SHARED: dict[int, tuple[str, str, tuple[str, ...], JsonObject]] = {
    304: (
        "NotModified",
        "Unchanged since the response with that tag in `If-None-Match`; no body.",
        _CACHED,
        {},
    ),
    400: (
        "BadRequest",
        "A parameter is unknown, is given twice, or has an invalid value.",
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
        "This client has no permission.",
        (),
        {
            "Outside the network": _problem(
                403, "Internal vacancies are not open to you.", "/v0.1/vacancies/internal"
            )
        },
    ),
    404: (
        "NotFound",
        "No published vacancy has this id.",
        (),
        {"Unknown": _problem(404, "No published vacancy has this id.", "/v1/vacancies/1")},
    ),
    405: (
        "MethodNotAllowed",
        "The response to every method except GET, HEAD and OPTIONS.",
        ("Allow",),
        {"POST": _problem(405, 'Method "POST" not allowed.')},
    ),
    406: (
        "NotAcceptable",
        "The `Accept` header excludes JSON.",
        (),
        {"Wants HTML only": _problem(406, "Could not satisfy the request Accept header.")},
    ),
    410: (
        "Gone",
        "The changes after this cursor are not known any more: read the list anew.",
        (),
        {
            "Expired": _problem(
                410,
                "The changes after this cursor are not known any more. Read the list anew.",
                "/v1/vacancies/changes",
                type="cursor-expired",
                links={"restart": f"{EXAMPLE_HOST}/v1/vacancies/changes"},
            )
        },
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
    503: (
        "Unavailable",
        "The database or the file storage cannot be reached, or takes no writes at the moment.",
        ("Retry-After",),
        {"No database": _problem(503, "The database cannot be reached just now.")},
    ),
}
# Statuses that every operation may return in addition to 200.
ALWAYS = (304, 400, 405, 406, 429, 500, 503)


def headers_of(names: Collection[str]) -> JsonObject:
    called = {"Private": "Cache-Control"}
    return {called.get(name, name): {"$ref": f"#/components/headers/{name}"} for name in names}


def responses() -> JsonObject:
    found: JsonObject = {}
    for status, (name, description, headers, examples) in SHARED.items():
        found[name] = {"description": description, "headers": headers_of(headers)}
        if status >= 400:
            found[name]["headers"]["Cache-Control"] = {"$ref": "#/components/headers/No-Store"}
            found[name]["content"] = {
                "application/problem+json": {
                    "schema": reference("Problem"),
                    "examples": titled(examples),
                }
            }
    return found


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
        "description": "The session of a user who is signed in on this site.",
    },
}
