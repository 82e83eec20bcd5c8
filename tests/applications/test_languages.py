"""The language of a status: what Accept-Language asks for, as far as there are words."""

import pytest

from applications.languages import preferred
from tests.applications.makers import MINE, make_application, make_stage, signed_in

WORDS = {"en": "Not selected", "nl": "Niet weerhouden", "fr": "Non retenue", "de": "Nicht ausgewählt"}

CASES = [
    # one language, its regions, its case
    ("en", "en"), ("nl", "nl"), ("fr", "fr"), ("de", "de"),
    ("nl-BE", "nl"), ("fr-CA", "fr"), ("de-AT-1996", "de"), ("DE-ch", "de"), ("NL", "nl"),
    # quality
    ("fr;q=0.8, de;q=0.9", "de"), ("fr, de", "fr"), ("fr;q=0.5,nl;q=0.500", "fr"),
    ("de;q=0.001", "de"), ("fr;q=1.000, de", "fr"), ("en;q=0.1, nl ; q=0.2", "nl"),
    # no, thank you
    ("fr;q=0", "en"), ("nl;q=0, de;q=0.1", "de"), ("fr;q=0.0, nl", "nl"), ("de;q=0.000", "en"),
    # languages that we have no words in
    ("ja", "en"), ("ja, de;q=0.1", "de"), ("zh-Hant-TW, nl;q=0.3, en;q=0.2", "nl"),
    ("ja;q=0.9,*;q=0.1", "en"),
    # a wildcard is every language that the header does not name
    ("*", "en"), ("*;q=0", "en"), ("fr;q=0.5, *", "en"), ("en;q=0, *;q=0.5", "nl"), ("en;q=0.2, *", "nl"),
    ("en;q=0,nl;q=0,fr;q=0,*", "de"), ("de, *;q=0.5", "de"), ("en-US;q=0, *", "en"),
    # garbage as a whole is as good as nothing
    ("", "en"), (" ", "en"), (",", "en"), (";q=1", "en"), ("fr;q=2", "en"), ("fr;q=-1", "en"),
    ("fr;q=abc", "en"), ("fr;q=0.1234", "en"), ("fr_FR", "en"), ("<script>", "en"), ("nl\x00", "en"),
    ("é", "en"), ("x" * 7000, "en"), ("fr;;;;", "en"), ("q=0.5", "en"), ("-fr", "en"), ("../../nl", "en"),
]  # fmt: skip


@pytest.mark.parametrize(("header", "language"), CASES)
def test_header_chooses_the_language(header, language):
    assert preferred(header) == language


def test_long_header_is_read_as_far_as_whole_ranges_go():
    filler = ",".join(["ja;q=0.9"] * 800)  # 7 kB

    assert preferred(f"nl,{filler}") == "nl"
    assert preferred(f"{filler},nl") == "en"


@pytest.mark.parametrize("start", range(486, 504))
def test_range_that_is_cut_off_counts_for_nothing(start):
    """Django reads 500 characters: "fr;q=0.1" must not become "fr"."""
    header = "nl;q=0.5,".ljust(start) + "fr;q=0.1" + ",ja" * 2000

    assert preferred(header) == "nl"


@pytest.mark.parametrize(("site", "fallback"), [("nl", "nl"), ("fr-be", "fr"), ("ja", "en"), ("en-us", "en")])
def test_unknown_language_is_the_sites(settings, site, fallback):
    settings.LANGUAGE_CODE = site

    assert [preferred(header) for header in ("", "ja", "*", "garbage;;")] == [fallback] * 4


@pytest.mark.django_db
@pytest.mark.parametrize(("header", "language"), CASES)
def test_answer_is_in_that_language_and_says_so(header, language):
    application = make_application(stage=make_stage("zyxstage", **WORDS))

    answer = signed_in(application.user).get(MINE, HTTP_ACCEPT_LANGUAGE=header)

    assert answer.status_code == 200
    assert answer["Content-Language"] == language
    assert "Accept-Language" in answer["Vary"].split(", ")
    assert answer.json()["data"][0]["status"] == WORDS[language]
    assert "zyxstage" not in answer.text


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("labels", "asked", "words"),
    [
        ({"nl": "Ontvangen", "en": "Received"}, "fr", "Received"),  # the site's
        ({"nl": "Ontvangen", "fr": "Reçue"}, "de", "Ontvangen"),  # any
        ({"de": "Eingegangen"}, "en", "Eingegangen"),
    ],
)
def test_status_without_words_in_the_language_says_it_in_another(labels, asked, words):
    application = make_application(stage=make_stage(**labels))

    answer = signed_in(application.user).get(MINE, HTTP_ACCEPT_LANGUAGE=asked)

    assert answer.json()["data"][0]["status"] == words


@pytest.mark.django_db
@pytest.mark.parametrize("header", ["nl", "x" * 7000, "fr;;"])
def test_language_never_reaches_what_is_public(client, header):
    answers = [client.get("/v1/vacancies", HTTP_ACCEPT_LANGUAGE=text) for text in (header, "")]

    assert answers[0].content == answers[1].content
    assert dict(answers[0].headers) == dict(answers[1].headers)
    assert "Content-Language" not in answers[0]
