"""Content warnings about the facts of a vacancy: in words, in the list and in the counts."""

from typing import Any

import pytest
from django.utils import timezone

from tests.factories import make_brand, make_option, make_recruiter, make_vacancy
from tests.vacancies.commands import run
from vacancies.admin.edit.page import warnings_about
from vacancies.models import Requisition, Vacancy
from vacancies.quality.google import missing_for_google
from vacancies.quality.warnings import (
    content_warnings,
    count_warnings,
    filter_by_warning,
    with_warnings,
)

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("filters")]
CODES = ("no-pay", "not-for-google", "no-employment-type")
GHENT, LILLE = {"locality": "Ghent", "country": "BE"}, {"locality": "Lille", "country": "FR"}
BELGIUM = {"kind": "applicant", "country": "BE"}
PAY = {"pay_max": 20, "pay_currency": "EUR", "pay_period": "hour"}
TYPED, UNTYPED = {"types": ["Full-time"]}, {"types": ["Night"]}
NO_PAY = "has no pay, but the law of its country requires it"
NO_TYPE = "none of its options has an employment type, such as full-time"
GOOGLE = "is not shown by Google, which requires "
NO_COUNTRY = f"{GOOGLE}a country for remote work"
CASES: dict[str, tuple[dict[str, Any], list[str]]] = {
    "all facts": ({"places": (GHENT,), "options": TYPED, **PAY}, []),
    "no facts": ({}, [f"{GOOGLE}a place"]),
    "no facts, internal": ({"audience": "internal", "options": UNTYPED}, []),
    "option without a type": ({"places": (LILLE,), "options": UNTYPED}, [NO_TYPE]),
    "one of two options has a type": (
        {"places": (LILLE,), "options": {"types": ["Night", "Full-time"]}},
        [],
    ),
    "remote": ({"work_place": "remote"}, [NO_COUNTRY]),
    "remote with a place": ({"work_place": "remote", "places": (LILLE,)}, [NO_COUNTRY]),
    "remote, with a country": ({"work_place": "remote", "places": (BELGIUM,), **PAY}, []),
    "hybrid with a country": (
        {"work_place": "hybrid", "places": (BELGIUM,), **PAY},
        [f"{GOOGLE}a place"],
    ),
    "no text": ({"description": "", "places": (LILLE,)}, []),
    "no text, no place": (
        {"description": "", "audience": "both"},
        [f"{GOOGLE}a description, a place"],
    ),
    "text in the offer": ({"description": "", "offer": "<p>x</p>", "places": (LILLE,)}, []),
    "no pay": ({"places": (LILLE, GHENT)}, [NO_PAY]),
    "no pay, internal and remote": ({"audience": "internal", "places": (BELGIUM,)}, [NO_PAY]),
    "a note instead of pay": ({"places": (GHENT,), "pay_note": "Good pay"}, [NO_PAY]),
    "pay that is not public": ({"places": (GHENT,), "is_pay_public": False, **PAY}, []),
}


def test_facts_that_are_missing_are_named_counted_and_found(settings: Any) -> None:
    settings.PAY_REQUIRED_IN = ["NL", "BE"]
    make_option("types", "Full-time", employment_type="FULL_TIME")
    for title, (values, _) in CASES.items():
        make_vacancy(title=title, **values)
    at = timezone.now()
    vacancies = Vacancy.objects.all()

    found = {
        row.title: {w.code: str(w.text) for w in content_warnings(row) if w.code in CODES}
        for row in with_warnings(vacancies, at=at).order_by("pk")
    }

    assert {title: list(texts.values()) for title, texts in found.items()} == {
        title: texts for title, (_, texts) in CASES.items()
    }
    listed = {
        code: set(filter_by_warning(vacancies, code, at=at).values_list("title", flat=True))
        for code in CODES
    }
    assert listed == {code: {title for title in found if code in found[title]} for code in CODES}
    [counts] = count_warnings(vacancies, at=at).values()
    assert {code: counts[code] for code in CODES} == {code: len(listed[code]) for code in CODES}
    settings.PAY_REQUIRED_IN = []
    assert not filter_by_warning(vacancies, "no-pay", at=at).exists()
    [counts] = count_warnings(vacancies, at=at).values()
    assert counts["no-pay"] == 0
    row = with_warnings(vacancies, at=at).get(title="no text, no place")
    assert missing_for_google(row) == ["description", "place"]
    Requisition.objects.create(
        vacancy=vacancies.get(title="no facts"), is_for_open_applications=True
    )
    assert (
        not filter_by_warning(vacancies, "not-for-google", at=at).filter(title="no facts").exists()
    )


ONE_GENDER = {
    "de": [
        "Krankenschwester",
        "Verkäufer",
        "VERKÄUFERIN in Teilzeit",
        "Leiter Einkauf",
        "Entwickler Java",
        "Krankenpfleger (Teilzeit)",
        "Industriekaufmann",
        "Straßenbauer",
        "Psychologe",
        "Handwerker, Berlin",
    ],
    "fr": [
        "Vendeur",
        "Infirmière",
        "Technicien de maintenance",
        "Éducateur spécialisé",
        "Aide-soignante",
        "Couturière",
        "Contrôleur - Lille",
    ],
    "nl": ["Kapster", "Verpleegster", "Poetsvrouw", "Timmerman", "Barman", "Kokkin"],
}
EVERYBODY = {
    "de": [
        "Verkäufer (m/w/d)",
        "Verkäufer/in",
        "Verkäufer/-in",
        "Verkäufer:in",
        "Verkäufer*in",
        "VerkäuferIn",
        "Verkäufer(in)",
        "Pflegekraft",
        "Reinigungskraft",
        "Computer",
        "Account Manager",
        "Leitung Einkauf",
        "Krankenschwester / Krankenpfleger",
        "Verkäufer (gn)",
        "Fachangestellte",
        "Kochkurs",
        "Leiter-Team",
        "Verkäuferin und Verkäufer",
        "Verkäufer (m-w-d)",
        "Koch (Mensch)",
        "Verkäufer mwd",
        "Koch (gn*)",
    ],
    "fr": [
        "Vendeur (H/F)",
        "Vendeur·se",
        "Vendeur.euse",
        "Vendeur-se",
        "Directeur/Directrice",
        "Secrétaire",
        "Vendeur ou vendeuse",
        "Chef de projet",
        "Computer scientist",
        "Direction",
        "Vendeuse, vendeur",
        "Vendeur et vendeuse",
        "Vendeur H-F",
        "Vendeur HF",
    ],
    "nl": [
        "Kapper",
        "Kapster (m/v/x)",
        "Kapper/kapster",
        "Kapper of kapster",
        "Webmaster",
        "Leraar",
    ],
    "en": ["Waitress", "Verkäufer"],  # no rule
}


@pytest.mark.each_database
def test_titles_that_name_one_gender_have_a_warning(settings: Any) -> None:
    who = {"brand": make_brand("Acme"), "head_recruiter": make_recruiter("Jan")}
    Vacancy.objects.bulk_create(
        Vacancy(
            title=title, language=language, status="published", publish_from=timezone.now(), **who
        )
        for titles in (ONE_GENDER, EVERYBODY)
        for language, all_titles in titles.items()
        for title in all_titles
    )
    Vacancy.objects.filter(title="Kapster").update(language="")  # that of the site

    def found() -> list[str]:
        warned = filter_by_warning(Vacancy.objects.all(), "one-gender", at=timezone.now())
        return sorted(warned.values_list("title", flat=True))

    expected = sorted(title for titles in ONE_GENDER.values() for title in titles)
    settings.LANGUAGE_CODE = "nl"
    assert found() == expected
    settings.LANGUAGE_CODE = "en"
    assert found() == [title for title in expected if title != "Kapster"]


def test_lint_compares_the_stated_language_with_the_texts() -> None:
    german = "<p>Wir suchen einen Koch für unsere Küche.</p>"
    for pk, language in enumerate(("", "de", "nl"), 1):
        make_vacancy(pk=pk, title="Koch", language=language, description=german)
    make_vacancy(pk=4, title="Cocinero", description="<p>Buscamos un cocinero para Valencia.</p>")
    assert run("lint_vacancies", "--rule", "language")[2][:2] == [
        (
            f"warning: vacancy {pk} 'Koch': the text looks German, but the language is {name} "
            "[language]"
        )
        for pk, name in ((1, "English"), (3, "Dutch"))
    ]


def test_form_says_in_one_line_what_is_missing_after_saving() -> None:
    contact = {
        "contact": "<p>Call us</p>",
        "image_url": "https://acme.test/a.png",
        "apply_url": "https://acme.test/",
    }
    vacancy = make_vacancy(title="Nurse", options=UNTYPED, **contact)

    assert warnings_about(vacancy) == [f"“Nurse”: {GOOGLE}a place; {NO_TYPE}."]
    assert warnings_about(make_vacancy(status="draft")) == []
