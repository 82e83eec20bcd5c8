"""The terms of a vacancy: a letter for the field, and a word or an id.

t a word of the title, internal title or reference, q a pair of neighbours among them; p a word of a
place, r a pair of those; x another word of the texts; o an option, b the brand, l a list, g the
language as stored, c a country, w the work place. The index adds e: it had expired when the index
was merged.
"""

from collections.abc import Collection, Iterable
from datetime import datetime
from itertools import pairwise
from typing import Any, NamedTuple

from django.conf import settings

from jobsite.languages import site_language
from vacancies.choices import VacancyStatus
from vacancies.models import Brand, FilterOption, Place, Vacancy, VacancyOption
from vacancies.querysets import VacancyList
from vacancies.search.words import STEMMERS, all_words, folded, name_words, split_words

BATCH = 1_000  # vacancies, of one query
WORDS = "tpx"  # the fields of words


class IndexEntry(NamedTuple):
    """A published vacancy in the index."""

    terms: frozenset[str]
    language: str  # of STEMMERS, or "" for all others
    until: datetime | None

    @property
    def words(self) -> set[str]:
        """The words of the vocabulary, which has no numbers: references would be most of it."""
        return {term[1:] for term in self.terms if term[0] in WORDS and not term[1:].isdecimal()}

    @property
    def title_words(self) -> set[str]:
        """The words that a correction may propose."""
        return {term[1:] for term in self.terms if term[0] in "tp" and term[1:].isalpha()}


def read_entries(pks: Collection[int]) -> dict[int, IndexEntry]:
    """Return the entries of those of the vacancies `pks` that are published."""
    found: dict[int, IndexEntry] = {}
    todo = sorted(pks)
    for batch in (todo[n : n + BATCH] for n in range(0, len(todo), BATCH)):
        others: dict[int, set[str]] = {pk: set() for pk in batch}
        for pk, option in VacancyOption.objects.filter(vacancy__in=batch).values_list(
            "vacancy", "option"
        ):
            others[pk].add(f"o{option}")
        places: dict[int, list[str]] = {pk: [] for pk in batch}
        of_places = Place.objects.filter(vacancy__in=batch).order_by("position", "pk")
        for pk, country, *names in of_places.values_list(
            "vacancy", "country", "locality", "region"
        ):
            others[pk].add("c" + country)
            places[pk] += names
        rows: Any = Vacancy.objects.filter(
            pk__in=batch, status=VacancyStatus.PUBLISHED
        ).values_list(
            "pk",
            "title",
            "title_internal",
            "reference",
            "location",
            "search_text",
            "brand",
            "language",
            "work_place",
            "publish_until",
            "audience",
            "is_hot",
        )
        for (
            pk,
            title,
            internal,
            reference,
            location,
            text,
            brand,
            code,
            work_place,
            *listing,
        ) in rows:
            until, audience, is_hot = listing
            terms = others[pk]
            terms |= _named("t", "q", (title, internal, reference))
            terms |= _named("p", "r", (location, *places[pk]))
            terms |= {
                "x" + w for w in all_words(text) if "t" + w not in terms and "p" + w not in terms
            }
            lists = (
                each for each in VacancyList if each.contains(audience=audience, is_hot=is_hot)
            )
            terms.update("l" + each.column for each in lists)
            terms |= {"g" + code, "w" + work_place}
            language = code or site_language()
            if brand:
                terms.add(f"b{brand}")
            found[pk] = IndexEntry(
                frozenset(terms), language if language in STEMMERS else "", until
            )
    return found


def _named(word_field: str, pair_field: str, names: Iterable[str]) -> set[str]:
    terms: set[str] = set()
    for name in dict.fromkeys(names):
        text = folded(name)
        terms.update(word_field + word for word in name_words(text))
        terms.update(f"{pair_field}{one} {other}" for one, other in pairwise(split_words(text)))
    return terms


def read_labels() -> list[tuple[str, list[str]]]:
    """Return the terms of all options and shown brands, each with the words
    of its label or name.
    """
    options = FilterOption.objects.values_list("pk", "label")
    brands = Brand.objects.values_list("pk", "name") if settings.MULTI_BRANDING else ()
    named = [(f"o{pk}", name) for pk, name in options] + [(f"b{pk}", name) for pk, name in brands]
    return [(term, name_words(folded(name))) for term, name in named]
