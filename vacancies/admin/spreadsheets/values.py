"""Texts of a spreadsheet as values of the form of a vacancy. The form validates them."""

import re
from collections.abc import Callable, Iterable, Mapping
from datetime import date, datetime, time
from decimal import Decimal
from functools import cache
from typing import Any, cast

from django.db import models
from django.forms import Form
from django.utils.html import escape
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from jobsite.languages import LANGUAGES as SITE_LANGUAGES
from jobsite.spreadsheets.reading import Formatted, Formula
from jobsite.text.html_conversion import convert, is_escaped, without_entities
from jobsite.text.iso_names import country_name, language_name
from jobsite.types import JsonObject
from vacancies.admin.spreadsheets.columns import (
    by_spelling,
    recruiter_text,
    recruiters_with_a_namesake,
    split,
)
from vacancies.choices import (
    COUNTRIES,
    LANGUAGES,
    PLACES_MAX,
    Keyword,
    PlaceKind,
    State,
    VacancyStatus,
)
from vacancies.exchange.columns import FLAGS
from vacancies.facts.cities import find_city
from vacancies.fields import HtmlField, html_fields
from vacancies.history.versions import Content, as_json, decimal_text
from vacancies.models import Place, Vacancy

MAX_NAMES = 12  # allowed values in an error
_KINDS = (models.DecimalField, models.IntegerField, models.DateField, models.BooleanField)
_TYPED = {
    "last_day",
    *(each.name for each in Vacancy._meta.concrete_fields if isinstance(each, _KINDS)),
}
_DAYS = ("%Y-%m-%d",)
_DAYS_FIRST = ("%d/%m/%Y", "%d-%m-%Y", "%d.%m.%Y")  # Excel shows and saves dates like this
_TIMES = ("%H:%M:%S", "%H:%M")
_AMOUNT = re.compile(r"(.*?)(?:([.,])(\d{1,2}))?", re.ASCII | re.DOTALL)
_GROUPS = re.compile(r"\d{1,3}([.,' \u00a0\u2009\u202f\u2019])\d{3}(?:\1\d{3})*", re.ASCII)


class CellError(Exception):
    """A text that is not allowed in its column. The message says what is allowed."""


class Values:
    """Converts texts by column for `form`. `notes` receives what was removed from texts."""

    def __init__(self, form: Form, notes: list[str]) -> None:
        self.form = form
        self.notes = notes

    def value(self, name: str, text: str) -> object:
        """Return what a browser would post. Raise CellError if the text is not allowed."""
        if isinstance(text, Formula) or (isinstance(text, Formatted) and name not in _TYPED):
            raise CellError(str(text.reason))
        if name not in html_fields(Vacancy) and (plain := without_entities(text)) != text:
            note = _("HTML entities were converted: “%(before)s” became “%(after)s”.")
            self.notes.append(note % {"before": text, "after": plain})
            text = plain
        if name == "places":
            return self._places(text)
        if name not in self.form.fields:
            raise CellError(_("You cannot change this column."))
        if name in Keyword.values:
            return self._options(name, text)
        match name:
            case "language":
                return _code(text, "language") if text else ""
            case "remote_countries":
                return [_code(each, "country") for each in split(text)]
            case "status":
                return self._status(text)
            case "brand":
                return self._row(name, text, str)
            case "head_recruiter":
                namesakes = recruiters_with_a_namesake()
                return self._row(name, text, lambda each: recruiter_text(each, namesakes))
            case "last_day":
                return _datetime(text).date().isoformat() if text else ""
        return self._plain(Vacancy._meta.get_field(name), text)

    def _places(self, text: str) -> list[Content]:
        """Return the places in the format of a content. Those that the vacancy has keep their
        coordinates; others get those of their city.
        """
        instance = self.form.instance  # type: ignore[attr-defined]
        rows = instance.places.filter(kind=PlaceKind.SITE) if instance.pk else ()
        known = {_address(place): place for place in rows}
        places = [_place(each) for each in split(text)]
        if len(places) > PLACES_MAX:
            message = _("At most %(max)d places are allowed. These are %(count)d.")
            raise CellError(message % {"max": PLACES_MAX, "count": len(places)})
        return [as_json(known.get(_address(place), place).address) for place in places]

    def _plain(self, column: Any, text: str) -> object:
        """Return the value of a column whose type decides how it is read."""
        if column.choices:
            return _choice(text, dict(column.flatchoices))
        if isinstance(column, HtmlField):
            return self._html(text)
        if isinstance(column, models.DecimalField):
            return _amount(text) if text else ""
        if isinstance(column, models.BooleanField):
            return _choice(text or "no", FLAGS, {"1": True, "0": False, "x": True})
        if isinstance(column, models.DateTimeField):
            at = _datetime(text) if text else None
            return [at.date().isoformat(), at.time().isoformat(), ""] if at else ["", "", ""]
        if isinstance(column, models.DateField):
            return _datetime(text).date().isoformat() if text else ""
        return text

    def _status(self, text: str) -> str:
        allowed = {status.value: status.label for status in VacancyStatus}
        state = by_spelling(dict(State.choices)).get(text.casefold(), "")
        if state == State.SCHEDULED:  # published from a later time
            return VacancyStatus.PUBLISHED
        return str(_choice(state or text, allowed)) if text else ""

    def _row(self, name: str, text: str, label: Callable[[Any], str]) -> object:
        """Return the id of the row that is called `text`."""
        if not text:
            return ""
        rows: Any = self.form.fields[name].queryset  # type: ignore[attr-defined]
        name_only = re.sub(r" \(#\d+\)$", "", text)
        found = [row for row in rows.filter(name__in={text, name_only}) if label(row) == text]
        found = found or [
            row for row in rows.filter(name__iexact=name_only) if _same(label(row), text)
        ]
        if len(found) != 1:
            raise _not_allowed([label(row) for row in rows.order_by("name")[: MAX_NAMES + 1]])
        return found[0].pk

    def _options(self, name: str, text: str) -> object:
        choices = {label: pk for pk, label in self.form.fields[name].choices if pk}  # type: ignore[attr-defined]
        folded = {label.casefold(): pk for label, pk in choices.items()}
        pks = []
        for label in split(text):
            pk = choices.get(label, folded.get(label.casefold()))
            if pk is None:
                raise _not_allowed(choices, label)
            pks.append(str(pk))
        if not Keyword(name).is_single:
            return pks
        if len(pks) > 1:
            raise CellError(_("Only one option is allowed."))
        return pks[0] if pks else ""

    def _html(self, text: str) -> str:
        """Return HTML. A text without tags becomes paragraphs."""
        if not re.search(r"</?[a-zA-Z]", text):
            parts = re.split(r"\n\s*\n", text) if text else ()
            return "".join(f"<p>{escape(part)}</p>".replace("\n", "<br>") for part in parts)
        if is_escaped(text):
            raise CellError(_("Contains escaped HTML such as &lt;p&gt;. Write tags as <p>."))
        html, alterations = convert(text)
        self.notes += (each.message for each in alterations)
        return str(html)


def _choice(text: str, labels: Mapping[Any, object], more: JsonObject | None = None) -> object:
    found = by_spelling(labels) | (more or {})
    if text and text.casefold() not in found:
        raise _not_allowed(map(str, labels.values()))
    return found[text.casefold()] if text else ""


def _datetime(text: str) -> datetime:
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


def _amount(text: str) -> str:
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


def _place(text: str) -> Place:
    """Return the place in a text, at the coordinates of its city.
    Raise CellError if it is not one.
    """
    parts = [part.strip() for part in text.split("|")]
    if len(parts) == 2:
        parts = ["", "", parts[0], "", parts[1]]
    if len(parts) != 5 or not parts[2]:
        message = _(
            "“%(text)s” is not a place. Write a city and a country, such as Antwerp | BE, or "
            "street | postal "
            "code | city | region | country."
        )
        raise CellError(message % {"text": text})
    street, postal_code, locality, region, country = parts
    place = Place(
        street=street,
        postal_code=postal_code,
        locality=locality,
        region=region,
        country=_code(country, "country"),
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


def _address(place: Place) -> tuple[str, ...]:
    return place.street, place.postal_code, place.locality, place.region, place.country


def _code(text: str, kind: str) -> str:
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


def _same(one: str, other: str) -> bool:
    return one.casefold() == other.casefold()


def _not_allowed(allowed: Iterable[str], received: str = "") -> CellError:
    names = list(allowed)
    shown = ", ".join(names[:MAX_NAMES]) + (", …" if len(names) > MAX_NAMES else "")
    allowed_only, with_received = (
        _("Allowed: %(allowed)s."),
        _("“%(received)s” is not one of: %(allowed)s."),
    )
    text = with_received if received else allowed_only
    return CellError(text % {"received": received, "allowed": shown or "-"})
