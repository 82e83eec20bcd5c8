"""Accept-Language negotiation:
`preferred_language`, and the language of an application's status.
"""

import pytest

from applications.models import StageChange
from jobsite.languages import preferred_language
from tests.applications.makers import MINE, make_application, make_stage, signed_in

LABELS = {
    "en": "Not selected",
    "nl": "Niet weerhouden",
    "fr": "Non retenue",
    "de": "Nicht ausgewählt",
}

CASES = [
    # one language, its regions, its case
    ("en", "en"),
    ("nl", "nl"),
    ("fr", "fr"),
    ("de", "de"),
    ("nl-BE", "nl"),
    ("fr-CA", "fr"),
    ("de-AT-1996", "de"),
    ("DE-ch", "de"),
    ("NL", "nl"),
    # quality
    ("fr;q=0.8, de;q=0.9", "de"),
    ("fr, de", "fr"),
    ("fr;q=0.5,nl;q=0.500", "fr"),
    ("de;q=0.001", "de"),
    ("fr;q=1.000, de", "fr"),
    ("en;q=0.1, nl ; q=0.2", "nl"),
    # quality 0 excludes a language
    ("fr;q=0", "en"),
    ("nl;q=0, de;q=0.1", "de"),
    ("fr;q=0.0, nl", "nl"),
    ("de;q=0.000", "en"),
    # unsupported languages
    ("ja", "en"),
    ("ja, de;q=0.1", "de"),
    ("zh-Hant-TW, nl;q=0.3, en;q=0.2", "nl"),
    ("ja;q=0.9,*;q=0.1", "en"),
    # a wildcard is every language that the header does not name
    ("*", "en"),
    ("*;q=0", "en"),
    ("fr;q=0.5, *", "en"),
    ("en;q=0, *;q=0.5", "nl"),
    ("en;q=0.2, *", "nl"),
    ("en;q=0,nl;q=0,fr;q=0,*", "de"),
    ("de, *;q=0.5", "de"),
    ("en-US;q=0, *", "en"),
    # an invalid header is ignored
    ("", "en"),
    (" ", "en"),
    (",", "en"),
    (";q=1", "en"),
    ("fr;q=2", "en"),
    ("fr;q=-1", "en"),
    ("fr;q=abc", "en"),
    ("fr;q=0.1234", "en"),
    ("fr_FR", "en"),
    ("<script>", "en"),
    ("nl\x00", "en"),
    ("é", "en"),
    ("x" * 7000, "en"),
    ("fr;;;;", "en"),
    ("q=0.5", "en"),
    ("-fr", "en"),
    ("../../nl", "en"),
]


def test_preferred_language_of_a_header(settings):
    assert [(header, preferred_language(header)) for header, _ in CASES] == CASES

    # Django reads 500 characters. "fr;q=0.1" must not be read as "fr".
    filler = ",".join(["ja;q=0.9"] * 800)  # 7 kB
    assert preferred_language(f"nl,{filler}") == "nl"
    assert preferred_language(f"{filler},nl") == "en"
    for start in range(486, 504):
        header = "nl;q=0.5,".ljust(start) + "fr;q=0.1" + ",ja" * 2000
        assert preferred_language(header) == "nl", start

    for settings.LANGUAGE_CODE, fallback in (
        ("nl", "nl"),
        ("fr-be", "fr"),
        ("ja", "en"),
        ("en-us", "en"),
    ):
        assert {preferred_language(header) for header in ("", "ja", "*", "garbage;;")} == {fallback}


@pytest.mark.django_db
def test_status_is_in_the_preferred_language():
    application = make_application(stage=make_stage("zyxstage", **LABELS))
    client = signed_in(application.user)

    for header in ("en", "nl-BE", "fr;q=0.8, de;q=0.9", "ja, fr", "", "x" * 7000, "nl\x00"):
        response = client.get(MINE, HTTP_ACCEPT_LANGUAGE=header)

        language = dict(CASES).get(header, "fr")
        assert (response.status_code, response["Content-Language"]) == (200, language), header
        assert "Accept-Language" in response["Vary"].split(", ")
        assert response.json()["data"][0]["status"] == LABELS[language]
        assert "zyxstage" not in response.text

    application = make_application(stage=make_stage())
    client = signed_in(application.user)
    for labels, header, expected in (
        ({"nl": "Ontvangen", "en": "Received"}, "fr", "Received"),  # the site's language
        ({"nl": "Ontvangen", "fr": "Reçue"}, "de", "Ontvangen"),  # any language
        ({"de": "Eingegangen"}, "en", "Eingegangen"),
    ):
        StageChange.objects.update(stage=make_stage(**labels))
        assert client.get(MINE, HTTP_ACCEPT_LANGUAGE=header).json()["data"][0]["status"] == expected
