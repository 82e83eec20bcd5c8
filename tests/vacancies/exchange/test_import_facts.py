"""import_vacancies: reference, language, places, pay, employment types and dates of publication."""

from datetime import UTC, datetime
from decimal import Decimal

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from tests.factories import make_option, make_vacancy
from tests.vacancies.exchange.test_import import (  # noqa: F401
    FULL,
    all_filters,
    as_body,
    items,
    run,
    served,
    snapshot,
    write,
)
from vacancies.models import FilterOption, Place, Recruiter, Vacancy
from vacancies.operations import publication

pytestmark = pytest.mark.django_db

WHO = "items.json row 1 (id 101):"
PAY = FULL["pay"]
GHENT = {"locality": "Ghent", "country": "BE"}
PAY_RANGE = "Must be a number from 0 to 9999999999.99 with at most 2 decimals; received"
INVALID = (
    ({"reference": "x" * 101}, "reference: Ensure this field has no more than 100 characters."),
    ({"reference": 7}, "reference: Not a valid string."),
    ({"language": "nl-BE"}, 'language: Must be an ISO 639-1 code, such as nl; received "nl-BE".'),
    ({"language": 3}, "language: Must be an ISO 639-1 code, such as nl; received 3."),
    ({"work_place": "home"}, 'work_place: Must be one of onsite, hybrid, remote; received "home".'),
    ({"places": GHENT}, 'places: Expected a list of items but got type "dict".'),
    ({"places": ["Ghent"]}, "places.0: Invalid data. Expected a dictionary, but got str."),
    (
        {"places": [GHENT, {}]},
        "places.1.locality: This field is required.; places.1.country: This field is required.",
    ),
    ({"places": [GHENT | {"locality": " "}]}, "places.0.locality: This field may not be blank."),
    (
        {"places": [GHENT | {"country": "Belgium"}]},
        'places.0.country: Must be an ISO 3166-1 code, such as BE; received "Belgium".',
    ),
    (
        {"places": [GHENT | {"latitude": 91, "longitude": 3}]},
        "places.0.latitude: Must be a number from -90 to 90; received 91.",
    ),
    (
        {"places": [GHENT | {"latitude": 51, "longitude": "3"}]},
        'places.0.longitude: Must be a number from -180 to 180; received "3".',
    ),
    (
        {"places": [GHENT | {"longitude": 3}]},
        "places.0.latitude: This field is required with longitude.",
    ),
    ({"places": [GHENT] * 11}, "places: At most 10 are allowed; received 11."),
    (
        {"remote_countries": ["be"]},
        'remote_countries.0: Must be an ISO 3166-1 code, such as BE; received "be".',
    ),
    ({"remote_countries": ["BE"] * 11}, "remote_countries: At most 10 are allowed; received 11."),
    (
        {"employment_types": ["FULL"]},
        "employment_types.0: Must be one of FULL_TIME, PART_TIME, CONTRACTOR, TEMPORARY, INTERN, "
        "VOLUNTEER, "
        'PER_DIEM, OTHER; received "FULL".',
    ),
    ({"pay": 3000}, "pay: Invalid data. Expected a dictionary, but got int."),
    ({"pay": PAY | {"min": -1}}, f"pay.min: {PAY_RANGE} -1."),
    ({"pay": PAY | {"min": 0.001}}, f"pay.min: {PAY_RANGE} 0.001."),
    ({"pay": PAY | {"max": "4.000"}}, f'pay.max: {PAY_RANGE} "4.000".'),
    ({"pay": PAY | {"max": 1e10}}, f"pay.max: {PAY_RANGE} 10000000000.0."),
    ({"pay": PAY | {"max": float("inf")}}, f"pay.max: {PAY_RANGE} Infinity."),
    ({"pay": PAY | {"min": True}}, f"pay.min: {PAY_RANGE} true."),
    ({"pay": PAY | {"max": 3000}}, "pay.max: Must be at least min, 3100; received 3000."),
    (
        {"pay": PAY | {"currency": "EURO"}},
        'pay.currency: Must be an ISO 4217 code, such as EUR; received "EURO".',
    ),
    (
        {"pay": PAY | {"period": "fortnight"}},
        'pay.period: Must be one of hour, day, week, month, year; received "fortnight".',
    ),
    (
        {"pay": {"min": 3100}},
        "pay.currency: This field is required with min or max.; pay.period: This field is "
        "required with min or max.",
    ),
    (
        {"pay": {"currency": "EUR", "note": "Gross"}},
        "pay.min: This field or max is required with currency.",
    ),
    (
        {"pay": PAY | {"note": "x" * 301}},
        "pay.note: Ensure this field has no more than 300 characters.",
    ),
    (
        {"closing_date": 20260201},
        "closing_date: Datetime has wrong format. Use one of these formats instead: YYYY-MM-DD "
        "hh:mm:ss, YYYY-MM-DD hh:mm:ss.uuuuuu, YYYY-MM-DDThh:mm[:ss[.uuuuuu]][+HH:MM|-HH:MM|Z].",
    ),
    (
        {"reference": "TAKEN"},
        'reference: Must occur once per brand; "TAKEN" is the reference of vacancy 7.',
    ),
    (
        {"reference": "TAKEN", "brand": None, "status": "draft"},
        'reference: Must occur once per brand; "TAKEN" is the reference of vacancy 8.',
    ),
    ({"closing_date": "2026-02-01"}, "closing_date: Must be after the start of publication."),
)


def stored(*names):
    return Vacancy.objects.values_list(*names).get(pk=101)


def test_invalid_facts_are_refused_and_nothing_is_written(tmp_path):
    run(write(tmp_path, [FULL | {"id": 7, "reference": "TAKEN"}]))
    make_vacancy(pk=8, brand=None, reference="TAKEN", status="draft")
    before = snapshot()
    rows = [item | values for item, (values, _) in zip(items(len(INVALID)), INVALID, strict=True)]
    for row in rows:
        row.setdefault("published_at", FULL["published_at"])

    code, _, lines = run(write(tmp_path, rows))

    assert lines == [
        f"failed: items.json row {number} (id {1000 + number}): {text}"
        for number, (_, text) in enumerate(INVALID, 1)
    ]
    assert (code, snapshot()) == (1, before)


def test_partial_facts(client, tmp_path):
    place = {"locality": "Gent", "country": "BE", "latitude": 51.05430049, "longitude": 3.7174}
    facts = {"places": [place], "remote_countries": ["FR", "BE", "FR"], "pay": {"note": "Gross"}}

    code, _, lines = run(write(tmp_path, [FULL | facts]))

    note = "places.latitude: rounded to 6 decimals; received 51.05430049"
    assert (code, lines) == (0, [f"note: {WHO} {note}"])
    shown = client.get("/v1/vacancies/101").json()["data"]
    empty = {"street": None, "postal_code": None, "region": None}
    assert shown["places"] == [empty | place | {"latitude": 51.0543}]
    assert shown["remote_countries"] == ["FR", "BE"]
    assert shown["pay"] == {
        "min": None,
        "max": None,
        "currency": None,
        "period": None,
        "note": "Gross",
    }

    # A key of one kind leaves the places of the other kind as they are.
    run(write(tmp_path, [{"id": 101, "places": [GHENT], "updated_at": FULL["updated_at"]}]))
    run(write(tmp_path, [{"id": 101, "remote_countries": None, "updated_at": FULL["updated_at"]}]))
    found = Place.objects.values_list("kind", "locality", "country")
    assert list(found) == [("site", "Ghent", "BE")]


def test_language_of_the_site_is_not_stored(tmp_path, settings):
    for site, received, wanted in (
        ("en", "en", ""),
        ("en", "nl", "nl"),
        ("nl", "nl", "nl"),
        ("en", None, "nl"),  # as a missing key
    ):
        settings.LANGUAGE_CODE = site
        run(write(tmp_path, [FULL | {"language": received}]))
        assert stored("language") == (wanted,), (site, received)


DUTCH = "<p>Wij zoeken een collega die klanten helpt en de voorraad bijhoudt.</p>"
TEXTS = {
    "de": (
        "<p>Wir suchen einen Senior Engineer mit Know-how in Kubernetes und CI/CD für unser "
        "Team.</p>"
    ),
    "nl": DUTCH,
    "fr": "<p>Vous êtes rattaché au directeur financier et gérez le reporting.</p>",
    "en": "<p>You work with people who like what they do.</p>",
    "es": "<p>Buscamos una persona organizada para nuestro equipo de Valencia.</p>",
    "af": "<p>Ons soek 'n betroubare persoon vir ons kantoor in Stellenbosch.</p>",
    "": "",
}


@pytest.mark.slow("loads the detector of languages")
def test_language_is_guessed_from_the_texts_of_new_vacancies(tmp_path):
    rows = [
        {"id": n, "title": "Engineer", "language": None, "description": text, "company": DUTCH}
        for n, text in enumerate(TEXTS.values(), 1)
    ]
    rows.append({"id": 8, "title": "Koch", "language": "fr", "description": TEXTS["de"]})
    del rows[0]["language"]
    path = write(tmp_path, rows)

    _, summary, lines = run(path, "--recruiter", str(Recruiter.objects.create(name="R").pk))

    languages = dict(Vacancy.objects.values_list("pk", "language"))
    assert languages == {1: "de", 2: "nl", 3: "fr", 4: "", 5: "", 6: "", 7: "", 8: "fr"}
    assert summary.endswith(
        "Languages guessed from the texts: not recognised 3, de 1, nl 1, fr 1, en 1."
    )
    notes = [line.partition("language: ")[2] for line in lines if "language: " in line]
    assert (
        notes
        == [f"not stated; {code} was recognised in the texts" for code in ("de", "nl", "fr")]
        + ["not stated and not recognised in the texts; en is assumed"] * 3
    )

    # A recruiter corrects one; a second import changes neither this one nor a guess.
    Vacancy.objects.filter(pk=1).update(language="nl")
    assert run(path)[1] == "Nothing changed: 8 vacancies are the same as in the source."
    assert dict(Vacancy.objects.values_list("pk", "language")) == languages | {1: "nl"}


def test_pay_that_is_not_public_is_kept(tmp_path):
    run(write(tmp_path, [FULL]))
    Vacancy.objects.update(is_pay_public=False)

    assert run(write(tmp_path, [FULL | {"pay": None}]))[1].startswith("Nothing changed")
    assert stored("pay_min", "is_pay_public") == (Decimal(3100), False)

    # What is received is public, and nothing else.
    run(write(tmp_path, [FULL | {"pay": {"note": "Gross"}}]))
    assert stored("pay_min", "pay_currency", "pay_note", "is_pay_public") == (
        None,
        "",
        "Gross",
        True,
    )
    run(write(tmp_path, [FULL | {"pay": {"min": None, "note": ""}}]))
    assert stored("pay_note", "is_pay_public") == ("", True)


def test_closing_date_is_used_without_another_end(tmp_path):
    end = datetime(2190, 6, 30, 22, tzinfo=UTC)  # the end of that day in Brussels
    for keys, wanted, notes in (
        ({"closing_date": "2190-06-30"}, end, []),
        ({"closing_date": "2190-06-30", "closes_at": "2190-07-01 00:00:00"}, end, []),
        (
            {"closing_date": "2190-06-30", "closes_at": "2190-06-30 01:00:00"},
            end.replace(day=29, hour=23),
            [],
        ),
        (
            {"closing_date": "2190-06-30", "closes_at": "2190-06-30 00:00:00"},
            end.replace(day=29),
            ["closing_date: differs from closes_at, which was used"],
        ),
        (
            {"closing_date": "2190-06-30", "publish_until": None, "closes_at": None},
            None,
            ["closing_date: differs from publish_until, which was used"],
        ),
        ({"closing_date": None}, None, []),
    ):
        item = {
            key: value for key, value in FULL.items() if key not in ("closes_at", "closing_date")
        }
        code, _, lines = run(write(tmp_path, [item | keys]))
        assert (code, stored("publish_until"), lines) == (
            0,
            (wanted,),
            [f"note: {WHO} {note}" for note in notes],
        ), keys


def test_start_follows_the_source_until_a_recruiter_sets_it(tmp_path):
    for start in ("2026-03-01 10:30:15", "2026-02-01 00:00:00"):
        run(write(tmp_path, [FULL | {"published_at": start}]))
        assert timezone.localtime(*stored("publish_from")).strftime("%Y-%m-%d %H:%M:%S") == start
    Vacancy.objects.update(publish_from=datetime(2026, 2, 1, 8, 0, 0, 250, tzinfo=UTC))
    path = write(tmp_path, [FULL | {"published_at": "2026-02-01 09:00:00"}])
    assert run(path)[1].startswith("Nothing changed")  # the interface shows seconds

    vacancies = Vacancy.objects.all()
    publication.unpublish(vacancies=vacancies, at=timezone.now())
    publication.publish(
        vacancies=vacancies, at=timezone.now(), author=User.objects.create_user("anna")
    )
    code, _, lines = run(write(tmp_path, [FULL]))
    text = "published_at: differs from what a recruiter set here; not changed"
    assert (code, lines) == (0, [f"note: {WHO} {text}"])


def test_file_of_the_other_kind_compares_facts(tmp_path):
    run(write(tmp_path, [FULL]))
    other = {"places": [], "pay": PAY | {"min": 1, "note": ""}, "remote_countries": ["BE", "NL"]}
    same = {"language": "en", "reference": FULL["reference"]}

    _, _, lines = run(write(tmp_path, [FULL | other | same], "i.json"), "--internal")

    text = (
        "differs from the file that was imported first; not changed: pay, places, remote_countries"
    )
    assert lines == [f"note: i.json row 1 (id 101): {text}"]


# --- employment types of options ---


def types():
    return dict(
        FilterOption.objects.exclude(employment_type="").values_list("label", "employment_type")
    )


def labelled(*rows):
    """Return items with these (labels of contract_types, regions, employment types)."""
    return [
        {
            key: value
            for key, value in item.items()
            if key not in ("functiongroup", "types", "work_regimes")
        }
        | {f"jobcustom{n}_values": [] for n in range(1, 5)}
        | {"contract_types": contracts, "regions": regions, "employment_types": found}
        for item, (contracts, regions, found) in zip(items(len(rows)), rows, strict=True)
    ]


def test_options_get_the_employment_type_that_all_items_prove(tmp_path):
    make_option("contract_types", "Vast", employment_type="OTHER")
    path = write(
        tmp_path,
        labelled(
            # Not Gent, so 38u and 19u.
            (["38u"], ["Gent"], ["FULL_TIME"]),
            (["19u"], ["Gent"], ["PART_TIME"]),
            (["38u", "Job"], ["Aalst"], ["FULL_TIME", "INTERN"]),
            (["Job"], ["Gent"], ["INTERN"]),
            (["Vrijwilliger"], ["Deinze"], ["VOLUNTEER"]),  # the label decides
            (["Flexi"], ["Eeklo"], ["PER_DIEM"]),  # the filter decides
            (["Vast"], ["Gent"], ["FULL_TIME"]),
        ),
    )

    dry = run(path, "--dry-run")
    assert types() == {"Vast": "OTHER"}
    code, summary, lines = run(path)

    assert dry[1] == f"Dry run, nothing was written. {summary}"
    assert summary.endswith(" 5 options received their employment type.")
    assert types() == {
        "Vast": "OTHER",
        "38u": "FULL_TIME",
        "19u": "PART_TIME",
        "Job": "INTERN",
        "Vrijwilliger": "VOLUNTEER",
        "Flexi": "PER_DIEM",
    }
    text = "employment_types: are OTHER here, from the options; FULL_TIME in the source"
    assert (code, lines) == (0, [f"note: items.json row 7 (id 1007): {text}"]) == (dry[0], dry[2])
    assert run(path)[1].startswith("Nothing changed")
    FilterOption.objects.filter(label="Flexi").update(employment_type="")
    assert (
        run(path)[1]
        == "7 vacancies: 0 created, 0 updated, 7 unchanged, 0 refused, 0 left as drafts. 1 "
        "options received their employment type."
    )


def test_items_of_all_files_decide(tmp_path):
    first, second = labelled((["Job"], ["Gent"], ["FULL_TIME"]), (["Job"], ["Aalst"], []))
    run(write(tmp_path, [first], "a.json"), write(tmp_path, [second], "b.json"))
    assert types() == {"Gent": "FULL_TIME"}
