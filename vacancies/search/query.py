"""What a search finds, in which order, and what it proposes if it finds nothing.

A hit needs every word. Each word of the query gives it the best score of what fits (`SCORES`); the sum
decides. Nothing depends on vacancies that the reader may not see: `live` are those of the reader's list.
"""

import math
from array import array
from collections.abc import Iterable
from itertools import filterfalse, islice, pairwise, product

from pyroaring import BitMap64

from vacancies.models import Vacancy
from vacancies.search.index import Index
from vacancies.search.terms import WORDS
from vacancies.search.words import STEMMERS, Words, compounds, edits, fit

# By field and class (whole, form, start, part): a title counts more than a place, a brand or an option, and
# these more than a text.
SCORES = {"t": (100, 90, 70, 60), "p": (80, 75, 45, 30), "x": (20, 18, 8, 5)}
LABELS = "p"  # brands and options count as places
NEIGHBOURS = 5  # for each two words of the query that are neighbours in a title
BOTH_PARTS, HEAD_ONLY = 60, 40  # percent of the score of the head of a compound
PHRASES_MAX = 2_000  # newest vacancies whose texts are searched for a phrase
CORRECTIONS = 3  # of a word
COMBINATIONS = 30
SUGGESTIONS = 3

Scores = dict[int, BitMap64]  # by score


def union(bitmaps: Iterable[BitMap64]) -> BitMap64:
    bitmaps = list(bitmaps)
    return BitMap64.union(*bitmaps) if bitmaps else BitMap64()


def intersection(first: BitMap64, *others: BitMap64) -> BitMap64:
    for other in others:
        first = first & other
    return first


class Search:
    """Searches among the vacancies `within`, a part of `live`, the vacancies of a list at a time."""

    def __init__(self, index: Index, live: BitMap64, within: BitMap64) -> None:
        self.index, self.live, self.within = index, live, within
        self._by_word: dict[str, Scores] = {}

    def ranked(self, words: Words) -> "array[int]":
        """Return the ids of the hits, best first, the newest first among equals."""
        found = self.hits(words)
        rest: Iterable[int] = self.index.ordered(union(found.values()), "-published_at")
        by_score = {}
        for score, bitmap in sorted(found.items(), key=lambda item: -len(item[1])):  # soon, few are left
            rest = array("q", rest)
            by_score[score] = filter(bitmap.__contains__, rest)
            rest = filterfalse(bitmap.__contains__, rest)
        ranked = array("q")
        for _, pks in sorted(by_score.items(), reverse=True):
            ranked.extend(pks)
        return ranked

    def hits(self, words: Words) -> Scores:
        parts = [self._phrase(*phrase) for phrase in words.phrases] + [self._word(w) for w in words.single]
        left = self.within if parts else BitMap64()
        for scores in parts:
            left = left & union(scores.values())
        found: Scores = {0: left}
        for scores in parts:
            added: Scores = {}
            for total, rest in found.items():
                for score, bitmap in sorted(scores.items(), reverse=True):
                    if hit := rest & bitmap:
                        rest = rest - hit
                        added[total + score] = added.get(total + score, BitMap64()) | hit
                    if not rest:
                        break
            found = added
        pairs = [f"q{one} {other}" for one, other in pairwise(words.single)] if left else []
        for pair in self.index.load(pairs):
            for total, bitmap in sorted(found.items(), reverse=True):
                if hit := bitmap & pair:
                    found[total] = bitmap - hit
                    found[total + NEIGHBOURS] = found.get(total + NEIGHBOURS, BitMap64()) | hit
        return {score: bitmap for score, bitmap in found.items() if bitmap}

    def size(self, words: Words) -> int:
        return sum(map(len, self.hits(words).values()))

    # --- A word ---

    def _word(self, wanted: str) -> Scores:
        if wanted not in self._by_word:
            found = self._simple(wanted)
            if parts := self._split(wanted):
                rest, head = (self._simple(part) for part in parts)
                known = union(rest.values())
                for score, bitmap in head.items():
                    for share, hits in ((BOTH_PARTS, bitmap & known), (HEAD_ONLY, bitmap)):
                        reduced = score * share // 100
                        found[reduced] = found.get(reduced, BitMap64()) | hits
            self._by_word[wanted] = found
        return self._by_word[wanted]

    def _simple(self, wanted: str) -> Scores:
        """Return the hits of a word that is no compound."""
        index, bitmaps = self.index, dict[int, list[BitMap64]]()
        expanded = index.expand(wanted)
        index.load(
            [field + word for *_, words in expanded for word in words for field in SCORES]
        )  # one query
        for cls, language, words in expanded:
            for field, scores in SCORES.items():
                hits = index.union(field + word for word in words)
                if language and hits:
                    hits = hits & index.language(language)
                bitmaps.setdefault(scores[cls], []).append(hits)
        by_class: dict[int, list[str]] = {}
        for term, label in index.labels():
            fits = [fit(wanted, word, tuple(STEMMERS)) for word in label]
            if found := [cls for cls in fits if cls is not None]:
                by_class.setdefault(min(found), []).append(term)
        for cls, terms in by_class.items():
            bitmaps.setdefault(SCORES[LABELS][cls], []).append(index.union(terms))
        return {score: hits for score, each in bitmaps.items() if (hits := union(each))}

    def _split(self, wanted: str) -> tuple[str, str] | None:
        """Return the beginning and the head of a compound: the longest head that occurs in the list."""
        for head, beginnings, language in compounds(wanted):
            if self._occurs(self.index.forms(head, language), language):
                for rest in beginnings:
                    if self._occurs(self.index.starting(rest)):
                        return rest, head
        return None

    def _occurs(self, words: Iterable[str], language: str = "") -> bool:
        """Whether a vacancy of the list has one of the words."""
        known = self.live & self.index.language(language) if language else self.live
        todo = iter(words)
        while batch := list(islice(todo, 100)):
            if any(known.intersect(each) for each in self.index.load(f + w for w in batch for f in WORDS)):
                return True
        return False

    # --- A phrase ---

    def _phrase(self, phrase: str, words: list[str]) -> Scores:
        titles, places = (self._neighbours(pair, word, words) for pair, word in ("qt", "rp"))
        needle = f" {' '.join(words)} "
        named = [term for term, label in self.index.labels() if needle in f" {' '.join(label)} "]
        weight = len(words) or 1
        found = {weight * SCORES["t"][0]: titles}
        found[weight * SCORES[LABELS][0]] = places | self.index.union(named)
        rest = self.within - union(found.values())
        for word in words:
            rest = rest & self.index.union(field + word for field in WORDS)
        newest = self.index.ordered(rest, "-published_at")[:PHRASES_MAX].tolist()
        texts = Vacancy.objects.filter(pk__in=newest, search_text__contains=phrase).order_by()
        found[weight * SCORES["x"][0]] = BitMap64(texts.values_list("pk", flat=True) if newest else ())
        return found

    def _neighbours(self, pair_field: str, word_field: str, words: list[str]) -> BitMap64:
        terms = [f"{pair_field}{one} {other}" for one, other in pairwise(words)] or [
            word_field + w for w in words
        ]
        return intersection(*self.index.load(terms)) if terms else BitMap64()

    # --- Nothing found ---

    def suggestions(self, words: Words) -> list[str]:
        """Return searches that find something here: with corrected words, else with one word less."""
        typed = list(dict.fromkeys(words.all))
        choices = []
        for word in typed:
            as_typed = [(0, word)] if self.size(Words([], [word])) else []
            choices.append(as_typed + self._corrections(word) or self._heads(word))
        found = []
        for combination in islice(product(*choices), COMBINATIONS):
            chosen = list(dict.fromkeys(word for _, word in combination))
            if hits := self.size(Words([], chosen)):
                found.append((sum(n for n, _ in combination) - math.log10(hits), " ".join(chosen)))
        if not found:
            for left_out in typed if len(typed) > 1 else ():
                chosen = [word for word in typed if word != left_out]
                if hits := self.size(Words([], chosen)):
                    found.append((hits, " ".join(chosen)))
        return [text for _, text in sorted(found)][:SUGGESTIONS]

    def _heads(self, wanted: str) -> list[tuple[int, str]]:
        """Return the longest end of a compound that occurs, whatever its beginning."""
        heads = (
            h for h, _, language in compounds(wanted) if self._occurs(self.index.forms(h, language), language)
        )
        return [(0, head) for head in islice(heads, 1)]

    def _corrections(self, wanted: str) -> list[tuple[int, str]]:
        """Return the words of titles, places, brands and options that `wanted` may be a typing error of; else
        those of texts too."""
        if found := self._similar(wanted, [self.index.text("#titles")], "tp"):
            return found
        return self._similar(wanted, [self.index.text(f"#words:{code}") for code in (*STEMMERS, "")], WORDS)

    def _similar(self, wanted: str, texts: list[str], fields: str) -> list[tuple[int, str]]:
        words = (word for text in texts for word in text.split("\n"))
        known = {word: number for word in words if (number := edits(wanted, word))}
        terms = {word: [field + word for field in fields] for word in known}
        for term, label in self.index.labels():
            for word in label:
                if number := edits(wanted, word):
                    known[word] = number
                    terms.setdefault(word, []).append(term)
        self.index.load(term for each in terms.values() for term in each)
        ranked = []
        for word, number in known.items():
            if hits := self.index.union(terms[word]).intersection_cardinality(self.within):
                ranked.append((number, word[0] != wanted[0], -hits, word))
        return [(number, word) for number, _, _, word in sorted(ranked)[:CORRECTIONS]]
