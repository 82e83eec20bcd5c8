"""Nothing that a recruiter types into the form of a vacancy is lost: when the session ends, the
connection is lost, the window is closed, or two people save.
"""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session

from tests.browser.admin import (
    ADMIN,
    PASSWORD,
    choose,
    findings,
    log_in,
    make_office,
    picture,
    save,
    sign_in,
    tab,
    visit,
)
from tests.factories import make_vacancy
from tests.servers import until
from vacancies.models import Autosave, Presence, Vacancy

office = pytest.fixture(make_office)

KEPT = "Unsaved changes are kept."


def open_form(page: Any, site: str, vacancy: Vacancy) -> str:
    address = f"{site}{ADMIN}{vacancy.pk}/change/"
    visit(page, address)
    return address


def says(page: Any, text: str) -> None:
    page.locator("[data-autosave] [role=status]", has_text=text).wait_for()


def say_nothing(page: Any) -> None:
    page.wait_for_function(
        "document.querySelector('[data-autosave] [role=status]').textContent === ''"
    )


def has_value(page: Any, field: str, text: str) -> None:
    """Wait until the page has restored the field: it may load twice."""
    script = "([field, text]) => document.querySelector(`#id_${field}`)?.value === text"
    page.wait_for_function(script, arg=[field, text])
    page.wait_for_load_state()


def report(page: Any) -> None:
    """Send the next report now, as the browser does when the window gets the focus."""
    page.evaluate("dispatchEvent(new Event('focus'))")


def test_input_survives_the_end_of_the_session(
    live_server: Any, browser_page: Any, office: User
) -> None:
    page, site = browser_page, live_server.url
    vacancy = make_vacancy(title="Nurse")
    log_in(page, site)
    address = open_form(page, site, vacancy)
    page.fill("#id_title", "Night nurse")
    page.get_by_role("textbox", name="Description", exact=True).fill("We care, always")
    says(page, KEPT)
    assert findings(page) == []

    Session.objects.all().delete()
    tab(page, "Job details")
    page.fill("#id_location", "Ghent")
    says(page, "You are signed out. Your text is kept in this browser.")
    assert page.get_by_role("link", name="Sign in in a new tab").get_attribute("target") == "_blank"
    save(page)
    assert "/admin/login/" in page.url
    sign_in(page)

    has_value(page, "location", "Ghent")
    page.get_by_text("Unsaved changes from").wait_for()
    assert page.url == address
    assert page.input_value("#id_title") == "Night nurse"
    assert "We care, always" in page.input_value("#id_description")
    assert findings(page) == []
    vacancy.refresh_from_db()
    assert vacancy.title == "Nurse"
    save(page)
    vacancy.refresh_from_db()
    assert (vacancy.title, vacancy.location) == ("Night nurse", "Ghent")
    visit(page, address)
    assert page.get_by_text("Unsaved changes from").count() == 0
    assert (
        page.evaluate("Object.keys(localStorage).filter((name) => name.startsWith('unsaved:'))")
        == []
    )


def test_session_that_ended_is_continued_from_another_tab(
    live_server: Any, browser_page: Any, office: User
) -> None:
    page, site = browser_page, live_server.url
    vacancy = make_vacancy(title="Nurse")
    log_in(page, site)
    open_form(page, site, vacancy)
    tab(page, "Media")
    page.set_input_files("#id_image", picture())
    tab(page, "Texts")
    Session.objects.all().delete()
    page.fill("#id_title", "Night nurse")
    says(page, "You are signed out.")
    with page.expect_popup() as opened:
        page.get_by_role("link", name="Sign in in a new tab").click()
    sign_in(opened.value)
    opened.value.close(run_before_unload=False)

    report(page)
    says(page, KEPT)
    save(page)

    vacancy.refresh_from_db()
    assert (vacancy.title, bool(vacancy.image)) == ("Night nurse", True)


def test_leaving_is_confirmed_only_with_unsaved_changes(
    live_server: Any, browser_page: Any, office: User
) -> None:
    page, site = browser_page, live_server.url
    vacancy = make_vacancy(title="Nurse", options={"regions": ["Leuven"]})
    asked: list[str] = []
    page.on("dialog", lambda dialog: (asked.append(dialog.type), dialog.accept()))
    log_in(page, site)
    address = open_form(page, site, vacancy)
    page.click("#id_title")
    visit(page, address)
    assert asked == []

    page.fill("#id_title", "Night nurse")
    says(page, KEPT)
    page.fill("#id_title", "Nurse")  # changed back
    say_nothing(page)
    assert not Autosave.objects.filter(data__isnull=False).exists()
    visit(page, address)
    assert asked == []

    tab(page, "Job details")
    choose(page, "regions", "Ghent")  # a change by a script
    visit(page, address)
    assert asked == ["beforeunload"]
    page.get_by_text("Unsaved changes from").wait_for()
    chosen = page.locator("#id_regions + .select2 .select2-selection__choice")
    tab(page, "Job details")
    chosen.nth(1).wait_for()
    assert [text.strip("×\n ") for text in chosen.all_inner_texts()] == ["Leuven", "Ghent"]

    with page.expect_navigation():
        page.get_by_role("button", name="Discard").click()
    page.get_by_text("Your unsaved changes were discarded.").wait_for()
    assert page.get_by_text("Unsaved changes from").count() == 0
    assert asked == ["beforeunload"]


def test_work_continues_offline(live_server: Any, browser_page: Any, office: User) -> None:
    page, site = browser_page, live_server.url
    vacancy = make_vacancy(title="Nurse")
    log_in(page, site)
    address = open_form(page, site, vacancy)
    context = page.context
    context.set_offline(True)
    page.fill("#id_title", "Night nurse")
    says(page, "You are offline. Your changes are kept in this browser.")
    context.set_offline(False)
    says(page, KEPT)
    assert Autosave.objects.get().data["title"] == ["Night nurse"]

    # Offline again, and the window is closed: only this browser has the last text.
    context.set_offline(True)
    says(page, "You are offline.")
    page.fill("#id_title", "Night nurse, Ghent")
    page.wait_for_function(
        "Object.values(localStorage).some((text) => text.includes('Night nurse, Ghent'))"
    )
    other = context.new_page()
    page.close(run_before_unload=False)
    context.set_offline(False)
    visit(other, address)
    has_value(other, "title", "Night nurse, Ghent")
    other.get_by_text("Unsaved changes from").wait_for()
    save(other)
    vacancy.refresh_from_db()
    assert vacancy.title == "Night nurse, Ghent"


def test_two_recruiters_edit_one_vacancy(live_server: Any, browser_page: Any, office: User) -> None:
    site = live_server.url
    User.objects.create_superuser("bob", password=PASSWORD, first_name="Bob", last_name="Maes")
    vacancy = make_vacancy(title="Nurse", description="<p>We care</p>")
    anna = browser_page
    bob = anna.context.browser.new_context().new_page()
    for page, name in ((anna, "anna"), (bob, "bob")):
        log_in(page, site, name)
        open_form(page, site, vacancy)

    # They see each other.
    bob.get_by_text("anna has been editing since").wait_for()
    report(anna)
    anna.get_by_text("Bob Maes has been editing since").wait_for()
    assert findings(anna) == []

    # Bob saves; Anna is told. What does not overlap is merged, the title is chosen.
    bob.fill("#id_title", "Night nurse")
    tab(bob, "Job details")
    bob.fill("#id_location", "Ghent")
    choose(bob, "regions", "Leuven")
    save(bob)
    report(anna)
    anna.get_by_text("Bob Maes saved this vacancy at").wait_for()
    anna.fill("#id_title", "Nurse for children")
    anna.get_by_role("textbox", name="Description", exact=True).fill("We care, always")
    save(anna)
    anna.get_by_role("heading", name="Choose between two changes: Night nurse").last.wait_for()
    assert findings(anna) == []
    anna.set_viewport_size({"width": 320, "height": 800})
    assert anna.evaluate("document.documentElement.scrollWidth") <= 320
    anna.evaluate("document.documentElement.classList.add('dark')")
    anna.set_viewport_size({"width": 1400, "height": 1000})
    anna.get_by_role("group", name="Title").get_by_label("Mine").check()
    save(anna)
    anna.get_by_text("Merged with the changes of Bob Maes: Regions, Location").wait_for()
    vacancy.refresh_from_db()
    assert (vacancy.title, vacancy.location) == ("Nurse for children", "Ghent")
    assert vacancy.description == "<p>We care, always</p>"
    assert [str(choice) for choice in vacancy.choices.all()] == ["Leuven"]

    # He leaves.
    bob.goto("about:blank")
    until(lambda: not Presence.objects.exclude(user=office).exists())
    report(anna)
    anna.locator("[data-editors]").wait_for(state="hidden")
    bob.context.close()


def test_saved_text_does_not_come_back_after_a_save_on_another_computer(
    live_server: Any, browser_page: Any, office: User
) -> None:
    site, vacancy = live_server.url, make_vacancy(title="Nurse")
    here = browser_page
    there = here.context.browser.new_context().new_page()
    for page, title in ((here, "Night nurse"), (there, "Head nurse")):
        log_in(page, site)
        open_form(page, site, vacancy)
        page.fill("#id_title", title)
        save(page)
    open_form(here, site, vacancy)
    page = here
    page.wait_for_function(
        "Object.keys(localStorage).every((name) => !name.startsWith('unsaved:'))"
    )
    has_value(page, "title", "Head nurse")
    assert page.get_by_text("Unsaved changes from").count() == 0
    there.context.close()
