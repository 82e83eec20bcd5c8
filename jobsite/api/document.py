"""The shared parts of the OpenAPI document: headers, error responses, credentials.

The hook `complete()` adds them to the operations that the apps declare with `openapi`.
"""

from collections.abc import Collection, Mapping
from http import HTTPStatus

from django.conf import settings

from jobsite.api import parameters
from jobsite.api.openapi import ADDRESS, EXAMPLE_HOST, Schema, field, reference, titled
from jobsite.api.pagination import NUMBER, SIZE
from jobsite.api.parameter_names import IGNORED
from jobsite.types import JsonObject

DESCRIPTION = """\
Published vacancies of a job site as JSON: lists, hot lists, internal lists, single vacancies, their
application forms, the filters of lists, and a signed-in applicant's own applications. All operations except
applying, signing in and signing out are a `GET`. `HEAD` returns the same response without a body, and
`OPTIONS` the allowed methods. Pages of any origin may read public responses (CORS). Paths have no trailing
slash.

### Paging
A list is `{"data": [...], "links": {...}, "meta": {...}}`. `page[size]` (default 20) and `page[number]`
choose the page. A size above the maximum is reduced to the maximum, which `meta.per_page` shows. Follow
`links.next` until it is null. A page beyond the last one has an empty `data`; it is not an error. Items are
ordered by time of publication, newest first, then by id, so pages never overlap. Brackets may be sent as
they are or encoded (`page%5Bsize%5D=20`). `/v1/filters` is one `{"data": [...]}` without pages.

### Filters, search, sorting, fields
`/v1/filters` lists the filters in use: `keyword` is the name in `filter[...]`, the `value` of an option is
what to send, and its `count` is the number of matching vacancies.
`?filter[regions]=antwerp,ghent&filter[types]=engineering` is OR within a filter and AND across filters.
With the same parameters, `/v1/filters` returns the counts for that choice. `filter[search]` searches for
words, `filter[near]=51.22,4.4,25` for places in a circle of 25 km, `sort` sorts, and `fields=id,title,slug`
returns only those keys, so that a list page has no long texts. A list may also be sent as a repeated
parameter (`filter[regions]=antwerp&filter[regions]=ghent`, `fields[]=id&fields[]=title`); links use commas.
The lists of v0.1 have paging only.

### Times
Times are `YYYY-MM-DD HH:MM:SS` in the time zone in the header `Time-Zone`, such as `Europe/Brussels`.

### Application forms
`/v1/vacancies/{id}/form` is the application form: sections of fields with options and conditional fields;
the last field is the consent. `/v1/vacancies/{id}/form/schema` is a JSON Schema of a valid submission. Both
have the header `Form-Version`, which changes exactly when the structure changes. `POST
/v1/vacancies/{id}/applications` takes a submission, with the version of the form that was filled in.

### My applications
`/v1/user/applications` lists the signed-in user's own applications, with a status in the language of
`Accept-Language` and the steps that the user may see. Send `Authorization: Bearer <token>` or a session
cookie. `POST /v1/auth/token` returns a token for a user name and a password. The response must not be
cached.

### Errors
Every error is an [RFC 9457](https://www.rfc-editor.org/rfc/rfc9457) document, `application/problem+json`.
An invalid value, and a single-valued parameter that is given twice, return 400; `errors` states for each
parameter what was received and what is allowed. So do unknown names that begin with `page`, `filter`, `sort`
or `fields` and, on lists and `/v1/filters`, likely mistakes: names close to a parameter or to a key of an
item, and names that other APIs use (`region`, `limit`, `q`, `updated_since`). The error states the name that
was probably meant. Tracking parameters and cache busters are always ignored: {ignored}. Other unknown names
are ignored too. An unknown id and the id of an unpublished vacancy return the same 404. Too many requests
(usually 600 a minute for each client) return 429 with `Retry-After`.

### Caching
Public responses have an `ETag` and `Cache-Control: public, max-age=...`, which never exceeds the time until
the next vacancy appears or expires. Send the tag in `If-None-Match`: an unchanged response is a 304 without
a body. Tags are compared weakly. Errors must not be cached.

### Internal vacancies
The operator decides whether the internal lists are public, limited to networks, or limited to signed-in
colleagues. Where they are limited, send `Authorization: Bearer <token>` or a session cookie. Without
permission the lists return 401 or 403, and an internal vacancy returns 404. Public lists ignore
credentials.

### Compatibility
The version is in the path. Changes within v1 only add keys and parameters, so ignore keys you do not know.
Before v0.1 is removed, its responses announce it with `Deprecation`, `Sunset` and a `Link` to the
successor.
""".replace("{ignored}", ", ".join(f"`{name}`" for name in IGNORED))


# --- Shared parts of responses --------------------------------------------------------------------


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
    "type": field("string", "Type of the problem. `about:blank`: see the status.", "about:blank"),
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
        "with the "
        "same filters, with typing errors corrected.",
        "items": {"type": "string"},
        "maxItems": 3,
        "examples": [["verpleegkundige nacht"]],
    },
}


def _object(
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
    "Links": _object("Absolute addresses of other pages, with the parameters in effect.", _LINKS),
    "Meta": _object("Position of the page in the list.", _META, optional=["suggestions"]),
    "ParameterError": _object("The error of one query parameter.", _ERROR),
    "Problem": _object("An error (RFC 9457).", _PROBLEM, optional=["errors"]),
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
_ANSWER = (*_CACHED, "Allow")
_GOING = ("Deprecation", "Sunset", "Link")

# Status: name of the shared response, description, its own headers, example bodies.
_SHARED: dict[int, tuple[str, str, tuple[str, ...], JsonObject]] = {
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


def _headers(names: Collection[str]) -> JsonObject:
    called = {"Private": "Cache-Control"}
    return {called.get(name, name): {"$ref": f"#/components/headers/{name}"} for name in names}


def _responses() -> JsonObject:
    responses: JsonObject = {}
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
        "description": "The session of a user who is signed in on this site.",
    },
}


# The version of the document: the newest API version, and a number for each release that adds to
# it. It is not the version of the project.
DOCUMENT_VERSION = "1.2.0"


def _info() -> JsonObject:
    """The publisher of the API, and its terms."""
    contact = {"name": "Operator of this site"}
    if settings.API_CONTACT:
        contact["url" if "://" in settings.API_CONTACT else "email"] = settings.API_CONTACT
    licence = {"name": "All rights reserved", "identifier": "LicenseRef-All-rights-reserved"}
    if "://" in settings.API_LICENSE:
        licence = {"name": "Terms of use", "url": settings.API_LICENSE}
    elif settings.API_LICENSE:
        licence = {"name": settings.API_LICENSE, "identifier": settings.API_LICENSE}
    return {
        "version": DOCUMENT_VERSION,
        "description": DESCRIPTION,
        "contact": contact,
        "license": licence,
    }


def complete(result: JsonObject, **kwargs: object) -> JsonObject:
    """drf-spectacular hook: add the shared parts to the document."""
    result["info"] |= _info()
    result["servers"] = [{"url": settings.PUBLIC_BASE_URL or "/"}]
    components = result["components"]
    schemas = components["schemas"] = {**components["schemas"], **SCHEMAS}
    for path, methods in result["paths"].items():
        for described in methods.values():
            if "x-examples" in described:  # declared by an Operation
                _complete_operation(path, described, schemas)
            described.setdefault("security", [])  # drf-spectacular leaves an empty list out
    names = {name: _plain(name, schema) for name, schema in schemas.items()}
    _rename(result, names)
    components |= {
        "schemas": {
            names[old]: schemas[old] for old in sorted(schemas, key=lambda old: names[old])
        },
        "responses": _responses(),
        "headers": HEADERS,
        "securitySchemes": SECURITY_SCHEMES,
    }
    return result


def _complete_operation(path: str, described: JsonObject, schemas: JsonObject) -> None:
    responses = described["responses"]
    examples, own_headers = described.pop("x-examples"), described.pop("x-headers")
    is_private, links = described.pop("x-private"), described.pop("x-links")
    answer = responses["200"]
    if links:
        answer["links"] = links
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


def _allow_sparse_items(listed: Schema, schemas: JsonObject) -> None:
    """Allow the items of the list schema `listed` to have only some of their keys."""
    data = listed["properties"]["data"]
    if "anyOf" in data["items"]:  # another operation has the same list
        return
    name = data["items"]["$ref"].rpartition("/")[2]
    schemas[f"Sparse{name}"] = {
        "type": "object",
        "description": f"A {name} with only the keys in `fields`; their values are the same.",
        "properties": schemas[name]["properties"],
    }
    data["items"] = {
        "description": f"A full {name}, or only the keys in the parameter `fields`.",
        "anyOf": [data["items"], reference(f"Sparse{name}")],
    }


def _plain(name: str, schema: Schema) -> str:
    """Return the name of a list schema:
    "VacancyPage" for "PaginatedVacancyList", "FilterList" if unpaged.
    """
    if not name.startswith("Paginated"):
        return name
    item = name.removeprefix("Paginated").removesuffix("List")
    return f"{item}Page" if "meta" in schema["properties"] else f"{item}List"


def _rename(node: object, names: Mapping[str, str]) -> None:
    """Rename the schemas in all references, in place."""
    if isinstance(node, dict):
        if isinstance(node.get("$ref"), str):
            kind, _, name = node["$ref"].rpartition("/")
            node["$ref"] = f"{kind}/{names.get(name, name)}"
        node = list(node.values())
    if isinstance(node, list):
        for member in node:
            _rename(member, names)
