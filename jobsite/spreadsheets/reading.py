"""Uploaded spreadsheets as rows of text.
What cannot be read is refused with the reason and a remedy.
"""

import csv
import io
import lzma
import re
import zipfile
import zlib
from collections.abc import Iterator
from datetime import datetime, time
from decimal import Decimal
from itertools import islice
from typing import Any
from xml.etree.ElementTree import Element

from django.core.files.uploadedfile import UploadedFile
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from openpyxl.reader.excel import ExcelReader
from openpyxl.styles.numbers import BUILTIN_FORMATS, is_date_format, is_timedelta_format
from openpyxl.utils.exceptions import InvalidFileException
from openpyxl.worksheet._reader import FORMULA_TAG, WorkSheetParser
from openpyxl.xml.constants import ARC_STYLE, SHEET_MAIN_NS
from openpyxl.xml.functions import fromstring

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
EXACT_MAX = 10**15  # spreadsheets keep 15 digits of a number
# Errors in many languages, "####" of a narrow column, and numbers that lost digits in a CSV file.
_ERROR_VALUE = re.compile(
    r"#(N/A|N/B|N/D!?|NV|GETTING_DATA|#{2,}|[¡¿]?[^\W\da-z_][^\W1-9a-z_]*(/0)? ?[!?])"
    r"|(Err|Erreur|Fehler|Fout) ?:\d{3}|-?\d([.,]\d+)?E\+\d{2,}"
)
_OTHER_FORMAT = re.compile(rb"(?i)\W*?(?:<!doctype |<\??|%|{\\)(html|table|xml|pdf|rtf)\b")
_OTHER_PARTS = {"Index/Document.iwa": "Numbers", "content.xml": "ODS", "xl/workbook.bin": "XLSB"}
_STRICT = re.compile(rb"http://purl\.oclc\.org/ooxml/(\w+)/(\w+)")
MARKS_MAX = 50_000  # of a part that openpyxl reads as a whole: sheets, styles and names

Cell = dict[str, Any]  # "column", "value" and "data_type"
Row = tuple[int, list[str]]  # the number that a spreadsheet shows, and the cells


class SpreadsheetError(Exception):
    """The file cannot be read. The message is for the person who uploaded it."""


class Formula(str):
    """A formula of a cell. Its result is unknown to us."""

    __slots__ = ()
    reason = gettext_lazy("Formulas are not read. Replace it by its value.")


class ErrorValue(Formula):
    """A cell whose value the spreadsheet program cannot calculate, show or keep."""

    reason = gettext_lazy(
        "An error, a percentage or a rounded number. Write the value, or leave it empty."
    )


class Formatted(str):
    """A number, date or boolean that the sheet shows in another form:
    no text, it would change silently.
    """

    reason = gettext_lazy("The spreadsheet shows this in another form. Format the cell as text.")


def read(file: UploadedFile, *, rows_max: int, notes: list[str] | None = None) -> list[Row]:
    """Return the rows of a CSV or XLSX file that are not empty. Dates are as in an export
    (`as_text`). Of a workbook, the first visible sheet is read, with hidden rows; `notes` receives
    its name if there are more.

    Raise SpreadsheetError if it is too large, has more than `rows_max` rows, or is something else.
    """
    if (file.size or 0) > FILE_MAX:
        raise SpreadsheetError(
            _("The file is larger than %(size)d MB. Split it into several files.")
            % {"size": FILE_MAX >> 20}
        )
    content = file.read()
    if not content.strip():
        raise SpreadsheetError(_("The file is empty."))
    rows = (
        _xlsx(content, [] if notes is None else notes)
        if content.startswith(b"PK")
        else _csv(content)
    )
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
            text = _(
                "The file has more than %(count)d rows, empty ones included. Delete the empty rows."
            )
            raise SpreadsheetError(text % {"count": ROWS_MAX})
        if any(row):
            yield number, row


def normalised(text: str) -> str:
    """Return `text` without what spreadsheets change: line ends, spaces around it, and the
    apostrophes that keep an exported text from being calculated.
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n").strip()
    return APOSTROPHE.sub(r"\1", text)


def _checked(text: str) -> str:
    text = normalised(text)
    return ErrorValue(text) if _ERROR_VALUE.fullmatch(text) else text


def _of_format(name: str) -> SpreadsheetError:
    text = _("This is a file of the format %(format)s. Save it as XLSX or as CSV UTF-8.")
    return SpreadsheetError(text % {"format": name})


def _csv(content: bytes) -> Iterator[Row]:
    if content.startswith(b"\xd0\xcf\x11\xe0"):
        if "EncryptedPackage".encode("utf-16-le") in content:
            raise SpreadsheetError(
                _("The file has a password. Remove the password, and save it again.")
            )
        raise SpreadsheetError(
            _("This is an old Excel file (XLS). Save it as XLSX or as CSV UTF-8.")
        )
    if begin := _OTHER_FORMAT.match(content):
        raise _of_format(begin[1].decode().upper())
    text = _decoded(content)
    number = 1
    first, _end, rest = text.partition("\n")
    if stated := re.fullmatch(r"sep=(.)\s*", first):  # a line for Excel
        delimiter, text, number = stated[1], rest, 2
    else:
        # Excel writes ";" where the comma is the decimal sign.
        delimiter = max(",;\t", key=first.count)
    try:
        rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
        for number, row in enumerate(rows, number):  # noqa: B020 - starts there
            yield number, [_checked(cell) for cell in _limited(number, row)]
    except (csv.Error, ValueError) as error:
        text = _("Row %(number)d cannot be read: %(reason)s.") % {
            "number": number + 1,
            "reason": error,
        }
        raise SpreadsheetError(text) from error


def _decoded(content: bytes) -> str:
    try:
        encoding = "utf-16" if content.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8"
        text = content.decode(encoding).removeprefix(BOM)
    except UnicodeDecodeError as error:
        raise SpreadsheetError(
            _(
                "This is neither an XLSX file nor a CSV file in UTF-8. In Excel, save it as “CSV "
                "UTF-8”."
            )
        ) from error
    if "\0" in text:
        raise SpreadsheetError(_("This is not a CSV or XLSX file."))
    return text


def _xlsx(content: bytes, notes: list[str]) -> Iterator[Row]:
    not_xlsx = _("This is not a CSV or XLSX file, or it is damaged. Save it again as XLSX.")
    try:
        _check_parts(content)
        for number, row in _stored_rows(content, notes):
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
        zipfile.BadZipFile,
        zlib.error,
        InvalidFileException,
        LookupError,
        OSError,
        SyntaxError,
        TypeError,
        ValueError,
        AttributeError,
        RuntimeError,
        EOFError,
        lzma.LZMAError,
    ) as error:
        raise SpreadsheetError(not_xlsx) from error


def _check_parts(content: bytes) -> None:
    """Raise SpreadsheetError if reading the parts of an XLSX file would cost far more than sending
    it.
    """
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        parts = archive.infolist()
        for name in _OTHER_PARTS.keys() & {part.filename for part in parts}:
            raise _of_format(_OTHER_PARTS[name])
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
    """openpyxl would translate a shared formula to each of its cells.
    We only need to know that it is one.
    """

    def parse_cell(self, element: Element) -> Cell:
        cell: Cell = super().parse_cell(element)
        style = cell["style_id"]
        return cell | {"format": "".join(self.number_formats[style : style + 1])}

    def parse_formula(self, element: Element) -> str:
        return f"={element.findtext(FORMULA_TAG) or ''}"


class _Archive(zipfile.ZipFile):
    """The parts of an XLSX file. openpyxl makes objects of those that it reads as a whole, which is
    slow. It knows the namespaces of ISO/IEC 29500-4, not those of "Strict Open XML".
    """

    def open(self, name: str | zipfile.ZipInfo, *args: Any, **kwargs: Any) -> Any:
        with super().open(name, *args, **kwargs) as part:
            return io.BytesIO(
                _STRICT.sub(rb"http://schemas.openxmlformats.org/\1/2006/\2", part.read())
            )

    def read(self, name: str | zipfile.ZipInfo, pwd: bytes | None = None) -> bytes:
        content = super().read(name, pwd)
        if content.count(b"<") > MARKS_MAX:
            raise ValueError
        return content


def _formats(archive: zipfile.ZipFile) -> list[str]:
    """Return the number format of each style.
    openpyxl refuses a file whose styles lack something else.
    """
    if ARC_STYLE not in archive.namelist():
        return []
    root, main = fromstring(archive.read(ARC_STYLE)), f"{{{SHEET_MAIN_NS}}}"
    own = {
        each.get("numFmtId"): each.get("formatCode") for each in root.iterfind(f"{main}numFmts/")
    }
    ids = (each.get("numFmtId", "0") for each in root.iterfind(f"{main}cellXfs/"))
    return [own.get(each) or BUILTIN_FORMATS.get(int(each), "General") for each in ids]


def _sheets(reader: ExcelReader) -> list:
    """Return the sheets with cells and the names of their parts: visible ones, if there are any."""
    there = [each for each in reader.parser.find_sheets() if each[1].target in reader.valid_files]
    sheets = [(each, rel.target) for each, rel in there if "chartsheet" not in rel.Type]
    return [each for each in sheets if each[0].state == "visible"] or sheets


def _stored_rows(content: bytes, notes: list[str]) -> Iterator[tuple[int, list[Cell]]]:
    """Yield the number and the cells of the rows in the first visible sheet. `load_workbook` would
    read all of a sheet without a stated size, and `iter_rows` would add the rows that are not in
    the file.
    """
    reader = ExcelReader(io.BytesIO(content), read_only=True, keep_links=False)
    reader.archive = archive = _Archive(io.BytesIO(content))
    reader.read_manifest()
    reader.read_strings()
    reader.read_workbook()
    (sheet, target), *others = _sheets(reader)
    if others:
        notes.append(
            _("The file has several sheets. Only “%(name)s” was read.") % {"name": sheet.name}
        )
    parser = _Parser(archive.open(target), reader.shared_strings, epoch=reader.wb.epoch)
    parser.number_formats = formats = _formats(archive)
    parser.date_formats = {n for n, each in enumerate(formats) if is_date_format(each)}
    parser.timedelta_formats = {n for n, each in enumerate(formats) if is_timedelta_format(each)}
    yield from parser.parse()


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
    if cell["data_type"] == "e":
        return ErrorValue(value)
    if isinstance(value, str):
        return _checked(value)
    if isinstance(value, datetime):
        # A date without a time is a datetime at midnight.
        return Formatted(as_text(value if value.time() != time.min else value.date()))
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return Formatted(value)
    return _number(value, cell["format"])


def _number(value: float, form: str) -> str:
    """Return a number as the spreadsheet shows it in the format `form`, as far as that is a plain
    number.
    """
    if abs(value) >= EXACT_MAX or "%" in form:
        return ErrorValue(f"{value:g}")
    # a spreadsheet calculates with 15 digits: 0.30000000000000004 is 0.3
    text = f"{Decimal(f'{value:.15g}'):f}"
    if re.fullmatch("0+", form) and text.isdecimal():
        return text.zfill(len(form))
    return text if form in ("", "General", "0", "@", "#") else Formatted(text)
