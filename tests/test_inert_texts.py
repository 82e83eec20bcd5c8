"""No text that a user can store becomes markup or code on a page that a superuser opens.

Every text column of the site is set to a marker that holds markup, event handlers, Alpine
directives and template syntax. The test reads the pages of the admin, of accounts, the preview and
the documentation as a browser without scripts does, and submits their forms, whose messages and
errors repeat texts. tests/browser/test_inert_texts.py opens those whose scripts insert texts in a
browser.
"""

from html.parser import HTMLParser
from typing import Any

import pytest

from tests import admin_pages
from tests.hostile_html import as_browsers_read
from tests.marked_texts import add_what_shows_more, poison, urls

CODE = ("on", "x-", "@", ":", "hx-", "style", "srcdoc")  # attributes whose value is code
URLS = ("href", "src", "action", "formaction", "xlink:href", "data")
SCRIPT_SCHEMES = ("javascript:", "data:text", "vbscript:")
NOT_POSTED = ("submit", "button", "image", "reset", "file")


class Page(HTMLParser):
    """`faults`: what marked texts became; `text`: what the page shows; `fields`: what its form
    posts, None if there is no form but those that sign out or choose a language.
    """

    def __init__(self, html: str) -> None:
        super().__init__()
        self.faults: list[str] = []
        self.text = ""
        self.fields: dict[str, list[str]] | None = None
        self.is_inside = self.is_script = False  # of that form, of a script
        self.select, self.textarea = "", ""  # the names of open ones
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        for name, value in values.items():
            is_made = "zz" in name or "pwned" in name
            is_code = name.startswith(CODE) and "pwned" in value
            is_script_url = name in URLS and as_browsers_read(value).startswith(SCRIPT_SCHEMES)
            if is_made or is_code or is_script_url:
                self.faults.append(f"<{tag}> {name}={value!r}")
        self.is_script = tag == "script" and "json" not in values.get("type", "")
        name, kind = values.get("name", ""), values.get("type", "text")
        if tag == "form" and self.fields is None and values.get("method") == "post":
            if values.get("id") != "logout-form" and "language" not in values.get("action", ""):
                self.fields, self.is_inside = {}, True
        elif tag == "textarea":
            self.textarea = name
            self._post(name, "")
        elif tag == "select":
            self.select = name
        elif tag == "option" and "selected" in values:
            self._post(self.select, values.get("value", ""))
        elif tag == "input" and (kind not in ("checkbox", "radio") or "checked" in values):
            self._post("" if kind in NOT_POSTED else name, values.get("value", "on"))

    def _post(self, name: str, value: str) -> None:
        if name and self.is_inside and self.fields is not None:
            self.fields.setdefault(name, []).append(value)

    def handle_endtag(self, tag: str) -> None:
        self.is_script = False
        self.is_inside = self.is_inside and tag != "form"
        self.textarea = ""

    def handle_data(self, data: str) -> None:
        self.text += data
        if self.is_script and "pwned" in data:
            self.faults.append(f"<script>: {data.strip()[:200]}")
        if self.is_inside and self.textarea and self.fields:
            self.fields[self.textarea][-1] += data


@pytest.mark.slow("renders and submits every page")
@pytest.mark.django_db
def test_no_stored_text_becomes_markup_on_any_page() -> None:
    world = admin_pages.build()
    add_what_shows_more(world)
    assert poison() > 300
    client = admin_pages.signed_in(world, "root")
    client.raise_request_exception = False
    found: dict[str, list[str]] = {}
    shown = []

    def read(name: str, answer: Any) -> Page | None:
        """Note what is wrong with a page."""
        is_page = not answer.streaming and "html" in answer.get("Content-Type", "")
        page = Page(answer.content.decode()) if is_page and answer.status_code != 302 else None
        found[name] = [str(answer.status_code)] if answer.status_code >= 500 else []
        if page:
            found[name] += page.faults
        if page and "{{ pwned() }}" in page.text:
            shown.append(name)
        return page

    for url in urls(world):
        page = read(url, client.get(url))
        if page and page.fields is not None:
            fields = page.fields | {"_continue": ["1"]}
            read(f"{url} submitted", client.post(url, fields, follow=True))
            # A script shows the answer.
            if url == f"/admin/vacancies/vacancy/{world.own.shown.pk}/change/":
                review = url.replace("/change/", "/review/")
                read(review, client.post(review, {**page.fields, "title": ["Changed"]}))

    assert {name: faults for name, faults in found.items() if faults} == {}
    assert len(found) > 290
    assert len(shown) > 240
