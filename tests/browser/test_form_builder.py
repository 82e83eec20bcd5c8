"""Recruiters build application forms: by mouse, by keyboard, in their language."""

from typing import Any

import pytest

from forms_structure import operations
from forms_structure.models import Form
from forms_structure.presets import presets
from jobsite.text.html import visible_text
from tests.browser.accessibility import both_findings
from tests.browser.form_builder import (
    Desk,
    field,
    make_anna,
    make_form,
    names,
    open_desk,
    options,
    section,
    stored,
    two_sections,
)
from tests.factories import make_vacancy

anna = pytest.fixture(make_anna)
desk = pytest.fixture(open_desk)


def test_form_is_built_by_mouse(desk: Desk) -> None:
    page = desk.page
    page.goto(f"{desk.site}/admin/forms_structure/form/add/")
    page.fill("#id_name", "Engineers")
    page.click("[name=_save]")
    form = Form.objects.get()
    vacancy = make_vacancy(form=form)
    desk.open(form)

    page.get_by_role("heading", name="What do you want to ask?").wait_for()
    desk.button("Personal data").click()
    desk.button("Add a field to Personal data").click()
    page.locator("[data-type=select]").click()
    page.keyboard.type("Driving licence")
    page.get_by_label("Required").check()
    page.get_by_label("Half").check()
    inputs = page.get_by_label("Option", exact=True)
    inputs.nth(0).fill("Car")
    inputs.nth(1).fill("Truck")
    desk.button("Show a field when chosen: Truck").click()
    page.locator("[data-type=date]").click()
    page.keyboard.type("Valid until")

    # The preview shows the new field, and once another option is chosen it hides what depends on
    # the first.
    preview = desk.preview
    preview.get_by_label("Valid until").wait_for()
    preview.get_by_label("Driving licence").select_option(label="Car")
    preview.get_by_label("Valid until").wait_for(state="hidden")
    preview.get_by_label("Driving licence").select_option(label="Truck")
    preview.get_by_label("Valid until").wait_for()

    # It can be tried out: the rules are those of the schema that a public site gets.
    desk.ready()
    preview.get_by_role("button", name="Send application").click()
    preview.get_by_role("alert").get_by_role("link", name="Last name").wait_for()

    # What is clicked there is selected here, and the other way round.
    preview.get_by_label("First name").click()
    page.locator("li.is-selected", has_text="First name").wait_for()
    desk.row("Valid until").click()
    preview.locator("[data-name=valid_until].is-selected").wait_for()

    desk.button("Save").click()
    desk.button("Change it for all").click()
    desk.saved(2)
    [served] = page.request.get(f"{desk.site}/v1/vacancies/{vacancy.pk}/form").json()["data"]
    assert names(served["fields"]) == [
        "first_name",
        "last_name",
        "email",
        "phone",
        "driving_licence",
        "privacy_consent",
    ]
    assert served["fields"][4] == {
        "name": "driving_licence",
        "type": "select",
        "label": "Driving licence",
        "required": True,
        "css": "col-6",
        "options": [
            {"name": "driving_licence", "value": "car", "label": "Car"},
            {"name": "driving_licence", "value": "truck", "label": "Truck"},
        ],
        "conditional": [
            {
                "name": "valid_until",
                "type": "date",
                "label": "Valid until",
                "required": False,
                "css": "col-12",
                "on_value": "truck",
            }
        ],
    }


def test_email_field_says_who_applies(desk: Desk) -> None:
    page, form = desk.page, make_form(structure=[])
    desk.open(form)
    warning = page.locator(".builder-warning")
    warning.get_by_text("Nobody can apply with this form yet").wait_for()
    desk.button("Section", exact=True).click()
    desk.button("Add a field to Section without a title").click()
    page.locator("[data-type=email]").click()
    page.keyboard.type("Mail")
    role = page.get_by_label("Says about the applicant")
    assert role.input_value() == "email"
    assert page.get_by_label("Required").is_checked()
    warning.wait_for(state="hidden")

    # Each role once: a second section and a copy leave it out, and it cannot be chosen again.
    desk.button("Personal data").click()
    page.locator(".builder-name", has_text="E-mail address").click()
    assert role.input_value() == ""
    assert role.locator("option[value=email]").is_disabled()
    desk.row("First name").click()
    desk.button("Duplicate field").click()
    assert role.input_value() == ""
    desk.save(2)

    mail, *_ = stored(form)[0]["fields"]
    assert (mail["name"], mail["role"], mail["required"]) == ("mail", "email", True)
    personal = {each["name"]: each.get("role") for each in stored(form)[1]["fields"]}
    assert personal == {
        "first_name": "given_name",
        "first_name_2": None,
        "last_name": "family_name",
        "email": None,
        "phone": "phone",
    }

    # A role moves with its field. Another type loses it.
    desk.row("Mail").click()
    role.select_option(label="Nothing in particular")
    warning.wait_for()
    role.select_option(label="E-mail address of the applicant")
    warning.wait_for(state="hidden")
    page.get_by_label("Type", exact=True).select_option("text")
    page.get_by_role("dialog").get_by_text("what it says about the applicant").wait_for()
    page.get_by_role("dialog").get_by_role("button", name="Change the type").click()
    warning.wait_for()
    desk.save(3)
    assert "role" not in stored(form)[0]["fields"][0]


def test_form_is_built_by_keyboard(desk: Desk) -> None:
    page, form = desk.page, make_form(structure=[])
    desk.open(form)
    press, write = page.keyboard.press, page.keyboard.type

    desk.button("Section", exact=True).press("Enter")
    write("About you")
    desk.button("Add a field to About you").press("Enter")
    press("Enter")  # the first type has the focus
    write("Full name")
    desk.button("Add a field to About you").press("Enter")
    page.locator("[data-type=radio-group]").press("Enter")
    write("Can you drive?")
    for label in ("Yes", "No", "A bit"):
        press("Enter")  # from the label to the first option, from each option to the next
        write(label)
    desk.button("Show a field when chosen: Yes").press("Enter")
    page.locator("[data-type=text]").press("Enter")
    write("Since when?")

    desk.row("Can you drive?").press("Enter")
    desk.button("Move field up").press("Enter")
    desk.announced("Moved Can you drive? to About you, 1 of 2")
    # The focus stays on what moved.
    assert page.evaluate("document.activeElement.dataset.part") == "up"
    press("Enter")
    desk.announced("Can you drive? is already first")

    # Out of the condition by a step, and back by name.
    desk.row("Since when?").focus()
    press("Alt+ArrowDown")
    desk.announced("Moved Since when? to About you, 2 of 3")
    press("Enter")
    desk.button("Move to…").press("Enter")
    page.get_by_label("Section or condition").select_option(label="Can you drive?: when “No”")
    page.get_by_role("dialog").get_by_role("button", name="Move").press("Enter")
    desk.announced("Moved Since when? to Can you drive?, “No”, 1 of 1")

    press("Control+s")
    desk.saved(2)
    [saved] = stored(form)
    assert names(saved["fields"]) == ["can_you_drive", "full_name"]
    assert names(saved["fields"][0]["conditional"]) == ["since_when"]
    assert saved["fields"][0]["conditional"][0]["on_value"] == "no"
    assert [option["label"] for option in saved["fields"][0]["options"]] == ["Yes", "No", "A bit"]


def test_dragging_changes_form_and_page(desk: Desk) -> None:
    form = make_form()
    desk.open(form)

    def handle(label: str) -> Any:
        return desk.node(label).locator(".builder-handle").first

    desk.drag(handle("First name"), desk.row("Years"), below=True)
    desk.announced("Moved First name to Experience, 2 of 3")
    expected = [
        "Personal data",
        "Last name",
        "Experience",
        "Years",
        "First name",
        "Licence",
        "Which one",
    ]
    assert desk.rows() == expected

    desk.row("Licence").click()
    no = desk.node("Licence").locator("li.is-choice").nth(1)
    desk.drag(
        no.locator(".builder-handle").first, desk.node("Licence").locator("li.is-choice").first
    )
    desk.announced("Moved No to Licence, 1 of 2")
    assert [each.input_value() for each in desk.page.get_by_label("Option", exact=True).all()] == [
        "No",
        "Yes",
    ]

    desk.row("Licence").click()  # closed again, all of it is on the screen

    # A condition takes in a field that is dropped on it; dragged out again, the field stands on its
    # own.
    desk.drag(handle("Last name"), desk.row("Which one"), below=True)
    desk.announced("Moved Last name to Licence, “Yes”")
    desk.drag(handle("Which one"), desk.row("Years"))
    desk.announced("Moved Which one to Experience, 1 of 4")
    assert desk.rows() == [
        "Personal data",
        "Experience",
        "Which one",
        "Years",
        "First name",
        "Licence",
        "Last name",
    ]

    desk.drag(handle("Experience"), desk.row("Personal data"))
    desk.announced("Moved Experience, 1 of 2")
    desk.save(2)
    [experience, personal] = stored(form)
    assert (experience["title"], personal) == ("Experience", section("Personal data"))
    assert names(experience["fields"]) == ["which_one", "years", "first_name", "licence"]
    assert experience["fields"][3]["options"] == options("No", "Yes")
    assert experience["fields"][3]["conditional"] == [field("last_name") | {"on_value": "yes"}]
    assert "on_value" not in experience["fields"][0]


def test_every_change_can_be_undone_and_redone(desk: Desk) -> None:
    page = desk.page
    desk.open(make_form())
    before = desk.rows()

    desk.row("Years").click()
    page.get_by_label("Label").fill("")
    page.get_by_label("Label").press_sequentially("Years of work")  # many letters, one step
    desk.button("Delete field").click()
    desk.row("Years of work").wait_for(state="hidden")
    page.locator(".builder-toast").get_by_role("button", name="Undo").click()
    desk.row("Years of work").wait_for()

    desk.row("Personal data").press("Control+z")
    desk.row("Years of work").wait_for(state="hidden")
    assert desk.rows() == before
    assert desk.button("Undo").is_disabled()
    page.locator(".builder-state", has_text="Saved, version 1").wait_for()
    page.keyboard.press("Control+Shift+z")
    desk.row("Years of work").wait_for()
    page.keyboard.press("Control+y")
    desk.row("Years of work").wait_for(state="hidden")
    page.locator(".builder-state", has_text="Unsaved changes").wait_for()


def test_options_are_pasted_and_deleting_conditions_needs_confirmation(desk: Desk) -> None:
    page, form = desk.page, make_form()
    desk.open(form)
    desk.row("Licence").click()
    paste = """(input, text) => {
        const clipboardData = new DataTransfer();
        clipboardData.setData("text/plain", text);
        input.dispatchEvent(new ClipboardEvent("paste", {clipboardData, bubbles: true, cancelable: true}));
    }"""
    last = page.get_by_label("Option", exact=True).nth(1)
    last.evaluate(paste, "Soon\n- Maybe\n\nNo way")
    assert [each.input_value() for each in page.get_by_label("Option", exact=True).all()] == [
        "Yes",
        "No",
        "Soon",
        "Maybe",
        "No way",
    ]

    desk.button("Delete option").first.click()
    page.get_by_role("dialog", name="Delete the option “Yes”?").get_by_text("Which one").wait_for()
    desk.button("Cancel").click()
    page.get_by_label("Type").select_option("checkbox-group")  # options and conditions fit
    page.get_by_label("Type").select_option("date")
    dialog = page.get_by_role("dialog", name="Change the type to “Date”?")
    dialog.get_by_text("This removes its 5 options and the field that depends on it.").wait_for()
    dialog.get_by_role("button", name="Cancel").click()
    desk.save(2)
    saved = stored(form)[1]["fields"][1]
    assert saved["type"] == "checkbox-group"
    assert [option["value"] for option in saved["options"]] == [
        "yes",
        "no",
        "soon",
        "maybe",
        "no_way",
    ]
    assert names(saved["conditional"]) == ["which_one"]


def test_section_text_keeps_its_markup(desk: Desk) -> None:
    page, form = desk.page, make_form()
    text = '<h3>Before you <em>start</em></h3><ul><li>One</li></ul><p><a href="https://example.com/">More</a></p>'
    structure = [two_sections()[0] | {"description": text}]
    operations.save(form, operations.FormEdit(structure))
    desk.open(form)
    desk.row("Personal data").click()
    area = page.get_by_role("textbox", name="Text", exact=True)
    area.press("Control+End")
    page.keyboard.press("Enter")
    page.keyboard.type("Questions? ")
    desk.button("Bold").click()
    page.keyboard.type("Call us")
    page.keyboard.press("Shift+Home")
    desk.button("Link", exact=True).click()
    page.keyboard.type("an@example.com")
    page.keyboard.press("Enter")
    desk.preview.get_by_role("link", name="Call us").wait_for()
    desk.save(3)
    description = stored(form)[0]["description"]
    assert description.startswith(text)
    assert visible_text(description).endswith("More Questions? Call us")
    assert '<a href="mailto:an@example.com">' in description


def test_names_of_javascript_properties_are_valid(desk: Desk) -> None:
    page = desk.page
    odd = ["constructor", "toString", "hasOwnProperty", "valueOf", "submit", "append"]
    form = make_form(structure=[section("Odd", *[field(name) for name in odd])])
    desk.open(form)
    desk.preview.get_by_label("Constructor").fill("me")
    desk.button("Add a field to Odd").click()
    page.locator("[data-type=text]").click()
    page.keyboard.type("Constructor")
    desk.preview.locator("[data-name=constructor_2]").wait_for()
    assert desk.preview.get_by_label("Constructor").first.input_value() == "me"
    desk.save(2)
    assert names(stored(form)[0]["fields"]) == [*odd, "constructor_2"]


def test_errors_are_shown_at_their_fields(desk: Desk) -> None:
    page, form = desk.page, make_form()
    desk.open(form)
    desk.row("Years").click()
    desk.button("Details").click()
    page.get_by_label("Name", exact=True).fill("last name")
    desk.row("Licence").click()
    page.get_by_label("Option", exact=True).nth(1).fill("")
    page.get_by_label("Name of the form").fill("")

    desk.button("Save").click()
    page.get_by_text("This field is required.").wait_for()
    desk.button("3 to correct").click()
    desk.node("Years").locator(".builder-fault", has_text="1 error").wait_for()
    desk.node("Licence").locator(".builder-fault", has_text="1 error").wait_for()
    name = page.get_by_label("Name", exact=True)
    assert name.evaluate("input => input === document.activeElement")
    assert (
        "Must be a letter"
        in page.locator(f"#{name.get_attribute('aria-describedby')}").inner_text()
    )

    name.fill("last_name")  # checked while it is written
    page.get_by_text("'last_name' is also the name of “Last name”.").wait_for()
    # Whether it can accept applications is unknown while there are errors.
    page.locator(".builder-warning").wait_for(state="hidden")
    name.fill("years_of_work")
    desk.button("2 to correct").click()
    page.keyboard.type("Never")
    page.get_by_label("Name of the form").fill("Engineers")
    desk.save(2)
    assert Form.objects.get().name == "Engineers"
    assert names(stored(form)[1]["fields"]) == ["years_of_work", "licence"]
    assert stored(form)[1]["fields"][1]["options"][1] == {"value": "no", "label": "Never"}


def test_builder_uses_the_language_of_the_user(desk: Desk) -> None:
    page, form = desk.page, make_form()
    page.set_extra_http_headers({"Accept-Language": "nl"})
    desk.open(form)
    page.get_by_text("Nog door geen enkele vacature gebruikt").wait_for()

    desk.row("Licence").click()
    desk.button("Optie omlaag").first.click()
    desk.announced("Yes verplaatst naar Licence, 2 van 2")
    desk.button("Een veld tonen bij deze keuze: No").wait_for()
    desk.button("Details").click()
    page.get_by_label("Naam", exact=True).fill("years")
    page.get_by_text("'years' is ook de naam van “Years”.").wait_for()
    desk.button("Veld verwijderen").click()
    page.locator(".builder-toast", has_text="“Licence” verwijderd.").wait_for()
    desk.button("Een veld toevoegen aan Experience").click()
    desk.button("Datum", exact=True).click()
    page.keyboard.type("Vanaf")
    desk.preview.get_by_label("Vanaf").wait_for()
    # The form speaks English.
    desk.preview.get_by_role("button", name="Send application").wait_for()
    desk.button("Opslaan").click()
    page.locator(".builder-state", has_text="Opgeslagen, versie 2").wait_for()
    assert [field["type"] for field in stored(form)[1]["fields"]] == ["text", "date"]


def test_builder_without_a_catalog_is_english(desk: Desk) -> None:
    form = make_form()
    desk.page.set_extra_http_headers({"Accept-Language": "nl"})
    desk.page.route("**/admin/texts.js", lambda route: route.abort())
    desk.open(form)
    desk.row("Years").click()
    desk.button("Delete field").click()
    desk.save(2)
    assert names(stored(form)[1]["fields"]) == ["licence"]


def test_builder_is_accessible(desk: Desk) -> None:
    page = desk.page
    found = []
    form = make_form(structure=[preset["section"] for preset in presets("en")])
    vacancy = make_vacancy(form=form)
    make_vacancy(form=form)

    def check(what: str, within: str = "#builder") -> None:
        found.extend(
            each for each in both_findings(page, what, within) if "target-size" not in each
        )

    desk.open(make_form("Empty", []))
    check("empty")
    desk.open(form, f"?for={vacancy.pk}")
    check("filled")
    desk.row("Personal data").click()
    check("section")
    desk.row("Do you have experience").click()
    desk.button("Details").click()
    desk.button("Show a field when chosen: No").click()
    check("field, types")
    page.locator("[data-type=range]").click()
    desk.button("Save").click()
    page.get_by_role("dialog").wait_for()
    check("use")
    desk.button("Change it for all").click()
    desk.button("1 to correct").wait_for()
    check("errors")
    desk.button("Move to…").click()
    check("move")
    page.keyboard.press("Escape")
    desk.button("Copy a section from another form…").click()
    page.get_by_role("dialog").get_by_text("This form has no sections.").wait_for()
    check("copy")
    page.keyboard.press("Escape")
    desk.button("Delete field").click()
    check("deleted")
    desk.ready()
    operations.save(form, operations.FormEdit([section("Short", field("first_name"))]))
    page.goto(f"{desk.site}/admin/forms_structure/form/{form.pk}/history/")
    page.locator("details").first.wait_for()
    check("versions", "#content")
    assert found == [], "\n".join(found)


def test_typing_in_a_large_form_renders_one_row(desk: Desk) -> None:
    page = desk.page
    fields = [[field(f"f_{s}_{n}", f"Question {s}.{n}") for n in range(10)] for s in range(40)]
    form = make_form(structure=[section(f"Section {s}", *each) for s, each in enumerate(fields)])
    desk.open(form)
    desk.button("Expand all").click()
    desk.row("Question 39.9").click()
    page.evaluate(
        """() => {
          window.added = 0;
          const count = (all) => all.forEach((each) => { window.added += each.addedNodes.length; });
          const all = { childList: true, subtree: true };
          new MutationObserver(count).observe(document.querySelector("#builder"), all);
        }"""
    )
    page.get_by_label("Label").press_sequentially("New: ")
    desk.save(2)
    assert page.evaluate("added") < 100
    assert stored(form)[39]["fields"][9]["label"] == "New: Question 39.9"
