"""filter[...], filter[search] and the facets of /v1/filters."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobsite.db.folding import fold
from tests.factories import make_filter, make_vacancy

pytestmark = pytest.mark.django_db


def titles(client, **query):
    return {item["title"] for item in client.get("/v1/vacancies", query).json()["data"]}


def facets(client, **query):
    """Return {keyword: {value: count}} of the response."""
    data = client.get("/v1/filters", query).json()["data"]
    return {f["keyword"]: {option["value"]: option["count"] for option in f["options"]} for f in data}


@pytest.fixture
def three(at, filters):
    make_vacancy(title="A", options={"regions": ["Antwerp", "Ghent"], "types": ["Nurse"]})
    make_vacancy(title="B", options={"regions": ["Ghent"], "types": ["Driver"]})
    make_vacancy(title="C", options={"regions": ["Mons"], "types": ["Nurse"], "functiongroup": ["Care"]})


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
    values = ("", " ", " a", "a ", ",", "a,", ",a", "a,,b", "a b", "é", "a;b", "x" * 201, ",".join("a" * 101))
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
    assert [list(f) for f in data["data"]] == [["id", "label", "keyword", "options"]] * 3
    assert [f["keyword"] for f in data["data"]] == ["functiongroup", "regions", "types"]
    options = [
        {"value": label.lower(), "label": label, "count": count}
        for label, count in (("Antwerp", 1), ("Ghent", 2), ("Mons", 1))
    ]
    assert data["data"][1] == {"id": 5, "label": "Where", "keyword": "regions", "options": options}


# --- search ---


@pytest.fixture
def texts(at):
    make_vacancy(title="Ingénieur système", description="<p>Réseaux &amp; sécurité</p>")
    make_vacancy(title="Straßenbauer", profile="<p>Koch<b>kunst</b></p><p>Gärtner</p>", location="Köln")
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
    "&": set(),  # words have letters or digits
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
    "%": set(),
    "_": set(),
    "pay_scale": {"C++ developer"},
    "hidden.example": set(),
    "href": set(),
    "ελληνικα σισυφος": {"Ελληνικά ΣΊΣΥΦΟΣ"},
    "東京": {"Ελληνικά ΣΊΣΥΦΟΣ"},
    "'": set(),
    "\\": set(),
}


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


@given(st.text(alphabet=st.characters(categories=["Lu", "Ll", "Lt", "Mn", "Nd", "Zs"]), max_size=30))
def test_search_text_and_words_are_folded_alike(text):
    words = fold(text).split()

    assert all(word in fold(f"before {text} after") for word in words)
    assert fold(text.upper()).split() == fold(text.lower()).split() or "ı" in text.lower()
