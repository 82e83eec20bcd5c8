"""Cities with their coordinates, from GeoNames (geonames.org, CC BY 4.0): one file for each country, which
browsers load, too. `build_city_files` makes the files."""

import json
import re
from collections import defaultdict
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from jobsite.db.folding import fold

FOLDER = Path(__file__).parent / "static" / "vacancies" / "cities"
_PUNCTUATION = re.compile(r"[^\w\s]|_")
_SHORT = {"saint": "st", "sint": "st", "sankt": "st", "sainte": "ste", "fort": "ft", "mount": "mt"}


@dataclass(frozen=True, slots=True)
class City:
    name: str  # as it is written in the language in which it was found: "Gand" for "gand"
    country: str  # ISO 3166-1
    region: str  # the first level below the country, in English; may be empty
    latitude: float
    longitude: float
    population: int
    is_known: bool  # without its country: the name means no other city in the world (build_city_files)


def name_key(text: str) -> str:
    """Return what is compared of a name: not case, accents, punctuation, or "Saint" for "St."."""
    folded = text.lower() if text.isascii() else fold(text)
    if folded.isalpha():
        return _SHORT.get(folded, folded)
    words = _PUNCTUATION.sub(" ", folded.replace("'", "").replace(".", "")).split()
    return " ".join([_SHORT.get(word, word) for word in words])


@cache
def countries() -> tuple[str, ...]:
    """Return the ISO codes of the countries that have a file."""
    return tuple(sorted(file.stem for file in FOLDER.glob("*.json")))


def regions(country: str) -> dict[str, str]:
    """Return the names of the regions of a country by the keys of their names and of their codes."""
    names = _load(country)[0] if country in countries() else {}
    return {name_key(text): name for code, name in names.items() for text in (code, name)}


def find_cities(text: str, country: str = "", region: str = "") -> list[City]:
    """Return the cities with this name in any language, in a country, or else in all countries with a file,
    and in a region, or else in all regions, the largest first."""
    key, found = name_key(text), []
    for each in countries():
        if country in ("", each):
            names, by_key = _load(each)
            for row, number in by_key.get(key, ()):
                latitude, longitude, code, population, known, *spelled = row
                named = names.get(code, "")
                if region in ("", named):
                    is_known = number < known
                    found.append(
                        City(spelled[number], each, named, latitude, longitude, population, is_known)
                    )
    return sorted(found, key=lambda city: -city.population)


def find_city(text: str, country: str = "") -> City | None:
    """Return the largest city with this name in any language.

    Without a country, only a large city is found whose name means no other city in the world: Antwerp and
    Paris, but neither the London of Ohio nor the Halles of Belgium and Germany.
    """
    found = find_cities(text, country)
    return next((city for city in found if country or city.is_known), None)


@cache
def _load(country: str) -> tuple[dict[str, str], dict[str, list[tuple[list[Any], int]]]]:
    """Return the names of the regions of a country by code, and by the keys of the names of its cities, the
    rows of the file, and the number of the name in the row."""
    content = json.loads((FOLDER / f"{country}.json").read_text(encoding="utf-8"))
    by_key: dict[str, list[tuple[list[Any], int]]] = defaultdict(list)
    for row in content["cities"]:
        for number, name in enumerate(row[5:]):
            by_key[name_key(name)].append((row, number))
    return content["regions"], dict(by_key)
