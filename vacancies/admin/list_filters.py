"""The filters of the vacancy changelist, beside plain columns."""

from collections.abc import Iterator
from typing import Any

from django.contrib import admin
from django.core.paginator import Paginator
from django.http import HttpRequest
from django.utils import timezone
from django.utils.functional import cached_property
from django.utils.translation import gettext_lazy as _
from unfold.contrib.filters.admin import DropdownFilter

from jobsite.admin.base import as_id
from vacancies.admin.brand_access import brands_of
from vacancies.models import State, Status
from vacancies.quality import CONTENT_WARNINGS, closing_soon, filter_by_warning
from vacancies.querysets import VacancyQuerySet

COUNTED = 10_000  # rows: nobody pages through a longer list


class CappedPaginator(Paginator):
    """Counts at most `COUNTED` rows."""

    @cached_property
    def count(self) -> int:
        rows: Any = self.object_list
        return rows.order_by().values("pk")[:COUNTED].count()  # without the annotations of the changelist


class StateFilter(admin.SimpleListFilter):
    """By the current state. Archived vacancies are shown only on request."""

    title = _("status")
    parameter_name = "state"
    ALL = "all"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Any:
        return [*State.choices, (self.ALL, _("All, including archived"))]

    def choices(self, changelist: Any) -> Iterator[Any]:
        first, *others = super().choices(changelist)
        yield {**first, "display": _("All except archived")}
        yield from others

    def queryset(self, request: HttpRequest, queryset: Any) -> VacancyQuerySet:
        if self.value() in State.values:
            return queryset.in_state(self.value(), at=timezone.now())
        return queryset if self.value() == self.ALL else queryset.exclude(status=Status.ARCHIVED)


ENDING = "ending"
REASONS = [
    (ENDING, _("Closing within a week")),
    *((warning.code, warning.label) for warning in CONTENT_WARNINGS),
]


class AttentionFilter(DropdownFilter):
    """By reason to need attention, as on the dashboard."""

    title = _("needs attention")
    parameter_name = "attention"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Any:
        return REASONS

    def queryset(self, request: HttpRequest, queryset: Any) -> VacancyQuerySet:
        return attention(queryset, self.value())


def attention(vacancies: VacancyQuerySet, code: str | None) -> VacancyQuerySet:
    """Return the `vacancies` that need attention for the reason `code`; all of them for an unknown code."""
    now = timezone.now()
    if code == ENDING:
        return closing_soon(vacancies, at=now)
    known = code in {warning.code for warning in CONTENT_WARNINGS}
    return filter_by_warning(vacancies, str(code), at=now) if known else vacancies


class BrandFilter(DropdownFilter):
    """By one of the brands of the user."""

    title = _("brand")
    parameter_name = "brand__id__exact"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Any:
        return [(str(brand.pk), brand.name) for brand in brands_of(request.user)]

    def queryset(self, request: HttpRequest, queryset: Any) -> VacancyQuerySet:
        brand = as_id(self.value())
        return queryset if brand is None else queryset.filter(brand=brand)
