"""Vacancies: their list and the form in which they are written.

What is decided about them is in `decisions`, what became of them in `versions`; the app above, which
knows what people applied to, puts the page into the workplace.
"""

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.forms import all_valid
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from django.utils.html import format_html_join
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from unfold.decorators import display
from unfold.views import ChangeList

from jobsite.admin.base import as_id, moment
from jobsite.ops.commands import dry_run
from vacancies.admin.base import ContentAdmin, last_day_of, told_of_no_room
from vacancies.admin.brand_access import brands_of
from vacancies.admin.form import forms_for
from vacancies.admin.inlines import AttachmentInline, RecruiterInline
from vacancies.admin.list_filters import AttentionFilter, BrandFilter, CappedPaginator, StateFilter
from vacancies.admin.publication import DecidingAdmin
from vacancies.admin.vacancy_form import VacancyForm
from vacancies.admin.versions import RecordingAdmin
from vacancies.choices import Keyword
from vacancies.history.diff import differences
from vacancies.history.versions import content
from vacancies.models import State, Vacancy
from vacancies.previews import token_for
from vacancies.quality import doubts, with_doubts
from vacancies.querysets import EVERY_BRAND, VacancyQuerySet

FEW = 500  # rows: their ids fit into a query
STATE_COLOURS = {
    State.DRAFT: "",
    State.SCHEDULED: "info",
    State.PUBLISHED: "success",
    State.EXPIRED: "warning",
    State.WITHDRAWN: "danger",
    State.ARCHIVED: "",
}


def tab(name: Any, *fields: str) -> tuple[Any, dict[str, Any]]:
    return name, {"fields": fields, "classes": ("tab",)}


class VacancyChangeList(ChangeList):
    def get_queryset(self, *args: Any, **kwargs: Any) -> VacancyQuerySet:
        rows: Any = super().get_queryset(*args, **kwargs)
        return rows.without_texts().defer("description")


class VacancyAdmin(DecidingAdmin, RecordingAdmin, ContentAdmin):
    form = VacancyForm
    fieldsets: Any = (
        tab(gettext_lazy("Texts"), "title", "title_internal", "short_description", "description", "profile",
            "offer", "company", "contact", "postcustom1"),
        tab(gettext_lazy("Classification"), "brand", "location", *Keyword.values),
        tab(gettext_lazy("People"), "head_recruiter"),
        tab(gettext_lazy("Media"), "image", "image_url", "video"),
        tab(gettext_lazy("Application form"), "form"),
        tab(gettext_lazy("Publication"), "status", "audience", "is_hot", "is_permanent", "publish_from",
            "last_day"),
    )  # fmt: skip
    autocomplete_fields = ("brand", "form", "head_recruiter")
    inlines = (RecruiterInline, AttachmentInline)
    list_display: Any = ("title", "state", "brand", "audience", "hot", "appears", "last_day")
    list_filter = (StateFilter, AttentionFilter, BrandFilter, "audience", "is_hot")
    list_filter_submit = False
    show_full_result_count = False
    paginator = CappedPaginator
    list_select_related = ("brand",)
    ordering = ("-pk",)
    search_fields = ("title",)  # shows the box; see get_search_results
    search_help_text = gettext_lazy("Search titles and texts, or an id.")
    list_after_template = "admin/vacancies/vacancy/list_after.html"

    class Media:
        js = ("vacancies/vacancy_form.js",)

    def get_urls(self) -> list[URLPattern]:
        views = {"preview": self.preview_view, "application-form": self.form_view, "review": self.review_view}
        own = [
            path(
                f"<path:object_id>/{name}/",
                self.admin_site.admin_view(view),
                name=f"vacancies_vacancy_{name.replace('-', '_')}",
            )
            for name, view in views.items()
        ]
        return [*own, *super().get_urls()]

    def get_queryset(self, request: HttpRequest) -> VacancyQuerySet:
        rows: Any = super().get_queryset(request)
        return rows.workable_by(request.user)

    # --- list ---

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:
        return VacancyChangeList

    def lookup_allowed(self, lookup: str, value: Any, request: HttpRequest) -> bool:
        """Beside the filters of the page: the vacancies of a form, as the list of forms links to them."""
        own = ("form__id__exact", "brand__id__exact")
        return lookup in own or super().lookup_allowed(lookup, value, request)

    def get_search_results(
        self, request: HttpRequest, queryset: VacancyQuerySet, search_term: str
    ) -> tuple[VacancyQuerySet, bool]:
        found = queryset.search(search_term)
        if (pk := as_id(search_term)) is not None:
            found |= queryset.filter(pk=pk)
        if search_term:  # few are looked for once, instead of for their number and again for their rows
            pks = list(found.order_by().values_list("pk", flat=True)[: FEW + 1])
            if len(pks) <= FEW:
                return queryset.filter(pk__in=pks), False
        return found, False

    @display(description=gettext_lazy("State"), label=STATE_COLOURS)
    def state(self, vacancy: Vacancy) -> tuple[State, Any]:
        return vacancy.state, vacancy.state.label

    @display(description=gettext_lazy("Last day"), ordering="publish_until")
    def last_day(self, vacancy: Vacancy) -> str:
        return last_day_of(vacancy)

    @display(description=gettext_lazy("Publish from"), ordering="publish_from")
    def appears(self, vacancy: Vacancy) -> str:
        return moment(vacancy.publish_from) if vacancy.publish_from else "-"

    @display(description=gettext_lazy("Hot"), ordering="is_hot", label={"hot": "warning"})
    def hot(self, vacancy: Vacancy) -> Any:
        return ("hot", _("Hot")) if vacancy.is_hot else ""

    # --- form ---

    def get_fieldsets(self, request: HttpRequest, obj: Vacancy | None = None) -> Any:
        """Who may only look sees a line per vocabulary: fields of the form alone show nothing there."""
        if obj is None or self.has_change_permission(request, obj):
            return self.fieldsets
        seen = ("brand", "location", "classification")
        return [
            (name, {**spec, "fields": seen} if "brand" in spec["fields"] else spec)
            for name, spec in self.fieldsets
        ]

    @display(description=gettext_lazy("Options"))
    def classification(self, vacancy: Vacancy) -> str:
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
        """Another brand would let other recruiters see who applied: that takes one who works for all."""
        is_fixed = obj and obj.brand_id and not request.user.has_perm(EVERY_BRAND)
        return (*super().get_readonly_fields(request, obj), *(["brand"] if is_fixed else []))

    def formfield_for_foreignkey(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        offered = {"brand": brands_of, "form": forms_for}
        if db_field.name in offered:
            kwargs["queryset"] = offered[db_field.name](request.user)
        return super().formfield_for_foreignkey(db_field, request, **kwargs)

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any) -> Any:
        """Who works for some brands writes for one of them: without any, it would be out of sight."""
        form: Any = super().get_form(request, obj, change, **kwargs)
        brand = form.base_fields.get("brand")
        if brand and settings.MULTI_BRANDING and not request.user.has_perm(EVERY_BRAND):
            own = list(brands_of(request.user)[:2])
            brand.required = True
            if len(own) == 1:
                brand.initial = own[0].pk
        return form

    def get_object(
        self, request: HttpRequest, object_id: str, from_field: str | None = None
    ) -> Vacancy | None:
        vacancy = super().get_object(request, object_id, from_field)
        if vacancy and request.method == "POST":
            # Locked, so that of two recruiters who save at the same moment the second one is told.
            vacancy = Vacancy.objects.select_for_update().filter(pk=vacancy.pk).first()
        return vacancy

    def save_related(
        self, request: HttpRequest, form: VacancyForm, formsets: list[Any], change: bool
    ) -> None:
        super().save_related(request, form, formsets, change)
        if change and (form.has_changed() or any(formset.has_changed() for formset in formsets)):
            form.instance.updated_at = timezone.now()
            form.instance.save(update_fields=["updated_at"])

    def log_addition(self, request: HttpRequest, obj: Vacancy, message: Any) -> Any:
        self._warn(request, obj)
        return super().log_addition(request, obj, message)

    def log_change(self, request: HttpRequest, obj: Vacancy, message: Any) -> Any:
        self._warn(request, obj)
        return super().log_change(request, obj, message)

    def _warn(self, request: HttpRequest, vacancy: Vacancy) -> None:
        """Say what is rarely meant about one that shows."""
        shown = Vacancy.objects.filter(pk=vacancy.pk).shown(at=timezone.now())
        for row in with_doubts(shown, at=timezone.now()):
            if found := doubts(row):
                text = _("“%(vacancy)s”: %(doubts)s.") % {
                    "vacancy": row, "doubts": "; ".join(str(doubt.text) for doubt in found),
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
                "decisions": self.buttons(request, obj),
                "shows_review": obj.state in (State.PUBLISHED, State.SCHEDULED)
                and self.has_change_permission(request, obj),
                "shows_form": request.user.has_perm("forms_structure.view_form"),
            }
        context["can_add_options"] = request.user.has_perm("vacancies.add_filteroption")
        return super().render_change_form(request, context, add, change, form_url, obj)

    def _state_text(self, vacancy: Vacancy) -> str:
        """Where the vacancy stands, in one sentence."""
        begin, end = vacancy.publish_from, vacancy.publish_until
        until = last_day_of(vacancy)
        match vacancy.state:
            case State.SCHEDULED if begin:
                return _("Appears on %(moment)s.") % {"moment": moment(begin)}
            case State.PUBLISHED if end:
                return _("Public, last day %(day)s.") % {"day": until}
            case State.PUBLISHED:
                return _("Public, without a last day.")
            case State.EXPIRED:
                return _("Was public until %(day)s.") % {"day": until}
            case State.ARCHIVED:
                return _("Put away; not public.")
        return _("Not public.")

    def get_view_on_site_url(self, obj: Vacancy | None = None) -> str | None:
        """The item as sites receive it, where they do."""
        if obj is None or obj.state != State.PUBLISHED:
            return None
        return reverse("v1:single-vacancy-detail", args=[obj.pk])

    # --- beside the form ---

    def _found(self, request: HttpRequest, object_id: str) -> Vacancy:
        vacancy = get_object_or_404(self.get_queryset(request).with_form(), pk=as_id(object_id))
        if not self.has_view_permission(request, vacancy):
            raise PermissionDenied
        return vacancy

    def preview_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Goes on to a fresh link that opens without an account."""
        return redirect("preview", token_for(self._found(request, object_id).pk))

    def form_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """The builder with the form that applicants of this vacancy get."""
        vacancy = self._found(request, object_id)
        if vacancy.served_form_id is None:
            text = _(
                "This vacancy has no form yet: add one, and choose it for the vacancy, its brand or the site."
            )
            self.message_user(request, text, messages.INFO)
            return redirect("admin:forms_structure_form_changelist")
        url = reverse("admin:forms_structure_form_change", args=[vacancy.served_form_id])
        return redirect(f"{url}?for={vacancy.pk}")

    @told_of_no_room
    def review_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """What saving the posted form would change for the public, as a piece of a page: it is saved, looked
        at and taken back. 422 where it could not be saved: then saving says why."""
        if request.method != "POST":
            raise Http404
        vacancy = self._found(request, object_id)
        if not self.has_change_permission(request, vacancy):
            raise PermissionDenied
        with dry_run(True):
            vacancy = Vacancy.objects.select_for_update().get(pk=vacancy.pk)
            before = content(vacancy)
            form = self.get_form(request, vacancy, change=True)(request.POST, request.FILES, instance=vacancy)
            formsets, _inlines = self._create_formsets(request, vacancy, change=True)
            if not (form.is_valid() and all_valid(formsets)):
                return HttpResponse(status=422)
            form.save(commit=False).save()
            form.save_m2m()
            for formset in formsets:
                formset.save()
            found = differences(before, content(vacancy))
        for part in (form, *(row for formset in formsets for row in formset.forms)):
            for name in part.changed_data if part.files else ():
                file = getattr(part.instance, name, None)
                # What came with the question is not to stay; of a row marked as deleted it was never kept.
                if part.files.get(part.add_prefix(name)) and file and file._committed:
                    file.storage.delete(file.name)
        return render(request, "admin/vacancies/vacancy/differences.html", {"differences": found})
