"""A recruiter who saves vacancies in the admin. Saves that were acknowledged must not be lost."""

import contextlib
import http.client
import re
import threading
import time
from html.parser import HTMLParser
from typing import Any
from urllib.parse import urlencode

from tests.chaos.config import PASSWORD, RECRUITER
from tests.chaos.traffic import is_unavailable


class FormParser(HTMLParser):
    """`values`: what the form with the id `name` posts if nothing is changed."""

    def __init__(self, name: str, page: str) -> None:
        super().__init__()
        self.name, self.is_inside, self.values = name, False, list[tuple[str, str]]()
        self.select, self.textarea = "", ""
        self.feed(page)
        if not self.values:
            raise ValueError(f"no form {name}: {page[:200]}")

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        name = values.get("name", "")
        if tag == "form":
            self.is_inside = values.get("id") == self.name
        if not self.is_inside:
            return
        if tag == "select":
            self.select = name
        elif tag == "textarea":
            self.textarea = name
            self.values.append((name, ""))
        elif tag == "option" and "selected" in values:
            self.values.append((self.select, values.get("value", "")))
        elif tag == "input" and name:
            kind = values.get("type", "text")
            if kind in ("submit", "button", "image", "file", "reset"):
                return
            if kind not in ("checkbox", "radio") or "checked" in values:
                self.values.append((name, values.get("value", "on" if kind == "checkbox" else "")))

    def handle_endtag(self, tag: str) -> None:
        if tag == "form":
            self.is_inside = False
        elif tag == "textarea":
            self.textarea = ""

    def handle_data(self, data: str) -> None:
        if self.textarea and self.is_inside:
            self.values[-1] = (self.textarea, self.values[-1][1] + data)


class Recruiter(threading.Thread):
    """Renames vacancies in the admin, one after another."""

    def __init__(self, port: int, pks: list[int], ended: threading.Event) -> None:
        super().__init__(daemon=True)
        self.port, self.pks, self.ended = port, pks, ended
        self.cookies: dict[str, str] = {}
        # By id: the title of the last save that was acknowledged, then those of attempts since. An
        # attempt without an answer may be committed, even later.
        self.titles: dict[int, list[str]] = {pk: [] for pk in pks}
        self.overwritten: list[str] = []  # acknowledged saves that a later form did not show
        self.saved_at: list[float] = []
        self.unavailable: list[tuple[float, str]] = []
        self.failed: list[tuple[float, str]] = []
        self.sign_in()

    def sign_in(self) -> None:
        status, _, page = self.request("/admin/login/")
        if status == 302:  # another node sent us here, and this one knows the session
            return
        fields = dict(FormParser("login-form", page).values) | {
            "username": RECRUITER,
            "password": PASSWORD,
        }
        status, _, page = self.request("/admin/login/", list(fields.items()))
        assert status == 302, f"not signed in: {status} {page[-400:]}"

    def request(self, path: str, form: list[tuple[str, str]] | None = None) -> tuple[int, Any, str]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        headers = {"Cookie": "; ".join(f"{name}={value}" for name, value in self.cookies.items())}
        if form is not None:
            headers["Content-Type"] = "application/x-www-form-urlencoded"
        with contextlib.closing(connection):
            body = None if form is None else urlencode(form)
            connection.request("GET" if form is None else "POST", path, body, headers)
            response = connection.getresponse()
            for cookie in response.headers.get_all("Set-Cookie") or ():
                name, _, value = cookie.partition(";")[0].partition("=")
                self.cookies[name] = value
            return response.status, response.headers, response.read().decode()

    def run(self) -> None:
        number = 0
        while not self.ended.wait(0.2):
            number += 1
            pk = self.pks[number % len(self.pks)]
            path = f"/admin/vacancies/vacancy/{pk}/change/"
            try:
                status, headers, page = self.request(path)
                if status == 302:  # a node of another release, whose cookies have other names
                    self.sign_in()
                    continue
                if status == 200:
                    form = FormParser("vacancy_form", page).values
                    before = dict(form)["title"]
                    if lost := self.lost({pk: before}):  # the next save would hide it
                        self.overwritten += lost
                        self.titles[pk] = []
                    title = f"{before.partition(' *')[0]} *{number}"
                    self.titles[pk] = [*(self.titles[pk] or [before]), title]
                    form = [
                        *((name, value) for name, value in form if name != "title"),
                        ("title", title),
                    ]
                    status, headers, page = self.request(path, [*form, ("_save", "Save")])
                    if status == 302:
                        self.saved_at.append(time.monotonic())
                        self.titles[pk] = [title]
                        continue
            except (OSError, http.client.HTTPException, ValueError) as error:
                status, headers, page = 0, {}, repr(error)
            if is_unavailable(status, headers):
                self.unavailable.append((time.monotonic(), path))
            else:
                errors = re.findall(r'class="errorlist[^>]*>.{,200}', page)
                self.failed.append((time.monotonic(), f"{path}: {status} {errors or page[-300:]}"))

    @property
    def saved(self) -> int:
        return len(self.saved_at)

    def lost(self, found: dict[int, str]) -> list[str]:
        """Acknowledged saves that are not among the titles `found`, of the
        database or of a form.
        """
        return [
            f"saved {self.titles[pk][0]!r}, found {title!r}"
            for pk, title in found.items()
            if self.titles[pk] and title not in self.titles[pk]
        ]
