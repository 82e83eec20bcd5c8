"""Every page of the site: axe in both colour schemes and at two widths, landmarks, names, tab stops, and a
console without errors and warnings."""

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from tests import admin_pages
from tests.browser.accessibility import Console, all_findings
from tests.browser.admin import serve_static_files, visit

pytestmark = [pytest.mark.slow, pytest.mark.browser, pytest.mark.django_db(transaction=True)]
OTHERS = (
    "/admin/",
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


def addresses(world: SimpleNamespace, app: str) -> Iterator[str]:
    """Yield the addresses of all routes of the models of `app`."""
    for route in admin_pages.routes():
        model, kind = admin_pages.kind_of(route) or ("", "")
        if model.startswith(f"{app}."):
            row = world.own.shown if kind in ("unpublish", "extend") else world.spare[model]
            pk = world.own.draft.pk if kind == "versions" else row.pk
            number = admin_pages.version_of(pk) if kind == "versions" else 0
            yield admin_pages.address(route, pk, number)


def is_page(page: Any, address: str) -> bool:
    """Return whether `address` serves a whole page to GET: no JSON, no file, no redirect."""
    response = page.request.get(address, max_redirects=0)
    return response.status == 200 and "<html" in response.text()[:2000].lower()


@pytest.mark.parametrize("app", [*admin_pages.APPS, "others"])
def test_admin_pages_are_accessible(
    live_server: Any, browser_page: Any, world: SimpleNamespace, console: Console, app: str
) -> None:
    page, site = browser_page, live_server.url
    sign_in(page, site, world, "root")
    found: list[str] = []
    checked = 0
    for address in OTHERS if app == "others" else addresses(world, app):
        if is_page(page, site + address):
            visit(page, site + address)
            found += all_findings(page, address)
            checked += 1
    assert found == []
    assert checked >= {"applications": 30, "vacancies": 30, "forms_structure": 8, "auth": 8, "others": 6}[app]
