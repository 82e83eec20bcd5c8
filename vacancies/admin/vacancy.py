"""Vacancies: list, form, and the two decisions that matter, online and offline."""

from collections.abc import Iterable
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.admin.utils import unquote
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.html import format_html_join
from django_prose_editor.widgets import AdminProseEditorWidget
from unfold.decorators import action, display
from unfold.enums import ActionVariant
from unfold.forms import BaseDialogForm
from unfold.views import ChangeList

from jobsite.workplace import moment
from vacancies.admin.base import IllustratedAdmin
from vacancies.admin.vacancy_form import VacancyForm, is_exact, last_day
from vacancies.admin.vacancy_parts import AttachmentInline, RecruiterInline
from vacancies.fields import HtmlField, html_fields
from vacancies.models import State, Status, Vacancy
from vacancies.operations import publish
from vacancies.querysets import VacancyQuerySet
from vacancies.vocabulary import Keyword

REASONS_SHOWN = 10
STATE_COLOURS = {
    State.DRAFT: "",
    State.SCHEDULED: "info",
    State.PUBLISHED: "success",
    State.EXPIRED: "warning",
    State.WITHDRAWN: "danger",
}


def tab(name: str, *fields: str) -> tuple[str, dict[str, Any]]:
    return name, {"fields": fields, "classes": ("tab",)}


class ProseWidget(AdminProseEditorWidget):
    """The editor, without the line ends that browsers turn into CRLF: a text nobody touched is unchanged."""

    def value_from_datadict(self, data: Any, files: Any, name: str) -> Any:
        value = super().value_from_datadict(data, files, name)
        return value.replace("\r\n", "\n") if value else value


class StateFilter(admin.SimpleListFilter):
    title = "state"
    parameter_name = "state"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Any:
        return State.choices

    def queryset(self, request: HttpRequest, queryset: Any) -> VacancyQuerySet:
        now = timezone.now()
        meant = queryset.filter(status=Status.PUBLISHED)
        match self.value():
            case State.PUBLISHED:
                return queryset.published(at=now)
            case State.SCHEDULED:
                return meant.filter(publish_from__gt=now)
            case State.EXPIRED:
                return meant.filter(publish_until__lte=now)
            case State.DRAFT | State.WITHDRAWN as status:
                return queryset.filter(status=status)
        return queryset


class VacancyChangeList(ChangeList):
    def get_queryset(self, *args: Any, **kwargs: Any) -> VacancyQuerySet:
        return without_texts(super().get_queryset(*args, **kwargs))


@admin.register(Vacancy)
class VacancyAdmin(IllustratedAdmin):
    form = VacancyForm
    formfield_overrides = {HtmlField: {"widget": ProseWidget, "strip": False}}
    fieldsets = (
        tab("Texts", "title", "title_internal", "short_description", "description", "profile", "offer",
            "company", "contact", "postcustom1"),
        tab("Classification", "brand", "location", *Keyword.values),
        tab("People", "head_recruiter"),
        tab("Media", "image", "image_url", "video"),
        tab("Application form", "form"),
        tab("Publication", "status", "audience", "is_hot", "is_permanent", "publish_from", "last_day"),
    )  # fmt: skip
    autocomplete_fields = ("brand", "form", "head_recruiter")
    inlines = (RecruiterInline, AttachmentInline)
    list_display = ("title", "state", "brand", "audience", "hot", "appears", "last_day")
    list_filter = (StateFilter, "audience", "is_hot", "brand")
    show_full_result_count = False
    list_select_related = ("brand",)
    ordering = ("-pk",)
    search_fields = ("title",)  # shows the box; see get_search_results
    search_help_text = "Search titles and texts, or an id."
    actions = ("publish_selected", "withdraw_selected")
    actions_detail = ("application_form", "publish_one", "withdraw_one")

    class Media:
        js = ("vacancies/vacancy_form.js",)

    # --- list ---

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:
        return VacancyChangeList

    def lookup_allowed(self, lookup: str, value: Any, request: HttpRequest) -> bool:
        """Beside the filters of the page: the vacancies of a form, as the list of forms links to them."""
        return lookup == "form__id__exact" or super().lookup_allowed(lookup, value, request)

    def get_search_results(
        self, request: HttpRequest, queryset: VacancyQuerySet, search_term: str
    ) -> tuple[VacancyQuerySet, bool]:
        found = queryset.search(search_term)
        if search_term.isascii() and search_term.isdigit():
            found |= queryset.filter(pk=int(search_term))
        return found, False

    @display(description="State", label=STATE_COLOURS)
    def state(self, vacancy: Vacancy) -> tuple[State, str]:
        return vacancy.state, vacancy.state.label

    @display(description="Last day", ordering="publish_until")
    def last_day(self, vacancy: Vacancy) -> str:
        until = vacancy.publish_until
        if until is None:
            return "-"
        return moment(until) if is_exact(until) else date_format(last_day(until), "j M Y")

    @display(description="Publish from", ordering="publish_from")
    def appears(self, vacancy: Vacancy) -> str:
        return moment(vacancy.publish_from) if vacancy.publish_from else "-"

    @display(description="Hot", ordering="is_hot", label={"Hot": "warning"})
    def hot(self, vacancy: Vacancy) -> str:
        return "Hot" if vacancy.is_hot else ""

    # --- form ---

    def get_fieldsets(self, request: HttpRequest, obj: Vacancy | None = None) -> Any:
        """Who may only look sees a line per vocabulary: fields of the form alone show nothing there."""
        if obj is None or self.has_change_permission(request, obj):
            return self.fieldsets
        options = tab("Classification", "brand", "location", "classification")
        return [options if name == "Classification" else (name, spec) for name, spec in self.fieldsets]

    @display(description="Options")
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
        is_fixed = obj and obj.brand_id and not request.user.has_perm("vacancies.work_for_every_brand")
        return (*super().get_readonly_fields(request, obj), *(["brand"] if is_fixed else []))

    def get_object(
        self, request: HttpRequest, object_id: str, from_field: str | None = None
    ) -> Vacancy | None:
        vacancy = super().get_object(request, object_id, from_field)
        if vacancy and request.method == "POST":
            # Locked, so that of two recruiters who save at the same moment the second one is told.
            vacancy = self.get_queryset(request).select_for_update().filter(pk=vacancy.pk).first()
        return vacancy

    def save_related(
        self, request: HttpRequest, form: VacancyForm, formsets: list[Any], change: bool
    ) -> None:
        super().save_related(request, form, formsets, change)
        if change and (form.has_changed() or any(formset.has_changed() for formset in formsets)):
            form.instance.updated_at = timezone.now()
            form.instance.save(update_fields=["updated_at"])

    def get_view_on_site_url(self, obj: Vacancy | None = None) -> str | None:
        """The item as sites receive it, where they do."""
        return obj.get_absolute_url() if obj and obj.state == State.PUBLISHED else None

    # Unfold looks up a permission with a dot in the database, also before there is one.
    def has_view_form_permission(self, request: HttpRequest, object_id: str | None = None) -> bool:
        return request.user.has_perm("forms_structure.view_form")

    @action(description="Application form", icon="dynamic_form", permissions=["view_form"])
    def application_form(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """The builder with the form that applicants of this vacancy get."""
        vacancy = get_object_or_404(Vacancy.objects.with_form().only("pk"), pk=object_id)
        if vacancy.served_form_id is None:
            text = (
                "This vacancy has no form yet: add one, and choose it for the vacancy, its brand or the site."
            )
            self.message_user(request, text, messages.INFO)
            return redirect("admin:forms_structure_form_changelist")
        url = reverse("admin:forms_structure_form_change", args=[vacancy.served_form_id])
        return redirect(f"{url}?for={vacancy.pk}")

    # --- online and offline ---

    @admin.action(description="Publish now", permissions=["change"])
    def publish_selected(self, request: HttpRequest, queryset: VacancyQuerySet) -> None:
        chosen = without_texts(Vacancy.objects.filter(pk__in=list(queryset.values_list("pk", flat=True))))
        pks = set(chosen.values_list("pk", flat=True))
        done, refused = publish(vacancies=chosen, at=timezone.now())
        self._log(request, pks - {vacancy.pk for vacancy in refused}, "Published.")
        self._report(request, done, "published", [(v, " ".join(why.values())) for v, why in refused.items()])

    @admin.action(description="Take offline", permissions=["change"])
    def withdraw_selected(self, request: HttpRequest, queryset: VacancyQuerySet) -> None:
        chosen = without_texts(Vacancy.objects.filter(pk__in=list(queryset.values_list("pk", flat=True))))
        offline = list(chosen.exclude(status=Status.PUBLISHED))
        pks = set(chosen.filter(status=Status.PUBLISHED).values_list("pk", flat=True))
        done = chosen.withdraw()
        self._log(request, pks, "Taken offline.")
        self._report(request, done, "taken offline", [(v, "It is offline already.") for v in offline])

    # Both ask first in a dialog: unfold's actions are links, and a link must not change anything.

    @action(
        description="Publish now",
        icon="publish",
        variant=ActionVariant.PRIMARY,
        permissions=["change"],
        dialog={
            "title": "Publish this vacancy now?",
            "description": "It shows at once, as it was last saved.",
            "form_class": BaseDialogForm,
            "form_submit_text": "Publish now",
        },
    )
    def publish_one(self, request: HttpRequest, form: forms.Form, object_id: str) -> HttpResponse:
        self.publish_selected(request, Vacancy.objects.filter(pk=object_id))
        return back_to_form(request, object_id)

    @action(
        description="Take offline",
        icon="visibility_off",
        permissions=["change"],
        dialog={
            "title": "Take this vacancy offline?",
            "description": "It disappears from every site at once. You can publish it again later.",
            "form_class": BaseDialogForm,
            "form_submit_text": "Take offline",
        },
    )
    def withdraw_one(self, request: HttpRequest, form: forms.Form, object_id: str) -> HttpResponse:
        self.withdraw_selected(request, Vacancy.objects.filter(pk=object_id))
        return back_to_form(request, object_id)

    def get_actions_detail(self, request: HttpRequest, object_id: str) -> list[Any]:
        """Only the decision that would change something."""
        vacancy = super().get_object(request, unquote(str(object_id)))
        pointless = "publish_one" if vacancy and vacancy.state == State.PUBLISHED else "withdraw_one"
        if vacancy and vacancy.state in (State.SCHEDULED, State.EXPIRED):
            pointless = ""
        actions = super().get_actions_detail(request, object_id)
        return [each for each in actions if not (pointless and each.action_name.endswith(pointless))]

    def _log(self, request: HttpRequest, pks: Iterable[int], message: str) -> None:
        changed = Vacancy.objects.filter(pk__in=pks)
        LogEntry.objects.log_actions(request.user.pk, changed, CHANGE, message)  # type: ignore[arg-type]

    def _report(self, request: HttpRequest, done: int, verb: str, refused: list[tuple[Vacancy, str]]) -> None:
        """Say how many were changed, and of the others which and why."""
        if done:
            self.message_user(request, f"{done} {vacancies(done)} {verb}.", messages.SUCCESS)
        for vacancy, reason in refused[:REASONS_SHOWN]:
            self.message_user(request, f"“{vacancy}” was not {verb}. {reason}", messages.WARNING)
        if more := len(refused[REASONS_SHOWN:]):
            self.message_user(request, f"{more} more {vacancies(more)} not {verb}.", messages.WARNING)


def vacancies(count: int) -> str:
    return "vacancy was" if count == 1 else "vacancies were"


def without_texts(queryset: VacancyQuerySet) -> VacancyQuerySet:
    """Rows to list or to count: their texts are long and not needed."""
    return queryset.defer("search_text", "title_folded", *html_fields(Vacancy))


def back_to_form(request: HttpRequest, object_id: str) -> HttpResponse:
    """Show the form afresh, also to htmx, which would put a plain redirect into the dialog."""
    url = reverse("admin:vacancies_vacancy_change", args=[object_id])
    return HttpResponse(headers={"HX-Redirect": url}) if "HX-Request" in request.headers else redirect(url)
