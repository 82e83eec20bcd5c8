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

from django.core.files.uploadedfile import UploadedFile
from django.utils.translation import gettext as _
from openpyxl.cell.read_only import EmptyCell, ReadOnlyCell

from jobsite.spreadsheets import APOSTROPHE, BOM
from jobsite.spreadsheets.writing import as_text

FILE_MAX = 10 * 2**20  # bytes
UNPACKED_MAX = 50 * 2**20  # bytes of the parts of an XLSX file
COLUMNS_MAX = 100

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
    found = list(islice(((number, row) for number, row in rows if any(row)), rows_max + 2))
    if not found:
        raise SpreadsheetError(_("The file is empty."))
    if len(found) > rows_max + 1:  # and the headings
        text = _("The file has more than %(count)d rows. Split it into several files.")
        raise SpreadsheetError(text % {"count": rows_max})
    return found


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
    from openpyxl import load_workbook  # here: takes a tenth of a second, and few processes need it
    from openpyxl.utils.exceptions import InvalidFileException

    not_xlsx = _("This is not a CSV or XLSX file, or it is damaged. Save it again as XLSX.")
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as parts:
            # Python reads no more of a part than this states.
            unpacked = sum(part.file_size for part in parts.infolist())
        if unpacked > UNPACKED_MAX:
            text = _("The file contains more than %(size)d MB. Split it into several files.")
            raise SpreadsheetError(text % {"size": UNPACKED_MAX >> 20})
        book = load_workbook(io.BytesIO(content), read_only=True, keep_links=False)
        sheet = book.worksheets[0]
        for number, row in enumerate(sheet.iter_rows(min_row=1, max_col=COLUMNS_MAX + 1), 1):
            cells = [_text(cell) for cell in row]
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


def _limited(number: int, row: list[str]) -> list[str]:
    if len(row) > COLUMNS_MAX:
        text = _("Row %(number)d has more than %(count)d columns.")
        raise SpreadsheetError(text % {"number": number, "count": COLUMNS_MAX})
    return row


def _text(cell: ReadOnlyCell | EmptyCell) -> str:
    value = cell.value
    if value is None:
        return ""
    if cell.data_type == "f":
        return Formula(value if isinstance(value, str) else getattr(value, "text", None) or "=")
    if isinstance(value, datetime):
        # A date without a time is a datetime at midnight.
        return as_text(value if value.time() != time.min else value.date())
    if isinstance(value, (date, str)):
        return normalised(as_text(value))
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)
