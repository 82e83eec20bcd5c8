"""The employment types of options. No item states them: an item has the types of all its options
together.

An option can only have a type that every item with this option has, so the items of a whole run
show the types of many options. Where several options of an item could have its type, their labels
decide, then a fixed order.
"""

from collections import Counter
from collections.abc import Collection, Mapping
from typing import NamedTuple

from jobsite.types import JsonObject
from vacancies.choices import EmploymentType, Keyword
from vacancies.exchange.fields import Remark
from vacancies.exchange.reports import VacancyReport
from vacancies.exchange.sources import SourceRow
from vacancies.facts.employment_types import employment_type_of
from vacancies.models import FilterOption

# Filters whose options are likely to have a type, the likeliest first.
_LIKELY = (Keyword.WORK_REGIMES, Keyword.CONTRACT_TYPES, Keyword.TYPES)
_ORDER = {keyword: place for place, keyword in enumerate(dict.fromkeys((*_LIKELY, *Keyword)))}
_Key = tuple[str, str]  # the keyword and the label: a dry run has no ids
_Open = tuple[str, frozenset[_Key]]  # a type of an item, and the options that could have it


class ImportOption(NamedTuple):
    """An option of an item, with the employment type that it has here."""

    pk: int
    keyword: str
    label: str
    employment_type: str


class OptionTypes:
    """Collects the items of a run, and sets the types of options that have none. Memory grows with
    the number of different combinations of options and types, not of items.
    """

    def __init__(self, report: VacancyReport) -> None:
        self.report = report
        self._known: dict[_Key, str] = {}  # the types that options have here, or ""
        self._possible: dict[_Key, frozenset[str]] = {}
        # Each combination of options and types: the row and the id of its first item, and how many
        # there are.
        self._items: dict[tuple[frozenset[_Key], frozenset[str]], tuple[str, int]] = {}
        self._counts: Counter[tuple[frozenset[_Key], frozenset[str]]] = Counter()

    def add(self, row: SourceRow, item: JsonObject, options: list[ImportOption]) -> None:
        """Add an item that was imported. `options` are those of its vacancy."""
        types = frozenset(item["employment_types"] or ())
        telling = []
        for option in options:
            key = (option.keyword, option.label)
            self._known[key] = option.employment_type
            self._possible[key] = self._possible.get(key, types) & types
            if self._possible[key] or option.employment_type:  # the others do not matter
                telling.append(key)
        combination = (frozenset(telling), types)
        self._items.setdefault(combination, (row.name, item["id"]))
        self._counts[combination] += 1

    def write(self) -> None:
        """Set the types of options, and report them and the items whose types differ here."""
        found = self._resolve()
        for (keyword, label), value in found.items():
            rows = FilterOption.objects.filter(
                filter__keyword=keyword, label=label, employment_type=""
            )
            rows.update(employment_type=value)
        self.report.typed += len(found)
        known = self._known | found
        for combination, (row, pk) in self._items.items():
            options, types = combination
            here = {known[option] for option in options} - {""}
            if here != types:
                text = f"are {_shown(here)} here, from the options; {_shown(types)} in the source"
                if others := self._counts[combination] - 1:
                    text += f" (also in {others} more)"
                remark = Remark("employment_types", "employment_types", text)
                self.report.add("note", row, remark, id=pk, is_id_shown=True)

    def _resolve(self) -> dict[_Key, str]:
        """Return the types of options that have none here."""
        found: dict[_Key, str] = {}
        open_ = self._open()
        while open_ := _still_open(open_, found):
            pairs = {(kind, key) for kind, options in open_ for key in options}
            forced = {
                (kind, key) for kind, options in open_ if len(options) == 1 for key in options
            }
            kind, key = min(forced or pairs, key=self._rank)
            found[key] = kind
        return found

    def _open(self) -> set[_Open]:
        """Return what no option with a type accounts for."""
        return {
            (kind, self._candidates(kind, options))
            for options, types in self._items
            for kind in types - {self._known[key] for key in options}
        }

    def _candidates(self, kind: str, options: Collection[_Key]) -> frozenset[_Key]:
        """Return those of `options` that have no type and could have the type `kind`."""
        return frozenset(
            key for key in options if not self._known[key] and kind in self._possible[key]
        )

    def _rank(self, pair: tuple[str, _Key]) -> tuple[object, ...]:
        """Return what decides whether the option has the type: its label says so, it can have no
        other type, its filter is a likely one.
        """
        kind, (keyword, label) = pair
        says_other = employment_type_of(label) != kind
        return says_other, len(self._possible[keyword, label]) > 1, _ORDER[Keyword(keyword)], pair


def _still_open(open_: Collection[_Open], found: Mapping[_Key, str]) -> set[_Open]:
    """Return those of `open_` that `found` does not account for, without its options."""
    left = (
        (kind, frozenset(key for key in options if key not in found))
        for kind, options in open_
        if kind not in {found.get(key) for key in options}
    )
    return {(kind, options) for kind, options in left if options}


def _shown(types: Collection[str]) -> str:
    return ", ".join(each for each in EmploymentType.values if each in types) or "none"
