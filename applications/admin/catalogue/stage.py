"""The stages of the recruitment process, and the candidate-facing status of each."""

from django.contrib import admin
from django.db.models import ForeignKey
from django.forms import ModelChoiceField
from django.utils.translation import gettext_lazy as _
from unfold.decorators import display

from applications.mail.templates import templates_for
from applications.models import Reason, Stage, Status
from jobsite.admin.base import JobsiteAdmin
from jobsite.types import UserRequest


@admin.register(Stage)
class StageAdmin(JobsiteAdmin):
    """Stages in order. New applications start in the first one."""

    fields = (
        "name",
        "status",
        "embargo_days",
        "kind",
        "asks_reason",
        "email",
        "email_after_hours",
        "remind_days",
        "is_presented",
        "position",
    )
    list_display = (
        *("name", "status", "embargo_days", "kind", "asks_reason", "is_presented"),
        "position",
    )
    list_select_related = ("status",)
    ordering_field = "position"
    search_fields = ("name",)

    def formfield_for_foreignkey(
        self, db_field: ForeignKey, request: UserRequest, **kwargs: object
    ) -> ModelChoiceField | None:
        if db_field.name == "email":  # stages are of every brand
            kwargs["queryset"] = templates_for([])
        return super().formfield_for_foreignkey(db_field, request, **kwargs)


@admin.register(Reason)
class ReasonAdmin(JobsiteAdmin):
    """Why applicants are rejected or withdraw."""

    fields = ("name", "kind", "is_active", "position")
    list_display = ("shown_name", "kind", "is_active", "position")
    list_filter = ("kind",)
    ordering_field = "position"
    search_fields = ("name",)

    @display(description=_("Name"), ordering="name")
    def shown_name(self, reason: Reason) -> str:
        return str(reason)


@admin.register(Status)
class StatusAdmin(JobsiteAdmin):
    """Candidate-facing statuses, in each language."""

    list_display = ("label_en", "label_nl", "label_fr", "label_de")
    list_display_links = list_display
    search_fields = ("label_en", "label_nl", "label_fr", "label_de")
