"""Pages take as many queries for one row of each kind as for three."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from applications.models import AccessLog, Application, Invitation, Note
from applications.operations import Move, move
from applications.operations.invitations import invite
from tests.applications.admin.conftest import apply, colleague, group, staff
from tests.applications.makers import make_file, make_stage, make_submission, make_user
from tests.factories import make_vacancy

pytestmark = pytest.mark.django_db
LIST = "/admin/applications/application/"


def add_rows(office, number):
    """Add a colleague, an invitation, an application with a file, and more about the application of
    Mia.
    """
    user, at = colleague(f"colleague{number}", "Brand administrator", office.brand), timezone.now()
    role, email = group("Recruiter"), f"new{number}@example.org"
    names = {"first_name": "", "last_name": "", "language": "en"}
    invitation = Invitation(email=email, role=role, author=user, **names)
    invite(invitation=invitation, brands=[office.brand], at=at)
    other = apply(
        make_vacancy(brand=office.brand), address=f"m{number}@example.org", stage=office.new
    )
    make_file(make_submission(other, {"cv": "x"}))
    Application.objects.filter(pk=other.pk).update(user=make_user() if number % 2 else None)
    AccessLog.objects.create(actor=user, application=other.pk, action="view")
    Note.objects.create(application=office.own, text="A note", author=user).mentioned.add(user)
    apply(office.own.vacancy, stage=office.new)  # by Mia too
    move(Application.objects.filter(pk=office.own.pk), Move(stage=make_stage(), author=user, at=at))


@pytest.mark.slow("opens eight pages with rows of every kind")
@pytest.mark.smoke
def test_pages_take_the_same_queries_for_more_rows(office):
    make_file(make_submission(office.own, {"cv": "x"}))
    administrator, anna = staff("ada", "Administrator"), office.anna
    pages = {
        **{
            f"{LIST}{query}": (anna, 13)
            for query in ("", "?q=mia&o=3", "?o=-5.2", "?read=no&o=6", "board/")
        },
        f"{LIST}{office.own.pk}/change/": (anna, 30),
        "/admin/applications/accesslog/": (administrator, 40),
        "/admin/auth/user/": (staff("bea", "Brand administrator", brands=[office.brand]), 40),
    }

    def count():
        counts = {}
        for page, (client, _highest) in pages.items():
            with CaptureQueriesContext(connection) as queries:
                assert client.get(page).status_code == 200
            counts[page] = len(queries)
        return counts

    add_rows(office, 0)
    count()  # fills caches
    few = count()
    add_rows(office, 1)
    add_rows(office, 2)
    assert count() == few
    assert [page for page, (_client, highest) in pages.items() if few[page] > highest] == []
