"""Recruiters work in the list of vacancies:
columns, views, shortcuts, cards on a phone, no scripts.
"""

from datetime import timedelta
from typing import Any

import pytest
from django.contrib import admin
from django.contrib.auth.models import User
from django.utils import timezone
from playwright.sync_api import expect

from applications.models import Application
from tests.browser.admin import ADMIN, findings, follow, log_in, make_office, visit
from tests.browser.bars import covered
from tests.factories import make_brand, make_vacancy
from vacancies.dates import end_of_day
from vacancies.models import SavedView, Vacancy

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
    make_vacancy(
        title="Later", publish_until=in_days(30), brand=make_brand("Rival"), location="Namur"
    )
    make_vacancy(title="Draft", status="draft")
    return closing


def titles(page: Any) -> list[str]:
    return page.locator("#result_list tbody th a").all_inner_texts()


def test_columns_fit_a_laptop(live_server: Any, browser_page: Any, office: User) -> None:
    page, site = browser_page, live_server.url
    brand = make_brand("Sint-Aldegondis Ziekenhuizen")
    make_vacancy(title="Projectingenieur voor de herinrichting", status="unpublished", brand=brand)
    make_vacancy(title="Nurse", is_hot=True, publish_until=in_days(30), brand=brand)
    page.set_viewport_size({"width": 1280, "height": 800})
    log_in(page, site)
    visit(page, f"{site}{ADMIN}")
    table, page_width = page.evaluate("""() => {
      const list = document.querySelector(".row-list");
      return [list.scrollWidth - list.clientWidth, document.documentElement.scrollWidth];
    }""")
    assert (table, page_width) == (0, 1280)


def test_lists_show_twenty_rows_on_a_laptop_and_six_on_a_phone(
    live_server: Any, browser_page: Any, office: User
) -> None:
    page, site = browser_page, live_server.url
    vacancy, now = make_vacancy(title="Nurse"), timezone.now()
    for number in range(25):
        make_vacancy(title=f"Nurse {number}")
        Application.objects.create(
            vacancy=vacancy, given_name="Mia", created_at=now, updated_at=now
        )
    log_in(page, site)
    for size, least in (((1280, 900), 20), ((390, 844), 6)):
        page.set_viewport_size(dict(zip(("width", "height"), size, strict=True)))
        for address in (ADMIN, "/admin/applications/application/"):
            visit(page, f"{site}{address}")
            shown = page.evaluate("""() => {
              const end = innerHeight - (innerWidth < 1024 ? 0 : 48); // the bar with the pages
              const rows = Array.from(document.querySelectorAll("#result_list tbody tr"));
              return rows.filter((row) => row.getBoundingClientRect().bottom <= end).length;
            }""")
            assert shown >= least, (size, address)
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), (
                size,
                address,
            )


@pytest.mark.each_django
def test_view_is_made_of_filters_and_columns(
    live_server: Any, browser_page: Any, office: User
) -> None:
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
    assert findings(page) == []


def test_list_works_by_keyboard_unless_switched_off(
    live_server: Any, browser_page: Any, office: User
) -> None:
    page, site = browser_page, live_server.url
    make_list()
    log_in(page, site)
    visit(page, f"{site}{ADMIN}")

    def focused() -> str:
        return page.evaluate(
            "document.activeElement.textContent.trim() || document.activeElement.id"
        )

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
    page.locator("summary", has_text="More").click()
    page.get_by_role("button", name="Keyboard shortcuts").click()
    follow(page, "button", "Switch shortcuts off")
    for key in ("j", "n", "/", "t", "?"):
        page.keyboard.press(key)
    assert page.evaluate("document.activeElement === document.body")
    assert not page.locator("dialog#shortcuts").is_visible()


def test_list_has_two_line_cards_on_a_phone(
    live_server: Any, browser_page: Any, office: User
) -> None:
    page, site = browser_page, live_server.url
    make_list()
    log_in(page, site)
    page.set_viewport_size({"width": 320, "height": 800})
    page.emulate_media(color_scheme="dark")
    visit(page, f"{site}{ADMIN}")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    heights = [row.bounding_box()["height"] for row in page.locator("#result_list tbody tr").all()]
    assert max(heights) < 72  # two lines


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


def test_bar_of_actions_covers_no_row_at_the_end_of_the_list(
    live_server: Any, browser_page: Any, office: User, monkeypatch: Any
) -> None:
    site, address = live_server.url, f"{live_server.url}{ADMIN}?state=all"
    for number in range(21):
        make_vacancy(title=f"Nurse {number}")
    for has_scripts in (True, False):
        context = browser_page.context.browser.new_context(java_script_enabled=has_scripts)
        page = context.new_page()
        log_in(page, site)
        for width, rows in ((1280, 100), (1280, 20), (360, 20), (360, 100)):  # one page, and two
            monkeypatch.setattr(admin.site.get_model_admin(Vacancy), "list_per_page", rows)
            page.set_viewport_size({"width": width, "height": 640})
            visit(page, address)
            page.locator("input.action-select").first.check()
            bar = page.locator("#changelist-actions")
            bar.wait_for()
            last = page.locator("#result_list tbody tr").last
            page.mouse.move(width / 2, 300)
            page.mouse.wheel(0, 20_000)
            expect(last).to_be_in_viewport(ratio=1)
            box, row = bar.bounding_box(), last.bounding_box()
            case = f"{width} px, {rows} rows on a page, scripts: {has_scripts}"
            assert row["y"] + row["height"] <= box["y"] < 640 - box["height"] + 1, case
            pager = page.locator("body.change-list #main > div").last.bounding_box()
            assert box["y"] + box["height"] <= pager["y"] + 1, case
        if has_scripts:
            assert covered(page) == []
            page.set_viewport_size({"width": 1280, "height": 640})
            assert covered(page) == []
        context.close()
