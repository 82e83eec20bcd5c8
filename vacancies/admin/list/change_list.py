"""The list of vacancies: its order, its pages and its rows."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from django.contrib import messages
from django.contrib.admin.views.main import ORDER_VAR
from django.core.paginator import Page, Paginator
from django.db.models import F, QuerySet
from django.urls import reverse
from django.utils import timezone
from django.utils.functional import cached_property
from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from jobsite.admin.base import as_id
from jobsite.admin.id_list import SORTED, Cell, IdChangeList
from jobsite.types import Context, UserRequest
from vacancies.admin.list.filters import BrandFilter, StateFilter
from vacancies.choices import State, VacancyStatus
from vacancies.models import Vacancy, VacancyCount
from vacancies.querysets import CodePointOrder, VacancyQuerySet, own_brand
from vacancies.readmodel.totals import is_maintained
from vacancies.readmodel.vacancy_counts import by_block
from vacancies.search.rows import EXACT, scorer

ORDER = re.compile(rf"(?<=[?&]{ORDER_VAR}=)[-.0-9]+")
VIEW_VAR, EDIT_VAR = "view", "edit"  # parameters of the list that do not filter
# What cells show. The others, such as the texts, stay in the database.
LIST_FIELDS = (
    "title",
    "status",
    "audience",
    "is_hot",
    "publish_from",
    "publish_until",
    "location",
    "work_place",
    "reference",
    "updated_at",
    "brand__name",
    "head_recruiter__name",
    "requisition__filled_at",
)


class IdPaginator(Paginator):
    """Returns the ids of a page of a queryset of ids.

    `total` is the number of rows, if it is known. `blocks` are the sums of `by_block` for these
    rows in the order of ids: a page is read from its block on. Without them, pages of the second
    half are read from the end: the database walks over at most half of the rows.
    """

    def __init__(
        self, *args: Any, total: int | None = None, blocks: Any = (), **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        self.total, self.blocks = total, blocks

    @cached_property
    def count(self) -> int:
        rows: Any = self.object_list
        return rows.order_by().count() if self.total is None else self.total

    def page(self, number: int | str) -> Any:
        number = self.validate_number(number)
        start = (number - 1) * self.per_page
        return Page(self._ids(start, min(start + self.per_page, self.count)), number, self)

    def _ids(self, start: int, end: int) -> list[int]:
        rows: Any = self.object_list
        passed = 0
        for block, total in self.blocks:
            if start < passed + total:
                from_block = rows.filter(pk__lt=(block + 1) * VacancyCount.BLOCK)
                return list(from_block[start - passed : end - passed])
            passed += total
        if start <= self.count // 2:
            return list(rows[start:end])
        return list(rows.reverse()[self.count - end : self.count - start])[::-1]


class VacancyChangeList(IdChangeList):
    row_forms: Mapping[int, Any] = MappingProxyType({})  # by id, while rows are edited

    def get_filters_params(
        self, params: dict[str, list[str]] | None = None
    ) -> dict[str, list[str]]:
        found = super().get_filters_params(params)
        return {name: value for name, value in found.items() if name not in (VIEW_VAR, EDIT_VAR)}

    # --- order ---

    def get_queryset(
        self, request: UserRequest, exclude_parameters: list[str] | None = None
    ) -> VacancyQuerySet:
        if order := self.params.get(ORDER_VAR):
            self.params[ORDER_VAR] = order_as_numbers(order, self.list_display)
        rows: Any = super().get_queryset(request, exclude_parameters)
        # With a saved view alone, its filters would come back.
        self.clear_all_filters_qs = f"?{VIEW_VAR}=all"
        return rows

    def get_ordering_field(self, field_name: object) -> Any:
        """Order titles without regard to case and accents, in the order of the index."""
        return (
            CodePointOrder(F("title_folded"))
            if field_name == "title"
            else super().get_ordering_field(field_name)
        )

    # --- rows ---

    def _counted(self, request: UserRequest) -> tuple[int | None, list[tuple[int, int]]]:
        """Return the number of rows and the sums of `by_block`, if status and brand are the only
        filters.

        A state that depends on the time has no sums: the few that differ are subtracted from the
        others.
        """
        sent = {
            name: values[-1] for name, values in self.get_filters_params().items() if any(values)
        }
        state, brand = (
            sent.pop(StateFilter.parameter_name, ""),
            as_id(sent.pop(BrandFilter.parameter_name, "")),
        )
        if sent or self.query or state in (State.SCHEDULED, State.EXPIRED) or not is_maintained():
            return None, []
        counts = VacancyCount.objects.filter(own_brand(request.user))
        if brand is not None:
            counts = counts.filter(brand=brand)
        if state in VacancyStatus.values:
            counts = counts.filter(status=state)
        elif state != StateFilter.ALL:
            counts = counts.exclude(status=VacancyStatus.ARCHIVED)
        blocks = by_block(counts)
        total = sum(number for _block, number in blocks)
        if state != State.PUBLISHED:
            return total, blocks
        rows: Any = self.root_queryset.filter(**({} if brand is None else {"brand": brand}))
        now = timezone.now()
        others = (
            rows.in_state(other, at=now).order_by().values("pk")
            for other in (State.SCHEDULED, State.EXPIRED)
        )
        return max(0, total - sum(each.count() for each in others)), []

    def pages(self, request: UserRequest) -> Paginator:
        total, blocks = self._counted(request)
        if self.params.get(ORDER_VAR):
            blocks = []
            if total is None:
                total = self.queryset.order_by().values("pk").count()
            if total > SORTED:
                self.queryset = self.queryset.order_by("-pk")
                del self.params[ORDER_VAR]
                text = _("Too many vacancies to sort. Filter the list to at most %(count)d first.")
                messages.warning(request, text % {"count": SORTED})
        pks = self.queryset.values_list("pk", flat=True)
        return IdPaginator(pks, self.list_per_page, total=total, blocks=blocks)

    def scored(self, rows: QuerySet) -> Iterator[tuple[int, int]]:
        score, typed, number = scorer(self.query), self.query.strip().casefold(), as_id(self.query)
        for pk, title, reference in rows.values_list("pk", "title_folded", "reference"):
            is_exact = pk == number or (reference and reference.casefold() == typed)
            yield EXACT if is_exact else score(title), pk

    def rows_of(self, request: UserRequest, pks: list[int]) -> list[Any]:
        rows = self.model_admin.rows_of_page(Vacancy.objects.filter(pk__in=pks))
        self.people = {row.pk: self.model_admin.people_url(request, row) for row in rows}
        found = {row.pk: row for row in rows}
        return [found[pk] for pk in pks if pk in found]

    @cached_property
    def headers(self) -> list[dict[str, Any]]:
        """The headings of unfold, whose links have the names of columns."""
        headers = super().headers
        for header in headers:
            for name in ("url_primary", "url_remove", "url_toggle"):
                if name in header:
                    header[name] = ORDER.sub(
                        lambda found: order_as_names(found[0], self.list_display), header[name]
                    )
        return headers

    def rows(self) -> Iterator[Context]:
        """Yield the rows for the template.
        Unfold takes a template and 700 bytes of classes per cell.
        """
        page = self.model_admin
        base = reverse(f"admin:{self.opts.app_label}_{self.opts.model_name}_changelist")
        suffix = f"?{self.preserved_filters}" if self.preserved_filters else ""
        names = [name for name in self.list_display if name not in ("action_checkbox", "title")]
        labels = {name: f"{page.column_label(name)}:" for name in names}
        labels["last_day"] = pgettext("before a closing date", "until")
        selects = _("Select %(name)s")
        for row in self.result_list:
            cells = []
            for name in names:
                content = str(row.brand or "-") if name == "brand" else getattr(page, name)(row)
                cells.append(Cell(name, labels[name], content))
            yield {
                "vacancy": row,
                "selects": selects % {"name": row.title},
                "url": (not self.is_popup and self.people.get(row.pk))
                or f"{base}{row.pk}/change/{suffix}",
                "cells": cells,
                "form": self.row_forms.get(row.pk),
            }


def order_as_numbers(order: str, columns: Sequence[str]) -> str:
    """Return an order such as "-last_day.2" with the numbers of the columns: "-7.2", without
    unknown names.

    Saved views use names, because numbers change with the columns."""
    numbers = {name: str(number) for number, name in enumerate(columns)}
    return _renamed(order, lambda name: numbers.get(name, name if name.isdecimal() else ""))


def order_as_names(order: str, columns: Sequence[str]) -> str:
    """The inverse of `order_as_numbers`."""
    names = {str(number): name for number, name in enumerate(columns)} | {
        name: name for name in columns
    }
    return _renamed(order, lambda name: names.get(name, ""))


def _renamed(order: str, rename: Callable[[str], str]) -> str:
    """Return `order` with other names of its columns, without those that have none."""
    parts = (
        ("-" * part.startswith("-"), rename(part.removeprefix("-"))) for part in order.split(".")
    )
    return ".".join(f"{sign}{name}" for sign, name in parts if name)
