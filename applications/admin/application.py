"""The admin of applications: the list."""

from collections.abc import Iterator
from typing import Any

from django.contrib import admin
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.db.models import OuterRef, QuerySet, Subquery
from django.http import HttpResponse
from django.urls import URLPattern, reverse
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.text import capfirst
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from unfold.admin import checkbox
from unfold.decorators import display
from unfold.views import ChangeList

from applications.admin.list.adding import ADD, add_view
from applications.admin.list.board import BoardAdmin
from applications.admin.list.bulk_actions import BulkActionsAdmin
from applications.admin.list.filters import FILTERS
from applications.admin.list.saved_views import ApplicationViews
from applications.admin.page.files import FilesAdmin
from applications.admin.page.page import ApplicationPage
from applications.models import Application, HistoryEntry, SubmissionFile
from applications.querysets import ApplicationQuerySet, folded_address
from jobsite.admin.base import counted
from jobsite.admin.id_list import Cell, IdChangeList
from jobsite.db.folding import fold
from jobsite.text.formats import format_datetime
from jobsite.types import Context, UserRequest
from vacancies.search.rows import EXACT, scorer

NAMES = ("given_name", "family_name", "user__first_name", "user__last_name")
# What a row of the list shows, besides annotations.
LIST_FIELDS = (
    "user", "vacancy", "given_name", "family_name", "email", "created_at", "is_repeated", "rating", "read_at",
    "withdrawn_at",
    "user__username", "user__first_name", "user__last_name", "vacancy__title",
)  # fmt: skip


class ApplicationChangeList(IdChangeList):
    def scored(self, rows: QuerySet) -> Iterator[tuple[Any, ...]]:
        """By the name that the list shows. A reference or an address is exact."""
        score, reference, address = scorer(self.query), self.query.strip().upper(), folded_address(self.query)
        columns = ("pk", "created_at", "reference", "email_folded", *NAMES)
        for pk, at, own, by, *names in rows.values_list(*columns):
            name = " ".join(names[:2]).strip() or " ".join(filter(None, names[2:]))
            yield EXACT if own == reference or by == address else score(fold(name)), at, pk

    def rows_of(self, request: UserRequest, pks: list[int]) -> list[Application]:
        files = counted(SubmissionFile.objects.all(), "submission__application")
        rows = self.model_admin.get_queryset(request)
        shown = (
            rows.select_related("user", "vacancy").only(*LIST_FIELDS).annotate(file_count=files).in_bulk(pks)
        )
        return [shown[pk] for pk in pks if pk in shown]

    def rows(self) -> Iterator[Context]:
        """Yield the rows for the template. Unfold takes a template and 700 bytes of classes per cell."""
        page = self.model_admin
        base = reverse("admin:applications_application_changelist")
        suffix = f"?{self.preserved_filters}" if self.preserved_filters else ""
        names = [name for name in self.list_display if name not in ("action_checkbox", "applicant_name")]
        labels = {name: f"{capfirst(getattr(page, name).short_description)}:" for name in names}
        for row in self.result_list:
            yield {
                "checkbox": page.action_checkbox(row),
                "name": page.applicant_name(row),
                "url": f"{base}{row.pk}/change/{suffix}",
                "cells": [Cell(name, labels[name], getattr(page, name)(row)) for name in names],
            }


@admin.register(Application)
class ApplicationAdmin(FilesAdmin, BoardAdmin, BulkActionsAdmin, ApplicationPage):
    """The list of applications, with bulk actions."""

    list_display = (
        "applicant_name", "to_vacancy", "visible_stage", "applied", "next_step", "stars", "marks", "files"
    )  # fmt: skip
    list_filter = FILTERS
    list_filter_submit = True
    list_per_page = 25
    show_full_result_count = False
    show_facets = admin.ShowFacets.NEVER  # counts of every filter would take seconds
    ordering = ("-created_at", "-pk")
    search_fields = ("reference",)  # shows the search box; see get_search_results
    list_before_template = "admin/applications/application/list_before.html"
    list_links_template = "admin/applications/application/list_links.html"
    search_help_text = _("Search names, e-mail addresses, references and vacancies.")

    def get_queryset(self, request: UserRequest) -> QuerySet:
        coming = HistoryEntry.objects.filter(planned_at__gte=timezone.now(), is_cancelled=False)
        planned = coming.filter(application=OuterRef("pk"))
        next_at = Subquery(planned.order_by("planned_at").values("planned_at")[:1])
        return super().get_queryset(request).annotate(next_at=next_at)

    def get_urls(self) -> list[URLPattern]:
        return [*ApplicationViews(self).urls(), *super().get_urls()]

    def changelist_view(self, request: UserRequest, extra_context: Context | None = None) -> HttpResponse:
        context = ApplicationViews(self).context(request) if self.has_view_permission(request) else {}
        return super().changelist_view(request, context | (extra_context or {}))

    def get_changelist(self, request: UserRequest, **kwargs: object) -> type[ChangeList]:
        return ApplicationChangeList

    def lookup_allowed(self, lookup: str, value: str, request: UserRequest) -> bool:
        """Allow the links that filter by a vacancy, beside the filters."""
        return lookup == "vacancy__id__exact" or super().lookup_allowed(lookup, value, request)

    def find(
        self, request: UserRequest, queryset: ApplicationQuerySet, search_term: str
    ) -> tuple[ApplicationQuerySet, bool]:
        if not search_term:
            return queryset, False
        return queryset.matching(search_term), False

    # --- adding ---

    def has_add_permission(self, request: UserRequest, obj: Application | None = None) -> bool:
        return request.user.has_perm(ADD)

    def add_view(self, request: UserRequest, *args: object, **kwargs: object) -> HttpResponse:
        return add_view(self, request)

    # --- columns ---

    @display(description=checkbox.render("action_toggle_all", 1))
    def action_checkbox(self, application: Application) -> str:
        """Unfold's checkbox, named after the applicant, and without a template per row."""
        return format_html(
            '<input type="checkbox" name="{}" value="{}" class="{}" aria-label="{}">',
            ACTION_CHECKBOX_NAME,
            application.pk,
            checkbox.attrs["class"],
            gettext("Select %(name)s") % {"name": application.display_name},
        )

    @display(description=_("Applicant"))
    def applicant_name(self, application: Application) -> str:
        """Mark new applications by a word and by weight, not only by colour."""
        if application.read_at:
            return application.display_name
        return format_html(
            '<b>{}</b> <span class="panel-state is-new">{}</span>', application.display_name, gettext("New")
        )

    @display(description=_("Vacancy"))
    def to_vacancy(self, application: Application) -> str:
        """Return a link that filters the list by the vacancy."""
        return format_html(
            '<a class="text-link" href="?vacancy__id__exact={}">{}</a>',
            application.vacancy_id,
            application.vacancy.title,
        )

    @display(description=_("Stage"), ordering="stage_name")
    def visible_stage(self, application: Application) -> str:
        """Like `current_stage`, without a template per row."""
        return format_html('<span class="panel-state">{}</span>', application.stage_label or "-")

    @display(description=_("Next interview or task"), ordering="next_at")
    def next_step(self, application: Any) -> str:
        return format_datetime(application.next_at) if application.next_at else "-"

    @display(description=_("Rating"), ordering="rating")
    def stars(self, application: Application) -> str:
        return f"{application.rating}/5" if application.rating else "-"

    @display(description=_("Marks"))
    def marks(self, application: Application) -> str:
        marks = {"repeated": application.is_repeated, "withdrawn": application.withdrawn_at is not None}
        labels = {"repeated": gettext("Applied again"), "withdrawn": gettext("Withdrawn")}
        shown = ((name, labels[name]) for name, applies in marks.items() if applies)
        return format_html_join(" ", '<span class="panel-state is-{}">{}</span>', shown) or "-"

    @display(description=_("Files"))
    def files(self, application: Any) -> int | str:
        return application.file_count or "-"
