"""What every page of the workplace shares."""

from typing import Any

from django.db import models
from django.db.models.functions import Coalesce
from django.http import HttpRequest
from unfold.admin import ModelAdmin


class WorkplaceAdmin(ModelAdmin):
    """A page of the workplace, whose list is titled "Brands" rather than "Select brand to change"."""

    warn_unsaved_form = True
    list_per_page = 50

    def lookup_allowed(self, lookup: str, value: Any, request: HttpRequest) -> bool:
        """The filters on the page, and what their links ask for; a regex from an address bar could keep
        the server busy for minutes."""
        name, _, rest = lookup.partition("__")
        filters = {getattr(f, "parameter_name", f) for f in self.list_filter}
        return name in filters and rest in ("", "exact", "isnull", "id__exact")

    def get_search_results(self, request: HttpRequest, queryset: Any, search_term: str) -> Any:
        return super().get_search_results(request, queryset, search_term.replace("\0", ""))

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        title = str(self.opts.verbose_name_plural).capitalize()
        return super().changelist_view(request, {"title": title} | (extra_context or {}))


def counted(rows: models.QuerySet, by: str) -> Coalesce:
    """How many of `rows` point here through `by`; a join would cost the order and multiply with others."""
    groups = rows.filter(**{by: models.OuterRef("pk")}).order_by().values(by)
    return Coalesce(models.Subquery(groups.annotate(count=models.Count("pk")).values("count")), 0)
