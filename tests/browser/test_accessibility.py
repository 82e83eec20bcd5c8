"""Every page of the site: axe in both colour schemes and at two widths, landmarks, names, tab stops, and a console
without errors and warnings."""

import re
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from tests import admin_pages
from tests.browser.accessibility import Console, all_findings
from tests.browser.admin import screenshot, serve_static_files, visit

pytestmark = [pytest.mark.slow, pytest.mark.browser, pytest.mark.django_db(transaction=True)]
# Addresses that serve no page: files, JSON, redirects, and pages that only answer a POST.
NO_PAGES = ("bare", "files", "export", "options", "sections", "preview", "application-form", "undo-moves")
OTHERS = (
    "/admin/",
    "/admin/search/?s=zzown",
    "/admin/password_change/",
    "/admin/password_change/done/",
    "/admin/vacancies/",
    "/admin/applications/",
    "/admin/vacancies/vacancy/?q=nothing+that+exists",
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


def pages_of(world: SimpleNamespace, app: str) -> list[str]:
    """The addresses of the pages of the models of `app`."""
    found = []
    for route in admin_pages.routes():
        model, kind = admin_pages.kind_of(route) or ("", "")
        if model.startswith(f"{app}.") and kind not in NO_PAGES:
            row = world.own.shown if kind in ("unpublish", "extend", "review") else world.spare[model]
            pk = world.own.draft.pk if kind == "versions" else row.pk
            number = admin_pages.version_of(pk) if kind == "versions" else 0
            found.append(admin_pages.address(route, pk, number))
    return found


@pytest.mark.parametrize("app", [*admin_pages.APPS, "others"])
def test_admin_pages_are_accessible(
    live_server: Any, browser_page: Any, world: SimpleNamespace, console: Console, app: str
) -> None:
    page, site = browser_page, live_server.url
    sign_in(page, site, world, "root")
    found, checked = [], 0
    for address in OTHERS if app == "others" else pages_of(world, app):
        console.expected = address
        response = visit(page, site + address)
        console.expected = ""
        if response.status == 200:
            found += all_findings(page, address)
            checked += 1
        else:  # needs a POST, or the model has no such page
            assert response.status in (403, 405), address
    assert found == []
    assert checked >= {"applications": 30, "vacancies": 30, "forms_structure": 8, "auth": 8, "others": 7}[app]


def test_shot(live_server: Any, browser_page: Any, world: Any) -> None:
    page, site = browser_page, live_server.url
    sign_in(page, site, world, "root")
    visit(page, f"{site}/admin/auth/user/{world.spare['auth.user'].pk}/change/")
    page.wait_for_timeout(500)
    page.screenshot(path="/tmp/h/user.png", full_page=True)
    print(
        page.evaluate(
            """[...document.querySelectorAll('#main *')].filter(e => e.getBoundingClientRect().right > innerWidth).slice(0,8).map(e => e.outerHTML.slice(0,150))"""
        )
    )
    page.set_viewport_size({"width": 320, "height": 800})
    page.screenshot(path="/tmp/h/user320.png", full_page=True)
    print(
        page.evaluate(
            """[...document.querySelectorAll('#main *')].filter(e => e.getBoundingClientRect().right > innerWidth).slice(0,8).map(e => e.outerHTML.slice(0,150))"""
        )
    )
    visit(page, f"{site}/admin/vacancies/vacancy/")
    page.screenshot(path="/tmp/h/list.png", full_page=True)
    page.context.clear_cookies()
    visit(page, f"{site}/admin/")
    page.set_viewport_size({"width": 1400, "height": 800})
    page.screenshot(path="/tmp/h/login.png", full_page=True)
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Shift+Tab")
    visit(page, f"{site}/admin/")
    for _ in range(4):
        page.keyboard.press("Tab")
        print(page.evaluate("document.activeElement.outerHTML.slice(0,120)"))
