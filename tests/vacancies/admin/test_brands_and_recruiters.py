"""The admin of brands and recruiters."""

from html import escape
from typing import Any

import pytest
from django.forms import modelform_factory
from django.test import Client
from pytest_django.asserts import assertContains, assertNotContains

from jobsite.office.brand import BrandForm
from tests.vacancies.admin.forms import errors, page, picture, saved
from vacancies.models import Brand, Recruiter, Vacancy

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
        "/admin/autocomplete/?app_label=vacancies&model_name=vacancy"
        "&field_name=head_recruiter&term={}"
    )

    assert anna.get(suggestions.format("jan@acme")).json()["results"] == []
    assert anna.get(suggestions.format("Ja")).json()["results"] == [
        {"id": str(head.pk), "text": "Jan"}
    ]
    assertNotContains(anna.get("/admin/vacancies/recruiter/"), "jan@acme.test")
    assertNotContains(anna.get(page(vacancy)), "jan@acme.test")
    assertContains(anna.get(f"/admin/vacancies/recruiter/{head.pk}/change/"), "jan@acme.test")


def test_image_is_stored_or_refused_with_the_reason(anna: Client) -> None:
    """`tests/vacancies/uploads/test_uploads.py` has every reason."""
    add = "/admin/vacancies/recruiter/add/"
    for upload in (picture("a.png", "PNG"), picture("a.JPG", "JPEG"), picture("a.webp", "WEBP")):
        assert saved(anna.post(add, {"name": upload.name, "image": upload}))
        url = Recruiter.objects.get(name=upload.name).image.url
        assertContains(anna.get("/admin/vacancies/recruiter/"), url)
    response = anna.post(add, {"name": "Jan", "image": picture("a.gif", "GIF")})
    assert errors(response) == {"image": ["“a.gif” is GIF. Use a JPEG, PNG or WebP image."]}


HOST_RULE = "Enter a host in lower case, such as jobs.example.com, without https:// and path."
COLOR_RULE = "Enter a color such as #0b57b0."
HOSTS = {
    " Jobs.ACME.test ": "jobs.acme.test",
    "https://jobs.acme.test/": "jobs.acme.test",
    "http://Jobs.Acme.test.": "jobs.acme.test",
    "127.0.0.1:8000": "127.0.0.1:8000",
    "jobs.café.test": "jobs.xn--caf-dma.test",
    "": "",
}
WRONG_HOSTS = (
    "https://jobs.acme.test/nl",
    "jobs.acme.test/x",
    "localhost",
    "jobs acme.test",
    "-a.test",
    "a..test",
    "*.acme.test",
    "ftp://a.test",
    "a@b.test",
    "a.test:x",
    "[::1]",
    f"{'a' * 64}.test",
    "a.test?b",
)
COLORS = {
    "#0B57B0": "#0b57b0",
    "0b57b0": "#0b57b0",
    "#fc0": "#ffcc00",
    " #ffffff": "#ffffff",
    "": "",
}
WRONG_COLORS = ("red", "#12345", "#12345g", "url(x)", "#ff;}", "##fff", "#é23456")


def test_host_and_color_of_a_brand_are_corrected_or_refused(settings: Any) -> None:
    settings.PUBLIC_BASE_URL = "https://www.example.com"
    brand = Brand.objects.create(name="Acme")
    Brand.objects.create(name="Other", slug="other", host="jobs.other.test")
    form_class = modelform_factory(Brand, BrandForm, fields=["host", "accent"])

    def enter(**values: str) -> Any:
        form = form_class(values, instance=Brand.objects.get(pk=brand.pk))
        return dict(form.errors) or (form.cleaned_data["host"], form.cleaned_data["accent"])

    for typed, stored in HOSTS.items():
        assert enter(host=typed) == (stored, ""), typed
    for typed, stored in COLORS.items():
        assert enter(accent=typed) == ("", stored), typed
    for typed in WRONG_HOSTS:
        assert enter(host=typed) == {"host": [HOST_RULE]}, typed
    for typed in WRONG_COLORS:
        assert COLOR_RULE in enter(accent=typed)["accent"], typed
    assert enter(host="JOBS.other.test") == {"host": ["Another brand has this host."]}
    form_class.request_host = "admin.example.com"
    for main in ("https://www.example.com", "admin.example.com"):  # else the admin would be 404
        assert enter(host=main) == {"host": ["This is the host of the main site."]}


def test_page_of_a_brand_has_the_lines_for_another_website(
    anna: Client, vacancy: Vacancy, settings: Any
) -> None:
    url = f"/admin/vacancies/brand/{vacancy.brand_id}/change/"
    assertNotContains(anna.get(url), "embed.js")
    settings.CAREER_SITE = True
    Brand.objects.update(name="A & B", host="jobs.acme.test")
    lines = (
        '<script type="module" src="https://jobs.acme.test/embed.js"></script>\n'
        '<job-vacancies filter-brand="acme" size="10"><a href="https://jobs.acme.test/jobs">A '
        "&amp; B</a>"
        "</job-vacancies>"
    )
    assertContains(anna.get(url), escape(lines))
    assertContains(anna.get("/admin/vacancies/brand/add/"), 'data-color="Choose a color"')
