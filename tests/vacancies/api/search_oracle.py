"""A plain implementation of the search: it reads all members of a list, and scores one after the
other.

It shares the rules of words with the site (vacancies/search/words.py), but no index.
"""

import math
from itertools import islice, pairwise, product
from typing import Any

from jobsite.db.folding import fold
from jobsite.languages import site_language, text_languages
from jobsite.text.html import visible_text
from vacancies.models import Vacancy
from vacancies.search.city_names import other_names
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
    key,
    name_words,
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
        ready = vacancy.translations.filter(is_ready=True, language__in=text_languages())
        self.languages = (vacancy.language or site_language(), *(each.language for each in ready))
        titles = [vacancy.title, vacancy.title_internal, vacancy.reference]
        for each in ready:
            titles += [each.texts.get(name, "") for name in ("title", "title_internal")]
        sites = [name for place in vacancy.sites for name in (place.locality, place.region)]
        names = [folded(option.label) for option in vacancy.options.all()]
        if vacancy.brand:
            names.append(folded(vacancy.brand.name))
        self.titles = [folded(text) for text in titles]
        self.places = [folded(text) for text in (vacancy.location, *sites)]
        self.names = [name_words(name) for name in names]
        translated = [fold(visible_text(t)) for each in ready for t in each.texts.values()]
        self.text = " ".join([vacancy.search_text, *translated])
        self.words = {
            TITLE: {word for text in self.titles for word in name_words(text)},
            PLACE: {word for text in self.places for word in name_words(text)},
            TEXT: all_words(self.text),
        }
        self.neighbours, self.place_neighbours = (
            {pair for text in texts for pair in pairwise(split_words(text))}
            for texts in (self.titles, self.places)
        )

    def word(self, wanted: str) -> int:
        """Return the best score of a word that fits, or 0."""
        found = [(SCORES[field][cls], cls) for field, cls in self.fits(wanted)]
        if len(wanted) == 3 and wanted.isascii():
            found = [(SCORES[TEXT][cls] if cls >= START else score, cls) for score, cls in found]
        return max((score for score, _ in found), default=0)

    def fits(self, wanted: str) -> list[tuple[str, int]]:
        fits = [
            (f, fit(wanted, word, self.languages))
            for f, words in self.words.items()
            for word in words
        ]
        fits += [
            (PLACE, fit(wanted, word, tuple(STEMMERS))) for name in self.names for word in name
        ]
        return [(field, cls) for field, cls in fits if cls is not None]

    def in_language(self, wanted: str, language: str, classes: tuple[int, ...]) -> int:
        """Return the best score of a word or a compound with it, in a vacancy in the language."""
        if language not in self.languages:
            return 0
        own = key(wanted, language)
        found = [0]
        for field, words in self.words.items():
            for word in words:
                if word.isdecimal():
                    continue
                if key(word, language) == own:
                    found.append(SCORES[field][FORM])
                elif PART in classes and len(own) > 2 and key(word, language).endswith(own):
                    found.append(SCORES[field][PART])
        return max(found)

    def name(self, words: tuple[str, ...], *, is_label: bool) -> int:
        """Return the best score of another name or spelling, word for word."""
        pairs, needle, found = set(pairwise(words)), f" {' '.join(words)} ", [0]
        if pairs <= self.neighbours if pairs else words[0] in self.words[TITLE]:
            found.append(SCORES[TITLE][FORM])
        if pairs <= self.place_neighbours if pairs else words[0] in self.words[PLACE]:
            found.append(SCORES[PLACE][FORM])
        if not pairs and words[0] in self.words[TEXT]:
            found.append(SCORES[TEXT][FORM])
        if is_label and any(needle in f" {' '.join(name)} " for name in self.names):
            found.append(SCORES[PLACE][FORM])
        return max(found)

    def phrase(self, phrase: str, words: list[str]) -> int:
        pairs, needle = set(pairwise(words)), f" {' '.join(words)} "
        own = [self.words[TITLE], self.words[PLACE], self.words[TEXT]]
        if words and (pairs <= self.neighbours if pairs else words[0] in own[0]):
            return 100 * len(words)
        if words and (pairs <= self.place_neighbours if pairs else words[0] in own[1]):
            return 80 * len(words)
        if any(needle in f" {' '.join(name)} " for name in self.names):
            return 80 * len(words)
        is_in_text = all(any(word in each for each in own) for word in words)
        is_in_text = is_in_text and (phrase in self.text or words == [phrase])
        return 20 * (len(words) or 1) if is_in_text else 0


class PlainSearch:
    """A search among `documents`; the others of the list, `live`, decide what a compound is."""

    def __init__(self, live: list[Document], pks: set[int]) -> None:
        self.live, self.documents = live, [each for each in live if each.pk in pks]

    def split(self, wanted: str) -> tuple[str, str, str] | None:
        if any(cls in (WHOLE, FORM) for each in self.live for _, cls in each.fits(wanted)):
            return None
        for head, beginnings, language in compounds(wanted):
            own = [each for each in self.live if language in each.languages]
            keys = {key(word, language) for word in self.vocabulary(own) if not word.isdecimal()}
            if key(head, language) in keys:
                for rest in beginnings:
                    if key(rest, language) in keys:
                        return rest, head, language
        return None

    @staticmethod
    def vocabulary(documents: list[Document]) -> set[str]:
        return {word for each in documents for words in each.words.values() for word in words}

    def scores(self, words: Words) -> dict[int, int]:
        """Return the scores of the hits by id."""
        found = {}
        splits = {word: self.split(word) for word in (*words.single, *map("".join, words.joined))}
        runs = [
            tuple(words.single[n : n + size])
            for n in range(len(words.single))
            for size in range(1, 5)
        ]
        for each in self.documents:
            scores = [each.phrase(*phrase) for phrase in words.phrases]
            others = {run: self.other(each, run) for run in runs}
            for run in words.joined:
                others[run] = max(others.get(run, 0), self.score(each, "".join(run), splits))
            for word in words.single:
                more = [score for run, score in others.items() if word in run]
                scores.append(max(self.score(each, word, splits), *more))
            if scores and all(scores):
                near = sum(pair in each.neighbours for pair in pairwise(words.single))
                found[each.pk] = sum(scores) + 5 * near
        return found

    @staticmethod
    def score(each: Document, word: str, splits: dict[str, Any]) -> int:
        score = each.word(word)
        if parts := splits[word]:
            rest, head = (
                each.in_language(part, parts[2], classes)
                for part, classes in ((parts[0], (FORM,)), (parts[1], (FORM, PART)))
            )
            score = max(score, head * (70 if rest else 40) // 100)
        return score

    @staticmethod
    def other(each: Document, run: tuple[str, ...]) -> int:
        names = [*other_names(run), *([("".join(run),)] if len(run) == 2 else [])]
        found = [each.name(name, is_label=len(run) > 1 or len(name) == 1) for name in names]
        if len(run) == 1 and len(run[0]) > 3:
            cuts = [(run[0][:cut], run[0][cut:]) for cut in range(1, len(run[0]))]
            found += [each.name(cut, is_label=False) for cut in cuts]
        return max(found, default=0)

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
            own = [each for each in self.live if language in each.languages]
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
    """Return the scores of the hits among `pks`, some of the vacancies `live` of a list, and
    suggestions.
    """
    vacancies = Vacancy.objects.filter(pk__in=live).select_related("brand")
    documents = [Document(each) for each in vacancies.prefetch_related("options", "places")]
    plain, words = PlainSearch(documents, set(pks)), read_query(text)
    found = plain.scores(words)
    return found, [] if found else plain.suggestions(words)
