"""The OpenAPI operation that takes submissions."""

from applications.api.schema import Responses, complete, refused, responses
from applications.submissions.files import REASONS
from jobsite.api.openapi import DATETIME_PATTERN, Schema, field, titled
from jobsite.languages import text_languages
from jobsite.types import JsonObject

# Valid for vacancy 20 of the demo, so that the page /docs can send it.
_VALUES = {
    "first_name": "Mia",
    "last_name": "Maes",
    "email": "mia@example.org",
    "work_permit": "yes",
    "motivation": "I like ships.",
    "lang_nl": "5",
    "lang_fr": "3",
    "lang_en": "4",
    "privacy_consent": "1",
}
_VERSION = "da8806637c82532b"
_CHALLENGE = {
    "algorithm": field("string", "Hash function: always SHA-256.", "SHA-256"),
    "challenge": field("string", "The hash to find, in hexadecimal.", "5f" * 32),
    "maxNumber": field("integer", "The largest number to try.", 100_000),
    "maxnumber": field("integer", "The same, for clients that read this spelling.", 100_000),
    "salt": field(
        "string", "The text before the number.", "9c1e5ab1?vacancy=412&expires=1795791600&"
    ),
    "signature": field("string", "To send back unchanged.", "7a" * 32),
}
_ERROR = {
    "pointer": field(
        "string",
        "JSON Pointer (RFC 6901) into the JSON document, also of a missing value.",
        "/values/email",
    ),
    "keyword": field(
        "string",
        "The JSON Schema keyword that failed; `file` for the content of a file.",
        "pattern",
    ),
    "detail": field(
        "string", "A message in the language of the form.", "Enter a valid email address."
    ),
}
_DOCUMENT: dict[str, Schema] = {
    "version": field(
        "string",
        "The version of the form that the applicant filled in: `Form-Version`, or `data.version` "
        "of `/form/schema`.",
        _VERSION,
    ),
    "values": field(
        "object",
        "The value of each field that is filled in and shown, by name. It is valid against the "
        "schema of `/form/schema`. Leave out fields that are empty or hidden.",
        _VALUES,
        additionalProperties={},
    ),
    "source": field("string", "Where the applicant came from.", "newsletter", maxLength=200),
    "proof": field(
        "string", "The solution of a challenge: an ALTCHA payload.", "eyJhbGdvcml0aG0iOi4uLn0="
    ),
}


def _problem(**members: Schema) -> Schema:
    texts = {"type": "string"}
    body = complete({"type": texts, "title": texts, "status": {"type": "integer"}, "detail": texts})
    body["properties"] |= {"instance": {"type": "string", "format": "uri-reference"}} | members
    return body


_DOCUMENT_SCHEMA: Schema = {
    "type": "object",
    "required": ["version", "values"],
    "properties": _DOCUMENT,
    "additionalProperties": False,
}
_RECEIVED = {
    "reference": field("string", "Identifies the application. Opaque.", "7K3QX9WD"),
    "received_at": field(
        "string",
        "Time of receipt: `YYYY-MM-DD HH:MM:SS` in the time zone of the site.",
        "2026-11-22 14:03:27",
        pattern=DATETIME_PATTERN,
    ),
    "version": field(
        "string", "The version of the form that the submission is valid against.", _VERSION
    ),
}
_INVALID = _problem(
    errors={"type": "array", "items": complete(_ERROR)},
    form_changed={
        "type": "boolean",
        "description": "The form changed: load it again and keep the values.",
    },
)
_INVALID["required"].append("errors")
_REASON = f"Why a type is refused: {', '.join(REASONS)}, document_macros or document_parts."
_REFUSED = complete(_ERROR) | {
    "properties": _ERROR | {"reason": field("string", _REASON, "password")}
}
_FILE = _problem(errors={"type": "array", "items": _REFUSED})
_TOO_MANY = _problem(
    proof_required={
        "type": "boolean",
        "description": "Solve `challenge` and send the solution as `proof`.",
    },
    challenge=complete(_CHALLENGE),
)
_LANGUAGE = {"Content-Language": {"$ref": "#/components/headers/Content-Language"}}
_WAIT = {"Retry-After": {"$ref": "#/components/headers/Retry-After"}}


def _with_headers(response: Responses, headers: JsonObject) -> Responses:
    return {status: described | {"headers": headers} for status, described in response.items()}


OPERATION: JsonObject = {
    "operationId": "submitApplication",
    "summary": "Apply for a vacancy",
    "description": "Takes a submission of the vacancy's application form. `/form` has the header "
    "`Apply` if the vacancy takes applications. Send multipart/form-data: the part `application` "
    "has the JSON document. The value of a file field is the name of the file: a part `files[]`, "
    "or a part with the name of the field. Without files, the document alone may be sent as "
    "application/json. The applicant gets a receipt by email. No credentials are needed. A bearer "
    "token, or a session with `X-CSRFToken`, links the application to the account; invalid ones "
    "are ignored.\n\n"
    "Send an `Idempotency-Key`, and repeat the request with the same key after a lost connection "
    "or a 5xx: for a day, it returns the same response. The value of `contact_me_by_fax` has to "
    "stay empty: a filled one is taken for spam.",
    "tags": ["Applications"],
    "security": [{}, {"bearer": []}, {"session": []}],
    "parameters": [
        {
            "name": "id",
            "in": "path",
            "required": True,
            "description": "Id of the vacancy.",
            "schema": {"type": "integer", "minimum": 1, "examples": [20]},
        },
        *(
            {
                "name": "language",
                "in": "query",
                "description": "Language of the messages, as the header `Apply` has it. The version "
                "in the document decides in which language of the form somebody applied.",
                "schema": {"type": "string", "enum": list(codes), "examples": [codes[0]]},
            }
            for codes in filter(None, [text_languages()])
        ),
        {
            "name": "Idempotency-Key",
            "in": "header",
            "description": "1 to 255 visible ASCII characters, new for each application.",
            "schema": {
                "type": "string",
                "pattern": "^[\\u0021-\\u007e]{1,255}$",
                "examples": ["6f1c2b0e-8f0e-4b57-9c55-0d5f0f6f2f3a"],
            },
        },
    ],
    # Some generated clients use JSON unless a call names the other media type. `format: binary` is
    # that of OpenAPI 3.0: generators do not read `contentMediaType` as a file.
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": ["application"],
                    "properties": {
                        "application": _DOCUMENT_SCHEMA,
                        "files[]": {
                            "type": "array",
                            "description": (
                                "The files. The value of a file field is the name of its file."
                            ),
                            "items": {"type": "string", "format": "binary"},
                            "examples": [[]],  # or the page /docs sends the text "string"
                        },
                    },
                    "additionalProperties": True,  # parts with the name of a field
                },
                "encoding": {"application": {"contentType": "application/json"}},
                "examples": titled(
                    {"A submission": {"application": {"version": _VERSION, "values": _VALUES}}}
                ),
            },
            "application/json": {
                "schema": _DOCUMENT_SCHEMA,
                "examples": titled({"Without files": {"version": _VERSION, "values": _VALUES}}),
            },
        },
    },
    "responses": responses(
        {
            201: {
                "description": (
                    "The submission is stored, or was stored by an earlier equal request."
                ),
                "headers": {
                    "Cache-Control": {"$ref": "#/components/headers/No-Store"},
                    "Time-Zone": {"$ref": "#/components/headers/Time-Zone"},
                },
                "content": {
                    "application/json": {
                        "schema": complete({"data": complete(_RECEIVED)}),
                        "examples": titled(
                            {
                                "Received": {
                                    "data": {
                                        name: s["examples"][0] for name, s in _RECEIVED.items()
                                    }
                                }
                            }
                        ),
                    }
                },
            }
        },
        refused(400, "The body or the `Idempotency-Key` is malformed: correct the client."),
        _with_headers(
            refused(409, "A request with this `Idempotency-Key` is being processed: repeat it."),
            _WAIT,
        ),
        refused(413, "The body is larger than 25 MB, or a file is larger than 10 MB.", _FILE),
        refused(
            415,
            "The body is neither JSON nor multipart, or the type of a file is not accepted.",
            _FILE,
        ),
        _with_headers(
            refused(
                422, "The submission is invalid, or the key was used with other content.", _INVALID
            ),
            _LANGUAGE,
        ),
        _with_headers(
            refused(429, "Too many attempts, or a proof of work is required.", _TOO_MANY),
            _WAIT,
        ),
        errors={404: "NotFound"},
    ),
}
