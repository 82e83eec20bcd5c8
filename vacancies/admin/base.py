"""Shared by the admin pages of vacancies: upload rules, thumbnails, ordered inlines."""

import logging
from collections.abc import Callable
from functools import wraps
from typing import Any

from django import forms
from django.contrib import messages
from django.db import models
from django.db.models import Model
from django.forms import BaseForm
from django.http import HttpResponse
from django.shortcuts import render
from django.utils.html import format_html
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django_prose_editor.widgets import AdminProseEditorWidget
from unfold.forms import PaginationInlineFormSet

from jobsite.admin.base import JobsiteAdmin, RowsInline
from jobsite.text.html_tables import HAS_TABLE
from jobsite.types import UserRequest
from vacancies.fields import HtmlField, html_fields
from vacancies.uploads.fields import NO_ROOM, NotStoredError
from vacancies.uploads.validators import IMAGE_RULE

logger = logging.getLogger(__name__)
TABLE_NOTE = gettext_lazy("A table was converted to a list. Check the text.")


class ProseWidget(AdminProseEditorWidget):
    """The rich text editor. Browsers send CRLF line ends, so that an untouched text would look
    changed.
    """

    class Media:
        # Convert what is pasted from Word.
        js = ("vacancies/word_paste.js",)

    def value_from_datadict(self, data: object, files: object, name: str) -> object:
        value = super().value_from_datadict(data, files, name)
        return value.replace("\r\n", "\n") if value else value


def storage_errors_as_507(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Return 507 if the storage became full after the form was validated."""

    @wraps(view)
    def wrapped(self: Any, request: UserRequest, *args: object, **kwargs: object) -> HttpResponse:
        try:
            return view(self, request, *args, **kwargs)
        except NotStoredError as error:
            logger.error("A file could not be stored: %s", error.__cause__)
            context = {
                **self.admin_site.each_context(request),
                "title": _("Not saved"),
                "text": NO_ROOM,
            }
            return render(request, "admin/vacancies/not_stored.html", context, status=507)

    return wrapped


class ContentAdmin(JobsiteAdmin):
    """An admin page with rich texts and images."""

    formfield_overrides = JobsiteAdmin.formfield_overrides | {
        HtmlField: {"widget": ProseWidget, "strip": False}
    }

    def formfield_for_dbfield(
        self, db_field: models.Field, request: UserRequest, **kwargs: object
    ) -> forms.Field | None:
        formfield = super().formfield_for_dbfield(db_field, request, **kwargs)
        if isinstance(formfield, forms.ImageField):
            formfield.help_text = f"{IMAGE_RULE} {formfield.help_text}".strip()
        return formfield

    def save_model(self, request: UserRequest, obj: Model, form: BaseForm, change: bool) -> None:
        """Say that a text had a table."""
        super().save_model(request, obj, form, change)
        changed = (form.data.get(form.add_prefix(name), "") for name in html_fields(type(obj)))
        if any(map(HAS_TABLE.search, changed)):
            self.message_user(request, TABLE_NOTE, messages.WARNING)

    @storage_errors_as_507
    def changeform_view(
        self, request: UserRequest, *args: object, **kwargs: object
    ) -> HttpResponse:
        return super().changeform_view(request, *args, **kwargs)


def thumbnail(file: Any, url: str) -> str:
    """Return a thumbnail of the uploaded file, else of the image URL; "-" without either."""
    address = file.url if file else url
    if not address:
        return "-"
    # no-referrer: hides the address of the admin from the other site
    return format_html(
        '<img class="thumb" src="{}" alt="{}" loading="lazy" referrerpolicy="no-referrer">',
        address,
        _("preview"),
    )


class PositionedFormSet(PaginationInlineFormSet):
    """Rows in the order of their position. New rows without a position go last."""

    def add_fields(self, form: forms.ModelForm, index: int | None) -> None:
        super().add_fields(form, index)
        form.fields["position"].required = False
        if form.instance._state.adding:
            form.initial["position"] = form.fields["position"].initial = None

    @property
    def kept_forms(self) -> list[forms.ModelForm]:
        """The rows that are neither deleted nor empty."""
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
    """Ordered rows of a parent. The permissions of the parent apply."""

    formset = PositionedFormSet
    ordering_field = "position"

    def _may(self, verb: str, request: UserRequest) -> bool:
        parent = self.parent_model._meta
        return request.user.has_perm(f"{parent.app_label}.{verb}_{parent.model_name}")

    def has_add_permission(self, request: UserRequest, obj: models.Model | None = None) -> bool:
        return self._may("change" if obj else "add", request)

    has_change_permission = has_delete_permission = has_add_permission

    def has_view_permission(self, request: UserRequest, obj: models.Model | None = None) -> bool:
        return self._may("view", request) or self.has_add_permission(request, obj)
