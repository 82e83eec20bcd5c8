"""What a search finds, its order, and what it proposes."""

from datetime import timedelta

import pytest
from django.test.utils import CaptureQueriesContext

from tests.factories import make_brand, make_vacancy
from vacancies.models import Place, Vacancy
from vacancies.search import query
from vacancies.search.words import edits, fit, key, read_query, split_words, stems

pytestmark = pytest.mark.django_db
LIST = "/v1/vacancies"


def search(client, text, path=LIST, **query):
    return client.get(path, {"filter[search]": text, "fields": "title", **query}).json()


def titles(client, text, **query):
    return [item["title"] for item in search(client, text, **query)["data"]]


# --- Words ---

FORMS = [
    ("en", "nurse", "nurses"),
    ("nl", "chauffeur", "chauffeurs"),
    ("nl", "verkoper", "verkoopster"),
    ("nl", "vacature", "vacatures"),
    ("fr", "vendeur", "vendeuse"),
    ("fr", "infirmier", "infirmiere"),
    ("fr", "directeur", "directrice"),
    ("de", "steuerberater", "steuerberaterin"),
    ("de", "verkaufer", "verkaeuferinnen"),
]


@pytest.mark.parametrize(("language", "one", "other"), FORMS)
def test_forms_of_a_word_have_one_key(language, one, other):
    assert key(one, language) == key(other, language)
    assert fit(one, other, (language,)) == fit(other, one, (language,)) == 1


def test_titles_with_another_form_have_a_stem():
    others = ("leraar", "leraren"), ("leraren", "leraar"), ("steuerberaterin", "steuerberater")
    for title, word in (*others, *(each[1:] for each in FORMS)):
        assert any(stem in title for stem in stems(word)), word
    assert stems("nurses") == ["nurs"]
    assert stems("koks") == ["koks"]  # "kok" would find parts of many words


def test_words_of_titles_and_queries():
    assert split_words("c++, c# and .net; r&d (it)") == ["c++", "c#", "and", ".net", "r", "d", "it"]
    query = read_query('Verkäufer/in (m/w/d) “night  shift” IT it "&"')
    assert query.phrases == [("night shift", ["night", "shift"])]
    assert query.single == ["verkaufer", "it"]


def test_typing_errors():
    near = {"nurse": "nurze", "welder": "wleder", "chauffeur": "chaufeurr"}
    assert all(edits(typed, word) for word, typed in near.items())
    assert edits("cook", "cook") is None
    assert edits("cook", "baker") is None
    assert edits("cok", "cooks") is None  # short words: one


# --- Order ---


def test_fitting_words_come_first_then_the_newest(client, at):
    make_vacancy(title="Text", description="<p>A nurse</p>")
    make_vacancy(title="Place", location="Nurse")
    make_vacancy(title="Option", options={"regions": ["Nurse"]})
    make_vacancy(title="Brand", brand=make_brand("The Nurse"), publish_from=at - timedelta(days=1))
    for title in ("Nightnurse", "Nurseries", "Nurses", "Nurse"):
        make_vacancy(title=title)
    make_vacancy(title="Nurse new", publish_from=at - timedelta(minutes=1))

    found = [
        "Nurse new",
        "Nurse",
        "Nurses",
        "Option",
        "Place",
        "Brand",
        "Nurseries",
        "Nightnurse",
        "Text",
    ]
    assert titles(client, "nurse") == titles(client, "NURSE", sort="relevance") == found
    newest = titles(client, "nurse", sort="-published_at")
    assert newest[0] == "Nurse new"
    assert titles(client, "nurse", sort="published_at") == newest[::-1]
    assert titles(client, "nurse", sort="title") == sorted(found)


def test_forms_follow_the_language_of_the_vacancy(client, settings):
    make_vacancy(title="Vendeuse", language="fr")
    make_vacancy(title="Vendeuses", language="en")

    assert titles(client, "vendeur") == ["Vendeuse"]
    settings.LANGUAGE_CODE = "fr"
    make_vacancy(title="Vendeuse sans langue")
    assert titles(client, "vendeur") == ["Vendeuse sans langue", "Vendeuse"]


def test_one_and_two_letters_are_whole_words(client):
    for title in ("IT officer", "Recruiter", "R developer", "Editor", "C++ developer", "HR"):
        make_vacancy(title=title)

    assert titles(client, "it") == ["IT officer"]
    assert titles(client, "r") == ["R developer"]
    assert titles(client, "c++") == ["C++ developer"]
    assert titles(client, "hr") == ["HR"]


def test_compounds(client):
    make_vacancy(title="Chauffeur", language="nl")
    make_vacancy(title="Chauffeur met vrachtwagen", language="nl")

    assert titles(client, "vrachtwagenchauffeur") == ["Chauffeur met vrachtwagen", "Chauffeur"]
    make_vacancy(title="Vrachtwagenchauffeur", language="nl")
    assert titles(client, "chauffeur")[-1] == "Vrachtwagenchauffeur"
    assert titles(client, "vrachtwagenchauffeurs")[0] == "Vrachtwagenchauffeur"


def test_neighbours_in_a_title_come_first(client):
    make_vacancy(title="Night nurse")
    make_vacancy(title="Nurse, also at night")

    assert titles(client, "night nurse") == ["Night nurse", "Nurse, also at night"]


def test_quotes_search_a_phrase(client):
    make_vacancy(title="Nurse at night")
    make_vacancy(title="Shift", description="<p>You work the night shift.</p>")
    make_vacancy(title="Nobody", description="<p>No shift at night.</p>")
    make_vacancy(title="Night shift", language="de")
    make_vacancy(title="Option", options={"regions": ["A night shift"]})
    Place.objects.create(vacancy=make_vacancy(title="Place"), locality="Night Shift", country="BE")

    assert titles(client, '"night shift"') == ["Night shift", "Place", "Option", "Shift"]
    assert titles(client, "“Night shift” work") == ["Shift"]
    assert titles(client, '"nur"') == []


def test_texts_are_read_once_for_all_phrases(client, monkeypatch, django_assert_max_num_queries):
    for n in range(5):
        make_vacancy(
            title=f"Job {n}", description="<p>You work the night shift in a team with others.</p>"
        )

    def queries(text):
        with django_assert_max_num_queries(60) as context:
            assert len(titles(client, text)) == 5
        texts = [
            query["sql"] for query in context if "search_text" in query["sql"].split("FROM")[0]
        ]
        return len([sql for sql in texts if "title_internal" not in sql])

    assert queries('"the night" "night shift" "in a" "team with" "a team"') == 1
    assert queries('"the" "night" "shift" "team"') == 0  # the index knows words
    monkeypatch.setattr(query, "BATCH", 2)
    monkeypatch.setattr(query, "CHARACTERS_MAX", 1)
    assert titles(client, '"night shift" "a team"') == ["Job 4", "Job 3"]


def test_the_brand_is_searched(client):
    make_vacancy(title="Cook", brand=make_brand("Zebra"))

    assert titles(client, "zebra") == ["Cook"]


def test_reference_and_long_words(client):
    long = "x" * 100
    make_vacancy(title=f"Cook {long}", reference="AB-1234")

    assert titles(client, "ab-1234") == titles(client, long) == [f"Cook {long}"]


def test_without_a_search_all_are_equally_relevant(client):
    for title in ("Nurse", "Cook", "Baker"):
        make_vacancy(title=title)

    names = [item["title"] for item in client.get(LIST, {"sort": "relevance"}).json()["data"]]
    assert names == ["Baker", "Cook", "Nurse"]


def test_parts_of_a_word_count_as_words(client):
    assert client.get(LIST, {"filter[search]": "-".join("abcdefghijklmnopqrst")}).status_code == 200
    assert (
        client.get(LIST, {"filter[search]": "-".join("abcdefghijklmnopqrstu")}).status_code == 400
    )


# --- Nothing found ---


def test_suggestions(client):
    make_vacancy(title="Verpleegkundige nacht", language="nl", options={"regions": ["Gent"]})
    make_vacancy(title="Kok", language="nl", description="<p>Voor twee afdelingen.</p>")

    def suggested(text, **query):
        return search(client, text, **query)["meta"].get("suggestions")

    assert suggested("verpleegkundige") is None
    assert suggested("verpleegkunidge nacht") == ["verpleegkundige nacht"]
    assert suggested("verpleegkundige kok") == ["kok", "verpleegkundige"]
    assert suggested("afdelngen") == ["afdelingen"]  # in a text only
    assert suggested("bedrijfskok") == []  # a head has more than three letters
    assert suggested("pleegafdelingen") == ["afdelingen"]  # the end of a compound
    assert suggested("zzzzzz") == []
    assert suggested("verpleegkunidge", **{"filter[regions]": "gent"}) == ["verpleegkundige"]
    assert suggested("kik", **{"filter[regions]": "gent"}) == []
    assert "suggestions" not in client.get("/v1/vacancies/hot").json()["meta"]


def test_filters_count_what_the_search_finds(client, filters):
    make_vacancy(title="Verpleegkundige", language="nl", options={"regions": ["Gent"]})
    make_vacancy(title="Kok", language="nl", options={"regions": ["Gent", "Mons"]})

    [regions, *_] = client.get("/v1/filters", {"filter[search]": "verpleegkundigen"}).json()["data"]
    assert [(option["value"], option["count"]) for option in regions["options"]] == [("gent", 1)]


# --- What others may not see ---


SLOW = pytest.mark.slow("many searches, for each reason to hide a vacancy")


@pytest.mark.parametrize(
    "hidden",
    [
        {"audience": "internal"},
        pytest.param({"status": "draft"}, marks=SLOW),
        pytest.param({"publish_from": timedelta(days=1)}, marks=SLOW),
        pytest.param({"publish_until": timedelta(minutes=-1)}, marks=SLOW),
    ],
)
def test_hidden_vacancies_influence_nothing(client, at, hidden):
    """Neither what is found, nor the order, nor suggestions: also not by words, languages and
    compounds that only a hidden vacancy has.
    """
    make_vacancy(title="Vendeuse de nuit", language="en", location="Gent")
    make_vacancy(title="Chauffeur", language="fr")
    make_vacancy(title="Nurse", language="en")
    texts = ("vendeur", "vrachtwagenchauffeur", "nurce", "zebbra", "nurse zebra")
    before = {text: search(client, text) for text in texts}
    times = {
        name: at + value if isinstance(value, timedelta) else value
        for name, value in hidden.items()
    }
    make_vacancy(title="Vrachtwagen chauffeur, vendeuse, nurcy, zebra", language="nl", **times)
    make_vacancy(
        title="Vendeuse, zebras, chauffeur", language="fr", options={"regions": ["Zebra"]}, **times
    )

    assert {text: search(client, text) for text in texts} == before
    Vacancy.objects.update(status="published", audience="both", publish_from=at, publish_until=None)
    assert {text for text in texts if search(client, text) != before[text]} == set(texts)


def test_queries_do_not_depend_on_the_number_of_vacancies(client, django_assert_max_num_queries):
    counts = []
    for number in (1, 3):
        for _ in range(number):
            make_vacancy(title="Nurse of the night", options={"regions": ["Gent"]})
        with django_assert_max_num_queries(40) as context:
            assert titles(client, "night nurse")
        assert isinstance(context, CaptureQueriesContext)
        counts.append(len(context))
    assert counts[0] == counts[1]
