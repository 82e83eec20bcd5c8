"""The terms of a vacancy: a letter for the field, and a word or an id.

t a word of the title, internal title or reference, q a pair of neighbours among them; p a word of a
place, r a pair of those; x another word of the texts; o an option, b the brand, l a list, g the
language as stored, G another language with ready texts, c a country, w the work place. The index
adds e: it had expired when the index was merged. Words are those of the texts in all languages.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from itertools import pairwise
from typing import Any

from django.db import connections
from pyroaring import BitMap64

from jobsite.languages import site_language, text_languages
from jobsite.serving import replica
from jobsite.serving.revision import fetch
from vacancies.choices import VacancyStatus
from vacancies.models import Brand, FilterOption, Place, Vacancy, VacancyText
from vacancies.models.vacancy_text import TEXTS
from vacancies.querysets import VacancyList
from vacancies.search.words import STEMMERS, all_words, folded, name_words, split_words

BATCH = 1_000  # vacancies, of one query
WORDS = "tpx"  # the fields of words
OF_TEXTS = WORDS + "qr"  # the fields whose terms are made of texts
PUBLISHED = ""  # the "term" of all published vacancies

_IN = {"postgresql": "= ANY(%s)", "sqlite": "IN (SELECT value FROM json_each(%s))"}
_IDS = {"postgresql": "array_agg", "sqlite": "json_group_array"}
# The ids by term of all terms that need no text. Statements of the database, because a program may
# have changed all vacancies at once: with a row for each term, 100,000 take 0.5 s, not 10.
_FACTS = (
    "WITH published AS (SELECT id, brand_id, language, work_place, audience, is_hot, publish_until "
    f"FROM vacancies_vacancy WHERE id {{within}} AND status = '{VacancyStatus.PUBLISHED}') "
    + " UNION ALL ".join(
        f"SELECT {term}, {{ids}}({pk}) FROM published {rest} GROUP BY 1"
        for term, pk, rest in (
            (
                "'o' || option_id",
                "vacancy_id",
                "JOIN vacancies_vacancyoption ON vacancy_id = published.id",
            ),
            ("'c' || country", "vacancy_id", "JOIN vacancies_place ON vacancy_id = published.id"),
            ("'b' || brand_id", "id", "WHERE brand_id IS NOT NULL"),
            ("'g' || language", "id", ""),
            (
                "'G' || text.language",
                "vacancy_id",
                "JOIN vacancies_vacancytext AS text ON vacancy_id = published.id AND is_ready",
            ),
            ("'w' || work_place", "id", ""),
            *((f"'l{each.column}'", "id", f"WHERE {each.sql()}") for each in VacancyList),
            ("'e'", "id", "WHERE publish_until <= %s"),
            (f"'{PUBLISHED}'", "id", ""),
        )
    )
)

Bitmaps = dict[str, BitMap64]  # ids of vacancies by term


def patched(bitmaps: Bitmaps, gone: BitMap64, added: Bitmaps) -> Bitmaps:
    """Return the bitmaps without the ids `gone`, and with those of their terms in `added`."""
    return {
        term: (bitmap - gone) | added[term]
        if term in added
        else bitmap - gone
        if bitmap.intersect(gone)
        else bitmap
        for term, bitmap in bitmaps.items()
    }


def within(sql: str, values: Iterable[Any], *others: object) -> list[tuple]:
    """Return the rows of `sql`, where {within} stands for "in `values`", the first parameter."""
    vendor = connections[replica.current()].vendor
    listed = list(values)
    return fetch(
        sql.format(within=_IN[vendor], ids=_IDS[vendor]),
        listed if vendor == "postgresql" else json.dumps(listed),
        *others,
    )


def read_facts(pks: BitMap64, *, expired_at: datetime | None) -> Bitmaps:
    """Return those of the vacancies `pks` that are published by the terms that need no text, and by
    PUBLISHED. The term e is of those that had expired at that time.
    """
    if not pks:
        return {}
    operations = connections[replica.current()].ops
    rows = within(_FACTS, pks, operations.adapt_datetimefield_value(expired_at))
    return {
        term: BitMap64(json.loads(found) if isinstance(found, str) else found)
        for term, found in rows
    }


@dataclass
class IndexedTexts:
    """The terms of published vacancies that are made of texts."""

    bitmaps: Bitmaps = field(default_factory=dict)
    # The words of the vocabulary, which has no numbers: references would be most of it. By language
    # of STEMMERS, or "" for all others.
    words: dict[str, set[str]] = field(default_factory=dict)
    titles: set[str] = field(default_factory=set)  # the words that a correction may propose

    def after(self, gone: BitMap64, more: "IndexedTexts") -> "IndexedTexts":
        """Return this with `more`, and without the vacancies `gone`. Their words stay."""
        words = {
            code: self.words.get(code, set()) | more.words.get(code, set())
            for code in self.words.keys() | more.words.keys()
        }
        return IndexedTexts(
            more.bitmaps | patched(self.bitmaps, gone, more.bitmaps),
            words,
            self.titles | more.titles,
        )


def read_texts(pks: BitMap64) -> IndexedTexts:
    """Return what the texts of those of the vacancies `pks` contain that are published."""
    found, todo = IndexedTexts(), list(pks)
    for batch in (todo[n : n + BATCH] for n in range(0, len(todo), BATCH)):
        by_term: dict[str, list[int]] = {}
        for pk, language, terms in _texts_of(batch):
            for term in terms:
                by_term.setdefault(term, []).append(pk)
            words = {t[1:] for t in terms if t[0] in WORDS and not t[1:].isdecimal()}
            found.words.setdefault(language if language in STEMMERS else "", set()).update(words)
            found.titles |= {t[1:] for t in terms if t[0] in "tp" and t[1:].isalpha()}
        for term, ids in by_term.items():
            found.bitmaps.setdefault(term, BitMap64()).update(ids)
    return found


def _texts_of(batch: list[int]) -> Iterable[tuple[int, str, set[str]]]:
    """Yield id, language and terms of published vacancies."""
    places: dict[int, list[str]] = {pk: [] for pk in batch}
    of_places = Place.objects.filter(vacancy__in=batch).order_by("position", "pk")
    for pk, *of_place in of_places.values_list("vacancy", "locality", "region"):
        places[pk] += of_place
    rows: Any = Vacancy.objects.filter(pk__in=batch, status=VacancyStatus.PUBLISHED).order_by()
    names = ("title", "title_internal", "reference", "location", "search_text", "language")
    for pk, title, internal, reference, location, text, code in rows.values_list("pk", *names):
        terms = _named("t", "q", (title, internal, reference))
        terms |= _named("p", "r", (location, *places[pk]))
        yield pk, code or site_language(), _with_others(terms, text)
    for pk, code, texts, text in read_translations(batch):
        titles = (texts.get("title", ""), texts.get("title_internal", ""))
        yield pk, code, _with_others(_named("t", "q", titles), text)


def read_translations(pks: list[int]) -> list[tuple[int, str, dict[str, str], str]]:
    """Return the ready texts of the published vacancies `pks` in other languages: id of the vacancy,
    language, texts, and all of them folded.
    """
    if not (languages := text_languages()):
        return []
    rows = VacancyText.objects.filter(
        vacancy__in=pks,
        vacancy__status=VacancyStatus.PUBLISHED,
        language__in=languages,
        is_ready=True,
    )
    found = rows.order_by("pk").values_list("vacancy", "language", "texts")
    return [(pk, code, texts, TEXTS.folded(texts)) for pk, code, texts in found]


def _with_others(terms: set[str], text: str) -> set[str]:
    """Return `terms` with those of the other words of a folded text."""
    others = (w for w in all_words(text) if "t" + w not in terms and "p" + w not in terms)
    return terms | {"x" + word for word in others}


def _named(word_field: str, pair_field: str, names: Iterable[str]) -> set[str]:
    terms: set[str] = set()
    for name in dict.fromkeys(names):
        text = folded(name)
        terms.update(word_field + word for word in name_words(text))
        terms.update(f"{pair_field}{one} {other}" for one, other in pairwise(split_words(text)))
    return terms


def read_labels() -> list[tuple[str, list[str]]]:
    """Return the terms of all options and brands, each with the words of its label or name; an
    option once for each language of its label.
    """
    brands = Brand.objects.values_list("pk", "name")
    named = [(f"b{pk}", name) for pk, name in brands]
    options = FilterOption.objects.values_list("pk", "label", "translations")
    for pk, label, translations in options:
        names = (label, *(translations.get(code, "") for code in text_languages()))
        named += [(f"o{pk}", name) for name in dict.fromkeys(names) if name]
    return [(term, name_words(folded(name))) for term, name in named]
