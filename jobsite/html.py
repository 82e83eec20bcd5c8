"""Markup that texts may hold: what is let in, and what a reader sees of it."""

import re
from html.parser import HTMLParser
from typing import Any

import nh3

# What a text may hold (docs/decisions.md #11).
BLOCKS = {"p", "br", "ul", "ol", "li", "h2", "h3", "h4", "h5", "blockquote"}
TAGS = BLOCKS | {"strong", "b", "em", "i", "u", "a"}
DROPPED_WITH_CONTENT = {
    "script",
    "style",
    "iframe",
    "object",
    "embed",
    "template",
    "noscript",
    "svg",
    "math",
}
_CLEANER = nh3.Cleaner(
    tags=TAGS,
    clean_content_tags=DROPPED_WITH_CONTENT,
    attributes={"a": {"href"}, "*": set()},  # unsaid, lang and title would stay on everything
    url_schemes={"http", "https", "mailto", "tel"},
    url_relative="deny",  # texts are shown on other sites, where such a link leads elsewhere
    link_rel=None,
)

ROUNDS = 10

# Wrappers that end a line for the reader; unwrapped without a space they would glue words together.
_END_OF_WRAPPER = re.compile(
    r"(</(?:div|section|article|header|footer|main|aside|figure|table|tr|td|th|h1|h6|dt|dd|pre)\s*>)",
    re.IGNORECASE,
)


class CleanHtml(str):
    """Markup that went through `sanitise`; saves cleaning the same text twice on its way to a row."""


def sanitise(html: str) -> CleanHtml:
    """Return `html` with nothing but the allowed markup; text without anything to read becomes ""."""
    if isinstance(html, CleanHtml):
        return html
    clean = _CLEANER.clean(_END_OF_WRAPPER.sub(r" \1", html.replace("\0", "")))
    for _ in range(ROUNDS):  # what is mended in one round (a table in a link, say) may ask for another
        before, clean = clean, _CLEANER.clean(clean)
        if clean == before:
            break
    return CleanHtml(clean if visible_text(clean) else "")


class _TextCollector(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        if tag in BLOCKS:
            self.parts.append(" ")

    def handle_endtag(self, tag: str) -> None:
        self.handle_starttag(tag, None)

    def handle_data(self, data: str) -> None:
        self.parts.append(data)


def visible_text(html: str) -> str:
    """Return what a reader sees of sanitised `html`, words separated by single spaces."""
    if "<" not in html and "&" not in html:
        return " ".join(html.split())
    collector = _TextCollector()
    collector.feed(html)
    collector.close()
    return " ".join("".join(collector.parts).split())


_BULLET = "\u2022 "


class _LineCollector(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.lines: list[list[str]] = [[]]  # each in pieces: adding to one text would copy it every time

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        if tag == "li":
            self.lines.append([_BULLET])
        elif tag in BLOCKS and self.lines[-1] != [_BULLET]:  # the paragraph in an item is its first line
            self.lines.append([])

    def handle_endtag(self, tag: str) -> None:
        if tag in BLOCKS:
            self.lines.append([])

    def handle_data(self, data: str) -> None:
        if self.lines[-1] != [_BULLET] or data.strip():
            self.lines[-1].append(data)


def text_lines(html: str) -> list[str]:
    """Return what a reader sees of sanitised `html`, line by line; items of lists start with a bullet."""
    collector = _LineCollector()
    collector.feed(html)
    collector.close()
    lines = (" ".join("".join(pieces).split()) for pieces in collector.lines)
    return [line for line in lines if line.strip(_BULLET)]
