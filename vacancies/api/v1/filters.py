"""Filters with the numbers of their vacancies, in version v1 (interface 2.10)."""

from collections.abc import Mapping
from typing import NamedTuple

from django.db.models import Prefetch
from django.utils import translation
from drf_spectacular.utils import extend_schema_view
from pyroaring import BitMap64
from rest_framework.request import Request
from rest_framework.response import Response

from jobsite.api.pagination import Unpaged
from jobsite.api.viewsets import ReadOnlyViewSet
from jobsite.db.folding import fold
from jobsite.languages import site_language, supported
from jobsite.serving.revision import snapshot
from jobsite.types import JsonObject
from vacancies.api import process_cache
from vacancies.api.v1.operations import FILTERS
from vacancies.api.v1.serializers import FilterSerializer, VacancySerializer
from vacancies.choices import Fact
from vacancies.filtersets import (
    OPTION_NAMES,
    FacetFilterSet,
    fact_terms,
    filter_name,
)
from vacancies.models import Brand, Filter, FilterOption, Vacancy
from vacancies.querysets import VacancyList
from vacancies.search.index import Index
from vacancies.search.query import union


class NamedFilter(NamedTuple):
    """A filter, and its options with the terms of the vacancies that have them."""

    id: int
    label: str
    keyword: str
    options: list[tuple[str, str, list[str]]]  # value, label, terms

    def counted(self, bitmaps: Mapping[str, BitMap64], scope: BitMap64) -> JsonObject:
        """Return the filter with the options that vacancies of its scope have."""
        options = []
        for value, label, terms in self.options:
            found = [bitmap for term in terms if (bitmap := bitmaps[term])]
            hits = found[0] if len(found) == 1 else union(found)
            if hits and (count := hits.intersection_cardinality(scope)):
                options.append({"value": value, "label": label, "count": count})
        named = {"id": self.id, "label": self.label, "keyword": self.keyword}
        return {**named, "options": options}


def read_filters(language: str) -> list[NamedFilter]:
    """Return the active filters, and those by facts, with all their options, in `language`."""
    options = Prefetch("options", FilterOption.objects.order_by("position", "label", "pk"))
    filters = [
        NamedFilter(
            each.pk,
            each.translations.get(language) or each.label,
            each.keyword,
            [
                (
                    option.value,
                    option.translations.get(language) or option.label,
                    [f"o{option.pk}"],
                )
                for option in each.options.all()
            ],
        )
        for each in Filter.objects.active().prefetch_related(options)
    ]
    brands = Brand.objects.exclude(slug="").values_list("slug", "name")
    brands_by_name = dict(sorted(brands, key=lambda pair: fold(pair[1])))
    with translation.override(supported(language)):
        for fact in Fact:
            names = brands_by_name if fact is Fact.BRAND else fact.names()
            terms = fact_terms(fact, names)
            of_fact = [(value, label, terms[value]) for value, label in names.items()]
            filters.append(NamedFilter(fact.filter_id, str(fact.label), fact.value, of_fact))
    return filters


def count(
    filters: list[NamedFilter], index: Index, scopes: Mapping[str, BitMap64]
) -> list[JsonObject]:
    """Return the filters in use, each with the options that vacancies of its scope have."""
    terms = [term for each in filters for *_, terms in each.options for term in terms]
    bitmaps = dict(zip(terms, index.load(terms), strict=True))
    counted = (each.counted(bitmaps, scopes[filter_name(each.keyword)]) for each in filters)
    return [each for each in counted if each["options"]]


@extend_schema_view(**FILTERS)
class FilterViewSet(ReadOnlyViewSet):
    """Active filters, with the number of public vacancies of each option."""

    serializer_class = FilterSerializer
    pagination_class = Unpaged
    query_names = tuple(FacetFilterSet.base_filters)
    item_keys = VacancySerializer.Meta.fields
    has_texts = True
    list_names = OPTION_NAMES

    def list(self, request: Request, *args: object, **kwargs: object) -> Response:
        cache = process_cache.process
        with snapshot() as state:
            if state:
                self.until, self.revision = cache.period_at(self.now, state).until, state.number
                key = "filters", site_language(), self.language
                filters = cache.shared(state.shared).get(key, lambda: read_filters(self.language))
            else:
                self.until = Vacancy.objects.next_change(after=self.now)
                filters = read_filters(self.language)
            facets = FacetFilterSet(
                self.query, queryset=Vacancy.objects.none(), request=self.request
            )
            facets.check()
            index = cache.search.at(state)
            scopes = facets.scopes(index, VacancyList.EXTERNAL, at=self.now)
            return Response({"data": count(filters, index, scopes)})
