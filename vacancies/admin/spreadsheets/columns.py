"""Vacancies as rows of a spreadsheet, for export and import in the admin.

A row has what the form of a vacancy edits, except uploads, other recruiters, attachments and the
application form. Texts are HTML, so that an exported row can be imported again without a loss.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from django.conf import settings
from django.utils import translation
from django.utils.translation import gettext as _

from jobsite.languages import text_languages
from jobsite.spreadsheets import CELL_MAX
from jobsite.spreadsheets.reading import Row, SpreadsheetError, normalised
from jobsite.spreadsheets.writing import Cell, as_text, local
from vacancies.admin.spreadsheets.values import (
    Read,
    Values,
    recruiter_text,
    recruiters_with_a_namesake,
)
from vacancies.choices import Keyword
from vacancies.dates import last_day
from vacancies.exchange.cells import joined, place_text, read_day
from vacancies.exchange.columns import COLUMNS as SHARED_COLUMNS
from vacancies.exchange.columns import cell, read
from vacancies.history.diff import field_labels
from vacancies.models import TRANSLATED, Filter, Vacancy, VacancyText, text_field

READY = "ready"  # the key of an imported item
BATCH = 500  # rows that are read at a time


@dataclass(frozen=True)
class SheetColumn:
    """How a column is written and read: `write` returns the cell of a vacancy, with the names that
    several recruiters have. `read` returns what a browser would post for a text.
    """

    write: Callable[[Vacancy, set[str]], Cell]
    read: Read = lambda _values, _name, text: text


def _by_type(name: str) -> SheetColumn:
    """Return a column that is written and read as its type."""
    field: Any = Vacancy._meta.get_field(name)
    return SheetColumn(
        lambda vacancy, _names: cell(field, getattr(vacancy, name)),
        lambda values, _name, text: read(field, text, values.notes),
    )


def _of(keyword: Keyword) -> SheetColumn:
    return SheetColumn(lambda vacancy, _names: joined(vacancy.labels(keyword)), Values.options)


def _last_day(vacancy: Vacancy, _names: set[str]) -> Cell:
    return last_day(vacancy.publish_until) if vacancy.publish_until else ""


# The columns, in order: fields of the form, after the id and before the time of the last change.
_FIRST: dict[str, SheetColumn] = {
    "id": SheetColumn(lambda vacancy, _names: vacancy.pk),
    "title": _by_type("title"),
    "status": SheetColumn(lambda vacancy, _names: str(vacancy.state.label), Values.status),
    "brand": SheetColumn(
        lambda vacancy, _names: vacancy.brand.name if vacancy.brand else "", Values.brand
    ),
    "location": _by_type("location"),
    **{keyword.value: _of(keyword) for keyword in Keyword},
    "head_recruiter": SheetColumn(
        lambda vacancy, names: recruiter_text(vacancy.head_recruiter, names),
        Values.head_recruiter,
    ),
    "publish_from": _by_type("publish_from"),
    "last_day": SheetColumn(_last_day, lambda _values, _name, text: read_day(text)),
    **{
        name: _by_type(name)
        for name in (
            "audience",
            "is_hot",
            "is_permanent",
            "title_internal",
            "apply_url",
            "image_url",
            "video",
            "reference",
            "language",
            "work_place",
        )
    },
    "places": SheetColumn(
        lambda vacancy, _names: joined(map(place_text, vacancy.sites)), Values.places
    ),
    "remote_countries": SheetColumn(
        lambda vacancy, _names: joined(vacancy.remote_countries), Values.remote_countries
    ),
    **{
        name: _by_type(name)
        for name in (
            "pay_min",
            "pay_max",
            "pay_currency",
            "pay_period",
            "pay_note",
            "is_pay_public",
        )
    },
}
SHEET_COLUMNS: dict[str, SheetColumn] = {
    **_FIRST,
    **{each.name: _by_type(each.name) for each in SHARED_COLUMNS if each.name not in _FIRST},
    "updated_at": SheetColumn(lambda vacancy, _names: local(vacancy.updated_at)),
}


def sheet_columns() -> dict[str, SheetColumn]:
    """Return the columns, those of texts in other languages before the last."""
    return _with_texts(text_languages())


@cache
def _with_texts(languages: tuple[str, ...]) -> dict[str, SheetColumn]:
    texts = {name: _of_text(code, key) for code in languages for key, name in text_columns(code)}
    return dict([*SHEET_COLUMNS.items()][:-1]) | texts | {"updated_at": SHEET_COLUMNS["updated_at"]}


def text_columns(code: str) -> list[tuple[str, str]]:
    """Return the names of the columns of a language, each after the key of an imported item."""
    return [(key, f"{text_field(code)}-{key}") for key in (*TRANSLATED, READY)]


def _of_text(code: str, key: str) -> SheetColumn:
    column: Any = Vacancy._meta.get_field("is_hot" if key == READY else key)

    def write(vacancy: Vacancy, _names: set[str]) -> Cell:
        text = next((t for t in vacancy.translations.all() if t.language == code), None)
        value = text and (text.is_ready if key == READY else text.texts.get(key, ""))
        return "" if value is None else cell(column, value)

    return SheetColumn(write, lambda values, _name, text: read(column, text, values.notes))


def headings() -> dict[str, str]:
    """Return the headings by column, in the active language.
    Filters without options have no column.
    """
    used = Filter.objects.exclude(options=None).values_list("keyword", flat=True)
    unused = {*Keyword.values} - {*used}
    labels = field_labels() | {
        "id": _("ID"),
        "last_day": _("Closing date"),
        "updated_at": _("Last change"),
    }
    for code in text_languages():
        for key, name in text_columns(code):
            labels[name] = f"{_('Ready') if key == READY else labels[key]} ({code})"
    found = {name: labels[name] for name in sheet_columns() if name not in unused}
    times = Counter(found.values())
    return {
        name: label if times[label] == 1 else f"{label} ({name})" for name, label in found.items()
    }


# --- export ---


@dataclass(frozen=True)
class VacancyTable:
    """The vacancies `pks` in this order: headings in `language`, and rows of the same length."""

    pks: Sequence[int]
    language: str

    def batches(self) -> Iterator[list[list[Cell]]]:
        """Yield the headings, then the rows in batches. Vacancies that were deleted in the meantime
        are left out. The language is active during a batch only: a streamed response outlives the
        request's.
        """
        with translation.override(self.language):
            empty = self._empty_columns()
            columns = {name: text for name, text in headings().items() if name not in empty}
            namesakes = recruiters_with_a_namesake()
            yield [list(columns.values())]
        for start in range(0, len(self.pks), BATCH):
            pks = self.pks[start : start + BATCH]
            with translation.override(self.language):
                found = Vacancy.objects.with_related().in_bulk(list(pks))
                rows = [cells(found[pk], namesakes) for pk in pks if pk in found]
                yield [[row[name] for name in columns] for row in rows]

    def _empty_columns(self) -> set[str]:
        """Return the columns of languages in which none of the vacancies has a text."""
        if not (codes := {*text_languages()}):
            return set()
        filled = VacancyText.objects.filter(vacancy__in=Vacancy.objects.with_ids(self.pks))
        codes -= {*filled.values_list("language", flat=True).distinct()}
        return {name for code in codes for _key, name in text_columns(code)}


def cells(vacancy: Vacancy, namesakes: set[str]) -> dict[str, Cell]:
    """Return the cells of `vacancy`, by column. Requires `with_related()`."""
    return {name: column.write(vacancy, namesakes) for name, column in sheet_columns().items()}


# --- import ---


@dataclass(frozen=True)
class SheetRow:
    """A row of an uploaded file:
    its number, the text in the column ID, and the other texts by column.
    """

    number: int
    key: str
    texts: dict[str, str]


@dataclass(frozen=True)
class Sheet:
    """An uploaded file: its rows, and the headings that name no column."""

    rows: list[SheetRow]
    ignored: list[str]

    @classmethod
    def of(cls, rows: list[Row]) -> "Sheet":
        """Raise SpreadsheetError if the first row has no headings or one of them twice."""
        known = by_spelling_of_columns()
        (_number, first), *others = rows
        columns = [known.get(heading.casefold()) for heading in first]
        if not any(columns):
            text = _("The first row has no headings. Expected some of: %(headings)s.")
            raise SpreadsheetError(text % {"headings": ", ".join(headings().values())})
        for name, times in Counter(filter(None, columns)).items():
            if times > 1:
                text = _("The column “%(heading)s” occurs more than once.")
                raise SpreadsheetError(text % {"heading": headings()[name]})
        if not others:
            raise SpreadsheetError(_("The file has headings and no rows."))
        found = []
        for number, row in others:
            texts = {
                name: text
                for name, text in zip(columns, _filled(row, len(columns)), strict=True)
                if name
            }
            texts.pop("updated_at", None)
            found.append(SheetRow(number, texts.pop("id", ""), texts))
        ignored = [
            heading for heading, name in zip(first, columns, strict=True) if heading and not name
        ]
        return cls(found, ignored)


def by_spelling_of_columns() -> dict[str, str]:
    """Return the columns by heading: in each language, and by name."""
    found: dict[str, str] = {}
    for language in (translation.get_language(), *dict(settings.LANGUAGES)):
        with translation.override(language):
            for name, heading in headings().items():
                found.setdefault(heading.casefold(), name)
    return {name: name for name in sheet_columns()} | found


def _filled(row: list[str], length: int) -> list[str]:
    return [*row, *[""] * (length - len(row))][:length]


def changed(texts: Mapping[str, str], current: Mapping[str, Cell]) -> dict[str, str]:
    """Return the `texts` that differ from what an export of the vacancy has now. Only these are
    imported, so that a value which the file has in another precision stays as it is.
    """
    return {
        name: text
        for name, text in texts.items()
        if name in current and not _is_same(text, normalised(as_text(current[name])))
    }


def _is_same(text: str, current: str) -> bool:
    # Cut off in XLSX.
    return text == current or (len(text) >= CELL_MAX - 1 and current.startswith(text))
