"""The index as a process reads it: the base, which `merge` writes, and on top of it the vacancies that have
changed since. A change is therefore found at once.

The base, in the table SearchTerm, has the ids of the vacancies of each term, and:

#base    number, time and size of the merge
#words:  the words of the vacancies in a language, each on a line, without numbers
#keys:   the same by key (`words.key`), each line with a key and its words
#titles  words of titles and places, for corrections
#order:  all ids in an order of the lists
"""

import json
from array import array
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
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
from vacancies.models import Status, Vacancy
from vacancies.querysets import VacancyList
from vacancies.search.terms import Entry, read_entries, read_labels
from vacancies.search.words import FORM, KEY_PART_MIN, PART, START, STEMMERS, WHOLE, has_parts, key

CACHE_BYTES = 64 * 2**20  # of bitmaps in a process
FEW = 2_000  # ids that the database sorts
FEW_GONE = 3  # ids that are removed from an order one by one
WAYS = 16  # into which a search for a place divides an order

_BASE = "SELECT ids FROM vacancies_searchterm WHERE term = '#base'"
_CHANGES = "SELECT id, vacancy_id FROM vacancies_searchchange"
_IN = {"postgresql": "= ANY(%s)", "sqlite": "IN (SELECT value FROM json_each(%s))"}
_TERMS = "SELECT term, ids FROM vacancies_searchterm WHERE term {}"
TEXTS = ("#titles", *(f"#{kind}:{code}" for code in (*STEMMERS, "") for kind in ("words", "keys")))
ORDERS = (
    "-published_at",
    "title",
    "-title",
    "closes_at",
    "-closes_at",
)  # published_at is the first, reversed


class Base(NamedTuple):
    """Row #base."""

    number: int = 0  # random, so that another base never has the same
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
    # A binary search for all at once: the database sorts them among some ids of the order, then among some
    # between those.
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


def lines(text: str, part: str) -> Iterator[str]:
    """Yield the lines of `text` that contain `part`; those that begin with it, if it starts with a line
    break. `text` has a line break before the first and after the last line."""
    place = text.find(part)
    while place >= 0:
        end = text.index("\n", place + 1)
        yield text[text.rfind("\n", 0, place + 1) + 1 : end]
        place = text.find(part, end)


class Index:
    """The index at the revision `state`."""

    def __init__(self, base: Base) -> None:
        self.base = base
        self.state: RevisionState | None = None
        self.known: dict[int, int] = {}  # changes: vacancies by id of the change
        self.entries: dict[int, Entry] = {}  # of the changed vacancies that are published
        self.changed = BitMap64()
        self._bitmaps: dict[str, BitMap64] = {}
        self._size = 0  # bytes of them
        self._texts: dict[str, str] = {}
        self._orders: dict[str, array[int]] = {}
        self._labels: tuple[object, list[tuple[str, list[str]]]] = (None, [])

    # --- Changes ---

    def add_changes(self, changes: dict[int, int]) -> None:
        """Patch what was read with new changes: vacancies by id of the change."""
        self.known |= changes
        pks = set(changes.values())
        entries = read_entries(pks)
        for pk in pks:
            self.entries.pop(pk, None)
        self.entries |= entries
        gone = BitMap64(pks)
        self.changed |= gone
        for bitmap in self._bitmaps.values():
            bitmap.difference_update(gone)
        self._patch(self._bitmaps, entries)
        for sort, order in self._orders.items():
            self._orders[sort] = reorder(order, sort, gone, entries)
        if self._texts:
            self._add_words(entries)

    def _patch(self, bitmaps: dict[str, BitMap64], entries: dict[int, Entry]) -> None:
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
        terms = list(terms)
        missing = list(dict.fromkeys(term for term in terms if term not in self._bitmaps))
        if missing:
            rows = {term: bytes(ids) for term, ids in _fetch_in(_TERMS, missing)}
            self._size += sum(map(len, rows.values())) + 100 * len(missing)
            new = {
                term: BitMap64.deserialize(rows[term]) - self.changed if term in rows else BitMap64()
                for term in missing
            }
            self._patch(new, self.entries)
            self._bitmaps |= new
        return [self._bitmaps[term] for term in terms]

    def union(self, terms: Iterable[str]) -> BitMap64:
        bitmaps = self.load(terms)
        return BitMap64.union(*bitmaps) if len(bitmaps) > 1 else bitmaps[0] if bitmaps else BitMap64()

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
        excluded = Vacancy.objects.filter(gone | Q(publish_from__gt=at), status=Status.PUBLISHED).order_by()
        return listed - BitMap64(excluded.values_list("pk", flat=True))

    # --- The vocabulary ---

    def text(self, name: str) -> str:
        if not self._texts:
            read = {name: bytes(ids).decode() for name, ids in _fetch_in(_TERMS, list(TEXTS))}
            self._texts = {name: read.get(name, "\n") for name in TEXTS}
            self._add_words(self.entries)
        return self._texts[name]

    def _add_words(self, entries: dict[int, Entry]) -> None:
        """Add the words of changed vacancies. A word may then occur twice."""
        new: dict[str, set[str]] = {name: set() for name in TEXTS}
        for entry in entries.values():
            new["#titles"] |= entry.title_words
            new[f"#words:{entry.language}"] |= entry.words
        for code in STEMMERS:
            new[f"#keys:{code}"] = {f"{key(word, code)}\t{word}\t" for word in new[f"#words:{code}"]}
        for name, words in new.items():
            if words:
                self._texts[name] += "\n".join([*words, ""])

    def forms(self, wanted: str, language: str) -> set[str]:
        """Return the words of the language that have the same key."""
        found = lines(self.text(f"#keys:{language}"), f"\n{key(wanted, language)}\t")
        return {word for line in found for word in line.split("\t")[1:-1]}

    def starting(self, part: str) -> set[str]:
        return {w for code in (*STEMMERS, "") for w in lines(self.text(f"#words:{code}"), "\n" + part)}

    def expand(self, wanted: str) -> list[tuple[int, str, set[str]]]:
        """Return the words that fit a word of a query (`words.fit`): class, language in which they do ("" for
        all), words."""
        found: list[tuple[int, str, set[str]]] = [(WHOLE, "", {wanted})]
        if not has_parts(wanted):
            return found
        starts = self.starting(wanted) - {wanted}
        parts = {w for code in (*STEMMERS, "") for w in lines(self.text(f"#words:{code}"), wanted)}
        parts -= starts | {wanted}
        found += [(START, "", starts), (PART, "", parts)]
        for code in STEMMERS:
            found.append((FORM, code, self.forms(wanted, code) - {wanted}))
            if len(own := key(wanted, code)) >= KEY_PART_MIN:
                lists = (line.split("\t") for line in lines(self.text(f"#keys:{code}"), own))
                others = {word for other, *words in lists if own in other for word in words if word}
                found.append((PART, code, others - starts - parts - {wanted}))
        return [each for each in found if each[2]]

    def labels(self) -> list[tuple[str, list[str]]]:
        """Return the terms of options and brands with the words of their names."""
        valid = (self.state and self.state.shared, settings.MULTI_BRANDING)
        if self.state is None or self._labels[0] != valid:
            self._labels = (valid, read_labels())
        return self._labels[1]

    # --- Order ---

    def ordered(self, found: BitMap64, sort: str) -> "array[int]":
        """Return the ids `found` in an order of the lists."""
        if len(found) <= FEW:
            return array("q", in_order(found, sort) if found else [])
        if sort == "published_at":
            return self.ordered(found, "-published_at")[::-1]
        if sort not in self._orders:
            stored = array("q", b"".join(bytes(ids) for _, ids in _fetch_in(_TERMS, ["#order:" + sort])))
            self._orders[sort] = reorder(stored, sort, self.changed, self.entries)
        return array("q", filter(found.__contains__, self._orders[sort]))


class SearchCache:
    """The indexes that a process has read, by database."""

    def __init__(self) -> None:
        self._indexes: dict[str, Index] = {}
        self._lock = Lock()  # threads share an index, which they patch

    @contextmanager
    def at(self, state: RevisionState | None) -> Iterator[Index]:
        """The index at the revision `state`, which the current snapshot has. None: in a transaction."""
        if state is None:
            index = Index(Base.read())
            index.add_changes(_read_changes())
            yield index
            return
        with self._lock:
            alias, base = replica.current(), Base.read()
            index = self._indexes.pop(alias, Index(base))  # back when it is complete
            if index.base != base:
                index = Index(base)
            if index.state != state:
                changes = _read_changes()
                if not index.known.keys() <= changes.keys():  # an older snapshot
                    index = Index(base)
                index.add_changes({n: pk for n, pk in changes.items() if n not in index.known})
                index.state = state
            index.trim()
            self._indexes[alias] = index
            yield index


def _read_changes() -> dict[int, int]:
    return dict(fetch(_CHANGES))
