"""The reference renderer: what the form operation serves, as a form that everybody can fill in."""

from pathlib import Path
from typing import Any

import pytest

from forms_structure.models import Form
from forms_structure.structure import clean
from tests.browser.accessibility import all_findings
from tests.browser.form_renderer import (
    application,
    assert_accessible,
    checked,
    field,
    focused,
    open_page,
    render,
    served,
    tab_to,
)
from tests.factories import make_vacancy

page = pytest.fixture(open_page)


def sideways(page: Any) -> int:
    """By how many pixels the page is wider than its window."""
    return int(page.evaluate("document.documentElement.scrollWidth - innerWidth"))


# --- filling in ---


def test_filled_in_with_the_keyboard_alone(page: Any) -> None:
    sections = application()
    render(page, sections, schema=checked(sections))
    keys = page.keyboard

    for name, text in {
        "first_name": "  Zoë ",
        "last_name": "Peeters",
        "email": "zoe@example.com",
        "phone": "+32 470 12 34 56",
        "birth_date": "01312000",
    }.items():
        tab_to(page, name)
        keys.type(text)
    tab_to(page, "permit")
    keys.press("ArrowDown")
    tab_to(page, "permit_number")  # shows for a yes only
    keys.type("A-1")
    keys.press("Shift+Tab")
    keys.press("ArrowDown")
    tab_to(page, "when")
    keys.press("ArrowDown")
    tab_to(page, "why")
    keys.type("Papers.")
    keys.press("Enter")
    keys.type("Many.")
    tab_to(page, "regimes")
    keys.press("Tab")
    keys.press("Space")
    keys.press("Tab")
    tab_to(page, "nights")
    keys.press("Space")
    tab_to(page, "drives")
    keys.press("Space")
    tab_to(page, "licence")
    keys.press("c")
    tab_to(page, "english")
    for _ in range(3):
        keys.press("ArrowRight")
    tab_to(page, "extra_name")
    keys.type("Frisian")
    tab_to(page, "extra")
    keys.press("ArrowLeft")  # from "No answer" to the best
    tab_to(page, "accent")
    keys.press("Space")
    tab_to(page, "privacy_consent")
    keys.press("Space")
    tab_to(page, "job-form-send")
    keys.press("Enter")

    assert page.evaluate("sent") == [
        {
            "first_name": "Zoë",
            "last_name": "Peeters",
            "email": "zoe@example.com",
            "phone": "+32 470 12 34 56",
            "birth_date": "2000-01-31",
            "permit": "no",
            "when": "later",
            "why": "Papers.\nMany.",
            "regimes": ["night"],
            "nights": "0",
            "drives": "1",
            "licence": "c",
            "english": "3",
            "extra_name": "Frisian",
            "extra": "5",
            "accent": "1",
            "privacy_consent": "1",
        }
    ]


def test_missing_answers_are_reported_and_focused(page: Any) -> None:
    sections = application()
    render(page, sections, schema=checked(sections))
    tab_to(page, "first_name")
    page.keyboard.press("Enter")  # sends, as in every form

    summary = page.get_by_role("alert")
    assert page.evaluate("sent") == []
    assert focused(page) == "job-form-summary"
    # Required fields of conditions that are closed are not asked for.
    assert summary.get_by_role("listitem").all_inner_texts() == [
        "Your first_name – Please fill this in.",
        "Your last_name – Please fill this in.",
        "Your email – Please fill this in.",
        "Your permit – Please make a choice.",
        "Your regimes – Please make a choice.",
        "Your english – Please make a choice.",
        "I agree that my data is kept and used for this application. – Please tick this box.",
    ]
    email = page.get_by_label("Your email")
    assert email.get_attribute("aria-invalid") == "true"
    assert (
        email.evaluate("node => node.ariaDescribedByElements[0].textContent")
        == "Please fill this in."
    )
    assert_accessible(page)

    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert focused(page) == "email"

    # Once told of, an error goes away when it is put right, and not before.
    page.keyboard.type("zoe")
    page.keyboard.press("Tab")
    assert email.get_attribute("aria-invalid") == "true"
    email.fill("zoe@example.com")
    page.keyboard.press("Tab")
    assert email.get_attribute("aria-invalid") is None
    assert summary.get_by_role("listitem").count() == 6
    assert page.get_by_text("Please write an e-mail address").count() == 0


def test_invalid_answers_are_reported(page: Any) -> None:
    sections = application()
    values = {
        "email": "zoe",
        "phone": "later",
        "extra_name": "Frisian",
        "when": "soon",
        "permit": "no",
    }
    values["first_name"] = "Z" * 201
    render(page, sections, schema=checked(sections), values=values)
    page.locator("[name=birth_date]").press_sequentially("0131")  # and no year

    reported = {each["name"]: each["message"] for each in page.evaluate("form.check()")}
    assert {
        name: reported.get(name)
        for name in ("first_name", "email", "phone", "birth_date", "extra", "when")
    } == {
        "first_name": "Please use at most 200 characters.",
        "email": "Please write an e-mail address such as name@example.com.",
        "phone": "Please write a telephone number such as +32 470 12 34 56.",
        "birth_date": "Please write a complete date.",
        "extra": "Please make a choice.",  # a language comes with its level
        "when": None,
    }


def test_without_a_schema_nothing_is_checked(page: Any) -> None:
    render(page, application())
    page.get_by_role("button", name="Send application").click()
    page.evaluate("form.element.requestSubmit()")  # as scripts do
    assert page.evaluate("sent") == [{}, {}]


def test_earlier_answers_are_restored(page: Any) -> None:
    sections = application()
    values = {
        "first_name": "Zoë",
        "permit": "no",
        "when": "later",
        "why": "Papers.\nMany.",
        "regimes": ["day", "weekend"],
        "english": "2",
        "extra": "5",
        "extra_name": "Frisian",
        "privacy_consent": "1",
    }
    gone = {
        "source": "television",
        "licence": "z",
        "nights": "1",
        "letter": "me.pdf",
        "constructor": "x",
    }
    render(page, sections, values=values | gone)
    assert page.evaluate("form.values()") == values

    # The parts of a condition that closes are not sent; they are there again when it opens again.
    permit = page.get_by_label("Your permit *")
    permit.select_option("yes")
    shown = {name: value for name, value in values.items() if name not in ("when", "why")}
    assert page.evaluate("form.values()") == shown | {"permit": "yes"}
    assert page.evaluate("Object.fromEntries(new FormData(form.element)).when") is None
    permit.select_option("no")
    assert page.evaluate("form.values()") == values


def test_an_answer_can_be_taken_back(page: Any) -> None:
    render(page, application(), values={"source": "fair", "permit": "yes"})
    page.get_by_role("radiogroup", name="Your source").get_by_label("No answer").check()
    page.get_by_label("Your permit *").select_option("")
    assert page.evaluate("form.values()") == {}

    page.get_by_label("Your permit *").select_option("yes")
    page.evaluate("form.element.reset()")
    page.locator("[name=permit_number]").wait_for(state="hidden")
    assert page.evaluate("form.values()") == {}


def test_shows_a_field_wherever_it_is(page: Any) -> None:
    render(page, application())
    assert not page.get_by_label("Your why").is_visible()
    page.evaluate("form.show('why')")
    assert focused(page) == "why"
    assert page.evaluate("form.values()") == {"permit": "no", "when": "later"}
    page.evaluate("form.show('nowhere')")
    assert focused(page) == "why"


def test_file_is_sent_beside_the_submission(page: Any, tmp_path: Path) -> None:
    letter = tmp_path / "letter.pdf"
    letter.write_bytes(b"Dear all")
    render(page, application())
    page.set_input_files("[name=letter]", letter)
    assert page.evaluate("form.values()") == {"letter": "letter.pdf"}
    assert page.evaluate("new FormData(form.element).get('letter').text()") == "Dear all"


def test_as_the_documentation_has_it(page: Any) -> None:
    """Both operations fetched by a page, in the form's language."""
    structure = clean(
        [{"title": "", "description": "", "fields": [field("first_name", required=True)]}]
    )
    form = Form.objects.create(name="Short", language="nl", structure=structure)
    vacancy = make_vacancy(form=form)
    page.evaluate(
        """async (address) => {
          const [form, rules] = await Promise.all([fetch(address), fetch(`${address}/schema`)]);
          const { data: sections } = await form.json();
          const { version, schema } = (await rules.json()).data;
          const language = form.headers.get("Content-Language");
          const onSubmit = (values) => { window.sent = { version, values }; };
          renderer.render(document.querySelector("#form"), sections, { schema, language, onSubmit });
        }""",
        f"/v1/vacancies/{vacancy.pk}/form",
    )
    page.get_by_label("Your first_name").fill("Zoë")
    page.get_by_label("Ik ga ermee akkoord").check()
    page.get_by_role("button", name="Sollicitatie versturen").click()
    sent = page.evaluate("sent")
    assert sent["values"] == {"first_name": "Zoë", "privacy_consent": "1"}
    assert len(sent["version"]) == 16


# --- looks, words, surroundings ---


def test_accessible_empty_and_with_errors(page: Any) -> None:
    look = {"colorScheme": "light dark", "background": "Canvas"}  # axe wants to know its ground
    page.evaluate("look => Object.assign(document.documentElement.style, look)", look)
    sections = application()
    render(page, sections, schema=checked(sections))
    found = all_findings(page, "empty")
    page.evaluate("form.show('why')")
    page.evaluate("form.show('nights')")
    page.evaluate("form.check()")
    assert found + all_findings(page, "errors") == []


def test_nothing_breaks_the_layout(page: Any) -> None:
    word = "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft" * 3
    many = [f"v{number}: {'place' if number % 100 else word} {number}" for number in range(1_000)]
    sections = served(
        field("place", "select", *many, css="col-3", required=True),
        field("word", css="col-3", label=word),
        field("words", "checkbox-group", f"a: {word}", label=word, required=True),
        field("level", "range", label={"name": "tongue", "label": word}, css="col-3"),
        title=word[:300],
        description=f"<p>{word}</p>",
    )
    render(page, sections, schema=checked(sections))
    for width in (1400, 700, 360):
        page.set_viewport_size({"width": width, "height": 900})
        assert sideways(page) == 0
    page.evaluate("form.check()")
    assert sideways(page) == 0
    assert len(page.get_by_role("alert").get_by_role("link").all_inner_texts()[1]) == 100


def test_own_texts_are_translated(page: Any) -> None:
    sections = application()
    output = {}
    for language in ("en", "nl", "fr", "de", "constructor"):
        render(page, sections, schema=checked(sections), language=language)
        page.evaluate("form.check()")
        output[language] = (
            page.locator("button").inner_text(),
            page.get_by_role("alert").locator("p").inner_text(),
            page.locator("[data-name=extra] legend").inner_text(),
        )
    assert output == {
        "en": (
            "Send application",
            "Some answers still need your attention",
            "Another language: level",
        ),
        "nl": (
            "Sollicitatie versturen",
            "Enkele antwoorden vragen nog aandacht",
            "Another language: niveau",
        ),
        "fr": (
            "Envoyer la candidature",
            "Certaines réponses sont à revoir",
            "Another language : niveau",
        ),
        "de": (
            "Bewerbung absenden",
            "Einige Angaben sind noch zu prüfen",
            "Another language: Niveau",
        ),
        "constructor": output["en"],
    }
    assert "undefined" not in page.locator("#form").inner_text()


def test_two_forms_on_a_page_are_independent(page: Any) -> None:
    page.evaluate(
        """(sections) => {
          for (const part of ["one", "two"]) {
            const target = document.createElement("div");
            document.querySelector("#form").append(target);
            renderer.render(target, sections);
          }
        }""",
        served(field("name"), field("error-name"), field("choice1-name", "radio-group", "a", "b")),
    )
    ids = page.evaluate("Array.from(document.querySelectorAll('[id]'), (node) => node.id)")
    assert len(ids) == len(set(ids)) > 20


# --- hostile ---


def test_names_that_are_properties_of_a_form(page: Any) -> None:
    """A field hides the property of its name on the form element;
    the renderer reads none of them.
    """
    names = [
        "constructor",
        "submit",
        "length",
        "id",
        "append",
        "elements",
        "addEventListener",
        "hidden",
        "ownerDocument",
        "toString",
        "hasOwnProperty",
        "children",
        "parentNode",
    ]
    sections = served(
        *(field(name, required=True) for name in names),
        field("reset", "select", "valueOf", required=True),
    )
    render(page, sections, schema=checked(sections))
    assert len(page.evaluate("form.check()")) == len(names) + 2
    for name in (*names, "reset"):
        page.evaluate("name => form.show(name)", name)
        assert focused(page) == name
    values = {name: name for name in names} | {"reset": "valueOf", "privacy_consent": "1"}
    render(page, sections, schema=checked(sections), values=values)
    # Not page.click: Playwright, unlike the renderer, asks the form for its parentNode.
    page.evaluate("document.querySelector('button').click()")
    assert page.evaluate("sent") == [values]


def test_texts_run_no_script(page: Any) -> None:
    """The builder shows texts that no server has cleaned yet."""
    attack = "<img src=x onerror='window.hit = 1'><script>window.hit = 1</script>"
    description = (
        f"{attack}<p onclick='window.hit = 1' style='color: red'>Hello <u>you</u></p>"
        "<a href=' java\nscript:window.hit = 1'>one</a> <a href='https://example.com/'>two</a> "
        "<a href='data:text/html,x'>three</a> <svg><a xlink:href='javascript:window.hit = "
        "1'>four</a></svg>"
        "<iframe srcdoc='<script>parent.hit = 1</script>'></iframe><div><h2>Five</h2>six</div>"
        "<math><mi><style><img src=x onerror='window.hit = 1'></style></mi></math>"
    )
    labelled = field("a", "radio-group", label=attack)
    labelled["options"] = [{"value": attack, "label": attack}]
    box = field("b", "checkbox", link={"label": attack, "url": "javascript:window.hit = 1"})
    render(page, [{"title": attack, "description": description, "fields": [labelled, box]}])

    page.evaluate("document.querySelectorAll('#form *').forEach((node) => node.click())")
    assert page.locator(".job-form-description").inner_html() == (
        "<p>Hello <u>you</u></p><span>one</span> "
        '<a href="https://example.com/" target="_blank" rel="noopener">two</a> '
        "<span>three</span> <h2>Five</h2>six"
    )
    assert (
        page.locator("#form").locator("img, script, svg, iframe, math, [onclick], [style]").count()
        == 0
    )
    assert page.locator("h2").first.inner_text() == attack
    assert page.evaluate("window.hit ?? 'unharmed'") == "unharmed"


def test_incomplete_fields_are_rendered(page: Any) -> None:
    """The builder previews forms in the making."""
    half = [
        {"name": "a", "type": "select"},
        {"name": "b", "type": "checkbox-group", "required": True, "label": "B"},
        {"name": "c", "type": "yet-unknown", "label": "C"},
        {"name": "a", "type": "radio-group", "label": None, "options": []},
    ]
    render(
        page, [{"title": "", "description": None, "fields": half}], schema={"required": ["b", "d"]}
    )
    assert page.locator("[data-name]").count() == 4
    assert page.evaluate("form.check()") == [
        {"name": "b", "message": "Please make a choice."},
        {"name": "d", "message": "Please fill this in."},
    ]
    page.get_by_role("link", name="B").click()
