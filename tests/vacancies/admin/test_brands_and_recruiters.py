"""The admin of brands and recruiters."""

from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from pytest_django.asserts import assertContains, assertNotContains

from tests.vacancies.admin.forms import errors, page, picture, saved
from vacancies.models import Recruiter, Vacancy

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("filters")]


@pytest.mark.parametrize("noun", ["brand", "recruiter"])
def test_deleting_what_a_vacancy_needs_is_explained(anna: Client, vacancy: Vacancy, noun: str) -> None:
    needed = vacancy.brand if noun == "brand" else vacancy.head_recruiter

    response = anna.post(f"/admin/vacancies/{noun}/{needed.pk}/delete/", {"post": "yes"})

    assertContains(
        response, "would require deleting the following protected related objects", status_code=200
    )
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


def test_autocomplete_accepts_any_text(anna: Client) -> None:
    field = {"app_label": "vacancies", "model_name": "vacancy", "field_name": "head_recruiter"}
    assert anna.get("/admin/autocomplete/", field | {"term": "a\0b"}).status_code == 200


@pytest.mark.parametrize(
    ("upload", "refusal"),
    [
        (lambda: picture("a.png", "PNG"), None),
        (lambda: picture("a.JPG", "JPEG"), None),
        (lambda: picture("a.webp", "WEBP"), None),
        (lambda: picture("a.gif", "GIF"), "“a.gif” is GIF. Use a JPEG, PNG or WebP image."),
        (
            lambda: picture("a.pdf", "PNG"),
            "The name “a.pdf” does not end in .jpg, .png or .webp: rename the file.",
        ),
        (
            lambda: picture("a.png", "PNG", (5001, 5000)),
            "“a.png” has more than 25 megapixels: make it smaller.",
        ),
        (
            lambda: SimpleUploadedFile("a.png", picture("a.png", "PNG").read() + b"0" * 5 * 1024 * 1024),
            "“a.png” is 5.0 MB: an image may have at most 5 MB.",
        ),
        (
            lambda: SimpleUploadedFile("a.svg", b"<svg xmlns='http://www.w3.org/2000/svg'/>"),
            "“a.svg” is SVG. Use a JPEG, PNG or WebP image.",
        ),
    ],
)
def test_image_upload_checks_format_and_size(
    anna: Client, settings: Any, tmp_path: Any, upload: Any, refusal: str | None
) -> None:
    settings.MEDIA_ROOT = tmp_path

    response = anna.post("/admin/vacancies/recruiter/add/", {"name": "Jan", "image": upload()})

    if refusal is None:
        assert saved(response)
        assertContains(anna.get("/admin/vacancies/recruiter/"), Recruiter.objects.get().image.url)
    else:
        assert errors(response) == {"image": [refusal]}
