"""Sanitising of HTML texts, and the plain text that a reader sees."""

import re
from html.parser import HTMLParser

import nh3
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

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

# Parses like a browser and writes well-formed HTML for `tables_to_lists`. _CLEANER cleans the
# output of that.
_WITH_TABLES = nh3.Cleaner(
    tags=TAGS | TABLE,
    clean_content_tags=DROPPED_WITH_CONTENT,
    attributes=ATTRIBUTES | {"a": {"href"}, "*": set()},
    url_schemes={"http", "https", "mailto", "tel"},
    url_relative="deny",
    link_rel=None,
)

ROUNDS = 10
LENGTH_MAX = 100_000  # characters of a text that somebody writes, with its markup
DEPTH_MAX = 50  # elements in each other
# A parser compares each tag with the open elements, and opens <b> and the like again in each
# paragraph. So it takes quadratic time, except for this many tags. More tags must be well nested
# (`is_bounded`).
UNNESTED_MAX = 300
_MARKUP = re.compile("<[^<>]*>")
_TAG = re.compile(
    r"""<(/?)([a-z][a-z0-9]*)(?:\s+[a-z][-\w:.]*(?:=(?:"[^"<>]*"|'[^'<>]*'|[^\s"'<>=`]+))?)*\s*/?>""",
    re.IGNORECASE,
)
_VOID = {"br", "img", "col", "wbr"}
_INLINE = TAGS - BLOCKS | {
    "span",
    "font",
    "small",
    "big",
    "sub",
    "sup",
    "s",
    "strike",
    "del",
    "ins",
    "code",
    "tt",
}
_KNOWN = (
    _INLINE
    | BLOCKS
    | TABLE
    | {
        "div",
        "section",
        "article",
        "header",
        "footer",
        "main",
        "aside",
        "figure",
        "figcaption",
        "h1",
        "h6",
        "pre",
        "center",
        "address",
    }
)
_HEADINGS = {"h1", "h2", "h3", "h4", "h5", "h6"}
_CELLS = ("td", "th", "caption")
_ENDED_BY_THE_NEXT = ("p", "li")

# Elements that end a line. Removing their tags without adding a space would join two words.
_END_OF_WRAPPER = re.compile(
    r"(</(?:div|section|article|header|footer|main|aside|figure|table|tr|td|th|h1|h6|dt|dd|pre)\s*>)",
    re.IGNORECASE,
)


class CleanHtml(str):
    """HTML that `sanitise` returned. It is not sanitised again."""


def is_bounded(html: str) -> bool:
    """Whether `html` is parsed in linear time: it has few tags, or they are well nested and not
    deep.

    Only the end tags of <p> and <li> may be missing.
    """
    marks = html.count("<")
    if marks <= UNNESTED_MAX:
        return True
    opened: list[str] = []
    tags = 0
    for tag in _TAG.finditer(html):
        tags += 1
        name = tag[2].lower()
        if name in _VOID:
            continue
        if name not in _KNOWN:
            return False
        is_end = bool(tag[1])
        if name not in _INLINE:
            _end_open(opened, name, is_end=is_end)
        if is_end:
            if not opened or opened.pop() != name:
                return False
        elif len(opened) == DEPTH_MAX or not _may_begin(name, opened):
            return False
        else:
            opened.append(name)
    # Else something only looks like a tag, or is one that is written in another way.
    return tags == marks


def _end_open(opened: list[str], name: str, *, is_end: bool) -> None:
    """Remove the elements whose end tags may be missing before a tag of the block `name`."""
    while opened and opened[-1] in _ENDED_BY_THE_NEXT:
        last = opened[-1]
        if is_end and last == name:
            break
        if last == "li" and not is_end and name != "li":
            break  # a paragraph or list in an item
        opened.pop()


def _may_begin(name: str, opened: list[str]) -> bool:
    """Whether a parser neither moves `name` nor ends elements before it that `is_bounded` does not
    end.
    """
    around = opened[-1] if opened else ""
    if (name in TABLE and name != "table") != (around in TABLE and around not in _CELLS):
        return False
    if name == "li":
        return around in ("", "ul", "ol", *_CELLS)
    if name in _HEADINGS and not _HEADINGS.isdisjoint(opened):
        return False
    return name in _INLINE or "p" not in opened


def check_size(html: str) -> None:
    """Raise ValidationError if `html` is too long, or has more markup than `sanitise` keeps."""
    if len(html) > LENGTH_MAX:
        text = _(
            "The text has %(count)d characters with its formatting. At most %(most)d are allowed."
        )
        raise ValidationError(text % {"count": len(html), "most": LENGTH_MAX})
    if not is_bounded(html):
        text = _(
            "The formatting of the text is nested more than %(depth)d levels deep, or has more "
            "than %(tags)d tags that are not well nested."
        )
        raise ValidationError(text % {"depth": DEPTH_MAX, "tags": UNNESTED_MAX})


def sanitise(html: str) -> CleanHtml:
    """Return `html` with the allowed markup only: tables become lists. Without visible text, return
    "". Of markup that `check_size` refuses, only the text is kept.
    """
    if isinstance(html, CleanHtml):
        return html
    if not is_bounded(html):
        html = _MARKUP.sub(" ", html).replace("<", "&lt;")
    html = _END_OF_WRAPPER.sub(r" \1", html.replace("\0", ""))
    if HAS_TABLE.search(html):
        html = tables_to_lists(_WITH_TABLES.clean(html))
    clean = _CLEANER.clean(html)
    # One round can produce markup that needs another, e.g. a table in a link.
    for _round in range(ROUNDS):
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
        # Lists of pieces: concatenating strings would be quadratic.
        self.lines: list[list[str]] = [[]]

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
