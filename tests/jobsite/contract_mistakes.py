"""Mistakes of a service, and the breaches with which check_contract has to report them."""

SENT_ON = ("Content-Type", "Cache-Control", "ETag", "Form-Version", "Content-Language")
DOCUMENT, MINE, FILTERS = "/openapi.json", "/v1/user/applications", "/v1/filters"
LIST, HOT, OLD = "/v1/vacancies", "/v1/vacancies/hot", "/v0.1/vacancies"
SINGLE, CHANGES = "/v1/vacancies/{id}", "/v1/vacancies/changes"
FORM, FORM_SCHEMA = f"{SINGLE}/form", f"{SINGLE}/form/schema"


def _items(**values):
    """Change each item of a list."""
    return lambda body: [item.update(values) for item in body["data"]]


def _set(part, key, value):
    return lambda body: body[part].update({key: value(body[part][key])})


def _field(type_, **values):
    """Change the first field of a type, if the form has one."""

    def change(body):
        fields = [field for section in body["data"] for field in section["fields"]]
        next((field for field in fields if field["type"] == type_), {}).update(values)

    return change


def _section_without_title(body):
    for section in body["data"][1:2]:
        section.pop("title")


def _repeat_first(body):
    if len(body["data"]) > 1:
        body["data"][1] = body["data"][0]


def _last_without_location(body):
    for item in body["data"][-1:]:
        item.pop("location")


def _count(keyword, count):
    """Change the counts of the options of a filter."""
    return lambda body: [
        option.update(count=count)
        for filter_ in body["data"]
        if filter_["keyword"] == keyword
        for option in filter_["options"]
    ]


NO_ETAG_ON_HEAD = {
    FILTERS: {"HEAD to have the ETag of GET": {"method": "HEAD", "headers": {"ETag": ""}}}
}
# Path -> start of the expected breach -> mistake: a function that changes the parsed body of a
# response with status 200, or the `headers` and the status `to` of responses with `status`. Some
# mistakes hide others.
BATCHES = [
    {
        OLD: {
            "data.updated_at: pattern": _items(updated_at="2026-11-03T14:20:05Z"),
            "data.regions: type array": _items(regions=None),
            "data.attachments: minItems 1": _items(attachments=[]),
            "links.first to have the parameters, encoded": _set(
                "links", "first", lambda link: link.replace("%5B", "[")
            ),
            "meta.last_page to follow from the total": _set(
                "meta", "last_page", lambda last: last + 1
            ),
        },
        HOT: {
            "the hot vacancies of /v1/vacancies": _items(is_hot=False),
            "400 for ?page[limit]=nope": {"status": 400, "to": 200},
            "200 as application/json": {"status": 400, "to": 200},
        },
        FILTERS: {
            "the count of filter[functiongroup] to be": _count("functiongroup", 99),
            "405 for POST": {"status": 405, "to": 400},
            "406 for Accept: text/html": {"status": 406, "to": 405},
        }
        | NO_ETAG_ON_HEAD[FILTERS],
        SINGLE: {
            "the item of /v1/vacancies": lambda body: body["data"].update(title="Other"),
            "404 for id 0": {"path": "/v1/vacancies/0", "status": 404, "to": 400},
            "404 as application/problem+json": {
                "path": "/v1/vacancies/abc",
                "status": 404,
                "headers": {"Content-Type": "text/html"},
            },
        },
        FORM: {
            "data.fields.conditional: minItems 1": _field("email", conditional=[]),
            "404 for id 0": {"path": "/v1/vacancies/0/form", "status": 404, "to": 200},
            "a valid Form-Version": {"headers": {"Form-Version": "2"}},
            "a valid Content-Language": {"headers": {"Content-Language": "xx"}},
        },
        FORM_SCHEMA: {
            "data.schema.$schema: const https://json-schema.org": lambda body: body["data"][
                "schema"
            ].update({"$schema": "http://json-schema.org/draft-07/schema#"}),
        },
        CHANGES: {
            "the vacancies of /v1/vacancies": lambda body: body.update(data=body["data"][1:]),
            "400 for ?since=nope": {"status": 400, "to": 410},
        },
        MINE: {"401 for an unknown token": {"status": 401, "to": 400}},
    },
    {
        OLD: {
            "data: 'location' is a required property": lambda body: [
                item.pop("location") for item in body["data"]
            ],
            "links.next to have the parameters": lambda body: body["links"].update(
                next=body["links"]["next"] or body["links"]["first"]
            ),
            "meta.from to follow from": _set("meta", "from", lambda first: (first or 0) + 1),
        },
        HOT: {"links.first to have the parameters": _set("meta", "path", lambda path: path + "?a")},
        FORM: {"data: 'title' is a required property": _section_without_title},
        MINE: {"a response of the document": {"status": 401, "to": 402}},
    },
    {
        FORM: {
            "data.fields: 'css' is a required property": lambda body: body["data"][0]["fields"][
                0
            ].pop("css"),
            "data.fields.name: pattern": _field("email", name="e mail"),
            "data.fields.options: 'name' is a required property": _field(
                "select", options=[{"value": "yes", "label": "Yes"}]
            ),
            "data.fields.link.url: pattern": lambda body: (
                body["data"][-1]["fields"][-1].get("link", {}).update(url="/privacy")
            ),
        },
        OLD: {"data.id: type integer": _items(id="1")},
        LIST: {"data: 'location' is a required property": _last_without_location},
        HOT: {"meta.total items on all pages": _set("meta", "total", lambda total: total + 1)},
    },
    {
        OLD: {"no item on two pages": _repeat_first},
        HOT: {"the hot vacancies of /v1/vacancies": lambda body: body["data"].reverse()},
        FILTERS: {"the count of filter[country] to be the total": _count("country", 98)},
    },
    {
        LIST: {"an ETag": {"headers": {"ETag": ""}}},
        FILTERS: {
            "304 for If-None-Match with the current tag": {"status": 304, "to": 200},
        },
        HOT: {
            "no body for 304 for GET": {"status": 200, "to": 304},
        },
        SINGLE: {"Cache-Control with max-age": {"headers": {"Cache-Control": "public"}}},
    },
]
WRONG_APPLICATION = {MINE: {"data.is_spontaneous: type boolean": _items(is_spontaneous=None)}}
# Optional parts of the API: their absence is not a breach.
NO_SCHEMAS = {DOCUMENT: {"": lambda document: document["paths"].pop(FORM_SCHEMA)}}


def mistakes_of(batch):
    """Return the mistakes of a batch by the start of the text of their breach."""
    return {
        f"{path}: {expected}": {"path": path, "status": 200}
        | (mistake if isinstance(mistake, dict) else {"change": mistake})
        for path, mistakes in batch.items()
        for expected, mistake in mistakes.items()
    }
