"""An applicant opens the receipt, creates an account, withdraws the application and deletes everything."""

import json
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.contrib.auth.models import User

from applications.models import Application, Message
from applications.submissions.links import receipt_path
from tests.applications.applicants import ADDRESS, make_anonymous
from tests.applications.makers import PASSWORD, make_stage, make_step
from tests.browser.admin import serve_static_files
from tests.factories import make_vacancy

LONG = "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft " * 2


@pytest.fixture
def application(settings: Any) -> Application:
    """An application with two steps, and one with a long title from the same address."""
    serve_static_files(settings)
    made = make_anonymous(stage=make_stage(en="In interviews"), vacancy=make_vacancy(title="Nurse"))
    make_step(made, "First talk", result="good")
    make_step(made, "Second talk")
    make_anonymous(vacancy=make_vacancy(title=LONG))
    return made


def check(page: Any) -> None:
    """The page has no finding of axe, and nothing that is wider than the window."""
    assert [f"{page.url} {each['id']}" for each in Axe().run(page).response["violations"]] == []
    width, window = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
    assert width <= window, page.url


def press(page: Any, name: str, role: str = "link") -> None:
    """Tab to the link or button from the top of the page, and press Enter."""
    wanted = page.get_by_role(role, name=name, exact=True)
    for _ in range(40):
        page.keyboard.press("Tab")
        if wanted.evaluate("node => node === document.activeElement"):
            break
    else:
        raise AssertionError(f"Tab does not reach {name}")
    outline = wanted.evaluate("node => getComputedStyle(node).outlineStyle")
    assert outline == "solid"
    with page.expect_navigation():
        page.keyboard.press("Enter")


def test_applicant_completes_the_journey_with_the_keyboard(
    live_server: Any, browser_page: Any, application: Application
) -> None:
    page = browser_page
    page.goto(live_server.url + receipt_path(application))
    check(page)
    assert page.get_by_role("heading", level=1).inner_text() == "Nurse"
    assert page.get_by_text("In interviews").is_visible()
    assert page.get_by_role("listitem").filter(has_text="First talk (good)").is_visible()
    assert page.get_by_text("cv.pdf (1.2").is_visible()

    press(page, "Create an account")
    check(page)
    for label in ("New password:", "New password confirmation:"):
        field = page.get_by_label(label, exact=True)
        field.focus()
        page.keyboard.type("short" if "confirmation" in label else "other")
    page.keyboard.press("Enter")
    page.get_by_role("alert").wait_for()
    check(page)
    for label in ("New password:", "New password confirmation:"):
        page.get_by_label(label, exact=True).focus()
        page.keyboard.type(PASSWORD)
    with page.expect_navigation():
        page.keyboard.press("Enter")

    assert page.get_by_role("heading", level=1).inner_text() == "Your account"
    check(page)
    press(page, "Nurse")
    press(page, "Withdraw the application")
    check(page)
    press(page, "Withdraw the application", role="button")
    check(page)
    assert page.get_by_text("Withdrawn", exact=True).first.is_visible()
    assert page.get_by_role("link", name="Withdraw the application").count() == 0
    assert Message.objects.get().to == ADDRESS

    press(page, "All your applications")
    press(page, "Delete my account")
    check(page)
    page.get_by_label("Password").focus()
    page.keyboard.type(PASSWORD)
    with page.expect_navigation():
        page.keyboard.press("Enter")
    check(page)
    assert page.get_by_role("heading", level=1).inner_text() == "Your data was deleted"
    assert (User.objects.count(), Application.objects.count()) == (0, 0)


@pytest.mark.parametrize("has_scripts", [True, False])
def test_journey_works_on_a_dark_phone_and_without_scripts(
    live_server: Any, chromium: Any, application: Application, has_scripts: bool
) -> None:
    context = chromium.new_context(
        viewport={"width": 320, "height": 640},
        color_scheme="dark",
        java_script_enabled=has_scripts,
        locale="en",
    )
    page, site, path = context.new_page(), live_server.url, receipt_path(application)

    def tap(name: str, role: str = "link") -> None:
        with page.expect_navigation():
            page.get_by_role(role, name=name, exact=True).click()
        if has_scripts:
            check(page)

    page.goto(site + path)
    if has_scripts:
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
    context.close()

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
