"""The form of a vacancy: its options in order, its last day, and what keeps it from going out."""

from copy import copy
from datetime import date, datetime
from typing import Any

from django import forms
from django.conf import settings
from django.contrib.admin.models import LogEntry
from django.contrib.contenttypes.models import ContentType
from django.core.validators import MaxValueValidator
from django.forms.models import construct_instance
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from unfold.widgets import UnfoldAdminSingleDateWidget

from jobsite.workplace import moment, person
from vacancies.admin.options import options_field
from vacancies.models import Filter, FilterOption, Status, Vacancy
from vacancies.operations import end_of_day, last_day, obstacles, save_options
from vacancies.vocabulary import Keyword


def is_exact(until: datetime) -> bool:
    """Whether a vacancy ends within a day, as an import may bring."""
    return until != end_of_day(last_day(until))


class VacancyForm(forms.ModelForm):
    version = forms.CharField(required=False, widget=forms.HiddenInput)
    last_day = forms.DateField(
        required=False,
        widget=UnfoldAdminSingleDateWidget,
        validators=[MaxValueValidator(date(2200, 12, 30), "Leave it empty for a vacancy without an end.")],
        help_text="Shown until the end of this day. Leave empty for a vacancy without an end.",
    )
    vars().update({keyword.value: options_field(keyword) for keyword in Keyword})

    class Meta:
        model = Vacancy
        exclude = ()  # the admin passes the fields of its fieldsets  # noqa: DJ006

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.instance.pk:
            self.initial["version"] = self.instance.updated_at.isoformat()
            if until := self.instance.publish_until:
                self.initial["last_day"] = last_day(until)
        self._fill_options()
        self._explain()

    def _explain(self) -> None:
        """Say where the vacancy stands now; one that a user may only look at has no fields to explain."""
        if "status" not in self.fields:
            return
        if self.instance.pk:
            self.fields["status"].help_text = f"Now: {self.instance.state.label.lower()}."
            form = Vacancy.objects.with_form().only("pk").get(pk=self.instance.pk).served_form
            now = f"get “{form}”" if form else "are asked for their consent alone"
            self.fields["form"].help_text += f" Now applicants {now}."
        self.fields["publish_from"].help_text = (
            f"Shown from this moment on, in the time zone {settings.TIME_ZONE}. "
            "When left empty, publishing sets the moment of saving."
        )
        until = self.instance.publish_until
        if until and is_exact(until):
            kept = f" Now until {moment(until)}: kept unless you choose another day."
            self.fields["last_day"].help_text += kept

    def _fill_options(self) -> None:
        """Offer the options of each vocabulary under the name that it has on this site."""
        offered: dict[str, list[tuple[int, str]]] = {}
        for option in FilterOption.objects.select_related("filter").order_by("position", "label", "pk"):
            offered.setdefault(option.filter.keyword, []).append((option.pk, option.label))
        chosen: dict[str, list[int]] = {}
        if self.instance.pk:
            links = self.instance.choices.order_by("position", "pk")
            for keyword, pk in links.values_list("option__filter__keyword", "option"):
                chosen.setdefault(keyword, []).append(pk)
        for filter in Filter.objects.all():
            field: Any = self.fields.get(filter.keyword)
            if field:
                field.label = filter.label
                options = offered.get(filter.keyword, [])
                field.choices = [("", "-"), *options] if Keyword(filter.keyword).is_single else options
                self.initial.setdefault(filter.keyword, chosen.get(filter.keyword, []))
                if not options:
                    url = reverse("admin:vacancies_filter_change", args=[filter.pk])
                    field.help_text = format_html(
                        'No options yet. <a class="text-link" href="{}">Add some</a>', url
                    )

    def clean(self) -> dict[str, Any]:
        super().clean()
        data = self.cleaned_data
        self._refuse_overwriting()
        if "publish_from" in data and "publish_from" not in self.changed_data:
            data["publish_from"] = self.instance.publish_from  # to the microsecond
        now = timezone.now().replace(microsecond=0)
        if data.get("status") == Status.PUBLISHED and "publish_from" in data and not data["publish_from"]:
            data["publish_from"] = now
        if "last_day" in self.changed_data and "last_day" in data:
            day = data["last_day"]
            self.instance.publish_until = end_of_day(day) if day else None
        self._refuse_publication(now)
        return data

    def _refuse_overwriting(self) -> None:
        """Another recruiter saved since this form was opened: refuse, and keep both texts in reach."""
        if not self.instance.pk or self.data.get(self.add_prefix("version")) == self.initial["version"]:
            return
        log = LogEntry.objects.filter(
            content_type=ContentType.objects.get_for_model(Vacancy),
            object_id=str(self.instance.pk),
            action_time__gte=self.instance.updated_at,
        )
        other = log.select_related("user").first()
        self.add_error(
            None,
            forms.ValidationError(
                format_html(
                    "Not saved: {} changed this vacancy on {}, after you opened it. "
                    '<a class="underline" href="{}" target="_blank">Open it again in a new tab</a> and carry '
                    "your changes over.",
                    person(other.user) if other else "somebody else",
                    moment(self.instance.updated_at),
                    reverse("admin:vacancies_vacancy_change", args=[self.instance.pk]),
                ),
                code="conflict",
            ),
        )

    def _refuse_publication(self, now: datetime) -> None:
        candidate = construct_instance(self, copy(self.instance))
        reasons: dict[str, str] = {}
        if candidate.status == Status.PUBLISHED:
            reasons = obstacles(vacancy=candidate, at=now)
            if not {"status", "last_day"} & set(self.changed_data):
                reasons.pop("publish_until", None)  # one that ended stays editable
        begin, end = candidate.publish_from, candidate.publish_until
        if begin and end and end <= begin:
            reasons.setdefault(
                "publish_until", "The last day is before the day on which the vacancy appears."
            )
        for name, reason in reasons.items():
            field = "last_day" if name == "publish_until" else name
            if field not in self.errors:
                self.add_error(field if field in self.fields else None, reason)

    def _save_m2m(self) -> None:
        super()._save_m2m()  # type: ignore[misc] # undocumented, and where a form saves its relations
        for keyword in Keyword:
            if keyword.value in self.changed_data:
                save_options(vacancy=self.instance, keyword=keyword, pks=self.cleaned_data[keyword.value])
