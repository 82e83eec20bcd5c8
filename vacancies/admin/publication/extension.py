"""The form of the action "Extend…": by some weeks, or until a date."""

from datetime import date

from django import forms
from django.core.validators import MaxValueValidator
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from unfold.widgets import UnfoldAdminRadioSelectWidget, UnfoldAdminSingleDateWidget

from jobsite.admin.datetime_fields import DateField


class ExtendForm(forms.Form):
    by = forms.TypedChoiceField(
        label=gettext_lazy("Extend by"),
        choices=[("2", gettext_lazy("2 weeks")), ("4", gettext_lazy("4 weeks"))],
        coerce=int,
        required=False,
        initial="2",
        widget=UnfoldAdminRadioSelectWidget,
        help_text=gettext_lazy(
            "From the closing date of each vacancy, or from today if it has passed."
        ),
    )
    day = DateField(
        label=gettext_lazy("Or until"),
        required=False,
        widget=UnfoldAdminSingleDateWidget,
        validators=[MaxValueValidator(date(2200, 12, 30))],
        help_text=gettext_lazy(
            "A date takes precedence over weeks: public until the end of this day. A later closing date "
            "stays."
        ),
    )

    def clean(self) -> dict[str, object]:
        """Return the arguments of `publication.extend`: a date goes before weeks."""
        data = self.cleaned_data
        if self.errors or data.get("day"):
            return {"day": data.get("day")}
        if not data.get("by"):
            self.add_error("day", _("Choose a number of weeks, or enter a date."))
        return {"weeks": data.get("by")}
