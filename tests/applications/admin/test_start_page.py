"""What is new, on the start page and in the menu."""

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from pytest_django.asserts import assertContains, assertNotContains

from applications.models import Application
from tests.applications.admin.conftest import FOREIGN, staff

pytestmark = pytest.mark.django_db

BADGE = '<span class="menu-badge">{} <span class="sr-only">new</span></span>'


def test_start_page_shows_new_applications_of_own_brands(office):
    with CaptureQueriesContext(connection) as queries:
        response = office.anna.get("/admin/")
    counted = [each for each in queries.captured_queries if "LIMIT 100)" in each["sql"]]
    assert len(counted) == 1  # the start page and the menu share the number

    shown = response.context["new_applications"]
    assert [row.pk for row, _ in shown["rows"]] == [office.own.pk]
    assertContains(response, "Mia, Nurse")
    assertContains(response, "All new applications (1)")
    assertContains(response, BADGE.format(1), html=True)
    assertNotContains(response, FOREIGN)


def test_start_page_says_that_nothing_is_new(office):
    Application.objects.update(read_at=timezone.now())

    response = office.anna.get("/admin/")

    assertContains(response, "No new applications.")
    assertNotContains(response, "menu-badge")
    assertNotContains(response, "unread_count")  # the theme shows the name of the function


def test_large_numbers_are_capped(office):
    row = {"vacancy": office.own.vacancy, "created_at": timezone.now(), "updated_at": timezone.now()}
    Application.objects.bulk_create(Application(**row) for _ in range(99))

    response = office.anna.get("/admin/")

    assertContains(response, BADGE.format("99+"), html=True)
    assert len(response.context["new_applications"]["rows"]) == 5


def test_user_who_may_not_view_applications_is_shown_none(office):
    response = staff("filters", "Filter manager", brands=[office.brand]).get("/admin/")

    assert "new_applications" not in response.context
    assertNotContains(response, "Mia")
    assertNotContains(response, "menu-badge")


def test_user_who_may_not_view_vacancies_sees_new_applications(office):
    group = User.objects.get(username="anna").groups.get()
    group.permissions.remove(*group.permissions.filter(codename="view_vacancy"))

    response = office.anna.get("/admin/")

    assertContains(response, "Mia, Nurse")
    assertNotContains(response, "Recent changes")
