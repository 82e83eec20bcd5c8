"""The admin of applications: the list."""

from functools import partial
from typing import Any

from django.contrib import admin, messages
from django.contrib.admin.models import CHANGE, LogEntry
from django.db.models import OuterRef, Q, QuerySet, Subquery
from django.http import HttpRequest
from django.utils import timezone, translation
from django.utils.html import format_html
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _
from unfold.decorators import display

from applications.admin.application_page import ApplicationPage
from applications.admin.brand_access import record
from applications.admin.files import FilesAdmin
from applications.models import Access, Application, HistoryEntry, Stage
from applications.operations import move
from jobsite.admin.base import as_id
from jobsite.formats import format_datetime
from jobsite.languages import site_language


class StageFilter(admin.SimpleListFilter):
    """By the current stage, not by earlier ones."""

    title = _("stage")
    parameter_name = "stage"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Any:
        return [(str(stage.pk), stage.name) for stage in Stage.objects.all()]

    def queryset(self, request: HttpRequest, queryset: Any) -> Any:
        stage = as_id(self.value())
        return queryset if stage is None else queryset.filter(stage_id=stage)


@admin.register(Application)
class ApplicationAdmin(FilesAdmin, ApplicationPage):
    """The list of applications, with bulk actions."""

    list_display = ("applicant", "to_vacancy", "current_stage", "applied", "next_step")
    list_filter = (StageFilter, "is_spontaneous")
    list_select_related = ("user", "vacancy")
    show_full_result_count = False
    ordering = ("-created_at", "-pk")
    search_fields = ("user__username",)  # shows the search box; see get_search_results
    search_help_text = _("Search names, e-mail addresses and vacancies, or enter the ID of a vacancy.")

    def get_queryset(self, request: HttpRequest) -> QuerySet:
        planned = HistoryEntry.objects.filter(application=OuterRef("pk"), planned_at__gte=timezone.now())
        next_at = Subquery(planned.order_by("planned_at").values("planned_at")[:1])
        return super().get_queryset(request).annotate(next_at=next_at)

    def lookup_allowed(self, lookup: str, value: Any, request: HttpRequest) -> bool:
        """Allow the link from the changelist of vacancies, beside the filters."""
        return lookup == "vacancy__id__exact" or super().lookup_allowed(lookup, value, request)

    def get_search_results(self, request: HttpRequest, queryset: Any, search_term: str) -> Any:
        for word in search_term.replace("\0", "").split():
            wanted = Q(vacancy__title__icontains=word)
            for name in ("username", "first_name", "last_name", "email"):
                wanted |= Q(**{f"user__{name}__icontains": word})
            if word.isascii() and word.isdigit() and len(word) < 19:
                wanted |= Q(vacancy_id=int(word))
            queryset = queryset.filter(wanted)
        return queryset, False

    @display(description=_("Vacancy"))
    def to_vacancy(self, application: Application) -> str:
        """Return a link that filters the changelist by the vacancy."""
        return format_html(
            '<a class="text-link" href="?vacancy__id__exact={}">{}</a>',
            application.vacancy_id,
            application.vacancy.title,
        )

    @display(description=_("Next interview or task"), ordering="next_at")
    def next_step(self, application: Any) -> str:
        return format_datetime(application.next_at) if application.next_at else "-"

    def get_actions(
        self, request: HttpRequest, *args: Any, action_location: Any = None, **kwargs: Any
    ) -> Any:
        """Add an action per stage. Django 6.1 passes `action_location`."""
        where = {} if action_location is None else {"action_location": action_location}
        actions = super().get_actions(request, *args, **where, **kwargs)
        is_list = action_location is None or action_location.name == "CHANGE_LIST"
        if is_list and self.has_change_permission(request):
            for stage in Stage.objects.all():
                name = f"move_to_{stage.pk}"
                label = gettext("Move to: %(stage)s") % {"stage": stage.name}
                actions[name] = (
                    partial(self._move, stage=stage),
                    name,
                    label.replace("%", "%%"),  # the admin formats labels of actions
                )
        return actions

    @staticmethod
    def _move(model_admin: Any, request: HttpRequest, queryset: QuerySet, *, stage: Stage) -> None:
        rows = Application.objects.filter(pk__in=list(queryset.values_list("pk", flat=True)))
        moved, there = move(applications=rows, stage=stage, author=request.user, at=timezone.now())
        record(request.user, Access.CHANGE, *moved)
        changed = Application.objects.filter(pk__in=moved)
        with translation.override(site_language()):  # stored, and read by all users
            text = gettext("Moved to %(stage)s.") % {"stage": stage}
        LogEntry.objects.log_actions(request.user.pk, changed, CHANGE, text)  # type: ignore[arg-type]
        if moved:
            text = ngettext("%(count)d moved to %(stage)s.", "%(count)d moved to %(stage)s.", len(moved))
            values = {"count": len(moved), "stage": stage}
            model_admin.message_user(request, text % values, messages.SUCCESS)
        if there:
            text = ngettext(
                "%(count)d was already in %(stage)s.", "%(count)d were already in %(stage)s.", len(there)
            )
            values = {"count": len(there), "stage": stage}
            model_admin.message_user(request, text % values, messages.WARNING)
