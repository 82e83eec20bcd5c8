"""The changelist and the form of vacancies. jobsite/office/vacancy.py adds the number of
applications, and registers the admin."""

from typing import Any

from django.contrib import admin
from django.db.models import ForeignKey
from django.http import HttpResponse
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from unfold.decorators import display

from jobsite.admin.base import as_id
from jobsite.languages import text_languages
from jobsite.text.iso_names import country_name
from jobsite.types import Context, StrOrPromise, UserRequest
from vacancies.access.brands import brands_of, forms_for, preselected_brand
from vacancies.admin.edit.autosave import AutosavePages
from vacancies.admin.edit.head import head_of
from vacancies.admin.edit.inlines import AttachmentInline, PlaceInline, RecruiterInline
from vacancies.admin.edit.page import EditPage
from vacancies.admin.edit.requisition import RequisitionPages
from vacancies.admin.edit.template import TemplatePages
from vacancies.admin.edit.vacancy_form import VacancyForm
from vacancies.admin.edit.vacancy_pages import VacancyPages
from vacancies.admin.list.filters import (
    AttentionFilter,
    AudienceFilter,
    BrandFilter,
    FeaturedFilter,
    MineFilter,
    NotReadyFilter,
    OutdatedFilter,
    ReadyFilter,
    StateFilter,
)
from vacancies.admin.list.saved_view_pages import SavedViewPages
from vacancies.admin.list.searched_filters import OptionFilter, RecruiterFilter
from vacancies.admin.list.vacancy_list import DEFAULT_COLUMNS, TITLE, VacancyListAdmin
from vacancies.admin.publication.approval import ApprovalPages
from vacancies.admin.publication.bulk import CHANGELIST_ACTIONS, BulkPublicationPages
from vacancies.admin.publication.pages import PublicationPages
from vacancies.admin.publication.versions import VersionPages
from vacancies.admin.spreadsheets.pages import EXPORT_ACTIONS, SpreadsheetPages
from vacancies.choices import EmploymentType, Keyword, PlaceKind, VacancyStatus
from vacancies.models import Vacancy
from vacancies.operations.undo import needed_reasons
from vacancies.querysets import EVERY_BRAND, VacancyQuerySet


def tab(name: StrOrPromise, *fields: str | tuple[str, ...]) -> tuple[StrOrPromise, Context]:
    return name, {"fields": fields, "classes": ("tab",)}


class VacancyBaseAdmin(VacancyListAdmin):
    """The list, the form, and `page_classes`: the pages beside them, which receive this admin."""

    page_classes = (
        SavedViewPages,
        AutosavePages,
        TemplatePages,
        ApprovalPages,
        PublicationPages,
        BulkPublicationPages,
        SpreadsheetPages,
        VersionPages,
        VacancyPages,
        RequisitionPages,
    )
    actions: Any = (*EXPORT_ACTIONS, *CHANGELIST_ACTIONS)  # delete is the last one
    form = VacancyForm
    fieldsets: Any = (
        tab(
            gettext_lazy("Texts"),
            "title",
            "brand",
            ("reference", "language"),
            "title_internal",
            "short_description",
            "description",
            "profile",
            "offer",
            "company",
            "contact",
            "postcustom1",
        ),
        tab(
            gettext_lazy("Job details"),
            *Keyword.values,
            "employment_types",
            "location",
            "work_place",
            "remote_countries",
        ),
        tab(
            gettext_lazy("Pay"),
            ("pay_min", "pay_max"),
            ("pay_currency", "pay_period"),
            "pay_note",
            "is_pay_public",
        ),
        tab(gettext_lazy("People"), "head_recruiter"),
        tab(gettext_lazy("Media"), "image", "image_url", "video"),
        tab(gettext_lazy("Application form"), "form", "apply_url", "applications_kept_days"),
        tab(
            gettext_lazy("Publication"),
            "status",
            "audience",
            "is_hot",
            "is_permanent",
            "publish_from",
            "last_day",
        ),
    )
    autocomplete_fields = ("brand", "form", "head_recruiter")
    readonly_fields = ("employment_types",)
    inlines = (PlaceInline, RecruiterInline, AttachmentInline)
    list_display: Any = (TITLE, *DEFAULT_COLUMNS)  # see get_list_display
    list_filter = (
        StateFilter,
        MineFilter,
        AttentionFilter,
        OptionFilter,
        RecruiterFilter,
        BrandFilter,
        AudienceFilter,
        FeaturedFilter,
    )
    text_filters = (ReadyFilter, NotReadyFilter, OutdatedFilter)
    list_filter_submit = True
    show_full_result_count = False
    show_facets = admin.ShowFacets.NEVER  # counts of every filter would take seconds
    ordering = ("-pk",)
    search_fields = ("title",)  # shows the box; see get_search_results
    search_help_text = gettext_lazy("Search titles, texts and references, or enter an ID.")
    view_on_site = False  # the menu of a vacancy has it
    warn_unsaved_form = False  # autosave.js asks before leaving, also for changes by scripts

    class Media:
        js = (
            "vacancies/vacancy_form.js",
            "vacancies/date_rules.js",
            "vacancies/city_search.js",
            "vacancies/autosave.js",
        )

    def get_list_filter(self, request: UserRequest) -> Any:
        return (*self.list_filter, *(self.text_filters if text_languages() else ()))

    def get_queryset(self, request: UserRequest) -> VacancyQuerySet:
        rows: Any = super().get_queryset(request)
        return rows.editable_by(request.user)

    def history_view(self, request: UserRequest, object_id: str, **kwargs: object) -> HttpResponse:
        return VersionPages(self).history_view(request, object_id)

    # --- form ---

    def get_fieldsets(self, request: UserRequest, obj: Vacancy | None = None) -> Any:
        """The bar above the form shows the status of an existing vacancy, and its buttons change
        it.

        A read-only page shows the options as text: form fields without a model field are empty
        there.
        """
        may_change = obj is None or self.has_change_permission(request, obj)
        left_out = {"employment_types"} if obj is None else {"status"}
        if not may_change:
            left_out |= {*Keyword.values, "remote_countries"}
        fieldsets = []
        for name, spec in self.fieldsets:
            fields = tuple(field for field in spec["fields"] if field not in left_out)
            has_options = not may_change and set(Keyword.values) & set(spec["fields"])
            fieldsets.append(
                (name, {**spec, "fields": ("job_details", *fields) if has_options else fields})
            )
        return fieldsets

    @display(description=gettext_lazy("Options"))
    def job_details(self, vacancy: Vacancy) -> str:
        choices = vacancy.choices.select_related("option__filter").order_by(
            "option__filter", "position", "pk"
        )
        labels: dict[str, list[str]] = {}
        for choice in choices:
            labels.setdefault(choice.option.filter.label, []).append(choice.option.label)
        for place in vacancy.places.filter(kind=PlaceKind.APPLICANT):
            labels.setdefault(_("Countries for remote work"), []).append(
                country_name(place.country)
            )
        return (
            format_html_join(
                "", "{}: {}<br>", ((name, ", ".join(of)) for name, of in labels.items())
            )
            or "-"
        )

    @display(description=gettext_lazy("Employment types"))
    def employment_types(self, vacancy: Vacancy) -> str:
        labels = [str(EmploymentType(each).label) for each in vacancy.employment_types]
        return format_html(
            '{} <a class="text-link" href="{}">{}</a>',
            ", ".join(labels) or _("None of the options above has one."),
            reverse("admin:vacancies_filteroption_changelist"),
            _("Employment types of options"),
        )

    def get_readonly_fields(self, request: UserRequest, obj: Vacancy | None = None) -> Any:
        """Changing the brand shows applicants to other recruiters, so it needs access to every
        brand, except for a draft without applications.
        """
        is_fixed = (
            obj
            and obj.brand_id
            and not request.user.has_perm(EVERY_BRAND)
            and (obj.status != VacancyStatus.DRAFT or needed_reasons([obj.pk]))
        )
        return (*super().get_readonly_fields(request, obj), *(["brand"] if is_fixed else []))

    def formfield_for_foreignkey(
        self, db_field: ForeignKey, request: UserRequest, **kwargs: object
    ) -> Any:
        offered = {"brand": brands_of, "form": forms_for}
        if db_field.name in offered:
            kwargs["queryset"] = offered[db_field.name](request.user)
        return super().formfield_for_foreignkey(db_field, request, **kwargs)

    def get_form(
        self, request: UserRequest, obj: Any = None, change: bool = False, **kwargs: Any
    ) -> Any:
        """Users of some brands need one: they could not see the vacancy without it."""
        form: Any = super().get_form(request, obj, change, **kwargs)
        brand = form.base_fields.get("brand")
        if brand:
            brand.required = not request.user.has_perm(EVERY_BRAND)
            if obj is None:
                brand.initial = preselected_brand(request.user)
        return form

    def get_object(
        self, request: UserRequest, object_id: str, from_field: str | None = None
    ) -> Vacancy | None:
        if from_field is None and request.method != "POST":
            shown = self.get_queryset(request).select_related("brand", "requisition")
            return shown.filter(pk=as_id(object_id)).first()
        vacancy = super().get_object(request, object_id, from_field)
        if vacancy and request.method == "POST":
            # Locked: of two concurrent saves, the second one is merged with the first one
            # (conflict.py).
            vacancy = Vacancy.objects.select_for_update().filter(pk=vacancy.pk).first()
        return vacancy

    def head_of(self, request: UserRequest, vacancy: Vacancy) -> Context:
        return head_of(self, request, vacancy)

    def _changeform_view(
        self,
        request: UserRequest,
        object_id: str | None,
        form_url: str,
        extra_context: Context | None,
    ) -> HttpResponse:
        # Not `changeform_view`: this is inside its transaction, in which `get_object` locks the
        # row.
        return EditPage(self, request, object_id, form_url, extra_context).response()
