"""filter[...], filter[search] and the facets of /v1/filters."""

import json
import math
import random
from datetime import timedelta
from itertools import product

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from hypothesis import given
from hypothesis import strategies as st

from jobsite.db.folding import fold
from tests.factories import make_brand, make_filter, make_recruiter, make_vacancy
from tests.vacancies.api import oracle
from vacancies.models import Brand, Filter, FilterOption, Place, Vacancy
from vacancies.querysets import pks_near

pytestmark = pytest.mark.django_db


def titles(client, **query):
    return {item["title"] for item in client.get("/v1/vacancies", query).json()["data"]}


def facets(client, *, of_facts=False, **query):
    """Return {keyword: {value: count}} of the response: of the vocabularies, or of the facts."""
    data = [
        f for f in client.get("/v1/filters", query).json()["data"] if of_facts == (f["id"] > 100)
    ]
    return {
        f["keyword"]: {option["value"]: option["count"] for option in f["options"]} for f in data
    }


@pytest.fixture
def three(at, filters):
    make_vacancy(title="A", options={"regions": ["Antwerp", "Ghent"], "types": ["Nurse"]})
    make_vacancy(title="B", options={"regions": ["Ghent"], "types": ["Driver"]})
    make_vacancy(
        title="C", options={"regions": ["Mons"], "types": ["Nurse"], "functiongroup": ["Care"]}
    )


def test_options_are_or_within_a_filter_and_across_filters(client, three):
    assert titles(client, **{"filter[regions]": "antwerp,mons"}) == {"A", "C"}
    assert titles(client, **{"filter[regions]": "ghent", "filter[types]": "nurse"}) == {"A"}
    assert titles(client, **{"filter[functiongroup]": "care"}) == {"C"}
    assert titles(client, **{"filter[regions]": "nowhere"}) == set()
    assert titles(client, **{"filter[regions]": "nowhere,mons"}) == {"C"}
    assert titles(client, **{"filter[types]": "ghent"}) == set()  # a value of another filter
    for query in ("page[size]=5", "sort=title", "fields=id", "filter[nothing]=x"):
        assert client.get(f"/v1/filters?{query}").status_code == 400, query
    make_filter("types", is_active=False)
    assert "types" not in facets(client)
    assert titles(client, **{"filter[types]": "driver"}) == {"B"}


def test_invalid_list_of_options_is_rejected(client):
    values = (
        "",
        " ",
        " a",
        "a ",
        ",",
        "a,",
        ",a",
        "a,,b",
        "a b",
        "é",
        "a;b",
        "x" * 201,
        ",".join("a" * 101),
    )
    for path, value in product(("/v1/vacancies", "/v1/filters"), values):
        answer = client.get(path, {"filter[regions]": value})
        assert answer.status_code == 400, (path, value)
        assert answer.json()["errors"][0]["parameter"] == "filter[regions]"
        assert answer.json()["errors"][0]["received"] == value[:200]


def test_facets_count_under_the_other_filters(client, three):
    assert facets(client) == {
        "functiongroup": {"care": 1},
        "types": {"driver": 1, "nurse": 2},
        "regions": {"antwerp": 1, "ghent": 2, "mons": 1},
    }
    assert facets(client, **{"filter[regions]": "ghent"}) == {
        "types": {"driver": 1, "nurse": 1},
        "regions": {"antwerp": 1, "ghent": 2, "mons": 1},
    }
    assert facets(client, **{"filter[regions]": "ghent", "filter[types]": "nurse"}) == {
        "types": {"driver": 1, "nurse": 1},
        "regions": {"antwerp": 1, "ghent": 1, "mons": 1},
    }
    found = facets(client, **{"filter[search]": "vacancy", "filter[types]": "driver"})
    assert found["regions"] == {"ghent": 1}


def test_filter_shape_and_order(client, three):
    make_filter("regions", position=0, label="Where")
    make_filter("types", position=1)

    data = client.get("/v1/filters").json()

    assert list(data) == ["data"]
    assert [list(f) for f in data["data"]] == [["id", "label", "keyword", "options"]] * 5
    keywords = ["functiongroup", "regions", "types", "brand", "language"]
    assert [f["keyword"] for f in data["data"]] == keywords
    options = [
        {"value": label.lower(), "label": label, "count": count}
        for label, count in (("Antwerp", 1), ("Ghent", 2), ("Mons", 1))
    ]
    assert data["data"][1] == {"id": 5, "label": "Where", "keyword": "regions", "options": options}


# --- facts ---


@pytest.fixture
def facts(at, filters):
    """Vacancies A to D, and hidden ones of which nothing may be found or counted."""
    end = at + timedelta(days=9)
    of_fact = {"language": "nl", "work_place": "remote", "brand": make_brand("Zeta", slug="z")}
    a = make_vacancy(
        title="A", options={"types": ["Full", "Whole", "Intern"]}, publish_until=end, **of_fact
    )
    b = make_vacancy(
        title="B", options={"types": ["Full"]}, brand=make_brand("Étoile"), work_place="onsite"
    )
    c = make_vacancy(
        title="C", language="en", publish_until=end - timedelta(days=1), brand=make_brand("Étoile")
    )
    make_vacancy(title="D", language="fr", publish_until=end, brand=make_brand("Étoile"))
    hidden = {"language": "de", "work_place": "hybrid", "brand": make_brand("Hidden")}
    for values in ({"audience": "internal"}, {"status": "draft"}, {"publish_until": at}):
        vacancy = make_vacancy(title="X", options={"types": ["Volunteer"]}, **hidden | values)
        for country in ("DE", "BE"):
            Place.objects.create(
                vacancy=vacancy, locality="X", country=country, latitude=51, longitude=4
            )
    for label, value in (
        ("Full", "FULL_TIME"),
        ("Whole", "FULL_TIME"),
        ("Intern", "INTERN"),
        ("Volunteer", "VOLUNTEER"),
    ):
        FilterOption.objects.filter(label=label).update(employment_type=value)
    for vacancy, country, values in (
        (a, "BE", {"locality": "Antwerp", "latitude": "51.2213", "longitude": "4.4051"}),
        (a, "BE", {"locality": "Ghent"}),
        (a, "NL", {"kind": "applicant"}),
        (b, "BE", {"locality": "Namur", "latitude": "50.4669", "longitude": "4.8675"}),
        (c, "GR", {"kind": "applicant"}),
    ):
        Place.objects.create(vacancy=vacancy, country=country, **values)


def test_facts_filter_lists(client, facts):
    found = {
        "filter[brand]=z": "A",
        "filter[brand]=z,etoile": "ABCD",
        "filter[brand]=hidden": "",
        "filter[country]=BE": "AB",
        "filter[country]=NL": "A",
        "filter[country]=GR&filter[country]=BE": "ABC",
        "filter[country]=DE": "",
        "filter[country]=be": "",
        "filter[country]=XX,NL": "A",
        "filter[work_place]=remote": "A",
        "filter[work_place]=onsite,remote": "AB",
        "filter[work_place]=hybrid": "",
        "filter[employment_types]=FULL_TIME": "AB",
        "filter[employment_types]=INTERN": "A",
        "filter[employment_types]=OTHER": "",
        "filter[language]=en": "BC",
        "filter[language]=nl,fr": "AD",
        "filter[language]=de": "",
        "filter[near]=51.2,4.4,5": "A",
        "filter[near]=50.5,4.9,500": "AB",
        "filter[near]=51,4,1": "",
        "filter[country]=BE&filter[language]=en": "B",
        "filter[near]=50.5,4.9,500&filter[types]=whole": "A",
    }
    for query, expected in found.items():
        data = client.get(f"/v1/vacancies?{query}").json()["data"]
        assert "".join(sorted(item["title"] for item in data)) == expected, query


def test_fact_facets_count_under_the_other_filters(client, facts, settings):
    everything = {
        "brand": {"etoile": 3, "z": 1},
        "country": {"BE": 2, "GR": 1, "NL": 1},
        "work_place": {"onsite": 1, "remote": 1},
        "employment_types": {"FULL_TIME": 2, "INTERN": 1},
        "language": {"nl": 1, "en": 2, "fr": 1},
    }
    assert facets(client, of_facts=True) == everything
    found = facets(client, of_facts=True, **{"filter[country]": "NL,GR", "filter[language]": "en"})
    assert found == {
        "brand": {"etoile": 1},
        "country": {"BE": 1, "GR": 1},
        "language": {"nl": 1, "en": 1},
    }
    near = {"filter[near]": "51.2,4.4,5"}
    assert facets(client, of_facts=True, **near)["country"] == {"BE": 1, "NL": 1}
    assert facets(client, **near)["types"] == {"full": 1, "whole": 1, "intern": 1}
    assert facets(client, of_facts=True, **{"filter[country]": "XX"}) == {
        "country": everything["country"]
    }

    settings.LANGUAGE_CODE = "nl"
    shown = [
        f
        for f in client.get("/v1/filters", headers={"Accept-Language": "fr"}).json()["data"]
        if f["id"] > 100
    ]
    assert [(f["id"], f["label"]) for f in shown] == [
        (101, "Merk"),
        (102, "Land"),
        (103, "Werkplek"),
        (104, "Soort dienstverband"),
        (105, "Taal"),
    ]
    assert [
        [(each["label"], each["count"]) for each in f["options"]] for f in shown[:2] + shown[4:]
    ] == [
        [("Étoile", 3), ("Zeta", 1)],
        [("België", 2), ("Griekenland", 1), ("Nederland", 1)],
        [("Engels", 1), ("Frans", 1), ("Nederlands", 2)],
    ]

    Brand.objects.filter(slug="z").update(slug="")  # as SQL can
    assert facets(client, of_facts=True)["brand"] == {"etoile": 3}


def test_vacancies_without_an_end_are_last_in_both_orders_by_end(client, facts):
    def order(sort):
        return "".join(
            item["title"] for item in client.get("/v1/vacancies", {"sort": sort}).json()["data"]
        )

    assert (order("closes_at"), order("-closes_at")) == ("CDAB", "DACB")


NOT_NEAR = (
    "",
    " ",
    "51",
    "51,4",
    "51,4,5,6",
    "51,4,5,",
    ",4,5",
    "51,,5",
    "NaN,4,5",
    "51,nan,5",
    "51,4,inf",
    "51,4,-inf",
    "5e1,4,5",
    "51,4,1e2",
    "51, 4,5",
    " 51,4,5",
    "51,4,5 ",
    "51;4;5",
    "+51,4,5",
    "--51,4,5",
    "51.,4,5",
    ".5,4,5",
    "051,4,5",
    "51,04,5",
    "51,4,05",
    "90.1,4,5",
    "-91,4,5",
    "51,180.000001,5",
    "51,-181,5",
    "51,1000,5",
    "51,4,0",
    "51,4,0.9",
    "51,4,500.1",
    "51,4,501",
    "51,4,-5",
    "51,4,5km",
    "51,4,5\n",
    "\uff15,4,5",
    "51,4,1_0",
    "51,4,0x5",
    "51.1234567890123456,4,5",
    "1" * 5000,
    "51,4,5\0",
)


@pytest.mark.slow("many cases")
def test_invalid_circle_is_rejected(client, at):
    allowed = (
        "latitude (-90 to 90), longitude (-180 to 180) and kilometres (1 to 500), as plain "
        "decimal numbers separated by commas, such as 51.22,4.4,25"
    )
    for value in NOT_NEAR:
        answer = client.get("/v1/vacancies", {"filter[near]": value})
        assert answer.status_code == 400, value
        [error] = answer.json()["errors"]
        assert (error["parameter"], error["received"], error["allowed"]) == (
            "filter[near]",
            value[:200],
            allowed,
        )
    for value in (
        "90,180,1",
        "-90.000,-180.0,500.0",
        "-0,0,1.5",
        "89.999999999999999,0.1,499.9",
        "0,-0.5,10",
    ):
        assert client.get("/v1/vacancies", {"filter[near]": value}).status_code == 200, value


@pytest.mark.slow("creates 10,000 vacancies")
@pytest.mark.each_database
def test_circle_contains_what_a_plain_computation_says(at):
    """10,000 random points around centres anywhere, at the poles and on the date line."""
    chance = random.Random(28)

    def beside(latitude, longitude, km):
        """Return a random point at most twice as far away, roughly."""
        north = max(-90, min(90, latitude + chance.uniform(-km, km) / 55))
        width = min(180, km / 55 / max(0.01, math.cos(math.radians(north))))
        return round(north, 6), round(
            (longitude + chance.uniform(-width, width) + 180) % 360 - 180, 6
        )

    corners = [*product((-90, 0, 90), (-180, 0, 180))]
    centres = [
        *((*corner, km) for corner in corners for km in (1, 500)),
        (86, 0, 444),
        (85.6, 179, 500),
    ]
    centres += [
        (chance.uniform(-90, 90), chance.uniform(-180, 180), km) for km in (1, 20, 100.5, 500) * 5
    ]
    points = [*corners, *(beside(*chance.choice(centres)) for _ in range(9_991))]
    head = make_recruiter()
    values = {"status": "published", "publish_from": at, "head_recruiter": head}
    pks = [
        each.pk
        for each in Vacancy.objects.bulk_create(Vacancy(title="x", **values) for _ in points)
    ]
    Place.objects.bulk_create(
        Place(vacancy_id=pk, locality="x", country="BE", latitude=str(north), longitude=str(east))
        for pk, (north, east) in zip(pks, points, strict=True)
    )
    # With statistics of empty tables, PostgreSQL compares all pairs.
    with connection.cursor() as cursor:
        for table in ("vacancies_vacancy", "vacancies_place"):
            cursor.execute(f"ANALYZE {table}")

    positions = [(pk, oracle.position(*point)) for pk, point in zip(pks, points, strict=True)]
    wrong, smallest = [], len(points)
    for *centre, km in centres:
        found = set(pks_near(*centre, km))
        middle, chord = oracle.position(*centre), oracle.chord(km)
        expected = {pk for pk, position in positions if math.dist(middle, position) <= chord}
        wrong += [(centre, km, points[pks.index(pk)]) for pk in found ^ expected]
        smallest = min(smallest, len(expected))
    assert (wrong[:9], smallest > 0) == ([], True)


@pytest.mark.django_db(transaction=True)
@pytest.mark.slow("commits: a transaction has no revision")
def test_circle_is_read_once_for_a_page_and_anew_after_a_change(client, settings, at):
    settings.CAREER_SITE = True
    place = {"locality": "Antwerp", "country": "BE", "latitude": "51.2", "longitude": "4.4"}
    vacancy = make_vacancy(title="A", places=(place,))
    with CaptureQueriesContext(connection) as queries:
        client.get("/jobs?filter[near]=51.2,4.4,5")
    assert sum("latitude_float" in each["sql"] for each in queries) == 1
    for near, found in (("51.2,4.4,5", {"A"}), ("50,4.4,5", set()), ("51.2,4.4,5", {"A"})):
        assert titles(client, **{"filter[near]": near}) == found
    vacancy.places.update(latitude="50")
    assert titles(client, **{"filter[near]": "51.2,4.4,5"}) == set()


# --- search ---


@pytest.fixture
def texts(at):
    make_vacancy(title="Ingénieur système", description="<p>Réseaux &amp; sécurité</p>")
    make_vacancy(
        title="Straßenbauer", profile="<p>Koch<b>kunst</b></p><p>Gärtner</p>", location="Köln"
    )
    make_vacancy(title="Smørrebrød chef", title_internal="Kitchen-9000")
    make_vacancy(
        title="C++ developer",
        offer='<ul><li>50% remote</li><li><a href="https://hidden.example">pay_scale</a></li></ul>',
    )
    make_vacancy(title="Ver\u00adkäufer", offer="<p>Kinder&shy;garten\u200b</p>")
    make_vacancy(title="Ελληνικά ΣΊΣΥΦΟΣ", contact="<p>東京 office</p>")


FOUND = {
    "ingenieur": {"Ingénieur système"},
    "SYSTÈME Ingé": {"Ingénieur système"},
    "securite reseaux": {"Ingénieur système"},
    "&": {"Ingénieur système"},
    "amp;": set(),
    "strassenbauer": {"Straßenbauer"},
    "STRASSENBAUER koln": {"Straßenbauer"},
    "kochkunst": {"Straßenbauer"},
    "kunstgärtner": set(),
    "smorrebrod": {"Smørrebrød chef"},
    "SMØRREBRØD kitchen": {"Smørrebrød chef"},
    "verkaufer kindergarten": {"Ver\u00adkäufer"},
    "kinder\u00adgarten": {"Ver\u00adkäufer"},
    "c++": {"C++ developer"},
    "50% remote": {"C++ developer"},
    "%": {"C++ developer"},
    "_": {"C++ developer"},
    "pay_scale": {"C++ developer"},
    "hidden.example": set(),
    "href": set(),
    "ελληνικα σισυφος": {"Ελληνικά ΣΊΣΥΦΟΣ"},
    "東京": {"Ελληνικά ΣΊΣΥΦΟΣ"},
    "'": set(),
    "\\": set(),
}


@pytest.mark.slow("many searches")
@pytest.mark.each_database
def test_search_ignores_case_and_accents(client, texts):
    assert {words: titles(client, **{"filter[search]": words}) for words in FOUND} == FOUND


def test_search_with_no_or_too_many_words_is_rejected(client):
    letters = " ".join("abcdefghijklmnopqrstu")
    for words in ("", " ", "\u0301", "\u200b", "\0", "a\0b", "x" * 201, letters):
        answer = client.get("/v1/vacancies", {"filter[search]": words})

        assert answer.status_code == 400, words
        assert answer.json()["errors"][0]["allowed"] == "1 to 20 words of 200 characters in all"


@given(st.text())
def test_folding_is_idempotent(text):
    assert fold(fold(text)) == fold(text)


@given(
    st.text(alphabet=st.characters(categories=["Lu", "Ll", "Lt", "Mn", "Nd", "Zs"]), max_size=30)
)
def test_search_text_and_words_are_folded_alike(text):
    words = fold(text).split()

    assert all(word in fold(f"before {text} after") for word in words)
    assert fold(text.upper()).split() == fold(text.lower()).split() or "ı" in text.lower()


def test_names_of_filters_are_new_at_once(site):
    """A process keeps them until a row that has one changes."""
    make_vacancy(options={"regions": ["Gent"], "types": ["Nurse"]}, language="nl")

    def labels():
        data = json.loads(site.body("/v1/filters"))["data"]
        return {f["label"]: [option["label"] for option in f["options"]] for f in data}

    first = labels()
    assert (first["Regions"], first["Language"]) == (["Gent"], ["Dutch"])
    option = FilterOption.objects.get(label="Gent")
    FilterOption.objects.filter(pk=option.pk).update(label="Ghent")
    assert labels()["Regions"] == ["Ghent"]
    Filter.objects.filter(keyword="types").update(is_active=False)
    Brand.objects.update(name="Another")
    assert "Types" not in labels()
    assert labels()["Brand"] == ["Another"]
    FilterOption.objects.filter(pk=option.pk).update(employment_type="INTERN")
    assert labels()["Employment type"] == ["Internship"]
