"""The query of an alert: canonical text, in words, and which new vacancies match it."""

from collections.abc import Iterable
from datetime import datetime
from functools import cached_property
from urllib.parse import parse_qsl

from django.http import QueryDict
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from pyroaring import BitMap64

from applications.models.alert import QUERY_MAX
from jobsite.api import parameters
from jobsite.api.pagination import PageNumberPagination
from jobsite.api.problems import InvalidParameters, ParameterError
from jobsite.languages import text_languages
from jobsite.serving.revision import snapshot
from vacancies.api import process_cache
from vacancies.api.v1.serializers import VacancySerializer
from vacancies.choices import Fact, Keyword
from vacancies.facts.cities import PLACE, name_at
from vacancies.filtersets import NEAR, OPTION_NAMES, SEARCH, SORT, FacetFilterSet, filter_name
from vacancies.models import Brand, Filter, FilterOption, Vacancy
from vacancies.querysets import VacancyList
from vacancies.search.index import Index
from vacancies.search.query import Search, intersection, union

BRAND = filter_name(Fact.BRAND)
NAMES = sorted(FacetFilterSet.base_filters)
_ALLOWED = (*NAMES, PLACE, SORT, "fields", *PageNumberPagination.names)


def read(query: QueryDict) -> str:
    """Return the parameters of a list that `query` has, in canonical form, without paging and
    order. Raises InvalidParameters, as the list does; a form sends empty fields, which are left
    out.
    """
    received = parameters.read(query, _ALLOWED, OPTION_NAMES, VacancySerializer.Meta.fields)
    values = {name: received[name] for name in NAMES if received.get(name, "").strip()}
    _filterset(values)
    for name, value in values.items():
        values[name] = (
            ",".join(sorted(set(value.split(","))))
            if name in OPTION_NAMES
            else " ".join(value.split())
        )
    if NEAR in values and (name := received.get(PLACE, "")) and _center(values[NEAR], name) == name:
        values[PLACE] = name
    text = parameters.encode({**values})
    if len(text) > QUERY_MAX:
        allowed = f"a query of at most {QUERY_MAX} bytes"
        error = ParameterError(
            "filter", f"The query is too long: {len(text)} bytes.", str(len(text)), allowed
        )
        raise InvalidParameters([error])
    return text


def brand_of(query: str) -> tuple[str, Brand | None]:
    """Return `query` without its brand, and the brand, if it asks for one:
    its address may change.
    """
    values = values_of(query)
    brand = Brand.of_slug(values.get(BRAND, ""))
    if brand is None:
        return query, None
    del values[BRAND]
    return parameters.encode({**values}), brand


def values_of(query: str) -> dict[str, str]:
    return dict(parse_qsl(query))


def _filterset(values: dict[str, str]) -> FacetFilterSet:
    """Return the filters of the lists with `values`. Raises InvalidParameters."""
    found = FacetFilterSet(values, queryset=Vacancy.objects.none())
    found.check()
    return found


# --- In words -------------------------------------------------------------------------------------


def in_words(query: str, brand: Brand | None) -> list[tuple[str, str]]:
    """Return what `query` asks for, as labels and values in the active language."""
    values, found = values_of(query), []
    if SEARCH in values:
        found.append((_("Search words"), values[SEARCH]))
    if brand:
        found.append((str(Fact.BRAND.label), brand.name))
    language = get_language() if get_language() in text_languages() else ""
    filters = Filter.objects.values_list("keyword", "label", "translations")
    labels = {keyword: words.get(language) or label for keyword, label, words in filters}
    for keyword in (*Keyword, *Fact):
        if value := values.get(filter_name(keyword)):
            names = _names(keyword, wanted := value.split(","), language)
            label = (
                str(keyword.label)
                if isinstance(keyword, Fact)
                else labels.get(keyword, keyword.label)
            )
            found.append((label, ", ".join(str(names.get(each, each)) for each in wanted)))
    if NEAR in values:
        km = values[NEAR].rpartition(",")[2]
        place = _center(values[NEAR], values.get(PLACE, ""))
        text = _("at most %(km)s km from %(place)s") % {"km": km, "place": place}
        found.append((_("Distance"), text))
    return found


def _center(near: str, wanted: str) -> str:
    """Return the name of the center of a circle: `wanted`, if it is one of its names."""
    latitude, longitude, _km = near.split(",")
    return name_at(latitude, longitude, wanted)


def _names(keyword: Keyword | Fact, values: list[str], language: str | None) -> dict[str, object]:
    """Return the names of those of `values` that are known."""
    if keyword == Fact.BRAND:
        return dict(Brand.objects.filter(slug__in=values).values_list("slug", "name"))
    if isinstance(keyword, Fact):
        return {**keyword.names()}
    options = FilterOption.objects.filter(filter__keyword=keyword, value__in=values)
    found = options.values_list("value", "label", "translations")
    return {value: words.get(language) or label for value, label, words in found}


# --- What matches ---------------------------------------------------------------------------------


class News:
    """The vacancies that everybody may see at `at` and that began after `since`, newest first."""

    def __init__(self, index: Index, *, since: datetime, at: datetime) -> None:
        self.index, self.at = index, at
        new = Vacancy.objects.published(at=at).external().filter(publish_from__gt=since)
        # who applies to these has no vacancy in mind
        new = new.exclude(requisition__is_for_open_applications=True)
        starts = new.newest_first().values_list("pk", "publish_from")
        self.starts: dict[int, datetime] = dict(starts)  # type: ignore[arg-type] # none is null
        self._places = {pk: place for place, pk in enumerate(self.starts)}

    @cached_property
    def _live(self) -> BitMap64:
        return self.index.live(VacancyList.EXTERNAL, self.at)

    def matching(self, query: str, brand: int | None) -> list[int]:
        """Return the ids of those that match, newest first. Nothing matches what the filters
        refuse, as a query of an earlier release may be.
        """
        try:
            filterset = _filterset(values_of(query))
        except InvalidParameters:
            return []
        within = intersection(
            self._live & BitMap64(self.starts),
            *self.index.load([f"b{brand}"] if brand else []),
            *filterset.bitmaps(self.index).values(),
        )
        if filterset.words and within:
            within = union(Search(self.index, self._live, within).hits(filterset.words).values())
        return sorted(within, key=self._places.__getitem__)


def matching(
    queries: Iterable[tuple[str, int | None]], *, since: datetime, at: datetime
) -> tuple[dict[tuple[str, int | None], list[int]], dict[int, datetime]]:
    """Return the vacancies that began after `since`, newest first, by query and brand; and when
    they began.
    """
    with snapshot() as state:
        news = News(process_cache.process.search.at(state), since=since, at=at)
        return {
            each: news.matching(*each) if news.starts else [] for each in set(queries)
        }, news.starts
