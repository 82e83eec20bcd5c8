"""Every page of the site: axe in both colour schemes and at two widths, landmarks, names, tab stops, and a
console without errors and warnings."""

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core import signing

from applications.submissions.links import receipt_path
from tests import admin_pages
from tests.applications.applicants import make_anonymous
from tests.applications.makers import make_stage
from tests.browser.accessibility import Console, all_findings
from tests.browser.admin import serve_static_files, visit
from tests.factories import make_vacancy
from vacancies.previews import token_for

OTHERS = (
    "/admin/",
    "/admin/password_change/",
    "/admin/password_change/done/",
    "/admin/vacancies/",
    "/admin/applications/",
    "/admin/vacancies/vacancy/?q=nothing+that+exists",
    "/admin/vacancies/recruiter/add/?_popup=1",
)


@pytest.fixture
def world(filters: Any, settings: Any) -> SimpleNamespace:
    """Rows of every model, and sessions of every role."""
    serve_static_files(settings)
    return admin_pages.build()


@pytest.fixture
def console(browser_page: Any) -> Iterator[Console]:
    heard = Console(browser_page)
    yield heard
    assert sorted(set(heard.reported)) == []


def sign_in(page: Any, site: str, world: SimpleNamespace, name: str) -> None:
    page.context.add_cookies([{"name": "sessionid", "value": world.sessions[name], "url": site}])


def addresses(world: SimpleNamespace, app: str) -> Iterator[str]:
    """Yield the addresses of all routes of the models of `app`, or of all forms if it is "forms"."""
    for route in admin_pages.routes():
        model, kind = admin_pages.kind_of(route) or ("", "")
        if model.startswith(f"{app}.") or (app == "forms" and kind == "change"):
            row = world.own.shown if kind in ("unpublish", "extend") else world.spare[model]
            pk = world.own.draft.pk if kind == "versions" else row.pk
            number = admin_pages.version_of(pk) if kind == "versions" else 0
            yield admin_pages.address(route, pk, number)


def is_page(page: Any, address: str) -> bool:
    """Return whether `address` serves a whole page to GET: no JSON, no file, no redirect."""
    response = page.request.get(address, max_redirects=0)
    return response.status == 200 and "<html" in response.text()[:2000].lower()


@pytest.mark.parametrize(
    ("role", "app", "least"),
    [
        ("root", "applications", 30),
        ("root", "vacancies", 30),
        ("root", "forms_structure", 8),
        ("root", "auth", 8),
        ("root", "others", 7),
        ("Auditor", "forms", 14),  # without inputs
    ],
)
def test_admin_pages_are_accessible(
    live_server: Any,
    browser_page: Any,
    world: SimpleNamespace,
    console: Console,
    role: str,
    app: str,
    least: int,
) -> None:
    page, site = browser_page, live_server.url
    sign_in(page, site, world, role)
    found: list[str] = []
    checked = 0
    for address in OTHERS if app == "others" else addresses(world, app):
        if is_page(page, site + address):
            visit(page, site + address)
            found += all_findings(page, address)
            checked += 1
    assert found == []
    assert checked >= least


@pytest.fixture
def applicant(world: SimpleNamespace, settings: Any) -> SimpleNamespace:
    """The addresses of an applicant with and without an account, and of people without any."""
    settings.APPLY_PAGES, settings.APPLY_PROOF = True, "off"
    vacancy = make_vacancy(title="Nurse", form=world.default)
    receipt = receipt_path(
        make_anonymous("an@example.org", vacancy=vacancy, stage=make_stage(en="In interviews"))
    )
    user = User.objects.create_user("mia", "mia@example.org")
    own = make_anonymous(user=user, vacancy=vacancy)
    thanks = signing.dumps(own.pk, salt="applications.thanks")
    links = (receipt, *(f"{receipt}/{name}" for name in ("withdraw", "delete", "account")))
    account = f"/account/applications/{own.pk}"
    return SimpleNamespace(
        session=admin_pages.session_of(user),
        everybody=(
            "/account/login", "/account/reset", "/account/reset/sent", "/account/reset/x/y", *links,
            "/account/receipt/x", "/account/deleted", "/account/nothing", f"/apply/{vacancy.pk}", "/apply/0",
            f"/apply/thanks/{thanks}", f"/preview/{token_for(vacancy.pk)}", "/preview/x",
            "/admin/login/",
        ),
        signed_in=(
            "/account/", "/account/password", "/account/delete", account, f"{account}/withdraw",
            f"{account}/delete", "/account/applications/0",
        ),
    )  # fmt: skip


@pytest.mark.parametrize("who", ["everybody", "signed_in"])
def test_pages_of_applicants_are_accessible(
    live_server: Any, browser_page: Any, applicant: SimpleNamespace, console: Console, who: str
) -> None:
    page, site = browser_page, live_server.url
    if who == "signed_in":
        page.context.add_cookies([{"name": "sessionid", "value": applicant.session, "url": site}])
    found = []
    for address in getattr(applicant, who):
        console.expected = address
        visit(page, site + address)
        assert page.url == site + address
        console.expected = ""
        found += all_findings(page, address)
        icon = page.locator("link[rel=icon]").get_attribute("href")
        assert page.request.get(f"{site}{icon}").headers["content-type"] == "image/svg+xml"
    assert found == []


def test_errors_are_accessible_pages(
    live_server: Any, browser_page: Any, world: SimpleNamespace, console: Console
) -> None:
    page, site = browser_page, live_server.url
    sign_in(page, site, world, "Recruiter")
    found = []
    for address, status, heading in (
        ("/admin/nothing/", 404, "Page not found"),
        ("/admin/auth/user/", 403, "No access"),
        ("/admin/vacancies/vacancy/add/?brand=x", 400, "Invalid request"),
    ):
        console.expected = address
        assert visit(page, site + address).status == status
        page.get_by_role("heading", name=heading, level=1).wait_for()
        page.get_by_role("link", name="Go to the admin").wait_for()
        found += all_findings(page, address)
    assert found == []


# --- names, landmarks and the keyboard ---


def test_main_controls_have_names(
    live_server: Any, browser_page: Any, world: SimpleNamespace, console: Console
) -> None:
    """In Chromium's accessibility tree. Names contain no icons, which are letters of a font."""
    page, site = browser_page, live_server.url
    sign_in(page, site, world, "Recruiter")
    for address, names in {
        "/admin/vacancies/vacancy/": (
            'link "Skip to main content"', 'link "Vacancies"', 'heading "Vacancies', "table:",
            'button "Menu"',
        ),
        f"/admin/vacancies/vacancy/{world.own.shown.pk}/change/": (
            'link "Skip to main content"', 'button "Menu"', 'toolbar "Actions for this vacancy"',
            'tablist "Sections of the vacancy"', 'tab "Texts" [selected]', 'textbox "Title*"',
            'textbox "Description"', 'button "Save"',
        ),
        f"/admin/applications/application/{world.own.application.pk}/change/": (
            'heading "Answers"', 'textbox "New note"', 'button "Save"',
        ),
    }.items():  # fmt: skip
        visit(page, site + address)
        page.wait_for_timeout(300)  # names are completed after the scripts of widgets
        tree = page.locator("body").aria_snapshot()
        missing = [name for name in names if name not in tree]
        assert missing == [], f"{address}\n{tree}"
        icons = set(page.locator(".material-symbols-outlined").all_inner_texts()) - {""}
        named = [
            line for line in tree.splitlines() if any(f'"{icon}' in line for icon in icons if "_" in icon)
        ]
        assert named == [], address


def tabs_to(page: Any, selector: str) -> int:
    """Return the number of times that Tab is pressed until the element `selector` has the focus."""
    for number in range(1, 100):
        page.keyboard.press("Tab")
        if page.evaluate("selector => document.activeElement.matches(selector)", selector):
            return number
    raise AssertionError(f"Tab does not reach {selector}")


def test_first_text_field_of_a_vacancy_is_reached_by_keyboard(
    live_server: Any, browser_page: Any, world: SimpleNamespace
) -> None:
    page, site = browser_page, live_server.url
    sign_in(page, site, world, "Recruiter")
    address = f"{site}/admin/vacancies/vacancy/{world.own.shown.pk}/change/"
    visit(page, address)
    assert tabs_to(page, ".skip-link") == 1
    assert 1 + tabs_to(page, "#id_title") <= 30
    visit(page, address)
    tabs_to(page, ".skip-link")
    page.keyboard.press("Enter")
    assert tabs_to(page, "#id_title") <= 12


def test_actions_of_a_vacancy_are_a_toolbar(
    live_server: Any, browser_page: Any, world: SimpleNamespace, console: Console
) -> None:
    """One tab stop; the arrow keys move in it."""
    page, site = browser_page, live_server.url
    sign_in(page, site, world, "Recruiter")
    visit(page, f"{site}/admin/vacancies/vacancy/{world.own.draft.pk}/change/")
    toolbar = page.get_by_role("toolbar", name="Actions for this vacancy")
    names = toolbar.get_by_role("link").all_inner_texts()
    tabs_to(page, "[role=toolbar] *")
    focused = "document.activeElement.innerText"
    assert page.evaluate(focused) == names[0]
    for key, name in (("ArrowRight", names[1]), ("End", names[-1]), ("ArrowRight", names[0])):
        page.keyboard.press(key)
        assert page.evaluate(focused) == name
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.getAttribute('role')") == "tab"
