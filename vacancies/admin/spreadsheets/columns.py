"""Vacancies as rows of a spreadsheet, for export and import in the admin.

A row has what the form of a vacancy edits, except uploads, other recruiters, attachments and the
application form. Texts are HTML, so that an exported row can be imported again without a loss.
"""

import csv
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from django.conf import settings
from django.db.models import Count
from django.utils import translation
from django.utils.translation import gettext as _

from jobsite.spreadsheets import CELL_MAX
from jobsite.spreadsheets.reading import Row, SpreadsheetError, normalised
from jobsite.spreadsheets.writing import Cell, as_text, local
from jobsite.types import JsonObject
from vacancies.choices import Keyword
from vacancies.dates import last_day
from vacancies.exchange.columns import COLUMNS as SHARED_COLUMNS
from vacancies.exchange.columns import cell
from vacancies.fields import plain_fields
from vacancies.history.diff import field_labels
from vacancies.models import Filter, Place, Recruiter, Vacancy

BATCH = 500  # rows that are read at a time
# The names of the columns: fields of the form, after the id and before the time of the last change.
_FIRST = (
    "id",
    "title",
    "status",
    "brand",
    "location",
    *Keyword.values,
    "head_recruiter",
    "publish_from",
    "last_day",
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
    "places",
    "remote_countries",
    "pay_min",
    "pay_max",
    "pay_currency",
    "pay_period",
    "pay_note",
    "is_pay_public",
)
COLUMNS = (
    *_FIRST,
    *(column.name for column in SHARED_COLUMNS if column.name not in _FIRST),
    "updated_at",
)
_PAY = tuple(column for column in plain_fields(Vacancy) if "pay_" in column.name)
QUOTE = '"'
SPECIAL = {QUOTE, ";"}  # characters of labels that need quotes


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
    found = {name: labels[name] for name in COLUMNS if name not in unused}
    times = Counter(found.values())
    return {
        name: label if times[label] == 1 else f"{label} ({name})" for name, label in found.items()
    }


def by_spelling(labels: Mapping[object, object]) -> JsonObject:
    """Return the keys of `labels` by every accepted spelling: the key, and its label in each
    language, in lower case. Colleagues use the admin in different languages.
    """
    found: JsonObject = {}
    for language in (translation.get_language(), *dict(settings.LANGUAGES)):
        with translation.override(language):
            for key, label in labels.items():
                found.setdefault(str(label).casefold(), key)
    return found | {str(key).casefold(): key for key in labels if str(key).casefold() not in found}


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
            columns = headings()
            namesakes = recruiters_with_a_namesake()
            yield [list(columns.values())]
        for start in range(0, len(self.pks), BATCH):
            pks = self.pks[start : start + BATCH]
            with translation.override(self.language):
                found = Vacancy.objects.with_related().in_bulk(list(pks))
                rows = [cells(found[pk], namesakes) for pk in pks if pk in found]
                yield [[row[name] for name in columns] for row in rows]


def recruiters_with_a_namesake() -> set[str]:
    names = Recruiter.objects.order_by().values("name").annotate(times=Count("*"))
    return set(names.filter(times__gt=1).values_list("name", flat=True))


def recruiter_text(recruiter: Recruiter | None, namesakes: set[str]) -> str:
    """Return the name of `recruiter`, with the id if another one has the same name."""
    if recruiter is None:
        return ""
    return f"{recruiter.name} (#{recruiter.pk})" if recruiter.name in namesakes else recruiter.name


def cells(vacancy: Vacancy, namesakes: set[str]) -> dict[str, Cell]:
    """Return the cells of `vacancy`, by column. Requires `with_related()`."""
    until = vacancy.publish_until
    return {
        column.name: cell(column, getattr(vacancy, column.name))
        for column in (*SHARED_COLUMNS, *_PAY)
    } | {
        "id": vacancy.pk,
        "title": vacancy.title,
        "title_internal": vacancy.title_internal,
        "image_url": vacancy.image_url,
        "status": str(vacancy.state.label),
        "brand": vacancy.brand.name if vacancy.brand else "",
        **{keyword.value: joined(vacancy.labels(keyword)) for keyword in Keyword},
        "places": joined(place_text(place) for place in vacancy.sites),
        "remote_countries": joined(vacancy.remote_countries),
        "head_recruiter": recruiter_text(vacancy.head_recruiter, namesakes),
        "publish_from": local(vacancy.publish_from),
        "last_day": last_day(until) if until else "",
        "audience": vacancy.get_audience_display(),
        "updated_at": local(vacancy.updated_at),
    }


def place_text(place: Place) -> str:
    """Return "Antwerp | BE", or all parts if there are more of them."""
    parts = [place.street, place.postal_code, place.locality, place.region, place.country]
    return " | ".join(
        parts if parts[0] or parts[1] or parts[3] else [place.locality, place.country]
    )


def joined(labels: Iterable[str]) -> str:
    """Return the labels in one cell: "Antwerp; Ghent".
    A label with ";" or quotes is quoted as in CSV.
    """
    return "; ".join(
        f'"{each.replace(QUOTE, 2 * QUOTE)}"' if SPECIAL & set(each) else each for each in labels
    )


def split(text: str) -> list[str]:
    """Return the labels of a cell. The inverse of `joined`. A line break separates labels too."""
    rows = csv.reader(text.splitlines(), delimiter=";", skipinitialspace=True)
    return [label for row in rows for each in row if (label := each.strip())]


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
    return {name: name for name in COLUMNS} | found


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
