import json

import pytest
from django.core.management import CommandError

from tests.vacancies.commands import run
from vacancies.exchange.geonames import CityRow, city_files
from vacancies.facts import cities
from vacancies.facts.cities import FOLDER, countries, find_cities, find_city, regions


def line(name, others, latitude, longitude, country, region, population):
    """A line of cities500.txt: geonameid, name, asciiname, alternatenames, latitude, longitude,
    feature class and code, country, cc2, admin1 to admin4, population, elevation, dem, timezone,
    modification date.
    """
    values = [
        "2803138",
        name,
        name,
        others,
        latitude,
        longitude,
        "P",
        "PPL",
        country,
        "",
        region,
        "",
        "",
        "",
    ]
    return "\t".join([*values, population, "", "9", "Europe/Brussels", "2026-01-01"]) + "\n"


CITIES = (
    line(
        "Antwerp",
        "ANR,Amberes,Antwerpen,Anvers,Flanders,antverp,Антверпен",
        "51.22047",
        "4.40026",
        "BE",
        "VLG",
        "529247",
    )
    + line("Halle", "Hal", "50.73385", "4.23454", "BE", "VLG", "34479")
    + line("Munich", "Muenchen,Munchen,München", "48.13743", "11.57549", "DE", "02", "1505005")
    + line("Antwerp", "", "41.18", "-84.74", "US", "OH", "1640")
)
REGIONS = "BE.VLG\tFlanders\tFlanders\t3337388\nBE.WAL\tWallonia\tWallonia\t1\nDE.02\tBavaria\tBavaria\t2\n"


def place(text, country=""):
    city = find_city(text, country)
    return city and (city.name, city.country, city.region)


def test_cities_are_found_by_their_names_in_every_language():
    found = [
        place(text, "BE")
        for text in ("antwerpen", "ANVERS", "Antwerp", "Gand", "liege", "Sint Niklaas")
    ]
    assert found == [
        ("Antwerpen", "BE", "Flanders"),
        ("Anvers", "BE", "Flanders"),
        ("Antwerp", "BE", "Flanders"),
        ("Gand", "BE", "Flanders"),
        ("Liège", "BE", "Wallonia"),
        ("Sint-Niklaas", "BE", "Flanders"),
    ]
    assert place("Saint Louis", "US") == ("St. Louis", "US", "Missouri")
    assert place("München", "DE") == ("München", "DE", "Bavaria")


def test_the_largest_city_of_a_name_is_found():
    assert [city.population for city in find_cities("Halle", "BE")] == [34479, 7200]
    assert find_city("Halle", "BE").population == 34479
    assert find_cities("Columbia", "US", region="Missouri")[0].region == "Missouri"


def test_a_city_with_two_spellings_of_a_name_is_found_once():
    # "Saint-Vith" and "Sankt Vith", "Sankt Augustin" and "St. Augustin"
    found = [
        [city.name for city in find_cities(name, "BE")] for name in ("St. Vith", "Saint-Trond")
    ]
    assert found == [["Saint-Vith"], ["Saint-Trond"]]
    assert place("Sankt Augustin", "DE") == ("Sankt Augustin", "DE", "North Rhine-Westphalia")
    assert find_cities("VLG", "BE") == []  # a code of a region


def test_a_search_for_a_city_decodes_its_row_only(monkeypatch):
    decoded = []
    monkeypatch.setattr(
        cities, "_row", lambda line: decoded.append(line) or json.loads(line.rstrip(","))
    )
    cities._named.cache_clear()
    assert find_cities("Kortrijk")[0].country == "BE"
    assert len(decoded) == 1


def test_names_with_any_sign_are_found():
    for country in ("BE", "NL"):
        rows = json.loads((FOLDER / f"{country}.json").read_text())["cities"]
        names = [name for row in rows for name in row[5:] if not name.isalpha()]
        assert [name for name in names if not find_cities(name, country)] == []
    for name in ("L'Isle-d'Abeau", "Weißenfels", "Halle (Saale)", "Saint-Ouen-l'Aumône"):
        assert find_cities(name), name


@pytest.mark.slow("reads all cities")
def test_without_a_country_only_names_of_one_large_city_in_the_world_are_found():
    assert [place(text)[1] for text in ("Antwerpen", "Paris", "Lille", "Cologne")] == [
        "BE",
        "FR",
        "FR",
        "DE",
    ]
    # London is in no file but that of the United States; Halle is in several; the others are
    # villages.
    assert [place(text) for text in ("London", "Halle", "Belgium", "Virginia", "Home", "")] == [
        None
    ] * 6
    assert place("London", "US") == ("London", "US", "Ohio")


def test_names_inside_other_words_and_unknown_countries_find_nothing():
    assert [place(text, "BE") for text in ("Gentbrugge-Zuid", "Gents", "Regio Gent", "Doel")] == [
        None
    ] * 4
    assert [place("Gent", country) for country in ("XX", "be", "../BE")] == [None] * 3


def test_every_file_has_valid_cities():
    assert countries() == ("BE", "DE", "FR", "LU", "NL", "US")
    assert regions("US")["va"] == regions("US")["virginia"] == "Virginia"
    wrong = [
        city
        for country in ("BE", "LU", "NL")
        for name in ("Luxembourg", "Brussels", "Utrecht", "Halle")
        for city in find_cities(name, country)
        if not (49 < city.latitude < 54 and 2 < city.longitude < 8 and city.region)
    ]
    assert wrong == []


def test_build_city_files_reads_downloads_of_geonames(tmp_path):
    (tmp_path / "cities.txt").write_text(CITIES)
    (tmp_path / "regions.txt").write_text(REGIONS)
    words = (
        tmp_path / "cities.txt",
        tmp_path / "regions.txt",
        "--folder",
        tmp_path / "made",
        "--country",
    )

    assert run("build_city_files", *words, "be", "--country", "DE", "--dry-run") == (
        0,
        "Would write 2 files of cities: BE 2, DE 1.",
        [],
    )
    assert not (tmp_path / "made").exists()

    assert run("build_city_files", *words, "be", "--country", "DE")[1] == (
        "Wrote 2 files of cities: BE 2, DE 1."
    )
    belgium = json.loads((tmp_path / "made" / "BE.json").read_text())
    assert belgium["source"].startswith("GeoNames (geonames.org), CC BY 4.0.")
    assert belgium["regions"] == {"VLG": "Flanders"}
    assert belgium["cities"] == [
        [51.22, 4.4, "VLG", 529247, 4, "Antwerp", "Amberes", "Antwerpen", "Anvers"],
        [50.734, 4.235, "VLG", 34479, 0, "Halle", "Hal"],
    ]
    germany = json.loads((tmp_path / "made" / "DE.json").read_text())
    assert germany["cities"] == [
        [48.137, 11.575, "02", 1505005, 3, "Munich", "Muenchen", "München"]
    ]


def test_cities_of_france_have_the_code_of_their_departement():
    rows = [
        CityRow(["Saint-Priest"], 45.7, 4.9, "FR", "84", "69M", 41641),
        CityRow(["Saint-Priest"], 44.7, 4.5, "FR", "84", "", 1178),
    ]
    content = json.loads(city_files(rows, ["FR.84\tAuvergne-Rhône-Alpes\t\t1"], ["FR"])["FR"])
    assert content["districts"] == "69 -"
    assert [city.district for city in find_cities("Saint-Priest", "FR")][::2] == ["69", "07"]


def test_build_city_files_refuses_other_files(tmp_path):
    cities, regions_file = tmp_path / "cities.txt", tmp_path / "regions.txt"
    regions_file.write_text(REGIONS)

    def refusal(content, country="BE"):
        cities.write_text(content)
        with pytest.raises(CommandError) as refused:
            run(
                "build_city_files", cities, regions_file, "--folder", tmp_path, "--country", country
            )
        return refused.value.returncode, str(refused.value)

    assert refusal("Antwerp\t51.22\n") == (
        1,
        "The downloads cannot be read: line 1: 2 columns in place of 19",
    )
    assert refusal(CITIES.replace("4.23454", "east"))[1].startswith(
        "The downloads cannot be read: line 2: could"
    )
    assert refusal(CITIES, "BG") == (2, f"{cities} has no city in BG.")
    assert sorted(tmp_path.iterdir()) == [cities, regions_file]
