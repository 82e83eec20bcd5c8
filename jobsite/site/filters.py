"""The search, the filters and the order of a list, as the address of the page states them."""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from urllib.parse import urlencode

from django.http import QueryDict
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from jobsite.api.pagination import NUMBER, SIZE
from jobsite.languages import site_language, text_languages
from jobsite.site.places import KM, Circle
from jobsite.site.reading import Query
from jobsite.types import JsonObject
from vacancies.choices import Fact
from vacancies.facts.cities import PLACE
from vacancies.filtersets import NEAR, OPTION_NAMES, SEARCH, SORT, VacancyFilterSet, filter_name
from vacancies.statistics.visits import given_source

OPTIONS_MAX = 100  # of a filter; those with the most vacancies. The search finds the others.
PAGE_SIZE = 20
# Parameters that the page sets itself, or that say where a visitor comes from.
OWN = (SIZE, "fields", "source", PLACE, KM)
NAMES = (*VacancyFilterSet.base_filters, NUMBER)
# Names without brackets by which a visitor means a parameter: the page says how it is written.
HINTED = re.compile(
    r"(?:q|query|search|page|sort(?:_?by)?|order(?:_?by)?|filter|field|region|category|brand|country)s?$",
    re.IGNORECASE,
)
BACK = "list"  # parameter of the page of a vacancy: the query of the list from which a visitor came


@dataclass
class ShownOption:
    value: str
    label: str
    count: int
    is_chosen: bool
    language: str = ""  # of its label, if it is not that of the page


@dataclass
class Facet:
    """A filter as a group of checkboxes."""

    name: str
    label: str
    language: str  # of its label, if it is not that of the page
    options: list[ShownOption]
    left_out: int

    @property
    def is_open(self) -> bool:
        return any(option.is_chosen for option in self.options)


@dataclass
class Link:
    """A link to another form of the list: without a choice, or in another order."""

    label: str
    path: str
    is_chosen: bool = False


def meant_parameters(query: QueryDict) -> QueryDict:
    """Return `query` without the names by which a visitor means no parameter of the list, such as
    "from" of a newsletter. To a client of the interface, they would be an error.
    """
    kept = query.copy()
    for name in query:
        is_meant = HINTED.match(name) or name.startswith(("filter[", "page["))
        if name not in (*NAMES, *OWN) and not is_meant:
            del kept[name]
    return kept


def _received(query: QueryDict) -> Iterator[tuple[str, str]]:
    """Yield the parameters of the interface in `query`. A form sends empty fields too. The values
    of checkboxes are one parameter each.
    """
    for name, values in meant_parameters(query).lists():
        if name in OWN:
            continue
        plain = name.removesuffix("[]")
        if plain in OPTION_NAMES:
            yield from ((plain, value) for each in values for value in each.split(",") if value)
        else:
            yield from ((name, value) for value in map(str.strip, values) if value)


class Filters:
    """The parameters of the list at `path` with `query`."""

    def __init__(self, query: QueryDict, path: str) -> None:
        self.path = path
        self.source = given_source(query)
        self.circle = Circle(query)
        self.received = list(_received(query))
        if self.circle.is_sent:
            self.received = [pair for pair in self.received if pair[0] != NEAR]
            self.received += [(NEAR, self.circle.near)] if self.circle.near else []
        # The interface refuses other names: they are no choices of the visitor.
        self.given = [pair for pair in self.received if pair[0] in NAMES]
        if NEAR in dict(self.given):
            self.given += [pair for pair in self.circle.pairs if pair[0] == PLACE]

    @property
    def query(self) -> Query:
        """The parameters of /v1/vacancies."""
        return [*self.received, (SIZE, str(PAGE_SIZE))]

    @property
    def facets_query(self) -> list[tuple[str, str]]:
        """The parameters of /v1/filters."""
        return self._given_without(NUMBER, SORT, PLACE)

    @property
    def alert_query(self) -> list[tuple[str, str]]:
        """The parameters of an alert for the list."""
        return self._given_without(NUMBER, SORT)

    def _given_without(self, *names: str) -> list[tuple[str, str]]:
        return [pair for pair in self.given if pair[0] not in names]

    @property
    def search(self) -> str:
        return dict(self.given).get(SEARCH, "")

    @property
    def sort(self) -> str:
        return dict(self.given).get(SORT, "")

    @property
    def sorts(self) -> list[Link]:
        """The orders, the default first."""
        orders = [
            ("", _("Best match") if self.search else _("Newest")),
            ("closes_at", _("Closing soon")),
        ]
        if self.search:
            orders[1:1] = [("-published_at", _("Newest"))]
        kept = self._given_without(NUMBER, SORT)
        return [
            Link(
                label, self._path([*kept, *([(SORT, value)] if value else [])]), value == self.sort
            )
            for value, label in orders
        ]

    @property
    def is_indexed(self) -> bool:
        """Whether search engines may index the list:
        with a search or several filters, they do not.
        """
        is_plain = not self.search and not self.sort and not self.circle.is_unclear
        return is_plain and len(self.facets_query) <= 1

    def address(self, number: int) -> str:
        """Return the canonical address of the list, sorted by parameter, on the page `number`. It
        is the same for all names of a place.
        """
        return self._address([pair for pair in self._on_page(number) if pair[0] != PLACE])

    def page(self, number: int) -> str:
        return self._path(self._on_page(number))

    def here(self, own: Query = ()) -> str:
        """Return the address of this list, with the parameters to which its page limits it."""
        return self._path([*own, *self.given])

    def _on_page(self, number: int) -> list[tuple[str, str]]:
        pairs = sorted(self._given_without(NUMBER))
        return [*pairs, *([(NUMBER, str(number))] if number > 1 else [])]

    def _address(self, pairs: list[tuple[str, str]]) -> str:
        return f"{self.path}?{urlencode(pairs)}" if pairs else self.path

    def _path(self, pairs: list[tuple[str, str]]) -> str:
        """Return the address for a link, which keeps where the visitor comes from."""
        return self._address([*pairs, *([("source", self.source)] if self.source else [])])

    def without(self, name: str, value: str) -> str:
        """Return the address of the first page of the list without one choice."""
        kept = self._given_without(NUMBER, *([PLACE] if name == NEAR else []))
        return self._path([pair for pair in kept if pair != (name, value)])

    def places(self) -> list[Link]:
        """Return the list at each of the places that the typed name can mean."""
        kept = self._given_without(NUMBER)
        return [Link(label, self._path([*kept, *pairs])) for label, pairs in self.circle.choices()]

    def suggestions(self, words: list[str]) -> list[Link]:
        """Return the searches that /v1/vacancies proposes."""
        kept = self._given_without(SEARCH, NUMBER)
        return [Link(each, self._path([*kept, (SEARCH, each)])) for each in words]

    def facets(self, filters: list[JsonObject], foreign: Collection[str] = ()) -> list[Facet]:
        """Return the filters of /v1/filters that can narrow or widen the list. `foreign` are the
        words that are not in the language of the page.
        """
        facets = (self._facet(each, foreign) for each in filters)
        return [
            facet
            for facet in facets
            if len(facet.options) > 1 or any(facet.name == name for name, _value in self.given)
        ]

    def _facet(self, described: JsonObject, foreign: Collection[str]) -> Facet:
        keyword = described["keyword"]
        name, is_fact = filter_name(keyword), keyword in Fact.values
        names = Fact(keyword).names() if is_fact else {}
        chosen = {value for given, value in self.given if given == name}
        options = [
            ShownOption(
                option["value"],
                names.get(option["value"], option["label"]),
                option["count"],
                option["value"] in chosen,
                site_language() if not is_fact and option["label"] in foreign else "",
            )
            for option in described["options"]
        ]
        by_count = sorted(options, key=lambda option: (not option.is_chosen, -option.count))
        kept = {option.value for option in by_count[:OPTIONS_MAX]}
        is_own = is_fact or get_language() in (site_language(), *text_languages())
        language = "" if is_own and described["label"] not in foreign else site_language()
        return Facet(
            name,
            _facet_label(described),
            language,
            [option for option in options if option.value in kept],
            max(0, len(options) - OPTIONS_MAX),
        )

    def chips(self, facets: list[Facet]) -> list[Link]:
        """Return the choices of the visitor."""
        labels = {
            (facet.name, option.value): option.label for facet in facets for option in facet.options
        }
        labels[NEAR, self.circle.near] = self.circle.label
        return [
            Link(
                f"“{value}”" if name == SEARCH else labels.get((name, value), value),
                self.without(name, value),
            )
            for name, value in self.facets_query
        ]


def _facet_label(filter_: JsonObject) -> str:
    """Return the label: in the language of the page, if it is not an own word of the recruiters."""
    keyword = filter_["keyword"]
    return str(Fact(keyword).label) if keyword in Fact.values else filter_["label"]
