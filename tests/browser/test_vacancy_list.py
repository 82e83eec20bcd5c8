"""Recruiters work in the list of vacancies: columns, views, rows, shortcuts, cards on a phone."""

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from tests.browser.admin import ADMIN, findings, follow, log_in, make_office, screenshot, visit
from tests.factories import make_brand, make_vacancy
from vacancies.dates import end_of_day
from vacancies.models import SavedView, Vacancy, Version

office = pytest.fixture(make_office)


def in_days(days: int) -> Any:
    return end_of_day(timezone.localdate() + timedelta(days=days))


def make_list() -> list[Vacancy]:
    """Five vacancies that close this week, and three others."""
    closing = [
        make_vacancy(title=f"Nurse {n}", publish_until=in_days(n), options={"regions": ["Ghent"]})
        for n in range(1, 6)
    ]
    make_vacancy(title="Endless", is_hot=True)
    make_vacancy(title="Later", publish_until=in_days(30), brand=make_brand("Rival"), location="Namur")
    make_vacancy(title="Draft", status="draft")
    return closing


def titles(page: Any) -> list[str]:
    return page.locator("#result_list tbody th a").all_inner_texts()


def test_closing_vacancies_are_extended_with_six_clicks(
    live_server: Any, browser_page: Any, office: User
) -> None:
    page, site = browser_page, live_server.url
    closing = make_list()
    log_in(page, site)
    visit(page, f"{site}{ADMIN}")

    clicks = 0

    def click(target: Any, *, navigates: bool = False) -> None:
        nonlocal clicks
        clicks += 1
        if navigates:
            with page.expect_navigation():
                target.click()
        else:
            target.click()

    click(page.get_by_role("link", name="Closing this week", exact=True), navigates=True)
    assert titles(page) == [f"Nurse {n}" for n in range(1, 6)]
    click(page.locator("#action-toggle"))
    clicks += 2  # opens the list of actions, and chooses one
    page.select_option("select[name=action]", label="Extend…")
    click(page.get_by_role("button", name="Run"), navigates=True)
    screenshot(page, "extend")
    assert findings(page) == []
    click(page.get_by_role("button", name="Extend", exact=True), navigates=True)

    page.get_by_text("5 vacancies were extended.").wait_for()
    assert clicks == 6
    assert [Vacancy.objects.get(pk=row.pk).publish_until for row in closing] == [
        in_days(n + 14) for n in range(1, 6)
    ]


@pytest.mark.each_django
def test_view_is_made_of_filters_and_columns(live_server: Any, browser_page: Any, office: User) -> None:
    page, site = browser_page, live_server.url
    make_list()
    log_in(page, site)
    visit(page, f"{site}{ADMIN}")

    page.get_by_role("button", name="Filters").click()
    page.locator("#changelist-filter .select2-selection").nth(3).click()  # options
    page.keyboard.type("gh")
    page.locator(".select2-results__option--highlighted", has_text="Ghent").wait_for()
    page.keyboard.press("Enter")
    page.keyboard.press("Escape")
    follow(page, "button", "Apply Filters")
    assert sorted(titles(page)) == [f"Nurse {n}" for n in range(1, 6)]
    page.locator(".list-columns summary").click()
    page.get_by_role("checkbox", name="Location").check()
    page.get_by_role("checkbox", name="Audience").uncheck()
    screenshot(page, "columns")
    assert findings(page) == []
    follow(page, "button", "Show")
    assert page.get_by_role("columnheader", name="Location").is_visible()
    assert page.get_by_role("columnheader", name="Audience").count() == 0
    follow(page, "link", "Closing date")
    assert titles(page) == [f"Nurse {n}" for n in range(1, 6)]

    follow(page, "button", "Save as view")
    page.fill("#id_name", "Ghent")
    page.get_by_label("Share with colleagues").check()
    follow(page, "button", "Save")
    current = page.locator("nav [aria-current=page]", has_text="Ghent")
    current.wait_for()
    assert titles(page) == [f"Nurse {n}" for n in range(1, 6)]
    view = SavedView.objects.get()
    assert (view.name, view.is_shared, "last_day" in view.query) == ("Ghent", True, True)
    screenshot(page, "views")
    assert findings(page) == []


@pytest.mark.each_django
def test_rows_are_edited_in_the_list(live_server: Any, browser_page: Any, office: User) -> None:
    page, site = browser_page, live_server.url
    first, second, *_ = make_list()
    log_in(page, site)
    visit(page, f"{site}{ADMIN}?view=all&attention=ending&o=last_day")
    follow(page, "link", "Edit in the list")
    day = timezone.localdate() + timedelta(days=60)
    page.get_by_label("Closing date of “Nurse 1”").fill(day.isoformat())
    page.get_by_label("Featured of “Nurse 2”").check()
    page.get_by_label("Closing date of “Nurse 3”").fill("2001-01-01")
    screenshot(page, "edit-rows")
    assert findings(page) == []

    follow(page, "button", "Save")

    page.get_by_text("2 vacancies were saved.").wait_for()
    page.get_by_text("The closing date has passed.").first.wait_for()
    assert page.get_by_label("Closing date of “Nurse 3”").input_value() == "2001-01-01"
    assert findings(page) == []
    first.refresh_from_db()
    second.refresh_from_db()
    assert (first.publish_until, second.is_hot) == (end_of_day(day), True)
    assert Version.objects.filter(change="changed", author=office).count() == 2


def test_list_works_by_keyboard_unless_switched_off(
    live_server: Any, browser_page: Any, office: User
) -> None:
    page, site = browser_page, live_server.url
    make_list()
    log_in(page, site)
    visit(page, f"{site}{ADMIN}")

    def focused() -> str:
        return page.evaluate("document.activeElement.textContent.trim() || document.activeElement.id")

    for key, title in (("j", "Draft"), ("j", "Later"), ("ArrowDown", "Endless"), ("k", "Later")):
        page.keyboard.press(key)
        assert focused() == title
    page.keyboard.press("x")
    assert page.locator("#result_list tbody tr.selected th").inner_text().strip() == "Later"
    page.keyboard.press("x")
    page.keyboard.press("/")
    assert focused() == "searchbar"
    page.keyboard.type("jnko?")  # typing is no shortcut
    assert page.input_value("#searchbar") == "jnko?"
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("?")
    page.locator("dialog#shortcuts[open]").wait_for()
    screenshot(page, "shortcuts")
    assert findings(page) == []
    page.keyboard.press("Escape")
    page.locator("dialog#shortcuts").wait_for(state="hidden")
    page.keyboard.press("j")
    with page.expect_navigation():
        page.keyboard.press("o")
    assert "/change/" in page.url
    visit(page, f"{site}{ADMIN}")
    with page.expect_navigation():
        page.keyboard.press("n")
    assert page.url.endswith("/add/")

    visit(page, f"{site}{ADMIN}")
    page.get_by_role("button", name="Keyboard shortcuts").click()
    follow(page, "button", "Switch shortcuts off")
    for key in ("j", "n", "/", "t", "?"):
        page.keyboard.press(key)
    assert page.evaluate("document.activeElement === document.body")
    assert not page.locator("dialog#shortcuts").is_visible()


def test_list_has_two_line_cards_on_a_phone(live_server: Any, browser_page: Any, office: User) -> None:
    page, site = browser_page, live_server.url
    make_list()
    log_in(page, site)
    page.set_viewport_size({"width": 320, "height": 800})
    page.emulate_media(color_scheme="dark")
    visit(page, f"{site}{ADMIN}")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    heights = [row.bounding_box()["height"] for row in page.locator("#result_list tbody tr").all()]
    assert max(heights) < 72  # two lines
    screenshot(page, "cards-320")


def test_list_works_without_scripts(live_server: Any, browser_page: Any, office: User) -> None:
    site = live_server.url
    make_list()
    page = browser_page.context.browser.new_context(java_script_enabled=False).new_page()
    log_in(page, site)
    visit(page, f"{site}{ADMIN}")
    page.locator(".list-columns summary").click()
    page.get_by_role("checkbox", name="Location").check()
    follow(page, "button", "Show")
    assert page.get_by_role("columnheader", name="Location").is_visible()
    follow(page, "link", "Closing this week")
    follow(page, "link", "Edit in the list")
    page.get_by_label("Closing date of “Nurse 1”").fill("")
    follow(page, "button", "Save")
    page.get_by_text("1 vacancy was saved.").wait_for()
    follow(page, "button", "Save as view")
    page.fill("#id_name", "Soon")
    follow(page, "button", "Save")
    page.locator("nav [aria-current=page]", has_text="Soon").wait_for()
    page.context.close()
