"""Dates are checked while typing, actions ask first and can be undone, files have names, not paths."""

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.base import ContentFile
from django.utils import timezone

from tests.browser.admin import (
    ADMIN,
    findings,
    follow,
    log_in,
    make_office,
    picture,
    run_action,
    save,
    screenshot,
    tab,
    visit,
)  # fmt: skip
from tests.factories import make_vacancy
from vacancies.models import Attachment, Vacancy

office = pytest.fixture(make_office)


def days(number: int) -> str:
    return (timezone.localdate() + timedelta(days=number)).isoformat()


def test_dates_are_checked_while_the_user_types(live_server: Any, browser_page: Any, office: User) -> None:
    page, site = browser_page, live_server.url
    vacancy = make_vacancy(title="Nurse", status="draft", publish_from=None)
    log_in(page, site)
    visit(page, f"{site}{ADMIN}{vacancy.pk}/change/")
    tab(page, "Publication")
    report = page.locator("#id_last_day").locator("xpath=../following-sibling::p[@role='status']")
    assert report.inner_text() == ""
    page.get_by_text("Time zone: ").first.wait_for()

    def typed(field: str, text: str) -> None:
        page.locator(field).fill("")
        page.locator(field).press_sequentially(text)

    typed("#id_last_day", days(-1))
    page.get_by_text("The closing date has passed. Choose a later date or leave it empty.").wait_for()
    typed("#id_last_day", days(5))
    page.wait_for_function("document.querySelector('#closing-date-check').textContent === ''")
    typed("#id_publish_from_0", days(9))
    page.get_by_text("The closing date is before the publication date.").wait_for()
    screenshot(page, "dates")
    typed("#id_publish_from_0", days(1))
    page.wait_for_function("document.querySelector('#closing-date-check').textContent === ''")
    page.locator("#id_is_permanent").check(force=True)
    page.get_by_text("The vacancy is continuously open, but has a closing date.").wait_for()
    assert findings(page) == []

    # The server refuses the same, and the fields keep what was typed.
    typed("#id_publish_from_0", days(9))
    page.fill("#id_publish_from_1", "08:00")
    typed("#id_last_day", "31/31/2030")
    save(page)
    page.get_by_role("tab", name="Publication 1 error", selected=True).wait_for()
    assert page.input_value("#id_last_day") == "31/31/2030"
    assert page.input_value("#id_publish_from_0") == days(9)
    page.get_by_role("listitem").get_by_text("Enter a valid date.").wait_for()


def test_status_and_dates_are_shown_once(live_server: Any, browser_page: Any, office: User) -> None:
    page, site = browser_page, live_server.url
    vacancy = make_vacancy(title="Nurse", publish_until=timezone.now() + timedelta(days=9))
    log_in(page, site)
    visit(page, f"{site}{ADMIN}{vacancy.pk}/change/")
    dates = page.get_by_text("Public, closing date")
    assert dates.is_visible()
    tab(page, "Publication")
    dates.wait_for(state="hidden")
    assert page.locator("#id_status").count() == 0
    assert page.locator("#content .panel-state").all_inner_texts() == ["Published"]
    screenshot(page, "status-once")


def test_bulk_action_asks_names_what_it_overwrites_and_is_undone(
    live_server: Any, browser_page: Any, office: User
) -> None:
    page, site = browser_page, live_server.url
    start = timezone.now().replace(microsecond=0) + timedelta(days=3)
    make_vacancy(title="Nurse", publish_from=start)
    make_vacancy(title="Cook", status="draft", publish_from=None)
    log_in(page, site)
    visit(page, f"{site}{ADMIN}?audience__exact=public")
    page.locator("#action-toggle").check()
    run_action(page, "Publish now")
    page.get_by_text("is replaced by the current time.").wait_for()
    assert findings(page) == []
    screenshot(page, "confirm")
    page.set_viewport_size({"width": 320, "height": 800})
    page.emulate_media(color_scheme="dark")
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
    screenshot(page, "confirm-narrow-dark")
    page.set_viewport_size({"width": 1400, "height": 1000})
    assert Vacancy.objects.get(title="Cook").status == "draft"
    follow(page, "button", "Publish now")
    page.get_by_text("2 vacancies were published.").wait_for()
    assert page.url == f"{site}{ADMIN}?audience__exact=public"
    screenshot(page, "undo")
    assert findings(page) == []

    follow(page, "button", "Undo")

    page.get_by_text("Undone for 2 vacancies.").wait_for()
    assert page.url == f"{site}{ADMIN}?audience__exact=public"
    assert Vacancy.objects.get(title="Nurse").publish_from == start
    assert Vacancy.objects.get(title="Cook").status == "draft"


def test_deleted_vacancies_are_restored_by_undo(live_server: Any, browser_page: Any, office: User) -> None:
    page, site = browser_page, live_server.url
    vacancy = make_vacancy(title="Nurse")
    log_in(page, site)
    visit(page, f"{site}{ADMIN}")
    page.locator("#action-toggle").check()
    run_action(page, "Delete…")
    page.get_by_text("A published vacancy disappears from all sites immediately.").wait_for()
    page.get_by_text("A deleted vacancy can be restored").wait_for()
    screenshot(page, "delete")
    follow(page, "button", "Delete")
    assert not Vacancy.objects.exists()
    follow(page, "button", "Undo")
    assert Vacancy.objects.get().state == vacancy.state


def test_view_on_site_opens_a_page_for_everybody(
    live_server: Any, browser_page: Any, office: User, settings: Any
) -> None:
    page, site = browser_page, live_server.url
    vacancy = make_vacancy(title="Nurse")
    log_in(page, site)
    visit(page, f"{site}{ADMIN}{vacancy.pk}/change/")
    with page.expect_popup() as opened:
        page.get_by_role("link", name="View on site").click()
    url = opened.value.url
    assert url == f"{site}/vacancies/{vacancy.pk}"
    stranger = page.context.browser.new_context().new_page()
    visit(stranger, url)
    stranger.get_by_role("heading", name="Nurse").wait_for()
    screenshot(stranger, "public-page")
    with stranger.expect_navigation():
        stranger.get_by_role("link", name="API response (JSON)").click()
    assert stranger.url == f"{site}/v1/vacancies/{vacancy.pk}"
    stranger.context.close()


def test_files_have_names_and_thumbnails(live_server: Any, browser_page: Any, office: User) -> None:
    page, site = browser_page, live_server.url
    vacancy = make_vacancy(title="Nurse")
    vacancy.image.save("a.png", ContentFile(picture()["buffer"]))
    attachment = Attachment(vacancy=vacancy, name="Our benefits")
    attachment.file.save("plan.txt", ContentFile(b"Text"))
    log_in(page, site)
    visit(page, f"{site}{ADMIN}{vacancy.pk}/change/")
    tab(page, "Media")
    shown = [
        each.input_value() for each in page.locator("input[type=text][disabled]").all() if each.is_visible()
    ]
    assert shown[:2] == ["Current image", "Our benefits"]
    assert page.get_by_alt_text("Image preview").evaluate("image => image.naturalWidth") > 0
    visible = page.locator("#content").inner_text()
    assert "/media/" not in visible
    assert vacancy.image.name not in visible
    screenshot(page, "files")
