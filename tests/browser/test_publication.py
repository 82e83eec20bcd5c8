"""Dates are checked while typing, actions ask first and can be undone,
files have names, not paths.
"""

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
    tab,
    visit,
)
from tests.factories import make_vacancy
from vacancies.models import Attachment, Vacancy

office = pytest.fixture(make_office)


def days(number: int) -> str:
    return (timezone.localdate() + timedelta(days=number)).isoformat()


def test_dates_are_checked_while_the_user_types(
    live_server: Any, browser_page: Any, office: User
) -> None:
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
    page.get_by_text(
        "The closing date has passed. Choose a later date or leave it empty."
    ).wait_for()
    typed("#id_last_day", days(5))
    page.wait_for_function("document.querySelector('#closing-date-check').textContent === ''")
    typed("#id_publish_from_0", days(9))
    page.get_by_text("The closing date is before the publication date.").wait_for()
    typed("#id_publish_from_0", days(1))
    page.wait_for_function("document.querySelector('#closing-date-check').textContent === ''")
    page.locator("#id_is_permanent").check(force=True)
    page.get_by_text("The vacancy is continuously open, but has a closing date.").wait_for()
    assert findings(page) == []
    page.fill("#id_last_day", "tomorrow")
    save(page)
    tab(page, "Publication")
    assert page.get_by_text("Enter a valid date").locator("visible=true").count() == 1


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
    page.set_viewport_size({"width": 320, "height": 800})
    page.emulate_media(color_scheme="dark")
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
    page.set_viewport_size({"width": 1400, "height": 1000})
    assert Vacancy.objects.get(title="Cook").status == "draft"
    follow(page, "button", "Publish now")
    page.get_by_text("2 vacancies were published.").wait_for()
    assert page.url == f"{site}{ADMIN}?audience__exact=public"
    assert findings(page) == []

    follow(page, "button", "Undo")

    page.get_by_text("Undone for 2 vacancies.").wait_for()
    assert page.url == f"{site}{ADMIN}?audience__exact=public"
    assert Vacancy.objects.get(title="Nurse").publish_from == start
    assert Vacancy.objects.get(title="Cook").status == "draft"


def test_files_have_names_and_thumbnails(live_server: Any, browser_page: Any, office: User) -> None:
    page, site = browser_page, live_server.url
    vacancy = make_vacancy(title="Nurse")
    vacancy.image.save("a.png", ContentFile(picture()["buffer"]))
    attachment = Attachment(vacancy=vacancy, name="Our benefits")
    attachment.file.save("plan.txt", ContentFile(b"Text"))
    log_in(page, site)
    visit(page, f"{site}{ADMIN}{vacancy.pk}/change/")
    tab(page, "Media")
    page.get_by_alt_text("Image preview").wait_for()
    shown = [
        each.input_value()
        for each in page.locator("input[type=text][disabled]").all()
        if each.is_visible()
    ]
    assert shown[:2] == ["Current image", "Our benefits"]
    assert page.get_by_alt_text("Image preview").evaluate("image => image.naturalWidth") > 0
    visible = page.locator("#content").inner_text()
    assert "/media/" not in visible
    assert vacancy.image.name not in visible
