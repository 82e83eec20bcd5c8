"""Texts of a spreadsheet as values of the form of a vacancy. The form validates them."""

import re
from collections.abc import Callable
from typing import Any

from django.db import models
from django.db.models import Count
from django.forms import Form
from django.utils.translation import gettext as _

from jobsite.spreadsheets.reading import Formatted, Formula
from jobsite.text.html_conversion import without_entities
from vacancies.choices import PLACES_MAX, Keyword, PlaceKind, State, VacancyStatus
from vacancies.exchange.cells import (
    MAX_NAMES,
    CellError,
    by_spelling,
    not_allowed,
    read_choice,
    read_code,
    read_place,
    split,
)
from vacancies.fields import html_fields
from vacancies.history.versions import Content, as_json
from vacancies.models import Place, Recruiter, Vacancy, text_field

_KINDS = (models.DecimalField, models.IntegerField, models.DateField, models.BooleanField)
_TYPED = {
    "last_day",
    *(each.name for each in Vacancy._meta.concrete_fields if isinstance(each, _KINDS)),
}


class Values:
    """Converts texts by column for `form`. `notes` receives what was removed from texts."""

    def __init__(self, form: Form, notes: list[str]) -> None:
        self.form = form
        self.notes = notes

    def value(self, name: str, text: str, read: "Read") -> object:
        """Return what a browser would post. Raise CellError if the text is not allowed."""
        if isinstance(text, Formula) or (isinstance(text, Formatted) and name not in _TYPED):
            raise CellError(str(text.reason))
        is_text = name.startswith(text_field(""))
        is_html = name.rpartition("-")[2] in html_fields(Vacancy)
        if not is_html and (plain := without_entities(text)) != text:
            note = _("HTML entities were converted: “%(before)s” became “%(after)s”.")
            self.notes.append(note % {"before": text, "after": plain})
            text = plain
        # The places and texts in other languages are no fields of the form.
        if name != "places" and name not in self.form.fields and not is_text:
            raise CellError(_("You cannot change this column."))
        return read(self, name, text)

    def places(self, _name: str, text: str) -> list[Content]:
        """Return the places in the format of a content. Those that the vacancy has keep their
        coordinates; others get those of their city.
        """
        instance = self.form.instance  # type: ignore[attr-defined]
        rows = instance.places.filter(kind=PlaceKind.SITE) if instance.pk else ()
        known = {_address(place): place for place in rows}
        places = [read_place(each) for each in split(text)]
        if len(places) > PLACES_MAX:
            message = _("At most %(max)d places are allowed. These are %(count)d.")
            raise CellError(message % {"max": PLACES_MAX, "count": len(places)})
        return [as_json(known.get(_address(place), place).address) for place in places]

    def remote_countries(self, _name: str, text: str) -> list[str]:
        return [read_code(each, "country") for each in split(text)]

    def status(self, _name: str, text: str) -> str:
        allowed = {status.value: status.label for status in VacancyStatus}
        state = by_spelling(dict(State.choices)).get(text.casefold(), "")
        if state == State.SCHEDULED:  # published from a later time
            return VacancyStatus.PUBLISHED
        return str(read_choice(state or text, allowed)) if text else ""

    def brand(self, name: str, text: str) -> object:
        return self._row(name, text, str)

    def head_recruiter(self, name: str, text: str) -> object:
        namesakes = recruiters_with_a_namesake()
        return self._row(name, text, lambda each: recruiter_text(each, namesakes))

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
            raise not_allowed([label(row) for row in rows.order_by("name")[: MAX_NAMES + 1]])
        return found[0].pk

    def options(self, name: str, text: str) -> object:
        choices = {label: pk for pk, label in self.form.fields[name].choices if pk}  # type: ignore[attr-defined]
        folded = {label.casefold(): pk for label, pk in choices.items()}
        pks = []
        for label in split(text):
            pk = choices.get(label, folded.get(label.casefold()))
            if pk is None:
                raise not_allowed(choices, label)
            pks.append(str(pk))
        if not Keyword(name).is_single:
            return pks
        if len(pks) > 1:
            raise CellError(_("Only one option is allowed."))
        return pks[0] if pks else ""


Read = Callable[[Values, str, str], object]  # of the name of a column and a text


def recruiters_with_a_namesake() -> set[str]:
    names = Recruiter.objects.order_by().values("name").annotate(times=Count("*"))
    return set(names.filter(times__gt=1).values_list("name", flat=True))


def recruiter_text(recruiter: Recruiter | None, namesakes: set[str]) -> str:
    """Return the name of `recruiter`, with the id if another one has the same name."""
    if recruiter is None:
        return ""
    return f"{recruiter.name} (#{recruiter.pk})" if recruiter.name in namesakes else recruiter.name


def _address(place: Place) -> tuple[str, ...]:
    return place.street, place.postal_code, place.locality, place.region, place.country


def _same(one: str, other: str) -> bool:
    return one.casefold() == other.casefold()
