"""Mistakes of a service, and the breaches with which check_contract has to report them."""

SENT_ON = ("Content-Type", "Allow", "Cache-Control", "ETag", "Form-Version", "Apply", "WWW-Authenticate")
MINE = "/v1/user/applications"
FORM, FORM_SCHEMA = "/v1/vacancies/{id}/form", "/v1/vacancies/{id}/form/schema"


def _edit(change, **where):
    """Return a mistake: `change` modifies the parsed body of responses with the path and status `where`."""
    return {"change": change, "status": 200, **where}


def _each(change):
    return lambda body: [change(item) for item in body["data"]]


def _first_field(*types, **values):
    """Change the first field of one of the types, if the form has one."""

    def change(body):
        fields = [field for section in body["data"] for field in section["fields"]]
        for field in fields:
            if field["type"] in types:
                field.update(values)
                return

    return change


def _set(part, key, value):
    return lambda body: body[part].update({key: value(body[part][key])})


# Name -> mistake, expected breach. Mistakes that hide others come last.
MISTAKES = {
    "iso datetime": (
        _edit(_each(lambda v: v.update(updated_at="2026-11-03T14:20:05Z")), path="/v0.1/vacancies"),
        "/v0.1/vacancies: item.updated_at to be YYYY-MM-DD HH:MM:SS",
    ),
    "slug of another id": (
        _edit(_each(lambda v: v.update(slug="a-(1000000)")), path="/v1/vacancies/hot"),
        "/v1/vacancies/hot: slug to be an ASCII slug that ends with the id in round brackets",
    ),
    "null for no regions": (
        _edit(_each(lambda v: v.update(regions=None)), path="/v0.1/vacancies"),
        "/v0.1/vacancies: item.regions to be a list of texts",
    ),
    "empty text for null": (
        _edit(_each(lambda v: v.update(location="")), path="/v0.1/vacancies"),
        "/v0.1/vacancies: item.location to be text or null",
    ),
    "missing key": (
        _edit(_each(lambda v: v.pop("location")), path="/v0.1/vacancies"),
        "/v0.1/vacancies: item to have the key location",
    ),
    "empty attachments": (
        _edit(_each(lambda v: v.update(attachments=[])), path="/v0.1/vacancies"),
        "/v0.1/vacancies: item.attachments to be a list that is not empty",
    ),
    "id as text": (
        _edit(_each(lambda v: v.update(id=str(v["id"]))), path="/v0.1/vacancies"),
        "/v0.1/vacancies: an id that is a whole number from 1",
    ),
    "cold vacancy in the hot list": (
        _edit(_each(lambda v: v.update(is_hot=False)), path="/v1/vacancies/hot"),
        "/v1/vacancies/hot: only hot vacancies",
    ),
    "another value in v0.1": (
        _edit(_each(lambda v: v.update(type="Other")), path="/v0.1/vacancies"),
        "/v0.1/vacancies: type to be the first of v1's types",
    ),
    "brackets in links": (
        _edit(_set("links", "first", lambda link: link.replace("%5B", "[")), path="/v0.1/vacancies"),
        "/v0.1/vacancies: links.first to have the parameters in effect, then page size and number, encoded",
    ),
    "next on the last page": (
        _edit(
            lambda body: body["links"].update(next=body["links"]["next"] or body["links"]["first"]),
            path="/v0.1/vacancies",
        ),
        "/v0.1/vacancies: links.next to be null where there is no such page",
    ),
    "query in meta.path": (
        _edit(_set("meta", "path", lambda path: path + "?a=b"), path="/v0.1/vacancies"),
        "/v0.1/vacancies: meta.path to be the address without a query",
    ),
    "last page off by one": (
        _edit(_set("meta", "last_page", lambda last: last + 1), path="/v0.1/vacancies"),
        "/v0.1/vacancies: meta.last_page to be the number of pages",
    ),
    "zero for an empty page": (
        _edit(_set("meta", "from", lambda first: first or 0), path="/v0.1/vacancies"),
        "/v0.1/vacancies: meta.from to be a position, null on an empty page",
    ),
    "other order of keys": (
        _edit(lambda body: body.update(data=body.pop("data")), path="/v0.1/vacancies"),
        "/v0.1/vacancies: data, links, meta in this order",
    ),
    "one vacancy twice": (
        _edit(
            lambda body: len(body["data"]) > 1 and body["data"].__setitem__(1, body["data"][0]),
            path="/v0.1/vacancies",
        ),
        "/v0.1/vacancies: no item on two pages",
    ),
    "wrong count": (
        _edit(lambda body: body["data"][0]["options"][0].update(count=99), path="/v1/filters"),
        "/v1/filters: the count of filter[functiongroup] to be the total of the list",
    ),
    "another single": (
        _edit(lambda body: body["data"].update(title="Other"), path="/v1/vacancies/{id}"),
        "/v1/vacancies/{id}: the item of /v1/vacancies",
    ),
    "section without a title": (
        _edit(lambda body: [section.pop("title") for section in body["data"][1:2]], path=FORM),
        f"{FORM}: section to have the key title",
    ),
    "field without a width": (
        _edit(lambda body: body["data"][0]["fields"][0].pop("css"), path=FORM),
        f"{FORM}: field to have the key css",
    ),
    "no conditions": (
        _edit(_first_field("email", conditional=[]), path=FORM),
        f"{FORM}: field.conditional to be a list that is not empty",
    ),
    "option without a name": (
        _edit(_first_field("select", options=[{"value": "yes", "label": "Yes"}]), path=FORM),
        f"{FORM}: field.options to have the key name",
    ),
    "option of another field": (
        _edit(
            _first_field("select", options=[{"name": "x", "value": v, "label": v} for v in ("yes", "no")]),
            path=FORM,
        ),
        f"{FORM}: options with the name of their field",
    ),
    "option twice": (
        _edit(
            _first_field("radio-group", options=[{"name": "shift", "value": "yes", "label": "Yes"}] * 2),
            path=FORM,
        ),
        f"{FORM}: each option of a field once",
    ),
    "select without options": (
        _edit(_first_field("text", type="select"), path=FORM),
        f"{FORM}: options for select",
    ),
    "other levels": (
        _edit(
            _first_field("range", options=[{"name": "other_level", "value": "6", "label": "More"}]), path=FORM
        ),
        f"{FORM}: the options 0, 1, 2, 3, 4, 5 for range, in this order",
    ),
    "condition on no value": (
        _edit(
            lambda body: (
                body["data"][0]["fields"][2:]
                and body["data"][0]["fields"][2]["conditional"][0].update(on_value="maybe")
            ),
            path=FORM,
        ),
        f'{FORM}: on_value to be a value of the field that it depends on (a checkbox: "1")',
    ),
    "on_value of nothing": (
        _edit(_first_field("email", on_value="1"), path=FORM),
        f"{FORM}: no on_value but for a conditional field",
    ),
    "label input of a text field": (
        _edit(_first_field("email", label={"name": "x", "type": "text", "label": "X"}), path=FORM),
        f"{FORM}: an object with a text input as the label of a range only",
    ),
    "name that is no identifier": (
        _edit(_first_field("email", name="e mail"), path=FORM),
        f"{FORM}: a name of ASCII letters, digits, hyphens and underscores",
    ),
    "name twice": (
        _edit(lambda body: body["data"][0]["fields"].append(body["data"][-1]["fields"][-1]), path=FORM),
        f"{FORM}: each name once in the whole form, label inputs included",
    ),
    "consent that may be left out": (
        _edit(lambda body: body["data"][-1]["fields"][-1].update(required=False), path=FORM),
        f"{FORM}: the consent, a required checkbox, as the last field of the last section",
    ),
    "relative link": (
        _edit(lambda body: body["data"][-1]["fields"][-1].get("link", {}).update(url="/privacy"), path=FORM),
        f"{FORM}: field.link.url to be an absolute URL",
    ),
    "form that is not there": (
        {"path": FORM, "status": 404, "to": 200},
        f"{FORM}: 404 application/problem+json for id 0",
    ),
    "another version": (
        {"path": FORM_SCHEMA, "status": 200, "headers": {"Form-Version": "1"}},
        f"{FORM_SCHEMA}: Form-Version to be the version in the body",
    ),
    "another version of the form": (
        {"path": FORM, "status": 200, "headers": {"Form-Version": "2"}},
        f"{FORM}: Form-Version to be that of the schema",
    ),
    "Apply of another vacancy": (
        {
            "path": FORM,
            "status": 200,
            "headers": {"Apply": "http://jobs.acme.test/v1/vacancies/0/applications"},
        },
        f"{FORM}: Apply to be the absolute URL of its applications",
    ),
    "relative Apply": (
        {"path": FORM, "status": 200, "headers": {"Apply": "/v1/vacancies/1/applications"}},
        f"{FORM}: Apply to be the absolute URL of its applications",
    ),
    "older dialect": (
        _edit(
            lambda body: body["data"]["schema"].update(
                {"$schema": "http://json-schema.org/draft-07/schema#"}
            ),
            path=FORM_SCHEMA,
        ),
        f"{FORM_SCHEMA}: the $schema https://json-schema.org/draft/2020-12/schema",
    ),
    "no challenge": (
        {"path": MINE, "status": 401, "headers": {"WWW-Authenticate": ""}},
        f"{MINE}: 401 with WWW-Authenticate: Bearer",
    ),
    "applications for everybody": (
        {"path": MINE, "status": 401, "to": 200},
        f"{MINE}: 401 application/problem+json for no credential",
    ),
    "typo ignored": (
        _edit(lambda body: body.clear(), path="/v1/vacancies/hot", status=400, to=200),
        "/v1/vacancies/hot: 400 application/problem+json for ?page[limit]=5",
    ),
    "html error": (
        {"path": "/v1/vacancies/0", "status": 404, "to": 500, "headers": {"Content-Type": "text/html"}},
        "/v1/vacancies/{id}: 404 application/problem+json for id 0",
    ),
    "405 without Allow": (
        {"path": "/v1/filters", "status": 405, "headers": {"Allow": ""}},
        "/v1/filters: 405 for POST with Allow: GET",
    ),
    "tag that is not honoured": (
        {"path": "/v1/filters", "status": 304, "to": 200},
        "/v1/filters: 304 for If-None-Match with the current tag",
    ),
    "no ETag on HEAD": (
        {"path": "/v1/filters", "method": "HEAD", "status": 200, "headers": {"ETag": ""}},
        "/v1/filters: HEAD to have the ETag of GET",
    ),
}
# Optional parts of the API: their absence is not a breach.
LACKS = {"no schemas": {"path": FORM_SCHEMA, "status": 200, "to": 404}}
HIDING = (
    "applications for everybody",
    "another value in v0.1",
    "missing key",
    "next on the last page",
    "query in meta.path",
    "zero for an empty page",
)
FORM_SHAPES = (
    "section without a title",
    "field without a width",
    "no conditions",
    "option without a name",
    "relative link",
)
ALONE = ("id as text", "one vacancy twice", "tag that is not honoured")
BATCHES = {
    "most": [name for name in MISTAKES if name not in HIDING + FORM_SHAPES + ALONE],
    "hiding": list(HIDING),
    "form shapes": list(FORM_SHAPES),
    **{name: [name] for name in ALONE},
}
