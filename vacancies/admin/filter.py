"""The nine vocabularies and their options."""

from typing import Any

from django.contrib import admin
from django.core.exceptions import ValidationError
from django.http import HttpRequest
from unfold.decorators import display

from jobsite.workplace import WorkplaceAdmin, counted
from vacancies.admin.base import PartInline, PositionedFormSet
from vacancies.models import Filter, FilterOption, VacancyOption, free_value


class FilterOptionFormSet(PositionedFormSet):
    """Options that differ from each other, new ones included, and stay while vacancies use them."""

    def clean(self) -> None:
        for form in self.forms:  # first, because Django's own refusal names the links and not their number
            if self._should_delete_form(form) and (uses := form.instance.choices.count()):
                users = "a vacancy uses it" if uses == 1 else f"{uses} vacancies use it"
                raise ValidationError(
                    f"“{form.instance.label}” cannot be deleted: {users}. Take it off first, or rename it."
                )
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
                    form.add_error(name, f"Another option of this filter has this {name}.")
                texts.add(getattr(option, name))


class FilterOptionInline(PartInline):
    model = FilterOption
    formset = FilterOptionFormSet
    fields = ("label", "value", "position", "used")
    readonly_fields = ("used",)
    verbose_name_plural = "options"

    def get_queryset(self, request: HttpRequest) -> Any:
        return (
            super().get_queryset(request).annotate(use_count=counted(VacancyOption.objects.all(), "option"))
        )

    @display(description="Vacancies")
    def used(self, option: FilterOption) -> int:
        return getattr(option, "use_count", 0)


@admin.register(Filter)
class FilterAdmin(WorkplaceAdmin):
    """The filters are nine, always: they can be named, switched on and ordered, not added or deleted."""

    list_display = ("label", "code", "is_active", "option_count", "position")
    ordering_field = "position"
    fields = ("label", "code", "is_active", "position")
    readonly_fields = ("code",)
    inlines = (FilterOptionInline,)

    def get_queryset(self, request: HttpRequest) -> Any:
        return (
            super().get_queryset(request).annotate(option_count=counted(FilterOption.objects.all(), "filter"))
        )

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Filter | None = None) -> bool:
        return False

    @display(description="Keyword", ordering="keyword")
    def code(self, filter: Filter) -> str:
        """As in filter[regions]=...; what a choice field would show is the name it was born with."""
        return filter.keyword

    @display(description="Options", ordering="option_count")
    def option_count(self, filter: Filter) -> int:
        return filter.option_count  # type: ignore[attr-defined] # annotated
