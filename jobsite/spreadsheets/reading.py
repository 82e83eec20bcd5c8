"""Uploaded spreadsheets as rows of text. What cannot be read is refused with the reason and a remedy."""

import csv
import io
import lzma
import re
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from datetime import datetime, time
from decimal import Decimal
from itertools import islice
from typing import Any

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
# Errors of Excel and LibreOffice in the languages of the site, "####" of a column that is too narrow, and
# numbers that a CSV file has with fewer digits than the sheet.
_ERROR_VALUE = re.compile(
    r"#(N/A|N/B|NV|(NULL|LEEG|NUL|DIV/0|DEEL/0|VALUE|WAARDE|VALEUR|WERT|REF|VERW|BEZUG|NUM|GETAL|NOMBRE|ZAHL"
    r"|SPILL|OVERLOOP|PROPAGATION|ÜBERLAUF|CALC|CALCUL|BEREKENEN|KALK|FIELD|VELD|CHAMP|FELD|CONNECT|BLOCKED"
    r"|UNKNOWN|BUSY|EXTERNAL|PYTHON|TIMEOUT)!|(NAME|NAAM|NOM) ?\?|GETTING_DATA)"
    r"|(Err|Erreur|Fehler|Fout) ?:\d{3}|#{3,}|-?\d([.,]\d+)?E\+\d{2,}"
)
_OTHER_FORMAT = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*[<%{]\\?(!doctype html|html|table|\?xml|PDF|rtf)\b", re.IGNORECASE
)
_OTHER_PARTS = {
    "Index/Document.iwa": "Numbers",
    "content.xml": "ODS",
    "xl/workbook.bin": "XLSB",
    "word/document.xml": "Word",
    "ppt/presentation.xml": "PowerPoint",
}
_STRICT = re.compile(rb"http://purl\.oclc\.org/ooxml/(\w+)/(\w+)")
MARKS_MAX = 50_000  # of a part that openpyxl reads as a whole: sheets, styles and names

Cell = dict[str, Any]  # "column", "value" and "data_type"
Row = tuple[int, list[str]]  # the number that a spreadsheet shows, and the cells


class SpreadsheetError(Exception):
    """The file cannot be read. The message is for the person who uploaded it."""


class Rows(list[Row]):
    """The rows of a file. `notes` say what of the file was read."""

    def __init__(self, rows: Iterable[Row], notes: list[str]) -> None:
        super().__init__(rows)
        self.notes = notes


class Formula(str):
    """A formula of a cell. Its result is unknown to us."""

    __slots__ = ()
    reason = gettext_lazy("Formulas are not read. Replace it by its value.")


class ErrorValue(Formula):
    """A cell whose value the spreadsheet program cannot calculate, show or keep."""

    __slots__ = ()
    reason = gettext_lazy(
        "This is not a value: an error of the spreadsheet program, a percentage, or a number with more "
        "digits than it keeps. Correct the cell, or leave it empty."
    )


class Formatted(str):
    """A number, a date or a boolean that the spreadsheet shows in another form. In a column of texts, it
    would change silently."""

    __slots__ = ()
    reason = gettext_lazy(
        "The spreadsheet shows this number or date in another form. Format the cell as text, and write what "
        "you want to import."
    )


def read(file: UploadedFile, *, rows_max: int) -> Rows:
    """Return the rows of a CSV or XLSX file that are not empty. Dates are as in an export (`as_text`). Of a
    workbook, the first visible sheet is read, with its hidden rows and columns: a filter hides rows.

    Raise SpreadsheetError if it is too large, has more than `rows_max` rows, or is something else.
    """
    if (file.size or 0) > FILE_MAX:
        raise SpreadsheetError(
            _("The file is larger than %(size)d MB. Split it into several files.") % {"size": FILE_MAX >> 20}
        )
    content = file.read()
    if not content.strip():
        raise SpreadsheetError(_("The file is empty."))
    notes: list[str] = []
    rows = _xlsx(content, notes) if content.startswith(b"PK") else _csv(content)
    found = list(islice(_filled(rows), rows_max + 2))
    if not found:
        raise SpreadsheetError(_("The file is empty."))
    if len(found) > rows_max + 1:  # and the headings
        text = _("The file has more than %(count)d rows. Split it into several files.")
        raise SpreadsheetError(text % {"count": rows_max})
    return Rows(found, notes)


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


def _checked(text: str) -> str:
    text = normalised(text)
    return ErrorValue(text) if _ERROR_VALUE.fullmatch(text) else text


def _refuse_format(name: str) -> None:
    text = _("This is a file of the format %(format)s. Save it as XLSX or as CSV UTF-8.")
    raise SpreadsheetError(text % {"format": name})


def _csv(content: bytes) -> Iterator[Row]:
    if content.startswith(b"\xd0\xcf\x11\xe0"):
        if "EncryptedPackage".encode("utf-16-le") in content:
            raise SpreadsheetError(_has_password())
        raise SpreadsheetError(_("This is an old Excel file (XLS). Save it as XLSX or as CSV UTF-8."))
    if begin := _OTHER_FORMAT.match(content):
        _refuse_format(begin[1].decode().strip("?!").upper().replace("DOCTYPE HTML", "HTML"))
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
            yield number, [_checked(cell) for cell in _limited(number, row)]
    except (csv.Error, ValueError) as error:
        text = _("Row %(number)d cannot be read: %(reason)s.") % {"number": number + 1, "reason": error}
        raise SpreadsheetError(text) from error


def _has_password() -> str:
    return _("The file has a password. Remove the password, and save it again.")


def _xlsx(content: bytes, notes: list[str]) -> Iterator[Row]:
    not_xlsx = _("This is not a CSV or XLSX file, or it is damaged. Save it again as XLSX.")
    try:
        _check_parts(content)
        for number, row in _stored_rows(_transitional(content), notes):
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
        names = {part.filename for part in parts}
        for name in _OTHER_PARTS.keys() & names:
            _refuse_format(_OTHER_PARTS[name])
        if any(part.flag_bits & 1 for part in parts):
            raise SpreadsheetError(_has_password())
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


def _transitional(content: bytes) -> bytes:
    """Return a file in "Strict Open XML" with the namespaces that openpyxl knows (ISO/IEC 29500-4)."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        parts = {part.filename: archive.read(part) for part in archive.infolist()}
    if not any(_STRICT.search(text) for name, text in parts.items() if name.endswith("workbook.xml")):
        return content
    changed = io.BytesIO()
    with zipfile.ZipFile(changed, "w") as copy:
        for name, text in parts.items():
            copy.writestr(name, _STRICT.sub(rb"http://schemas.openxmlformats.org/\1/2006/\2", text))
    return changed.getvalue()


class _Parser(WorkSheetParser):
    """openpyxl would translate a shared formula to each of its cells. We only need to know that it is one.

    `formats` are the number formats by style; a cell has its own as "format"."""

    formats: list[str]

    def parse_cell(self, element: Any) -> Cell:
        cell: Cell = super().parse_cell(element)
        style = cell["style_id"]
        cell["format"] = self.formats[style] if style < len(self.formats) else ""
        return cell

    def parse_formula(self, element: Any) -> str:
        return f"={element.findtext(FORMULA_TAG) or ''}"


class _Archive(zipfile.ZipFile):
    """The parts of an XLSX file. openpyxl makes objects of those that it reads as a whole, which is slow."""

    def read(self, name: str | zipfile.ZipInfo, pwd: bytes | None = None) -> bytes:
        content = super().read(name, pwd)
        if content.count(b"<") > MARKS_MAX:
            raise ValueError
        return content


def _formats(archive: zipfile.ZipFile) -> list[str]:
    """Return the number format of each style of cells. Nothing else of the styles is needed, and openpyxl
    refuses a file whose styles lack something."""
    try:
        root = fromstring(archive.read(ARC_STYLE))
    except KeyError:
        return []
    main = f"{{{SHEET_MAIN_NS}}}"
    own = {each.get("numFmtId"): each.get("formatCode") for each in root.iterfind(f"{main}numFmts/")}
    ids = (each.get("numFmtId", "0") for each in root.iterfind(f"{main}cellXfs/"))
    return [own.get(each) or BUILTIN_FORMATS.get(int(each), "General") for each in ids]


def _stored_rows(content: bytes, notes: list[str]) -> Iterator[tuple[int, list[Cell]]]:
    """Yield the number and the cells of the rows in the first visible sheet. `load_workbook` would read all
    of each sheet that does not state its size, and `iter_rows` would add the rows that are not in the file.
    """
    reader = ExcelReader(io.BytesIO(content), read_only=True, keep_links=False)
    reader.archive = archive = _Archive(io.BytesIO(content))
    reader.read_manifest()
    reader.read_strings()
    reader.read_workbook()
    formats = _formats(archive)
    sheets = [
        (sheet, rel.target)
        for sheet, rel in reader.parser.find_sheets()
        if "chartsheet" not in rel.Type and rel.target in reader.valid_files
    ]
    visible = [each for each in sheets if each[0].state == "visible"]
    (sheet, target), *others = visible or sheets
    if others:
        text = _("The file has several sheets. Only “%(name)s” was read.")
        notes.append(text % {"name": sheet.name})
    with archive.open(target) as source:
        parser = _Parser(
            source,
            reader.shared_strings,
            epoch=reader.wb.epoch,
            date_formats={n for n, each in enumerate(formats) if is_date_format(each)},
            timedelta_formats={n for n, each in enumerate(formats) if is_timedelta_format(each)},
        )
        parser.formats = formats
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
    """Return a number as the spreadsheet shows it in the format `form`, as far as that is a plain number."""
    if abs(value) >= EXACT_MAX or "%" in form:
        return ErrorValue(f"{value:g}")
    # a spreadsheet calculates with 15 digits: 0.30000000000000004 is 0.3
    text = f"{Decimal(f'{value:.15g}'):f}"
    if re.fullmatch("0+", form) and text.isdecimal():
        return text.zfill(len(form))
    return text if form in ("", "General", "0", "@", "#") else Formatted(text)
