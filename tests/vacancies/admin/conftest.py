"""Users and rows for the tests of the admin of vacancies."""

from datetime import UTC, datetime, timedelta

import pytest
from django.test import Client

from jobsite.db.transactions import dry_run
from tests.admin_pages import build, stored_of
from tests.factories import make_brand
from tests.vacancies.admin.forms import LONG_AGO, staff
from vacancies.models import Brand, Filter, FilterOption, Recruiter, Vacancy


@pytest.fixture
def colleague() -> Client:
    """A recruiter with access to the brand "Mine" only."""
    rights = ("view_vacancy", "add_vacancy", "change_vacancy", "delete_vacancy")
    return staff("colleague", *rights, brands=[make_brand("Mine")])


@pytest.fixture
def brand() -> Brand:
    return Brand.objects.create(name="Acme")


@pytest.fixture
def strict() -> Brand:
    return make_brand("Strict", requires_approval=True)


@pytest.fixture
def recruiter() -> Recruiter:
    return Recruiter.objects.create(name="Jan", email="jan@acme.test")


@pytest.fixture
def vacancy(brand: Brand, recruiter: Recruiter) -> Vacancy:
    """A published vacancy with line ends that browsers change, and times with microseconds."""
    return Vacancy.objects.create(
        title="Nurse",
        description="<p>Care\nfor people</p>\n",
        brand=brand,
        head_recruiter=recruiter,
        status="published",
        publish_from=LONG_AGO + timedelta(microseconds=123456),
        publish_until=datetime(2199, 5, 1, 14, 30, 15, 5, tzinfo=UTC),
        updated_at=LONG_AGO,
    )


@pytest.fixture
def regions() -> list[FilterOption]:
    filter = Filter.objects.get(keyword="regions")
    return [
        FilterOption.objects.create(
            filter=filter, label=label, value=label.lower(), position=position
        )
        for position, label in enumerate(("Antwerp", "Ghent", "Leuven"))
    ]


# --- brand scoping ---


@pytest.fixture(scope="module")
def world(django_db_setup, django_db_blocker):
    """Created once per module. Each test rolls its changes back."""
    with django_db_blocker.unblock(), dry_run(True):
        yield build()


@pytest.fixture(scope="module")
def foreign_rows(world):
    return stored_of(world)


@pytest.fixture
def nothing_foreign_changes(world, foreign_rows):
    yield
    assert stored_of(world) == foreign_rows
