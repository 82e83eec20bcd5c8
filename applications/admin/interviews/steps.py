"""The interviews and tasks of all applications, as a calendar: day by day, the next ones first."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from django.contrib import admin
from django.contrib.admin import ModelAdmin
from django.contrib.admin.views.main import ChangeList
from django.db.models import Model, QuerySet
from django.urls import reverse
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.html import format_html, format_html_join
from django.utils.safestring import mark_safe
from django.utils.translation import gettext, pgettext, pgettext_lazy
from django.utils.translation import gettext_lazy as _
from unfold.decorators import display

from applications.access import sees_whole
from applications.admin.scoped import ScopedAdmin
from applications.models import HistoryEntry
from jobsite.days import start_of_day
from jobsite.text.formats import format_date
from jobsite.types import StrOrPromise, UserRequest


class WhenFilter(admin.SimpleListFilter):
    title = _("when")
    parameter_name = "when"

    def lookups(
        self, request: UserRequest, model_admin: ModelAdmin
    ) -> list[tuple[str, StrOrPromise]]:
        return [
            ("today", pgettext("steps", "Today")),
            ("week", pgettext("steps", "This week")),
            ("next", pgettext("steps", "Next week")),
            ("past", pgettext("steps", "Past")),
            ("all", pgettext("steps", "All")),
        ]

    def choices(self, changelist: ChangeList) -> list[Mapping[str, object]]:
        """Show the coming ones by default."""
        first, *others = super().choices(changelist)
        return [{**first, "display": pgettext("steps", "Coming")}, *others]

    def queryset(self, request: UserRequest, queryset: Any) -> QuerySet:
        day = timezone.localdate()
        today, monday = start_of_day(day), day - timedelta(days=day.weekday())
        match self.value():
            case "week" | "next" as week:
                first = monday + timedelta(days=7 * (week == "next"))
                end = start_of_day(first + timedelta(days=7))
                return queryset.filter(planned_at__gte=start_of_day(first), planned_at__lt=end)
            case "all":
                return queryset
            case "today":
                return queryset.today()
            case "past":
                return queryset.filter(planned_at__lt=today).order_by("-planned_at", "-pk")
        return queryset.filter(planned_at__gte=today)


@admin.register(HistoryEntry)
class StepAdmin(ScopedAdmin):
    list_display = ("day", "time", "name", "applicant", "to", "where", "people", "outcome")
    list_display_links = None
    list_filter = (WhenFilter,)
    list_select_related = ("application__user", "application__vacancy")
    show_full_result_count = False
    ordering = ("planned_at", "pk")
    search_fields = ("name", "application__vacancy__title")

    @display(description=_("Day"), ordering="planned_at")
    def day(self, step: HistoryEntry) -> str:
        planned_at = timezone.localtime(step.planned_at)
        return f"{date_format(planned_at, 'D')} {format_date(planned_at)}"

    @display(description=pgettext_lazy("of a day", "Time"))
    def time(self, step: HistoryEntry) -> str:
        return date_format(timezone.localtime(step.planned_at), "H:i")

    @display(description=_("Applicant"))
    def applicant(self, step: HistoryEntry) -> str:
        url = reverse("admin:applications_application_change", args=[step.application_id])
        return format_html(
            '<a class="text-link" href="{}">{}</a>', url, step.application.display_name
        )

    @display(description=_("Vacancy"))
    def to(self, step: HistoryEntry) -> str:
        return step.application.vacancy.title

    @display(description=_("Place"))
    def where(self, step: HistoryEntry) -> str:
        if step.video_url:
            text = step.place or gettext("Video call")
            return format_html('<a class="text-link" href="{}">{}</a>', step.video_url, text)
        return step.place

    @display(description=_("Participants"))
    def people(self, step: HistoryEntry) -> str:
        """Who takes part, and their answers in words."""
        rows = [
            (each.name if each.user_id else gettext("Applicant"), each.get_reply_display())
            for each in step.participants.all()
        ]
        return format_html_join(mark_safe("<br>"), "{}: {}", rows)

    def get_queryset(self, request: UserRequest) -> QuerySet:
        """Tasks are for recruiters."""
        rows = super().get_queryset(request).prefetch_related("participants__user")
        return rows if sees_whole(request.user) else rows.exclude(uid="")

    @display(description=_("Result"), ordering="result")
    def outcome(self, step: HistoryEntry) -> str:
        return gettext("cancelled") if step.is_cancelled else step.result

    def has_add_permission(self, request: UserRequest) -> bool:
        return False

    def has_change_permission(self, request: UserRequest, obj: Model | None = None) -> bool:
        """Interviews and tasks are edited on the page of the application."""
        return False

    has_delete_permission = has_change_permission
