"""The server and form.js render the same markup."""

from typing import Any

import pytest
from django.template.loader import render_to_string

from forms_structure.rendering import AUTOCOMPLETE, form_context
from tests.browser.form_renderer import application, field, open_page, render, served
from tests.forms_structure.strategies import specimen

page = pytest.fixture(open_page)

# The markup as nested lists, without white space between elements, numbers of ids, and what only a
# page with scripts, or only one without them, has.
OUTLINE = """(form) => {
  const skipped = ["role", "hidden", "disabled"];
  const unnumbered = ({ name, value }) => [name, value.replace(/job-form-\\d+/, "job-form")];
  const attributes = (node) => Array.from(node.attributes, unnumbered)
    .filter(([name]) => !(node.matches(".job-form-condition") && skipped.includes(name)))
    .filter(([name]) => !(node.matches("form") && ["method", "action", "enctype"].includes(name)))
    .filter(([name]) => !(node.matches("a") && ["target", "rel"].includes(name))).sort();
  const outline = (node) => {
    if (node.nodeType === 3) return node.data.trim() ? [node.data.trim()] : [];
    if (node.nodeType !== 1 || node.matches(".job-form-foot, .job-form-condition > legend")) return [];
    return [[node.localName, attributes(node), ...Array.from(node.childNodes).flatMap(outline)]];
  };
  return outline(form);
}"""


@pytest.mark.parametrize("kind", ["application", "specimen", "names", "generated"])
def test_server_and_script_render_the_same_markup(page: Any, kind: str) -> None:
    made = {
        "application": application,
        "specimen": lambda: served(*[each for part in specimen() for each in part["fields"]]),
        "names": lambda: served(
            *map(field, AUTOCOMPLETE), field("f1", "email"), field("f2", "tel")
        ),
        "generated": lambda: served(
            field("a-b", "range", label='<b>"&', required=True), title="<i>"
        ),
    }
    sections = made[kind]()
    render(page, sections, language="en")
    ours = page.evaluate(f"({OUTLINE})(document.querySelector('form'))")
    html = render_to_string(
        "forms_structure/form.html",
        {"form": form_context(sections, language="en"), "action": "/apply/1", "hidden_inputs": {}},
    )
    theirs = page.evaluate(
        f"(html) => ({OUTLINE})(new DOMParser().parseFromString(html, "
        "'text/html').querySelector('form'))",
        html,
    )
    assert theirs == ours


def test_server_renders_what_was_typed_and_the_errors(page: Any) -> None:
    """The same state as form.js shows after a click on the button."""
    typed = {
        "first_name": ['"Zoë" <b>'],
        "permit": ["no"],
        "why": ["\nOne\n<two>"],
        "drives": ["1"],
        "regimes": ["night", "day"],
        "extra": ["3"],
    }
    errors = [
        ("last_name", "Please fill this in."),
        ("regimes", "No."),
        ("english", "Yes?"),
        ("", "In general."),
    ]
    html = render_to_string(
        "forms_structure/form.html",
        {
            "form": form_context(application(), language="en", typed=typed, errors=errors),
            "action": "/apply/1",
            "hidden_inputs": {"_a": '"'},
        },
    )
    page.evaluate("html => { document.querySelector('#form').innerHTML = html; }", html)
    posted = page.evaluate("Array.from(new FormData(document.querySelector('form')))")
    assert [pair for pair in posted if pair[1] and pair[0] != "letter"] == [
        ["_a", '"'],
        ["first_name", '"Zoë" <b>'],
        ["permit", "no"],
        ["why", "\nOne\n<two>"],
        ["regimes", "day"],
        ["regimes", "night"],
        ["drives", "1"],
        ["extra", "3"],
    ]
    assert page.get_by_role("alert").get_by_role("listitem").all_inner_texts() == [
        "Your last_name – Please fill this in.",
        "Your regimes – No.",
        "Your english – Yes?",
        "In general.",
    ]
    for name, count in (("last_name", 1), ("regimes", 3), ("english", 1)):
        assert page.locator(f"[data-name={name}] [aria-invalid=true]").count() == count
        described = f"#job-form-0-error-{name}"
        assert page.locator(f"[data-name={name}] {described}").is_visible()
    legends = page.locator(".job-form-condition > legend").all_inner_texts()
    assert legends[:3] == [
        "Only if you chose “Yes” for “Your permit”",
        "Only if you chose “No” for “Your permit”",
        "Only if you chose “later” for “Your when”",
    ]
    assert "Only if you ticked “Your drives”" in legends
