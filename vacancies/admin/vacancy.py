"""The changelist and the form of vacancies. `applications.admin.vacancy` registers this class, because it
adds the number of applications."""

from typing import Any

from django.conf import settings
from django.contrib import admin, messages
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.html import format_html_join
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from unfold.decorators import display
from unfold.views import ChangeList

from jobsite.admin.base import as_id
from jobsite.text.formats import format_datetime
from vacancies.admin.approval import ApprovalAdmin
from vacancies.admin.autosave import AutosaveAdmin
from vacancies.admin.base import ContentAdmin, closing_date_of
from vacancies.admin.brand_access import brands_of, preselected_brand
from vacancies.admin.bulk_publication import BulkPublicationAdmin
from vacancies.admin.change_list import SHOWN, IdPaginator, VacancyChangeList
from vacancies.admin.date_rules import date_rules
from vacancies.admin.form import forms_for
from vacancies.admin.inlines import AttachmentInline, RecruiterInline
from vacancies.admin.list_columns import DEFAULT_COLUMNS, TITLE
from vacancies.admin.list_editing import ListEditingAdmin
from vacancies.admin.list_filters import (
    AttentionFilter,
    AudienceFilter,
    BrandFilter,
    FeaturedFilter,
    MineFilter,
    StateFilter,
)
from vacancies.admin.saved_views import SavedViewsAdmin
from vacancies.admin.searched_filters import OptionFilter, RecruiterFilter
from vacancies.admin.spreadsheets.pages import SpreadsheetAdmin
from vacancies.admin.template import TemplatesAdmin
from vacancies.admin.vacancy_form import VacancyForm
from vacancies.admin.vacancy_pages import VacancyPagesAdmin
from vacancies.admin.versions import HistoryAdmin
from vacancies.choices import Keyword
from vacancies.models import State, Vacancy
from vacancies.quality import content_warnings, with_warnings
from vacancies.querysets import EVERY_BRAND, VacancyQuerySet

FEW = 500  # rows whose ids fit into a query


def tab(name: Any, *fields: str) -> tuple[Any, dict[str, Any]]:
    return name, {"fields": fields, "classes": ("tab",)}


class VacancyAdmin(
    ListEditingAdmin, SavedViewsAdmin, AutosaveAdmin, TemplatesAdmin, ApprovalAdmin,
    BulkPublicationAdmin, SpreadsheetAdmin, HistoryAdmin, VacancyPagesAdmin, ContentAdmin,
):  # fmt: skip
    actions: Any = ("export_csv", "export_xlsx", *BulkPublicationAdmin.actions)  # delete is the last one
    form = VacancyForm
    fieldsets: Any = (
        tab(gettext_lazy("Texts"), "title", "title_internal", "short_description", "description", "profile",
            "offer", "company", "contact", "postcustom1"),
        tab(gettext_lazy("Job details"), "brand", "location", *Keyword.values),
        tab(gettext_lazy("People"), "head_recruiter"),
        tab(gettext_lazy("Media"), "image", "image_url", "video"),
        tab(gettext_lazy("Application form"), "form", "apply_url", "applications_kept_days"),
        tab(gettext_lazy("Publication"), "status", "audience", "is_hot", "is_permanent", "publish_from",
            "last_day"),
    )  # fmt: skip
    autocomplete_fields = ("brand", "form", "head_recruiter")
    inlines = (RecruiterInline, AttachmentInline)
    list_display: Any = (TITLE, *DEFAULT_COLUMNS)  # see get_list_display
    list_filter = (
        StateFilter, MineFilter, AttentionFilter, OptionFilter, RecruiterFilter, BrandFilter, AudienceFilter,
        FeaturedFilter,
    )  # fmt: skip
    list_filter_submit = True
    show_full_result_count = False
    show_facets = admin.ShowFacets.NEVER  # counts of every filter would take seconds
    ordering = ("-pk",)
    search_fields = ("title",)  # shows the box; see get_search_results
    search_help_text = gettext_lazy("Search titles and texts, or enter an ID.")
    list_before_template = "admin/vacancies/vacancy/list_before.html"
    list_after_template = "admin/vacancies/vacancy/list_after.html"

    class Media:
        js = ("vacancies/vacancy_form.js", "vacancies/date_rules.js", "vacancies/autosave.js")

    def get_queryset(self, request: HttpRequest) -> VacancyQuerySet:
        rows: Any = super().get_queryset(request)
        return rows.workable_by(request.user)

    # --- list ---

    def get_paginator(self, request: Any, queryset: Any, per_page: int, *args: Any, **kwargs: Any) -> Any:
        if not hasattr(request, "counted"):  # not the list: the search of a field for vacancies
            return super().get_paginator(request, queryset, per_page, *args, **kwargs)
        total, blocks = request.counted
        return IdPaginator(queryset, per_page, total=total, blocks=blocks)

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:
        return VacancyChangeList

    def lookup_allowed(self, lookup: str, value: Any, request: HttpRequest) -> bool:
        """Allow the links from the changelists of forms and brands, beside the filters of the page."""
        own = {"form__id__exact", *(each.parameter_name for each in self.list_filter)}
        return lookup in own or super().lookup_allowed(lookup, value, request)

    def get_search_results(
        self, request: HttpRequest, queryset: VacancyQuerySet, search_term: str
    ) -> tuple[VacancyQuerySet, bool]:
        found = queryset.search(search_term)
        if (pk := as_id(search_term)) is not None:
            found |= queryset.filter(pk=pk)
        if search_term:  # search once: the changelist would repeat the search for count and rows
            pks = list(found.order_by().values_list("pk", flat=True)[: FEW + 1])
            if len(pks) <= FEW:
                return queryset.filter(pk__in=pks), False
        return found, False

    def rows_of_page(self, request: HttpRequest, vacancies: VacancyQuerySet) -> list[Vacancy]:
        """Return what the columns show of the `vacancies` of one page."""
        rows = list(vacancies.select_related("brand", "head_recruiter").only(*SHOWN))
        self.rows_to_edit(request, rows)
        return rows

    # --- form ---

    def get_fieldsets(self, request: HttpRequest, obj: Vacancy | None = None) -> Any:
        """The bar above the form shows the status of an existing vacancy, and its buttons change it.

        A read-only page shows the options as text: form fields without a model field are empty there."""
        if obj is None:
            return self.fieldsets
        may_change = self.has_change_permission(request, obj)
        left_out = {"status"} if may_change else {"status", *Keyword.values}
        fieldsets = []
        for name, spec in self.fieldsets:
            fields = tuple(field for field in spec["fields"] if field not in left_out)
            has_options = not may_change and set(Keyword.values) & set(spec["fields"])
            fieldsets.append((name, {**spec, "fields": (*fields, "job_details") if has_options else fields}))
        return fieldsets

    @display(description=gettext_lazy("Options"))
    def job_details(self, vacancy: Vacancy) -> str:
        choices = vacancy.choices.select_related("option__filter").order_by(
            "option__filter", "position", "pk"
        )
        labels: dict[str, list[str]] = {}
        for choice in choices:
            labels.setdefault(choice.option.filter.label, []).append(choice.option.label)
        return (
            format_html_join("", "{}: {}<br>", ((name, ", ".join(of)) for name, of in labels.items())) or "-"
        )

    def get_readonly_fields(self, request: HttpRequest, obj: Vacancy | None = None) -> Any:
        """Changing the brand shows applicants to other recruiters, so it needs access to every brand."""
        is_fixed = obj and obj.brand_id and not request.user.has_perm(EVERY_BRAND)
        return (*super().get_readonly_fields(request, obj), *(["brand"] if is_fixed else []))

    def formfield_for_foreignkey(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        offered = {"brand": brands_of, "form": forms_for}
        if db_field.name in offered:
            kwargs["queryset"] = offered[db_field.name](request.user)
        return super().formfield_for_foreignkey(db_field, request, **kwargs)

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any) -> Any:
        """Users of some brands need one: they could not see the vacancy without it."""
        form: Any = super().get_form(request, obj, change, **kwargs)
        brand = form.base_fields.get("brand")
        if brand and settings.MULTI_BRANDING:
            brand.required = not request.user.has_perm(EVERY_BRAND)
            if obj is None:
                brand.initial = preselected_brand(request.user)
        return form

    def get_object(
        self, request: HttpRequest, object_id: str, from_field: str | None = None
    ) -> Vacancy | None:
        vacancy = super().get_object(request, object_id, from_field)
        if vacancy and request.method == "POST":
            # Locked: of two concurrent saves, the second one is merged with the first one (conflict.py).
            vacancy = Vacancy.objects.select_for_update().filter(pk=vacancy.pk).first()
        return vacancy

    def save_related(self, request: HttpRequest, form: Any, formsets: list[Any], change: bool) -> None:
        super().save_related(request, form, formsets, change)
        self._warn(request, form.instance)

    def _warn(self, request: HttpRequest, vacancy: Vacancy) -> None:
        """Show the content warnings of a public vacancy."""
        shown = Vacancy.objects.filter(pk=vacancy.pk).shown(at=timezone.now())
        for row in with_warnings(shown, at=timezone.now()):
            if found := content_warnings(row):
                text = _("“%(vacancy)s”: %(warnings)s.") % {
                    "vacancy": row, "warnings": "; ".join(str(warning.text) for warning in found),
                }  # fmt: skip
                self.message_user(request, text, messages.WARNING)

    def render_change_form(
        self, request: HttpRequest, context: Any, add: bool = False, change: bool = False,
        form_url: str = "", obj: Vacancy | None = None,
    ) -> HttpResponse:  # fmt: skip
        if obj:
            context |= {
                "state": obj.state,
                "state_text": self._state_text(obj),
                "publication_buttons": self.buttons(request, obj),
                "shows_review": obj.state in (State.PUBLISHED, State.SCHEDULED)
                and self.has_change_permission(request, obj),
                "shows_form": request.user.has_perm("forms_structure.view_form"),
            }
        context["date_rules"] = date_rules()
        context["can_add_options"] = request.user.has_perm("vacancies.add_filteroption")
        return super().render_change_form(request, context, add, change, form_url, obj)

    def _state_text(self, vacancy: Vacancy) -> str:
        """Return the state in one sentence."""
        begin, end = vacancy.publish_from, vacancy.publish_until
        until = closing_date_of(vacancy)
        match vacancy.state:
            case State.SCHEDULED if begin:
                return _("Goes live on %(publish_from)s.") % {"publish_from": format_datetime(begin)}
            case State.PUBLISHED if end:
                return _("Public, closing date %(day)s.") % {"day": until}
            case State.PUBLISHED:
                return _("Public, no closing date.")
            case State.EXPIRED:
                return _("Was public until %(day)s.") % {"day": until}
            case State.ARCHIVED:
                return _("Not public and hidden from the list.")
        return _("Not public.")

    def get_view_on_site_url(self, obj: Vacancy | None = None) -> str | None:
        """Return the address of the page for people, if the vacancy is published."""
        if obj is None or obj.state != State.PUBLISHED:
            return None
        return obj.get_absolute_url()
