"""Cities with their coordinates, from GeoNames (geonames.org, CC BY 4.0): one file for each
country, which browsers load, too. `build_city_files` makes the files.
"""

import json
import re
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from jobsite.db.folding import fold

FOLDER = Path(__file__).parents[1] / "static" / "vacancies" / "cities"
PLACE = "place"  # the parameter of pages and alerts with the name of the center of filter[near]
LARGE = 50_000  # inhabitants
TIMES_LARGER = 3  # than other cities of its name: the city that is meant
NEAR = 0.03  # degrees, 3 km: a point so close to a city is named after it
_PUNCTUATION = re.compile(r"[^\w\s]|_")
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
    # Without its country: the name means no other city in the world (build_city_files).
    is_known: bool


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


@cache
def regions(country: str) -> dict[str, str]:
    """Return the names of the regions of a country by the keys of their names
    and of their codes.
    """
    names = _load(country).regions if country in countries() else {}
    return {name_key(text): name for code, name in names.items() for text in (code, name)}


def find_cities(text: str, *among: str, region: str = "") -> list[City]:
    """Return the cities with this name in any language, in the countries `among`, or else in all
    with a file, and in a region, or else in all regions, the largest first.
    """
    key = name_key(text)
    found = [
        city
        for country in countries()
        if not among or country in among
        for city in _named(key, country)
    ]
    return sorted(
        (city for city in found if region in ("", city.region)), key=lambda city: -city.population
    )


def find_city(text: str, country: str = "") -> City | None:
    """Return the largest city with this name in any language.

    Without a country, only a large city is found whose name means no other city in the world:
    Antwerp and Paris, but neither the London of Ohio, the Halles of Belgium and Germany nor the
    Springfields.
    """
    found = find_cities(text, country) if country else find_cities(text)
    is_meant = found and (country or (found[0].is_known and is_clear(found)))
    return found[0] if is_meant else None


def is_clear(found: list[City]) -> bool:
    """Whether the first of these cities, the largest ones first, is much larger than the others."""
    return len(found) == 1 or found[0].population >= TIMES_LARGER * found[1].population


def name_at(latitude: str, longitude: str, wanted: str = "") -> str:
    """Return the name of the city at a point: `wanted`, if it is one of its names in any language,
    else the usual one. Without a city, the point.
    """
    names = _names_at(float(latitude), float(longitude))
    if wanted and name_key(wanted) in map(name_key, names):
        return wanted
    return names[0] if names else f"{latitude}, {longitude}"


@lru_cache(1000)
def _names_at(latitude: float, longitude: float) -> list[str]:
    """Return the names of the city at this point, else of the largest one near it."""
    north, east = (
        f"-?(?:{int(abs(value - NEAR) * 10) / 10}|{int(abs(value + NEAR) * 10) / 10})"
        for value in (latitude, longitude)
    )
    beginning = re.compile(rf"\[{north}\d*,{east}")
    rows = [
        _row(line)
        for country in countries()
        for line in _load(country).rows
        if beginning.match(line)
    ]
    near = [
        ((row[0], row[1]) != (latitude, longitude), -row[3], row[5:])
        for row in rows
        if abs(row[0] - latitude) < NEAR and abs(row[1] - longitude) < NEAR
    ]
    return min(near)[2] if near else []


@lru_cache(10_000)
def _named(key: str, country: str) -> list[City]:
    """Return the cities of a country that have a name with this key."""
    file, number, found = _load(country), 0, dict[int, City]()
    for before, after in pairwise(file.keys.split(f'" {key} "')):
        number += before.count("\n")
        if after[1:2].isdigit():  # the code of a region
            continue
        latitude, longitude, code, population, known, *names = _row(file.rows[number])
        name = [name_key(name) for name in names].index(key)
        facts = file.regions.get(code, ""), file.districts[number], latitude, longitude, population
        found.setdefault(number, City(names[name], country, *facts, not name, name < known))
    return list(found.values())  # "St. Vith" and "Sankt Vith" are one city


class _File(NamedTuple):
    """The file of a country. To decode all rows takes half a second:
    only those that are needed are.
    """

    regions: dict[str, str]  # names by code
    districts: list[str]  # of each row
    rows: list[str]
    keys: str  # the rows with the keys of names between spaces: `" st louis "`


@cache
def _load(country: str) -> _File:
    head, _, cities = (
        (FOLDER / f"{country}.json").read_text(encoding="utf-8").partition('"cities":[\n')
    )
    rows, content = cities.removesuffix("\n]}\n").split("\n"), json.loads(head + '"cities":[]}')
    codes = content.get("districts", "")
    districts = codes.replace("-", "").split(" ") if codes else [""] * len(rows)
    return _File(content["regions"], districts, rows, _keys(cities))


def _keys(text: str) -> str:
    """Return the rows with `name_key` of each name, made for all at once."""
    for sign in {*re.findall(r"[^\x00-\x7f]", text)}:
        text = text.replace(sign, fold(sign))
    text = text.lower().replace("'", "").replace(".", "").replace('"', ' " ')
    for sign in "-/(),[]":
        text = text.replace(sign, " ")
    while "  " in text:
        text = text.replace("  ", " ")
    for word, short in _SHORT.items():
        text = text.replace(f" {word} ", f" {short} ")
    return text


def _row(line: str) -> list[Any]:
    return json.loads(line.removesuffix(","))
