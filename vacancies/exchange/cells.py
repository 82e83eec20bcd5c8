"""The texts of cells of a spreadsheet: how values are written, and how what people write is read."""

import csv
import re
from collections.abc import Iterable, Mapping
from datetime import date, datetime, time
from decimal import Decimal
from functools import cache
from typing import Any, cast

from django.conf import settings
from django.db import models
from django.utils import translation
from django.utils.html import escape
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from jobsite.languages import LANGUAGES as SITE_LANGUAGES
from jobsite.text.html_conversion import convert, is_escaped
from jobsite.text.iso_names import country_name, language_name
from jobsite.types import JsonObject
from vacancies.choices import COUNTRIES, LANGUAGES
from vacancies.facts.cities import find_city
from vacancies.history.versions import decimal_text
from vacancies.models import Place

MAX_NAMES = 12  # allowed values in an error
_DAYS = ("%Y-%m-%d",)
_DAYS_FIRST = ("%d/%m/%Y", "%d-%m-%Y", "%d.%m.%Y")  # Excel shows and saves dates like this
_TIMES = ("%H:%M:%S", "%H:%M")
_AMOUNT = re.compile(r"(.*?)(?:([.,])(\d{1,2}))?", re.ASCII | re.DOTALL)
_GROUPS = re.compile(r"\d{1,3}([.,' \u00a0\u2009\u202f\u2019])\d{3}(?:\1\d{3})*", re.ASCII)
QUOTE = '"'
SPECIAL = {QUOTE, ";"}  # characters of labels that need quotes


class CellError(Exception):
    """A text that is not allowed in its column. The message says what is allowed."""


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


def read_choice(text: str, labels: Mapping[Any, object], more: JsonObject | None = None) -> object:
    found = by_spelling(labels) | (more or {})
    if text and text.casefold() not in found:
        raise not_allowed(map(str, labels.values()))
    return found[text.casefold()] if text else ""


def read_datetime(text: str) -> datetime:
    """Return the date and time in `text`.
    In English, 03/04 can be March or April, so it is refused.
    """
    days = _DAYS if (get_language() or "").startswith("en") else (*_DAYS, *_DAYS_FIRST)
    for day in days:
        for form in (
            day,
            *(f"{day} {each}" for each in _TIMES),
            *(f"{day}T{each}" for each in _TIMES),
        ):
            try:
                return datetime.strptime(text, form)
            except ValueError:
                continue
    example = datetime.combine(date(2026, 11, 30), time(9))
    text = _("Not a date. Write it as %(date)s, or save the file as XLSX with a date in this cell.")
    raise CellError(text % {"date": example.date().isoformat()})


def read_amount(text: str) -> str:
    """Return a number without separators of thousands, and with a decimal point.

    Colleagues write 3.100,50 or 3,100.50. Which one is meant is clear if both separators occur, or
    one of them twice. 3.100 can be both, in a file that was made on another computer.
    """
    whole, sign, decimals = _AMOUNT.fullmatch(text).groups()  # type: ignore[union-attr]
    if groups := _GROUPS.fullmatch(whole):
        separator = groups[1]
        if separator in ".," and not sign and whole.count(separator) == 1:
            one, other = (
                whole.replace(separator, ""),
                decimal_text(Decimal(whole.replace(separator, "."))),
            )
            message = _(
                "“%(text)s” can be %(one)s or %(other)s. Write it without a separator: %(one)s."
            )
            raise CellError(message % {"text": text, "one": one, "other": other})
        if separator != sign:
            whole = whole.replace(separator, "")
    if not re.fullmatch(r"-?[0-9]+", whole):
        message = _("“%(text)s” is not a number. Write it as 2500 or 2500.50.")
        raise CellError(message % {"text": text})
    return f"{whole}.{decimals}" if sign else whole


def read_place(text: str) -> Place:
    """Return the place in a text, at the coordinates of its city.
    Raise CellError if it is not one.
    """
    parts = [part.strip() for part in text.split("|")]
    if len(parts) == 2:
        parts = ["", "", parts[0], "", parts[1]]
    if len(parts) != 5 or not parts[2]:
        message = _(
            "“%(text)s” is not a place. Write a city and a country, such as Antwerp | BE, or "
            "street | postal code | city | region | country."
        )
        raise CellError(message % {"text": text})
    street, postal_code, locality, region, country = parts
    place = Place(
        street=street,
        postal_code=postal_code,
        locality=locality,
        region=region,
        country=read_code(country, "country"),
    )
    for name in ("street", "postal_code", "locality", "region"):
        value, column = getattr(place, name), cast(models.Field, Place._meta.get_field(name))
        if column.max_length and len(value) > column.max_length:
            message = _("“%(text)s” has %(count)d characters; at most %(max)d are allowed.")
            raise CellError(
                message % {"text": value, "count": len(value), "max": column.max_length}
            )
    if city := find_city(locality, place.country):
        place.latitude, place.longitude = Decimal(str(city.latitude)), Decimal(str(city.longitude))
    return place


def read_code(text: str, kind: str) -> str:
    """Return the code of a country or a language: `text` is the code, or the name in one of the
    site's languages.
    """
    if code := _codes(kind).get(text.casefold()):
        return code
    if kind == "country":
        message = _("“%(text)s” is not a country. Write its code, such as BE, or its name.")
    else:
        message = _("“%(text)s” is not a language. Write its code, such as nl, or its name.")
    raise CellError(message % {"text": text})


@cache
def _codes(kind: str) -> dict[str, str]:
    """Return the codes by their accepted spellings."""
    codes, name_of = (COUNTRIES, country_name) if kind == "country" else (LANGUAGES, language_name)
    names = {
        name_of(code, language).casefold(): code for language in SITE_LANGUAGES for code in codes
    }
    return names | {code.casefold(): code for code in codes}


def read_html(text: str, notes: list[str]) -> str:
    """Return HTML. A text without tags becomes paragraphs."""
    if not re.search(r"</?[a-zA-Z]", text):
        parts = re.split(r"\n\s*\n", text) if text else ()
        return "".join(f"<p>{escape(part)}</p>".replace("\n", "<br>") for part in parts)
    if is_escaped(text):
        raise CellError(_("Contains escaped HTML such as &lt;p&gt;. Write tags as <p>."))
    html, alterations = convert(text)
    notes += (each.message for each in alterations)
    return str(html)


def read_day(text: str) -> str:
    return read_datetime(text).date().isoformat() if text else ""


def read_time(text: str) -> list[str]:
    at = read_datetime(text) if text else None
    return [at.date().isoformat(), at.time().isoformat(), ""] if at else ["", "", ""]


def not_allowed(allowed: Iterable[str], received: str = "") -> CellError:
    names = list(allowed)
    shown = ", ".join(names[:MAX_NAMES]) + (", …" if len(names) > MAX_NAMES else "")
    allowed_only, with_received = (
        _("Allowed: %(allowed)s."),
        _("“%(received)s” is not one of: %(allowed)s."),
    )
    text = with_received if received else allowed_only
    return CellError(text % {"received": received, "allowed": shown or "-"})
