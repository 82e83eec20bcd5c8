"""A changelist that finds the ids of a page first, then reads what is shown of these rows only."""

from collections.abc import Iterable
from dataclasses import dataclass

from django.contrib.admin.options import IncorrectLookupParameters
from django.contrib.admin.views.main import ORDER_VAR
from django.core.paginator import InvalidPage, Paginator
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.functional import cached_property
from django.utils.html import format_html
from unfold.templatetags import unfold_list
from unfold.views import ChangeList

from jobsite.types import JsonObject

SORTED = 50_000  # more rows are not sorted


@dataclass
class Cell:
    name: str
    short_label: str  # shown on phones
    content: object

    def html(self) -> str:
        """Return the cell without a template: a page has hundreds."""
        name = f"{self.name} is-empty" if self.content == "-" else self.name
        return format_html(
            '<td class="field-{}"><span class="cell-label">{}</span> {}</td>',
            name,
            self.short_label,
            self.content,
        )


class IdChangeList(ChangeList):
    """The hits of a search are listed best first, unless a column is chosen
    or they are too many.
    """

    queryset: QuerySet
    params: JsonObject
    result_list: list

    def scored(self, rows: QuerySet) -> Iterable[tuple]:
        """Return tuples that order the `rows`, the best last:
        how they fit the search, ..., their ids.
        """
        raise NotImplementedError

    def rows_of(self, request: HttpRequest, pks: list[int]) -> list:
        """Return the rows of a page with what the list shows."""
        raise NotImplementedError

    def hits(self) -> list[int] | None:
        """Return the ids that a search finds, to search once for the number and for the page; None
        if there are too many.
        """
        if self.params.get(ORDER_VAR):
            pks = list(self.queryset.values_list("pk", flat=True)[: SORTED + 1])
        else:
            rows = self.queryset.order_by()[: SORTED + 1]
            pks = [each[-1] for each in sorted(self.scored(rows), reverse=True)]
        return pks if len(pks) <= SORTED else None

    @cached_property
    def headers(self) -> list[JsonObject]:
        return list(unfold_list.result_headers(self))

    @property
    def num_sorted_fields(self) -> int:
        return sum(1 for header in self.headers if header["sortable"] and header["sorted"])

    def get_ordering_field_columns(self) -> dict[int, str]:
        """Mark no heading as the order if the best hits are first."""
        if self.query and not self.params.get(ORDER_VAR):
            return {}
        return super().get_ordering_field_columns()

    def pages(self, request: HttpRequest) -> Paginator:
        """Return the pages of ids."""
        return Paginator(self.queryset.values_list("pk", flat=True), self.list_per_page)

    def get_results(self, request: HttpRequest) -> None:
        hits = self.hits() if self.query else None
        self.paginator = (
            self.pages(request) if hits is None else Paginator(hits, self.list_per_page)
        )
        self.result_count, self.full_result_count = self.paginator.count, None
        self.can_show_all = self.result_count <= self.list_max_show_all
        self.multi_page = self.result_count > self.list_per_page
        self.show_full_result_count, self.show_admin_actions = False, True
        if (self.show_all and self.can_show_all) or not self.multi_page:
            pks = list(self.paginator.object_list)
        else:
            try:
                pks = list(self.paginator.page(self.page_num).object_list)
            except InvalidPage:
                raise IncorrectLookupParameters from None
        self.result_list = self.rows_of(request, pks)
