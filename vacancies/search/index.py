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
from collections.abc import Iterable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from copy import copy
from datetime import datetime
from itertools import filterfalse
from threading import Lock
from typing import NamedTuple

from django.db.models import Q
from pyroaring import BitMap64

from jobsite.languages import site_language, text_languages
from jobsite.serving import replica
from jobsite.serving.revision import RevisionState, fetch
from vacancies.choices import VacancyStatus
from vacancies.models import Vacancy
from vacancies.querysets import VacancyList
from vacancies.search.terms import (
    OF_TEXTS,
    PUBLISHED,
    Bitmaps,
    IndexedTexts,
    patched,
    read_facts,
    read_labels,
    read_texts,
    within,
)
from vacancies.search.vocabulary import TEXTS as WORDS
from vacancies.search.vocabulary import Vocabulary, with_words
from vacancies.search.words import STEMMERS

CACHE_BYTES = 64 * 2**20  # of bitmaps in a process
FEW = 2_000  # ids that the database sorts
FEW_GONE = 3  # ids that are removed from an order one by one
# Changes whose texts a process reads, 0.5 ms each. The texts of earlier ones are searched as they
# were, until the merge.
TEXTS_MAX = 2_000
WAYS = 16  # into which a search for a place divides an order

_BASE = "SELECT ids FROM vacancies_searchterm WHERE term = '#base'"
_CHANGES = "SELECT id, vacancy_id FROM vacancies_searchchange"
_TERMS = "SELECT term, ids FROM vacancies_searchterm WHERE term {within}"
TEXTS = ("#titles", *WORDS)
# published_at is the first, reversed.
ORDERS = ("-published_at", "title", "-title", "closes_at", "-closes_at")
FORMAT = 2  # raise it when a rule of words or terms changes: the index is then made anew


def languages() -> str:
    """Return what the words of texts depend on."""
    return ",".join(text_languages() or [site_language()])


class Base(NamedTuple):
    """Row #base."""

    # FORMAT, and a random number, so that another base never has the same.
    number: Sequence[int] = ()
    at: datetime | None = None
    size: int = 0  # vacancies
    language: str = ""  # of the site, and the others of texts

    @classmethod
    def read(cls) -> "Base":
        rows = fetch(_BASE)
        if not rows:
            return cls()
        number, at, size, language = json.loads(bytes(rows[0][0]))
        return cls(number, datetime.fromisoformat(at), size, language)

    @property
    def is_outdated(self) -> bool:
        """Whether another release made it, or the site had other languages.
        It is still searched until the merge.
        """
        if not self.at:
            return False
        return self.number[0] != FORMAT or self.language != languages()

    def dump(self) -> bytes:
        assert self.at
        return json.dumps([self.number, self.at.isoformat(), self.size, self.language]).encode()


def in_order(pks: Iterable[int], sort: str) -> list[int]:
    """Return the ids of these vacancies, sorted by the database."""
    return list(Vacancy.objects.with_ids(pks).sorted_by(sort).values_list("pk", flat=True))


def reorder(order: "array[int]", sort: str, gone: BitMap64, new: BitMap64) -> "array[int]":
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
        self._texts: dict[str, str] = {}
        self.terms: dict[str, list[str]] = {}  # by word
        for term, words in named:
            self._texts[term] = f"{self._texts.get(term, '')} {' '.join(words)} "
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


def with_changed(texts: dict[str, str], changed: IndexedTexts) -> dict[str, str]:
    """Return the texts with the words of changed vacancies. A word may then occur twice."""
    titles = "".join(f"{word}\n" for word in changed.titles)
    return with_words(texts, changed.words) | {"#titles": texts["#titles"] + titles}


class Index:
    """The index at the revision `state`. Threads share it:
    what it has read is replaced, never changed.
    """

    def __init__(self, base: Base) -> None:
        self.base = base
        self.state: RevisionState | None = None
        self.known = BitMap64()  # ids of the changes
        self.changed = BitMap64()  # vacancies
        self.facts: Bitmaps = {}  # of those of them that are published
        self._last: dict[int, int] = {}  # the last TEXTS_MAX changes
        self.late = BitMap64()  # changed vacancies whose texts wait for the merge
        # Texts are read for the first search.
        self._changed_texts: IndexedTexts | None = None
        self._bitmaps: Bitmaps = {}
        self._size = 0  # bytes of them
        self._texts: dict[str, str] = {}
        self._orders: dict[str, array[int]] = {}
        self._labels: tuple[object, Labels] = (None, Labels([]))
        self.near = "", BitMap64()  # the last circle, and the vacancies in it

    # --- Changes ---

    @property
    def published(self) -> BitMap64:
        """The changed vacancies that are published."""
        return self.facts.get(PUBLISHED, BitMap64())

    @property
    def changed_texts(self) -> IndexedTexts:
        if self._changed_texts is None:
            self._changed_texts = read_texts(self.published - self.late)
        return self._changed_texts

    def after(self, changes: dict[int, int], state: RevisionState | None) -> "Index":
        """Return the index at the revision `state`, with what this one has read, patched with new
        changes: vacancies by id of the change. Searches in this one go on.
        """
        new, gone = copy(self), BitMap64(changes.values())
        # Another thread may search in this one: it sets `_changed_texts` before these three.
        bitmaps, orders, words = self._bitmaps.copy(), self._orders.copy(), self._texts
        texts = self._changed_texts
        again = gone & self.changed
        added = facts = read_facts(gone, expired_at=self.base.at)
        published = facts.get(PUBLISHED, BitMap64())
        new.state, new.near = state, ("", BitMap64())
        new.known, new.changed = self.known | BitMap64(changes), self.changed | gone
        new.facts = facts | patched(self.facts, again, facts)
        new._last = dict(sorted((self._last | changes).items())[-TEXTS_MAX:])
        new.late = new.changed - BitMap64(new._last.values())
        if texts is not None:
            more = read_texts(published - new.late)
            again |= new.late
            texts, added = texts.after(again, more), facts | more.bitmaps
            words = with_changed(words, more) if words else words
        new._changed_texts, new._texts = texts, words
        if new.late:
            bitmaps = {term: found for term, found in bitmaps.items() if term[0] not in OF_TEXTS}
        new._bitmaps = patched(bitmaps, gone, added)
        new._orders = {sort: reorder(o, sort, gone, published) for sort, o in orders.items()}
        return new

    # --- Bitmaps ---

    def load(self, terms: Iterable[str]) -> list[BitMap64]:
        """Return the bitmaps of `terms`. They must not be changed."""
        terms, known = list(terms), self._bitmaps
        missing = list(dict.fromkeys(term for term in terms if term not in known))
        if missing:
            rows = {term: bytes(ids) for term, ids in within(_TERMS, missing)}
            new, read = {}, self.changed - self.late
            for term in missing:
                is_text = term[0] in OF_TEXTS
                stored = BitMap64.deserialize(rows[term]) if term in rows else BitMap64()
                changed = self.changed_texts.bitmaps if is_text else self.facts
                new[term] = stored - (read if is_text else self.changed)
                new[term] |= changed.get(term, BitMap64())
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
        """Vacancies that state no language are in that of the site. Ready texts in another language
        count while they are served.
        """
        terms = ["g" + code, "g"] if code == site_language() else ["g" + code]
        return [*terms, "G" + code] if code in text_languages() else terms

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
            read = {name: bytes(ids).decode() for name, ids in within(_TERMS, TEXTS)}
            texts = {name: read.get(name, "\n") for name in TEXTS}
            self._texts = with_changed(texts, self.changed_texts)
        return self._texts[name]

    @property
    def vocabulary(self) -> Vocabulary:
        return Vocabulary(self.text)

    def labels(self) -> "Labels":
        """Return the names of options and brands."""
        valid = self.state and self.state.shared
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
                "q", b"".join(bytes(ids) for _, ids in within(_TERMS, ["#order:" + sort]))
            )
            self._orders[sort] = reorder(stored, sort, self.changed, self.published)
        return array("q", filter(found.__contains__, self._orders[sort]))


class SearchCache:
    """The indexes that a process has read, by database."""

    def __init__(self) -> None:
        self._indexes: dict[str, Index] = {}
        self._read: dict[object, Future[Index]] = {}  # those that a thread reads now
        self._lock = Lock()  # of the two; no query runs under it

    def at(self, state: RevisionState | None) -> Index:
        """Return the index at the revision `state`, which the current snapshot has. None: in a
        transaction. Threads that need the same new one wait for the first of them.
        """
        base, alias = Base.read(), replica.current()
        if state is None:
            return Index(base).after(_read_changes(), None)
        key = alias, state, base.at
        with self._lock:
            last = self._indexes.get(alias)
            if last is not None and (last.state, last.base) == (state, base):
                return last
            reading = self._read.get(key)
            if is_first := reading is None:
                reading = self._read[key] = Future()
        if is_first:
            try:
                made = _read_index(last, base, state)
            except BaseException as error:
                reading.set_exception(error)
            else:
                self._indexes[alias] = made
                reading.set_result(made)
            with self._lock:
                del self._read[key]
        return reading.result()


def _read_index(last: Index | None, base: Base, state: RevisionState) -> Index:
    """Return the index at the revision `state`. The `last` one of the process has most of it."""
    changes = _read_changes()
    is_older = last is not None and not last.known <= BitMap64(changes)  # the snapshot
    if last is None or last.base != base or is_older:
        last = Index(base)
    last.trim()
    return last.after({n: pk for n, pk in changes.items() if n not in last.known}, state)


def _read_changes() -> dict[int, int]:
    return dict(fetch(_CHANGES))
