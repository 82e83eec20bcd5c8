"""Every template of the site: axe, contrast in both colour schemes, the width on phones, landmarks,
names, tab stops, and a console without errors and warnings.
"""

import re
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core import signing
from django.utils import timezone

from applications.mail.links import alert_token
from applications.models import JobAlert, SubmissionFile
from applications.submissions.links import receipt_path
from tests import admin_pages
from tests.applications.applicants import make_anonymous
from tests.applications.makers import make_stage
from tests.browser.accessibility import Console, all_findings, both_findings
from tests.browser.admin import ADMIN, run_action, save, serve_static_files, visit
from tests.factories import make_vacancy
from vacancies.access.previews import token_for
from vacancies.models import Brand, FilterOption

OTHERS = (
    "/admin/",
    "/admin/password_change/",
    "/admin/password_change/done/",
    "/admin/vacancies/",
    "/admin/applications/",
    "/admin/vacancies/vacancy/?q=nothing+that+exists",
    "/admin/vacancies/recruiter/add/?_popup=1",
)
LONG = "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft " * 2
PANEL, OPEN_LIST = "[role=tabpanel]", ".select2-container--open"
EDITORS_HAVE_NAMES = (
    "[...document.querySelectorAll('.prose-editor')].every((each) => "
    "each.querySelector('[aria-label]'))"
)


@pytest.fixture
def world(filters: Any, settings: Any) -> SimpleNamespace:
    """Rows of every model, and sessions of every role."""
    serve_static_files(settings)
    found = admin_pages.build()
    # Text, because the frame of a PDF would still load files when the next page is opened.
    SubmissionFile.objects.update(kind="txt")
    for pk in SubmissionFile.objects.values_list("pk", flat=True):
        admin_pages.place_file(pk)
    return found


@pytest.fixture
def console(browser_page: Any) -> Iterator[Console]:
    heard = Console(browser_page)
    yield heard
    assert sorted(set(heard.reported)) == []


def sign_in(page: Any, site: str, world: SimpleNamespace, name: str) -> None:
    page.context.add_cookies([{"name": "sessionid", "value": world.sessions[name], "url": site}])


def addresses(world: SimpleNamespace) -> Iterator[tuple[str, str]]:
    """Yield the kinds and addresses of all pages of the admin."""
    for route in admin_pages.routes():
        model, kind = admin_pages.kind_of(route) or ("", "")
        if model:
            row = world.own.shown if kind in ("unpublish", "extend") else world.spare[model]
            pk = world.own.draft.pk if kind == "versions" else row.pk
            number = admin_pages.version_of(pk) if kind == "versions" else 0
            yield kind, admin_pages.address(route, pk, number)
    yield from (("other", address) for address in OTHERS)


def pages(world: SimpleNamespace, role: str, kinds: str) -> Iterator[str]:
    """Yield the addresses of pages which together render every template of the pages that `role`
    may open.
    """
    client = admin_pages.signed_in(world, role)
    new: dict[str, set[Any]] = {}
    for kind, address in addresses(world):
        answer = client.get(address) if re.fullmatch(kinds, kind) else None
        names = {each.name for each in answer.templates} if answer else set()
        if answer and answer.status_code == 200 and "admin/base.html" in names:
            new[address] = names
    while new := {address: names for address, names in new.items() if names}:
        best = max(new, key=lambda address: len(new[address]))
        yield best
        new = {address: names - new[best] for address, names in new.items()}


@pytest.mark.parametrize(("role", "kinds", "least"), [("root", ".*", 30), ("Auditor", "change", 4)])
def test_admin_pages_are_accessible(
    live_server: Any,
    browser_page: Any,
    world: SimpleNamespace,
    console: Console,
    role: str,
    kinds: str,
    least: int,
) -> None:
    """All pages, and those of an auditor, whose forms have no inputs."""
    page, site = browser_page, live_server.url
    sign_in(page, site, world, role)
    opened = list(pages(world, role, kinds))
    found: list[str] = []
    for address in opened:
        visit(page, site + address)
        found += all_findings(page, address)
    assert found == []
    assert len(opened) >= least


@pytest.fixture
def applicant(world: SimpleNamespace, settings: Any) -> SimpleNamespace:
    """The addresses of an applicant with and without an account, and of people without any."""
    settings.APPLY_PAGES, settings.APPLY_PROOF = True, "off"
    vacancy = make_vacancy(title=LONG, form=world.default)
    receipt = receipt_path(
        make_anonymous("an@example.org", vacancy=vacancy, stage=make_stage(en="In interviews"))
    )
    unconfirmed = receipt_path(make_anonymous("bo@example.org", vacancy=vacancy, verified_at=None))
    user = User.objects.create_user("mia", "mia@example.org")
    own = make_anonymous(user=user, vacancy=vacancy)
    thanks = signing.dumps(own.pk, salt="applications.thanks")
    links = (
        receipt,
        unconfirmed,
        *(f"{receipt}/{name}" for name in ("withdraw", "delete", "account")),
    )
    account = f"/account/applications/{own.pk}"
    alerts = [
        JobAlert.objects.create(
            address=f"a{n}@example.org",
            address_folded=f"a{n}@example.org",
            query="filter%5Bsearch%5D=x",
            language="en",
            frequency="daily",
            confirmed_at=confirmed_at,
            ends_at=timezone.now(),
        )
        for n, confirmed_at in enumerate((timezone.now(), None))
    ]
    confirmed, waiting = (f"/alerts/{alert_token(alert)}" for alert in alerts)
    return SimpleNamespace(
        session=admin_pages.session_of(user),
        visitors=(
            "/alerts?filter[search]=x",
            "/alerts/sent",
            waiting.replace("alerts", "alerts/confirm"),
            confirmed,
            f"{confirmed}/unsubscribe",
        ),
        everybody=(
            "/account/login",
            "/account/reset",
            "/account/reset/sent",
            "/account/reset/x/y",
            *links,
            "/account/receipt/x",
            "/account/deleted",
            "/account/nothing",
            f"/apply/{vacancy.pk}",
            "/apply/0",
            f"/apply/thanks/{thanks}",
            f"/preview/{token_for(vacancy.pk)}",
            "/preview/x",
            "/admin/login/",
        ),
        signed_in=(
            "/account/",
            "/account/password",
            "/account/delete",
            account,
            f"{account}/withdraw",
            f"{account}/delete",
            "/account/applications/0",
        ),
    )


@pytest.mark.parametrize("who", ["everybody", "signed_in", "visitors"])
def test_pages_of_applicants_are_accessible(
    live_server: Any,
    browser_page: Any,
    applicant: SimpleNamespace,
    console: Console,
    settings: Any,
    who: str,
) -> None:
    settings.CAREER_SITE = who == "visitors"
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


def test_what_opens_on_pages_is_accessible(
    live_server: Any, browser_page: Any, world: SimpleNamespace
) -> None:
    """Tabs, rows, dialogs, filters, errors and confirmations."""
    page, site, vacancy = browser_page, live_server.url, world.own.shown
    sign_in(page, site, world, "root")
    found = []
    visit(page, f"{site}{ADMIN}{vacancy.pk}/change/")
    for each in page.get_by_role("tab").all():
        each.click()
        found += both_findings(page, each.inner_text(), PANEL)
    page.get_by_role("tab", name="People").click()
    page.get_by_role("link", name="Add recruiter").first.click()
    found += both_findings(page, "an empty row", PANEL)
    page.get_by_role("tab", name="Texts").click()
    page.fill("#id_title", "Night nurse")
    page.get_by_role("button", name="Review changes").click()
    page.get_by_role("dialog").wait_for()
    found += both_findings(page, "review", "dialog[open]")
    page.get_by_role("button", name="Keep editing").click()
    page.fill("#id_title", "")
    page.evaluate("document.querySelector('#id_title').required = false")
    save(page)
    found += both_findings(page, "refused")

    visit(page, f"{site}{ADMIN}")
    page.get_by_role("button", name="Filters").click()
    page.locator("#changelist-filter").wait_for()
    found += both_findings(page, "filters of the list")
    visit(page, f"{site}{ADMIN}")
    page.locator("input[name=_selected_action]").first.check()
    found += both_findings(page, "actions of the list")
    run_action(page, "Schedule…")
    found += both_findings(page, "many")
    visit(page, f"{site}/admin/vacancies/filteroption/")
    for option in FilterOption.objects.filter(label__in=("Spare region", "Used region")):
        page.locator(f"input[name=_selected_action][value='{option.pk}']").check()
    run_action(page, "Merge…")
    found += both_findings(page, "merging")
    assert found == []


def test_menus_lists_and_calendars_are_accessible(
    live_server: Any, browser_page: Any, world: SimpleNamespace, settings: Any
) -> None:
    """What opens over a page: it is opened by the keyboard or a click, and closed by Escape."""
    page, site, vacancy = browser_page, live_server.url, world.own.shown
    settings.CAREER_SITE = True  # the page of a brand then has its color
    Brand.objects.update(accent="#ffcc00")
    sign_in(page, site, world, "root")
    found = []
    visit(page, f"{site}{ADMIN}{vacancy.pk}/change/")
    page.locator("[x-data*=openUserLinks] > [data-opener]").click()
    page.locator("#logout-form").wait_for()
    found += both_findings(page, "menu of the user", "[x-data*=openUserLinks]")
    page.locator("[x-data*=openUserLinks] > [data-opener]").click()
    page.locator("#site-search input").press_sequentially("nurse")
    page.locator("#site-search-results:not([hidden])").wait_for()
    found += both_findings(page, "search", "#site-search")
    page.keyboard.press("Escape")
    page.get_by_role("tab", name="Job details").click()
    page.locator("#id_regions + .select2 .select2-selection").click()
    page.locator(".select2-results__option").first.wait_for()
    found += both_findings(page, "list of options", OPEN_LIST)
    page.keyboard.press("Escape")
    page.get_by_role("tab", name="People").click()
    page.locator("#id_head_recruiter + .select2 .select2-selection").click()
    page.locator(".select2-results__option:not(.loading-results)").first.wait_for()
    found += both_findings(page, "list of recruiters", OPEN_LIST)
    page.keyboard.press("Escape")
    page.get_by_role("tab", name="Publication").click()
    page.locator(".date-icon:visible").first.click()
    page.locator(".calendarbox:visible").wait_for()
    found += both_findings(page, "calendar", ".calendarbox")
    page.keyboard.press("Escape")
    page.locator(".clock-icon:visible").first.click()
    page.locator(".clockbox:visible").wait_for()
    found += both_findings(page, "times", ".clockbox")
    for name, address in (
        ("brand", f"/admin/vacancies/brand/{world.own.brand.pk}/change/"),
        ("history", f"{ADMIN}{vacancy.pk}/history/"),
        ("start page and menu", "/admin/"),
        ("list", f"{ADMIN}?state=draft"),
        ("applications", "/admin/applications/application/?read=no"),
        ("interviews", "/admin/applications/historyentry/?when=all"),
        ("emails", "/admin/applications/message/"),
    ):
        visit(page, f"{site}{address}")
        page.evaluate("document.querySelectorAll('details').forEach((each) => (each.open = true))")
        page.evaluate("document.querySelector('#action-toggle')?.click()")
        found += both_findings(page, name)
    for address in ("/admin/", ADMIN, "/admin/applications/application/"):
        page.set_viewport_size({"width": 320, "height": 800})
        visit(page, f"{site}{address}")
        found += both_findings(page, f"{address} at 320 px")
        for width in (320, 640):  # 640: a laptop at 200 %
            page.set_viewport_size({"width": width, "height": 800})
            if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
                found.append(f"{address} is wider than {width} px")
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
            'link "Skip to main content"',
            'link "Vacancies"',
            'heading "Vacancies',
            "table:",
            'button "Menu"',
        ),
        f"/admin/vacancies/vacancy/{world.own.shown.pk}/change/": (
            'link "Skip to main content"',
            'button "Menu"',
            'toolbar "Actions for this vacancy"',
            'tablist "Sections of the vacancy"',
            'tab "Texts" [selected]',
            'textbox "Title*"',
            'textbox "Description"',
            'button "Save"',
        ),
        f"/admin/applications/application/{world.own.application.pk}/change/": (
            'button "Rate 4 of 5"',
            'group "Actions"',
            'tablist "On this page"',
            'tab "Answers" [selected]',
            'heading "Answers"',
        ),
    }.items():
        visit(page, site + address)
        page.wait_for_function(EDITORS_HAVE_NAMES)
        tree = page.locator("body").aria_snapshot()
        missing = [name for name in names if name not in tree]
        assert missing == [], f"{address}\n{tree}"
        icons = set(page.locator(".material-symbols-outlined").all_inner_texts()) - {""}
        named = [
            line
            for line in tree.splitlines()
            if any(f'"{icon}' in line for icon in icons if "_" in icon)
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
    names = toolbar.locator("> a, > details > summary").all_inner_texts()
    tabs_to(page, "[role=toolbar] *")
    focused = "document.activeElement.innerText"
    assert page.evaluate(focused) == names[0]
    for key, name in (("ArrowRight", names[1]), ("End", names[-1]), ("ArrowRight", names[0])):
        page.keyboard.press(key)
        assert page.evaluate(focused) == name
    assert names[-1].startswith("More")
    page.keyboard.press("End")
    page.keyboard.press("Enter")  # the menu
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('.panel-menu') !== null")
    page.keyboard.press("Escape")
    assert page.evaluate(focused) == names[-1]
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('.tabs-row') !== null")
