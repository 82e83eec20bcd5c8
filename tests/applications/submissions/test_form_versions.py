"""Submissions of forms that changed while the applicant filled them in."""

import copy

import pytest

from applications.models import Application, Submission
from forms_structure import operations as form_operations
from forms_structure.models import ConsentText, Form
from tests.applications.submissions.sending import (
    STRUCTURE,
    VALUES,
    make_field,
    make_form,
    make_open_vacancy,
    send,
    version_of,
)
from tests.factories import make_brand
from vacancies.models import Vacancy

pytestmark = pytest.mark.django_db


@pytest.fixture
def vacancy(at):
    return make_open_vacancy()


def with_field(number, **values):
    structure = copy.deepcopy(STRUCTURE)
    structure[0]["fields"].append(make_field(f"extra_{number}", **values))
    return structure


def change(vacancy, structure):
    form_operations.save(Form.objects.get(pk=vacancy.form_id), form_operations.FormEdit(structure))


def changed(response):
    """Return `form_changed` and the pointers of a 422."""
    assert response.status_code == 422, response.content
    body = response.json()
    return body.get("form_changed"), [error["pointer"] for error in body["errors"]]


def test_older_version_that_still_fits_is_accepted(vacancy):
    versions = [version_of(vacancy)]
    for number in range(3):
        change(vacancy, with_field(number))
        versions.append(version_of(vacancy))
    assert len(set(versions)) == 4

    for number, version in enumerate(versions):
        response = send(vacancy, VALUES | {"email": f"mia{number}@example.org"}, version=version)
        assert response.status_code == 201, number
        assert response.json()["data"]["version"] == versions[-1]
    assert {each.snapshot.digest for each in Submission.objects.all()} == {versions[-1]}


def test_older_version_that_does_not_fit_is_refused(vacancy):
    version = version_of(vacancy)
    change(vacancy, with_field(1, required=True))

    assert changed(send(vacancy, version=version)) == (True, ["/values/extra_1"])
    assert changed(send(vacancy)) == (None, ["/values/extra_1"])


@pytest.mark.parametrize("is_submitted", [False, True])
def test_version_with_another_consent_is_refused(vacancy, is_submitted):
    version = version_of(vacancy)
    if is_submitted:
        send(vacancy)
    url = "https://example.org/privacy"
    ConsentText.objects.add(language="en", text="I agree to more.", statement_url=url)

    assert changed(send(vacancy, VALUES | {"first_name": "B"}, version=version)) == (True, [])
    assert send(vacancy, VALUES | {"first_name": "C"}).status_code == 201
    assert Submission.objects.latest("pk").consent_text == "I agree to more."


def test_version_with_the_same_consent_text_is_accepted(vacancy):
    """A new version of the consent with the same text and statement, of which the older one was
    submitted.
    """
    version, consent = version_of(vacancy), ConsentText.objects.get()
    send(vacancy)
    ConsentText.objects.add(language="en", text=consent.text, statement_url=consent.statement_url)
    assert version_of(vacancy) != version

    assert send(vacancy, VALUES | {"first_name": "B"}, version=version).status_code == 201


@pytest.mark.parametrize("is_submitted", [False, True])
def test_version_with_the_consent_of_another_brand_is_refused(vacancy, is_submitted):
    """The vacancy gets another brand, with equal words:
    the applicant agreed to another employer.
    """
    consent = ConsentText.objects.get()
    for brand in (vacancy.brand, other := make_brand("Globex")):
        texts = {"text": "I agree.", "statement_url": consent.statement_url}
        ConsentText.objects.add(brand_number=brand.pk, language="en", **texts)
    version = version_of(vacancy)
    if is_submitted:
        send(vacancy)
    Vacancy.objects.update(brand=other)

    assert changed(send(vacancy, VALUES | {"first_name": "B"}, version=version)) == (True, [])
    assert send(vacancy, VALUES | {"first_name": "C"}).status_code == 201
    assert (
        Submission.objects.latest("pk").consent_version
        == ConsentText.objects.latest("version").version
    )


def test_versions_of_a_form_that_extends_another_are_known(at, time_machine):
    time_machine.move_to(at, tick=True)  # the saves have an order
    base = make_form()
    extra = [{"title": "More", "description": "", "fields": [make_field("more")]}]
    vacancy = make_open_vacancy(make_form(extra, extends=base))
    versions = [version_of(vacancy)]
    form_operations.save(base, form_operations.FormEdit(with_field(1)))
    versions.append(version_of(vacancy))
    change(vacancy, [{"title": "More", "description": "", "fields": [make_field("more_and_more")]}])
    versions.append(version_of(vacancy))
    form_operations.save(base, form_operations.FormEdit(with_field(2)))
    assert len(set(versions)) == 3

    for number, version in enumerate(versions):
        assert (
            send(vacancy, VALUES | {"email": f"a{number}@example.org"}, version=version).status_code
            == 201
        )


def test_version_of_another_form_is_refused(vacancy):
    other = make_open_vacancy(make_form(with_field(1)))

    assert changed(send(vacancy, version=version_of(other))) == (True, [])
    assert Application.objects.count() == 0
