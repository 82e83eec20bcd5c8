"""The description of a vacancy for search engines: valid or absent (jobsite/site/jsonld.py)."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from django.core.files.base import ContentFile

from forms_structure import operations
from jobsite.site.jsonld import job_posting, with_requirements
from tests.factories import make_brand, make_option, make_vacancy
from tests.forms_structure.strategies import section, text_field
from tests.jobsite.site.postings import FOLDER, faults, postings, second_opinion
from tests.vacancies.sample_files import png
from vacancies.models import Requisition, Vacancy

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("at")]

GHENT: dict[str, Any] = {"locality": "Ghent", "country": "BE"}
LILLE: dict[str, Any] = {
    "street": "Rue 1",
    "postal_code": "59000",
    "locality": "Lille",
    "region": "Nord",
    "country": "FR",
    "latitude": 50,
    "longitude": 3,
}
BELGIUM: dict[str, Any] = {"kind": "applicant", "country": "BE"}
NETHERLANDS: dict[str, Any] = {"kind": "applicant", "country": "NL"}
PAY: dict[str, Any] = {
    "pay_min": 3000,
    "pay_max": "4250.50",
    "pay_currency": "EUR",
    "pay_period": "month",
}
HOSTILE = "</script><script>alert(1)</script> ]]> <!-- \u202e \x0b \U0001f600 \u2028 & \"'"


@pytest.fixture(autouse=True)
def _site(settings: Any) -> None:
    settings.CAREER_SITE = settings.APPLY_PAGES = True
    settings.TIME_ZONE = "Europe/Brussels"


def page_of(client: Any, vacancy: Vacancy) -> str:
    answer = client.get(vacancy.site_path)
    assert answer.status_code == 200
    return answer.content.decode()


def posting_of(client: Any, **values: Any) -> Any:
    pk = make_vacancy(**values).pk
    item = client.get(f"/v1/vacancies/{pk}").json()["data"]
    return job_posting(
        item, with_requirements(Vacancy.objects.all()).get(pk=pk), takes_applications=False
    )


def test_a_full_block_has_every_property(client, filters):
    make_option("types", "Full", employment_type="FULL_TIME")
    make_option("types", "Night", employment_type="PART_TIME")
    form = operations.create(
        name="F",
        language="en",
        structure=[section(text_field("e", type="email", role="email", required=True))],
    )
    brand = make_brand("Harbour", url="https://harbour.example.com", form=form)
    brand.icon_large.save("a.png", ContentFile(png(200, 100)))
    vacancy = make_vacancy(
        title="Nurse",
        brand=brand,
        reference="HW-1",
        places=(GHENT, LILLE),
        options={"types": ["Full", "Night"]},
        description="<p>Care</p>",
        profile="<p>You</p>",
        offer="",
        company="<p>We</p>",
        contact="<p>Call</p>",
        publish_from=datetime(2026, 3, 1, 8, tzinfo=UTC),
        publish_until=datetime(2026, 6, 1, 22, tzinfo=UTC),
        **PAY,
    )

    [posting] = postings(page_of(client, vacancy))

    assert posting == {
        "@context": "https://schema.org/",
        "@type": "JobPosting",
        "title": "Nurse",
        "description": "<p>Care</p><p>You</p><p>We</p>",
        "datePosted": "2026-03-01T09:00:00+01:00",
        "validThrough": "2026-06-02T00:00:00+02:00",
        "hiringOrganization": {
            "@type": "Organization",
            "name": "Harbour",
            "sameAs": "https://harbour.example.com",
            "logo": f"http://testserver/media/{brand.icon_large.name}",
        },
        "jobLocation": [
            {
                "@type": "Place",
                "address": {
                    "@type": "PostalAddress",
                    "addressLocality": "Ghent",
                    "addressCountry": "BE",
                },
            },
            {
                "@type": "Place",
                "address": {
                    "@type": "PostalAddress",
                    "streetAddress": "Rue 1",
                    "addressLocality": "Lille",
                    "addressRegion": "Nord",
                    "postalCode": "59000",
                    "addressCountry": "FR",
                },
            },
        ],
        "employmentType": ["FULL_TIME", "PART_TIME"],
        "baseSalary": {
            "@type": "MonetaryAmount",
            "currency": "EUR",
            "value": {
                "@type": "QuantitativeValue",
                "minValue": 3000,
                "maxValue": 4250.5,
                "unitText": "MONTH",
            },
        },
        "identifier": {"@type": "PropertyValue", "name": "Harbour", "value": "HW-1"},
        "directApply": True,
    }
    assert faults(posting) == []
    Vacancy.objects.update(apply_url="https://acme.test/apply")
    [elsewhere] = postings(page_of(client, vacancy))
    assert posting.keys() - elsewhere.keys() == {"directApply"}


# The properties that depend on the facts, of a vacancy without the others.
VARIANTS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "hybrid is a place only": ({"work_place": "hybrid", "places": (GHENT, BELGIUM)}, {}),
    "remote": (
        {"work_place": "remote", "places": (BELGIUM,)},
        {
            "jobLocation": None,
            "jobLocationType": "TELECOMMUTE",
            "applicantLocationRequirements": {"@type": "Country", "name": "Belgium"},
        },
    ),
    "remote with a place, from two countries": (
        {"work_place": "remote", "places": (GHENT, NETHERLANDS, BELGIUM)},
        {
            "jobLocationType": "TELECOMMUTE",
            "applicantLocationRequirements": [
                {"@type": "Country", "name": "Netherlands"},
                {"@type": "Country", "name": "Belgium"},
            ],
        },
    ),
    "one amount": (
        PAY | {"pay_max": 3000},
        {
            "baseSalary": {
                "@type": "MonetaryAmount",
                "currency": "EUR",
                "value": {"@type": "QuantitativeValue", "value": 3000, "unitText": "MONTH"},
            }
        },
    ),
    "one bound only": (PAY | {"pay_min": None}, {}),
    "pay that is not public": (PAY | {"is_pay_public": False}, {}),
    "a note only": ({"pay_note": "Good"}, {}),
}


def test_facts_decide_the_properties(client, settings):
    settings.LANGUAGE_CODE = "nl"  # names of countries are English
    plain = posting_of(client, places=(GHENT,))
    assert faults(plain) == []
    for title, (values, expected) in VARIANTS.items():
        posting = posting_of(client, **{"places": (GHENT,)} | values)
        own = {
            key: posting.get(key)
            for key in posting.keys() | plain.keys()
            if key not in ("title", "description", "identifier")
            and posting.get(key) != plain.get(key)
        }
        assert (own, faults(posting)) == (expected, []), title


def test_without_a_brand_the_site_is_the_employer(client, settings):
    settings.MULTI_BRANDING = False
    settings.SITE_NAME = "Jobs of Acme"
    posting = posting_of(client, places=(GHENT,))
    assert posting["hiringOrganization"] == {"@type": "Organization", "name": "Jobs of Acme"}
    assert posting["identifier"]["name"] == "Jobs of Acme"


@pytest.mark.parametrize(
    ("size", "has_logo"),
    [((75, 100), True), ((250, 100), True), ((74, 100), False), ((251, 100), False)],
)
def test_logo_has_the_shape_of_a_logo(client, size, has_logo):
    brand = make_brand()
    brand.icon_large.save("a.png", ContentFile(png(*size)))
    posting = posting_of(client, places=(GHENT,))
    assert ("logo" in posting["hiringOrganization"]) is has_logo


def test_no_logo_of_unknown_shape(client):
    brand = make_brand(icon_large_url="https://acme.test/a.png")
    assert "logo" not in posting_of(client, places=(GHENT,))["hiringOrganization"]
    brand.icon_large.save("a.png", ContentFile(png(100, 100)))
    brand.icon_large.storage.delete(brand.icon_large.name)
    assert "logo" not in posting_of(client, places=(GHENT,))["hiringOrganization"]


def test_no_block_without_a_required_property(client):
    texts = dict.fromkeys(("description", "profile", "offer", "company"), "")
    for values in (
        {"places": ()},
        {"places": (GHENT,), **texts, "contact": "<p>Call</p>"},
        {"places": (GHENT,), "work_place": "remote"},
        {"places": (BELGIUM,), "work_place": "hybrid"},
    ):
        assert posting_of(client, **values) is None, values
    vacancy = make_vacancy(places=(GHENT,))
    assert len(postings(page_of(client, vacancy))) == 1
    Requisition.objects.create(vacancy=vacancy, is_for_open_applications=True)
    assert postings(page_of(client, vacancy)) == []


def test_no_block_on_other_pages(client, at):
    vacancy = make_vacancy(places=(GHENT,), publish_until=at)
    make_vacancy(places=(GHENT,))
    for path, status in (
        ("/jobs", 200),
        ("/brands/acme", 200),
        (vacancy.site_path, 410),
        ("/jobs/999999999", 404),
    ):
        answer = client.get(path)
        assert (answer.status_code, postings(answer.content.decode())) == (status, []), path


def test_no_text_ends_the_block(client):
    html = page_of(client, make_vacancy(title=HOSTILE, places=(GHENT | {"locality": HOSTILE},)))
    [posting] = postings(html)
    assert faults(posting) == []
    assert (posting["title"], posting["jobLocation"]["address"]["addressLocality"]) == (
        HOSTILE,
        HOSTILE,
    )
    assert "<script>alert" not in html


# Where the outputs of other career sites break the rules.
PEERS = {
    "bullhorn": [
        "baseSalary required",  # no currency
        "baseSalary.value.unitText enum",
        "datePosted pattern",  # in words
        "employmentType anyOf",  # in words
        "hiringOrganization.logo pattern",  # relative
        "jobLocation.address.addressCountry pattern",  # in words
        "required",  # no identifier
    ],
    "wp_job_manager": [
        "baseSalary.value.value type",  # text
        "employmentType anyOf",  # a list of one
        "jobLocation.address type",  # text, without a country
        "required",  # remote without a country
    ],
}


@pytest.mark.parametrize("name", PEERS)
def test_schema_refuses_the_output_of_peers(name):
    assert faults(json.loads((FOLDER / f"peers/{name}.json").read_text())) == PEERS[name]


@pytest.mark.slow("starts Node")
def test_another_validator_finds_no_fault(client):
    variants = [
        posting_of(client, **{"places": (GHENT,)} | values) for values, _ in VARIANTS.values()
    ]
    several = posting_of(client, places=(GHENT, LILLE))
    peer = json.loads((FOLDER / "peers/wp_job_manager.json").read_text())
    *ours, theirs = second_opinion([*variants, several, peer])
    assert ours == [[]] * (len(VARIANTS) + 1)
    assert theirs
