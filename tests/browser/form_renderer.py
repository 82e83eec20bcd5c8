"""The reference renderer on an empty page, and forms for it."""

from typing import Any

from forms_structure.api.v1 import serve
from forms_structure.models import Form
from forms_structure.schema import submission_schema
from forms_structure.structure import clean
from tests.browser.accessibility import findings

PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Apply</title><link rel="stylesheet" href="/static/forms_structure/form.css">
<body><main><h1>Apply</h1><div id="form"></div></main></body></html>"""
# No style, script or picture but files of the site's own: the renderer needs no more.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'"
)
RENDER = """([sections, options]) => {
  window.sent = [];
  const target = document.querySelector("#form");
  window.form = renderer.render(target, sections, { ...options, onSubmit: (values) => sent.push(values) });
}"""
Sections = list[dict[str, Any]]
# A valid submission of `application()`.
VALID = {
    "first_name": "Zoë",
    "last_name": "Peeters",
    "email": "zoe@example.com",
    "permit": "yes",
    "regimes": ["day"],
    "english": "4",
    "privacy_consent": "1",
}


def open_page(live_server: Any, shared_page: Any) -> Any:
    """An empty page of the site with the module as `renderer`."""
    address = f"{live_server.url}/apply"
    headers = {"Content-Type": "text/html", "Content-Security-Policy": POLICY}
    shared_page.route(address, lambda route: route.fulfill(body=PAGE, headers=headers))
    shared_page.goto(address)
    shared_page.evaluate(
        "async () => { window.renderer = await import('/static/forms_structure/form.js'); }"
    )
    return shared_page


def render(page: Any, sections: Sections, **options: Any) -> None:
    page.evaluate(RENDER, [sections, options])


def checked(sections: Sections) -> dict[str, Any]:
    return submission_schema(sections, address="https://jobs.example.com/schema")


def field(name: str, type_: str = "text", *options: str, **values: Any) -> dict[str, Any]:
    """A field as it is stored; options are "value: label"."""
    made = {
        "name": name,
        "type": type_,
        "label": f"Your {name}",
        "required": False,
        "css": "col-12",
    }
    if options:
        pairs = [option.split(": ") for option in options]
        made["options"] = [{"value": pair[0], "label": pair[-1]} for pair in pairs]
    return made | values


def served(*fields: dict[str, Any], **section: Any) -> Sections:
    """One section of `fields`, checked, stored and served as any other; the consent is its last."""
    structure = clean([{"title": "About you", "description": "", "fields": list(fields)} | section])
    return serve(Form(structure=structure, language="en"), None)[0]


def application() -> Sections:
    """Every type, and conditions three deep."""
    why = field("why", "textarea", required=True, on_value="later")
    when = field(
        "when",
        "radio-group",
        "soon",
        "later",
        required=True,
        on_value="no",
        conditional=[why],
        css="col-6",
    )
    number = field("permit_number", on_value="yes", css="col-6")
    nights = field("nights", "range", required=True, on_value="night")
    language = {"name": "extra_name", "label": "Another language"}
    accent = field("accent", "checkbox", on_value="5")
    return served(
        field("first_name", required=True, css="col-6"),
        field("last_name", required=True, css="col-6"),
        field("email", "email", required=True, css="col-8"),
        field("phone", "tel", css="col-4"),
        field("birth_date", "date", css="col-4"),
        field("permit", "select", "yes: Yes", "no: No", required=True, conditional=[number, when]),
        field(
            "regimes",
            "checkbox-group",
            "day: Days",
            "night: Nights",
            "weekend: Week-ends",
            required=True,
            conditional=[nights],
        ),
        field(
            "drives",
            "checkbox",
            conditional=[field("licence", "select", "b", "c", required=True, on_value="1")],
        ),
        field("english", "range", required=True),
        field("extra", "range", label=language, conditional=[accent]),
        field("source", "radio-group", "friend", "fair", css="col-3"),
        field("letter", "file"),
        description=(
            "<p>It takes <b>two minutes</b>: <a href='https://example.com/'>how we work</a>.</p>"
        ),
    )


def focused(page: Any) -> str:
    return str(page.evaluate("document.activeElement.name || document.activeElement.className"))


def tab_to(page: Any, name: str) -> None:
    """Press Tab until the focus is on `name`, as somebody without a mouse does."""
    for _ in range(15):
        page.keyboard.press("Tab")
        if focused(page) == name:
            return
    raise AssertionError(f"{name} is out of reach: the focus is on {focused(page)!r}")


def assert_accessible(page: Any) -> None:
    assert findings(page) == []
