"""Reading of uploaded spreadsheets: what is read, and what is refused with which reason."""

import csv
import re
from datetime import date
from io import BytesIO, StringIO
from zipfile import ZIP_DEFLATED, ZipFile

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from openpyxl import Workbook, load_workbook

from jobsite.spreadsheets import reading, writing
from jobsite.spreadsheets.reading import (
    ErrorValue,
    Formatted,
    Formula,
    SpreadsheetError,
    normalised,
    read,
)

NOT_UTF_8 = (
    "This is neither an XLSX file nor a CSV file in UTF-8. In Excel, save it as “CSV UTF-8”."
)
PASSWORD = "The file has a password. Remove the password, and save it again."
OTHER = "This is a file of the format %s. Save it as XLSX or as CSV UTF-8."
DAMAGED = "This is not a CSV or XLSX file, or it is damaged. Save it again as XLSX."
PURL = rb"http://purl.oclc.org/ooxml/\1/\2"
SHEET = "xl/worksheets/sheet1.xml"
NAMESPACE = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'


def rows_of(content: bytes, rows_max: int = 5) -> list[reading.Row]:
    return read(SimpleUploadedFile("x", content), rows_max=rows_max)


def refusal(content: bytes, rows_max: int = 5) -> str:
    with pytest.raises(SpreadsheetError) as caught:
        rows_of(content, rows_max)
    return str(caught.value)


def xlsx(*rows: list, sheet: str = "", name: str = SHEET, added: str = "") -> bytes:
    """Return an XLSX file with the `rows`, or with `sheet` as the XML of the part `name` or of one
    that is `added`.
    """
    book = Workbook()
    book.create_sheet()
    for row in rows:
        book.active.append(row)
    file = BytesIO()
    book.save(file)
    if not sheet:
        return file.getvalue()
    changed = BytesIO()
    with ZipFile(file) as parts, ZipFile(changed, "w", ZIP_DEFLATED) as out:
        for part in parts.namelist():
            out.writestr(part, sheet if part == name and not added else parts.read(part))
        if added:
            out.writestr(added, sheet)
    return changed.getvalue()


def test_files_of_spreadsheet_programs_are_read():
    """Cells are texts; those of a formula are known as such."""
    for content, rows in (
        (b"\xef\xbb\xbfa;b\r\n1;2,5", [["a", "b"], ["1", "2,5"]]),
        (b"a\tb\n1\t2", [["a", "b"], ["1", "2"]]),
        (b"sep=;\r\na;b\r\n1;2", [["a", "b"], ["1", "2"]]),
        ("a,b\nZoë,2".encode("utf-16"), [["a", "b"], ["Zoë", "2"]]),
        (b"a\n'=1+1", [["a"], ["=1+1"]]),
        (b"a\r1", [["a"], ["1"]]),
        (xlsx(["a", 1, 2.0, 2.5, True, "=1+1"]), [["a", "1", "2", "2.5", "True", "=1+1"]]),
    ):
        assert [row for _number, row in rows_of(content)] == rows
    assert isinstance(rows_of(xlsx(["=1+1"]))[0][1][0], Formula)
    assert not isinstance(rows_of(xlsx(["'=1+1"]))[0][1][0], Formula)
    for text in (
        "a",
        "=1",
        "'=1",
        "'a",
        " a\r\nb ",
        "+32 470",
        "a;=1",
        'a\t"=1',
        "a\r\n- b",
        "a;'b",
    ):
        assert normalised(str(writing.without_formula(text))) == normalised(text)

    assert rows_of(b'a,b\n\n,\n"1\r\n2",x') == [(1, ["a", "b"]), (4, ["1\n2", "x"])]
    assert rows_of(xlsx(["a", "b"], [], [None, "x"])) == [(1, ["a", "b"]), (3, ["", "x"])]


def test_values_that_a_program_could_not_write_are_known():
    """In the languages of the site, as texts and as errors."""
    errors = [
        "#N/A",
        "#REF!",
        "#NAME?",
        "#VALUE!",
        "#DIV/0!",
        "#NUM!",
        "#NULL!",
        "#SPILL!",
        "#CALC!",
        "#N/D!",
        "#NV",
        "#BEZUG!",
        "#VALEUR!",
        "#NOM ?",
        "#WAARDE!",
        "#N/B",
        "########",
        "1.23457E+15",
        "3,24771E+11",
        "Err:502",
    ]
    texts = ["C#", "#1 nurse", "# N/A", "N/A", "#hiring!", "Err: 502", "E+10", "##"]
    cells = [f'<c t="e"><v>{text}</v></c>' for text in errors]
    rows = f"<sheetData><row>{''.join(cells)}</row></sheetData>"
    marked = xlsx(["a"], sheet=f"<worksheet {NAMESPACE}>{rows}</worksheet>")
    for content in (xlsx(errors), "\t".join(errors).encode(), marked):
        [(_number, row)] = rows_of(content)
        assert [(cell, type(cell)) for cell in row] == [(text, ErrorValue) for text in errors]
    assert {type(cell) for cell in rows_of(xlsx(texts))[0][1]} == {str}


def test_numbers_are_read_as_they_are_shown_or_marked():
    book = Workbook()
    cells = [
        (123, "00000", "00123", str),
        (0.1 + 0.2, "General", "0.3", str),
        (1234, "0", "1234", str),
        (2500, "#,##0.00 [$€-407]", "2500", Formatted),
        (2.5, "0.00", "2.5", Formatted),
        (True, "General", "True", Formatted),
        (date(2026, 12, 3), "d-mmm", "2026-12-03", Formatted),
        (0.5, "0%", "0.5", ErrorValue),
        (1234567890123456, "General", "1.23457e+15", ErrorValue),
    ]
    for column, (value, form, _text, _kind) in enumerate(cells, 1):
        book.active.cell(1, column, value).number_format = form
    file = BytesIO()
    book.save(file)
    assert [(str(cell), type(cell)) for cell in rows_of(file.getvalue())[0][1]] == [
        (text, kind) for _value, _form, text, kind in cells
    ]


def test_the_first_visible_sheet_is_read_and_stated():
    book = Workbook()
    for name, state in (
        ("Lists", "hidden"),
        ("More", "veryHidden"),
        ("Jobs", "visible"),
        ("Old", "visible"),
    ):
        sheet = book.create_sheet(name)
        sheet.append([name])
        sheet.row_dimensions[1].hidden = True  # by a filter
        sheet.sheet_state = state
    del book["Sheet"]
    book.active = 2
    file = BytesIO()
    book.save(file)
    notes: list[str] = []
    rows = read(SimpleUploadedFile("x", file.getvalue()), rows_max=5, notes=notes)
    assert (rows, notes) == (
        [(1, ["Jobs"])],
        ["The file has several sheets. Only “Jobs” was read."],
    )


def test_strict_files_and_those_without_styles_are_read():
    parts = {}
    with ZipFile(BytesIO(xlsx(["a", 1, date(2026, 12, 3)]))) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    strict = {
        name: re.sub(
            rb"http://schemas.openxmlformats.org/(\w+)/2006/(main|relationships)", PURL, text
        )
        for name, text in parts.items()
        if name != "[Content_Types].xml"
    }
    unstyled = {name: text for name, text in parts.items() if name != "xl/styles.xml"}
    broken = parts | {"xl/styles.xml": f"<styleSheet {NAMESPACE}><fills><x/></fills></styleSheet>"}
    for changed, last in ((parts | strict, "2026-12-03"), (unstyled, "46359"), (broken, "46359")):
        file = BytesIO()
        with ZipFile(file, "w") as archive:
            for name, text in changed.items():
                archive.writestr(name, text)
        assert rows_of(file.getvalue()) == [(1, ["a", "1", last])]


def test_csv_has_no_formula_however_it_is_split():
    """Excel splits at semicolons in many languages, and quotes count only at the beginning of a
    cell.
    """
    attacks = [
        "=1",
        "a;=1",
        'a;"=1',
        'a;""+1',
        "a\n=1",
        "a\r\n@1",
        "a\r-1",
        "a\t=1",
        "a;\n=1",
        ";=1;=1",
    ]
    attacks += [f"{attack};b" for attack in attacks]
    table = [["id", attack, "end"] for attack in attacks] + [[attack, "end"] for attack in attacks]
    file = "".join(writing.csv_lines([table])).removeprefix("\ufeff")
    for delimiter in ",;\t":
        cells = [
            cell
            for row in csv.reader(StringIO(file, newline=""), delimiter=delimiter)
            for cell in row
        ]
        assert [cell for cell in cells if re.match("[=+@-]", cell)] == [], delimiter


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "The file is empty."),
        (b" \n ", "The file is empty."),
        ("Zoë".encode("latin-1"), NOT_UTF_8),
        (b"\x89PNG\r\n\x1a\n\x00\xff", NOT_UTF_8),
        (b"\xd0\xcf\x11\xe0" + "EncryptedPackage".encode("utf-16-le"), PASSWORD),
        (xlsx(["a"], sheet="x", added="content.xml"), OTHER % "ODS"),
        (xlsx(["a"], sheet="x", added="Index/Document.iwa"), OTHER % "Numbers"),
        (b"\xef\xbb\xbf <html><table><tr><td>a</td></tr></table></html>", OTHER % "HTML"),
        (b"<!DOCTYPE html>a", OTHER % "HTML"),
        (b'<?xml version="1.0"?><Workbook/>', OTHER % "XML"),
        (b"%PDF-1.7", OTHER % "PDF"),
        (
            b"\xd0\xcf\x11\xe0\xa1",
            "This is an old Excel file (XLS). Save it as XLSX or as CSV UTF-8.",
        ),
        (b"a\0b", "This is not a CSV or XLSX file."),
        (b'a,b\n1,2\n"open,3', "Row 3 cannot be read: unexpected end of data."),
        (b"a\n" + b"x" * 200_000, "Row 2 cannot be read: field larger than field limit (131072)."),
        (b"a\n" * 10, "The file has more than 5 rows. Split it into several files."),
        (b"a," * 101, "Row 1 has more than 100 columns."),
        (b"PK\x03\x04", DAMAGED),
        (b"PK\x03\x04" * 100, DAMAGED),
        (xlsx(["a"])[:-100], DAMAGED),
        (xlsx(["a"], sheet="<worksheet"), DAMAGED),
        (xlsx(*[["a"]] * 10), "The file has more than 5 rows. Split it into several files."),
        (xlsx(["a"] * 101), "Row 1 has more than 100 columns."),
    ],
)
def test_files_are_refused_with_the_reason(content, reason):
    assert refusal(content) == reason


@pytest.mark.slow("reads hostile files")
def test_hostile_files_cost_little(monkeypatch):
    """Before they are unpacked."""
    bomb = xlsx(["a"], sheet=f"<worksheet {NAMESPACE}>{' ' * (51 * 2**20)}</worksheet>")
    assert len(bomb) < 200_000
    assert refusal(bomb) == "The file contains more than 50 MB. Split it into several files."
    # A forged size in the directory of the archive: Python reads that many bytes and compares the
    # hash.
    (size,) = (
        each.file_size for each in ZipFile(BytesIO(bomb)).infolist() if each.filename == SHEET
    )
    assert refusal(bomb.replace(size.to_bytes(4, "little"), (10).to_bytes(4, "little"))) == DAMAGED

    monkeypatch.setattr(reading, "FILE_MAX", 2**20)
    text = refusal(b"a" * (2**20 + 1))
    assert text == "The file is larger than 1 MB. Split it into several files."

    # The empty rows before a cell are not kept, and do not count as rows.
    sheet = (
        f"<worksheet {NAMESPACE}><dimension "
        f'ref="A1:XFD1048576"/><sheetData>{{}}</sheetData></worksheet>'
    )
    low = sheet.format('<row r="20000"><c r="A20000"><v>1</v></c></row>')
    right = sheet.format('<row r="2"><c r="XFD2"><v>1</v></c></row>')

    assert rows_of(xlsx(["a"], sheet=low)) == [(20000, ["1"])]
    assert refusal(xlsx(["a"], sheet=right)) == "The file is empty."

    entities = '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;">]>'
    cell = '<c r="A1" t="inlineStr"><is><t>&b;</t></is></c>'
    sheet = (
        f"{entities}<worksheet {NAMESPACE}><sheetData><row "
        f'r="1">{cell}</row></sheetData></worksheet>'
    )

    assert refusal(xlsx(["a"], sheet=sheet)) == DAMAGED


def test_a_small_file_costs_little(monkeypatch):
    """Rows and formulas that a few bytes state are not made, and what packs
    too well is not read.
    """
    monkeypatch.setattr(reading, "ROWS_MAX", 50)
    monkeypatch.setattr(reading, "CELLS_MAX", 200)
    sheet = f"<worksheet {NAMESPACE}><sheetData>{{}}</sheetData></worksheet>"
    row = '<row r="{0}"><c r="A{0}" t="str"><v>x</v></c></row>'
    made = []

    def text(cell):
        made.append(cell)
        return as_made(cell)

    as_made = reading._text
    monkeypatch.setattr(reading, "_text", text)

    assert rows_of(xlsx(["a"], sheet=sheet.format(row.format(300_000)))) == [(300_000, ["x"])]
    assert len(made) == 1

    first = '<row r="1"><c r="A1"><f t="shared" ref="A1:A9" si="0">1+1</f></c></row>'
    others = "".join(f'<row r="{n}"><c r="A{n}"><f t="shared" si="0"/></c></row>' for n in (2, 3))
    found = [
        cells[0] for _number, cells in rows_of(xlsx(["a"], sheet=sheet.format(first + others)))
    ]
    assert (found, {type(cell) for cell in found}) == (["=1+1", "=", "="], {Formula})

    empty = "The file has more than 50 rows, empty ones included. Delete the empty rows."
    rows = "".join(f'<row r="{n}"/>' for n in range(51))
    assert refusal(xlsx(["a"], sheet=sheet.format(rows))) == empty
    assert refusal(b"a" + b"\n" * 51) == empty
    cells = "".join(f'<c r="A{n}"/>' for n in range(1500))
    text_of_cells = "The file has more than 200 cells. Split it into several files."
    assert refusal(xlsx(["a"], sheet=sheet.format(f"<row>{cells}</row>"))) == text_of_cells
    packed = refusal(xlsx(["a"], sheet=sheet.format("<row/>" * 100_000)))
    assert packed == "The file is compressed more than 50 times. Save it again as XLSX."

    # Not read.
    assert rows_of(xlsx(["a"], sheet="<", name="xl/worksheets/sheet2.xml")) == [(1, ["a"])]
    monkeypatch.setattr(reading, "MARKS_MAX", 150)
    assert rows_of(xlsx(["a"])) == [(1, ["a"])]
    styles = f"<styleSheet {NAMESPACE}><cellXfs>{'<xf/>' * 150}</cellXfs></styleSheet>"
    assert refusal(xlsx(["a"], sheet=styles, name="xl/styles.xml")) == DAMAGED

    monkeypatch.setattr(reading, "PARTS_MAX", 5)
    assert refusal(xlsx(["a"])) == "The file has more than 5 parts. Save it again as XLSX."


def test_columns_of_a_sheet_are_as_wide_as_their_text_within_limits():
    rows = [["id", "A title of twenty-two", "x" * 500], [1, "Two\nlines", ""]]
    sheet = load_workbook(BytesIO(writing.xlsx_bytes([rows]))).active
    widths = [round(sheet.column_dimensions[name].width) for name in "ABC"]
    assert widths == [9, 23, 61]
