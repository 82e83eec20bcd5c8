"""The facts of a vacancy in its form: reference, language, work place, places, countries, pay."""

from typing import Any

import pytest
from django.test import Client
from pytest_django.asserts import assertContains

from tests.factories import make_brand, make_option, make_vacancy
from tests.messages import messages_of
from tests.vacancies.admin.forms import (
    ADD,
    LIST,
    VIEWER,
    errors,
    opened,
    page,
    posted_by,
    saved,
    staff,
)
from vacancies.admin.edit.typing_aids import typing_aids
from vacancies.history.versions import read_content, record
from vacancies.models import (
    Approval,
    Brand,
    Change,
    FilterOption,
    Vacancy,
    VacancyTemplate,
    Version,
)

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("filters")]

ANTWERP: dict[str, Any] = {
    "street": "Kaai 1",
    "postal_code": "2000",
    "locality": "Antwerp",
    "region": "Flanders",
    "country": "BE",
    "latitude": "51.22",
    "longitude": "4.4",
}
GHENT = dict.fromkeys(ANTWERP, "") | {
    "locality": "Ghent",
    "country": "BE",
    "latitude": None,
    "longitude": None,
}
FACTS = {
    "reference": "R-1",
    "language": "nl",
    "work_place": "hybrid",
    "remote_countries": ["NL", "BE"],
    "pay_min": "2600",
    "pay_max": "3100.50",
    "pay_currency": "eur",
    "pay_period": "month",
    "pay_note": "Gross",
    "is_pay_public": "",
}
READ = FACTS | {
    "pay_max": "3100.5",
    "pay_currency": "EUR",
    "is_pay_public": False,
    "places": [ANTWERP, GHENT],
    "remote_countries": [["NL", "Netherlands"], ["BE", "Belgium"]],
}


def rows(*places: dict[str, Any], start: int = 0) -> dict[str, Any]:
    """Return the inputs of new `places`, from the row `start` on."""
    inputs = {
        f"places-{index}-{name}": "" if value is None else value
        for index, place in enumerate(places, start)
        for name, value in place.items()
    }
    return inputs | {"places-TOTAL_FORMS": str(start + len(places))}


def content(vacancy: Vacancy) -> dict[str, Any]:
    return {name: value for name, value in read_content(vacancy).items() if name in READ}


def fill(client: Client, vacancy: Vacancy) -> Any:
    return client.post(page(vacancy), opened(client, page(vacancy)) | FACTS | rows(ANTWERP, GHENT))


@pytest.fixture
def filled(anna: Client, vacancy: Vacancy) -> Vacancy:
    assert saved(fill(anna, vacancy))
    return vacancy


@pytest.mark.slow("opens and saves the form several times")
def test_facts_are_saved_shown_in_the_history_and_restored(anna: Client, filled: Vacancy) -> None:
    assert content(filled) == READ
    row = opened(anna, page(filled))
    precise = row | {"places-0-latitude": "51.22000000000004"}  # of a map
    assert saved(anna.post(page(filled), precise))
    assert [row[name] for name in ("remote_countries", "places-1-locality")] == [
        ["NL", "BE"],
        "Ghent",
    ]
    assert saved(anna.post(page(filled), row))
    assert content(filled) == READ

    pks = list(filled.places.filter(kind="site").values_list("pk", flat=True))
    assert saved(
        anna.post(page(filled), row | {"places-0-DELETE": "on", "places-1-street": "Korenmarkt"})
    )
    assert content(filled)["places"] == [GHENT | {"street": "Korenmarkt"}]
    history = anna.get(f"{LIST}{filled.pk}/history/").text
    assert "Kaai 1, 2000 Antwerp, Flanders, Belgium (51.22, 4.4)" in history
    number = Version.objects.filter(vacancy=filled.pk).order_by("pk")[1].pk
    assert saved(anna.post(f"{LIST}{filled.pk}/versions/{number}/"))
    assert content(filled) == READ
    assert len(pks) == 2


@pytest.mark.slow("posts the form for each error")
def test_each_error_is_one_message_at_its_field_and_nothing_is_written(
    anna: Client, filled: Vacancy, brand: Brand
) -> None:
    other = make_vacancy(title="Cook", brand=brand)
    start = opened(anna, page(other))
    required, both = "This field is required.", "Enter both coordinates or none."
    pay = {"pay_min": "2000", "pay_currency": "EUR", "pay_period": "month"}
    incomplete = "Pay needs an amount, a currency and a period. Without an amount, leave all empty."
    for change, found in (
        ({"reference": "R-1"}, {"reference": "Another vacancy of this brand has this reference."}),
        (pay | {"pay_max": "1999.99"}, {"pay_max": "The highest pay is below the lowest."}),
        (pay | {"pay_min": "-1"}, {"pay_min": "Ensure this value is greater than or equal to 0."}),
        (pay | {"pay_period": ""}, {"pay_min": incomplete}),
        ({"pay_currency": "EUR"}, {"pay_min": incomplete}),
        (
            pay | {"pay_currency": "EURO"},
            {"pay_currency": "“EURO” is not the code of a currency, such as EUR."},
        ),
        (
            {"remote_countries": ["XX"]},
            {"remote_countries": "Select a valid choice. XX is not one of the available choices."},
        ),
        (
            {
                "remote_countries": [
                    "BE",
                    "NL",
                    "FR",
                    "DE",
                    "LU",
                    "ES",
                    "IT",
                    "PT",
                    "AT",
                    "PL",
                    "DK",
                ]
            },
            {"remote_countries": "Choose at most 10 countries: these are 11."},
        ),
        (rows(ANTWERP | {"locality": " "}), {"locality": required}),
        (rows(ANTWERP | {"country": ""}), {"country": required}),
        (
            rows(ANTWERP | {"country": "XX"}),
            {"country": "Select a valid choice. XX is not one of the available choices."},
        ),
        (rows(ANTWERP | {"longitude": ""}), {"longitude": both}),
        (rows(ANTWERP | {"latitude": ""}), {"latitude": both}),
        (
            rows(ANTWERP | {"latitude": "90.1"}),
            {"latitude": "Ensure this value is less than or equal to 90."},
        ),
        (
            rows(ANTWERP | {"latitude": "1e99"}),
            {"latitude": "Ensure that there are no more than 9 digits in total."},
        ),
        (rows(*[GHENT] * 11), {"": "A vacancy has at most 10 places of work: these are 11."}),
    ):
        response = anna.post(page(other), start | change | {"title": "Changed"})
        assert response.status_code == 200, change
        [places] = [
            each
            for each in response.context["inline_admin_formsets"]
            if each.opts.model.__name__ == "Place"
        ]
        of_rows = [error for row in places.formset.errors for error in row.items()]
        all_errors = [*errors(response).items(), *of_rows]
        all_errors += [("", each) for each in [places.formset.non_form_errors()] if each]
        assert {name: " ".join(texts) for name, texts in all_errors} == found, change
        assert len(all_errors) == 1
        kept = posted_by(response.text)
        typed = {
            name: value for name, value in change.items() if value and value not in ("XX", ["XX"])
        }
        assert {
            name: value for name, value in typed.items() if kept[name] not in (value, [value])
        } == {}
    assert (Vacancy.objects.get(pk=other.pk).title, other.places.count()) == ("Cook", 0)
    assert opened(anna, page(other))["places-10-locality"] == "Ghent"  # unsaved input


@pytest.mark.slow("opens and saves the form several times")
def test_places_of_two_recruiters_are_merged(anna: Client, bob: Client, filled: Vacancy) -> None:
    mine, theirs = opened(anna, page(filled)), opened(bob, page(filled))
    leuven, namur = GHENT | {"locality": "Leuven"}, GHENT | {"locality": "Namur"}
    of_bob = rows(leuven, start=2) | {
        "places-0-street": "Kaai 2",
        "remote_countries": ["NL", "BE", "FR"],
    }
    assert saved(bob.post(page(filled), theirs | of_bob))

    response = anna.post(
        page(filled), mine | rows(namur, start=2) | {"places-1-street": "Korenmarkt"}
    )

    assert saved(response)
    found = [f"{each['street']} {each['locality']}".strip() for each in content(filled)["places"]]
    assert sorted(found) == ["Kaai 2 Antwerp", "Korenmarkt Ghent", "Leuven", "Namur"]
    assert [code for code, _name in content(filled)["remote_countries"]] == ["NL", "BE", "FR"]
    assert "Bob Maes: Countries for remote work, Places." in " ".join(messages_of(response))


@pytest.mark.slow("opens and saves the form several times")
def test_place_that_both_changed_asks_which_one(anna: Client, bob: Client, filled: Vacancy) -> None:
    mine, theirs = opened(anna, page(filled)), opened(bob, page(filled))
    assert saved(bob.post(page(filled), theirs | {"places-0-street": "Kaai 2"}))

    response = anna.post(page(filled), mine | {"places-0-street": "Kaai 3"})

    assert response.status_code == 409
    [row] = response.context["overlaps"]
    assert row["overlap"].label == "Place: Antwerp"
    assert content(filled)["places"][0]["street"] == "Kaai 2"


@pytest.mark.slow("requests, shows and approves a change")
def test_change_of_places_is_requested_shown_and_approved(strict: Brand) -> None:
    rights = ("view_vacancy", "change_vacancy")
    ed = staff("ed", *rights, brands=[strict])
    lea = staff("lea", *rights, "approve_vacancy", brands=[strict])
    vacancy = make_vacancy(title="Nurse", brand=strict)

    assert saved(fill(ed, vacancy))

    assert content(vacancy)["places"] == []
    approval = Approval.objects.get()
    assertContains(
        lea.get(f"{LIST}{vacancy.pk}/approval/"),
        "Kaai 1, 2000 Antwerp, Flanders, Belgium (51.22, 4.4)",
    )
    again = ed.get(f"{page(vacancy)}?changes={approval.pk}")
    assert again.context["not_filled_in"] == ["Places"]
    assert posted_by(again.text)["remote_countries"] == ["NL", "BE"]
    seen = lea.get(f"{LIST}{vacancy.pk}/approval/").context["seen"]
    lea.post(f"{LIST}{vacancy.pk}/approval/", {"approve": "", "seen": seen, "note": ""})
    assert content(vacancy) == READ


@pytest.mark.slow("saves a template, and a vacancy from it")
def test_templates_and_copies_have_the_facts_without_the_reference(
    anna: Client, filled: Vacancy
) -> None:
    anna.post(f"{LIST}{filled.pk}/template/", {"name": "Care", "brand": filled.brand_id})
    template = VacancyTemplate.objects.get()
    assert "reference" not in template.content
    url = f"{ADD}?template={template.pk}"
    assert saved(anna.post(url, opened(anna, url)))
    assert content(Vacancy.objects.latest("pk")) == READ | {"reference": ""}

    anna.post(f"{LIST}{filled.pk}/duplicate/")
    copy = Vacancy.objects.latest("pk")
    assert (copy.title, content(copy)) == ("Copy of Nurse", READ | {"reference": ""})


def test_saved_countries_are_read_in_the_language_of_the_reader(
    anna: Client, filled: Vacancy
) -> None:
    record(filled, Change.CHANGED, author=None, at=filled.updated_at)
    dutch = anna.get(f"{LIST}{filled.pk}/history/", headers={"accept-language": "nl"}).text
    assert "Nederland" in dutch
    assert "Netherlands" not in dutch


@pytest.mark.slow("opens many pages")
def test_who_may_only_view_sees_places_countries_and_employment_types(filled: Vacancy) -> None:
    option = make_option("work_regimes", "Full day", employment_type="FULL_TIME")
    filled.choices.create(option=option)
    text = staff("reader", *VIEWER).get(page(filled)).text
    for shown in (
        "Countries for remote work: Netherlands, Belgium",
        "Kaai 1",
        "Full-time",
        "Hybrid",
        "3100.50",
    ):
        assert shown in text
    assert 'name="places-0-locality"' not in text


# --- helps to type ---


def test_usual_countries_and_pay_are_those_of_the_own_brands(brand: Brand) -> None:
    ed, user = staff("ed", "view_vacancy", brands=[brand]), Brand.objects.get().members
    own = make_vacancy(brand=brand, pay_min=2000, pay_currency="EUR", pay_period="month")
    make_vacancy(brand=brand)
    foreign = make_vacancy(
        brand=make_brand("Rival"), pay_max=9, pay_currency="USD", pay_period="hour"
    )
    assert typing_aids(user.get())["used"] == list(typing_aids(user.get())["cities"])
    for vacancy, country in ((own, "BE"), (foreign, "US")):
        vacancy.places.create(locality="A", country=country)

    found = typing_aids(user.get())

    assert (found["used"], found["pay"]) == (["BE"], ["EUR", "month"])
    assert found["cities"]["BE"].endswith(".json")
    assert ed.get(ADD).status_code == 403


# --- options and brands ---


def test_employment_types_are_edited_in_the_list_of_options(anna: Client) -> None:
    option = make_option("work_regimes", "Full Time")
    url = "/admin/vacancies/filteroption/"
    row = {
        "form-0-id": option.pk,
        "form-0-is_active": "on",
        "form-0-employment_type": "FULL_TIME",
        "_save": "1",
    }
    form = {"form-TOTAL_FORMS": "1", "form-INITIAL_FORMS": "1"}
    assertContains(anna.get(url), "Employment type (search engines)")

    assert saved(anna.post(url, form | row))

    assert FilterOption.objects.get().employment_type == "FULL_TIME"
    refused = anna.post(url, form | row | {"form-0-employment_type": "FULL"})
    assertContains(refused, "Select a valid choice. FULL is not one of the available choices.")


def test_value_of_a_brand_that_is_taken_is_reported_at_its_field(
    anna: Client, brand: Brand
) -> None:
    url = "/admin/vacancies/brand/add/"
    response = anna.post(url, {"name": "Other", "slug": "acme"})
    assert errors(response) == {"slug": ["Another brand has this value."]}

    address = "https://acme.test/jobs/"
    assert saved(anna.post(url, {"name": "Other", "slug": "", "vacancy_url": address}))
    assert Brand.objects.filter(slug="other", vacancy_url=address).exists()
    assert saved(
        anna.post(f"/admin/vacancies/brand/{brand.pk}/change/", {"name": "Acme", "slug": "acme"})
    )
