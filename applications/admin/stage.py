"""The stages of the recruitment process, and the candidate-facing status of each."""

from django.contrib import admin

from applications.models import Stage, Status
from jobsite.admin.base import JobsiteAdmin


@admin.register(Stage)
class StageAdmin(JobsiteAdmin):
    """Stages in order. New applications start in the first one."""

    fields = ("name", "status", "embargo_days", "position")
    list_display = ("name", "status", "embargo_days", "position")
    list_select_related = ("status",)
    ordering_field = "position"
    search_fields = ("name",)


@admin.register(Status)
class StatusAdmin(JobsiteAdmin):
    """Candidate-facing statuses, in each language."""

    list_display = ("label_en", "label_nl", "label_fr", "label_de")
    list_display_links = list_display
    search_fields = ("label_en", "label_nl", "label_fr", "label_de")
