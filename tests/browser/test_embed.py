"""The list of vacancies on a page of another site (embed.js)."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.browser.accessibility import findings
from tests.factories import make_brand, make_text, make_vacancy
from tests.servers import stub_server

HOSTILE = '<img src=x onerror="alert(1)"> \u202eesrun'
READ = """() => [...document.querySelectorAll("job-vacancies")].map((element) => [
  [...element.shadowRoot.querySelectorAll("p, a, span")].map((each) => [each.part.value, each.textContent]),
  element.querySelector("a").checkVisibility(),
])"""
OPEN = {"Access-Control-Allow-Origin": "*"}
LINK = '<a href="https://jobs.example.com/jobs">All jobs</a>'
SHORT = """
  const timeout = AbortSignal.timeout;
  if (location.hash === "#short") AbortSignal.timeout = (ms) => timeout.call(AbortSignal, ms / 100);
"""


@contextmanager
def other_site(site: str, *attributes: str) -> Iterator[str]:
    """Serve a page with lists, which allows the module and its requests only."""
    lists = "".join(
        f"<h2>B</h2><job-vacancies {each}>{LINK}</job-vacancies>" for each in attributes
    )
    html = (
        f'<!doctype html><html lang="en"><title>A</title><main><h1>A</h1>{lists}</main>'
        f'<script type="module" src="{site}/embed.js"></script></html>'
    )
    policy = f"default-src 'none'; script-src {site}; connect-src {site}"
    headers = {"Content-Type": "text/html", "Content-Security-Policy": policy}
    with stub_server({"/": (200, headers, html.encode())}) as (url, _requested):
        yield url


def test_list_of_vacancies_on_a_page_of_another_origin(
    browser_page: Any, live_server: Any, settings: Any
) -> None:
    settings.CAREER_SITE = True
    settings.TEXT_LANGUAGES = ["fr"]
    brand = make_brand("Acme", slug="acme", host="jobs.acme.test")
    places = ({"locality": "Ghent", "country": "BE"},) * 2
    end = datetime(2199, 5, 3, tzinfo=UTC)
    make_vacancy(title=HOSTILE, brand=brand, language="nl", publish_until=end, places=places)
    cook = make_vacancy(title="Cook", brand=make_brand("Other", slug="other"))
    make_text(cook, "fr", title="Cuisinière")
    make_brand("None", slug="none")
    page = browser_page
    attributes = (
        'filter-brand="acme" lang="nl-BE" source="our site"',
        'filter-brand="none" lang="de"',
        'size="0"',
        'filter-brand="other" lang="fr"',
        'filter-brand="other" lang="en"',
    )
    warnings: list[str] = []
    page.on("console", lambda message: warnings.append(message.text))
    with other_site(live_server.url, *attributes) as url:
        page.goto(url)
        page.wait_for_load_state("networkidle")

    assert page.evaluate(READ) == [
        [[["title", HOSTILE], ["place", "Ghent"], ["closes", "Sluit op 2 mei 2199"]], True],
        [[["empty", "Zurzeit gibt es keine offenen Stellen."]], True],
        [[], True],
        [[["title", "Cuisinière"]], True],
        [[["title", "Cook"]], True],
    ]
    assert len(warnings) == 2  # the browser's, of a status 400, and ours
    assert "page[size]" in warnings[-1]
    assert findings(page) == []
    title = page.locator("[part=title]").first
    assert page.locator("[part=title]").nth(1).get_attribute("lang") == "fr"
    link = urlsplit(title.get_attribute("href"))
    assert (link.netloc, parse_qs(link.query)) == ("jobs.acme.test", {"source": ["our site"]})
    assert [title.get_attribute(name) for name in ("lang", "dir")] == ["nl", "auto"]
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.shadowRoot.activeElement.part.value") == "title"
    assert (
        page.evaluate("getComputedStyle(document.querySelector('job-vacancies')).display")
        == "block"
    )


def test_link_remains_if_the_service_fails(
    browser_page: Any, live_server: Any, settings: Any
) -> None:
    settings.CAREER_SITE = True
    page = browser_page
    page.add_init_script(SHORT)
    failures: dict[str, Callable[[Any], None]] = {
        "TimeoutError|timed out": lambda route: None,  # no answer
        "Failed to fetch": lambda route: route.abort(),
        "not valid JSON": lambda route: route.fulfill(status=502, body="<html>", headers=OPEN),
        "Too many": lambda route: route.fulfill(
            status=429, json={"detail": "Too many."}, headers=OPEN
        ),
        "Cannot read|not iterable|undefined": lambda route: route.fulfill(json={}, headers=OPEN),
    }
    with other_site(live_server.url, "") as url:
        for text, fail in failures.items():
            page.unroute_all()
            page.route("**/v1/vacancies*", fail)
            with page.expect_console_message(
                lambda message: message.text.startswith("job-vacancies")
            ) as found:
                page.goto("about:blank")  # else another hash does not load the page again
                page.goto(f"{url}#short" if "timed out" in text else url)
            assert re.search(text, found.value.text), found.value.text
            assert page.evaluate(READ) == [[[], True]]
