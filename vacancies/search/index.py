"""The index as a process reads it: the base, which `merge` writes, and on top of it the vacancies
that have changed since. A change is therefore found at once.

The base, in the table SearchTerm, has the ids of the vacancies of each term, and:

#base    number, time and size of the merge
#words:  and #keys:, see `vocabulary`
#titles  words of titles and places, for corrections
#order:  all ids in an order of the lists
"""

import json
from array import array
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from copy import copy
from datetime import datetime
from itertools import filterfalse
from threading import Lock
from typing import NamedTuple

from django.conf import settings
from django.db import connections
from django.db.models import Q
from pyroaring import BitMap64

from jobsite.languages import site_language
from jobsite.serving import replica
from jobsite.serving.revision import RevisionState, fetch
from vacancies.choices import VacancyStatus
from vacancies.models import Vacancy
from vacancies.querysets import VacancyList
from vacancies.search.terms import IndexEntry, read_entries, read_labels
from vacancies.search.vocabulary import TEXTS as WORDS
from vacancies.search.vocabulary import Vocabulary, with_words
from vacancies.search.words import STEMMERS

CACHE_BYTES = 64 * 2**20  # of bitmaps in a process
FEW = 2_000  # ids that the database sorts
FEW_GONE = 3  # ids that are removed from an order one by one
WAYS = 16  # into which a search for a place divides an order

_BASE = "SELECT ids FROM vacancies_searchterm WHERE term = '#base'"
_CHANGES = "SELECT id, vacancy_id FROM vacancies_searchchange"
_IN = {"postgresql": "= ANY(%s)", "sqlite": "IN (SELECT value FROM json_each(%s))"}
_TERMS = "SELECT term, ids FROM vacancies_searchterm WHERE term {}"
TEXTS = ("#titles", *WORDS)
# published_at is the first, reversed.
ORDERS = ("-published_at", "title", "-title", "closes_at", "-closes_at")
FORMAT = 2  # raise it when a rule of words or terms changes: the index is then made anew


class Base(NamedTuple):
    """Row #base."""

    # FORMAT, and a random number, so that another base never has the same.
    number: Sequence[int] = ()
    at: datetime | None = None
    size: int = 0  # vacancies
    language: str = ""  # of the site

    @classmethod
    def read(cls) -> "Base":
        rows = fetch(_BASE)
        if not rows:
            return cls()
        number, at, size, language = json.loads(bytes(rows[0][0]))
        return cls(number, datetime.fromisoformat(at), size, language)

    @property
    def is_outdated(self) -> bool:
        """Whether another release or language of the site made it.
        It is still searched until the merge.
        """
        if not self.at:
            return False
        return self.number[0] != FORMAT or self.language != site_language()

    def dump(self) -> bytes:
        assert self.at
        return json.dumps([self.number, self.at.isoformat(), self.size, self.language]).encode()


def _fetch_in(sql: str, values: list) -> list[tuple]:
    """Return the rows of `sql`, where {} stands for "in `values`"."""
    vendor = connections[replica.current()].vendor
    return fetch(sql.format(_IN[vendor]), values if vendor == "postgresql" else json.dumps(values))


def in_order(pks: Iterable[int], sort: str) -> list[int]:
    """Return the ids of these vacancies, sorted by the database."""
    return list(Vacancy.objects.with_ids(pks).sorted_by(sort).values_list("pk", flat=True))


def reorder(order: "array[int]", sort: str, gone: BitMap64, new: Collection[int]) -> "array[int]":
    """Return an order without the ids `gone`, and with `new` at their places."""
    if len(gone) > FEW_GONE:
        kept = array("q", filterfalse(gone.__contains__, order))
    else:
        kept = order[:]
        for pk in gone:
            with suppress(ValueError):  # it is new
                kept.remove(pk)
    if len(new) > len(kept) // 10:
        return array("q", in_order([*kept, *new], sort))
    # A binary search for all at once: the database sorts them among some ids of the order, then
    # among some between those.
    ranges = dict.fromkeys(new, (0, len(kept)))
    while searched := [pk for pk, (start, end) in ranges.items() if start < end]:
        places = {
            kept[place]: place
            for start, end in {ranges[pk] for pk in searched}
            for place in range(start, end, -(-(end - start) // WAYS))
        }
        found = in_order([*places, *searched], sort)
        start, end = 0, len(kept)
        for pk in found:
            if pk in places:
                start = places[pk] + 1
            else:
                ranges[pk] = max(start, ranges[pk][0]), ranges[pk][1]
        for pk in reversed(found):
            if pk in places:
                end = places[pk]
            else:
                ranges[pk] = ranges[pk][0], min(end, ranges[pk][1])
    result, done = array("q"), 0
    for pk in in_order(new, sort) if new else ():
        place, _ = ranges[pk]
        result.extend(kept[done:place])
        result.append(pk)
        done = place
    result.extend(kept[done:])
    return result


class Labels:
    """The names of options and brands, and their words."""

    def __init__(self, named: list[tuple[str, list[str]]]) -> None:
        self._texts = {term: f" {' '.join(words)} " for term, words in named}
        self.terms: dict[str, list[str]] = {}  # by word
        for term, words in named:
            for word in words:
                self.terms.setdefault(word, []).append(term)
        plain = {word for word in self.terms if not word.isdecimal()}
        texts = with_words(dict.fromkeys(WORDS, "\n"), dict.fromkeys(STEMMERS, plain))
        self.vocabulary = Vocabulary(texts.__getitem__)

    def having(self, words: list[str]) -> list[str]:
        """Return the terms of the names with these words, side by side."""
        needle = f" {' '.join(words)} "
        return (
            [term for term in self.terms.get(words[0], ()) if needle in self._texts[term]]
            if words
            else []
        )


class Index:
    """The index at the revision `state`. Threads share it:
    what it has read is replaced, never changed.
    """

    def __init__(self, base: Base) -> None:
        self.base = base
        self.state: RevisionState | None = None
        self.known: dict[int, int] = {}  # changes: vacancies by id of the change
        self.entries: dict[int, IndexEntry] = {}  # of the changed vacancies that are published
        self.changed = BitMap64()
        self._bitmaps: dict[str, BitMap64] = {}
        self._size = 0  # bytes of them
        self._texts: dict[str, str] = {}
        self._orders: dict[str, array[int]] = {}
        self._labels: tuple[object, Labels] = (None, Labels([]))
        self.near = "", BitMap64()  # the last circle, and the vacancies in it

    # --- Changes ---

    def after(self, changes: dict[int, int], state: RevisionState | None) -> "Index":
        """Return the index at the revision `state`, with what this one has read, patched with new
        changes: vacancies by id of the change. Searches in this one go on.
        """
        new, pks = copy(self), set(changes.values())
        entries, gone = read_entries(pks), BitMap64(pks)
        new.state, new.known, new.changed = state, self.known | changes, self.changed | gone
        new.near = "", BitMap64()
        new.entries = {pk: entry for pk, entry in self.entries.items() if pk not in pks} | entries
        touched = {term for entry in entries.values() for term in entry.terms} | {"e"}
        new._bitmaps = {
            term: bitmap - gone if term in touched or bitmap.intersect(gone) else bitmap
            for term, bitmap in self._bitmaps.copy().items()
        }
        new._patch(new._bitmaps, entries)
        new._orders = {
            sort: reorder(o, sort, gone, entries) for sort, o in self._orders.copy().items()
        }
        if self._texts:
            new._texts = new._with_words(self._texts, entries)
        return new

    def _patch(self, bitmaps: dict[str, BitMap64], entries: dict[int, IndexEntry]) -> None:
        """Add the ids of `entries` to those of the bitmaps whose terms they have."""
        for pk, entry in entries.items():
            for term in entry.terms & bitmaps.keys():
                bitmaps[term].add(pk)
            at = self.base.at
            if "e" in bitmaps and at and entry.until and entry.until <= at:
                bitmaps["e"].add(pk)

    # --- Bitmaps ---

    def load(self, terms: Iterable[str]) -> list[BitMap64]:
        """Return the bitmaps of `terms`. They must not be changed."""
        terms, known = list(terms), self._bitmaps
        missing = list(dict.fromkeys(term for term in terms if term not in known))
        if missing:
            rows = {term: bytes(ids) for term, ids in _fetch_in(_TERMS, missing)}
            new = {
                term: BitMap64.deserialize(rows[term]) - self.changed
                if term in rows
                else BitMap64()
                for term in missing
            }
            self._patch(new, self.entries)
            self._size += sum(map(len, rows.values())) + 100 * len(missing)
            known.update(new)
        return [known[term] for term in terms]

    def union(self, terms: Iterable[str]) -> BitMap64:
        bitmaps = self.load(terms)
        return (
            BitMap64.union(*bitmaps) if len(bitmaps) > 1 else bitmaps[0] if bitmaps else BitMap64()
        )

    def language(self, code: str) -> BitMap64:
        """Return the vacancies in the language `code`."""
        return self.union(self.language_terms(code))

    @staticmethod
    def language_terms(code: str) -> list[str]:
        """Vacancies that state no language are in that of the site."""
        return ["g" + code, "g"] if code == site_language() else ["g" + code]

    def trim(self) -> None:
        """Forget the bitmaps if they take too much memory."""
        if self._size > CACHE_BYTES:
            self._bitmaps, self._size = {}, 0

    def live(self, vacancy_list: VacancyList, at: datetime) -> BitMap64:
        """Return the vacancies of the list that are public at the time `at`."""
        listed, expired = self.load(["l" + vacancy_list.column, "e"])
        gone = Q(publish_until__lte=at)
        if self.base.at and self.base.at <= at:
            listed, gone = listed - expired, gone & Q(publish_until__gt=self.base.at)
        excluded = Vacancy.objects.filter(
            gone | Q(publish_from__gt=at), status=VacancyStatus.PUBLISHED
        ).order_by()
        return listed - BitMap64(excluded.values_list("pk", flat=True))

    # --- The vocabulary ---

    def text(self, name: str) -> str:
        if not self._texts:
            read = {name: bytes(ids).decode() for name, ids in _fetch_in(_TERMS, list(TEXTS))}
            self._texts = self._with_words(
                {name: read.get(name, "\n") for name in TEXTS}, self.entries
            )
        return self._texts[name]

    @staticmethod
    def _with_words(texts: dict[str, str], entries: dict[int, IndexEntry]) -> dict[str, str]:
        """Return the texts with the words of changed vacancies. A word may then occur twice."""
        titles = set[str]().union(*(entry.title_words for entry in entries.values()))
        by_language: dict[str, set[str]] = {}
        for entry in entries.values():
            by_language.setdefault(entry.language, set()).update(entry.words)
        return with_words(texts, by_language) | {
            "#titles": texts["#titles"] + "".join(f"{word}\n" for word in titles)
        }

    @property
    def vocabulary(self) -> Vocabulary:
        return Vocabulary(self.text)

    def labels(self) -> "Labels":
        """Return the names of options and brands."""
        valid = (self.state and self.state.shared, settings.MULTI_BRANDING)
        if self.state is None or self._labels[0] != valid:
            self._labels = (valid, Labels(read_labels()))
        return self._labels[1]

    # --- Order ---

    def ordered(self, found: BitMap64, sort: str) -> "array[int]":
        """Return the ids `found` in an order of the lists."""
        if len(found) <= FEW:
            return array("q", in_order(found, sort) if found else [])
        if sort == "published_at":
            return self.ordered(found, "-published_at")[::-1]
        if sort not in self._orders:
            stored = array(
                "q", b"".join(bytes(ids) for _, ids in _fetch_in(_TERMS, ["#order:" + sort]))
            )
            self._orders[sort] = reorder(stored, sort, self.changed, self.entries)
        return array("q", filter(found.__contains__, self._orders[sort]))


class SearchCache:
    """The indexes that a process has read, by database."""

    def __init__(self) -> None:
        self._indexes: dict[str, Index] = {}
        self._lock = Lock()  # a change is read once

    def at(self, state: RevisionState | None) -> Index:
        """Return the index at the revision `state`, which the current snapshot has. None: in a
        transaction."""
        base = Base.read()
        if state is None:
            return Index(base).after(_read_changes(), None)
        with self._lock:
            alias = replica.current()
            index = self._indexes.get(alias)
            if index is None or index.base != base:
                index = Index(base)
            if index.state != state:
                changes = _read_changes()
                if not index.known.keys() <= changes.keys():  # an older snapshot
                    index = Index(base)
                index = index.after(
                    {n: pk for n, pk in changes.items() if n not in index.known}, state
                )
            index.trim()
            self._indexes[alias] = index
            return index


def _read_changes() -> dict[int, int]:
    return dict(fetch(_CHANGES))
