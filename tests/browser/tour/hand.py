"""What a recruiter does with mouse and keyboard, counted."""

import time
from collections.abc import Callable
from typing import Any

# Seconds per operator of the keystroke-level model, for an average typist (40 words a minute).
KEY = 0.28  # K: a key
POINT = 1.1  # P: move the mouse to a target
CLICK = 0.2  # BB: press and release the button
HOME = 0.4  # H: move the hand between mouse and keyboard
THINK = 1.35  # M: decide on the next step; before each target and each text

WAIT = 20_000  # ms for something to appear; machines are shared


class NotPossibleError(Exception):
    """The site has no control for the task."""


class Hand:
    """Uses `page` by roles and labels, as a person does, and counts."""

    def __init__(self, page: Any, site: str) -> None:
        self.page, self.site = page, site
        self.clicks = self.keys = self.pages = 0
        self.seconds = 0.0  # of the person
        self.waited = 0.0  # for the server
        self._is_on_mouse = True

    # --- what it sees ---

    def find(self, *targets: Any, timeout: int = WAIT) -> Any:
        """Return the first of `targets` that is visible; locators, best first."""
        end = time.monotonic() + timeout / 1000
        while True:
            for target in targets:
                for each in target.all():
                    if each.is_visible():
                        return each
            if time.monotonic() > end:
                raise NotPossibleError
            self.page.wait_for_timeout(100)

    def link(self, name: Any) -> Any:
        return self.page.get_by_role("link", name=name, exact=isinstance(name, str))

    def button(self, name: Any) -> Any:
        return self.page.get_by_role("button", name=name, exact=isinstance(name, str))

    def field(self, name: Any) -> Any:
        return self.page.get_by_label(name)

    def text(self, words: Any) -> Any:
        return self.page.get_by_text(words)

    # --- what it does ---

    def click(self, *targets: Any, timeout: int = WAIT) -> None:
        target = self.find(*targets, timeout=timeout)
        self._use(mouse=True)
        self.clicks += 1
        self.seconds += THINK + POINT + CLICK
        target.click()

    def follow(self, *targets: Any, timeout: int = WAIT) -> None:
        """Click something that opens a page, and wait for the page."""
        target = self.find(*targets, timeout=timeout)
        self._use(mouse=True)
        self.clicks += 1
        self.seconds += THINK + POINT + CLICK
        self._load(target.click)

    def choose(self, target: Any, label: str) -> None:
        """Choose an option of a select: two clicks."""
        select = self.find(target)
        self._use(mouse=True)
        self.clicks += 2
        self.seconds += THINK + 2 * (POINT + CLICK)
        select.select_option(label=label)

    def type(self, text: str, target: Any = None) -> None:
        """Type into `target`, which is clicked first, or where the cursor is."""
        if target is not None:
            self.click(target)
        self._use(mouse=False)
        self.keys += len(text)
        self.seconds += THINK + len(text) * KEY
        self.page.keyboard.type(text)

    def paste(self, text: str, target: Any) -> None:
        self.click(target)
        self._use(mouse=False)
        self.keys += 2
        self.seconds += 2 * KEY
        self.page.keyboard.insert_text(text)

    def press(self, key: str) -> None:
        self._use(mouse=False)
        self.keys += 1
        self.seconds += KEY
        self.page.keyboard.press(key)

    def enter(self) -> None:
        """Press Enter, and wait for the page that it opens."""
        self._use(mouse=False)
        self.keys += 1
        self.seconds += KEY
        self._load(lambda: self.page.keyboard.press("Enter"))

    def attach(self, target: Any, name: str, content: bytes) -> None:
        """Choose a file: a click, a double click in the dialog."""
        self._use(mouse=True)
        self.clicks += 3
        self.seconds += THINK + 2 * (POINT + CLICK) + CLICK
        self.find(target).set_input_files({"name": name, "mimeType": "text/csv", "buffer": content})

    def option(self, field: str, words: str) -> None:
        """Choose `words` in the searched select `field`: click, type, Enter."""
        self.click(self.page.locator(f"#id_{field} + .select2 .select2-selection"))
        self.type(words)
        self.find(self.page.locator(".select2-results__option--highlighted", has_text=words))
        self.press("Enter")

    def action(self, *labels: str) -> None:
        """Run the first of the actions `labels` that the list offers."""
        select = self.page.locator("select[name=action]")
        offered = [each.strip() for each in self.find(select).locator("option").all_inner_texts()]
        found = next((label for label in labels if label in offered), None)
        if found is None:
            raise NotPossibleError
        self.choose(select, found)
        self.follow(self.button("Run"))

    # --- counting ---

    def _use(self, *, mouse: bool) -> None:
        if mouse != self._is_on_mouse:
            self._is_on_mouse = mouse
            self.seconds += HOME

    def _load(self, act: Callable[[], Any]) -> None:
        began = time.monotonic()
        with self.page.expect_navigation(wait_until="load", timeout=120_000):
            act()
        self.waited += time.monotonic() - began
        self.pages += 1
