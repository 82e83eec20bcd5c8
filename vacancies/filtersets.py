"""Filters of the vacancy lists of v1 (docs/decisions.md #16 to #20)."""

import re

import django_filters
from django.core.exceptions import ValidationError
from django.core.validators import RegexValidator

from jobsite.api.filters import FilterSet
from jobsite.db.folding import fold
from jobsite.text.search import WORDS_MAX, search_words
from vacancies.choices import Fact, Keyword
from vacancies.querysets import VacancyQuerySet

SORT_KEYS = ("published_at", "-published_at", "title", "-title", "closes_at", "-closes_at")
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


class SearchFilter(django_filters.CharFilter):
    """Vacancies with all of the words, in any order, in titles and visible text."""

    def __init__(self) -> None:
        super().__init__(
            strip=False,
            max_length=200,
            validators=[validate_search],
            help_text=f"1 to {WORDS_MAX} words of 200 characters in all",
        )

    def filter(self, qs: VacancyQuerySet, value: str) -> VacancyQuerySet:
        return qs.search(value) if value else qs


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


class SortFilter(django_filters.ChoiceFilter):
    """The order of the list."""

    def __init__(self) -> None:
        super().__init__(choices=[(key, key) for key in SORT_KEYS], help_text=list(SORT_KEYS))

    def filter(self, qs: VacancyQuerySet, value: str) -> VacancyQuerySet:
        return qs.sorted_by(value) if value else qs


class FacetFilterSet(FilterSet):
    """`filter[...]`: OR within a filter, AND across filters."""

    # The names have brackets, so they cannot be written as attributes.
    vars().update(
        {filter_name(keyword): OptionFilter(keyword) for keyword in [*Keyword, *Fact]}
        | {SEARCH: SearchFilter(), NEAR: NearFilter()}
    )

    def without(self, name: str) -> VacancyQuerySet:
        """Return the vacancies under every filter of the query except `name`."""
        queryset = self.queryset
        for other, value in self.form.cleaned_data.items():
            if other != name:
                queryset = self.filters[other].filter(queryset, value)
        return queryset


class VacancyFilterSet(FacetFilterSet):
    sort = SortFilter()
