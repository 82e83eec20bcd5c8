from random import Random

import pytest

from vacancies.facts.cities import find_cities
from vacancies.facts.locations import cities_named, places_of

# Without a country before the text: Belgium.
PLACES = {
    "Antwerp": ["Antwerp BE"],
    "ANTWERPEN": ["Antwerpen BE"],
    "Sint Niklaas.": ["Sint-Niklaas BE"],
    "Liege": ["Liège BE"],
    "Brüssel": ["Brüssel BE"],
    "Antwerp, Kattendijk dock": ["Antwerp BE"],
    "Kattendijkdok 5, 2000 Antwerpen": ["2000 Antwerpen BE"],
    "B-9000 Gent": ["B-9000 Gent BE"],
    "Antwerpen (hybrid)": ["Antwerpen BE"],
    "Antwerpen - 2 dagen hybride": ["Antwerpen BE"],
    "Antwerp, Belgium": ["Antwerp BE"],
    "Anvers (Belgique)": ["Anvers BE"],
    "Antwerpen, BE": ["Antwerpen BE"],
    "Antwerp, Berchem": ["Antwerp BE"],  # a district
    "Mons (Bergen)": ["Mons BE"],
    "Gent / Brugge": ["Gent BE", "Brugge BE"],
    "Gent, Brugge": ["Gent BE", "Brugge BE"],
    "Gent / Ghent": ["Gent BE"],
    "Antwerp, Ghent or Brussels": ["Antwerp BE", "Ghent BE", "Brussels BE"],
    "Brussel of Gent": ["Brussel BE", "Gent BE"],
    "Antwerpen, België / Breda, Nederland": ["Antwerpen BE", "Breda NL"],
    "Luxembourg, Luxembourg": ["Luxembourg LU"],
    "Stuttgart, Germany": ["Stuttgart DE"],
    "NL: Bosch en Duin": ["Bosch en Duin NL"],
    "NL: Amersfoort, Utrecht": ["Amersfoort Utrecht NL"],
    "NL: Utrecht": ["Utrecht NL"],
    "NL: 1234 AB Utrecht": ["1234 AB Utrecht NL"],
    "DE: Halle (Saale)": ["Halle (Saale) DE"],
    "US: Washington, DC": ["Washington District of Columbia US"],
    "US: Washington, District of Columbia": ["Washington District of Columbia US"],
    "US: Portland, in": ["Portland US"],  # not Indiana
    "US: Memphis, TN": ["Memphis Tennessee US"],
    "US: Atlanta, Georgia": ["Atlanta Georgia US"],
    "US: New York, New York": ["New York New York US"],
    "US: Mobile, Alabama": ["Mobile Alabama US"],
    "US: Naval Base, Norfolk, Virginia": ["Norfolk Virginia US"],
    "US: Fort Belvoir, Virginia, USA": ["Fort Belvoir Virginia US"],
    # A postal code or the code of a département says which city is meant, and in which country.
    "FR: 07 - ST PRIEST": ["Saint-Priest FR"],
    "FR: ST PRIEST (07)": ["Saint-Priest FR"],
    "FR: 69800 SAINT PRIEST": ["69800 Saint-Priest FR"],
    "FR: 69 - LYON 03": ["Lyon FR"],
    "FR: 75015 Paris 15e arrondissement": ["75015 Paris FR"],
    "FR: 59000 LILLE CEDEX": ["59000 Lille FR"],
    "FR: 2A - AJACCIO": ["Ajaccio FR"],
    "FR: D-50667 Köln": ["D-50667 Köln DE"],
    "FR: 9000 Gent": ["9000 Gent BE"],
    "1011 AB Amsterdam": ["1011 AB Amsterdam NL"],
    "L-1855 Luxembourg": ["L-1855 Luxembourg LU"],
    "50667 Köln": ["50667 Köln DE"],
    "1500 Halle": ["1500 Halle BE"],
    "8660 DE PANNE": ["8660 De Panne BE"],
    "7100 LA LOUVIERE": ["7100 La Louvière BE"],
    "DE: 06108 Halle": ["06108 Halle DE"],
    "DE: 33790 Halle": ["33790 Halle DE"],
    "DE: Berlin, 10115": ["10115 Berlin DE"],
    # A city that the world knows comes before a village with its name.
    "FR: Cologne": ["Cologne DE"],
    "Amsterdam": ["Amsterdam NL"],
    "NL: Breukelen": ["Breukelen NL"],  # the name of Brooklyn in Dutch
    "US: Berlin": ["Berlin DE"],
    "FR: Cologne, France": ["Cologne FR"],
    "FR: 32430 Cologne": ["32430 Cologne FR"],
    ": Paris": ["Paris FR"],
    ": München, DE": ["München DE"],
    ": Wilmington, DE": ["Wilmington Delaware US"],
}
NO_PLACES = [
    "",
    " ",
    ",",
    "Various",
    "Multiple locations",
    "Verschillende locaties",
    "Home",
    "a / b / c",
    "Remote",
    "Remote (Belgium)",
    "Remote, Gent",
    "Gent / thuiswerk",
    "Hybrid",
    "Antwerpen en omgeving",
    "Regio Gent",
    "Gents",
    "Brusselsesteenweg",
    "Zaventem airport",
    "Hoofdkantoor Brussel",
    "België",
    "Vlaanderen",
    "Limburg",
    "Luxembourg",  # a province, a country
    "Gent, Antwerpen",
    "Mechelen, Antwerpen",  # two cities, or a city and its province
    "Lille",
    "US: Paris",  # one in the country, one that the world knows
    # Abroad.
    "US: London",
    "US: Mailand",
    "DE: Wien",
    "FR: Londres",
    "US: Dover",
    "US: Lima",
    "FR: Bologne",
    "FR: Dép. 38 - ST PRIEST",
    "FR: 38 - ST PRIEST",
    "FR: 75 - LYON",
    "CH-8001 Zürich",
    "A-1010 Wien",
    "3000 Bern",
    "99 - Gent",
    ": Springfield",
    "Seoul, South Korea",
    "London, UK",
    "US: Tbilisi, Georgia",
    "US: Singapore",
    "LU: Luxembourg",
    "US: Virginia",
    "US: Washington",
    "US: District of Columbia",
    "US: Mobile",
    "US: Springfield",  # several of the same size
    "US: Montgomery County, Maryland",
    "US: Rome AFB, New York",
    "US: Santee, Nebraska",
    ": Halle",
    ": London",
    ": Home",
]


@pytest.fixture(scope="module", autouse=True)
def files():
    """Read the files of cities, once in a process."""
    find_cities("")


def read(text):
    country, colon, location = text.rpartition(": ")
    countries = [country] if country else [] if colon else ["BE"]
    keys = ("postal_code", "locality", "region", "country")
    return [
        " ".join(filter(None, (place[key] for key in keys)))
        for place in places_of(location, countries)
    ]


def test_places_are_read_from_locations():
    assert {text: read(text) for text in PLACES} == PLACES


def test_uncertain_locations_have_no_places():
    assert {text: found for text in NO_PLACES if (found := read(text))} == {}


def test_visitors_name_a_city_with_its_country_and_do_not_mean_a_namesake_of_a_region():
    found = [
        cities_named(text) for text in ("gent belgium", "Halle Saale", "Paris Texas", "Flanders")
    ]
    assert [[(city.name, city.country) for city in cities] for cities in found] == [
        [("Gent", "BE")],
        [("Halle (Saale)", "DE")],
        [("Paris", "US")],
        [],
    ]


def test_places_have_the_coordinates_of_the_city():
    assert places_of("Gand", ["BE"]) == [
        {
            "street": "",
            "postal_code": "",
            "locality": "Gand",
            "region": "",
            "country": "BE",
            "latitude": "51.05",
            "longitude": "3.717",
        }
    ]


def test_every_format_names_the_same_cities():
    """Random Belgian cities, alone and in pairs that are far from each other."""
    random = Random(28)
    names = [
        "Antwerpen",
        "Brugge",
        "Gent",
        "Hasselt",
        "Kortrijk",
        "Leuven",
        "Liège",
        "Namur",
        "Tournai",
        "Arlon",
    ]
    for _ in range(30):
        one, other = random.sample(names, 2)
        single = places_of(one, ["BE"])
        assert [single] * 4 == [
            places_of(text, countries)
            for text, countries in (
                (f"{one} (België)", ["BE"]),
                (f"{one}, Belgium", []),
                (f"  {one} - hybrid ", ["NL", "BE"]),
                (f"{one} / {one}", ["BE"]),
            )
        ], one
        assert places_of(f"{one} / {other}", ["BE"]) == single + places_of(other, ["BE"]), (
            one,
            other,
        )
        assert places_of(f"{one}straat / {other}", ["BE"]) == [], (one, other)


def test_more_places_than_a_vacancy_may_have_are_not_proposed():
    names = [
        "Gent",
        "Brugge",
        "Namur",
        "Mons",
        "Arlon",
        "Leuven",
        "Genk",
        "Dinant",
        "Ypres",
        "Aalst",
        "Tournai",
    ]
    assert [len(find_cities(name, "BE")) > 0 for name in names] == [True] * 11
    assert len(places_of(" / ".join(names[:10]), ["BE"])) == 10
    assert places_of(" / ".join(names), ["BE"]) == []
