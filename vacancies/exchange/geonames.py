"""Make the files of `vacancies/facts/cities.py` from downloads of GeoNames
(download.geonames.org/export/dump/). To keep them small, FR was made with `--names-from 5000`, and
US with `--names-from 100000`.
"""

import json
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from vacancies.facts.cities import LARGE, name_key

COLUMNS = 19
# A name means one city in the whole world if that city is large, and no city of another country has
# the name, or only much smaller ones.
TIMES_LARGER = 10
# Postal codes begin with the code of the département, which texts also name alone.
BY_DISTRICT = {"FR"}
GERMAN = {"AT", "CH", "DE", "LI"}
# Words in the letters of English, Dutch, French and German. The column of other names does not say
# their language: it has names in all languages, transliterations, and codes of airports.
_NAME = re.compile(
    r"['A-ZÀÂÄÆÇÉÈÊËÎÏÔÖŒÙÛÜ][-A-Za-zÀÂÄÆÇÉÈÊËÎÏÔÖŒÙÛÜàâäæçéèêëîïôöœùûüÿß'’. /]{1,39}"
)
_SOURCE = (
    "GeoNames (geonames.org), CC BY 4.0. Columns of a city: latitude, longitude, region, "
    "population, how many of its names mean no other city in the world, and its names: first the "
    "usual one, then these"
)


@dataclass(frozen=True, slots=True)
class CityRow:
    """A city of the file cities500.txt."""

    names: list[str]  # first the usual one
    latitude: float
    longitude: float
    country: str
    region: str  # code
    district: str  # code of the second level below the country; in France the département
    population: int


def read_cities(lines: Iterable[str]) -> Iterator[CityRow]:
    """Yield the cities of cities500.txt. Raises ValueError for a line in another format."""
    for number, line in enumerate(lines, 1):
        values = line.rstrip("\r\n").split("\t")
        try:
            if len(values) != COLUMNS:
                raise ValueError(f"{len(values)} columns in place of {COLUMNS}")
            names = _names(values[1], values[3].split(","), has_umlauts=values[8] in GERMAN)
            country, region, district = values[8], values[10], values[11]
            at = float(values[4]), float(values[5])
            yield CityRow(names, at[0], at[1], country, region, district, int(values[14] or 0))
        except ValueError as error:
            raise ValueError(f"line {number}: {error}") from None


def _names(name: str, others: list[str], *, has_umlauts: bool) -> list[str]:
    """Return the names, each in one spelling:
    of two, München with `has_umlauts`, Brussel without.
    """
    found: dict[str, str] = {}
    for other in sorted(others, key=lambda name: (name.isascii() == has_umlauts, name)):
        if _NAME.fullmatch(other) and not other.isupper():
            found.setdefault(name_key(other), other)
    found.pop(name_key(name), None)
    return [name, *sorted(found.values())]


def city_files(
    rows: Collection[CityRow],
    region_lines: Iterable[str],
    countries: Collection[str],
    *,
    names_from: int = 0,
) -> dict[str, str]:
    """Return the content of the file of each country. `rows` are the cities of the whole world, and
    `region_lines` the lines of admin1CodesASCII.txt. Cities with fewer than `names_from`
    inhabitants have only their usual name.
    """
    regions: dict[str, dict[str, str]] = defaultdict(dict)
    for line in region_lines:
        code, name = line.rstrip("\r\n").split("\t")[:2]
        country, _, region = code.partition(".")
        regions[country][region] = name
    # The largest population, by name and country.
    largest: dict[str, dict[str, int]] = defaultdict(dict)
    for row in rows:
        for name in row.names:
            there = largest[name_key(name)]
            there[row.country] = max(row.population, there.get(row.country, 0))
    files = {}
    for country in countries:
        cities = [row for row in rows if row.country == country]
        cities.sort(key=lambda row: (-row.population, row.names))
        used = {row.region for row in cities}
        names = {code: name for code, name in sorted(regions[country].items()) if code in used}
        lines = ",\n".join(_json(_city(row, names, largest, names_from)) for row in cities)
        districts = " ".join(row.district[:2] or "-" for row in cities)
        extra = f'"districts":{_json(districts)},\n' if country in BY_DISTRICT else ""
        files[country] = (
            f'{{"source":{_json(_SOURCE)},\n"regions":{_json(names)},\n{extra}"cities":[\n{lines}\n]}}\n'
        )
    return files


def _city(
    row: CityRow, regions: dict[str, str], largest: dict[str, dict[str, int]], names_from: int
) -> list[object]:
    def is_region(name: str) -> bool:
        """Whether this other name means the region: Washington is called District of Columbia, too.
        New York City is New York.
        """
        return name in regions.values() and name not in row.names[0]

    def is_known(name: str) -> bool:
        return row.population >= LARGE and all(
            row.population >= TIMES_LARGER * population
            for country, population in largest[name_key(name)].items()
            if country != row.country
        )

    name, *others = row.names if row.population >= names_from else row.names[:1]
    others = [other for other in others if not is_region(other)]
    known = [other for other in (name, *others) if is_known(other)] if is_known(name) else []
    return [
        round(row.latitude, 3),  # 100 metres
        round(row.longitude, 3),
        row.region,
        row.population,
        len(known),
        *(known or [name]),
        *(other for other in others if other not in known),
    ]


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
