"""What pages of vacancies share: upload rules, thumbnails, rows that keep an order."""

import logging
from collections.abc import Callable
from datetime import datetime
from functools import wraps
from typing import Any

from django import forms
from django.db import models
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.formats import date_format
from django.utils.html import format_html
from django.utils.translation import gettext as _
from django.utils.translation import pgettext
from django_prose_editor.widgets import AdminProseEditorWidget
from unfold.forms import PaginationInlineFormSet

from jobsite.admin.base import JobsiteAdmin, RowsInline
from jobsite.formats import format_datetime
from vacancies.fields import HtmlField
from vacancies.models import Vacancy
from vacancies.operations import end_of_day, last_day
from vacancies.uploads import NO_ROOM, NotStoredError
from vacancies.validators import IMAGE_RULE

logger = logging.getLogger(__name__)


class ProseWidget(AdminProseEditorWidget):
    """The editor, without the line ends that browsers turn into CRLF: a text nobody touched is unchanged."""

    class Media:
        js = ("vacancies/word_paste.js",)  # lists of Word are lists

    def value_from_datadict(self, data: Any, files: Any, name: str) -> Any:
        value = super().value_from_datadict(data, files, name)
        return value.replace("\r\n", "\n") if value else value


def told_of_no_room(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Answer 507 where the storage takes no more: the form asked for room, and somebody else was faster."""

    @wraps(view)
    def wrapped(self: Any, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        try:
            return view(self, request, *args, **kwargs)
        except NotStoredError as error:
            logger.error("A file could not be stored: %s", error.__cause__)
            context = {**self.admin_site.each_context(request), "title": _("Not saved"), "text": NO_ROOM}
            return render(request, "admin/vacancies/not_stored.html", context, status=507)

    return wrapped


class ContentAdmin(JobsiteAdmin):
    """A page with texts to write and images to upload."""

    formfield_overrides = {HtmlField: {"widget": ProseWidget, "strip": False}}

    def formfield_for_dbfield(self, db_field: models.Field, request: HttpRequest, **kwargs: Any) -> Any:
        formfield = super().formfield_for_dbfield(db_field, request, **kwargs)
        if isinstance(formfield, forms.ImageField):
            formfield.help_text = f"{IMAGE_RULE} {formfield.help_text}".strip()
        return formfield

    @told_of_no_room
    def changeform_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        return super().changeform_view(request, *args, **kwargs)


def is_exact(until: datetime) -> bool:
    """Whether a vacancy ends within a day, as an import may bring."""
    return until != end_of_day(last_day(until))


def last_day_of(vacancy: Vacancy) -> str:
    """The last day on which `vacancy` shows, or the moment of its end within one; "-" without any."""
    until = vacancy.publish_until
    if until is None:
        return "-"
    if is_exact(until):
        return format_datetime(until)
    return date_format(last_day(until), pgettext("a date in Django's letters", "j M Y"))


def thumbnail(file: Any, url: str) -> str:
    """A small preview of an uploaded file, else of an image elsewhere; a dash when there is neither."""
    address = file.url if file else url
    if not address:
        return "-"
    # no-referrer: the other site need not learn the address of this workplace
    return format_html(
        '<img class="thumb" src="{}" alt="{}" loading="lazy" referrerpolicy="no-referrer">',
        address,
        _("preview"),
    )


class PositionedFormSet(PaginationInlineFormSet):
    """Rows in the order of their position; new ones without a position go last."""

    def add_fields(self, form: forms.ModelForm, index: int | None) -> None:
        super().add_fields(form, index)
        form.fields["position"].required = False
        if form.instance._state.adding:
            form.initial["position"] = form.fields["position"].initial = None

    @property
    def kept_forms(self) -> list[forms.ModelForm]:
        """The rows that stay: neither deleted nor an empty line at the bottom."""
        return [
            form
            for form in self.forms
            if not self._should_delete_form(form) and (form.instance.pk or form.has_changed())
        ]

    def clean(self) -> None:
        super().clean()
        last = max((form.cleaned_data.get("position") or 0 for form in self.kept_forms), default=0)
        for form in self.kept_forms:
            if form.cleaned_data.get("position") is None:
                last += 1
                form.instance.position = last


class PartInline(RowsInline):
    """Positioned rows that belong to their parent: who may change the parent may change them."""

    formset = PositionedFormSet
    ordering_field = "position"

    def _may(self, verb: str, request: HttpRequest) -> bool:
        parent = self.parent_model._meta
        return request.user.has_perm(f"{parent.app_label}.{verb}_{parent.model_name}")

    def has_add_permission(self, request: HttpRequest, obj: models.Model | None = None) -> bool:
        return self._may("change" if obj else "add", request)

    has_change_permission = has_delete_permission = has_add_permission

    def has_view_permission(self, request: HttpRequest, obj: models.Model | None = None) -> bool:
        return self._may("view", request) or self.has_add_permission(request, obj)
