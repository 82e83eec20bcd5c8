"""The text of a document, for reading it in the page: TXT, DOCX, ODT.

Imports no Django, so that a child process without settings can run it. The XML is read as a stream,
because the tree of 20 MiB takes a gigabyte. What is stored has a limited directory (files.py).
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from io import BytesIO
from typing import Any
from xml.sax.handler import ContentHandler
from zipfile import ZipFile

from defusedxml.sax import make_parser

UNPACKED_BYTES_MAX = 20 * 1024 * 1024
CHARACTERS_MAX = 300_000  # a hundred pages
ELEMENTS_MAX = 500_000  # and attributes
DEPTH_MAX = 500
# The parser reads all attributes of an element before it calls us.
LONG_ELEMENT = re.compile(rb"<[^<]{400000}")


class ExtractError(Exception):
    """A document is damaged or encrypted."""


class TooLongError(ExtractError):
    """A document, or its text, is longer than the limits."""


@dataclass(frozen=True)
class _Format:
    """Names of parts and of elements, without their namespaces."""

    parts: Sequence[str]  # beginnings of the names of parts, in the order of the text
    texts: frozenset[str]  # whose characters are text
    blocks: frozenset[str]  # that end a line
    marks: dict[str, str]  # that stand for a character
    skipped: frozenset[str]  # with all that is in them


FORMATS = {
    "docx": _Format(
        parts=("word/header", "word/document", "word/footer"),
        texts=frozenset({"t"}),
        blocks=frozenset({"p"}),
        marks={"tab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-"},
        skipped=frozenset({"pPr", "rPr", "Fallback"}),  # formats, and the second copy of a text box
    ),
    "odt": _Format(
        parts=("styles.xml", "content.xml"),  # the former has headers and footers
        texts=frozenset({"p", "h"}),
        blocks=frozenset({"p", "h"}),
        marks={"tab": "\t", "line-break": "\n", "s": " "},
        skipped=frozenset({"annotation", "tracked-changes", "title", "desc"}),
    ),
}
KINDS = ("txt", *FORMATS)


def text_of(kind: str, content: bytes) -> str:
    """Return the text of `content`, which is one of KINDS, as lines. Raise ExtractError."""
    if kind == "txt":
        text = content.decode("utf-8-sig", errors="replace")
        if len(text) > CHARACTERS_MAX:
            raise TooLongError
        return text
    found = _Reader(FORMATS[kind])
    try:
        with ZipFile(BytesIO(content)) as packed:
            parts = [
                part
                for start in FORMATS[kind].parts
                for part in packed.infolist()
                if part.filename.startswith(start) and part.filename.endswith(".xml")
            ]
            # zipfile reads no more of a part than the directory says.
            if sum(part.file_size for part in parts) > UNPACKED_BYTES_MAX:
                raise TooLongError
            for part in parts:
                _parse(packed.read(part), found)
    except ExtractError:
        raise
    # Many types: BadZipFile, zlib.error, RuntimeError (encrypted), SAXException.
    except Exception as error:
        raise ExtractError from error
    return "".join(found.found).strip()


def _parse(content: bytes, reader: ContentHandler) -> None:
    if LONG_ELEMENT.search(content):
        raise TooLongError
    parser = make_parser()
    parser.forbid_dtd = True
    parser.setContentHandler(reader)
    parser.parse(BytesIO(content))


class _Reader(ContentHandler):
    def __init__(self, format_: _Format) -> None:
        super().__init__()
        self.format = format_
        self.found: list[str] = []
        self.elements = self.length = 0

    def startDocument(self) -> None:  # noqa: N802
        self.depth = self.texts = self.skipped = 0  # how many open elements are of each kind

    def startElement(self, name: str, attributes: Any) -> None:  # noqa: N802
        name = name.rpartition(":")[2]
        self.depth += 1
        self.elements += 1 + len(attributes)
        if self.depth > DEPTH_MAX or self.elements > ELEMENTS_MAX:
            raise TooLongError
        self.skipped += name in self.format.skipped
        self.texts += name in self.format.texts
        if name in self.format.marks:
            self._add(self.format.marks[name])

    def endElement(self, name: str) -> None:  # noqa: N802
        name = name.rpartition(":")[2]
        self.depth -= 1
        if name in self.format.blocks:
            self._add("\n")
        self.skipped -= name in self.format.skipped
        self.texts -= name in self.format.texts

    def characters(self, content: str) -> None:
        if self.texts:
            self._add(content)

    def _add(self, text: str) -> None:
        if self.skipped:
            return
        self.length += len(text)
        if self.length > CHARACTERS_MAX:
            raise TooLongError
        self.found.append(text)
