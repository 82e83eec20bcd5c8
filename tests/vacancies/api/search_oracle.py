"""A plain implementation of the search: it reads all members of a list, and scores one after the other.

It shares the rules of words with the site (vacancies/search/words.py), but no index.
"""

import math
from itertools import islice, pairwise, product
from typing import Any

from django.conf import settings

from jobsite.languages import site_language
from vacancies.models import Vacancy
from vacancies.search.words import (
    FORM,
    PART,
    START,
    STEMMERS,
    WHOLE,
    Words,
    all_words,
    compounds,
    edits,
    fit,
    folded,
    joined_words,
    key,
    read_query,
    split_words,
)

TITLE, PLACE, TEXT = "title", "place", "text"
SCORES = {
    TITLE: {WHOLE: 100, FORM: 90, START: 70, PART: 60},
    PLACE: {WHOLE: 80, FORM: 75, START: 45, PART: 30},
    TEXT: {WHOLE: 20, FORM: 18, START: 8, PART: 5},
}


class Document:
    """A vacancy, with its words."""

    def __init__(self, vacancy: Vacancy) -> None:
        self.pk = vacancy.pk
        self.language = vacancy.language or site_language()
        titles = (vacancy.title, vacancy.title_internal, vacancy.reference)
        sites = [name for place in vacancy.sites for name in (place.locality, place.region)]
        names = [folded(option.label) for option in vacancy.options.all()]
        if settings.MULTI_BRANDING and vacancy.brand:
            names.append(folded(vacancy.brand.name))
        self.titles = [folded(text) for text in titles]
        self.places = [folded(text) for text in (vacancy.location, *sites)]
        self.names = [[*split_words(name), *joined_words(name)] for name in names]
        self.text = vacancy.search_text
        self.words = {
            TITLE: {word for text in self.titles for word in all_words(text)},
            PLACE: {word for text in self.places for word in all_words(text)},
            TEXT: all_words(self.text),
        }
        self.neighbours, self.place_neighbours = (
            {pair for text in texts for pair in pairwise(split_words(text))}
            for texts in (self.titles, self.places)
        )

    def word(self, wanted: str) -> int:
        """Return the best score of a word that fits, or 0."""
        fits = [(f, fit(wanted, word, (self.language,))) for f, words in self.words.items() for word in words]
        fits += [(PLACE, fit(wanted, word, tuple(STEMMERS))) for name in self.names for word in name]
        return max((SCORES[field][cls] for field, cls in fits if cls is not None), default=0)

    def phrase(self, phrase: str, words: list[str]) -> int:
        pairs, needle = set(pairwise(words)), f" {' '.join(words)} "
        own = [self.words[TITLE], self.words[PLACE], self.words[TEXT]]
        if words and (pairs <= self.neighbours if pairs else words[0] in own[0]):
            return 100 * len(words)
        if words and (pairs <= self.place_neighbours if pairs else words[0] in own[1]):
            return 80 * len(words)
        if any(needle in f" {' '.join(name)} " for name in self.names):
            return 80 * len(words)
        is_in_text = phrase in self.text and all(any(word in each for each in own) for word in words)
        return 20 * (len(words) or 1) if is_in_text else 0


class PlainSearch:
    """A search among `documents`; the others of the list, `live`, decide what a compound is."""

    def __init__(self, live: list[Document], pks: set[int]) -> None:
        self.live, self.documents = live, [each for each in live if each.pk in pks]

    def split(self, wanted: str) -> tuple[str, str] | None:
        for head, beginnings, language in compounds(wanted):
            own = [each for each in self.live if each.language == language]
            if any(key(word, language) == key(head, language) for word in self.vocabulary(own)):
                for rest in beginnings:
                    if any(word.startswith(rest) for word in self.vocabulary(self.live)):
                        return rest, head
        return None

    @staticmethod
    def vocabulary(documents: list[Document]) -> set[str]:
        return {word for each in documents for words in each.words.values() for word in words}

    def scores(self, words: Words) -> dict[int, int]:
        """Return the scores of the hits by id."""
        found = {}
        splits = {word: self.split(word) for word in words.single}
        for each in self.documents:
            scores = [each.phrase(*phrase) for phrase in words.phrases]
            for word in words.single:
                score = each.word(word)
                if parts := splits[word]:
                    rest, head = each.word(parts[0]), each.word(parts[1])
                    score = max(score, head * (60 if rest else 40) // 100)
                scores.append(score)
            if scores and all(scores):
                near = sum(pair in each.neighbours for pair in pairwise(words.single))
                found[each.pk] = sum(scores) + 5 * near
        return found

    def suggestions(self, words: Words) -> list[str]:
        typed = list(dict.fromkeys(words.all))
        choices = []
        for word in typed:
            as_typed = [(0, word)] if self.scores(Words([], [word])) else []
            choices.append(as_typed + self.corrections(word) or self.heads(word))
        found: list[tuple[Any, str]] = []
        for combination in islice(product(*choices), 30):
            chosen = list(dict.fromkeys(word for _, word in combination))
            if hits := len(self.scores(Words([], chosen))):
                found.append((sum(n for n, _ in combination) - math.log10(hits), " ".join(chosen)))
        if not found and len(typed) > 1:
            for left_out in typed:
                chosen = [word for word in typed if word != left_out]
                if hits := len(self.scores(Words([], chosen))):
                    found.append((hits, " ".join(chosen)))
        return [text for _, text in sorted(found)][:3]

    def heads(self, wanted: str) -> list[tuple[int, str]]:
        for head, _, language in compounds(wanted):
            own = [each for each in self.live if each.language == language]
            if any(key(word, language) == key(head, language) for word in self.vocabulary(own)):
                return [(0, head)]
        return []

    def corrections(self, wanted: str) -> list[tuple[int, str]]:
        return self.similar(wanted, (TITLE, PLACE)) or self.similar(wanted, (TITLE, PLACE, TEXT))

    def similar(self, wanted: str, fields: tuple[str, ...]) -> list[tuple[int, str]]:
        number: dict[str, int] = {}
        for each in self.documents:
            own = [*(each.words[field] for field in fields), *each.names]
            for word in {word for words in own for word in words}:
                number[word] = number.get(word, 0) + 1
        near = [(n, w[0] != wanted[0], -number[w], w) for w in number if (n := edits(wanted, w))]
        return [(n, word) for n, _, _, word in sorted(near)[:3]]


def search(text: str, live: list[int], pks: list[int]) -> tuple[dict[int, int], list[str]]:
    """Return the scores of the hits among `pks`, some of the vacancies `live` of a list, and suggestions."""
    vacancies = Vacancy.objects.filter(pk__in=live).select_related("brand")
    documents = [Document(each) for each in vacancies.prefetch_related("options", "places")]
    plain, words = PlainSearch(documents, set(pks)), read_query(text)
    found = plain.scores(words)
    return found, [] if found else plain.suggestions(words)
