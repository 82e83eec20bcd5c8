"""Texts of a spreadsheet as values of the form of a vacancy. The form validates them."""

import re
from collections.abc import Callable, Iterable, Mapping
from datetime import date, datetime, time
from typing import Any

from django.db import models
from django.forms import Form
from django.utils.html import escape
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from jobsite.spreadsheets.reading import Formula
from jobsite.text.html_conversion import convert, is_escaped
from jobsite.types import JsonObject
from vacancies.admin.spreadsheets.columns import (
    by_spelling,
    recruiter_text,
    recruiters_with_a_namesake,
    split,
)
from vacancies.choices import Keyword
from vacancies.exchange.columns import FLAGS
from vacancies.fields import HtmlField
from vacancies.models import State, Status, Vacancy

MAX_NAMES = 12  # allowed values in an error
_DAYS = ("%Y-%m-%d",)
_DAYS_FIRST = ("%d/%m/%Y", "%d-%m-%Y", "%d.%m.%Y")  # Excel shows and saves dates like this
_TIMES = ("%H:%M:%S", "%H:%M")


class CellError(Exception):
    """A text that is not allowed in its column. The message says what is allowed."""


class Values:
    """Converts texts by column for `form`. `notes` receives what was removed from texts."""

    def __init__(self, form: Form, notes: list[str]) -> None:
        self.form = form
        self.notes = notes

    def value(self, name: str, text: str) -> object:
        """Return what a browser would post. Raise CellError if the text is not allowed."""
        if isinstance(text, Formula):
            raise CellError(_("Formulas are not read. Replace it by its value."))
        if name not in self.form.fields:
            raise CellError(_("You cannot change this column."))
        if name in Keyword.values:
            return self._options(name, text)
        match name:
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

    def _plain(self, column: Any, text: str) -> object:
        """Return the value of a column whose type decides how it is read."""
        if column.choices:
            return _choice(text, dict(column.flatchoices))
        if isinstance(column, HtmlField):
            return self._html(text)
        if isinstance(column, models.BooleanField):
            return _choice(text or "no", FLAGS, {"1": True, "0": False, "x": True})
        if isinstance(column, models.DateTimeField):
            at = _datetime(text) if text else None
            return [at.date().isoformat(), at.time().isoformat(), ""] if at else ["", "", ""]
        if isinstance(column, models.DateField):
            return _datetime(text).date().isoformat() if text else ""
        return text

    def _status(self, text: str) -> str:
        allowed = {status.value: status.label for status in Status}
        state = by_spelling(dict(State.choices)).get(text.casefold(), "")
        if state == State.SCHEDULED:  # published from a later time
            return Status.PUBLISHED
        return str(_choice(state or text, allowed)) if text else ""

    def _row(self, name: str, text: str, label: Callable[[Any], str]) -> object:
        """Return the id of the row that is called `text`."""
        if not text:
            return ""
        rows: Any = self.form.fields[name].queryset  # type: ignore[attr-defined]
        name_only = re.sub(r" \(#\d+\)$", "", text)
        found = [row for row in rows.filter(name__in={text, name_only}) if label(row) == text]
        found = found or [row for row in rows.filter(name__iexact=name_only) if _same(label(row), text)]
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
    """Return the date and time in `text`. In English, 03/04 can be March or April, so it is refused."""
    days = _DAYS if (get_language() or "").startswith("en") else (*_DAYS, *_DAYS_FIRST)
    for day in days:
        for form in (day, *(f"{day} {each}" for each in _TIMES), *(f"{day}T{each}" for each in _TIMES)):
            try:
                return datetime.strptime(text, form)
            except ValueError:
                continue
    example = datetime.combine(date(2026, 11, 30), time(9))
    text = _("Not a date. Write it as %(date)s, or save the file as XLSX with a date in this cell.")
    raise CellError(text % {"date": example.date().isoformat()})


def _same(one: str, other: str) -> bool:
    return one.casefold() == other.casefold()


def _not_allowed(allowed: Iterable[str], received: str = "") -> CellError:
    names = list(allowed)
    shown = ", ".join(names[:MAX_NAMES]) + (", …" if len(names) > MAX_NAMES else "")
    allowed_only, with_received = _("Allowed: %(allowed)s."), _("“%(received)s” is not one of: %(allowed)s.")
    text = with_received if received else allowed_only
    return CellError(text % {"received": received, "allowed": shown or "-"})
