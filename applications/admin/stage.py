"""The recruiters' own procedure: stages, and what applicants read of each."""

from django.contrib import admin

from applications.models import Stage, Status
from jobsite.admin.base import JobsiteAdmin


@admin.register(Stage)
class StageAdmin(JobsiteAdmin):
    """Stages in the order of the procedure; the first one is where applications come in."""

    fields = ("name", "status", "embargo_days", "position")
    list_display = ("name", "status", "embargo_days", "position")
    list_select_related = ("status",)
    ordering_field = "position"
    search_fields = ("name",)


@admin.register(Status)
class StatusAdmin(JobsiteAdmin):
    """What applicants read, in the languages that it has."""

    list_display = ("label_en", "label_nl", "label_fr", "label_de")
    list_display_links = list_display
    search_fields = ("label_en", "label_nl", "label_fr", "label_de")
