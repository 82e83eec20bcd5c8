"""Filters of the vacancy lists of v1 (docs/decisions.md #16 to #20)."""

import re
from datetime import datetime
from functools import cached_property
from typing import Any

import django_filters
from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import RegexValidator
from pyroaring import BitMap64

from jobsite.api.filters import FilterSet
from jobsite.api.parameters import invalid_value
from jobsite.api.problems import InvalidParameters
from jobsite.db.folding import fold
from jobsite.text.search import WORDS_MAX, search_words
from vacancies.choices import Fact, Keyword
from vacancies.models import Brand, FilterOption, Vacancy
from vacancies.querysets import VacancyList, VacancyQuerySet
from vacancies.search.index import Index
from vacancies.search.query import Search, union
from vacancies.search.words import Words, read_query

RELEVANCE = "relevance"
SORT_KEYS = (RELEVANCE, "published_at", "-published_at", "title", "-title", "closes_at", "-closes_at")
SEARCH, NEAR = "filter[search]", "filter[near]"
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


OPTION_NAMES = frozenset(map(filter_name, [*Keyword, *Fact]))  # the parameters that take lists of options


def validate_search(text: str) -> None:
    if not search_words(fold(text)):
        raise ValidationError("No words.")
    if len(read_query(text).all) > WORDS_MAX:
        raise ValidationError("Too many words.")


class OptionFilter(django_filters.CharFilter):
    """Vacancies with any of the option values in a comma-separated list.

    An unknown value matches nothing and is not an error: links outlive the last vacancy of a region, and an
    unknown value must look like a hidden one.
    """

    def __init__(self, keyword: Keyword | Fact) -> None:
        self.keyword = keyword
        super().__init__(
            strip=False,
            validators=[RegexValidator(r"^[-\w]{1,200}(,[-\w]{1,200}){0,99}\Z", flags=re.ASCII)],
            help_text="1 to 100 option values, as /v1/filters lists them, separated by commas",
        )

    def filter(self, qs: VacancyQuerySet, value: str) -> VacancyQuerySet:
        if not value:
            return qs
        if isinstance(self.keyword, Fact):
            return qs.with_fact(self.keyword, value.split(","))
        return qs.with_option(self.keyword, value.split(","))

    def bitmap(self, index: Index, value: str) -> BitMap64:
        """Return the published vacancies that `filter` finds."""
        values = value.split(",")
        options = FilterOption.objects.order_by().values_list("pk", flat=True)
        match self.keyword:
            case Fact.BRAND:
                brands = Brand.objects.filter(slug__in=values if settings.MULTI_BRANDING else ())
                return index.union(f"b{pk}" for pk in brands.values_list("pk", flat=True))
            case Fact.LANGUAGE:
                return union(map(index.language, values))
            case Fact.COUNTRY | Fact.WORK_PLACE:
                letter = "c" if self.keyword is Fact.COUNTRY else "w"
                return index.union(letter + each for each in values)
            case Fact.EMPLOYMENT_TYPES:
                return index.union(f"o{pk}" for pk in options.filter(employment_type__in=values))
        chosen = options.filter(filter__keyword=self.keyword, value__in=values)
        return index.union(f"o{pk}" for pk in chosen)


class SearchFilter(django_filters.CharFilter):
    """Vacancies with all of the words (search/query.py): those that `FacetFilterSet.found` has."""

    def __init__(self) -> None:
        super().__init__(
            strip=False,
            max_length=200,
            validators=[validate_search],
            help_text=f"1 to {WORDS_MAX} words of 200 characters in all",
        )

    def filter(self, qs: VacancyQuerySet, value: str) -> VacancyQuerySet:
        return qs.with_ids(self.parent.found) if value else qs


class NearFilter(django_filters.CharFilter):
    """Vacancies with a place in a circle."""

    def __init__(self) -> None:
        super().__init__(
            strip=False,
            validators=[RegexValidator(NEAR_PATTERN.removesuffix("$") + r"\Z", flags=re.ASCII)],
            help_text="latitude (-90 to 90), longitude (-180 to 180) and kilometres (1 to 500), as plain "
            "decimal numbers separated by commas, such as 51.22,4.4,25",
        )

    def filter(self, qs: VacancyQuerySet, value: str) -> VacancyQuerySet:
        return qs.near(*map(float, value.split(","))) if value else qs

    def bitmap(self, index: Index, value: str) -> BitMap64:
        """Return the vacancies that `filter` finds."""
        found = self.filter(Vacancy.objects.order_by(), value)
        return BitMap64(found.values_list("pk", flat=True))


class SortFilter(django_filters.ChoiceFilter):
    """The order of the list."""

    def __init__(self) -> None:
        super().__init__(choices=[(key, key) for key in SORT_KEYS], help_text=list(SORT_KEYS))

    def filter(self, qs: VacancyQuerySet, value: str) -> VacancyQuerySet:
        return qs.sorted_by(value) if value and value != RELEVANCE else qs


class FacetFilterSet(FilterSet):
    """`filter[...]`: OR within a filter, AND across filters."""

    # The names have brackets, so they cannot be written as attributes.
    vars().update(
        {filter_name(keyword): OptionFilter(keyword) for keyword in [*Keyword, *Fact]}
        | {SEARCH: SearchFilter(), NEAR: NearFilter()}
    )

    found: Any = ()  # the ids of the vacancies that the search finds

    @cached_property
    def words(self) -> Words | None:
        """The search, or None."""
        text = self.form.cleaned_data[SEARCH]
        return read_query(text) if text else None

    def search(self, index: Index, vacancy_list: VacancyList, *, at: datetime) -> Search:
        """Return a search among the vacancies of the list that match the filters at the time `at`."""
        live = within = index.live(vacancy_list, at)
        for name, value in self.form.cleaned_data.items():
            if value and name not in (SEARCH, "sort"):
                within = within & self.filters[name].bitmap(index, value)
        return Search(index, live, within)

    def without(self, name: str) -> VacancyQuerySet:
        """Return the vacancies under every filter of the query except `name`."""
        queryset = self.queryset
        for other, value in self.form.cleaned_data.items():
            if other != name:
                queryset = self.filters[other].filter(queryset, value)
        return queryset


class VacancyFilterSet(FacetFilterSet):
    sort = SortFilter()

    def check(self) -> None:
        super().check()
        if self.form.cleaned_data["sort"] == RELEVANCE and not self.words:
            allowed = f"{', '.join(SORT_KEYS[1:])}, or {RELEVANCE} together with {SEARCH}"
            raise InvalidParameters([invalid_value("sort", RELEVANCE, allowed)])

    def ranked(self, search: Search) -> Any:
        """Return the ids that `search` finds, in the order that the query wants."""
        words = self.words or Words([], [])
        sort = self.form.cleaned_data["sort"]
        if sort in ("", RELEVANCE):
            return search.ranked(words)
        found = union(search.hits(words).values())
        if not sort.endswith("published_at"):
            return Vacancy.objects.with_ids(found).sorted_by(sort).values_list("pk", flat=True)
        newest = search.index.newest_first(found)
        return newest[::-1] if sort == "published_at" else newest
