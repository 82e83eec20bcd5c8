"""Applications as CSV and XLSX, with the answers as columns. The server stores nothing.

Applications of different forms share the column of a field that has the same name in both. A heading that two
fields have is followed by the name of the field.
"""

import csv
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from io import BytesIO
from typing import Any, Protocol

import xlsxwriter
from django.db.models import Prefetch
from django.http import HttpResponse, StreamingHttpResponse
from django.utils import timezone, translation
from django.utils.translation import gettext as _

from applications.models import Application, FormSnapshot
from applications.submissions.answers import answers
from forms_structure.structure import walk
from vacancies.models import Vacancy

BATCH = 500  # rows that are read at a time
CELL_MAX = 32_767  # characters of a cell in XLSX
FORMULA = ("=", "+", "-", "@", "\t", "\r")  # a spreadsheet calculates a cell that begins with these
BOM = "\ufeff"  # spreadsheets read a CSV file as UTF-8 only with it

Cell = str | int | float


class Rows(Protocol):
    """The content of a file."""

    def batches(self) -> Iterator[list[list[Cell]]]:
        """Yield rows of cells in batches. The first row has the headings."""


@dataclass(frozen=True)
class PlainRows:
    """Rows that are in memory, such as a report."""

    rows: list[list[Cell]]

    def batches(self) -> Iterator[list[list[Cell]]]:
        yield self.rows


@dataclass(frozen=True)
class Table:
    """The applications `pks` in this order: headings in `language`, and rows of the same length."""

    pks: Sequence[int]
    language: str

    def batches(self) -> Iterator[list[list[Cell]]]:
        """Yield the headings, then the rows in batches. Applications that were erased in the meantime are
        left out. The language is active during a batch only: a streamed response outlives the request's."""
        with translation.override(self.language):
            fields = self._fields()
            yield [[*_headings(), *_labels(fields), _("Other values")]]
        for start in range(0, len(self.pks), BATCH):
            pks = self.pks[start : start + BATCH]
            with translation.override(self.language):
                found = _rows().in_bulk(pks)
                yield [self._row(found[pk], fields) for pk in pks if pk in found]

    def _fields(self) -> dict[str, str]:
        """Return the label of each field by name, in the order of the forms, the newest form first."""
        snapshots: set[int] = set()
        for start in range(0, len(self.pks), BATCH):
            pks = self.pks[start : start + BATCH]
            used = FormSnapshot.objects.filter(submissions__application__in=pks).values_list("pk", flat=True)
            snapshots.update(used.distinct())
        found: dict[str, str] = {}
        for snapshot in FormSnapshot.objects.filter(pk__in=snapshots).order_by("-pk"):
            for _path, field in walk(snapshot.sections):
                label = field["label"]
                found.setdefault(field["name"], label["label"] if isinstance(label, dict) else label)
        return found

    def _row(self, application: Any, fields: dict[str, str]) -> list[Cell]:
        given: dict[str, str] = {}
        submission = getattr(application, "submission", None)
        for section in answers(submission) if submission else ():
            for answer in section.answers:
                given[answer.name] = "; ".join(answer.values)
        own = [given.pop(name, "") for name in fields]
        others = "; ".join(f"{name}: {value}" for name, value in given.items())
        return [*_values(application, submission), *own, others]


def _headings() -> list[str]:
    return [
        _("Number"), _("Reference"), _("Applied"), _("Vacancy"), _("Number of the vacancy"), _("Stage"),
        _("Name"), _("E-mail address"), _("Telephone number"), _("Language"), _("Rating"), _("New"),
        _("Applied again"), _("Withdrawn"), _("Source"),
    ]  # fmt: skip


def _labels(fields: dict[str, str]) -> list[str]:
    times = Counter([*_headings(), *fields.values()])
    return [label if times[label] == 1 else f"{label} ({name})" for name, label in fields.items()]


def _values(application: Any, submission: Any) -> list[Cell]:
    """Return the cells below `_headings()`."""
    return [
        application.pk,
        application.reference or "",
        _datetime(application.created_at),
        application.vacancy.title,
        application.vacancy_id,
        application.stage_name or "",
        application.shown_name,
        application.address,
        application.phone,
        application.language,
        application.rating or "",
        "" if application.read_at else _("yes"),
        _("yes") if application.is_repeated else "",
        _datetime(application.withdrawn_at),
        submission.source if submission else "",
    ]


def _datetime(at: datetime | None) -> str:
    """Return `at` in the site's time zone, in a form that spreadsheets sort and recognise."""
    return f"{at.astimezone(timezone.get_default_timezone()):%Y-%m-%d %H:%M:%S}" if at else ""


def _rows() -> Any:
    titles = Prefetch("vacancy", Vacancy.objects.only("title"))  # not its texts
    rows: Any = Application.objects.with_stage().select_related("user", "submission__snapshot")
    return rows.prefetch_related("submission__files", titles)


class _Line:
    """A file whose `write` returns the text: csv.writer.writerow() then returns the line."""

    def write(self, text: str) -> str:
        return text


def without_formula(cell: Cell) -> Cell:
    """Return the cell so that no spreadsheet calculates it (OWASP ASVS 5, 1.2.10)."""
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(FORMULA) else cell


def csv_lines(table: Rows) -> Iterator[str]:
    """Yield the CSV file in parts."""
    write = csv.writer(_Line()).writerow
    yield BOM
    for rows in table.batches():
        yield "".join(write([without_formula(cell) for cell in row]) for row in rows)


def xlsx_bytes(table: Rows) -> bytes:
    """Return the XLSX file. It is made in memory: temporary files would be left behind by a crash."""
    file = BytesIO()
    options = {"in_memory": True, "strings_to_formulas": False, "strings_to_urls": False}
    with xlsxwriter.Workbook(file, options) as book:
        sheet = book.add_worksheet()
        sheet.freeze_panes(1, 0)
        number = 0
        for rows in table.batches():
            for row in rows:
                for column, cell in enumerate(row):
                    if isinstance(cell, int | float):
                        sheet.write_number(number, column, cell)
                    elif cell:
                        sheet.write_string(number, column, cell[:CELL_MAX])
                number += 1
    return file.getvalue()


def csv_response(pks: Sequence[int], *, at: datetime) -> StreamingHttpResponse:
    return csv_download(Table(pks, translation.get_language()), "applications", at=at)


def xlsx_response(pks: Sequence[int], *, at: datetime) -> HttpResponse:
    return xlsx_download(Table(pks, translation.get_language()), "applications", at=at)


def csv_download(table: Rows, name: str, *, at: datetime) -> StreamingHttpResponse:
    response = StreamingHttpResponse(csv_lines(table), content_type="text/csv; charset=utf-8")
    return _download(response, name, at, "csv")


def xlsx_download(table: Rows, name: str, *, at: datetime) -> HttpResponse:
    kind = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
    return _download(HttpResponse(xlsx_bytes(table), content_type=kind), name, at, "xlsx")


def _download(response: Any, name: str, at: datetime, ending: str) -> Any:
    day = at.astimezone(timezone.get_default_timezone()).date()
    response["Content-Disposition"] = f'attachment; filename="{name}-{day}.{ending}"'
    return response
