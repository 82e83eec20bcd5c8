"""The form builder saves: concurrently, for one vacancy or for all, as versions, with each
permission.
"""

import contextlib
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User

from forms_structure.models import Form
from tests.browser.form_builder import (
    Desk,
    field,
    licence,
    make_anna,
    make_form,
    names,
    open_desk,
    section,
    stored,
    two_sections,
)
from tests.factories import make_vacancy

anna = pytest.fixture(make_anna)
desk = pytest.fixture(open_desk)


def test_concurrent_save_of_a_form_overwrites_nothing(desk: Desk, chromium: Any) -> None:
    page, form = desk.page, make_form()
    bram = User.objects.create_superuser("bram", first_name="Bram", last_name="Maes")
    desk.open(form)
    context = chromium.new_context()
    other = Desk(context.new_page(), desk.site)
    other.sign_in(bram)
    other.open(form)
    other.row("Years").click()
    other.page.get_by_label("Label").fill("Years at work")
    other.save(2)
    context.close()

    desk.row("First name").click()
    page.get_by_label("Label").fill("Given name")
    desk.button("Save").click()
    dialog = page.get_by_role("dialog", name="Someone else saved this form")
    assert "Bram Maes saved version 2 at" in dialog.inner_text()
    assert "Nothing was overwritten." in dialog.inner_text()
    assert dialog.get_by_role("link").get_attribute("target") == "_blank"
    dialog.get_by_role("button", name="Keep editing").click()
    desk.button("Save").click()
    desk.button("Save my version as a copy").click()
    page.wait_for_url(lambda url: f"/{form.pk}/" not in url)
    desk.ready()

    assert stored(form)[1]["fields"][0]["label"] == "Years at work"
    assert stored(form)[0]["fields"][0]["label"] == "First name"
    copy = Form.objects.get(name="Copy of General")
    assert copy.structure[0]["fields"][0]["label"] == "Given name"


def test_form_in_use_shows_its_vacancies_and_keeps_its_names(desk: Desk) -> None:
    page, form = desk.page, make_form()
    vacancies = [make_vacancy(title=f"Nurse {n}", form=form) for n in range(3)]
    make_vacancy(title="Draft", form=form, status="draft")
    desk.open(form)
    page.get_by_text("Used by 4 vacancies, 3 of them published").click()
    page.get_by_role("link", name="Nurse 2").wait_for()

    desk.row("First name").click()
    desk.button("Details").click()
    assert not page.get_by_label("Name", exact=True).is_editable()
    page.get_by_text("Locked: published vacancies use this name").wait_for()
    page.get_by_label("Label").fill("Given name")
    desk.row("Years").click()
    desk.button("Delete field").click()

    desk.button("Save").click()
    dialog = page.get_by_role("dialog", name="Change it for all?")
    dialog.get_by_role("link", name="Nurse 1").wait_for()
    dialog.get_by_role("button", name="Change it for all").click()
    dialog = page.get_by_role("dialog", name="Remove these fields?")
    dialog.wait_for()
    assert dialog.get_by_role("listitem").all_inner_texts() == ["Years years"]
    dialog.get_by_role("button", name="Cancel").click()
    desk.ready()
    assert Form.objects.get().revision == 1
    desk.button("Save").click()  # who said "for all" once is not asked again
    desk.button("Remove and save").click()
    desk.saved(2)
    served = page.request.get(f"{desk.site}/v1/vacancies/{vacancies[0].pk}/form").json()["data"]
    assert served[0]["fields"][0]["name"] == "first_name"
    assert served[0]["fields"][0]["label"] == "Given name"
    assert names(served[1]["fields"]) == ["licence", "privacy_consent"]


def test_form_is_copied_for_one_vacancy(desk: Desk) -> None:
    page, form = desk.page, make_form()
    nurse, cook = make_vacancy(title="Nurse", form=form), make_vacancy(title="Cook", form=form)

    desk.open(form, f"?for={nurse.pk}")
    desk.row("First name").click()
    page.get_by_label("Label").fill("Given name")
    desk.button("Save").click()
    desk.button("Make a copy for “Nurse”").click()
    page.wait_for_url(f"**/change/?for={nurse.pk}")
    desk.ready()
    nurse.refresh_from_db()
    assert nurse.form.name == "General for Nurse"
    assert nurse.form.structure[0]["fields"][0]["label"] == "Given name"
    assert stored(form)[0]["fields"][0]["label"] == "First name"

    desk.open(form, f"?for={cook.pk}")
    desk.button("Add sections for this vacancy only").click()
    page.wait_for_url(lambda url: f"/{form.pk}/" not in url)
    desk.ready()
    page.get_by_text("from General, 2 fields").first.click()
    page.get_by_role("link", name="change it in “General”").first.wait_for()
    desk.button("CV and letter").click()
    desk.preview.get_by_label("Your CV").wait_for()
    desk.preview.get_by_label("First name").wait_for()
    desk.save(2)  # its only user is the vacancy that it was opened for: no question
    served = page.request.get(f"{desk.site}/v1/vacancies/{cook.pk}/form").json()["data"]
    assert [each["title"] for each in served] == ["Personal data", "Experience", "CV and letter"]
    assert len(stored(form)) == 2


def test_sections_of_another_form_are_copied(desk: Desk) -> None:
    page, form = desk.page, make_form("General")
    make_form(
        "Engineers", [section("Personal data", field("first_name")), section("Tools", licence())]
    )
    desk.open(form)
    desk.button("Copy a section from another form…").click()
    dialog = page.get_by_role("dialog", name="Copy a section from another form")
    dialog.get_by_label("Personal data").check()
    dialog.get_by_label("Tools").check()
    dialog.get_by_role("button", name="Copy").click()
    desk.announced("Added Personal data, Tools")
    desk.save(2)
    *_, personal, tools = stored(form)
    assert names(personal["fields"]) == ["first_name_2"]
    assert names(tools["fields"]) == ["licence_2"]
    assert names(tools["fields"][0]["conditional"]) == ["which_one_2"]


def test_earlier_versions_are_compared_and_restored(desk: Desk) -> None:
    page, form = desk.page, make_form()
    desk.open(form)
    desk.row("Years").click()
    page.get_by_label("Label").fill("Years at work")
    desk.save(2)

    page.get_by_role("link", name="History").click()
    changes = page.get_by_role("group", name="Changes of version 2")
    assert "Years [years]" in changes.locator(".is-removed").inner_text()
    assert "Years at work [years]" in changes.locator(".is-added").inner_text()
    desk.button("Restore version 1").click()
    desk.saved(3)
    desk.row("Years").wait_for()
    assert stored(form) == two_sections()


def test_leaving_unsaved_changes_needs_confirmation(desk: Desk) -> None:
    page, requested = desk.page, []
    desk.open(make_form())
    page.on("dialog", lambda dialog: (requested.append(dialog.type), dialog.dismiss()))
    desk.row("Years").click()
    page.get_by_label("Label").fill("Years at work")
    with contextlib.suppress(Exception):  # the browser calls a navigation that was refused an error
        page.goto(f"{desk.site}/admin/")
    assert requested == ["beforeunload"]
    desk.save(2)
    page.goto(f"{desk.site}/admin/")
    assert requested == ["beforeunload"]


# Not those of another form or user. The sign-out removes what has this prefix.
KEPT_FOR_THIS_FORM = """(text) => Object.entries(localStorage).some(([name, copy]) =>
  name.startsWith("unsaved:") && name.endsWith(location.pathname) && copy.includes(text))"""


def test_unsaved_changes_survive_a_closed_window(desk: Desk) -> None:
    page, form = desk.page, make_form()
    desk.open(form)
    desk.row("Years").click()
    page.get_by_label("Label").fill("Years at work")
    page.wait_for_function(KEPT_FOR_THIS_FORM, arg="Years at work")
    page.once("dialog", lambda dialog: dialog.accept())
    desk.open(form)
    page.locator(".builder-toast", has_text="Unsaved changes were restored.").wait_for()
    page.locator(".builder-toast").get_by_role("button", name="Undo").click()
    assert "Years" in desk.rows()
    page.get_by_role("button", name="Redo").click()
    desk.row("Years at work").wait_for()
    desk.save(2)
    assert stored(form)[1]["fields"][0]["label"] == "Years at work"
    desk.open(form)
    assert (
        page.evaluate("Object.keys(localStorage).filter((name) => name.startsWith('unsaved:'))")
        == []
    )


def test_work_on_a_form_continues_offline(desk: Desk) -> None:
    desk.open(make_form())
    desk.page.context.set_offline(True)
    desk.page.locator(
        ".builder-toast", has_text="You are offline. Your work is still here."
    ).wait_for()
    desk.page.context.set_offline(False)
    desk.page.locator(".builder-toast", has_text="You are online again.").wait_for()


def test_signing_out_loses_no_changes(desk: Desk, anna: User) -> None:
    page, form = desk.page, make_form()
    desk.open(form)
    desk.row("Years").click()
    page.get_by_label("Label").fill("Years at work")
    page.context.clear_cookies(name="sessionid")
    desk.button("Save").click()
    page.get_by_role("dialog").get_by_text("You are signed out. Your work is still here").wait_for()
    desk.button("Close", exact=True).click()
    desk.sign_in(anna)
    desk.save(2)
    assert stored(form)[1]["fields"][0]["label"] == "Years at work"


def test_view_only_user_reads_all_and_changes_nothing(desk: Desk) -> None:
    viewer = User.objects.create_user("viewer", is_staff=True)
    viewer.user_permissions.add(Permission.objects.get(codename="view_form"))
    desk.sign_in(viewer)
    desk.open(make_form())
    desk.row("Licence").click()
    assert desk.page.get_by_label("Label").is_disabled()
    assert desk.preview.get_by_label("First name").is_visible()
    for name in ("Save", "Undo", "Delete field", "Add a field to Experience", "Option"):
        assert desk.button(name, exact=True).count() == 0
