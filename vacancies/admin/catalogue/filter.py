"""The nine filters and their options."""

from collections.abc import Sequence
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.core.paginator import Paginator
from django.db import transaction
from django.db.models import QuerySet
from django.forms import BaseModelForm
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.urls import URLPattern, path, reverse
from django.utils import translation
from django.utils.html import format_html
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from unfold.decorators import display
from unfold.widgets import UnfoldAdminSelectWidget

from jobsite.admin.base import JobsiteAdmin, as_id, counted, counted_link
from jobsite.admin.confirmation import ActionRow, ActionSection, ask, is_confirmed
from jobsite.languages import site_language, text_languages
from jobsite.types import Context, UserRequest
from vacancies.admin.base import PartInline, PositionedFormSet
from vacancies.admin.catalogue.translate import TranslatePages
from vacancies.fields import free_value
from vacancies.models import Filter, FilterOption, VacancyOption
from vacancies.operations.options import merge_options, values_replaced

MAX_EDITED_OPTIONS = 200  # options edited in one page
OPTIONS_PER_PAGE = 50  # options in one answer to a search
MERGED = 100  # at a time


def in_use(option: FilterOption, uses: int) -> str:
    return ngettext(
        "“%(option)s” cannot be deleted: a vacancy uses it. Switch it off, merge it with another "
        "one, or rename it.",
        "“%(option)s” cannot be deleted: %(count)d vacancies use it. Switch it off, merge it with "
        "another one, or rename it.",
        uses,
    ) % {"option": option.label, "count": uses}


def follow_value(form: BaseModelForm) -> None:
    if form.initial.get("value"):  # stored queries follow it
        values = {form.initial["value"]: form.instance.value}
        values_replaced.send(FilterOption, keyword=form.instance.filter.keyword, new=values)


class FilterOptionFormSet(PositionedFormSet):
    """Options with unique labels and values, also among new rows.
    Options in use cannot be deleted.
    """

    def save_existing(
        self, form: BaseModelForm, obj: FilterOption, commit: bool = True
    ) -> FilterOption:
        follow_value(form)
        return super().save_existing(form, obj, commit)  # type: ignore[no-any-return]

    def clean(self) -> None:
        for form in self.forms:  # before Django's own check, which lists every link
            if self._should_delete_form(form) and (uses := form.instance.choices.count()):
                raise ValidationError(in_use(form.instance, uses))
        super().clean()
        seen: dict[str, set[str]] = {"label": set(), "value": set()}
        for form in self.kept_forms:
            option = form.instance
            if form.errors:
                continue
            if not form.cleaned_data.get("value") and option.value in seen["value"]:
                option.value = free_value(option.label, seen["value"])
            for name, texts in seen.items():
                if getattr(option, name) in texts:
                    form.add_error(name, _("Another option of this filter already uses this."))
                texts.add(getattr(option, name))


class FilterOptionInline(PartInline):
    model = FilterOption
    formset = FilterOptionFormSet
    fields = ("label", "value", "employment_type", "is_active", "position", "used")
    readonly_fields = ("used",)
    verbose_name_plural = gettext_lazy("options")

    def get_queryset(self, request: UserRequest) -> QuerySet:
        return (
            super()
            .get_queryset(request)
            .annotate(use_count=counted(VacancyOption.objects.all(), "option"))
        )

    @display(description=gettext_lazy("Vacancies"))
    def used(self, option: FilterOption) -> int:
        return getattr(option, "use_count", 0)


@admin.register(Filter)
class FilterAdmin(JobsiteAdmin):
    """The filters. They can be renamed, switched on and ordered, but not added or deleted."""

    list_display = ("label", "code", "is_active", "option_count", "position")
    list_editable = ("is_active",)
    ordering_field = "position"
    fields = ("label", "code", "is_active", "position")
    readonly_fields = ("code",)
    inlines = (FilterOptionInline,)
    page_classes = (TranslatePages,)

    def get_urls(self) -> list[URLPattern]:
        add, search = map(self.admin_site.admin_view, (self.option_view, self.options_view))
        return [
            path("<int:pk>/option/", add, name="vacancies_filter_option"),
            path("<int:pk>/options/", search, name="vacancies_filter_options"),
            *super().get_urls(),
        ]

    def get_queryset(self, request: UserRequest) -> QuerySet:
        return (
            super()
            .get_queryset(request)
            .annotate(option_count=counted(FilterOption.objects.all(), "filter"))
        )

    def get_list_display(self, request: HttpRequest) -> Sequence[Any]:
        return (*self.list_display, *(["translate"] if text_languages()[1:] else []))

    @display(description=gettext_lazy("Languages"))
    def translate(self, filter: Filter) -> str:
        url = reverse("admin:vacancies_filter_translate", args=[filter.pk])
        return format_html('<a class="text-link" href="{}">{}</a>', url, _("Translate"))

    def render_change_form(
        self, request: HttpRequest, context: Context, *args: Any, **kwargs: Any
    ) -> HttpResponse:
        context["may_translate"] = bool(text_languages()[1:])
        return super().render_change_form(request, context, *args, **kwargs)

    def get_inlines(self, request: UserRequest, obj: Any) -> Sequence[type]:
        """Hide the options if there are too many for one page.
        They have a changelist of their own.
        """
        return self.inlines if obj is None or obj.option_count <= MAX_EDITED_OPTIONS else ()

    def has_add_permission(self, request: UserRequest) -> bool:
        return False

    def has_delete_permission(self, request: UserRequest, obj: Filter | None = None) -> bool:
        return False

    @display(description=gettext_lazy("Keyword"), ordering="keyword")
    def code(self, filter: Filter) -> str:
        """Return the keyword of `filter[regions]=...`.
        A choice field would show its original label.
        """
        return filter.keyword

    @display(description=gettext_lazy("Options"), ordering="option_count")
    def option_count(self, filter: Any) -> str:
        return counted_link(FilterOption, "filter", filter, filter.option_count)

    @transaction.atomic
    def option_view(self, request: UserRequest, pk: int) -> HttpResponse:
        """POST `label` -> {"id", "label"} of the option with that label, created if missing. An
        invalid label returns {"error"} (400).
        """
        if not request.user.has_perm("vacancies.add_filteroption"):
            raise PermissionDenied
        # Locked: of two concurrent requests for the same label, the second one gets the first one's
        # option.
        filter = Filter.objects.select_for_update().filter(pk__in=[as_id(pk)]).first()
        if request.method != "POST" or filter is None:
            raise Http404
        label = " ".join(request.POST.get("label", "").replace("\0", "").split())
        is_short = len(label) <= 200  # a longer label is rejected below
        option = filter.options.filter(label__iexact=label).first() if is_short else None
        if option is None:
            option = FilterOption(filter=filter, label=label, position=filter.next_position())
            try:
                option.full_clean()
            except ValidationError as error:
                return JsonResponse({"error": " ".join(error.messages)}, status=400)
            option.save()
            with translation.override(site_language()):  # stored, and read by all users
                text = _("Added the option “%(option)s”.") % {"option": option.label}
            self.log_change(request, filter, text)
        elif not option.is_active:
            off = _("“%(option)s” is switched off. Choose another option.") % {
                "option": option.label
            }
            return JsonResponse({"error": off}, status=400)
        return JsonResponse({"id": option.pk, "label": option.label})

    def options_view(self, request: UserRequest, pk: int) -> HttpResponse:
        """`term`, `page` -> the active options, in the format of Select2."""
        if not request.user.has_perm("vacancies.view_filteroption"):
            raise PermissionDenied
        term = request.GET.get("term", "").replace("\0", "").strip()
        rows = FilterOption.objects.filter(
            filter=as_id(pk), is_active=True, label__folded_contains=term
        )
        page = Paginator(rows.order_by("position", "label", "pk"), OPTIONS_PER_PAGE).get_page(
            request.GET.get("page")
        )
        found = [{"id": option.pk, "text": option.label} for option in page]
        return JsonResponse({"results": found, "pagination": {"more": page.has_next()}})


@admin.register(FilterOption)
class FilterOptionAdmin(JobsiteAdmin):
    """The options of all filters, to search, switch off and merge."""

    list_display = ("label", "filter", "value", "employment_type", "is_active", "used")
    list_filter = ("filter", "is_active")
    list_select_related = ("filter",)
    list_editable = ("employment_type", "is_active")
    search_fields = ("label", "value", "filter__label")
    ordering = ("filter__position", "position", "label")
    fields = ("filter", "label", "value", "employment_type", "is_active", "position", "used")
    actions = ("merge",)

    def get_queryset(self, request: UserRequest) -> QuerySet:
        uses = counted(VacancyOption.objects.all(), "option")
        return super().get_queryset(request).select_related("filter").annotate(use_count=uses)

    def choice_label(self, row: FilterOption) -> str:
        return f"{row.filter.label}: {row.label}"

    def get_readonly_fields(
        self, request: UserRequest, obj: FilterOption | None = None
    ) -> Sequence[str]:
        return ("filter", "used") if obj else ("used",)

    def save_model(
        self, request: UserRequest, obj: FilterOption, form: BaseModelForm, change: bool
    ) -> None:
        """Put a new option without a position last."""
        if not change and "position" not in form.changed_data:
            obj.position = obj.filter.next_position()
        super().save_model(request, obj, form, change)
        follow_value(form)

    @display(description=gettext_lazy("Vacancies"), ordering="use_count")
    def used(self, option: object) -> int:
        return getattr(option, "use_count", 0)

    def get_deleted_objects(self, objs: Any, request: UserRequest) -> tuple:
        """Report options in use by their number of vacancies. Django would list every link."""
        objs = list(objs)
        used = [(option, uses) for option in objs if (uses := option.choices.count())]
        protected = [in_use(option, uses) for option, uses in used]
        if protected:
            return [], {}, set(), protected
        return super().get_deleted_objects(objs, request)

    @admin.action(description=gettext_lazy("Merge…"), permissions=["delete"])
    def merge(self, request: UserRequest, queryset: QuerySet) -> HttpResponse | None:
        """Ask which option to keep, and replace the others by it in all vacancies."""
        options = list(queryset.select_related("filter")[: MERGED + 1])
        if not 2 <= len(options) <= MERGED or len({option.filter_id for option in options}) > 1:
            text = _("Choose 2 to %(count)d options of one filter.") % {"count": MERGED}
            self.message_user(request, text, messages.WARNING)
            return None
        choice = forms.ModelChoiceField(
            FilterOption.objects.filter(pk__in=[option.pk for option in options]),
            label=_("Option to keep"),
            initial=max(options, key=lambda option: option.use_count).pk,
            empty_label=None,
            widget=UnfoldAdminSelectWidget,
        )
        form = type("MergeForm", (forms.Form,), {"into": choice})(
            request.POST if is_confirmed(request) else None
        )
        if form.is_valid():
            into = form.cleaned_data["into"]
            others = [option for option in options if option.pk != into.pk]
            try:
                count = merge_options(into=into, others=others)
            except ValidationError as error:
                self.message_user(request, error.message, messages.ERROR)
                return None
            names = ", ".join(option.label for option in others)
            with translation.override(site_language()):  # stored, and read by all users
                text = _("Merged with %(names)s.") % {"names": names}
            self.log_change(request, into, text)
            text = ngettext(
                "“%(names)s” was replaced by “%(into)s” in %(count)d vacancy.",
                "“%(names)s” was replaced by “%(into)s” in %(count)d vacancies.",
                count,
            ) % {"names": names, "into": into.label, "count": count}
            self.message_user(request, text, messages.SUCCESS)
            return None
        return ask(
            self,
            request,
            label=_("Merge"),
            icon="merge",
            title=_("Merge options"),
            form=form,
            text=_(
                "Vacancies get the option that you keep. The other options are deleted, and links "
                "that filter by them return no results. This cannot be undone."
            ),
            sections=[ActionSection(_("Options"), [ActionRow(option.label) for option in options])],
        )
