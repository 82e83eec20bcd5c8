"""Mistakes of a service, and the breaches with which check_contract has to report them."""

SENT_ON = (
    "Content-Type",
    "Allow",
    "Cache-Control",
    "ETag",
    "Form-Version",
    "Apply",
    "WWW-Authenticate",
)
MINE, FILTERS, HOT, OLD = (
    "/v1/user/applications",
    "/v1/filters",
    "/v1/vacancies/hot",
    "/v0.1/vacancies",
)
LIST = "/v1/vacancies"
SINGLE = "/v1/vacancies/{id}"
FORM, FORM_SCHEMA = f"{SINGLE}/form", f"{SINGLE}/form/schema"
APPLY = "Apply to be the absolute URL of its applications"
PAY = {"min": 2, "max": 1, "currency": "EUR", "period": "day", "note": None}
NOWHERE = {"street": None, "postal_code": None, "locality": "X", "region": None, "country": "BE"}
NOWHERE |= {"latitude": 0, "longitude": 0}
TEXT_INPUT = {"name": "x", "type": "text", "label": "X"}


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


def _consent(**values):
    """Change the last field of a form."""
    return lambda body: body["data"][-1]["fields"][-1].update(values)


def _options(name, *values):
    return [{"name": name, "value": value, "label": value} for value in values]


def _depend_on_no_value(body):
    for field in body["data"][0]["fields"][2:3]:
        field["conditional"][0].update(on_value="maybe")


def _repeat_first(body):
    if len(body["data"]) > 1:
        body["data"][1] = body["data"][0]


NO_ETAG_ON_HEAD = {
    FILTERS: {"HEAD to have the ETag of GET": {"method": "HEAD", "headers": {"ETag": ""}}}
}
# Path -> expected breach -> mistake: a function that changes the parsed body of a response with
# status 200, or the `headers` and the status `to` of responses with `status`. Some mistakes hide
# others.
BATCHES = [
    {
        OLD: {
            "item.updated_at to be like 2026-11-03 14:20:05": _items(
                updated_at="2026-11-03T14:20:05Z"
            ),
            "item.regions to be a list": _items(regions=None),
            "item.location not to be empty": _items(location=""),
            "item.attachments not to be empty": _items(attachments=[]),
            "links.first to have the parameters in effect, then page size and number, encoded": _set(
                "links", "first", lambda link: link.replace("%5B", "[")
            ),
            "meta.last_page to be the number of pages": _set(
                "meta", "last_page", lambda last: last + 1
            ),
            "page to have its keys in the order data, links, meta": lambda body: body.update(
                data=body.pop("data")
            ),
        },
        HOT: {
            "slug to end with the id in round brackets": _items(slug="a-(1000000)"),
            "only hot vacancies": _items(is_hot=False),
            "closing_date to be the last day before closes_at": _items(closing_date="2020-01-01"),
            "400 application/problem+json for ?page[limit]=5": {"status": 400, "to": 200},
        },
        FILTERS: {
            "the count of filter[functiongroup] to be the total of the list": lambda body: body[
                "data"
            ][0]["options"][0].update(count=99),
            "405 for POST with Allow: GET": {"status": 405, "headers": {"Allow": ""}},
        }
        | NO_ETAG_ON_HEAD[FILTERS],
        SINGLE: {
            "the item of /v1/vacancies": lambda body: body["data"].update(title="Other"),
            "404 application/problem+json for id 0": {
                "path": "/v1/vacancies/0",
                "status": 404,
                "to": 500,
                "headers": {"Content-Type": "text/html"},
            },
        },
        FORM: {
            "options with the name of their field": _field(
                "select", options=_options("x", "yes", "no")
            ),
            "each option of a field once": _field(
                "radio-group", options=_options("shift", "yes", "yes")
            ),
            "options for select": _field("text", type="select"),
            "the options 0, 1, 2, 3, 4, 5 for range, in this order": _field(
                "range", options=_options("other_level", "6")
            ),
            'on_value to be a value of the field that it depends on (a checkbox: "1")': _depend_on_no_value,
            "no on_value but for a conditional field": _field("email", on_value="1"),
            "an object with a text input as the label of a range only": _field(
                "email", label=TEXT_INPUT
            ),
            "each name once in the whole form, label inputs included": lambda body: body["data"][0][
                "fields"
            ].append(body["data"][-1]["fields"][-1]),
            "the consent, a required checkbox, as the last field of the last section": _consent(
                required=False
            ),
            "404 application/problem+json for id 0": {"status": 404, "to": 200},
            "Form-Version to be that of the schema": {"headers": {"Form-Version": "2"}},
            APPLY: {"headers": {"Apply": "http://jobs.acme.test/v1/vacancies/0/applications"}},
        },
        FORM_SCHEMA: {
            "Form-Version to be the version in the body": {"headers": {"Form-Version": "1"}},
            "data.schema.$schema to be https://json-schema.org/draft/2020-12/schema": lambda body: (
                body["data"]["schema"].update(
                    {"$schema": "http://json-schema.org/draft-07/schema#"}
                )
            ),
        },
        MINE: {
            "401 with WWW-Authenticate: Bearer": {
                "status": 401,
                "headers": {"WWW-Authenticate": ""},
            }
        },
    },
    {
        OLD: {
            "item to have the key location": lambda body: [
                item.pop("location") for item in body["data"]
            ],
            "type to be the first of v1's types": _items(type="Other"),
            "links.next to be null where there is no such page": lambda body: body["links"].update(
                next=body["links"]["next"] or body["links"]["first"]
            ),
            "meta.path to be the address without a query": _set(
                "meta", "path", lambda path: path + "?a=b"
            ),
            "meta.from to be a position, null on an empty page": _set(
                "meta", "from", lambda first: first or 0
            ),
        },
        FORM: {APPLY: {"headers": {"Apply": "/v1/vacancies/1/applications"}}},
        MINE: {"401 application/problem+json for no credential": {"status": 401, "to": 200}},
    },
    {
        FORM: {
            "section to have the key title": lambda body: [
                section.pop("title") for section in body["data"][1:2]
            ],
            "section.fields to have the key css": lambda body: body["data"][0]["fields"][0].pop(
                "css"
            ),
            "section.fields.conditional not to be empty": _field("email", conditional=[]),
            "section.fields.name to be like work_permit": _field("email", name="e mail"),
            "section.fields.options to have the key name": _field(
                "select", options=[{"value": "yes", "label": "Yes"}]
            ),
            "section.fields.link.url to be like https://jobs.example.com/privacy": lambda body: (
                body["data"][-1]["fields"][-1].get("link", {}).update(url="/privacy")
            ),
        }
    },
    {
        OLD: {
            "an id that is a whole number from 1": lambda body: [
                v.update(id=str(v["id"])) for v in body["data"]
            ]
        }
    },
    {OLD: {"no item on two pages": _repeat_first}},
    {
        LIST: {
            "filter[work_place] to list vacancies with the option": _items(work_place="onsite"),
            "filter[language] to list vacancies with the option": _items(language="fy"),
            "filter[near] to find a vacancy at its place": _items(places=[NOWHERE]),
            "closes_at to be after published_at": _items(closes_at="2020-01-02 00:00:00"),
            "pay.min to be at most pay.max": _items(pay=PAY),
            "sort=closes_at to be that order, without an end last": lambda body: [
                item.update(closes_at=f"{2999 - item['id'] % 7}-01-02 00:00:00", closing_date=None)
                for item in body["data"][1:]
            ],
        },
        FILTERS: {
            "the count of filter[country] to be the total of the list": lambda body: [
                option.update(count=98)
                for each in body["data"]
                if each["keyword"] == "country"
                for option in each["options"]
            ]
        },
    },
    {FILTERS: {"304 for If-None-Match with the current tag": {"status": 304, "to": 200}}},
]
# Optional parts of the API: their absence is not a breach.
NO_SCHEMAS = {FORM_SCHEMA: {"": {"status": 200, "to": 404}}}


def mistakes_of(batch):
    """Return the mistakes of a batch by the text of their breach."""
    return {
        f"{path}: {expected}": {"path": path, "status": 200}
        | (mistake if isinstance(mistake, dict) else {"change": mistake})
        for path, mistakes in batch.items()
        for expected, mistake in mistakes.items()
    }
