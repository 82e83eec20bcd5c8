"""Cities with their coordinates, from GeoNames (geonames.org, CC BY 4.0): one file for each country, which
browsers load, too. `build_city_files` makes the files."""

import json
import re
from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass
from functools import cache, lru_cache
from math import cos, hypot, radians
from pathlib import Path
from typing import Any

from jobsite.db.folding import fold

FOLDER = Path(__file__).parent / "static" / "vacancies" / "cities"
PLACE = "place"  # the parameter of pages and alerts with the name of the center of filter[near]
LARGE = 50_000  # inhabitants
TIMES_LARGER = 3  # than other cities of its name: the city that is meant
NEAR = 0.03  # degrees, 3 km: a point so close to a city is named after it
_PUNCTUATION = re.compile(r"[^\w\s]|_")
_Found = tuple[list[Any], int, str]  # a row of a file, the number of a name in it, and its district
_SHORT = {"saint": "st", "sint": "st", "sankt": "st", "sainte": "ste", "fort": "ft", "mount": "mt"}


@dataclass(frozen=True, slots=True)
class City:
    name: str  # as it is written in the language in which it was found: "Gand" for "gand"
    country: str  # ISO 3166-1
    region: str  # the first level below the country, in English; may be empty
    district: str  # code of the second level in France, the département; may be empty
    latitude: float
    longitude: float
    population: int
    is_usual: bool  # the name is the usual one of the city, not one of the others
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
            names, by_key, _rows = _load(each)
            for row, number, district in by_key.get(key, ()):
                latitude, longitude, code, population, known, *spelled = row
                named = names.get(code, "")
                if region in ("", named):
                    facts = named, district, latitude, longitude, population, not number, number < known
                    found.append(City(spelled[number], each, *facts))
    return sorted(found, key=lambda city: -city.population)


def find_cities_in(text: str, among: Collection[str], region: str = "") -> list[City]:
    """Return the cities with this name in several countries, the largest first."""
    found = [city for country in among for city in find_cities(text, country, region)]
    return sorted(found, key=lambda city: -city.population)


def find_city(text: str, country: str = "") -> City | None:
    """Return the largest city with this name in any language.

    Without a country, only a large city is found whose name means no other city in the world: Antwerp and
    Paris, but neither the London of Ohio, the Halles of Belgium and Germany nor the Springfields.
    """
    found = find_cities(text, country)
    if not country and found and not (found[0].is_known and is_clear(found)):
        return None
    return found[0] if found else None


def is_clear(found: list[City]) -> bool:
    """Whether the first of these cities, the largest ones first, is much larger than the others."""
    return len(found) == 1 or found[0].population >= TIMES_LARGER * found[1].population


def name_at(latitude: str, longitude: str, wanted: str = "") -> str:
    """Return the name of the city at a point: `wanted`, if it is one of its names in any language, else the
    usual one. Without a city, the point."""
    names = _names_at(float(latitude), float(longitude))
    if wanted and name_key(wanted) in map(name_key, names):
        return wanted
    return names[0] if names else f"{latitude}, {longitude}"


def large_city_near(city: City) -> str:
    """Return the usual name of the nearest other large city of the country: it tells namesakes apart."""
    others = [
        (hypot(row[0] - city.latitude, (row[1] - city.longitude) * cos(radians(row[0]))), row[5])
        for row in _load(city.country)[2]
        if row[3] >= LARGE and (row[0], row[1]) != (city.latitude, city.longitude)
    ]
    return min(others)[1] if others else ""


@lru_cache(1000)
def _names_at(latitude: float, longitude: float) -> list[str]:
    """Return the names of the city at this point, else of the largest one near it."""
    near = [
        ((row[0], row[1]) != (latitude, longitude), -row[3], row[5:])
        for country in countries()
        for row in _load(country)[2]
        if abs(row[0] - latitude) < NEAR and abs(row[1] - longitude) < NEAR
    ]
    return min(near)[2] if near else []


@cache
def _load(country: str) -> tuple[dict[str, str], dict[str, list[_Found]], list[list[Any]]]:
    """Return the names of the regions of a country by code, the rows of its cities by the keys of their
    names, and all rows."""
    content = json.loads((FOLDER / f"{country}.json").read_text(encoding="utf-8"))
    by_key: dict[str, list[_Found]] = defaultdict(list)
    rows, codes = content["cities"], content.get("districts", "")
    districts = codes.replace("-", "").split(" ") if codes else [""] * len(rows)
    for row, district in zip(rows, districts, strict=True):
        for number, name in enumerate(row[5:]):
            by_key[name_key(name)].append((row, number, district))
    return content["regions"], dict(by_key), rows
