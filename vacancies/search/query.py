"""What a search finds, in which order, and what it proposes if it finds nothing.

A hit needs every word. Each word of the query gives it the best score of what fits (`SCORES`); the
sum decides. Nothing depends on vacancies that the reader may not see: `live` are those of the
reader's list.
"""

import math
from array import array
from collections.abc import Iterable
from itertools import chain, filterfalse, islice, pairwise, product

from pyroaring import BitMap64

from vacancies.models import Vacancy
from vacancies.search.city_names import WORDS_MAX, other_names
from vacancies.search.index import Index
from vacancies.search.terms import WORDS, read_translations
from vacancies.search.vocabulary import lines
from vacancies.search.words import (
    FORM,
    PART,
    PARTS_MIN,
    START,
    STEMMERS,
    WHOLE,
    Words,
    compounds,
    edits,
    pieces,
)

# By field and class (whole, form, start, part): a title counts more than a place, a brand or an
# option, and these more than a text.
SCORES = {"t": (100, 90, 70, 60), "p": (80, 75, 45, 30), "x": (20, 18, 8, 5)}
LABELS = "p"  # brands and options count as places
NEIGHBOURS = 5  # for each two words of the query that are neighbours in a title
BOTH_PARTS, HEAD_ONLY = 70, 40  # percent of the score of the head of a compound
CORRECTIONS = 3  # of a word
COMBINATIONS = 30
SUGGESTIONS = 3

# What a search costs at most. Queries of few words are not affected.
TEXTS_MAX, CHARACTERS_MAX = 2_000, 8_000_000  # of the newest vacancies that are read for phrases
BATCH = 200  # of them
SCORES_MAX = 64  # different sums; then they are rounded
SPLIT_MAX = 5  # words that may be compounds
CORRECTED_MAX = 4  # words that may have errors

Scores = dict[int, BitMap64]  # by score
Run = tuple[str, ...]  # words of the query that are neighbours


def union(bitmaps: Iterable[BitMap64]) -> BitMap64:
    bitmaps = list(bitmaps)
    return BitMap64.union(*bitmaps) if bitmaps else BitMap64()


def intersection(first: BitMap64, *others: BitMap64) -> BitMap64:
    for other in others:
        first = first & other
    return first


def score_of(wanted: str, field: str, cls: int) -> int:
    """Return the score of a class.
    Three letters in a longer word count less than as a word of a text.
    """
    is_short = cls >= START and len(wanted) <= PARTS_MIN and wanted.isascii()
    return SCORES["x" if is_short else field][cls]


def merged(one: Scores, other: Scores) -> Scores:
    found = {score: one[score] | other[score] for score in one.keys() & other.keys()}
    return one | other | found


class Search:
    """Searches among the vacancies `within`, a part of `live`, the vacancies
    of a list at a time.
    """

    def __init__(self, index: Index, live: BitMap64, within: BitMap64) -> None:
        self.index, self.live, self.within = index, live, within
        self._by_word: dict[str, Scores] = {}
        self._by_run: dict[Run, Scores] = {}
        self._splits = SPLIT_MAX

    def ranked(self, words: Words) -> "array[int]":
        """Return the ids of the hits, best first, the newest first among equals."""
        found = self.hits(words)
        rest: Iterable[int] = self.index.ordered(union(found.values()), "-published_at")
        by_score = {}
        # Soon, few are left.
        for score, bitmap in sorted(found.items(), key=lambda item: -len(item[1])):
            rest = array("q", rest)
            by_score[score] = filter(bitmap.__contains__, rest)
            rest = filterfalse(bitmap.__contains__, rest)
        ranked = array("q")
        for _, pks in sorted(by_score.items(), reverse=True):
            ranked.extend(pks)
        return ranked

    def hits(self, words: Words) -> Scores:
        parts = [*self._phrases(words), *self._words(words)]
        found: Scores = {0: self._common(parts)}
        for scores in parts:
            added: Scores = {}
            for total, rest in found.items():
                for score, bitmap in sorted(scores.items(), reverse=True):
                    if hit := rest & bitmap:
                        rest = rest - hit
                        added[total + score] = added.get(total + score, BitMap64()) | hit
                    if not rest:
                        break
            found, step = added, 5
            while len(found) > SCORES_MAX:
                rounded: Scores = {}
                for total, bitmap in found.items():
                    rounded = merged(rounded, {total // step * step: bitmap})
                found, step = rounded, step * 2
        pairs = (
            [f"q{one} {other}" for one, other in pairwise(words.single)]
            if any(found.values())
            else []
        )
        for pair in self.index.load(pairs):
            for total, bitmap in sorted(found.items(), reverse=True):
                if hit := bitmap & pair:
                    found[total] = bitmap - hit
                    found[total + NEIGHBOURS] = found.get(total + NEIGHBOURS, BitMap64()) | hit
        return {score: bitmap for score, bitmap in found.items() if bitmap}

    def _common(self, parts: list[Scores]) -> BitMap64:
        return (
            intersection(self.within, *(union(each.values()) for each in parts))
            if parts
            else BitMap64()
        )

    def size(self, words: list[str]) -> int:
        return len(self._common(self._words(Words([], words))))

    # --- Words ---

    def _words(self, words: Words) -> list[Scores]:
        """Return the hits of each word, also of other spellings and names of it
        and its neighbours.
        """
        single = words.single
        runs = {
            tuple(single[n:end])
            for n in range(len(single))
            for end in range(n + 1, n + 1 + WORDS_MAX)
        }
        others = {run: self._others(run) for run in sorted(runs)}
        for run in words.joined:
            others[run] = merged(others.get(run, {}), self._word("".join(run)))
        found = []
        for word in single:
            scores = self._word(word)
            for run, more in others.items():
                if more and word in run:
                    scores = merged(scores, more)
            found.append(scores)
        return found

    def _others(self, run: Run) -> Scores:
        """Return the hits of other names of a city, of two words as one, and of one word as two."""
        if run not in self._by_run:
            names = other_names(run)
            if len(run) == 2:
                names.append(("".join(run),))
            if len(run) == 1 and len(run[0]) >= 4:
                names += [(run[0][:cut], run[0][cut:]) for cut in range(1, len(run[0]))]
            found: Scores = {}
            fields = {name: self._fields(list(name)) for name in names}
            self.index.load(
                term for each in fields.values() for terms in each.values() for term in terms
            )
            for name, terms in fields.items():
                for field, each in terms.items():
                    if hits := intersection(*self.index.load(each)):
                        found = merged(found, {SCORES[field][FORM]: hits})
                if len(name) == 1 or len(run) > 1:
                    labels = self.index.union(self.index.labels().having(list(name)))
                    found = merged(found, {SCORES[LABELS][FORM]: labels})
            self._by_run[run] = {score: hits for score, hits in found.items() if hits}
        return self._by_run[run]

    @staticmethod
    def _fields(words: list[str]) -> dict[str, list[str]]:
        """Return, by field, the terms that a vacancy has if the words are neighbours there."""
        if len(words) == 1:
            return {field: [field + words[0]] for field in WORDS}
        return {
            field: [f"{pair}{one} {other}" for one, other in pairwise(words)]
            for field, pair in (("t", "q"), ("p", "r"))
        }

    def _word(self, wanted: str) -> Scores:
        if wanted not in self._by_word:
            found, is_known = self._simple(wanted)
            if not is_known and self._splits and (parts := compounds(wanted)):
                self._splits -= 1
                found = merged(found, self._split(parts))
            self._by_word[wanted] = found
        return self._by_word[wanted]

    def _simple(self, wanted: str) -> tuple[Scores, bool]:
        """Return the hits of a word that is no compound, and whether the list has it or a form of
        it.
        """
        index, bitmaps, is_known = self.index, dict[int, list[BitMap64]](), False
        expanded = index.vocabulary.expand(wanted)
        index.load(
            [field + word for *_, words in expanded for word in words for field in SCORES]
        )  # one query
        for cls, language, words in expanded:
            for field in SCORES:
                hits = index.union(field + word for word in words)
                if language and hits:
                    hits = hits & index.language(language)
                is_known = is_known or (cls in (WHOLE, FORM) and self.live.intersect(hits))
                bitmaps.setdefault(score_of(wanted, field, cls), []).append(hits)
        labels = index.labels()
        for cls, _, words in labels.vocabulary.expand(wanted):
            hits = index.union({term for word in words for term in labels.terms.get(word, ())})
            is_known = is_known or (cls in (WHOLE, FORM) and self.live.intersect(hits))
            bitmaps.setdefault(score_of(wanted, LABELS, cls), []).append(hits)
        return {score: hits for score, each in bitmaps.items() if (hits := union(each))}, is_known

    def _split(self, parts: list[tuple[str, tuple[str, ...], str]]) -> Scores:
        """Return the hits of the longest head of a compound that occurs in the list, where its
        beginning does too: as words of the language.
        """
        forms, ending = self.index.vocabulary.forms, self.index.vocabulary.ending
        for head, beginnings, language in parts:
            if self._occurs(heads := forms(head, language), language):
                for rest in beginnings:
                    if self._occurs(rests := forms(rest, language), language):
                        known = union(self._in_language(FORM, rests, language).values())
                        found = self._in_language(PART, ending(head, language), language)
                        found = merged(found, self._in_language(FORM, heads, language))
                        both = {
                            score * BOTH_PARTS // 100: hits & known for score, hits in found.items()
                        }
                        alone = {score * HEAD_ONLY // 100: hits for score, hits in found.items()}
                        return merged(both, alone)
        return {}

    def _in_language(self, cls: int, words: set[str], language: str) -> Scores:
        """Return the hits of words in vacancies in the language."""
        within = self.index.language(language)
        self.index.load(field + word for field in SCORES for word in words)
        return {
            scores[cls]: within & self.index.union(field + word for word in words)
            for field, scores in SCORES.items()
        }

    def _occurs(self, words: Iterable[str], language: str = "") -> bool:
        """Whether a vacancy of the list has one of the words."""
        known = self.live & self.index.language(language) if language else self.live
        todo = iter(words)
        while batch := list(islice(todo, 100)):
            if any(
                known.intersect(each)
                for each in self.index.load(f + w for w in batch for f in WORDS)
            ):
                return True
        return False

    # --- Phrases ---

    def _phrases(self, words: Words) -> list[Scores]:
        """Return the hits of each phrase.
        Texts that may have all of them are read, the newest first.
        """
        known = [self._phrase(phrase, each) for phrase, each in words.phrases]
        doubtful = [
            (phrase, maybe) for (phrase, _), (_, maybe) in zip(words.phrases, known, strict=True)
        ]
        possible = [{0: union([*scores.values(), maybe])} for scores, maybe in known]
        left = self._common([*possible, *self._words(words)])
        having = self._read(
            [phrase for phrase, maybe in doubtful if maybe],
            union(left & maybe for _, maybe in doubtful),
        )
        for (scores, maybe), (phrase, each) in zip(known, words.phrases, strict=True):
            if phrase in having:
                text = {SCORES["x"][WHOLE] * (len(each) or 1): having[phrase] & maybe}
                scores.update(merged(scores, text))
        return [scores for scores, _ in known]

    def _phrase(self, phrase: str, words: list[str]) -> tuple[Scores, BitMap64]:
        """Return the hits that the index knows, and the vacancies whose text may
        have the phrase.
        """
        index, weight, found = self.index, len(words) or 1, dict[int, BitMap64]()
        for field, terms in self._fields(words).items() if words else ():
            found[weight * SCORES[field][WHOLE]] = intersection(*index.load(terms))
        places = found.get(weight * SCORES[LABELS][WHOLE], BitMap64())
        found[weight * SCORES[LABELS][WHOLE]] = places | index.union(index.labels().having(words))
        if [phrase] == words:
            return found, BitMap64()
        maybe = self.within - union(found.values())
        for word in dict.fromkeys(words):
            maybe = maybe & index.union(field + word for field in WORDS)
        return found, maybe

    def _read(self, phrases: list[str], pks: BitMap64) -> dict[str, BitMap64]:
        """Return the vacancies among `pks` whose text has each phrase, as far as they are read."""
        having, size = {phrase: BitMap64() for phrase in phrases}, 0
        newest = self.index.ordered(pks, "-published_at")[:TEXTS_MAX].tolist() if pks else []
        while newest and size < CHARACTERS_MAX:
            batch, newest = newest[:BATCH], newest[BATCH:]
            rows = Vacancy.objects.filter(pk__in=batch).order_by().values_list("pk", "search_text")
            translated = ((pk, text) for pk, _, _, text in read_translations(batch))
            for pk, text in chain(rows, translated):
                size += len(text)
                for phrase, found in having.items():
                    if phrase in text:
                        found.add(pk)
        return having

    # --- Nothing found ---

    def suggestions(self, words: Words) -> list[str]:
        """Return searches that find something here:
        with corrected words, else with one word less.
        """
        typed = list(dict.fromkeys(words.all))
        sizes = {word: self.size([word]) for word in typed}
        corrected = sorted(typed, key=sizes.__getitem__)[:CORRECTED_MAX]
        choices = []
        for word in typed:
            as_typed = [(0, word)] if sizes[word] else []
            others = self._corrections(word) if word in corrected else []
            choices.append(as_typed + others or self._heads(word))
        found = []
        for combination in islice(product(*choices), COMBINATIONS):
            chosen = list(dict.fromkeys(word for _, word in combination))
            if hits := self.size(chosen):
                found.append((sum(n for n, _ in combination) - math.log10(hits), " ".join(chosen)))
        if not found:
            for left_out in typed if len(typed) > 1 else ():
                chosen = [word for word in typed if word != left_out]
                if hits := self.size(chosen):
                    found.append((hits, " ".join(chosen)))
        return [text for _, text in sorted(found)][:SUGGESTIONS]

    def _heads(self, wanted: str) -> list[tuple[int, str]]:
        """Return the longest end of a compound that occurs, whatever its beginning."""
        forms = self.index.vocabulary.forms
        heads = (
            h for h, _, language in compounds(wanted) if self._occurs(forms(h, language), language)
        )
        return [(0, head) for head in islice(heads, 1)]

    def _corrections(self, wanted: str) -> list[tuple[int, str]]:
        """Return the words of titles, places, brands and options that `wanted` may be a typing
        error of; else those of texts too.
        """
        if found := self._similar(wanted, [self.index.text("#titles")], "tp"):
            return found
        return self._similar(
            wanted, [self.index.text(f"#words:{code}") for code in (*STEMMERS, "")], WORDS
        )

    def _similar(self, wanted: str, texts: list[str], fields: str) -> list[tuple[int, str]]:
        near = {word for part in pieces(wanted) for text in texts for word in lines(text, part)}
        known = {word: number for word in near if (number := edits(wanted, word))}
        terms = {word: [field + word for field in fields] for word in known}
        for word, named in self.index.labels().terms.items():
            if number := edits(wanted, word):
                known[word] = number
                terms.setdefault(word, []).extend(named)
        self.index.load(term for each in terms.values() for term in each)
        ranked = []
        for word, number in known.items():
            if hits := self.index.union(terms[word]).intersection_cardinality(self.within):
                ranked.append((number, word[0] != wanted[0], -hits, word))
        return [(number, word) for number, _, _, word in sorted(ranked)[:CORRECTIONS]]
