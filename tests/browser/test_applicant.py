"""An applicant opens the receipt, creates an account, withdraws the application and deletes everything."""

import json
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe

from applications.models import Application
from applications.submissions.links import receipt_path
from tests.applications.applicants import ADDRESS, make_anonymous
from tests.applications.makers import PASSWORD, make_stage, make_step
from tests.browser.admin import serve_static_files
from tests.factories import make_vacancy

LONG = "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft " * 2


@pytest.fixture
def application(settings: Any) -> Application:
    """An application with a step, and one with a long title from the same address."""
    serve_static_files(settings)
    made = make_anonymous(stage=make_stage(en="In interviews"), vacancy=make_vacancy(title="Nurse"))
    make_step(made, "First talk", result="good")
    make_anonymous(vacancy=make_vacancy(title=LONG))
    return made


def check(page: Any) -> None:
    """The page has no finding of axe, and nothing that is wider than the window."""
    assert [f"{page.url} {each['id']}" for each in Axe().run(page).response["violations"]] == []
    width, window = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
    assert width <= window, page.url


def test_account_works_on_a_dark_phone(live_server: Any, browser_page: Any, application: Application) -> None:
    """tests/browser/test_journey.py does the same by keyboard, and without scripts."""
    page = browser_page
    page.set_viewport_size({"width": 320, "height": 640})
    page.emulate_media(color_scheme="dark")
    site, path = live_server.url, receipt_path(application)

    def tap(name: str, role: str = "link") -> None:
        with page.expect_navigation():
            page.get_by_role(role, name=name, exact=True).click()
        check(page)

    page.goto(site + path)
    check(page)
    tap("Create an account")
    page.fill("#id_new_password1", PASSWORD)
    page.fill("#id_new_password2", PASSWORD)
    tap("Create an account", "button")
    tap(LONG.strip())
    tap("Delete the application")
    tap("Delete the application", "button")
    with page.expect_download() as download:
        page.get_by_role("link", name="Download my data").click()
    exported = json.loads(Path(download.value.path()).read_text())
    assert [each["vacancy"]["title"] for each in exported["applications"]] == ["Nurse"]
    tap("Sign out", "button")

    page.goto(site + path)
    tap("Sign in")
    page.fill("#id_username", ADDRESS)
    page.fill("#id_password", PASSWORD)
    tap("Sign in", "button")
    tap("Nurse")
    tap("Withdraw the application")
    tap("Withdraw the application", "button")

    assert Application.objects.get().withdrawn_at is not None


def test_link_is_not_sent_to_other_pages(
    live_server: Any, browser_page: Any, application: Application
) -> None:
    """The Referer of what the page requests has no path."""
    page, referers = browser_page, []
    page.on("request", lambda request: referers.append(request.all_headers().get("referer", "")))
    page.goto(live_server.url + receipt_path(application))
    with page.expect_navigation(wait_until="commit"):
        page.get_by_role("link", name="I have an account with another address").click()
    assert referers[:3] == ["", f"{live_server.url}/", f"{live_server.url}/"]  # page, styles, next page
