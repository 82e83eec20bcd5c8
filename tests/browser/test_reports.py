"""The start page and the reports: trends, calendar, charts with tables; by keyboard."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from applications.statistics import received
from tests.browser.admin import findings, follow, log_in, make_office, visit
from tests.factories import make_brand, make_vacancy
from vacancies.statistics.recording import record_days

DAY = timedelta(days=1)
REPORTS = "/admin/vacancies/vacancy/reports/"


@pytest.fixture
def office(filters: Any, settings: Any) -> None:
    """A vacancy that went live, one that closed and one that closes today, of two brands."""
    make_office(filters, settings)
    now = timezone.now()
    regions = {"regions": ["Ghent"]}
    make_vacancy(
        title="Nurse", publish_from=now - 40 * DAY, publish_until=now - 9 * DAY, options=regions
    )
    make_vacancy(
        title="Baker", publish_from=now - 20 * DAY, brand=make_brand("Other"), options=regions
    )
    make_vacancy(title="Driver", publish_from=now - 5 * DAY, publish_until=now + DAY / 1440)
    record_days(at=now)
    received.record_days(at=now)


def test_recruiter_reads_the_calendar_and_the_reports(
    live_server: Any, browser_page: Any, office: None
) -> None:
    page, site = browser_page, live_server.url
    log_in(page, site)
    visit(page, f"{site}/admin/")
    page.get_by_role("link", name="2 Published last 90 days: from 0 to 2").wait_for()
    assert page.locator(".start-tiles .spark").count() == 3
    assert findings(page) == []

    page.get_by_role("link", name="Week", exact=True).focus()
    with page.expect_navigation():
        page.keyboard.press("Enter")
    page.locator("#calendar").get_by_role("link", name="Closes: Driver").wait_for()
    follow(page, "link", "Previous")
    assert page.locator("#calendar h2").inner_text().startswith("Calendar: ")
    follow(page, "link", "Today")
    follow(page, "link", "Closes: Driver")
    assert "/change/" in page.url

    visit(page, f"{site}/admin/")
    with page.expect_navigation():
        page.get_by_role("link", name="Reports").click()
    page.get_by_label("Brand", exact=True).select_option("Acme")
    with page.expect_navigation():
        page.get_by_role("button", name="Show").click()
    page.get_by_text("Table: Vacancies by brand").focus()
    page.keyboard.press("Enter")
    row = page.get_by_role("row", name="Acme")
    assert row.get_by_role("cell").all_inner_texts() == ["1", "2", "1"]
    with page.expect_download() as download:
        page.get_by_role("link", name="Vacancies by brand: CSV").click()
    assert download.value.suggested_filename.startswith("report-groups-")
    assert findings(page) == []


def test_pages_fit_a_phone_and_the_dark_theme(
    live_server: Any, browser_page: Any, office: None
) -> None:
    page, site = browser_page, live_server.url
    page.emulate_media(color_scheme="dark")
    page.set_viewport_size({"width": 320, "height": 700})
    log_in(page, site)
    for path in ("/admin/", "/admin/?calendar=week", REPORTS):
        visit(page, f"{site}{path}")
        assert page.evaluate("document.documentElement.scrollWidth") == 320
    visit(page, f"{site}/admin/?calendar=week")
    assert page.locator(".calendar-weekdays").is_hidden()
    assert page.locator(".calendar-days > .is-empty").first.is_hidden()
    assert page.get_by_role("link", name="Closes: Driver").is_visible()
