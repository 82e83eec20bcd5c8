"""Tables as CSV and XLSX downloads. The server stores nothing."""

import csv
from collections.abc import Iterable, Iterator
from datetime import date, datetime
from io import BytesIO
from typing import TypeVar

import xlsxwriter
from django.http import HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.utils import timezone

from jobsite.spreadsheets import BOM, CELL_MAX, FORMULA

Cell = str | int | float | date | datetime  # a datetime is in the site's time zone, without offset
WIDTH_MIN, WIDTH_MAX = 8, 60  # of a column of a sheet, in characters
Batches = Iterable[list[list[Cell]]]  # rows, some at a time


class _Line:
    """A file whose `write` returns the text: csv.writer.writerow() then returns the line."""

    def write(self, text: str) -> str:
        return text


def local(at: datetime | None) -> datetime | str:
    """Return `at` in the site's time zone, as a cell; "" for None."""
    return (
        at.astimezone(timezone.get_default_timezone()).replace(tzinfo=None, microsecond=0)
        if at
        else ""
    )


def as_text(cell: Cell) -> str:
    """Return the cell as text. Dates are in a form that spreadsheets sort and recognise:
    2026-11-22.
    """
    return f"{cell:%Y-%m-%d %H:%M:%S}" if isinstance(cell, datetime) else str(cell)


def without_formula(cell: Cell) -> str | int | float:
    """Return the cell so that no spreadsheet calculates it (OWASP ASVS 5, 1.2.10)."""
    if isinstance(cell, int | float):
        return cell
    return FORMULA.sub(r"\1'", as_text(cell) if isinstance(cell, date) else str(cell))


def csv_lines(batches: Batches) -> Iterator[str]:
    """Yield the CSV file in parts."""
    write = csv.writer(_Line()).writerow
    yield BOM
    for rows in batches:
        yield "".join(write([without_formula(cell) for cell in row]) for row in rows)


def xlsx_bytes(batches: Batches) -> bytes:
    """Return the XLSX file. It is made in memory:
    temporary files would be left behind by a crash.
    """
    file = BytesIO()
    options = {"in_memory": True, "strings_to_formulas": False, "strings_to_urls": False}
    with xlsxwriter.Workbook(file, options) as book:
        sheet = book.add_worksheet()
        sheet.freeze_panes(1, 0)
        formats = {date: "yyyy-mm-dd", datetime: "yyyy-mm-dd hh:mm:ss"}
        styles = {kind: book.add_format({"num_format": form}) for kind, form in formats.items()}
        number = 0
        widths: dict[int, int] = {}
        for rows in batches:
            for row in rows:
                for column, cell in enumerate(row):
                    length = max(map(len, as_text(cell)[:CELL_MAX].split("\n")))
                    widths[column] = max(widths.get(column, WIDTH_MIN), min(length + 1, WIDTH_MAX))
                    if isinstance(cell, int | float):
                        sheet.write_number(number, column, cell)
                    elif isinstance(cell, date) and cell.year >= 1900:  # the first year of XLSX
                        sheet.write_datetime(number, column, cell, styles[type(cell)])
                    elif cell:
                        sheet.write_string(number, column, as_text(cell)[:CELL_MAX])
                number += 1
        for column, width in widths.items():
            sheet.set_column(column, column, width)
    return file.getvalue()


Response = TypeVar("Response", bound=HttpResponseBase)


def csv_response(batches: Batches, name: str, *, at: datetime) -> StreamingHttpResponse:
    response = StreamingHttpResponse(csv_lines(batches), content_type="text/csv; charset=utf-8")
    return _download(response, name, at, "csv")


def xlsx_response(batches: Batches, name: str, *, at: datetime) -> HttpResponse:
    kind = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
    return _download(HttpResponse(xlsx_bytes(batches), content_type=kind), name, at, "xlsx")


def _download(response: Response, name: str, at: datetime, ending: str) -> Response:
    day = at.astimezone(timezone.get_default_timezone()).date()
    response["Content-Disposition"] = f'attachment; filename="{name}-{day}.{ending}"'
    return response
