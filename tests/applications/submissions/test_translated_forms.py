"""Forms in several languages: what applicants get, what is stored, and what recruiters see."""

import json
from typing import Any

import pytest
from django.test import Client
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from applications.exports import ApplicationTable
from applications.models import Application, FormSnapshot, Message
from forms_structure import operations
from forms_structure.api.v1 import served_sections
from forms_structure.models import ConsentText, Form
from forms_structure.schema import submission_schema
from forms_structure.translations import follow, started, with_values
from tests.applications.submissions.sending import VALUES, make_form, make_open_vacancy, path_of
from tests.factories import make_brand, make_option
from tests.forms_structure.strategies import structures
from tests.forms_structure.test_translations import edits
from vacancies.models import Vacancy

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("filters")]
FRENCH = {
    "sections.0.title": "Données personnelles",
    "sections.0.fields.0.label": "Prénom",
    "sections.1.fields.0.label": "Permis",
    "sections.1.fields.0.options.0.label": "Oui",
}


@pytest.fixture(autouse=True)
def languages(settings):
    settings.TEXT_LANGUAGES = ["fr", "de"]
    settings.APPLY_PAGES = True


@pytest.fixture
def form() -> Form:
    form = make_form()
    french = operations.translate(form, "fr")
    operations.save_translation(french, FRENCH, author=None)
    ConsentText.objects.add(language="fr", text="J’accepte.")
    return form


@pytest.fixture
def vacancy(form: Form) -> Vacancy:
    return make_open_vacancy(form)


def served(vacancy: Vacancy, code: str = "", part: str = "form") -> Any:
    query = {"language": code} if code else {}
    return Client().get(f"/v1/vacancies/{vacancy.pk}/{part}", query)


def send(path: str, version: str, **values: Any) -> Any:
    body = json.dumps({"version": version, "values": VALUES | values})
    return Client().post(path, body, content_type="application/json")


def test_form_is_served_in_its_languages(vacancy):
    english, french, german = (served(vacancy, code) for code in ("", "fr", "de"))
    section = french.json()["data"][0]
    assert [section["title"], section["fields"][0]["label"]] == ["Données personnelles", "Prénom"]
    assert section["fields"][1]["label"] == "Last name"  # not translated yet
    assert french.json()["data"][1]["fields"][0]["options"][0]["label"] == "Oui"
    assert french.json()["data"][-1]["fields"][-1]["label"] == "J’accepte."
    assert [each["Content-Language"] for each in (english, french, german)] == ["en", "fr", "en"]
    assert german.json() == english.json() == served(vacancy, "en").json()
    assert french["Form-Version"] != english["Form-Version"]
    assert french["Apply"].endswith(f"{path_of(vacancy)}?language=fr")
    rules = served(vacancy, "fr", "form/schema").json()["data"]
    assert rules["version"] == french["Form-Version"]


@pytest.mark.parametrize("query", ["", "?language=fr", "?language=xx"])
def test_submission_of_the_french_form_is_french(vacancy, query):
    version = served(vacancy, "fr")["Form-Version"]
    assert send(path_of(vacancy) + query, version, permit="yes").status_code == 201
    application = Application.objects.get()
    assert (application.language, application.submission.values["permit"]) == ("fr", "yes")
    assert application.submission.consent_text == "J’accepte."
    assert Message.objects.get(kind=Message.Kind.RECEIPT).language == "fr"
    snapshot = application.submission.snapshot
    assert snapshot.sections == served(vacancy, "fr").json()["data"]
    assert snapshot.original == served(vacancy).json()["data"]


def test_refusal_is_in_the_language_of_the_form(vacancy):
    version = served(vacancy, "fr")["Form-Version"]
    response = send(path_of(vacancy), version, first_name="", last_name=None)
    assert (response.status_code, response["Content-Language"]) == (422, "fr")


def test_export_has_one_column_and_one_word_for_all_languages(vacancy):
    for code, email in (("fr", "a@example.org"), ("", "b@example.org")):
        version = served(vacancy, code)["Form-Version"]
        assert send(path_of(vacancy), version, permit="yes", email=email).status_code == 201
    assert FormSnapshot.objects.filter(original__isnull=True).count() == 1
    pks = [*Application.objects.values_list("pk", flat=True)]
    headings, *rows = (row for batch in ApplicationTable(pks, "en").batches() for row in batch)
    assert headings.count("Permit") == 1
    assert {row[headings.index("Permit")] for row in rows} == {"Yes"}
    assert not {"Prénom", "Permis"} & {*headings}


def test_page_to_apply_is_french(vacancy):
    page = Client().get(f"/apply/{vacancy.pk}?language=fr")
    assert page["Content-Language"] == "fr"
    text = page.content.decode()
    assert "Prénom" in text
    assert f'data-address="/v1/vacancies/{vacancy.pk}/form?language=fr"' in text
    assert "Prénom" not in Client().get(f"/apply/{vacancy.pk}?language=de").content.decode()


def test_without_languages_nothing_is_translated(vacancy, settings, django_assert_num_queries):
    settings.TEXT_LANGUAGES = []
    assert served(vacancy)["Content-Language"] == "en"
    assert served(vacancy, "fr").json() == served(vacancy).json()
    page = Client().get(f"/apply/{vacancy.pk}?language=fr").content.decode()
    assert "Prénom" not in page
    assert f'data-address="/v1/vacancies/{vacancy.pk}/form"' in page


def test_extension_is_translated_with_its_base(form):
    extension = operations.create(name="More", structure=[], extends=form)
    assert extension.in_language("fr") == extension
    vacancy = make_open_vacancy(extension)
    operations.translate(extension, "fr")
    assert served(vacancy, "fr").json()["data"][0]["fields"][0]["label"] == "Prénom"


def test_labels_of_items_and_filters_are_translated(client):
    brand = make_brand("Acme")
    option = make_option("regions", "Antwerp", translations={"fr": "Anvers", "it": "Anversa"})
    option.filter.translations = {"fr": "Régions"}
    option.filter.save()
    vacancy = make_open_vacancy(brand=brand, options={"regions": ["Antwerp"]})
    for code, label, name in (("fr", "Anvers", "Régions"), ("de", "Antwerp", "Regions")):
        item = client.get(f"/v1/vacancies/{vacancy.pk}", {"language": code}).json()["data"]
        listed = client.get("/v1/vacancies", {"language": code}).json()["data"]
        assert item["regions"] == listed[0]["regions"] == [label]
        [facet] = [
            each
            for each in client.get("/v1/filters", {"language": code}).json()["data"]
            if each["keyword"] == "regions"
        ]
        assert (facet["label"], facet["options"]) == (
            name,
            [{"value": "antwerp", "label": label, "count": 1}],
        )
    assert client.get("/v1/vacancies").json()["data"][0]["regions"] == ["Antwerp"]


def without_titles(rules: Any) -> Any:
    """What a schema accepts, without the words for people."""
    if isinstance(rules, dict):
        return {key: without_titles(each) for key, each in rules.items() if key != "title"}
    return [without_titles(each) for each in rules] if isinstance(rules, list) else rules


@pytest.mark.slow("many cases")
@given(data=st.data())
@examples(max_examples=50)
def test_both_languages_accept_the_same_values(data):
    """Before and after random changes of the original. Schemas that differ in titles only accept
    and refuse the same.
    """
    original = data.draw(structures(min_sections=1, fields_max=8))
    french = with_values(original, dict.fromkeys(started(original), "fr"))
    after = data.draw(edits(original))
    changed, _marks = follow(original, after, french, {})
    consent = ConsentText(version=1, text="I agree.")
    for pair in ((original, french), (after, changed)):
        rules = [
            without_titles(submission_schema(served_sections(each, consent, code), address="x"))
            for each, code in zip(pair, ("en", "fr"), strict=True)
        ]
        assert rules[0] == rules[1]
