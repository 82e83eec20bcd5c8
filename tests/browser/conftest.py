"""A Chromium for the tests of pages; skipped without one. All tests that use it are marked."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.contrib.staticfiles.handlers import StaticFilesHandler

from tests.browser.programs import browser_path

# Playwright's synchronous interface runs an event loop in this thread, in which Django would refuse
# queries.
os.environ.setdefault("DJANGO_ALLOW_ASYNC_UNSAFE", "1")

# Tests that write attacks into texts: that the policy stops those too is as it should be.
HOSTILE = ("test_form_renderer", "test_hostile_html", "test_inert_texts", "test_paste")
ATTACKS = ("inline event handler", "Applying inline style", "http://evil.example/")

VIEWPORT = {"width": 1400, "height": 1000}
ONLY_THIS_MACHINE = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1"


@pytest.hookimpl(tryfirst=True)  # before tests are selected by their marks
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        names = getattr(item, "fixturenames", ())
        if "chromium" in names:
            item.add_marker(pytest.mark.browser)
            item.add_marker(pytest.mark.slow("drives a browser"))
            if "live_server" in names:
                item.add_marker(pytest.mark.django_db(transaction=True))


@pytest.fixture(scope="session", autouse=True)
def _cached_static_files() -> Iterator[None]:
    """Let browsers cache static files, and frames without an origin read them, as nginx does. A
    page has more than twenty of them.
    """
    serve = StaticFilesHandler.serve

    def serve_cacheable(self: Any, request: Any) -> Any:
        response = serve(self, request)
        response["Cache-Control"] = "max-age=3600"
        response["Access-Control-Allow-Origin"] = "*"
        return response

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(StaticFilesHandler, "serve", serve_cacheable)
        yield


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    playwright = pytest.importorskip("playwright.sync_api")
    path = browser_path()
    if path is None:
        pytest.skip("no chromium on this machine")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=path,
            args=[
                "--no-sandbox",
                "--disable-gpu",
                "--disable-background-networking",
                ONLY_THIS_MACHINE,
            ],
        )
        yield browser
        browser.close()


def accept_files(page: Any) -> None:
    """Give file choosers to `expect_file_chooser` from now on. It asks for them itself, but does
    not wait until the browser does so: on a busy machine, a key press was faster and the dialog was
    lost.
    """
    page.on("filechooser", lambda _chooser: None)


@pytest.fixture(scope="session")
def context(chromium: Any) -> Any:
    """What windows share, because a page of the admin has fifty static files:
    the browser's cache.
    """
    return chromium.new_context(viewport=VIEWPORT)


@contextmanager
def window(context: Any, module: str) -> Iterator[tuple[Any, list[str]]]:
    """A page, and the list of its script errors and violations of the content security policy, also
    in frames and windows that it opens. It shares nothing with the window before but the cache.
    """
    others = set(context.pages)
    page = context.new_page()
    page.set_default_timeout(30_000)  # shared machines
    accept_files(page)
    failures: list[str] = []
    page.on("pageerror", lambda error: failures.append(str(error)))
    attacks = ATTACKS if module.endswith(HOSTILE) else ()

    def heard(message: Any) -> None:
        text = message.text
        if "Content Security Policy" in text and not any(attack in text for attack in attacks):
            failures.append(f"{message.location.get('url')}: {text}")

    context.on("console", heard)
    yield page, failures
    context.remove_listener("console", heard)
    blank = context.new_page()
    for each in set(context.pages) - others - {blank}:
        each.close()
    stored = {"origin": "*", "storageTypes": "all"}
    context.new_cdp_session(blank).send("Storage.clearDataForOrigin", stored)
    blank.close()
    context.clear_permissions()
    context.set_offline(False)


@pytest.fixture
def browser_page(context: Any, request: Any, settings: Any) -> Iterator[Any]:
    settings.PUBLIC_MAX_AGE = 0  # rows of another test can have the same address
    with window(context, request.module.__name__) as (page, failures):
        yield page
    assert failures == []


@pytest.fixture(scope="module")
def _shared_window(context: Any, request: Any) -> Iterator[Any]:
    with window(context, request.module.__name__) as shared:
        yield shared


@pytest.fixture
def shared_page(_shared_window: Any) -> Iterator[Any]:
    """One page for all tests of a module, without routes.
    It still shows what the last test opened.
    """
    page, failures = _shared_window
    failures.clear()
    yield page
    page.unroute_all()
    page.set_viewport_size(VIEWPORT)
    page.emulate_media(color_scheme="light")
    assert failures == []
