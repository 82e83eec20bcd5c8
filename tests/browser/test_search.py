"""The search in the header: by keyboard and by mouse."""

from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.contrib.auth.models import User

from tests.browser.admin import ADMIN, findings, log_in, make_office, visit
from tests.factories import make_recruiter, make_vacancy

office = pytest.fixture(make_office)


@pytest.mark.each_django
def test_results_appear_while_typing(live_server: Any, browser_page: Any, office: User) -> None:
    page, site = browser_page, live_server.url
    vacancy = make_vacancy(title="Night nurse")
    make_vacancy(title="Day nurse <b>x</b>")
    make_recruiter("Jan Nurseman")
    log_in(page, site)
    visit(page, f"{site}/admin/")
    box = page.get_by_role("combobox", name="Search")
    results = page.get_by_role("listbox", name="Search results")

    page.keyboard.press("Control+k")
    page.keyboard.type("nurse")

    results.get_by_role("option", name="Night nurse").wait_for()
    assert results.get_by_role("option").count() == 4  # and "All results"
    assert page.locator("#site-search [role=status]").text_content() == "3 results"
    assert box.get_attribute("aria-expanded") == "true"
    for _ in range(2):
        page.keyboard.press("ArrowDown")
    active = page.locator(f"#{box.get_attribute('aria-activedescendant')}")
    assert active.get_attribute("aria-selected") == "true"
    assert active.text_content().startswith("Night nurse")
    found = Axe().run(page, context="#site-search").response["violations"]
    assert [each["id"] for each in found] == []
    page.keyboard.press("Escape")
    assert not results.is_visible()
    assert box.input_value() == "nurse"
    page.keyboard.press("ArrowDown")
    results.get_by_role("option", name="Night nurse").wait_for()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    with page.expect_navigation(url=f"**{ADMIN}{vacancy.pk}/change/"):
        page.keyboard.press("Enter")

    # Enter without an option opens the page with all results.
    box.fill("nurse")
    with page.expect_navigation(url="**/admin/search/?q=nurse"):
        box.press("Enter")
    page.get_by_role("heading", name="Recruiters").wait_for()
    assert findings(page) == []


def test_search_has_a_page_on_phones(live_server: Any, browser_page: Any, office: User) -> None:
    page, site = browser_page, live_server.url
    log_in(page, site)
    page.set_viewport_size({"width": 320, "height": 700})
    visit(page, f"{site}{ADMIN}")
    with page.expect_navigation(url="**/admin/search/"):
        page.get_by_role("banner").or_(page.locator("#main")).get_by_role(
            "link", name="Search"
        ).click()
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
