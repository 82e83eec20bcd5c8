"""Conversion of HTML from other systems to the allowed markup, with a list of the alterations."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape, unescape
from html.entities import html5
from html.parser import HTMLParser
from urllib.parse import urlsplit

import nh3

from jobsite.text.html import (
    DROPPED_WITH_CONTENT,
    TAGS,
    CleanHtml,
    is_bounded,
    sanitise,
    visible_text,
)
from jobsite.text.html_tables import ATTRIBUTES, HAS_TABLE, TABLE, Attributes

MEDIA = {"video", "audio", "iframe", "embed", "object"}
MEDIA_PARTS = {"source", "track"}
VOID = {"br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}
UNESCAPE_ROUNDS = 3

_HAS_MEDIA = re.compile(rf"<(?:{'|'.join(sorted(MEDIA))})\b", re.IGNORECASE)
# Parses like a browser and writes well-formed HTML for _Converter. `sanitise` cleans the output of
# that.
_NORMALISER = nh3.Cleaner(
    tags=TAGS | MEDIA | MEDIA_PARTS | TABLE,
    clean_content_tags=DROPPED_WITH_CONTENT - MEDIA,
    attributes={tag: {"src", "data", "title"} for tag in MEDIA | MEDIA_PARTS}
    | ATTRIBUTES
    | {"a": {"href"}, "*": set()},
    url_relative="pass_through",  # URLs of videos often start with //
    link_rel=None,
)
_VISIBLE_TAG = re.compile(
    r"<(/?)(p|br|hr|div|span|ul|ol|li|h[1-6]|strong|b|em|i|u|a|table|tr|td|section|blockquote)\b[^<>]*>",
    re.IGNORECASE,
)
# Elements whose content is not HTML, or is not parsed.
OPAQUE = DROPPED_WITH_CONTENT | {"noembed", "noframes", "plaintext", "textarea", "title", "xmp"}
# An element of HTML, an end tag or a comment. "<jean@example.org>", "< 3000" and "<vector>" are
# text.
MARKUP = re.compile(
    r"</[a-z]|<!--|<!doctype\b|<(?:abbr|address|article|aside|audio|big|blockquote|body|button|caption|center|cite"
    r"|code|d[dlt]|del|div|em|embed|figure|font|footer|form|h[1-6r]|head|header|html|iframe|img|input|ins|label|li"
    r"|link|main|mark|math|meta|nav|noscript|object|ol|picture|pre|script|section|select|small|span|strike|strong"
    r"|style|su[bp]|svg|t[dhr]|table|tbody|template|textarea|thead|title|ul|video|[abipqsu]|br|[a-z]+:[a-z]+)"
    r"(?=[\s/>])",
    re.IGNORECASE,
)
_BLOCK = re.compile(
    r"</?(?:p|br|div|ul|ol|li|h[1-6]|blockquote|table|pre|section|article)\b", re.IGNORECASE
)
_ADDRESS = re.compile(
    r"<((?:mailto:)?[^\s<>/@\"']+@[^\s<>@\"']+|https?://[^\s<>\"']+)>", re.IGNORECASE
)
_LINE_END = re.compile(r"\r\n|[\r\v\f\x85\u2028\u2029]")
_OPAQUE_TAG = re.compile(rf"<({'|'.join(sorted(OPAQUE))})\b", re.IGNORECASE)
_TAG = re.compile(r"<([a-z][^\s/<>]*)", re.IGNORECASE)
_ATTRIBUTE = re.compile(r"\s([a-z_:][-a-z0-9_:.]*)\s*=", re.IGNORECASE)
_ENTITY = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[a-zA-Z][a-zA-Z0-9]{1,31});")
_TAG_START = re.compile(r"<[a-zA-Z/!?]")
_SCHEME = re.compile(r"\b([a-z][a-z0-9+.-]*):", re.IGNORECASE)


@dataclass(frozen=True)
class Alteration:
    """A kind of alteration of a text. `code` is for programs, `message` for people."""

    code: str
    message: str
    tag: str = ""  # what was converted


def convert(html: str) -> tuple[CleanHtml, list[Alteration]]:
    """Return `html` with the allowed markup only, and the alterations.

    Plain text becomes paragraphs and line breaks. Videos and other embedded content become links.
    `sanitise` converts tables to lists, and removes everything else that is not allowed.
    Differences in notation (`<br/>`, `&#39;`) are not alterations.
    """
    if isinstance(html, CleanHtml):
        return html, []
    html = _LINE_END.sub("\n", html).replace("\0", "")
    if not is_bounded(html):
        text = (
            "only the text was kept: the tags are nested too deep, or too many are not well nested"
        )
        return sanitise(html), [Alteration("markup_removed", text)]
    html, alterations = _marked_up(html)
    converted = html
    if _HAS_MEDIA.search(html):
        converter = _Converter()
        converter.feed(_NORMALISER.clean(html))
        converter.close()
        converted = "".join(converter.written)
        alterations += converter.alterations()
    if count := len(HAS_TABLE.findall(html)):
        alterations.append(
            Alteration(
                "table_converted", f"replaced {count} <table> by a list, one item for each row"
            )
        )
    clean = sanitise(converted)
    if clean != html:
        before = _Census(html)
        before.tags -= Counter(alteration.tag for alteration in alterations)
        after = _Census(clean if converted == html else sanitise(html))
        alterations += _removals(before, after, is_empty=not clean)
    return clean, alterations


def _marked_up(text: str) -> tuple[str, list[Alteration]]:
    """Return `text` as HTML, and the alterations, if it is plain text. In HTML, keep addresses in
    angle brackets, which a parser would take for a tag.
    """
    text = _ADDRESS.sub(r"&lt;\1&gt;", text)
    count = text.strip().count("\n")
    if MARKUP.search(text):
        if not count or _BLOCK.search(text):
            return text, []
        message = f"has tags but no paragraphs: {count} line breaks are shown as spaces"
        return text, [Alteration("line_breaks", message)]
    # Entities are kept: a service returns a text without tags as HTML too.
    text = text.replace("<", "&lt;").replace(">", "&gt;")
    if not count:
        return text, []
    paragraphs = re.split(r"\n(?:[^\S\n]*\n)+", text.strip())
    lines = [paragraph.strip().replace("\n", "<br>") for paragraph in paragraphs]
    message = f"converted plain text: kept {count} line breaks"
    return "".join(f"<p>{line}</p>" for line in lines), [Alteration("plain_text", message)]


def is_escaped(html: str) -> bool:
    """Whether `html` shows tags to its readers because it was escaped twice.

    A technical text may mention single elements ("the <video> element"). Escaped HTML has pairs of
    tags or, if there are no real tags, paragraphs and line breaks.
    """
    if "&" not in html:
        return False
    text = visible_text(sanitise(html))
    for _ in range(UNESCAPE_ROUNDS):
        tags = [(slash, name.lower()) for slash, name in _VISIBLE_TAG.findall(text)]
        opened, closed = ({name for slash, name in tags if slash == which} for which in ("", "/"))
        if opened & closed or ("<" not in html and opened & {"p", "br", "li", "hr"}):
            return True
        text, before = unescape(text), text
        if text == before:
            break
    return False


def unescaped(html: str) -> str:
    """Return `html` without the escaping that `is_escaped` detects."""
    for _ in range(UNESCAPE_ROUNDS):
        if not is_escaped(html):
            break
        html = unescape(html)
    return html


def without_entities(line: str) -> str:
    """Return plain text with the characters that its HTML entities stand for: "R&D" for "R&amp;D".
    What is no entity ("AT&T", "&copy") stays, and so does a line that would get tags. Spaces become
    plain ones.
    """
    for _time in range(2):  # some sources escape twice
        text = _ENTITY.sub(_character, line)
        if len(_TAG_START.findall(text)) > len(_TAG_START.findall(line)):
            break
        line = text
    return line


def _character(entity: re.Match[str]) -> str:
    text = unescape(entity[0]) if entity[0][1] == "#" or entity[0][1:] in html5 else entity[0]
    is_none = text in "\ufffd" or text < " " or "\x7f" <= text < "\xa0"
    return " " if text.isspace() else entity[0] if is_none else text if text.isprintable() else ""


@dataclass
class _Media:
    """Embedded content whose end tag has not been read yet."""

    tag: str
    address: str
    title: str
    depth: int = 1


class _Converter(HTMLParser):
    """Rewrites normalised HTML: embedded content as links."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.written: list[str] = []
        self.media: _Media | None = None
        self.open = 0  # number of open elements
        self.links: list[tuple[str, str]] = []

    def alterations(self) -> list[Alteration]:
        return [
            Alteration("media_converted", f"replaced 1 <{tag}> by a link to {address}", tag)
            for tag, address in self.links
        ]

    def handle_starttag(self, tag: str, attrs: Attributes) -> None:
        values = dict(attrs)
        if self.media:
            if tag in MEDIA_PARTS and not self.media.address:
                self.media.address = _address(values)
            self.media.depth += tag == self.media.tag
        elif tag in MEDIA:
            self.media = _Media(tag, _address(values), values.get("title") or "")
            if tag in VOID:
                self._end_media(self.media)
            elif tag == "iframe":
                self.set_cdata_mode(tag)  # its content is not HTML
        else:
            self.open += tag not in VOID
            self.written.append(self.get_starttag_text() or "")

    def handle_endtag(self, tag: str) -> None:
        if self.media:
            self.media.depth -= tag == self.media.tag
            if not self.media.depth:
                self._end_media(self.media)
        else:
            self.open -= 1
            self.written.append(f"</{tag}>")

    def handle_data(self, data: str) -> None:
        if not self.media:
            self.written.append(escape(data, quote=False))

    def _end_media(self, media: _Media) -> None:
        self.media = None
        if not media.address:
            return
        link = (
            f'<a href="{escape(media.address)}">{escape(media.title.strip() or media.address)}</a>'
        )
        self.written.append(f" {link} " if self.open else f"<p>{link}</p>")
        self.links.append((media.tag, media.address))


def _address(attributes: dict[str, str | None]) -> str:
    """Return the http or https URL of embedded content, or ""."""
    address = (attributes.get("src") or attributes.get("data") or "").strip()
    if address.startswith("//"):
        address = f"https:{address}"
    try:
        parts = urlsplit(address)
    except ValueError:
        return ""
    return address if parts.scheme in ("http", "https") and parts.netloc else ""


class _Census(HTMLParser):
    """The number of occurrences of each tag, attribute and link in a text."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags = Counter(tag.lower() for tag in _OPAQUE_TAG.findall(html))
        self.attributes: Counter[str] = Counter()  # of allowed tags
        self.links: Counter[str] = Counter()
        # Normalised first: html.parser takes quadratic time for some malformed input.
        self.feed(_well_formed(html))
        self.close()

    def handle_starttag(self, tag: str, attrs: Attributes) -> None:
        self.tags[tag] += 1
        if tag not in TAGS:
            return
        for name, value in dict(attrs).items():
            if (tag, name) == ("a", "href"):
                self.links[value or ""] += 1
            else:
                self.attributes[name] += 1


def _well_formed(html: str) -> str:
    """Return `html` as well-formed HTML with all its tags and attributes,
    except OPAQUE elements.
    """
    cleaner = nh3.Cleaner(
        tags={tag.lower() for tag in _TAG.findall(html)} - OPAQUE,
        clean_content_tags=DROPPED_WITH_CONTENT,
        attributes={"*": {name.lower() for name in _ATTRIBUTE.findall(html)}},
        url_schemes={scheme.lower() for scheme in _SCHEME.findall(html)},
        url_relative="pass_through",
        link_rel=None,
    )
    return cleaner.clean(html)


def _removals(before: _Census, after: _Census, *, is_empty: bool) -> Iterator[Alteration]:
    """Yield an alteration for each kind of markup that `before` has and `after` has not."""
    tags = before.tags - after.tags
    if is_empty:  # removing empty paragraphs loses nothing
        tags -= Counter({tag: tags[tag] for tag in TAGS})
    dropped, unwrapped = Counter[str](), Counter[str]()
    for tag, count in tags.items():
        if tag in TABLE | MEDIA_PARTS:
            continue
        if tag in DROPPED_WITH_CONTENT | MEDIA | VOID | TAGS:
            dropped[tag] = count
        else:
            unwrapped[tag] = count
    if dropped:
        yield Alteration("markup_removed", f"removed {_listed(dropped)}")
    if unwrapped:
        yield Alteration(
            "markup_unwrapped", f"removed the tags of {_listed(unwrapped)}; their content was kept"
        )
    if before.links.total() > after.links.total():
        for address in before.links - after.links:
            yield Alteration("link_removed", f"removed the URL of a link: {address!r}")
    if attributes := before.attributes - after.attributes:
        names = ", ".join(f"{count} {name}" for name, count in sorted(attributes.items()))
        yield Alteration("attributes_removed", f"removed attributes: {names}")


def _listed(tags: Counter[str]) -> str:
    return ", ".join(f"{count} <{tag}>" for tag, count in sorted(tags.items()))
