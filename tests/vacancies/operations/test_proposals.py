"""propose_facts: what it shows, writes and leaves alone."""

import json
import sys
from decimal import Decimal

import pytest
from django.core.management import CommandError

from tests.factories import make_brand, make_option, make_vacancy
from tests.vacancies.commands import run
from vacancies.management.commands import propose_facts
from vacancies.models import FilterOption, Place, Vacancy, Version
from vacancies.operations import proposals

pytestmark = pytest.mark.django_db


@pytest.fixture
def vacancies(at):
    """Vacancies with and without places."""
    for pk, location in enumerate(
        ["Antwerp", "Antwerp", "Gent / Brugge", "Various", "", "Antwerp", "Antwerp"], 1
    ):
        make_vacancy(pk=pk, location=location, options={"work_regimes": ["Full Time", "Shifts"]})
    filled = make_vacancy(pk=8, location="Antwerp")
    Place.objects.create(vacancy=filled, locality="Ghent", country="BE")
    Place.objects.create(vacancy=Vacancy.objects.get(pk=6), kind="applicant", country="NL")
    Vacancy.objects.filter(pk=7).update(work_place="remote")
    make_option("contract_types", "Freelance", employment_type="OTHER")


def stored():
    """The places of vacancies, and the employment types of options."""
    places = list(
        Place.objects.order_by("vacancy", "position").values_list(
            "vacancy", "kind", "locality", "country"
        )
    )
    return places, dict(FilterOption.objects.values_list("label", "employment_type"))


FILLED = [(6, "applicant", "", "NL"), (8, "site", "Ghent", "BE")]
LINES = [
    "     2  Antwerp -> Antwerp, BE",
    "     1  Gent / Brugge -> Gent, BE; Brugge, BE",
    "     1  Various -> -",
    "     8  texts of 1, 2, 3, 4, 5, 6, 7, 8 -> - (not recognised)",
    "     7  work_regimes: Full Time -> FULL_TIME",
]


def test_facts_are_proposed_and_written(vacancies, at):
    before = stored()
    what = "places of 3 vacancies and employment types of 1 options"
    assert run("propose_facts", "--country", "be", "--dry-run") == (
        0,
        f"Would write {what}.",
        LINES,
    )
    assert stored() == before

    assert run("propose_facts", "--country", "be", "--yes") == (0, f"Wrote {what}.", LINES)
    assert stored() == (
        sorted(
            [
                *FILLED,
                (1, "site", "Antwerp", "BE"),
                (2, "site", "Antwerp", "BE"),
                (3, "site", "Gent", "BE"),
                (3, "site", "Brugge", "BE"),
            ],
            key=lambda row: row[0],
        ),
        {"Full Time": "FULL_TIME", "Shifts": "", "Freelance": "OTHER"},
    )
    assert Place.objects.get(vacancy=1).address["latitude"] == Decimal("51.22")
    assert (
        Version.objects.filter(vacancy=1).latest("pk").content["places"][0]["locality"] == "Antwerp"
    )
    assert Vacancy.objects.get(pk=1).updated_at == at


def test_json_has_every_proposal(vacancies):
    code, output, lines = run("propose_facts", "--country", "BE", "--dry-run", "--format", "json")
    found = json.loads(output)
    assert (code, lines) == (0, [])
    assert found["locations"][2] == {
        "location": "Various",
        "places": [],
        "vacancies": 1,
        "waiting": 0,
    }
    assert [place["locality"] for place in found["locations"][1]["places"]] == ["Gent", "Brugge"]
    assert found["options"] == [
        {
            "filter": "work_regimes",
            "label": "Full Time",
            "employment_type": "FULL_TIME",
            "vacancies": 7,
        }
    ]
    assert found["written"] == {"vacancies": 0, "languages": 0, "options": 0, "skipped": 0}


@pytest.mark.parametrize(
    ("answer", "summary"),
    [
        ("n", "Nothing was written."),
        ("", "Nothing was written."),
        ("y", "Wrote places of 3 vacancies and employment types of 1 options."),
    ],
)
def test_a_terminal_is_asked(vacancies, monkeypatch, answer, summary):
    questions = []
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
    monkeypatch.setattr("builtins.input", lambda question: questions.append(question) or answer)
    assert run("propose_facts", "--country", "BE")[:2] == (0, summary)
    assert questions == ["Write places of 3 vacancies and employment types of 1 options? [y/N] "]
    assert (len(stored()[0]) > len(FILLED)) == (answer == "y")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "There is no terminal for the confirmation: pass --dry-run or --yes."),
        (
            ("--format", "json"),
            "There is no terminal for the confirmation: pass --dry-run or --yes.",
        ),
        (
            ("--country", "xx", "--yes"),
            "--country XX: there is no file of its cities, only of BE, DE, FR, LU, NL, US.",
        ),
    ],
)
def test_wrong_arguments_are_refused(words, message):
    with pytest.raises(CommandError) as refused:
        run("propose_facts", *words)
    assert (refused.value.returncode, str(refused.value)) == (2, message)


def test_public_vacancies_that_need_approval_are_left_out(at):
    brand = make_brand("Careful", requires_approval=True)
    make_vacancy(pk=1, brand=brand, location="Antwerp")
    make_vacancy(pk=2, brand=brand, location="Antwerp", status="draft")
    code, summary, lines = run("propose_facts", "--country", "BE", "--yes")
    assert (code, summary) == (0, "Wrote places of 1 vacancies and employment types of 0 options.")
    assert lines == [
        "     1  Antwerp -> Antwerp, BE",
        "     2  texts of 1, 2 -> - (not recognised)",
        "     1  public vacancies are left out, because a change of them needs approval",
    ]
    assert list(Place.objects.values_list("vacancy", flat=True)) == [2]


GERMAN = "<p>Wir suchen einen Koch für unsere Küche.</p>"


def test_languages_are_proposed_and_written(at):
    careful = make_brand("Careful", requires_approval=True)
    make_vacancy(pk=1, description=GERMAN)
    make_vacancy(pk=2, description=GERMAN, language="nl")  # stated
    make_vacancy(pk=3, description="<p>We are looking for a cook.</p>")
    make_vacancy(pk=4, description=GERMAN, brand=careful)

    code, summary, lines = run("propose_facts", "--yes")

    what = "places of 0 vacancies, languages of 1 and employment types of 0 options"
    assert (code, summary, lines) == (
        0,
        f"Wrote {what}.",
        [
            "     1  texts of 1 -> German",
            "     1  public vacancies are left out, because a change of them needs approval",
        ],
    )
    languages = dict(Vacancy.objects.values_list("pk", "language"))
    assert languages == {1: "de", 2: "nl", 3: "", 4: ""}
    assert Vacancy.objects.get(pk=1).updated_at == at


def test_what_changes_after_the_proposal_stays(vacancies, at):
    found = proposals.propose_places(["BE"], at=at)
    rows = [(pk, each) for each in found if each.value for pk in each.pks]
    Place.objects.create(vacancy=Vacancy.objects.get(pk=1), locality="Ghent", country="BE")
    Vacancy.objects.filter(pk=2).update(location="Ghent")
    Vacancy.objects.filter(pk=3).delete()
    written = proposals.Written()
    proposals.write_values(rows, written, at=at)
    types = proposals.propose_employment_types()
    FilterOption.objects.update(employment_type="OTHER")
    proposals.write_employment_types(types, written)
    assert str(written) == (
        "places of 0 vacancies and employment types of 0 options; 3 vacancies had changed meanwhile"
    )
    assert stored() == (
        [(1, "site", "Ghent", "BE"), *FILLED],
        {"Full Time": "OTHER", "Shifts": "OTHER", "Freelance": "OTHER"},
    )


def test_an_interrupted_run_can_be_repeated(vacancies, monkeypatch):
    write = propose_facts.write_values

    def interrupted(*args, **kwargs):
        write(*args, **kwargs)
        raise KeyboardInterrupt

    monkeypatch.setattr(propose_facts, "BATCH", 2)
    monkeypatch.setattr(propose_facts, "write_values", interrupted)
    code, _, lines = run("propose_facts", "--country", "BE", "--yes")
    assert (code, lines[-1]) == (
        130,
        "Interrupted. Wrote places of 2 vacancies and employment types of 1 options. Run the "
        "command again to continue.",
    )
    monkeypatch.undo()
    assert run("propose_facts", "--country", "BE", "--yes")[1] == (
        "Wrote places of 1 vacancies and employment types of 0 options."
    )
    assert len(stored()[0]) == 4 + len(FILLED)
