"""The list of candidates."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from pytest_django.asserts import assertContains, assertNotContains

from applications.models import Application, Message, StageChange, Tag
from tests.applications.admin.conftest import FOREIGN, apply, staff
from tests.applications.makers import make_step
from tests.factories import make_vacancy

pytestmark = pytest.mark.django_db


def shown(client, **query):
    """Return the ids of the rows, in order."""
    response = client.get(reverse("admin:applications_candidate_changelist"), query)
    assert response.status_code == 200
    return [row.pk for row in response.context["cl"].result_list]


@pytest.fixture
def people(office, at):
    """Mia has three applications, one of them with another address, which a colleague joined. Her
    brother shares the mailbox.
    """
    vacancy = make_vacancy(title="Baker", brand=office.brand)
    Application.objects.filter(pk=office.own.pk).update(family_name="Maes")
    Application.objects.filter(pk=office.foreign.pk).update(family_name="Claes")
    values = {"stage": office.new, "family_name": "Maes"}
    later = apply(vacancy, created_at=at, **values)
    joined = apply(
        vacancy, "Maria", "maria@example.org", created_at=at - timedelta(days=200), **values
    )
    Application.objects.filter(pk__in=(later.pk, joined.pk)).update(person=later.pk)
    brother = apply(
        vacancy,
        "Jan",
        family_name="Smets",
        stage=office.new,
        created_at=at - timedelta(days=400),
    )
    return later, joined, brother


def test_list_has_each_person_once_with_all_that_is_theirs(office, people, at):
    later, joined, brother = people
    tag = Tag.objects.create(brand=office.brand, name="Night shift", folded="night shift")
    joined.tag_links.create(tag=tag)
    page = office.anna.get(reverse("admin:applications_candidate_changelist"))
    mia, jan = page.context["cl"].result_list
    assert (mia.pk, mia.applications, mia.tag_names) == (later.pk, 3, ["Night shift"])
    assert (jan.pk, jan.applications, jan.contact_at) == (brother.pk, 1, brother.created_at)
    assertContains(page, reverse("admin:applications_application_candidate", args=[later.pk]))
    assertNotContains(page, FOREIGN)
    assert len(shown(staff("editor", "Editor"))) == 3  # of each brand
    assert staff("eva", "Hiring manager").get(page.request["PATH_INFO"]).status_code == 403


@pytest.mark.slow("opens many pages")
@pytest.mark.each_database
def test_filters_and_search_find_a_person_by_any_application(office, people, at):
    later, joined, brother = people
    tag = Tag.objects.create(brand=office.brand, name="Night shift", folded="night shift")
    joined.tag_links.create(tag=tag)
    StageChange.objects.create(application=joined, stage=office.rejected, at=at)
    StageChange.objects.create(application=brother, stage=office.rejected, at=at)
    StageChange.objects.create(application=brother, stage=office.new, at=at, is_undo=True)
    sent = Message.objects.create(
        application=brother, kind="template", state="sent", finished_at=at - timedelta(days=100)
    )
    for query, found in (
        ({"tag": "night shift"}, [later]),
        ({"tag": "other"}, []),
        ({"reached": office.rejected.pk}, [later]),  # the one of the brother was undone
        ({"reached": office.new.pk}, [later, brother]),
        ({"pool": "in"}, []),
        ({"contact": "7"}, [later]),
        ({"contact": "older90"}, [brother]),
        ({"contact": "older180"}, []),
        ({"contact": "x", "reached": "x"}, [later, brother]),
        ({"q": "maes"}, [later]),
        ({"q": "mais"}, [later]),
        ({"q": "~smeets"}, [brother]),
        ({"q": "baker jan"}, [brother]),
        ({"q": "night"}, [later]),
        ({"q": "maria@example.org"}, [later]),
    ):
        assert shown(office.anna, **query) == [each.pk for each in found], query
    sent.delete()
    assert shown(office.anna, contact="older180") == [brother.pk]
    make_step(brother, uid="1" * 32, planned_at=at - timedelta(days=1))
    assert shown(office.anna, contact="older180") == []


def test_queries_are_as_many_for_many_people(office, people):
    def count():
        with CaptureQueriesContext(
            connection,
        ) as found:
            shown(office.anna)
        return len(found)

    few = count()
    for number in range(5):
        apply(office.own.vacancy, f"A{number}", f"a{number}@example.org", stage=office.new)
    assert count() == few
