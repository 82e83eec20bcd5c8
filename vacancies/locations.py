"""The places that the text of a location names, such as "Antwerp, Kattendijk dock" and "Gent / Brugge"."""

import re
from collections.abc import Collection
from functools import cache
from math import cos, hypot, radians
from typing import NamedTuple

from jobsite.db.folding import fold
from jobsite.languages import LANGUAGES
from jobsite.text.iso_names import country_name
from jobsite.types import JsonObject
from vacancies.choices import COUNTRIES, PLACES_MAX
from vacancies.cities import City, countries, find_cities, find_city, name_key, regions

# "of" is "or" in Dutch.
_ALTERNATIVES = re.compile(r"\s*[/;|+&\n]\s*|\s+(?:and|or|en|et|ou|und|oder)\s+|(?<!District)\s+of\s+")
_PARTS = re.compile(r"\s*[,()\[\]]\s*|\s+[-–—]\s+")
_POSTAL_CODE = re.compile(r"((?:[A-Z]{1,2}-)?\d{4,5}(?: ?[A-Z]{2})?)\s+(?=\D)")

NEAR = 8  # km: of two such cities, one is a part of the other
_COUNTRY_NAMES = {
    "usa": "US", "united states of america": "US", "uk": "GB", "great britain": "GB", "england": "GB",
    "scotland": "GB", "wales": "GB", "holland": "NL", "the netherlands": "NL",
}  # fmt: skip
# Provinces of Belgium with the name of a city. "Mechelen, Antwerpen" is one place, "Gent, Antwerpen" two.
_PROVINCES = {
    "antwerp", "antwerpen", "anvers", "liege", "luik", "luttich", "namur", "namen", "limburg", "limbourg",
    "luxembourg", "luxemburg",
}  # fmt: skip
# Cities that are more often a word: they need their region or country.
_WORDS = {"home", "mobile", "centre", "sales", "airport", "union", "limburg", "limbourg"}
_ONSITE = {
    "hybrid", "hybride", "hybrides arbeiten", "hybrid work", "hybrid working", "on site", "onsite",
    "in office", "op kantoor", "sur site", "sur place", "vor ort",
}  # fmt: skip
_REMOTE = {
    "remote", "fully remote", "full remote", "remote work", "home office", "homeoffice", "thuiswerk",
    "telewerk", "teletravail", "a distance", "mobiles arbeiten", "mobile arbeit",
}  # fmt: skip


class _Place(NamedTuple):
    part: str
    city: City
    address: JsonObject


def places_of(location: str, default_countries: Collection[str] = ()) -> list[JsonObject]:
    """Return the addresses of the places of work that `location` names, with the keys of Place.ADDRESS, or []
    if one of them is unknown or ambiguous, or if the work is remote.

    A city is in the country or region that the text names, else in one of `default_countries`. Without these,
    it has to be a city that `find_city` finds without a country.
    """
    return [place.address for place in _found(location, default_countries)]


def cities_named(text: str) -> list[City]:
    """Return the city that a visitor means with `text`, in any language, with its country or region or alone;
    the largest first if it can be several."""
    if known := find_city(text):
        return [known]
    return find_cities(text) or [place.city for place in _found(text, ())]


def _found(location: str, default_countries: Collection[str]) -> list[_Place]:
    """Return the places of `places_of`."""
    texts = [_split(_PARTS, text) for text in _split(_ALTERNATIVES, location)]
    if "," not in location and _city(location, default_countries):  # "Bosch en Duin", "Halle (Saale)"
        texts = [[location.strip()]]
    if any(_key(part) in _REMOTE for parts in texts for part in parts):
        return []
    found: dict[tuple[float, float], _Place] = {}
    for parts in texts:
        if named := [part for part in parts if _key(part) not in _ONSITE]:
            places = _places(named, default_countries)
            if not places:
                return []
            for place in places:  # a city that is named twice, in two languages, is one place
                found.setdefault((place.city.latitude, place.city.longitude), place)
    return list(found.values()) if len(found) <= PLACES_MAX else []


def _places(parts: list[str], among: Collection[str], *, is_named: bool = False) -> list[_Place]:
    """Return the places that the parts of a text between commas name. `is_named`: so is their country."""
    *rest, last = parts
    if rest:
        for country in among or countries():
            if region := _region(last, country):
                inside = [place for part in rest if (place := _city(part, [country], region))]
                if inside and (len(inside) == 1 or _are_near(inside)):
                    return inside[:1]
        if country := _country(last):
            return _places(rest, [country], is_named=True) if country in countries() else []
    elif _country(last) and not is_named:
        return []
    found = [place for part in parts if (place := _city(part, among))]
    if not is_named and any(name_key(place.part) in _WORDS for place in found):
        return []
    is_region = bool(found and rest) and _is_region(last, found[0].city.country)
    if len(found) == 1:
        # The other parts are a building, a street or a district. "Rome AFB, New York" has no known city.
        return [] if is_region else found
    if len(found) < len(parts):
        return []
    if _are_near(found):
        return found[:1]
    return [] if is_region and len(found) == 2 else found


def _city(text: str, among: Collection[str], region: str = "") -> _Place | None:
    """Return the city that `text` names, with its postal code before it or without."""
    match = _POSTAL_CODE.match(text)
    name = text[match.end() :] if match else text
    if among:
        found = [city for country in among for city in find_cities(name, country, region)]
        found.sort(key=lambda city: -city.population)
        if len(found) > 1 and not region and found[0].population < TIMES_LARGER * found[1].population:
            return None
        city = found[0] if found else None
    else:
        city = find_city(name)
    if city is None:
        return None
    named = region or _region(name, city.country)
    if named and city.region != named:  # "Virginia" is a city in Minnesota
        return None
    has_accents = not (name.isascii() or name.isupper() or name.islower())
    address = {
        "street": "",
        "postal_code": match[1] if match else "",
        "locality": name if has_accents and fold(name) == fold(city.name) else city.name,
        "region": region,
        "country": city.country,
        "latitude": f"{city.latitude:g}",
        "longitude": f"{city.longitude:g}",
    }
    return _Place(text, city, address)


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
    return bool(_region(text, country)) or (country == "BE" and name_key(text) in _PROVINCES)


def _country(text: str) -> str:
    return text if text in COUNTRIES else _country_names().get(name_key(text), "")


@cache
def _country_names() -> dict[str, str]:
    """Return the codes of the countries by the keys of their names in all languages of the site."""
    names = {name_key(country_name(code, language)): code for language in LANGUAGES for code in COUNTRIES}
    return names | _COUNTRY_NAMES


def _are_near(places: list[_Place]) -> bool:
    """Whether all are within NEAR of the first one."""
    first = places[0].city
    return all(
        hypot(
            city.latitude - first.latitude,
            (city.longitude - first.longitude) * cos(radians(first.latitude)),
        ) * 111.2 <= NEAR
        for _, city, _ in places
    )  # fmt: skip
