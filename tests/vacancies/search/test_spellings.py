"""Other spellings, marks of gender, names of cities, and forms of trades."""

import pytest

from tests.factories import make_vacancy
from tests.vacancies.search.test_search import search, titles
from vacancies.models import Place
from vacancies.search.words import all_words, folded, joined_words, key, read_query, split_words

pytestmark = pytest.mark.django_db


@pytest.mark.slow("many cases")
@pytest.mark.each_database
def test_joined_and_separate_spellings_find_each_other(client):
    spellings = (
        ("E-mail planner", "email", "e-mail", "e mail"),
        ("Ecommerce analyst", "e-commerce", "e commerce"),
        ("X-ray assistant", "xray"),
        ("Node.js programmer", "nodejs", "node js"),
        ("PL/SQL tester", "plsql"),
        ("SAP S/4HANA lead", "s4hana"),
        ("CI/CD engineer", "cicd"),
        ("Front end tester", "frontend"),
        ("Frontend coach", "front-end"),
        ("Wi-Fi fitter", "wifi", "wi fi"),
        ("R&D chemist", "rd", "r&d"),
        ("VB.NET coder", ".net", "vbnet"),
        ("HR-Manager", "hrmanager"),
        ("Support 24/7", "247", "24/7"),
        ("Front-end/back-end coder", "backend"),
        ("L'Oréal seller", "loreal"),
        ("Chauffeur C+E", "CE", "C/E"),
    )
    for title, *_ in spellings:
        make_vacancy(title=title)
    make_vacancy(title="Text", description="<p>We use Node.js and e-mail, not l'affaire.</p>")

    missing = [
        (t, text) for t, *texts in spellings for text in texts if t not in titles(client, text)
    ]
    assert missing == []
    assert titles(client, "nodejs") == ["Node.js programmer", "Text"]
    assert titles(client, "laffaire") == []  # an elision in a text is no spelling of its own


def test_numbers_and_alternatives_are_not_joined():
    for text in (
        "2.500",
        "2024-2025",
        "12/05/2026",
        "cook/baker",
        "python/r",
        "java/kotlin",
        "c#/f#",
    ):
        assert joined_words(text) == [], text
    assert read_query("Front-end m/w/d").joined == (("front", "end"),)


def test_marks_of_gender_are_no_words():
    marks = (
        "(m/w/d)",
        "m/v/x",
        "M/V",
        "(H/F)",
        "(F/M)",
        "[m|w|d]",
        "(w/m/divers)",
        "/in",
        "/-in",
        ":in",
        "*innen",
        "·ère",
        "(e)",
        ".e.s",
        "·e·s",
        "/trice",
    )
    for mark in marks:
        title = (
            f"Leiter {mark}"
            if (mark[0] in "([" and "/" in mark) or mark[0].isalpha()
            else f"Leiter{mark}"
        )
        assert split_words(folded(title)) == ["leiter"], mark
    assert split_words(folded("Angestellte/r")) == ["angestellte"]
    assert all_words("koch (m/w/d), leiter/in, angestellte/r") == {"koch", "leiter", "angestellte"}
    for title in ("Python/R", "SAS/R", "Go/R", "Azure/R", "C/C++", "X/Y", "(C/E)", "(D/F)"):
        assert split_words(folded(title)) == split_words(title.lower()), title
        assert len(split_words(title.lower())) == 2, title


def test_a_city_is_found_by_its_names_in_other_languages(client):
    Place.objects.create(vacancy=make_vacancy(title="Cook"), locality="Liège", country="BE")
    for title, location in (
        ("Baker", "Antwerpen"),
        ("Nurse", "Den Haag"),
        ("Clerk", "München"),
        ("Dean", "Genève"),
    ):
        make_vacancy(title=title, location=location)
    names = {
        "Lüttich": "Cook",
        "Luik": "Cook",
        "Anvers": "Baker",
        "The Hague": "Nurse",
        "La Haye": "Nurse",
        "Munich": "Clerk",
        "Genf": "Dean",
        "nurse the hague": "Nurse",
    }

    assert {name: titles(client, name) for name in names} == {
        name: [title] for name, title in names.items()
    }
    assert titles(client, "name") == titles(client, "Lion") == []


TRADES = {
    "nl": "kapper/kapster leraar/lerares verkoper/verkoopster kassier/kassierster "
    "zakenman/zakenvrouw kok/kokkin directeur/directrice boer/boerin secretaris/secretaresse "
    "onderwijzer/onderwijzeres",
    "fr": "serveur/serveuse boulanger/boulangere infirmier/infirmieres technicien/technicienne "
    "macon/maconne conseiller/conseillere acteur/actrice professeur/professeure chef/cheffe "
    "hote/hotesse auteur/autrice ambassadeur/ambassadrice charge/chargees employe/employees",
    "de": "krankenpfleger/krankenschwester kaufmann/kauffrau koch/kochin arzt/arztin "
    "fachmann/fachleute verkaufer/verkauferinnen friseur/friseuse kundin/kunde",
}
OTHERS = {
    "nl": "verkoper/verkoop kok/koken minister/mini meester/meer venster/ven",
    "fr": (
        "docteur/doctorat boulanger/boulangerie directeur/direction ouvrier/ouvrir caissier/caisse"
    ),
    "de": "koch/kochen berlin/berl termin/term verein/ver kaufmann/kauf",
}


def test_forms_of_trades_have_one_key_and_other_words_have_not():
    found = {
        (code, pair): len({key(word, code) for word in pair.split("/")})
        for pairs in (TRADES, OTHERS)
        for code, text in pairs.items()
        for pair in text.split()
    }
    expected = {(code, pair): 1 for code, text in TRADES.items() for pair in text.split()}
    expected |= {(code, pair): 2 for code, text in OTHERS.items() for pair in text.split()}
    assert found == expected


def test_a_word_is_split_only_where_it_does_not_occur(client):
    make_vacancy(title="Chauffeur", language="nl")
    make_vacancy(title="Bus van de stad", language="nl")
    make_vacancy(title="Chauffeur de bus", language="fr")

    assert titles(client, "buschauffeur") == ["Chauffeur"]  # pieces of vacancies in Dutch only
    make_vacancy(title="Text", language="nl", description="<p>Een buschauffeur helpt.</p>")
    assert titles(client, "buschauffeur") == titles(client, "buschauffeurs") == ["Text"]


def test_three_letters_of_a_longer_word_do_not_beat_the_word(client):
    make_vacancy(title="Text", description="<p>You use SAP.</p>")
    make_vacancy(title="Sapper")
    make_vacancy(title="Disappearing")

    assert titles(client, "sap") == ["Text", "Sapper"]


def test_a_search_of_many_unknown_words_proposes_little(client):
    make_vacancy(title="Nurse")
    many = " ".join(["nurze", *(f"zzz{letter}" for letter in "abcdefghijklmnopqr")])
    assert search(client, many)["meta"]["suggestions"] == []
