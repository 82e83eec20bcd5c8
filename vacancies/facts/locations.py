"""The places that the text of a location names, such as "Antwerp, Kattendijk dock" and "Gent /
Brugge".
"""

import json
import re
from collections.abc import Collection
from functools import cache
from math import cos, hypot, radians
from pathlib import Path
from typing import NamedTuple

from jobsite.db.folding import fold
from jobsite.languages import LANGUAGES
from jobsite.text.iso_names import country_name
from jobsite.types import JsonObject
from vacancies.choices import COUNTRIES, PLACES_MAX
from vacancies.facts.cities import (
    LARGE,
    City,
    countries,
    find_cities,
    find_city,
    is_clear,
    name_key,
    regions,
)

CITY_NAMES = Path(__file__).parent / "city_names.txt"  # in four languages, a city on each line
# Tables, in keys of names (`name_key`):
# areas: by country, the middle of the area of each first digit of postal codes, 0 to 9
# countries: codes by names that are not of CLDR
# provinces: of Belgium with the name of a city: "Mechelen, Antwerpen" is one place, "Gent,
# Antwerpen" two
# words: cities that are more often a word, and need their region or country
# onsite, remote: no places; only the latter say that there is none
_TABLES = json.loads((Path(__file__).parent / "location_words.json").read_text(encoding="utf-8"))
# "of" is "or" in Dutch.
_ALTERNATIVES = re.compile(
    r"\s*[/;|+&\n]\s*|\s+(?:and|or|en|et|ou|und|oder)\s+|(?<!District)\s+of\s+"
)
_PARTS = re.compile(r"\s*[,()\[\]]\s*|\s+[-–—]\s+")
# The letters of a country, and a postal code or a département. "1000 DE PANNE" is read as a Dutch
# one first.
_NUMBER = r"(\d{5}|\d{4}|97\d|2[AB]|\d{2})"
_CODES = (
    re.compile(r"(NL-|)(\d{4} ?[A-Z]{2})\s+(?=\D)"),
    re.compile(rf"([A-Z]{{1,2}}-|){_NUMBER}\s+(?:[-–]\s+)?(?=\D)"),
)
_LONE_CODE = re.compile(rf"(?:[A-Z]{{1,2}}-)?{_NUMBER}(?: ?[A-Z]{{2}})?")
# "Dép. 07 - St Priest".
_DEPARTEMENT = re.compile(r"\bD[ée]p(?:t|artement)?\.? +(?=\d)", re.IGNORECASE)
_LETTERS = {"A": "AT", "B": "BE", "D": "DE", "F": "FR", "I": "IT", "L": "LU"}
_ARRONDISSEMENT = re.compile(
    r"(?: cedex)?(?: \d{1,2}(?:er?|[eè]me)?(?: arr\w*\.?)?)?$", re.IGNORECASE
)
AREA = 130  # km around it; all cities of the area are nearer
# Inhabitants: a smaller place is not meant where a large city has this name in any language.
TOWN = 10_000
WORLD_LARGER = 100  # than the city of a country with its name: only that one is meant
NEAR = 8  # km: of two such cities, one is a part of the other


class _Place(NamedTuple):
    part: str
    city: City
    address: JsonObject


def places_of(location: str, default_countries: Collection[str] = ()) -> list[JsonObject]:
    """Return the addresses of the places of work that `location` names, with the keys of
    Place.ADDRESS, or [] if one of them is unknown or ambiguous, or if the work is remote.

    A city is in the country or region that the text names, else in one of `default_countries`.
    Without these, it has to be a city that `find_city` finds without a country.
    """
    return [place.address for place in _found(location, default_countries)]


def cities_named(text: str) -> list[City]:
    """Return the city that a visitor means with `text`, in any language, with its country or region
    or alone; the largest first if it can be several.
    """
    if known := find_city(text):
        return [known]
    found = find_cities(text)
    if (
        found
        and found[0].population < TOWN
        and any(_region(text, country) for country in countries())
    ):
        return []  # Flanders is not the village in New York
    before, _, last = text.rpartition(" ")  # "Ghent Belgium"
    return found or [place.city for place in _found(text, ()) or _found(f"{before}, {last}", ())]


def _found(location: str, default_countries: Collection[str]) -> list[_Place]:
    """Return the places of `places_of`."""
    texts = [
        _with_code(_split(_PARTS, text))
        for text in _split(_ALTERNATIVES, _DEPARTEMENT.sub("", location))
    ]
    # "Bosch en Duin", "Halle (Saale)".
    if "," not in location and _city(location, default_countries):
        texts = [[location.strip()]]
    if any(_key(part) in _TABLES["remote"] for parts in texts for part in parts):
        return []
    found: dict[tuple[float, float], _Place] = {}
    for parts in texts:
        if named := [part for part in parts if _key(part) not in _TABLES["onsite"]]:
            places = _places(named, default_countries)
            if not places:
                return []
            for place in places:  # a city that is named twice, in two languages, is one place
                found.setdefault((place.city.latitude, place.city.longitude), place)
    return list(found.values()) if len(found) <= PLACES_MAX else []


def _places(parts: list[str], among: Collection[str], *, is_named: bool = False) -> list[_Place]:
    """Return the places that the parts of a text between commas name. `is_named`:
    so is their country.
    """
    *rest, last = parts
    if rest:
        if inside := _in_region(rest, last, among):
            return [inside]
        if country := _country(last):
            return _places(rest, [country], is_named=True) if country in countries() else []
    elif _country(last) and not is_named:
        return []
    return _places_in(parts, among, is_named=is_named)


def _places_in(parts: list[str], among: Collection[str], *, is_named: bool) -> list[_Place]:
    """Return the places that `parts` name, none of which is a country."""
    *rest, last = parts
    found = [place for part in parts if (place := _city(part, among, is_named=is_named))]
    if not is_named and any(name_key(place.part) in _TABLES["words"] for place in found):
        return []
    is_region = bool(found and rest) and _is_region(last, found[0].city.country)
    if len(found) == 1:
        # The other parts are a building, a street or a district. "Rome AFB, New York" has no known
        # city.
        return [] if is_region else found
    if len(found) < len(parts):
        return []
    if _are_near(found):
        return found[:1]
    return [] if is_region and len(found) == 2 else found


def _in_region(parts: list[str], region: str, among: Collection[str]) -> _Place | None:
    """Return the place that `parts` name in the region of this name, if all of them mean one."""
    for country in among or countries():
        if code := _region(region, country):
            inside = [place for part in parts if (place := _city(part, [country], code))]
            if inside and (len(inside) == 1 or _are_near(inside)):
                return inside[0]
    return None


def _city(
    text: str, among: Collection[str], region: str = "", *, is_named: bool = False
) -> _Place | None:
    """Return the city that `text` names, with its postal code before it or without. `is_named`: its
    country is named.
    """
    for pattern in _CODES:
        if match := pattern.match(text):
            name, city = _with_its_code(match, among, region, is_named=is_named)
            if city:  # a département is not a postal code
                code = "" if len(match[2]) <= 3 else match[0].strip(" -–")
                return _place(text, name, city, region, code)
    if not among:
        city = find_city(text)
    elif region or is_named:
        city = _largest(text, among, region)
    else:
        city = _best_known(text, among)
    return _place(text, text, city, region) if city else None


def _with_its_code(
    match: re.Match[str], among: Collection[str], region: str, *, is_named: bool
) -> tuple[str, City | None]:
    """Return the name after a postal code, and the city that both mean."""
    letters, code, name = match[1].rstrip("-"), match[2], match.string[match.end() :]
    allowed = [_LETTERS.get(letters, letters)] if letters else _countries_with(code)
    pool = [country for country in among if country in allowed]
    if not pool and not is_named:
        pool = allowed
    if "FR" in pool:
        name = _ARRONDISSEMENT.sub("", name)
    city = _largest(name, pool, region, code)
    if letters or region or name_key(name) not in _elsewhere():
        return name, city
    return name, None


def _best_known(name: str, among: Collection[str]) -> City | None:
    """Return the city of this name in these countries, or the one that the whole world knows, if it
    is much larger. None if both may be meant.
    """
    found, known = find_cities(name, *among), find_city(name)
    if name_key(name) in _elsewhere() and not (found and found[0].population >= LARGE):
        return None
    # Breukelen: not Brooklyn, which has this name in Dutch
    is_own = bool(found and found[0].is_usual and found[0].population >= TOWN)
    if known is None or known.country in among or (is_own and not known.is_usual):
        return found[0] if found and is_clear(found) else None
    return known if not found or known.population >= WORLD_LARGER * found[0].population else None


def _largest(name: str, among: Collection[str], region: str = "", code: str = "") -> City | None:
    """Return the city of this name that the postal code allows.
    None if there are several of one size.
    """
    cities = find_cities(name, *among, region=region) if among else []
    found = [city for city in cities if _has_code(city, code)]
    return found[0] if found and (region or is_clear(found)) else None


def _countries_with(code: str) -> list[str]:
    """Return the countries with files whose postal codes, or départements, look like this."""
    if not code.isdecimal():
        return ["FR"] if len(code) == 2 else ["NL"]
    return {4: ["BE", "LU", "NL"], 5: ["DE", "FR", "US"]}.get(len(code), ["FR"])


def _has_code(city: City, code: str) -> bool:
    """Whether a postal code or département can be that of `city`:
    it is in the area of the first digit.
    """
    if city.country == "FR" and code:
        return city.district in ("", code[:2]) or (
            code[:2] == "20" and city.district in ("2A", "2B")
        )
    if not (code and city.country in _TABLES["areas"]):
        return True
    latitude, longitude = _TABLES["areas"][city.country][int(code[0])]
    return _km(city, latitude, longitude) <= AREA


@cache
def _elsewhere() -> set[str]:
    """Return the keys of the names of large cities in countries without a file."""
    _, _, others = CITY_NAMES.read_text(encoding="utf-8").partition("# Countries without a file")
    return {name_key(name) for line in others.splitlines() for name in line.split("|")}


def _place(text: str, name: str, city: City, region: str, postal_code: str = "") -> _Place | None:
    named = region or _region(name, city.country)
    if named and city.region != named:  # "Virginia" is a city in Minnesota
        return None
    has_accents = not (name.isascii() or name.isupper() or name.islower())
    address = {
        "street": "",
        "postal_code": postal_code,
        "locality": name if has_accents and fold(name) == fold(city.name) else city.name,
        "region": region,
        "country": city.country,
        "latitude": f"{city.latitude:g}",
        "longitude": f"{city.longitude:g}",
    }
    return _Place(text, city, address)


def _with_code(parts: list[str]) -> list[str]:
    """Put a postal code or département that is a part of its own before its city: "07 - ST PRIEST",
    "Lyon (69)".
    """
    codes = [n for n, part in enumerate(parts) if _LONE_CODE.fullmatch(part)]
    if len(codes) != 1 or len(parts) == 1:
        return parts
    rest = parts[: codes[0]] + parts[codes[0] + 1 :]
    at = min(codes[0], len(rest) - 1)
    rest[at] = f"{parts[codes[0]]} {rest[at]}"
    return rest


def _split(pattern: re.Pattern[str], text: str) -> list[str]:
    return [part for part in pattern.split(text.strip()) if part]


def _key(part: str) -> str:
    """Return the key of a part, without "2 days" or "50%"."""
    return re.sub(r"\d+ ?(?:days?|dagen|jours?|tage)?", "", name_key(part)).strip()


def _region(text: str, country: str) -> str:
    """Return the name of the region of `country` that `text` is the name or the code of, or ""."""
    is_word = len(text) <= 3 and not text.isupper()  # "in" is not Indiana
    return "" if is_word else regions(country).get(name_key(text), "")


def _is_region(text: str, country: str) -> bool:
    """Whether `text` is the name of a region or province of `country`."""
    return bool(_region(text, country)) or (
        country == "BE" and name_key(text) in _TABLES["provinces"]
    )


def _country(text: str) -> str:
    return text if text in COUNTRIES else _country_names().get(name_key(text), "")


@cache
def _country_names() -> dict[str, str]:
    """Return the codes of the countries by the keys of their names in all languages of the site."""
    names = {
        name_key(country_name(code, language)): code for language in LANGUAGES for code in COUNTRIES
    }
    return names | _TABLES["countries"]


def _are_near(places: list[_Place]) -> bool:
    """Whether all are within NEAR of the first one."""
    first = places[0].city
    return all(_km(city, first.latitude, first.longitude) <= NEAR for _, city, _ in places)


def _km(city: City, latitude: float, longitude: float) -> float:
    width = (city.longitude - longitude) * cos(radians(latitude))
    return hypot(city.latitude - latitude, width) * 111.2
