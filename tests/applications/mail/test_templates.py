"""Email templates: placeholders, languages and the initial texts."""

import pytest

from applications.mail.templates import (
    PLACEHOLDERS,
    email_from,
    fill,
    language_of,
    unknown_placeholders,
)
from applications.models import MailTemplate, Stage
from tests.applications.makers import make_application, make_user
from tests.conftest import NOW
from tests.factories import make_brand, make_recruiter, make_vacancy
from vacancies.models import Vacancy

pytestmark = pytest.mark.django_db
SITE = "https://jobs.example.org"


@pytest.fixture
def application(at):
    application = make_application(
        vacancy=make_vacancy(
            title="Baker", brand=make_brand("Acme"), head_recruiter=make_recruiter("An P")
        ),
        given_name="Mia",
        family_name="Maes",
        email="mia@example.org",
        reference="7K3QX9WD",
        created_at=NOW,
    )
    application.user = None
    return application


def make_template(**texts):
    return MailTemplate(name="Template", **texts)


def test_every_placeholder_has_a_value(application):
    assert {name: fill(f"{{{name}}}", application, base_url=SITE) for name in PLACEHOLDERS} == {
        "name": "Mia Maes",
        "given_name": "Mia",
        "family_name": "Maes",
        "vacancy": "Baker",
        "brand": "Acme",
        "pay": "",
        "recruiter": "An P",
        "reference": "7K3QX9WD",
        "received": "2 Mar 2026, 09:30",
        "signature": "",
        "privacy": "",
        "link": "https://jobs.example.org/account/receipt/personal-link",
        "site": "https://jobs.example.org/",
    }


def test_placeholders_of_an_imported_application_use_the_account(at):
    application = make_application(user=make_user("jan", first_name="Jan", last_name="Jans"))
    text = "{name}|{given_name}|{family_name}|{reference}|{link}"

    assert fill(text, application, base_url=SITE) == f"Jan Jans|Jan|Jans||{SITE}/account/"


def test_pay_is_in_the_language_of_the_email_and_may_be_hidden_from_the_public(application):
    pay = {"pay_min": 3100, "pay_currency": "EUR", "pay_period": "month", "pay_note": "PC 330"}
    Vacancy.objects.update(is_pay_public=False, **pay)
    application.vacancy.refresh_from_db()

    email = email_from(
        make_template(subject_nl="Loon", body_nl="Wij betalen {pay}."), application, language="nl"
    )

    assert email.body == "Wij betalen vanaf €\xa03.100 per maand (PC 330)."


def test_unknown_placeholders_are_named_and_kept(application):
    text = "{name} {Name} {nobody} {nobody} { {} }"

    assert unknown_placeholders(text) == ["{Name}", "{nobody}", "{}"]
    assert fill(text, application) == "Mia Maes {Name} {nobody} {nobody} { {} }"
    application.given_name = "{link}"
    assert fill("{given_name}", application) == "{link}"  # values are not filled in again


def test_language_falls_back():
    for codes, used in (("nl en de", "nl"), ("en de", "en"), ("de", "de"), ("", "en")):
        texts = {f"{part}_{code}": "x" for code in codes.split() for part in ("subject", "body")}
        assert language_of(make_template(**texts), "nl") == used, codes
    assert language_of(make_template(body_nl="x", subject_fr="x", body_fr="x"), "nl") == "fr"


def test_render_is_in_the_language_of_the_text(application):
    template = make_template(subject_fr="{vacancy}", body_fr="{received}")

    email = email_from(template, application, language="de")
    assert (email.language, email.subject, email.body) == ("fr", "Baker", "2 mars 2026 à 09:30")


def test_initial_templates_are_complete(application):
    for name in ("Received", "Invitation to an interview", "Rejection", "Offer"):
        template, subjects = MailTemplate.objects.get(name=name), set()
        for language in ("en", "nl", "fr", "de"):
            assert language_of(template, language) == language
            email = email_from(template, application, language=language)
            assert (
                unknown_placeholders(template.subject_en + getattr(template, f"body_{language}"))
                == []
            )
            assert "Mia Maes" in email.body
            assert "{" not in email.subject + email.body
            subjects.add(email.subject)
        assert len(subjects) == 4, name


def test_rejection_as_installed_asks_for_a_reason_and_offers_the_email():
    stages = Stage.objects.exclude(asks_reason="never").values_list("name", "asks_reason")
    assert list(stages) == [("Rejected", "may")]
    assert Stage.objects.get(name="Rejected").email.name == "Rejection"
