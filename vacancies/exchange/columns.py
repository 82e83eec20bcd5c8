"""The columns with the same value in API items, imports and spreadsheets, and how each type gets
there.

A new column of one of the `TYPES` needs no code in imports, comparisons, spreadsheets and on the
page of a vacancy. `tests/contract/columns.txt` lists where each column occurs.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.db import models
from django.db.models import Field
from django.utils.translation import gettext_lazy
from rest_framework import serializers
from rest_framework.utils.field_mapping import ClassLookupDict, get_field_kwargs

from jobsite.fields import WebURLField
from jobsite.spreadsheets.writing import Cell, local
from jobsite.text.iso_names import currency_codes
from vacancies.choices import COUNTRIES, LANGUAGES
from vacancies.exchange.cells import (
    read_amount,
    read_choice,
    read_code,
    read_day,
    read_html,
    read_time,
)
from vacancies.exchange.fields import (
    ChoiceField,
    CodeField,
    DateTimeField,
    FlagField,
    ImportNumberField,
    ImportTextField,
    LineField,
    UrlField,
)
from vacancies.fields import HtmlField, plain_fields
from vacancies.models import Vacancy

FLAGS = {True: gettext_lazy("yes"), False: gettext_lazy("no")}
# Columns that the API returns under another name or with a rule of its own, or not at all.
_OTHERS = {
    "title",
    "title_internal",
    "image_url",
    "audience",
    "status",
    "publish_from",
    "publish_until",
    "applications_kept_days",
    "pay_min",
    "pay_max",
    "pay_currency",
    "pay_period",
    "pay_note",
    "is_pay_public",
}
COLUMNS = tuple(field for field in plain_fields(Vacancy) if field.name not in _OTHERS)
# Columns with a code of a long list, which no message lists: the codes, and what they are.
CODES: dict[str, tuple[Callable[[], Collection[str]], str]] = {
    "country": (lambda: COUNTRIES, "an ISO 3166-1 code, such as BE"),
    "language": (lambda: LANGUAGES, "an ISO 639-1 code, such as nl"),
    "pay_currency": (currency_codes, "an ISO 4217 code, such as EUR"),
}
_RULES = (
    "allow_null",
    "max_length",
    "min_value",
    "max_value",
    "max_digits",
    "decimal_places",
    "validators",
)


@dataclass(frozen=True)
class ColumnType:
    """`imported` is the field of an imported item, `cell` turns a value other than None into a
    cell. `read` turns the text of a cell into what a browser would post; its second argument
    receives notes about what was changed.
    """

    imported: Callable[..., serializers.Field]
    cell: Callable[[Any], Cell] = str
    read: Callable[[str, list[str]], object] = lambda text, _notes: text


def _number(value: Decimal) -> int | float:
    return int(value) if value == value.to_integral_value() else float(value)


def _read_flag(text: str, _notes: list[str]) -> object:
    return read_choice(text or "no", FLAGS, {"1": True, "0": False, "x": True})


TYPES: Any = ClassLookupDict(
    {
        models.CharField: ColumnType(LineField),
        models.TextField: ColumnType(ImportTextField),
        HtmlField: ColumnType(ImportTextField, str, read_html),
        WebURLField: ColumnType(UrlField),
        models.BooleanField: ColumnType(FlagField, lambda value: str(FLAGS[value]), _read_flag),
        models.IntegerField: ColumnType(serializers.IntegerField, int),
        models.DecimalField: ColumnType(
            ImportNumberField, _number, lambda text, _notes: read_amount(text) if text else ""
        ),
        models.DateField: ColumnType(
            serializers.DateField, lambda value: value, lambda text, _notes: read_day(text)
        ),
        models.DateTimeField: ColumnType(
            DateTimeField, local, lambda text, _notes: read_time(text)
        ),
    }
)


def imported(column: Any) -> serializers.Field:
    """Return the field of an imported item for `column`. A missing key changes nothing."""
    if column.name in CODES:
        return CodeField(*CODES[column.name])
    if column.choices:
        return ChoiceField(
            column.choices, required=False, allow_blank=column.blank, allow_null=column.null
        )
    given = get_field_kwargs(column.name, column)
    rules = {name: given[name] for name in _RULES if name in given}
    return TYPES[column].imported(required=False, **rules)


def cell(column: Field, value: object) -> Cell:
    """Return `value` of `column` as the cell of a spreadsheet."""
    if value is None:
        return ""
    if column.name in CODES:
        return str(value)
    if column.choices:
        return str(dict(column.flatchoices).get(value, value))
    return TYPES[column].cell(value)


def read(column: Field, text: str, notes: list[str]) -> object:
    """Return what a browser would post for the `text` of a cell. Raise CellError if it is not
    allowed. The inverse of `cell`.
    """
    if column.name == "language":
        return read_code(text, "language") if text else ""
    if column.choices:
        return read_choice(text, dict(column.flatchoices))
    return TYPES[column].read(text, notes)
