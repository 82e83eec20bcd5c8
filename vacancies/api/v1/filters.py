"""Filters with the numbers of their vacancies, in version v1 (interface 2.10)."""

from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.db.models import Prefetch
from django.utils import translation
from drf_spectacular.utils import extend_schema_view
from pyroaring import BitMap64
from rest_framework.request import Request
from rest_framework.response import Response

from jobsite.api.pagination import Unpaged
from jobsite.api.viewsets import ReadOnlyViewSet
from jobsite.db.folding import fold
from jobsite.languages import site_language
from jobsite.serving.revision import snapshot
from jobsite.types import JsonObject
from vacancies.api import process_cache
from vacancies.api.v1.operations import FILTERS
from vacancies.api.v1.serializers import FilterSerializer, VacancySerializer
from vacancies.choices import Fact
from vacancies.filtersets import (
    OPTION_NAMES,
    FacetFilterSet,
    fact_bitmaps,
    filter_name,
)
from vacancies.models import Brand, Filter, FilterOption, Vacancy
from vacancies.querysets import VacancyList
from vacancies.search.index import Index


def count_options(index: Index, scopes: Mapping[str, BitMap64]) -> list[Any]:
    """Return the active filters, each with the options that vacancies of its scope have."""
    filters: list[Any] = list(
        Filter.objects.active().prefetch_related(
            Prefetch("options", FilterOption.objects.order_by("position", "label", "pk"))
        )
    )
    index.load(f"o{option.pk}" for each in filters for option in each.options.all())  # one query
    for each in filters:
        options: list[Any] = list(each.options.all())
        for option in options:
            bitmap = index.union([f"o{option.pk}"])
            option.count = bitmap.intersection_cardinality(scopes[filter_name(each.keyword)])
        each.counted_options = [option for option in options if option.count]
    return [each for each in filters if each.counted_options]


def count_facts(index: Index, scopes: Mapping[str, BitMap64]) -> list[JsonObject]:
    """Return the filters by facts, with the options that vacancies of their scope have."""
    brands = (
        Brand.objects.exclude(slug="").values_list("slug", "name")
        if settings.MULTI_BRANDING
        else ()
    )
    brands_by_name = dict(sorted(brands, key=lambda pair: fold(pair[1])))
    with translation.override(site_language()):
        filters = []
        for fact in Fact:
            names = brands_by_name if fact is Fact.BRAND else fact.names()
            scope, found = scopes[filter_name(fact)], fact_bitmaps(fact, index, names)
            counts = {
                value: bitmap.intersection_cardinality(scope) for value, bitmap in found.items()
            }
            options = [
                {"value": value, "label": label, "count": counts[value]}
                for value, label in names.items()
                if counts[value]
            ]
            named = {"id": fact.filter_id, "label": str(fact.label), "keyword": fact.value}
            filters.append({**named, "counted_options": options})
    return [each for each in filters if each["counted_options"]]


@extend_schema_view(**FILTERS)
class FilterViewSet(ReadOnlyViewSet):
    """Active filters, with the number of public vacancies of each option."""

    serializer_class = FilterSerializer
    pagination_class = Unpaged
    query_names = tuple(FacetFilterSet.base_filters)
    item_keys = VacancySerializer.Meta.fields
    list_names = OPTION_NAMES

    def list(self, request: Request, *args: object, **kwargs: object) -> Response:
        with snapshot() as state:
            self.until = Vacancy.objects.next_change(after=self.now)
            self.revision = state.number if state else None
            facets = FacetFilterSet(
                self.query, queryset=Vacancy.objects.none(), request=self.request
            )
            facets.check()
            index = process_cache.process.search.at(state)
            scopes = facets.scopes(index, VacancyList.EXTERNAL, at=self.now)
            self.filters = [*count_options(index, scopes), *count_facts(index, scopes)]
            return super().list(request)

    def get_queryset(self) -> Any:
        return self.filters
