"""Sanitising of HTML texts, and the plain text that a reader sees."""

import re
from html.parser import HTMLParser

import nh3

from jobsite.text.html_tables import ATTRIBUTES, HAS_TABLE, TABLE, Attributes, tables_to_lists

# The allowed markup (docs/decisions.md #11).
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
    attributes={"a": {"href"}, "*": set()},  # nh3 allows lang and title by default
    url_schemes={"http", "https", "mailto", "tel"},
    url_relative="deny",  # texts are shown on other sites, where a relative link would be wrong
    link_rel=None,
)

# Parses like a browser and writes well-formed HTML for `tables_to_lists`. _CLEANER cleans the output of that.
_WITH_TABLES = nh3.Cleaner(
    tags=TAGS | TABLE,
    clean_content_tags=DROPPED_WITH_CONTENT,
    attributes=ATTRIBUTES | {"a": {"href"}, "*": set()},
    url_schemes={"http", "https", "mailto", "tel"},
    url_relative="deny",
    link_rel=None,
)

ROUNDS = 10

# Elements that end a line. Removing their tags without adding a space would join two words.
_END_OF_WRAPPER = re.compile(
    r"(</(?:div|section|article|header|footer|main|aside|figure|table|tr|td|th|h1|h6|dt|dd|pre)\s*>)",
    re.IGNORECASE,
)


class CleanHtml(str):
    """HTML that `sanitise` returned. It is not sanitised again."""


def sanitise(html: str) -> CleanHtml:
    """Return `html` with the allowed markup only: tables become lists. Without visible text, return ""."""
    if isinstance(html, CleanHtml):
        return html
    html = _END_OF_WRAPPER.sub(r" \1", html.replace("\0", ""))
    if HAS_TABLE.search(html):
        html = tables_to_lists(_WITH_TABLES.clean(html))
    clean = _CLEANER.clean(html)
    for _ in range(ROUNDS):  # one round can produce markup that needs another, e.g. a table in a link
        before, clean = clean, _CLEANER.clean(clean)
        if clean == before:
            break
    return CleanHtml(clean if visible_text(clean) else "")


class _TextCollector(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []

    def handle_starttag(self, tag: str, attrs: Attributes) -> None:
        if tag in BLOCKS:
            self.parts.append(" ")

    def handle_endtag(self, tag: str) -> None:
        self.handle_starttag(tag, [])

    def handle_data(self, data: str) -> None:
        self.parts.append(data)


def visible_text(html: str) -> str:
    """Return the text of sanitised `html` with single spaces between words."""
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
        self.lines: list[list[str]] = [[]]  # lists of pieces: concatenating strings would be quadratic

    def handle_starttag(self, tag: str, attrs: Attributes) -> None:
        if tag == "li":
            self.lines.append([_BULLET])
        elif tag in BLOCKS and self.lines[-1] != [_BULLET]:  # <li><p> is one line
            self.lines.append([])

    def handle_endtag(self, tag: str) -> None:
        if tag in BLOCKS:
            self.lines.append([])

    def handle_data(self, data: str) -> None:
        if self.lines[-1] != [_BULLET] or data.strip():
            self.lines[-1].append(data)


def text_lines(html: str) -> list[str]:
    """Return the lines of text of sanitised `html`. List items start with a bullet."""
    collector = _LineCollector()
    collector.feed(html)
    collector.close()
    lines = (" ".join("".join(pieces).split()) for pieces in collector.lines)
    return [line for line in lines if line.strip(_BULLET)]
