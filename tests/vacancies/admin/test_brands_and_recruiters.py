"""The admin of brands and recruiters."""

import pytest
from django.test import Client
from pytest_django.asserts import assertContains, assertNotContains

from tests.vacancies.admin.forms import errors, page, picture, saved
from vacancies.models import Recruiter, Vacancy

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("filters")]


def test_deleting_what_a_vacancy_needs_is_explained(anna: Client, vacancy: Vacancy) -> None:
    for noun, needed in (("brand", vacancy.brand), ("recruiter", vacancy.head_recruiter)):
        response = anna.post(f"/admin/vacancies/{noun}/{needed.pk}/delete/", {"post": "yes"})
        assertContains(response, "would require deleting the following protected related objects")
        assertContains(response, "Nurse")
        assert type(needed).objects.filter(pk=needed.pk).exists()


def test_hidden_email_shows_on_the_recruiters_own_page_only(anna: Client, vacancy: Vacancy) -> None:
    head = vacancy.head_recruiter
    suggestions = (
        "/admin/autocomplete/?app_label=vacancies&model_name=vacancy&field_name=head_recruiter&term={}"
    )

    assert anna.get(suggestions.format("jan@acme")).json()["results"] == []
    assert anna.get(suggestions.format("Ja")).json()["results"] == [{"id": str(head.pk), "text": "Jan"}]
    assertNotContains(anna.get("/admin/vacancies/recruiter/"), "jan@acme.test")
    assertNotContains(anna.get(page(vacancy)), "jan@acme.test")
    assertContains(anna.get(f"/admin/vacancies/recruiter/{head.pk}/change/"), "jan@acme.test")


def test_image_is_stored_or_refused_with_the_reason(anna: Client) -> None:
    """`tests/vacancies/test_uploads.py` has every reason."""
    add = "/admin/vacancies/recruiter/add/"
    for upload in (picture("a.png", "PNG"), picture("a.JPG", "JPEG"), picture("a.webp", "WEBP")):
        assert saved(anna.post(add, {"name": upload.name, "image": upload}))
        url = Recruiter.objects.get(name=upload.name).image.url
        assertContains(anna.get("/admin/vacancies/recruiter/"), url)
    response = anna.post(add, {"name": "Jan", "image": picture("a.gif", "GIF")})
    assert errors(response) == {"image": ["“a.gif” is GIF. Use a JPEG, PNG or WebP image."]}
