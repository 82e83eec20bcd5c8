"""What a report shows: the period and a brand."""

from datetime import date
from typing import Any

from django import forms
from django.contrib.auth.models import User
from django.utils.translation import gettext, pgettext
from django.utils.translation import gettext_lazy as _

from vacancies.access.brands import brands_of
from vacancies.models import Brand
from vacancies.statistics.reading import Days
from vacancies.statistics.recording import DAY

DAYS_MAX = 1830  # five years
DEFAULT_MONTHS = 3  # whole ones, so that all tables are about the same applications
FIRST_YEAR = 1971


def presets(last: date) -> list[tuple[str, Days]]:
    """Return (name, days) of common periods. `last` is the last day with figures."""
    this_month = last.replace(day=1)
    end = this_month - DAY
    return [
        (pgettext("period", "This month"), Days(this_month, last)),
        (gettext("Last month"), Days(end.replace(day=1), end)),
        (gettext("Last 3 months"), months_until(last, 3)),
        (gettext("Last 12 months"), months_until(last, 12)),
    ]


def months_until(last: date, count: int) -> Days:
    """Return the days of `count` calendar months until `last`, which is in the last of them."""
    first = last.replace(day=1)
    for _month in range(count - 1):
        first = (first - DAY).replace(day=1)
    return Days(first, last)


class ReportForm(forms.Form):
    """The choices of a report, in the URL. Absent ones have a default."""

    since = forms.DateField(
        label=_("From"), required=False, widget=forms.DateInput({"type": "date"})
    )
    until = forms.DateField(
        label=_("Until"), required=False, widget=forms.DateInput({"type": "date"})
    )
    brand = forms.ModelChoiceField(
        Brand.objects.none(), label=_("Brand"), required=False, empty_label=_("All brands")
    )

    def __init__(self, given: dict[str, str], *, user: User, last: date) -> None:
        """`last` is the last day with figures."""
        period = months_until(last, DEFAULT_MONTHS)
        defaults = {"since": str(period.first), "until": str(period.last)}
        if given.get("since") or given.get("until"):
            defaults["since"] = ""
        super().__init__(defaults | {name: value for name, value in given.items() if value})
        self.last = last
        brand: Any = self.fields["brand"]
        brand.queryset = brands_of(user)
        for field in self.fields.values():
            field.widget.attrs["class"] = "panel-select"

    def clean(self) -> dict[str, object]:
        data = super().clean() or self.cleaned_data
        if self.errors:
            return data
        for name in ("since", "until"):
            if data[name] and data[name].year < FIRST_YEAR:
                self.add_error(name, _("Choose a date after 1970."))
                return data
        until = min(data["until"] or self.last, self.last)
        since = data["since"] or months_until(until, DEFAULT_MONTHS).first
        if since > until:
            text = _("The period begins after its end, or after the last date with figures.")
            self.add_error("since", text)
        elif (until - since).days >= DAYS_MAX:
            self.add_error("since", _("Choose a period of at most five years."))
        data["days"] = Days(since, until)
        return data
