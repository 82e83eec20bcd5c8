"""Conversion of tables to lists: a row becomes an item, such as "Day: Monday; From: 9".

The allowed markup has no tables, and the text of a table without its cells says nothing. The editor
sends pasted tables unchanged (`vacancies/static/vacancies/pasted_table.js`).
"""

import re
from dataclasses import dataclass, field
from html import escape
from html.parser import HTMLParser

HAS_TABLE = re.compile(r"<table\b", re.IGNORECASE)
TABLE = {"table", "caption", "colgroup", "col", "thead", "tbody", "tfoot", "tr", "td", "th"}
Attributes = list[tuple[str, str | None]]  # of a tag, as HTMLParser passes them
ATTRIBUTES = {"table": {"role"}, "td": {"colspan", "rowspan"}, "th": {"colspan", "rowspan"}}
MAX_REPEATED_LENGTH = (
    # Characters of a text that is repeated: repeating longer ones could multiply the size of a
    # text.
    60
)
SPAN_MAX = 50
_TAG = re.compile("<[^>]*>")
_BLOCK = re.compile(r"<(?:p|ul|ol|h[2-5]|blockquote)\b")
_HEADING = re.compile(r"<(?:h[2-5]|blockquote)\b")
Row = dict[int, tuple[str, str]]  # the text and the inner lists of a cell, by column


def tables_to_lists(html: str) -> str:
    """Return `html`, which is well-formed, with lists instead of tables. All text is kept. A table
    that only places its content (one cell, or cells with headings) becomes its content.
    """
    converter = _Converter()
    converter.feed(html)
    converter.close()
    return "".join(converter.written)


@dataclass
class _Cell:
    """A cell: its lines of inline markup, and the lists and inner tables below them."""

    is_header: bool
    columns: int
    rows: int
    raw: list[str] = field(default_factory=list)  # all of its markup
    lines: list[list[str]] = field(default_factory=lambda: [[]])
    blocks: list[str] = field(default_factory=list)
    depth: int = 0  # of open lists

    def write(self, html: str, tag: str = "", step: int = 0) -> None:
        """Add `html`: a text, or the start (`step` is 1) or end (-1) of the element `tag`."""
        self.raw.append(html)
        is_list = tag in ("ul", "ol")
        if is_list or self.depth:
            self.blocks.append(html)
            self.depth += step if is_list else 0
        elif tag in ("p", "br"):
            self.lines.append([])
        else:
            self.lines[-1].append(html)

    def write_block(self, html: str) -> None:
        self.raw.append(html)
        self.blocks.append(html)

    @property
    def text(self) -> str:
        lines = ("".join(line).strip() for line in self.lines)
        return "<br>".join(line for line in lines if _words(line))

    @property
    def content(self) -> str:
        return "".join(self.raw).strip()


class _Table:
    def __init__(self, *, is_layout: bool) -> None:
        self.is_layout = is_layout
        self.caption = ""
        self.rows: list[list[_Cell]] = []
        self.has_head = False

    def html(self) -> str:
        caption = f"<p>{self.caption}</p>" if _words(self.caption) else ""
        contents = [cell.content for row in self.rows for cell in row if _words(cell.content)]
        if self.is_layout or len(contents) < 2 or any(map(_HEADING.search, contents)):
            return caption + "".join(map(_block, contents))
        items = "".join(f"<li>{item}</li>" for item in self._items() if _words(item))
        return f"{caption}<ul>{items}</ul>"

    def _items(self) -> list[str]:
        rows, labels = self._grid(), self._labels()
        filled = {column for row in rows[1:] for column, cell in row.items() if any(cell)}
        if labels and labels.keys() <= filled:  # the text of another one would be lost
            rows = rows[1:]
        else:
            labels = {}
        is_pair = max(len(row) for row in rows) == 2
        return [_item(row, labels, is_pair=is_pair) for row in rows]

    def _labels(self) -> dict[int, str]:
        """Return the headings in the first row, by column, or {} if it has other cells or long
        texts.
        """
        labels: dict[int, str] = {}
        column = 0
        for cell in self.rows[0]:
            name = _words(cell.text)
            if (
                cell.blocks
                or len(name) > MAX_REPEATED_LENGTH
                or not (self.has_head or cell.is_header)
            ):
                return {}
            labels |= dict.fromkeys(range(column, column + cell.columns), name) if name else {}
            column += cell.columns
        return labels

    def _grid(self) -> list[Row]:
        """Return the rows. A short cell of several rows is repeated in each of them."""
        grid: list[Row] = [{} for _ in self.rows]
        for number, cells in enumerate(self.rows):
            column = 0
            for cell in cells:
                while column in grid[number]:
                    column += 1
                grid[number][column] = cell.text, "".join(cell.blocks)
                again = cell.text if len(cell.text) <= MAX_REPEATED_LENGTH else ""
                for below in grid[number + 1 : number + cell.rows]:
                    below[column] = again, ""
                column += cell.columns
        return [dict(sorted(row.items())) for row in grid]


def _item(row: Row, labels: dict[int, str], *, is_pair: bool) -> str:
    """Return a row as one text: with the `labels` of its columns, else "name:
    value" if it `is_pair`.
    """
    filled = {column: text for column, (text, lists) in row.items() if text or lists}
    if is_pair and not labels and len(filled) == 2 and all(filled.values()):
        name, value = filled.values()
        text = f"{name} {value}" if _words(name).endswith(":") else f"{name}: {value}"
    else:
        parts = (
            f"{labels[column]}: {value}".strip() if column in labels else value
            for column, value in filled.items()
        )
        text = "; ".join(filter(None, parts))
    return text + "".join(lists for _text, lists in row.values())


def _block(html: str) -> str:
    return html if _BLOCK.search(html) else f"<p>{html}</p>"


def _words(html: str) -> str:
    return " ".join(_TAG.sub(" ", html).replace("&nbsp;", " ").split())


def _span(attributes: dict[str, str | None], name: str) -> int:
    value = attributes.get(name) or ""
    return min(max(int(value), 1), SPAN_MAX) if re.fullmatch("[0-9]{1,4}", value) else 1


class _Converter(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.written: list[str] = []
        self.tables: list[_Table] = []
        self.cells: list[_Cell] = []  # open ones, the outermost first; a caption is one too

    def handle_starttag(self, tag: str, attrs: Attributes) -> None:
        values = dict(attrs)
        if tag == "table":
            self.tables.append(_Table(is_layout=values.get("role") in ("presentation", "none")))
        elif tag == "tr":
            self.tables[-1].rows.append([])
        elif tag == "thead":
            self.tables[-1].has_head = True
        elif tag in ("td", "th", "caption"):
            cell = _Cell(tag == "th", _span(values, "colspan"), _span(values, "rowspan"))
            self.cells.append(cell)
            if tag != "caption":
                self.tables[-1].rows[-1].append(cell)
        elif tag not in TABLE:
            self._write(self.get_starttag_text() or "", tag, 1)

    def handle_endtag(self, tag: str) -> None:
        if tag == "table":
            html = self.tables.pop().html()
            if self.cells:
                self.cells[-1].write_block(html)
            else:
                self.written.append(html)
        elif tag in ("td", "th"):
            self.cells.pop()
        elif tag == "caption":
            self.tables[-1].caption = self.cells.pop().text
        elif tag not in TABLE:
            self._write(f"</{tag}>", tag, -1)

    def handle_data(self, data: str) -> None:
        self._write(escape(data, quote=False))

    def _write(self, html: str, tag: str = "", step: int = 0) -> None:
        if self.cells:
            self.cells[-1].write(html, tag, step)
        elif not self.tables or html.strip():
            self.written.append(html)
