"""Consent texts: a new version is added, none is ever changed."""

from django.contrib import admin
from django.forms import ModelForm

from forms_structure.models import ConsentText
from jobsite.admin.base import JobsiteAdmin
from jobsite.types import UserRequest


@admin.register(ConsentText)
class ConsentTextAdmin(JobsiteAdmin):
    fields = ("language", "text", "statement_url", "statement_label")
    list_display = ("text", "language", "version", "created_at")
    list_filter = ("language",)

    def has_change_permission(self, request: UserRequest, obj: ConsentText | None = None) -> bool:
        return False

    def has_delete_permission(self, request: UserRequest, obj: ConsentText | None = None) -> bool:
        return False

    def save_model(self, request: UserRequest, obj: ConsentText, form: ModelForm, change: bool) -> None:
        added = ConsentText.objects.add(**form.cleaned_data)
        obj.pk, obj.version = added.pk, added.version
