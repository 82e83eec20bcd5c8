"""The inlines of a vacancy: its places of work, its other recruiters and its attachments."""

from decimal import Decimal
from typing import Any
from urllib.parse import urlsplit

from django import forms
from django.core.exceptions import ValidationError
from django.db import models
from django.db.models import QuerySet
from django.utils import translation
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from unfold.widgets import UnfoldAdminSelectWidget

from jobsite.admin.base import NamedRow
from jobsite.languages import site_language
from jobsite.types import UserRequest
from vacancies.admin.base import PartInline, PositionedFormSet
from vacancies.choices import PLACES_MAX, PlaceKind
from vacancies.history.versions import decimal_text
from vacancies.models import Attachment, Place, VacancyRecruiter


class CoordinateField(forms.DecimalField):
    """Degrees, rounded to six decimals (11 cm): maps give more of them.
    Shown without trailing zeros.
    """

    def prepare_value(self, value: Any) -> Any:
        return decimal_text(value) if isinstance(value, Decimal) else value

    def to_python(self, value: Any) -> Any:
        degrees = super().to_python(value)
        if degrees is None or not degrees.is_finite() or abs(degrees) >= 1000:
            return degrees
        return round(degrees, 6)


class PlaceForm(NamedRow):
    """A place of work. Its city has to be filled in, and both coordinates or none."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if "locality" in self.fields:
            self.fields["locality"].required = True

    def clean(self) -> dict[str, object]:
        super().clean()
        names = ("latitude", "longitude")
        missing = [name for name in names if self.cleaned_data.get(name, "") is None]
        if len(missing) == 1 and not set(names) & set(self.errors):
            self.add_error(missing[0], gettext("Enter both coordinates or none."))
        return self.cleaned_data


class PlaceFormSet(PositionedFormSet):
    def clean(self) -> None:
        super().clean()
        if len(self.kept_forms) > PLACES_MAX:
            text = gettext("A vacancy has at most %(max)d places of work: these are %(count)d.")
            raise ValidationError(
                text % {"max": PLACES_MAX, "count": len(self.kept_forms)}, code="too_many"
            )


class PlaceInline(PartInline):
    model = Place
    form = PlaceForm
    formset = PlaceFormSet
    formfield_overrides = {models.DecimalField: {"form_class": CoordinateField}}
    fields = (
        "locality",
        "country",
        "region",
        "street",
        "postal_code",
        "latitude",
        "longitude",
        "position",
    )
    extra = 1  # can be filled in without JavaScript
    max_num = PLACES_MAX
    verbose_name_plural = _("places of work")
    tab_name = _("Job details")

    def formfield_for_choice_field(self, db_field: Any, request: UserRequest, **kwargs: Any) -> Any:
        kwargs |= {
            "choices": db_field.get_choices(blank_choice=[("", "-")]),
            "widget": UnfoldAdminSelectWidget(),
        }
        return super().formfield_for_choice_field(db_field, request, **kwargs)

    def get_queryset(self, request: UserRequest) -> QuerySet:
        return super().get_queryset(request).filter(kind=PlaceKind.SITE)


class RecruiterInline(PartInline):
    model = VacancyRecruiter
    fields = ("recruiter", "position")
    autocomplete_fields = ("recruiter",)
    verbose_name = _("recruiter")
    verbose_name_plural = _("other recruiters")
    tab_name = _("People")


class AttachmentForm(NamedRow):
    """An attachment. Its name defaults to the name of the file or the last part of the URL."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if "name" in self.fields:
            self.fields["name"].required = False

    def clean(self) -> dict[str, object]:
        super().clean()
        data = self.cleaned_data
        if not data.get("name"):
            # a stored file has a random name
            upload = getattr(data.get("file"), "name", "") if "file" in self.changed_data else ""
            source = upload or self.initial.get("name") or urlsplit(data.get("url") or "").path
            data["name"] = source.rpartition("/")[2][:200] or self.nameless()
        return data

    @staticmethod
    def nameless() -> str:
        with translation.override(site_language()):  # stored, and read by all users
            return gettext("attachment")


class AttachmentInline(PartInline):
    model = Attachment
    form = AttachmentForm
    fields = ("file", "url", "name", "position")
    tab_name = _("Media")
