"""No text that a user can store runs as code on the pages whose scripts insert texts.

tests/test_inert_texts.py reads the markup of every page. This test opens those with scripts of
their own in Chromium, with the same texts, and clicks what opens something.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from tests import admin_pages
from tests.browser.admin import serve_static_files
from tests.browser.test_hostile_html import ALARM
from tests.marked_texts import add_what_shows_more, poison
from vacancies.access.previews import token_for
from vacancies.models import Vacancy

# Elements made of the marker, in templates that Alpine has not opened too; and attributes that it
# ended.
FOUND = """() => {
  const roots = [document, ...[...document.querySelectorAll("template")].map((each) => each.content)];
  const broken = roots.flatMap((root) => [...root.querySelectorAll("[zz]")])
    .map((each) => each.cloneNode().outerHTML);
  return [...broken, ...(window.__pwned ? ["a script ran"] : [])];
}"""
# Clicks what opens something, and cancels navigations: the page is examined afterwards.
CLICK = """() => {
  window.navigation.addEventListener("navigate", (event) => {
    if (event.cancelable && !event.hashChange) event.preventDefault();
  });
  const opening = "summary, [role=tab], button, [x-on\\\\:click]";
  for (const each of document.querySelectorAll(opening))
    if (each.type !== "submit" && !each.closest("a[href]:not([href^='#'])")) each.click();
  window.django?.jQuery?.(".select2-hidden-accessible")?.each(function () {
    window.django.jQuery(this).select2("open");
  });
}"""
# The form builder's buttons would lead to a new form.
NO_NEW_FORMS = r"""(() => {
  const send = window.fetch;
  window.fetch = (url, options) =>
    /\/form\/[0-9]+\/(copy|extend)\/$/.test(new URL(url, document.baseURI).pathname)
    ? Promise.reject(new TypeError("not sent")) : send(url, options);
})()"""
# The lists are loaded, and Alpine has evaluated what a click added.
SETTLED = """async () => {
  for (const frame of "12") await new Promise(requestAnimationFrame);
  return !document.querySelector(".loading-results") && !window.django?.jQuery?.active;
}"""


@pytest.fixture
def visit(browser_page: Any, settings: Any) -> Iterator[Any]:
    """A function that opens a URL in a tab of its own, and yields the tab and the response: what a
    click left unsaved on one page cannot stop the navigation to the next one. Dialogs are answered,
    popups are closed. A script error in a tab fails the test. Routes of Playwright would disable
    the browser's cache.
    """
    serve_static_files(settings)
    context, errors = browser_page.context, []

    @contextmanager
    def open_tab(url: str) -> Iterator[tuple[Any, Any]]:
        tab = context.new_page()
        # With input that only the browser has, a page would be loaded twice, perhaps while it is
        # examined.
        for script in (ALARM, NO_NEW_FORMS, "localStorage.clear()"):
            tab.add_init_script(script)
        tab.set_default_timeout(30_000)  # shared machines
        tab.on("pageerror", lambda error: errors.append(f"{url}: {error}"))
        tab.on("dialog", answer_dialog)
        tab.on("popup", lambda other: other.close())
        try:
            yield tab, tab.goto(url, wait_until="load")
        finally:
            tab.close()

    yield open_tab
    assert errors == []


def answer_dialog(dialog: Any) -> None:
    dialog.accept() if dialog.type == "beforeunload" else dialog.dismiss()


def test_no_stored_text_runs_on_pages_with_scripts(
    live_server: Any, browser_page: Any, visit: Any, filters: Any, settings: Any
) -> None:
    settings.APPLY_PAGES, settings.APPLY_PROOF = True, "off"
    site = live_server.url
    world = admin_pages.build()
    add_what_shows_more(world)
    poison()
    Vacancy.objects.filter(pk=world.own.shown.pk).update(apply_url="")  # its pages show a form
    cookie = {"name": "sessionid", "value": world.sessions["root"], "url": site}
    browser_page.context.add_cookies([cookie])
    own = world.own
    found, hidden = {}, []
    for url in (
        "/docs",
        f"/preview/{token_for(own.shown.pk)}",
        f"/apply/{own.shown.pk}",
        "/admin/",  # with the search
        "/admin/vacancies/vacancy/",
        "/admin/vacancies/vacancy/add/",
        f"/admin/vacancies/vacancy/{own.shown.pk}/change/",
        f"/admin/vacancies/brand/{own.brand.pk}/change/",
        f"/admin/vacancies/filter/{world.spare['vacancies.filter'].pk}/change/",
        f"/admin/forms_structure/form/{own.form.pk}/change/",
        f"/admin/auth/user/{world.spare['auth.user'].pk}/change/",
        "/admin/applications/application/",
        "/admin/applications/application/board/",
        "/admin/applications/application/add/",
        f"/admin/applications/application/{own.application.pk}/change/",
    ):
        with visit(f"{site}{url}") as (page, answer):
            assert answer.status == 200, url
            if "{{ pwned() }}" not in page.evaluate("document.documentElement.textContent"):
                hidden.append(url)
            if url == "/admin/":
                page.get_by_role("combobox", name="Search").fill("zz")
                page.get_by_role("listbox", name="Search results").get_by_role(
                    "option"
                ).first.wait_for()
            page.evaluate(CLICK)
            page.wait_for_function(SETTLED)
            found[url] = page.evaluate(FOUND)

    assert {url: faults for url, faults in found.items() if faults} == {}
    assert hidden == ["/docs"]
