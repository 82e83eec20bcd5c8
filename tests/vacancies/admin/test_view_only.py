"""The page of a vacancy for a user who may only view it."""

from django.contrib import admin

from tests.factories import make_vacancy
from tests.vacancies.admin.forms import VIEWER, staff
from vacancies.choices import Keyword
from vacancies.models import Vacancy


def test_view_only_page_has_every_field_and_the_options_as_text(filters):
    vacancy = make_vacancy(title="Nurse", location="Ghent", options={"regions": ["Antwerp"]})

    response = staff("reader", *VIEWER).get(f"/admin/vacancies/vacancy/{vacancy.pk}/change/")

    shown = {name for _, spec in response.context["adminform"].fieldsets for name in spec["fields"]}
    page = admin.site._registry[Vacancy]
    # The bar shows the status. Form fields without a model field are shown as text.
    left_out = {"status", *Keyword.values, "remote_countries"}
    names = {name for _, spec in page.fieldsets for name in spec["fields"]}
    assert shown == names - left_out | {"job_details"}
    text = response.content.decode()
    assert {"Ghent", "Antwerp"} <= set(text.replace("<", " ").replace(">", " ").split())
    assert "Unpublish" not in text
