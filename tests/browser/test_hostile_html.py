"""What attackers write into texts runs in no browser: not on a page that shows what the interface
serves, and not in the admin, which may meet texts that were written around the models.

The corpus is in tests/hostile_html.py, what becomes of it on each way in is in
tests/test_hostile_html.py.
"""

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.contrib.auth.models import User
from django.db import connection, models
from django.test import Client

from tests.browser.admin import serve_static_files
from tests.browser.conftest import VIEWPORT
from tests.factories import make_vacancy
from tests.hostile_html import PAYLOADS, SCHEMES, TAGS
from vacancies.access.previews import token_for
from vacancies.fields import html_fields
from vacancies.models import Vacancy

TEXTS = html_fields(Vacancy)
HOSTS = ("localhost", "127.0.0.1")
ALARM = "window.pwned = () => { window.__pwned = true; return 1; };"
# What is there beyond the rule, as the browser sees it and not as anything in Python does.
STRANGE = """([root, tags, schemes]) => {
  const isWhole = (address) => URL.canParse(address) && schemes.includes(new URL(address).protocol);
  return [...document.querySelector(root).querySelectorAll("*")].flatMap((element) => {
    const isKnown = element.namespaceURI.endsWith("xhtml") && tags.includes(element.localName);
    const strange = [...element.attributes].filter(
      ({ name, value }) => element.localName !== "a" || name !== "href" || !isWhole(value));
    return isKnown && !strange.length ? [] : [element.cloneNode().outerHTML];
  });
}"""
# Pictures are loaded or refused, handlers of events and animations ran, and nothing is left to do.
HAD_TIME = """async () => {
  const isOver = (image) => new Promise((resolve) => {
    for (const name of ["load", "error"]) image.addEventListener(name, resolve);
  });
  await Promise.all([...document.images].filter((each) => !each.complete).map(isOver));
  for (const frame of "123") await new Promise(requestAnimationFrame);
  await new Promise((resolve) => requestIdleCallback(resolve, { timeout: 1000 }));
}"""


class Watch:
    """A page on which nothing may happen: `events` is what did."""

    def __init__(self, page: Any, site: str) -> None:
        self.page, self.site, self.events = page, site, []
        page.add_init_script(ALARM)
        page.on("dialog", self._dialog)
        page.context.on("page", lambda other: self.events.append(f"opened {other.url}"))
        page.context.route("**/*", self._request)
        page.on(
            "framenavigated",
            lambda frame: frame.parent_frame and self.events.append(f"frame {frame.url}"),
        )

    def _dialog(self, dialog: Any) -> None:
        self.events.append(f"dialog {dialog.message}")
        dialog.dismiss()

    def _request(self, route: Any) -> None:
        url = route.request.url
        if urlsplit(url).hostname in HOSTS:
            route.fallback()
        else:
            self.events.append(f"request to {url}")
            route.abort()

    def serve(self, path: str, body: str) -> None:
        """Answer for the site at `path` with a page that holds `body`;
        it allows whatever a page may.
        """
        html = f"<!doctype html><meta charset=utf-8><title>x</title><main>{body}</main>"
        self.page.route(
            f"**{path}", lambda route: route.fulfill(body=html, content_type="text/html")
        )

    def calm(self) -> list[str]:
        """Wait until what was started had its time, and return what happened."""
        self.page.evaluate(HAD_TIME)
        ran = ["a script ran"] if self.page.evaluate("() => Boolean(window.__pwned)") else []
        return [*self.events, *ran]


@pytest.fixture
def context(chromium: Any) -> Iterator[Any]:
    """One of its own, because it gets routes."""
    context = chromium.new_context(viewport=VIEWPORT)
    yield context
    context.close()


@pytest.fixture
def watch(live_server: Any, browser_page: Any, settings: Any, filters: Any) -> Watch:
    serve_static_files(settings)
    return Watch(browser_page, live_server.url)


@pytest.fixture
def served() -> Vacancy:
    """A vacancy like those that show all payloads, each in one of them."""
    like = make_vacancy()
    Vacancy.objects.bulk_create(
        Vacancy(
            title=name,
            description=html,
            brand=like.brand,
            head_recruiter=like.head_recruiter,
            status="published",
            publish_from=like.publish_from,
        )
        for name, html in PAYLOADS.items()
    )
    return like


def write_around_the_models(row: models.Model, values: dict[str, str]) -> None:
    """Store `values` as they are; PostgreSQL keeps no NUL."""
    if connection.vendor == "postgresql":
        values = {name: value.replace("\0", "") for name, value in values.items()}
    columns = ", ".join(f"{connection.ops.quote_name(name)} = %s" for name in values)
    with connection.cursor() as cursor:
        cursor.execute(
            f"UPDATE {row._meta.db_table} SET {columns} WHERE id = %s", [*values.values(), row.pk]
        )


def log_in(page: Any, site: str) -> None:
    client = Client()
    client.force_login(User.objects.create_superuser("anna"))
    cookie = client.cookies["sessionid"]
    page.context.add_cookies([{"name": "sessionid", "value": cookie.value, "url": site}])


def wait_for_editors(page: Any) -> None:
    for number in range(len(TEXTS)):
        page.locator(".prose-editor [contenteditable]").nth(number).wait_for(state="attached")


@pytest.mark.parametrize(
    "name", ["img-onerror", "style-url", "iframe-srcdoc", "svg-set", "href-relative"]
)
def test_watch_sees_what_happens_without_a_sanitiser(watch: Watch, name: str) -> None:
    page = watch.page
    watch.serve("/bare", "")
    page.goto(f"{watch.site}/bare")
    page.evaluate("html => { document.querySelector('main').innerHTML = html; }", PAYLOADS[name])

    assert watch.calm() or page.evaluate(STRANGE, ["main", sorted(TAGS), SCHEMES])


def test_nothing_runs_where_sites_show_the_texts(watch: Watch, served: Vacancy) -> None:
    """As sites do it: put into the page by a script, all together and one by one, and sent as a
    page.
    """
    page = watch.page
    watch.serve("/site", "")
    page.goto(f"{watch.site}/site")
    texts = page.evaluate(
        """async () => {
          const texts = [];
          for (let path = "/v1/vacancies?page[size]=100"; path; ) {
            const answer = await (await fetch(path)).json();
            texts.push(...answer.data.map((item) => item.description ?? ""));
            path = answer.links.next;
          }
          return texts;
        }"""
    )
    assert len(texts) == len(PAYLOADS) + 1
    rule = ["main", sorted(TAGS), SCHEMES]

    for each in [*texts, "".join(texts)]:
        page.evaluate("html => { document.querySelector('main').innerHTML = html; }", each)
        # read back and put in again: what a second parser makes of it
        page.evaluate(
            "() => { const main = document.querySelector('main'); main.innerHTML = "
            "main.innerHTML; }"
        )
        assert page.evaluate(STRANGE, rule) == [], each
    assert watch.calm() == []

    for number, body in enumerate(
        ("".join(texts), "".join(f"<div>{each}</div>" for each in texts))
    ):
        watch.serve(f"/whole{number}", body)
        page.goto(f"{watch.site}/whole{number}")
        assert page.locator("main a").count() > 10
        assert watch.calm() == []


def test_nothing_runs_in_the_form_for_texts_written_around_the_models(watch: Watch) -> None:
    page = watch.page
    log_in(page, watch.site)
    vacancy = make_vacancy()
    # one that leaves its textarea, then what does not need to: each editor reads what it holds
    first = [
        "img-onerror",
        "svg-onload",
        "mxss-noscript",
        "iframe-srcdoc",
        "script",
        "style-import",
    ]
    around = {
        TEXTS[0]: f"</textarea></script>{PAYLOADS['img-onerror']}",
        **{field: PAYLOADS[name] for field, name in zip(TEXTS[1:], first, strict=True)},
    }
    write_around_the_models(vacancy, {"title": PAYLOADS["img-onerror"], **around})
    assert Vacancy.objects.get().offer == around["offer"]

    page.goto(f"{watch.site}/admin/vacancies/vacancy/{vacancy.pk}/change/")
    wait_for_editors(page)
    assert watch.calm() == []
    # the editor's own reading of all others, as when their row is opened
    page.evaluate(
        """texts => {
          const { editor } = document.querySelector(".prose-editor [contenteditable]");
          for (const html of texts) editor.commands.setContent(html);
        }""",
        list(PAYLOADS.values()),
    )
    assert watch.calm() == []


def test_no_script_runs_in_a_preview_of_texts_written_around_the_models(
    live_server: Any, chromium: Any, watch: Watch
) -> None:
    """Its page shows texts as markup, cleaned once more, and its policy would hold without that
    too.
    """
    page = chromium.new_context().new_page()
    page.add_init_script(ALARM)
    page.context.route(lambda url: urlsplit(url).hostname not in HOSTS, lambda route: route.abort())
    vacancy = make_vacancy(status="draft", publish_from=None)
    payloads = list(PAYLOADS.values())
    url = f"{live_server.url}/preview/{token_for(vacancy.pk)}"

    for start in range(0, len(payloads), len(TEXTS)):
        group = payloads[start : start + len(TEXTS)]
        write_around_the_models(vacancy, dict(zip(TEXTS, group, strict=False)))
        answer = page.goto(url, wait_until="load")
        assert answer.status == 200
        assert vacancy.title in answer.text()
        page.evaluate(HAD_TIME)
        assert page.evaluate("() => Boolean(window.__pwned)") is False, group
    page.context.close()


def test_nothing_runs_when_it_is_pasted_into_the_editor(watch: Watch) -> None:
    page = watch.page
    log_in(page, watch.site)
    page.goto(f"{watch.site}/admin/vacancies/vacancy/add/")
    wait_for_editors(page)

    page.evaluate(
        """texts => {
          for (const html of texts) {
            const clipboardData = new DataTransfer();
            clipboardData.setData("text/html", html);
            clipboardData.setData("text/plain", "x");
            document.querySelector(".prose-editor [contenteditable]").dispatchEvent(
              new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }));
          }
        }""",
        list(PAYLOADS.values()),
    )

    assert watch.calm() == []
    assert (
        page.evaluate(
            "document.querySelector('.prose-editor [contenteditable]').textContent.length"
        )
        > 100
    )
