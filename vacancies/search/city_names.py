"""The names of cities in the languages of the site: "Lüttich" finds what is in Luik or Liège."""

from functools import cache

from vacancies.facts.locations import CITY_NAMES
from vacancies.search.words import folded, split_words

WORDS_MAX = 4  # of a name: "bois le duc"


@cache
def _names() -> dict[tuple[str, ...], list[tuple[str, ...]]]:
    """Return, for the words of each name, those of all names of the cities that have it."""
    found: dict[tuple[str, ...], list[tuple[str, ...]]] = {}
    for line in CITY_NAMES.read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            names = [tuple(split_words(folded(name))) for name in line.split("|")]
            for name in names:
                found.setdefault(name, []).extend(names)
    return found


def other_names(words: tuple[str, ...]) -> list[tuple[str, ...]]:
    """Return the words of the other names of a city that these words name."""
    return [name for name in dict.fromkeys(_names().get(words, ())) if name != words]
