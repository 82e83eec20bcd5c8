"""Filters of the vacancy lists of v1 (docs/decisions.md #16 to #20)."""

import re
from collections.abc import Collection, Iterable
from datetime import datetime
from functools import cached_property

import django_filters
from django.core.exceptions import ValidationError
from django.core.validators import RegexValidator
from pyroaring import BitMap64

from jobsite.api.filters import FilterSet
from jobsite.db.folding import fold
from jobsite.text.search import WORDS_MAX, search_words
from vacancies.choices import Fact, Keyword
from vacancies.models import Brand, FilterOption
from vacancies.querysets import VacancyList, pks_near
from vacancies.search.index import Index
from vacancies.search.query import Search, intersection, union
from vacancies.search.words import Words, read_query

RELEVANCE = "relevance"
SORT_KEYS = (
    RELEVANCE,
    "published_at",
    "-published_at",
    "title",
    "-title",
    "closes_at",
    "-closes_at",
)
SEARCH, NEAR, SORT = "filter[search]", "filter[near]", "sort"
_FRACTION = r"(\.[0-9]{1,15})?"
_ZEROS = r"(\.0{1,15})?"
NEAR_PATTERN = (
    f"^-?(90{_ZEROS}|[1-8]?[0-9]{_FRACTION}),"
    f"-?(180{_ZEROS}|([1-9]?[0-9]|1[0-7][0-9]){_FRACTION}),"
    f"(500{_ZEROS}|([1-9][0-9]?|[1-4][0-9][0-9]){_FRACTION})$"
)


def filter_name(keyword: str) -> str:
    """Return the name of the parameter of a filter, such as "filter[regions]"."""
    return f"filter[{keyword}]"


# The parameters that take lists of options.
OPTION_NAMES = frozenset(map(filter_name, [*Keyword, *Fact]))


def validate_search(text: str) -> None:
    if not search_words(fold(text)):
        raise ValidationError("No words.")
    if len(read_query(text).all) > WORDS_MAX:
        raise ValidationError("Too many words.")


class OptionValueFilter(django_filters.CharFilter):
    """Vacancies with any of the option values in a comma-separated list.

    An unknown value matches nothing and is not an error: links outlive the last vacancy of a
    region, and an unknown value must look like a hidden one.
    """

    def __init__(self, keyword: Keyword | Fact) -> None:
        self.keyword = keyword
        super().__init__(
            strip=False,
            validators=[RegexValidator(r"^[-\w]{1,200}(,[-\w]{1,200}){0,99}\Z", flags=re.ASCII)],
            help_text="1 to 100 option values, as /v1/filters lists them, separated by commas",
        )

    def bitmap(self, index: Index, value: str) -> BitMap64:
        """Return the published vacancies with one of the values."""
        values = value.split(",")
        if isinstance(self.keyword, Fact):
            terms = fact_terms(self.keyword, values)
            return index.union(term for each in terms.values() for term in each)
        options = FilterOption.objects.filter(
            filter__keyword=self.keyword, value__in=values
        ).order_by()
        return index.union(f"o{pk}" for pk in options.values_list("pk", flat=True))


def fact_terms(fact: Fact, values: Collection[str]) -> dict[str, list[str]]:
    """Return the terms of the vacancies that have each of the values of the fact."""
    terms: dict[str, list[str]] = {value: [] for value in values}
    match fact:
        case Fact.BRAND:
            brands = Brand.objects.filter(slug__in=values)
            for pk, slug in brands.values_list("pk", "slug"):
                terms[slug].append(f"b{pk}")
        case Fact.EMPLOYMENT_TYPES:
            options = FilterOption.objects.filter(employment_type__in=values).order_by()
            for pk, kind in options.values_list("pk", "employment_type"):
                terms[kind].append(f"o{pk}")
        case Fact.LANGUAGE:
            terms = {value: Index.language_terms(value) for value in values}
        case Fact.COUNTRY:
            terms = {value: ["c" + value] for value in values}
        case Fact.WORK_PLACE:
            terms = {value: ["w" + value] for value in values}
    return terms


class SearchFilter(django_filters.CharFilter):
    """Vacancies with all of the words (search/query.py)."""

    def __init__(self) -> None:
        super().__init__(
            strip=False,
            max_length=200,
            validators=[validate_search],
            help_text=f"1 to {WORDS_MAX} words of 200 characters in all",
        )


class NearFilter(django_filters.CharFilter):
    """Vacancies with a place in a circle."""

    def __init__(self) -> None:
        super().__init__(
            strip=False,
            validators=[RegexValidator(NEAR_PATTERN.removesuffix("$") + r"\Z", flags=re.ASCII)],
            help_text="latitude (-90 to 90), longitude (-180 to 180) and kilometres (1 to 500), "
            "as plain decimal numbers separated by commas, such as 51.22,4.4,25",
        )

    def bitmap(self, index: Index, value: str) -> BitMap64:
        """Return the vacancies with a place in the circle. A page asks twice:
        for list and filters.
        """
        known, found = index.near
        if known != value:
            latitude, longitude, km = map(float, value.split(","))
            found = BitMap64(pks_near(latitude, longitude, km))
            index.near = value, found
        return found


class SortFilter(django_filters.ChoiceFilter):
    """The order of the list."""

    def __init__(self) -> None:
        super().__init__(choices=[(key, key) for key in SORT_KEYS], help_text=list(SORT_KEYS))


class FacetFilterSet(FilterSet):
    """`filter[...]`: OR within a filter, AND across filters."""

    # The names have brackets, so they cannot be written as attributes.
    vars().update(
        {filter_name(keyword): OptionValueFilter(keyword) for keyword in [*Keyword, *Fact]}
        | {SEARCH: SearchFilter(), NEAR: NearFilter()}
    )

    @cached_property
    def words(self) -> Words | None:
        """The search, or None."""
        text = self.form.cleaned_data[SEARCH]
        return read_query(text) if text else None

    def bitmaps(self, index: Index) -> dict[str, BitMap64]:
        """Return the published vacancies that match each filter of the query, except the search."""
        values = {name: value for name, value in self.form.cleaned_data.items() if value}
        return {
            name: self.filters[name].bitmap(index, value)
            for name, value in values.items()
            if name not in (SEARCH, SORT)
        }

    def search(self, index: Index, vacancy_list: VacancyList, *, at: datetime) -> Search:
        """Return a search among the vacancies of the list that match the filters
        at the time `at`.
        """
        live = index.live(vacancy_list, at)
        return Search(index, live, intersection(live, *self.bitmaps(index).values()))

    def scopes(
        self, index: Index, vacancy_list: VacancyList, *, at: datetime
    ) -> dict[str, BitMap64]:
        """Return, for each filter, the vacancies of the list under all the others."""
        live = index.live(vacancy_list, at)
        if self.words:
            live = union(Search(index, live, live).hits(self.words).values())
        chosen = self.bitmaps(index)
        return {
            name: intersection(live, *(found for other, found in chosen.items() if other != name))
            for name in OPTION_NAMES
        }


class VacancyFilterSet(FacetFilterSet):
    sort = SortFilter()

    def ids(self, search: Search) -> Iterable[int]:
        """Return the ids of what matches, in the order that the query wants."""
        sort = self.form.cleaned_data[SORT] or RELEVANCE
        if self.words and sort == RELEVANCE:
            return search.ranked(self.words)
        found = union(search.hits(self.words).values()) if self.words else search.within
        return search.index.ordered(found, "-published_at" if sort == RELEVANCE else sort)
