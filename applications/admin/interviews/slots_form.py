"""The form of times that applicants choose from."""

from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from django import forms
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.utils import timezone
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from unfold.widgets import (
    UnfoldAdminIntegerFieldWidget,
    UnfoldAdminSingleDateWidget,
    UnfoldAdminSingleTimeWidget,
)

from applications.admin.interviews.meeting import MeetingForm
from applications.models import SlotSet
from applications.operations.slots import SLOTS_MAX
from jobsite.admin.datetime_fields import DateField, is_ambiguous, readings
from jobsite.text.formats import format_period
from vacancies.dates import end_of_day
from vacancies.models import Vacancy

ROWS = range(1, 7)  # periods of time
COLUMNS = ("day", "from", "until")


class SlotsForm(MeetingForm):
    """Times to choose from: periods, each of which is divided into interviews.
    `starts` are their begins.
    """

    notice_hours = forms.IntegerField(
        label=_("Hours of notice"),
        min_value=0,
        max_value=24 * 14,
        initial=24,
        widget=UnfoldAdminIntegerFieldWidget,
        help_text=_("Until then, a time can be chosen, and given up for another one."),
    )
    closes_on = DateField(
        label=_("Choose until"),
        widget=UnfoldAdminSingleDateWidget,
        help_text=_("The end of this day."),
    )

    def __init__(self, *args: Any, now: datetime, **kwargs: Any) -> None:
        self.now = now
        self.starts: list[datetime] = []
        super().__init__(*args, **kwargs)
        for row in ROWS:
            number = {"number": row}
            self.fields[f"day{row}"] = DateField(
                label=gettext("Day %(number)d") % number,
                required=False,
                widget=UnfoldAdminSingleDateWidget,
            )
            for name, label in (
                ("from", gettext("From %(number)d")),
                ("until", gettext("Until %(number)d")),
            ):
                self.fields[f"{name}{row}"] = forms.TimeField(
                    label=label % number, required=False, widget=UnfoldAdminSingleTimeWidget
                )
        texts = dict(zip(COLUMNS, (gettext("Day"), gettext("From"), gettext("Until")), strict=True))
        for name, field in self.fields.items():
            if name[-1].isdigit():
                shown = {"aria-label": field.label, "placeholder": texts[name[:-1]]}
                field.widget.attrs.update(shown)

    def rows(self) -> list[list[forms.BoundField]]:
        return [[self[f"{name}{row}"] for name in COLUMNS] for row in ROWS]

    def others(self) -> list[forms.BoundField]:
        inside = {f"{name}{row}" for row in ROWS for name in COLUMNS}
        return [field for field in self.visible_fields() if field.name not in inside]

    def times(self) -> list[str]:
        """Return the interviews as text. Requires `is_valid()`."""
        length = timedelta(minutes=self.cleaned_data["minutes"])
        zone = timezone.get_current_timezone_name()
        return [format_period(start, start + length, zone) for start in self.starts]

    def clean(self) -> dict[str, object]:
        data = super().clean() or self.cleaned_data
        if self.errors:
            return data
        starts = self._starts_of_periods(data)
        self.starts = sorted(starts)
        if not self.errors and not starts:
            self.add_error("day1", gettext("Enter at least one period."))
        if len(starts) > SLOTS_MAX:
            text = gettext("These are %(count)d times. At most %(max)d are allowed.")
            self.add_error("day1", text % {"count": len(starts), "max": SLOTS_MAX})
        closes_at = end_of_day(data["closes_on"], timezone.get_current_timezone())
        data["closes_at"] = closes_at
        if closes_at <= self.now:
            self.add_error("closes_on", gettext("This day has passed. Choose a later one."))
        return data

    def _starts_of_periods(self, data: dict[str, Any]) -> set[datetime]:
        """Return the begins of the interviews of all periods. Errors are added to their fields."""
        starts: set[datetime] = set()
        length = timedelta(minutes=data["minutes"])
        for row in ROWS:
            day, start, end = (data.get(f"{name}{row}") for name in COLUMNS)
            if (day, start, end) != (None, None, None):
                try:
                    starts |= set(self._starts(day, start, end, length))
                except ValidationError as error:
                    self.add_error(f"day{row}", error)
        return starts

    def _starts(
        self, day: date | None, start: time | None, end: time | None, length: timedelta
    ) -> list[datetime]:
        """Return the begins of the interviews from `start` until `end`."""
        if day is None or start is None or end is None:
            raise ValidationError(gettext("Enter the day, and from when until when."))
        first, last = _instant(day, start), _instant(day, end)
        if first <= self.now:
            raise ValidationError(gettext("This time has passed. Choose a later one."))
        found = []
        while first + length <= last:
            found.append(first)
            first += length
        if not found:
            text = gettext("From %(start)s until %(end)s there is no time for an interview.")
            raise ValidationError(text % {"start": f"{start:%H:%M}", "end": f"{end:%H:%M}"})
        return found

    def filled_set(self, author: User, vacancy: Vacancy) -> SlotSet:
        names = (
            "name",
            "minutes",
            "zone",
            "place",
            "video_url",
            "details",
            "notice_hours",
            "closes_at",
        )
        return SlotSet(
            author=author, vacancy=vacancy, **{name: self.cleaned_data[name] for name in names}
        )


def _instant(day: date, at: time) -> datetime:
    """Return the instant in the current time zone. Raise ValidationError if the clocks show it
    twice or skip it.
    """
    naive = datetime.combine(day, at)
    first, second = readings(naive)
    if first.utcoffset() != second.utcoffset():
        text = (
            gettext("The clocks show %(time)s twice on this day. Choose another time.")
            if is_ambiguous(naive)
            else gettext("The clocks skip %(time)s on this day. Choose another time.")
        )
        raise ValidationError(text % {"time": f"{at:%H:%M}"})
    return first.astimezone(UTC)
