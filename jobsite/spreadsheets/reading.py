"""Uploaded spreadsheets as rows of text. What cannot be read is refused with the reason and a remedy."""

import csv
import io
import lzma
import re
import zipfile
import zlib
from collections.abc import Iterator
from datetime import date, datetime, time
from itertools import islice
from typing import Any

from django.core.files.uploadedfile import UploadedFile
from django.utils.translation import gettext as _
from openpyxl.reader.excel import ExcelReader
from openpyxl.styles.stylesheet import apply_stylesheet
from openpyxl.utils.exceptions import InvalidFileException
from openpyxl.worksheet._reader import FORMULA_TAG, WorkSheetParser

from jobsite.spreadsheets import APOSTROPHE, BOM
from jobsite.spreadsheets.writing import as_text

FILE_MAX = 10 * 2**20  # bytes
UNPACKED_MAX = 50 * 2**20  # bytes of the parts of an XLSX file
RATIO_MAX = 50  # of the size of the parts to that of the file; spreadsheet programs reach 25
PARTS_MAX = 500
ROWS_MAX = 20_000  # empty ones included
COLUMNS_MAX = 100
CELLS_MAX = 500_000  # of an XLSX file
_MARKS = 7  # characters "<" of a cell, at most
MARKS_MAX = 50_000  # of a part that openpyxl reads as a whole: sheets, styles and names

Cell = dict[str, Any]  # "column", "value" and "data_type"
Row = tuple[int, list[str]]  # the number that a spreadsheet shows, and the cells


class SpreadsheetError(Exception):
    """The file cannot be read. The message is for the person who uploaded it."""


class Formula(str):
    """A formula of a cell. Its result is unknown to us."""

    __slots__ = ()


def read(file: UploadedFile, *, rows_max: int) -> list[Row]:
    """Return the rows of a CSV or XLSX file that are not empty. Dates are as in an export (`as_text`).

    Raise SpreadsheetError if it is too large, has more than `rows_max` rows, or is something else.
    """
    if (file.size or 0) > FILE_MAX:
        raise SpreadsheetError(
            _("The file is larger than %(size)d MB. Split it into several files.") % {"size": FILE_MAX >> 20}
        )
    content = file.read()
    if not content.strip():
        raise SpreadsheetError(_("The file is empty."))
    rows = _xlsx(content) if content.startswith(b"PK") else _csv(content)
    found = list(islice(_filled(rows), rows_max + 2))
    if not found:
        raise SpreadsheetError(_("The file is empty."))
    if len(found) > rows_max + 1:  # and the headings
        text = _("The file has more than %(count)d rows. Split it into several files.")
        raise SpreadsheetError(text % {"count": rows_max})
    return found


def _filled(rows: Iterator[Row]) -> Iterator[Row]:
    for count, (number, row) in enumerate(rows, 1):
        if count > ROWS_MAX:
            text = _("The file has more than %(count)d rows, empty ones included. Delete the empty rows.")
            raise SpreadsheetError(text % {"count": ROWS_MAX})
        if any(row):
            yield number, row


def normalised(text: str) -> str:
    """Return `text` without what spreadsheets change: line ends, spaces around it, and the apostrophes that
    keep an exported text from being calculated."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").strip()
    return APOSTROPHE.sub(r"\1", text)


def _csv(content: bytes) -> Iterator[Row]:
    if content.startswith(b"\xd0\xcf\x11\xe0"):
        raise SpreadsheetError(_("This is an old Excel file (XLS). Save it as XLSX or as CSV UTF-8."))
    try:
        encoding = "utf-16" if content.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8"
        text = content.decode(encoding).removeprefix(BOM)
    except UnicodeDecodeError as error:
        raise SpreadsheetError(
            _("This is neither an XLSX file nor a CSV file in UTF-8. In Excel, save it as “CSV UTF-8”.")
        ) from error
    if "\0" in text:
        raise SpreadsheetError(_("This is not a CSV or XLSX file."))
    number = 1
    first, _end, rest = text.partition("\n")
    if stated := re.fullmatch(r"sep=(.)\s*", first):  # a line for Excel
        delimiter, text, number = stated[1], rest, 2
    else:
        delimiter = max(",;\t", key=first.count)  # Excel writes ";" where the comma is the decimal sign
    try:
        rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
        for number, row in enumerate(rows, number):  # noqa: B020 - starts there
            yield number, [normalised(cell) for cell in _limited(number, row)]
    except (csv.Error, ValueError) as error:
        text = _("Row %(number)d cannot be read: %(reason)s.") % {"number": number + 1, "reason": error}
        raise SpreadsheetError(text) from error


def _xlsx(content: bytes) -> Iterator[Row]:
    not_xlsx = _("This is not a CSV or XLSX file, or it is damaged. Save it again as XLSX.")
    try:
        _check_parts(content)
        for number, row in _stored_rows(content):
            cells = [""] * (COLUMNS_MAX + 1)
            for cell in row:
                if 0 < cell["column"] <= COLUMNS_MAX + 1:
                    cells[cell["column"] - 1] = _text(cell)
            while cells and not cells[-1]:
                cells.pop()
            yield number, _limited(number, cells)
    except SpreadsheetError:
        raise
    except (
        zipfile.BadZipFile, zlib.error, InvalidFileException, LookupError, OSError, SyntaxError, TypeError,
        ValueError, AttributeError, RuntimeError, EOFError, lzma.LZMAError,
    ) as error:  # fmt: skip
        raise SpreadsheetError(not_xlsx) from error


def _check_parts(content: bytes) -> None:
    """Raise SpreadsheetError if reading the parts of an XLSX file would cost far more than sending it."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        parts = archive.infolist()
        if len(parts) > PARTS_MAX:
            text = _("The file has more than %(count)d parts. Save it again as XLSX.")
            raise SpreadsheetError(text % {"count": PARTS_MAX})
        # Python reads no more of a part than its size states.
        unpacked = sum(part.file_size for part in parts)
        if unpacked > UNPACKED_MAX:
            text = _("The file contains more than %(size)d MB. Split it into several files.")
            raise SpreadsheetError(text % {"size": UNPACKED_MAX >> 20})
        if unpacked > RATIO_MAX * len(content):
            text = _("The file is compressed more than %(count)d times. Save it again as XLSX.")
            raise SpreadsheetError(text % {"count": RATIO_MAX})
        if sum(archive.read(part).count(b"<") for part in parts) > CELLS_MAX * _MARKS:
            text = _("The file has more than %(count)d cells. Split it into several files.")
            raise SpreadsheetError(text % {"count": CELLS_MAX})


class _Parser(WorkSheetParser):
    """openpyxl would translate a shared formula to each of its cells. We only need to know that it is one."""

    def parse_formula(self, element: Any) -> str:
        return f"={element.findtext(FORMULA_TAG) or ''}"


class _Archive(zipfile.ZipFile):
    """The parts of an XLSX file. openpyxl makes objects of those that it reads as a whole, which is slow."""

    def read(self, name: str | zipfile.ZipInfo, pwd: bytes | None = None) -> bytes:
        content = super().read(name, pwd)
        if content.count(b"<") > MARKS_MAX:
            raise ValueError
        return content


def _stored_rows(content: bytes) -> Iterator[tuple[int, list[Cell]]]:
    """Yield the number and the cells of the rows in the first sheet. `load_workbook` would read all of each
    sheet that does not state its size, and `iter_rows` would add the rows that are not in the file."""
    reader = ExcelReader(io.BytesIO(content), read_only=True, keep_links=False)
    reader.archive = archive = _Archive(io.BytesIO(content))
    reader.read_manifest()
    reader.read_strings()
    reader.read_workbook()
    apply_stylesheet(archive, reader.wb)
    sheets = (rel.target for _sheet, rel in reader.parser.find_sheets() if "chartsheet" not in rel.Type)
    with archive.open(next(target for target in sheets if target in reader.valid_files)) as source:
        yield from _Parser(
            source,
            reader.shared_strings,
            epoch=reader.wb.epoch,
            date_formats=reader.wb._date_formats,
            timedelta_formats=reader.wb._timedelta_formats,
        ).parse()


def _limited(number: int, row: list[str]) -> list[str]:
    if len(row) > COLUMNS_MAX:
        text = _("Row %(number)d has more than %(count)d columns.")
        raise SpreadsheetError(text % {"number": number, "count": COLUMNS_MAX})
    return row


def _text(cell: Cell) -> str:
    value = cell["value"]
    if value is None:
        return ""
    if cell["data_type"] == "f":
        return Formula(value)
    if isinstance(value, datetime):
        # A date without a time is a datetime at midnight.
        return as_text(value if value.time() != time.min else value.date())
    if isinstance(value, (date, str)):
        return normalised(as_text(value))
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)
