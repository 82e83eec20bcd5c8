"""The form field for a date and time, which admin forms use for every DateTimeField.

Django's field refuses a time of the hour that daylight saving time repeats, also when it is the
stored value. This field keeps the stored value while its text is unchanged, and asks which of the
two times is meant.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, ClassVar

from django import forms
from django.core.exceptions import ValidationError
from django.db import models
from django.forms.boundfield import BoundField
from django.forms.renderers import BaseRenderer
from django.http import HttpRequest
from django.utils import timezone
from django.utils.datastructures import MultiValueDict
from django.utils.formats import date_format, get_format
from django.utils.functional import lazy
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.text import format_lazy
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from unfold.widgets import UnfoldAdminRadioSelectWidget, UnfoldAdminSplitDateTimeWidget

from jobsite.text.formats import format_date


def readings(naive: datetime) -> tuple[datetime, datetime]:
    """Return the two times that `naive` can mean in the current time zone, the earlier one first.
    They differ only in an hour that is repeated or skipped when the clocks change.
    """
    zone = timezone.get_current_timezone()
    first, second = (naive.replace(tzinfo=zone, fold=fold) for fold in (0, 1))
    return first, second


def is_ambiguous(naive: datetime) -> bool:
    """Return whether `naive` occurs twice."""
    first, second = readings(naive)
    return first.utcoffset() > second.utcoffset()  # type: ignore[operator]


def _invalid_date() -> str:
    text = _("Enter a valid date, for example %(date)s.")
    return text % {"date": timezone.localdate().strftime(get_format("DATE_INPUT_FORMATS")[0])}


invalid_date = lazy(_invalid_date, str)


class DateField(forms.DateField):
    """A date. The error names the format by an example."""

    default_error_messages: ClassVar[dict[str, Any]] = {"invalid": invalid_date()}


class ZonedDateTimeWidget(UnfoldAdminSplitDateTimeWidget):
    """A date and a time with the time zone, and radio buttons for which of the two is meant where
    the clock shows it twice.

    The radio buttons need no script: they are part of the page with the stored value or with the
    error.
    """

    names_zone = True

    def value_from_datadict(
        self, data: Mapping[str, object], files: MultiValueDict, name: str
    ) -> object:
        return [*super().value_from_datadict(data, files, name), data.get(f"{name}_2", "")]

    def render(
        self,
        name: str,
        value: datetime | Sequence[str] | None,
        attrs: dict[str, object] | None = None,
        renderer: BaseRenderer | None = None,
    ) -> SafeString:
        inputs = super().render(name, value, attrs, renderer)
        if self.names_zone:
            zone = _("Time zone: %(zone)s") % {"zone": timezone.get_current_timezone_name()}
            inputs = format_html('{}<p class="time-zone">{}</p>', inputs, zone)
        naive, chosen = self._shown(value)
        if naive is None or not is_ambiguous(naive):
            return inputs
        first, second = (f"UTC{each.isoformat()[-6:]}" for each in readings(naive))
        choices = [
            (
                "0",
                _("The first time, before the clocks are put back (%(offset)s)")
                % {"offset": first},
            ),
            (
                "1",
                _("The second time, after the clocks are put back (%(offset)s)")
                % {"offset": second},
            ),
        ]
        radios = UnfoldAdminRadioSelectWidget(choices=choices)
        return format_html(
            '{}<fieldset class="ambiguous-time"><legend>{}</legend>{}</fieldset>',
            inputs,
            _("The clocks show %(time)s twice on this day:") % {"time": date_format(naive, "H:i")},
            radios.render(f"{name}_2", chosen, {"id": f"id_{name}_2"}, renderer),
        )

    def _shown(self, value: datetime | Sequence[str] | None) -> tuple[datetime | None, str]:
        """Return the local date and time of `value`, stored or typed, and which
        of the two it is.
        """
        if isinstance(value, datetime):
            local = timezone.localtime(value)
            return local.replace(tzinfo=None), str(local.fold)
        try:
            day, time, chosen = value or ()
            parts = forms.DateField().clean(day), forms.TimeField().clean(time)
        except (TypeError, ValueError, ValidationError):  # nothing, or no date and time
            return None, ""
        return datetime.combine(*parts), chosen


class ZonedDateTimeField(forms.SplitDateTimeField):
    widget = ZonedDateTimeWidget
    default_error_messages: ClassVar[dict[str, Any]] = {
        "invalid_date": invalid_date(),
        "invalid_time": gettext_lazy("Enter a valid time, for example 14:30."),
    }

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        for part in self.widget.widgets:  # Django 6.1 labels only the two inputs together
            placeholder = part.attrs.get("placeholder", "")
            part.attrs["aria-label"] = format_lazy("{}: {}", self.label, placeholder)

    def clean(self, value: Sequence[str] | None) -> datetime | None:
        *parts, chosen = value or ["", "", ""]
        try:
            return super().clean(parts)
        except ValidationError as error:
            if getattr(error, "code", "") != "ambiguous_timezone":
                raise
            naive = error.params["datetime"]  # type: ignore[index]
        if not is_ambiguous(naive):
            raise self._missing(naive)
        if chosen not in ("0", "1"):
            raise self._ambiguous(naive)
        # In UTC: Python ignores `fold` where it compares times of one time zone.
        value_utc = readings(naive)[int(chosen)].astimezone(UTC)
        self.run_validators(value_utc)
        return value_utc

    def has_changed(self, initial: object, data: Sequence[str] | None) -> bool:
        if super().has_changed(initial, data):
            return True
        chosen = data[2] if data else ""
        if not chosen or not isinstance(initial, datetime):
            return False
        local = timezone.localtime(initial)
        return is_ambiguous(local.replace(tzinfo=None)) and chosen != str(local.fold)

    def _clean_bound_field(self, bf: BoundField) -> object:
        """Keep a stored value whose text is unchanged: to the microsecond, and also where the text
        is ambiguous.
        """
        stored = bf.form.initial.get(bf.name)
        if isinstance(stored, datetime) and (
            self.disabled or not self.has_changed(bf.initial, bf.data)
        ):
            return stored
        return super()._clean_bound_field(bf)  # type: ignore[misc]  # Django's, without a stub

    def _ambiguous(self, naive: datetime) -> ValidationError:
        text = _(
            "%(day)s at %(time)s is ambiguous in the time zone %(zone)s: the clocks are put back "
            "and show this time twice. Choose which of the two you mean."
        )
        return ValidationError(text, code="ambiguous", params=_names(naive))

    def _missing(self, naive: datetime) -> ValidationError:
        text = _(
            "%(day)s at %(time)s does not exist in the time zone %(zone)s: the clocks are put "
            "forward and skip this time. Choose another time, for instance %(before)s or "
            "%(after)s."
        )
        after, before = (
            date_format(timezone.localtime(each.astimezone(UTC)), "H:i") for each in readings(naive)
        )
        return ValidationError(
            text, code="missing", params={**_names(naive), "before": before, "after": after}
        )


def _names(naive: datetime) -> dict[str, str]:
    return {
        "day": format_date(naive),
        "time": date_format(naive, "H:i"),
        "zone": timezone.get_current_timezone_name(),
    }


class ZonedDateTimesAdmin:
    """An admin page or inline that uses ZonedDateTimeField for every
    DateTimeField, and DateField.
    """

    def formfield_for_dbfield(
        self, db_field: models.Field, request: HttpRequest, **kwargs: object
    ) -> forms.Field | None:
        if isinstance(db_field, models.DateTimeField):
            kwargs = {"form_class": ZonedDateTimeField, "widget": ZonedDateTimeWidget} | kwargs
        elif isinstance(db_field, models.DateField):
            kwargs = {"form_class": DateField} | kwargs
        return super().formfield_for_dbfield(db_field, request, **kwargs)  # type: ignore[misc]
