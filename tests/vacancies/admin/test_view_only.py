"""The page of a vacancy for a user who may only view it."""

from django.contrib import admin
from django.contrib.auth.models import Permission, User
from django.test import Client

from tests.factories import make_vacancy
from vacancies.choices import Keyword
from vacancies.models import Vacancy


def test_view_only_page_has_every_field_and_the_options_as_text(filters):
    vacancy = make_vacancy(title="Nurse", location="Ghent", options={"regions": ["Antwerp"]})
    user = User.objects.create_user("reader", is_staff=True)
    allowed = Permission.objects.filter(codename__in=["view_vacancy", "work_for_every_brand"])
    user.user_permissions.set(allowed)
    client = Client()
    client.force_login(user)

    response = client.get(f"/admin/vacancies/vacancy/{vacancy.pk}/change/")

    shown = {name for _, spec in response.context["adminform"].fieldsets for name in spec["fields"]}
    page = admin.site._registry[Vacancy]
    names = {name for _, spec in page.fieldsets for name in spec["fields"]}
    assert shown == names - {"status", *Keyword.values} | {"job_details"}  # the bar shows the status
    assert {"Ghent", "Antwerp"} <= set(response.content.decode().replace("<", " ").replace(">", " ").split())
