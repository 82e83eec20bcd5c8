"""The search of the admin: in the rows of the database, by the words and forms of the other search.

The index has published vacancies. The admin also lists drafts, the archive and applicants.
"""

import re
from collections.abc import Callable
from functools import cache, reduce
from operator import or_

from django.db.models import Q, QuerySet

from jobsite.db.folding import fold
from jobsite.text.search import search_words
from vacancies.querysets import VacancyQuerySet
from vacancies.search.query import SCORES
from vacancies.search.words import STEMMERS, Words, fit, has_parts, read_query, split_words, stems

COMPARED = 50  # hits, whose best are shown
EXACT = 10_000  # more than the score of all words
_EDGE = r"""[ !"&'()*,./:;?_|-]"""  # of a word; the trigram index of PostgreSQL cannot use \W


def in_title(word: str, *, starts: bool = False) -> Q:
    """The condition that a title has the `word`, as a part too, or another form of it. Short words
    are whole words, or the first letters of one if it `starts`.
    """
    if not has_parts(word):
        return Q(
            title_folded__regex=rf"(^|{_EDGE}){re.escape(word)}"
            + ("" if starts else rf"($|{_EDGE})")
        )
    return _contains("title_folded", stems(word))


def _contains(column: str, parts: list[str]) -> Q:
    return reduce(or_, (Q(**{f"{column}__contains": part}) for part in parts))


def _fits(word: str) -> Q:
    if not has_parts(word):
        return in_title(word)
    parts = stems(word)
    # A text begins with the title: its index finds both.
    found = _contains("search_text", parts)
    if parts == [word]:
        return found
    return found & (_contains("title_folded", parts) | Q(search_text__contains=word))


def query_words(text: str) -> Words:
    """Return the words of a search. Raise ValidationError if they are too many."""
    search_words(text)
    words = read_query(text)
    search_words(" ".join(words.all))  # a-b-c is one word there, and three here
    return words


def matching(vacancies: VacancyQuerySet, text: str) -> VacancyQuerySet:
    """Return the vacancies with every word of `text` in the title, or as a part of a word in a
    text. Raise ValidationError if the words are too many.
    """
    words = query_words(text)
    if not any(words):
        return vacancies.none()
    found = Q(
        *(Q(search_text__contains=phrase) for phrase, _ in words.phrases), *map(_fits, words.single)
    )
    typed = fold(text)
    if len(words.all) > 1 and " " not in typed:  # a reference whose words may be short
        found |= Q(search_text__contains=typed)
    return vacancies.filter(found)


def best_first(rows: QuerySet, text: str, *columns: str, number: int = COMPARED) -> list[int]:
    """Return the ids of the first `rows`, so many: those whose names, in `columns`, fit `text` best
    come first.
    """
    score, typed = scorer(text), text.strip()
    found = rows.values_list("pk", *columns)[:number]
    points = {
        pk: EXACT
        if str(pk) == typed
        else score(fold(", ".join(str(each) for each in names if each)))
        for pk, *names in found
    }
    return sorted(points, key=lambda pk: -points[pk])


def scorer(text: str) -> Callable[[str], int]:
    """Return a function that says how a folded title or name fits the words of `text`."""
    wanted = read_query(text).all

    @cache
    def of_word(word: str) -> list[int]:
        found = (fit(each, word, tuple(STEMMERS)) for each in wanted)
        return [0 if cls is None else SCORES["t"][cls] for cls in found]

    @cache  # titles repeat
    def of_name(name: str) -> int:
        return sum(map(max, zip(*map(of_word, split_words(name)), strict=True)))

    return of_name
