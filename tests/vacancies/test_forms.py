"""The form of a vacancy: selection, generated parts, queries and caching."""

from datetime import timedelta
from itertools import product

import jsonschema
import pytest

from forms_structure import operations
from forms_structure.models import ConsentText, Form
from forms_structure.schema import submission_schema
from tests.factories import make_brand, make_vacancy
from tests.forms_structure.strategies import LEVELS, section, served, specimen, text_field
from vacancies.models import Vacancy

pytestmark = pytest.mark.django_db

ENDPOINTS = ("form", "form/schema")
CONSENT = {
    "name": "privacy_consent",
    "type": "checkbox",
    "required": True,
    "css": "col-12",
    "version": 1,
    "label": "I agree that my data is kept and used for this application.",
}


def make_form(name, *fields, **values):
    """Create a form with one section of the same name."""
    fields = fields or (text_field(f"field_of_{name.lower()}"),)
    return operations.create(name=name, structure=[section(*fields, title=name)], **values)


def get(client, vacancy, endpoint="form", **headers):
    return client.get(f"/v1/vacancies/{vacancy.pk}/{endpoint}", headers=headers)


def sections(client, vacancy):
    return get(client, vacancy).json()["data"]


def titles(client, vacancy):
    return [part["title"] for part in sections(client, vacancy)]


def version(client, vacancy):
    return get(client, vacancy)["Form-Version"]


# --- Apply -------------------------------------------------------------------------------------

MAIL = text_field("mail", type="email", role="email", required=True)


def test_apply_is_the_address_for_submissions(client):
    form = make_form("Own", MAIL)
    for audience in ("public", "internal", "both"):
        vacancy = make_vacancy(form=form, audience=audience)

        assert (
            get(client, vacancy)["Apply"]
            == f"http://testserver/v1/vacancies/{vacancy.pk}/applications"
        )
        assert not get(client, vacancy, "form/schema").has_header("Apply")


def test_apply_is_absent_without_a_required_address(client):
    forms = (
        make_form("Untyped", text_field("mail", type="email", required=True)),
        make_form("Optional", MAIL | {"required": False}),
    )
    for form in (None, *forms):
        assert not get(client, make_vacancy(form=form)).has_header("Apply"), form


def test_apply_is_absent_with_an_external_address(client):
    vacancy = make_vacancy(form=make_form("Own", MAIL))
    first = get(client, vacancy)
    Vacancy.objects.update(apply_url="https://apply.acme.test")

    # Another tag: a 304 would leave the header in the response that the client stored.
    second = get(client, vacancy, **{"If-None-Match": first["ETag"]})

    assert (second.status_code, second.has_header("Apply")) == (200, False)
    assert second.content == first.content
    assert get(client, vacancy, **{"If-None-Match": second["ETag"]}).status_code == 304


# --- Selection ---------------------------------------------------------------------------------


def test_form_is_inherited_from_the_brand_and_then_the_site(client):
    make_form("Unused")
    own, of_brand = make_form("Own"), make_form("Brand")
    with_form, without = make_brand("Globex", form=of_brand), make_brand("Acme")
    found = {}
    for site_form in (False, True):
        if site_form:
            make_form("Site", is_default=True)
        for own_form, brand in (
            (own, with_form),
            (own, without),
            (None, with_form),
            (None, without),
        ):
            vacancy = make_vacancy(brand=brand, form=own_form)
            [title] = titles(client, vacancy)
            found[site_form, own_form is own, brand is with_form] = title
            schema = get(client, vacancy, "form/schema").json()["data"]["schema"]
            names = [f"field_of_{title.lower()}"] if title != "Privacy" else []
            assert list(schema["properties"]) == [*names, "privacy_consent"]
    own_or_brand = {(True, True): "Own", (True, False): "Own", (False, True): "Brand"}
    expected = {
        (site, *key): title for site in (False, True) for key, title in own_or_brand.items()
    }
    assert found == expected | {(False, False, False): "Privacy", (True, False, False): "Site"}
    Vacancy.objects.update(brand=None)
    assert titles(client, vacancy) == ["Site"]


def test_vacancy_without_fields_has_one_section_with_the_consent(client):
    privacy = {"title": "Privacy", "description": None, "fields": [CONSENT]}
    vacancy = make_vacancy()
    assert get(client, vacancy).json() == {"data": [privacy]}
    schema = get(client, vacancy, "form/schema").json()["data"]["schema"]
    validator = jsonschema.Draft202012Validator(schema)
    assert (validator.is_valid({"privacy_consent": "1"}), validator.is_valid({})) == (True, False)

    for structure, expected in (([], privacy), ([section(title="")], privacy | {"title": ""})):
        vacancy = make_vacancy(form=operations.create(name="Empty", structure=structure))
        assert sections(client, vacancy) == [expected]


@pytest.mark.django_db(transaction=True)  # processes cache forms of committed data only
def test_consent_is_that_of_the_brand(client):
    """Two brands have the same form, which is read twice: then it is cached."""
    own, other = make_brand("Globex"), make_brand("Acme")
    form = make_form("Shared")
    vacancies = [make_vacancy(brand=brand, form=form) for brand in (own, other)]

    def texts():
        return [sections(client, vacancy)[-1]["fields"][-1]["label"] for vacancy in vacancies]

    for number, text, expected in (
        (None, "Of the site", ["Of the site", "Of the site"]),
        (own.pk, "Of Globex", ["Of Globex", "Of the site"]),
        (other.pk, "Of Acme", ["Of Globex", "Of Acme"]),
    ):
        ConsentText.objects.add(brand_number=number, language="en", text=text)
        assert (texts(), texts()) == (expected, expected)


def test_extension_adds_its_sections_after_those_of_its_base(client):
    base = make_form("Base")
    plain, special = make_vacancy(form=base), make_vacancy(form=make_form("More", extends=base))

    assert titles(client, plain) == ["Base"]
    assert titles(client, special) == ["Base", "More"]
    names = [[field["name"] for field in part["fields"]] for part in sections(client, special)]
    # The consent comes last.
    assert names == [["field_of_base"], ["field_of_more", "privacy_consent"]]

    operations.save(base, operations.FormEdit([section(title="New")]))
    assert titles(client, special) == ["New", "More"]


def test_form_is_served_in_the_format_of_the_api(client):
    vacancy = make_vacancy(form=operations.create(name="All", structure=specimen()))

    response = get(client, vacancy)

    assert response.json() == {"data": served(specimen(), "en", CONSENT)}
    assert response["Content-Type"] == "application/json"


# --- Generated parts ---------------------------------------------------------------------------


def test_consent_has_its_text_version_and_link(client):
    link = {"label": "Our statement", "url": "https://example.com/privacy"}
    ConsentText.objects.add(language="en", text="Old")
    ConsentText.objects.add(
        language="en", text="I agree.", statement_url=link["url"], statement_label=link["label"]
    )
    [field] = sections(client, make_vacancy())[0]["fields"]
    assert field == CONSENT | {"label": "I agree.", "link": link, "version": 3}


@pytest.mark.parametrize(
    ("language", "consent", "link"),
    [
        ("en", "I agree that my data is kept and used for this application.", "Privacy statement"),
        (
            "nl",
            (
                "Ik ga ermee akkoord dat mijn gegevens voor deze sollicitatie worden bewaard en "
                "gebruikt."
            ),
            "Privacyverklaring",
        ),
        (
            "fr",
            "J’accepte que mes données soient conservées et utilisées pour cette candidature.",
            "Déclaration de confidentialité",
        ),
        (
            "de",
            "Ich bin damit einverstanden, dass meine Daten für diese Bewerbung gespeichert und "
            "verwendet werden.",
            "Datenschutzerklärung",
        ),
    ],
)
def test_generated_texts_are_in_the_language_of_the_form(client, language, consent, link):
    """Accept-Language is ignored, because the texts of a recruiter are in one language."""
    form = make_form("Form", text_field("level", type="range"), language=language)
    vacancy = make_vacancy(form=form)

    response = get(client, vacancy, **{"Accept-Language": "de" if language == "en" else "en"})
    level, box = response.json()["data"][0]["fields"]

    assert response["Content-Language"] == language
    assert "Accept-Language" not in response["Vary"]
    assert [option["label"] for option in level["options"]] == list(LEVELS[language])
    assert box["label"] == consent
    assert get(client, vacancy, "form/schema")["Content-Language"] == language

    ConsentText.objects.add(language=language, text="Yes", statement_url="https://example.com/")
    assert sections(client, vacancy)[0]["fields"][1]["link"] == {
        "label": link,
        "url": "https://example.com/",
    }


def test_generated_form_is_in_the_language_of_the_site(client, settings):
    vacancy, found = make_vacancy(), {}
    for settings.LANGUAGE_CODE in ("en", "fr", "de-at"):
        response = get(client, vacancy)
        found[response["Content-Language"]] = response.json()["data"][0]["title"]
    assert found == {"en": "Privacy", "fr": "Vie privée", "de": "Datenschutz"}


def test_extension_has_the_language_of_its_base(client):
    base = make_form("Base", text_field("level", type="range"), language="nl")
    vacancy = make_vacancy(form=make_form("More", extends=base, language="fr"))

    for language, weak in (("nl", "zwak"), ("de", "schwach")):
        operations.save(base, operations.FormEdit(base.structure, language=language))
        response = get(client, vacancy)
        assert response["Content-Language"] == language
        assert response.json()["data"][0]["fields"][0]["options"][1]["label"] == weak


# --- Version -----------------------------------------------------------------------------------


def test_version_changes_only_if_the_served_sections_change(client):
    form = make_form("Form", text_field("level", type="range"))
    vacancy = make_vacancy(form=form)
    versions = [version(client, vacancy)]
    schema = get(client, vacancy, "form/schema")
    assert versions == [schema["Form-Version"]] == [schema.json()["data"]["version"]]
    assert version(client, make_vacancy(form=form)) == versions[0]  # it does not depend on the id

    def has_new_version():
        versions.append(version(client, vacancy))
        return versions[-1] not in versions[:-1]

    original, changed = form.structure, [section(text_field("level", type="range"), title="New")]
    operations.save(form, operations.FormEdit(original, name="Renamed"))
    assert not has_new_version()
    operations.save(form, operations.FormEdit(original))
    assert not has_new_version()
    Form.objects.update(revision=99)
    assert not has_new_version()
    Vacancy.objects.update(title="Renamed", form=operations.copy(form=form))
    assert not has_new_version()
    ConsentText.objects.add(language="nl", text="Not this form's")
    assert not has_new_version()

    Vacancy.objects.update(form=form)
    operations.save(form, operations.FormEdit(changed))
    assert has_new_version()
    operations.save(form, operations.FormEdit(changed, language="nl"))
    assert has_new_version()
    ConsentText.objects.add(language="nl", text="Another")
    assert has_new_version()

    ConsentText.objects.all().delete()
    operations.save(form, operations.FormEdit(original, language="en"))
    assert version(client, vacancy) == versions[0]


# --- Schema ------------------------------------------------------------------------------------


def test_schema_is_generated_from_the_served_sections(client, settings):
    settings.PUBLIC_BASE_URL = "https://jobs.example.com"
    vacancy = make_vacancy(form=operations.create(name="All", structure=specimen()))
    address = f"https://jobs.example.com/v1/vacancies/{vacancy.pk}/form/schema"

    response = get(client, vacancy, "form/schema")

    schema = response.json()["data"]["schema"]
    assert list(response.json()) == ["data"]
    assert list(response.json()["data"]) == ["version", "schema"]
    assert schema == submission_schema(served(specimen(), "en", CONSENT), address=address)
    jsonschema.Draft202012Validator.check_schema(schema)


# --- Queries -----------------------------------------------------------------------------------


def test_number_of_queries_does_not_depend_on_the_form(client, django_assert_num_queries):
    vacancies = [make_vacancy()]
    for count in (1, 30):
        fields = [text_field(f"f{n}", type="range") for n in range(count)]
        form = make_form(f"Plain {count}", *fields)
        more = make_form(
            f"More {count}", *(text_field(f"more_{n}") for n in range(count)), extends=form
        )
        brand = make_brand(f"Brand {count}", form=form)
        vacancies += [make_vacancy(form=form), make_vacancy(form=more), make_vacancy(brand=brand)]
    make_form("Site", is_default=True)
    for vacancy, endpoint in product(vacancies, ENDPOINTS):
        with django_assert_num_queries(3):  # the vacancy, the form with its base, the consent
            assert get(client, vacancy, endpoint).status_code == 200
    for endpoint in ENDPOINTS:
        with django_assert_num_queries(1):  # the vacancy
            assert client.get(f"/v1/vacancies/1000000/{endpoint}").status_code == 404


# --- HTTP --------------------------------------------------------------------------------------


def test_response_is_cached_until_the_end_of_publication_at_most(client, at):
    for seconds, max_age in ((None, 60), (3600, 60), (60, 60), (59, 59), (1, 1)):
        vacancy = make_vacancy(publish_until=seconds and at + timedelta(seconds=seconds))
        for endpoint in ENDPOINTS:
            cached = get(client, vacancy, endpoint)["Cache-Control"]
            assert cached == f"public, max-age={max_age}", (endpoint, seconds)


def test_invalid_ids_give_the_same_404(client):
    ids = ("0", "007", "abc", "-1", "1.0", "²", "٣", "9" * 19, "9" * 30, "1000000")
    for id_, endpoint in product(ids, ENDPOINTS):
        response = client.get(f"/v1/vacancies/{id_}/{endpoint}")
        found = (response.status_code, response["Content-Type"], response.json()["detail"])
        expected = (404, "application/problem+json", "No published vacancy has this id.")
        assert found == expected, (id_, endpoint)
        assert not response.has_header("Form-Version")


def test_form_endpoint_refuses_parameters(client):
    vacancy = make_vacancy()
    for endpoint in ENDPOINTS:
        path = f"/v1/vacancies/{vacancy.pk}/{endpoint}"
        for query in ("page[size]=5", "fields=title", "filter[regions]=x", "sort=title"):
            assert client.get(f"{path}?{query}").status_code == 400, (endpoint, query)
        assert client.get(f"{path}?utm_source=x").status_code == 200
