"""The daily digest for recruiters."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import Permission, User

from applications.mail.digest import Digest, queue_digest
from applications.models import EmailOptOut, Message
from tests.applications.makers import make_application
from tests.conftest import NOW
from tests.factories import make_brand, make_vacancy
from vacancies.models import Vacancy

pytestmark = pytest.mark.django_db
DAY = timedelta(days=1)


def make_colleague(name, *brands, **values):
    user = User.objects.create_user(name, email=f"{name}@example.com", is_staff=True, **values)
    user.user_permissions.add(Permission.objects.get(codename="view_application"))
    user.brands.add(*brands)
    return user


@pytest.fixture
def acme(at):
    return make_brand("Acme")


@pytest.fixture
def an(acme):
    return make_colleague("an", acme)


def apply(brand, *, hours=1, vacancy=None, **values):
    vacancy = vacancy or make_vacancy(brand=brand)
    return make_application(vacancy=vacancy, created_at=NOW - timedelta(hours=hours), **values)


def day(at, digest=None):
    """Do the digests of `at`. Return the outcomes."""
    digest, outcomes = digest or Digest(), []
    while item := digest.next_due(at):
        outcomes.append(digest.run(item))
    return outcomes


def test_digest_counts_new_applications_of_own_brands(an, acme):
    baker = make_vacancy(brand=acme, title="Baker")
    for number in range(2):
        apply(acme, vacancy=baker, given_name=f"Secret {number}")
    apply(acme, vacancy=make_vacancy(brand=acme, title="Clerk"))
    apply(acme, hours=25)
    apply(acme, withdrawn_at=NOW)
    apply(make_brand("Other"))

    message = queue_digest(an, at=NOW, base_url="https://jobs.example.org")
    assert (message.kind, message.to, message.recipient, message.application) == (
        "digest",
        "an@example.com",
        an,
        None,
    )
    assert message.subject == "3 new applications"
    clerk = Vacancy.objects.get(title="Clerk")
    assert message.vacancies == [baker.pk, clerk.pk]
    address = "https://jobs.example.org/admin/applications/"
    assert message.body == (
        "New applications since 1 Mar 2026, 09:30:\n\n"
        f"Baker: 2\n{address}application/?vacancy__id__exact={baker.pk}\n\n"
        f"Clerk: 1\n{address}application/?vacancy__id__exact={clerk.pk}\n\n"
        f"Choose the emails that you receive:\n{address}message/mine/"
    )


def test_digest_is_sent_once_per_day_if_something_is_new(an, acme):
    assert (day(NOW - DAY), Message.objects.count()) == (["digest nothing"], 0)
    apply(acme)
    digest = Digest()
    assert day(NOW, digest) == ["digest queued"]
    assert day(NOW + timedelta(hours=3), digest) == []
    assert day(NOW + timedelta(hours=3)) == []  # of another process

    make_application(
        vacancy=make_vacancy(brand=acme, title="Later"), created_at=NOW + timedelta(hours=1)
    )
    assert day(NOW + 3 * DAY, digest) == ["digest queued"]  # it begins where the last one ended
    assert Message.objects.last().subject == "1 new application"
    assert "Later: 1\n" in Message.objects.last().body


def test_digest_waits_for_the_morning(an, acme):
    apply(acme, hours=4)

    assert day(NOW.replace(hour=6, minute=59)) == []
    assert day(NOW.replace(hour=7, minute=0)) == ["digest queued"]


def test_digest_is_for_recruiters_who_want_it(an, acme):
    apply(acme)
    bo = make_colleague("bo", acme)
    EmailOptOut.objects.create(user=an, kind="digest")
    EmailOptOut.objects.create(user=bo, kind="closing")
    make_colleague("gone", acme, is_active=False)
    User.objects.filter(pk=make_colleague("nowhere", acme).pk).update(email="")
    # Without permission.
    User.objects.create_user("editor", email="editor@example.com", is_staff=True)
    User.objects.create_user("applicant", email="applicant@example.com")

    assert day(NOW) == ["digest queued"]
    assert [message.to for message in Message.objects.all()] == ["bo@example.com"]


def test_digest_of_many_vacancies_is_short(an, acme, monkeypatch, django_assert_max_num_queries):
    monkeypatch.setattr("applications.mail.daily.LINES_MAX", 2)
    for _ in range(4):
        apply(acme)

    with django_assert_max_num_queries(8):
        body = queue_digest(an, at=NOW).body
    assert body.count("?vacancy__id__exact=") == 2
    assert "And for 2 more vacancies.\n" in body
