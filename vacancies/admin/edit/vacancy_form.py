"""The form of a vacancy: options in order, closing date, and checks before publication."""

from collections.abc import Mapping
from copy import copy
from datetime import date, datetime
from typing import Any

from django import forms
from django.conf import settings
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db.models import F, Q
from django.forms.models import construct_instance
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from unfold.widgets import (
    UnfoldAdminSelectWidget,
    UnfoldAdminSingleDateWidget,
)

from jobsite.admin.datetime_fields import DateField
from jobsite.text.formats import format_datetime
from vacancies.admin.edit.option_field import CountriesField, options_field
from vacancies.admin.edit.typing_aids import CurrencyInput, put_usual_first
from vacancies.choices import Keyword, PlaceKind, VacancyStatus
from vacancies.dates import end_of_day, is_exact, last_day
from vacancies.models import Filter, FilterOption, Vacancy
from vacancies.operations.blockers import PAY, save_blockers
from vacancies.validators import validate_currency

MAX_OPTIONS = 200  # options in a page; longer lists are searched


class CurrencyField(forms.CharField):
    """The code of a currency, also in small letters."""

    def to_python(self, value: Any) -> str:
        return str(super().to_python(value)).upper()


class VacancyForm(forms.ModelForm):
    version = forms.CharField(required=False, widget=forms.HiddenInput)
    last_day = DateField(
        label=gettext_lazy("Closing date"),
        required=False,
        widget=UnfoldAdminSingleDateWidget,
        validators=[
            MaxValueValidator(
                date(2200, 12, 30),
                gettext_lazy("Leave this empty if the vacancy has no closing date."),
            )
        ],
    )
    remote_countries = CountriesField()
    pay_currency = CurrencyField(
        label=capfirst(Vacancy._meta.get_field("pay_currency").verbose_name),
        required=False,
        widget=CurrencyInput({"maxlength": 3}),
        validators=[validate_currency],  # and no other: one message
        help_text=Vacancy._meta.get_field("pay_currency").help_text,
    )
    vars().update({keyword.value: options_field(keyword) for keyword in Keyword})

    class Meta:
        model = Vacancy
        exclude = ()  # the admin passes the fields of its fieldsets  # noqa: DJ006
        widgets = {"language": UnfoldAdminSelectWidget}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.instance.pk:
            self.initial["version"] = self.instance.updated_at.isoformat()
            if until := self.instance.publish_until:
                self.initial["last_day"] = last_day(until)
            if "remote_countries" in self.fields:
                places = self.instance.places.filter(kind=PlaceKind.APPLICANT)
                self.initial.setdefault(
                    "remote_countries", list(places.values_list("country", flat=True))
                )
        for name in {"pay_min", "pay_max"} & set(self.fields):
            # That of the model runs after `clean`, which would compare the amounts.
            self.fields[name].validators.append(MinValueValidator(0))
        if {"language", "pay_currency"} <= set(self.fields):  # not a read-only form
            put_usual_first(self)
        self._fill_options()
        self._explain()

    def _explain(self) -> None:
        """Add the current values to the help texts. A read-only form has no fields."""
        if "title" not in self.fields:
            return
        if self.instance.pk:
            form = Vacancy.objects.with_form().only("pk").get(pk=self.instance.pk).served_form
            now = (
                _("Applicants currently get “%(form)s”.")
                if form
                else _("Applicants are currently only asked for consent.")
            )
            self.fields["form"].help_text = format_html(
                "{} {}", self.fields["form"].help_text, now % {"form": form}
            )
        self.fields["publish_from"].help_text = _(
            "Public from this time. If empty, publishing sets the current time."
        )
        self.fields["last_day"].help_text = _(
            "Public until the end of this day, in the time zone %(zone)s. Leave empty if there is "
            "no closing date."
        ) % {"zone": settings.TIME_ZONE}
        until = self.instance.publish_until
        if until and is_exact(until):
            kept = _(
                "Currently until %(publish_until)s. This does not change unless you choose "
                "another day."
            ) % {"publish_until": format_datetime(until)}
            self.fields["last_day"].help_text = f"{self.fields['last_day'].help_text} {kept}"

    def _fill_options(self) -> None:
        """Set the label and the choices of each filter:
        its active options, and those of the vacancy.
        """
        chosen: dict[str, list[int]] = {}
        if self.instance.pk:
            links = self.instance.choices.order_by("position", "pk").annotate(
                keyword=F("option__filter__keyword"), employment_type=F("option__employment_type")
            )
            self.instance.ordered_choices = list(links)  # for its employment types
            for link in links:
                chosen.setdefault(link.keyword, []).append(link.option_id)
        selected = [pk for pks in chosen.values() for pk in pks]
        offered: dict[str, list[tuple[int, str]]] = {}
        rows = FilterOption.objects.filter(Q(is_active=True) | Q(pk__in=selected))
        for keyword, pk, label in rows.order_by("position", "label", "pk").values_list(
            "filter__keyword", "pk", "label"
        ):
            offered.setdefault(keyword, []).append((pk, label))
        for filter in Filter.objects.all():
            field: Any = self.fields.get(filter.keyword)
            if field:
                field.label = filter.label
                options = offered.get(filter.keyword, [])
                field.choices = (
                    [("", "-"), *options] if Keyword(filter.keyword).is_single else options
                )
                self.initial.setdefault(filter.keyword, chosen.get(filter.keyword, []))
                field.widget.attrs["data-filter"] = filter.pk
                if len(options) > MAX_OPTIONS and not Keyword(filter.keyword).is_single:
                    field.widget.source = reverse(
                        "admin:vacancies_filter_options", args=[filter.pk]
                    )
                if not options:
                    field.help_text = _("No options yet.")

    def clean(self) -> dict[str, object]:
        super().clean()
        data = self.cleaned_data
        now = timezone.now().replace(microsecond=0)
        status = data.get("status", self.instance.status)  # the page of a vacancy has no such field
        if (
            status == VacancyStatus.PUBLISHED
            and "publish_from" in data
            and not data["publish_from"]
        ):
            data["publish_from"] = now
        if "last_day" in self.changed_data and "last_day" in data:
            day = data["last_day"]
            self.instance.publish_until = end_of_day(day) if day else None
        self._refuse_publication(now)
        return data

    def _refuse_publication(self, now: datetime) -> None:
        candidate = construct_instance(self, copy(self.instance))
        changed = set(self.changed_data)
        if "last_day" in changed:
            changed.add("publish_until")
        if set(PAY) & set(self.errors):  # what is left says nothing about the whole
            changed -= set(PAY)
        self.add_reasons(save_blockers(after=candidate, changed=changed, at=now))

    def add_reasons(self, reasons: Mapping[str, Any]) -> None:
        """Show why the vacancy cannot be saved, by its field."""
        for name, reason in reasons.items():
            field = "last_day" if name == "publish_until" else name
            if field not in self.errors:
                self.add_error(field if field in self.fields else None, reason)
