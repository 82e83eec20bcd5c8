"""Erasing a person from the page of an application."""

import pytest
from django.contrib.auth.models import User
from pytest_django.asserts import assertContains, assertNotContains

from applications.models import AccessLog, Application
from tests.applications.admin.conftest import apply, staff
from tests.applications.admin.page.test_page import page
from tests.applications.makers import make_application, make_user
from tests.messages import messages_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def admin(office):
    return staff("admin", "Administrator")


def erase(client, application, **changed):
    url = page(application, "erase")
    data = {"seen": client.get(url).context["seen"], "confirmed": "1"} | changed
    return client.post(url, {name: value for name, value in data.items() if value})


def left():
    return set(Application.objects.values_list("pk", flat=True))


def test_person_without_an_account_is_erased(office, admin, settings, tmp_path):
    settings.ERASURE_LOG = tmp_path / "erased"
    elsewhere = office.foreign  # from the same address, to another brand
    others = {apply(office.own.vacancy, "Jan", "jan@example.org").pk}
    assertContains(admin.get(page(office.own)), page(office.own, "erase"))
    asked = admin.get(page(office.own, "erase"))
    assertContains(asked, "2 applications are deleted")
    assertContains(asked, "Nobody has proved that this e-mail address is theirs")

    for wrong, error in (("confirmed", "Tick the box"), ("seen", "Other applications were added")):
        assertContains(erase(admin, office.own, **{wrong: ""}), error, status_code=422)
        assert left() == {office.own.pk, elsewhere.pk, *others}
    assert messages_of(erase(admin, office.own))[-1] == "The person was erased."
    assert left() == others
    erased = AccessLog.objects.filter(action="erase").values_list("actor__username", "application")
    assert set(erased) == {("admin", office.own.pk), ("admin", elsewhere.pk)}
    assert len((tmp_path / "erased").read_text().split()) == 3


def test_address_of_an_account_is_erased_only_if_it_is_proven(office, admin, at):
    mia = make_user("mia", email="mia@example.org")
    mine = make_application(user=mia, vacancy=office.own.vacancy, email="mia@example.org")
    asked = admin.get(page(mine, "erase"))
    assertContains(asked, "The account mia is deleted.")
    assertContains(asked, "2 applications from mia@example.org belong to no account and are kept")
    Application.objects.filter(pk=mine.pk).update(verified_at=at)
    assertContains(
        admin.get(page(mine, "erase")), "All of this account, and all from mia@example.org."
    )
    Application.objects.filter(pk=mine.pk).update(verified_at=None)

    erase(admin, mine)
    assert not User.objects.filter(pk=mia.pk).exists()
    assert left() == {office.own.pk, office.foreign.pk}


def test_erasure_that_is_impossible_deletes_nothing(office, admin, settings, tmp_path):
    mia = make_user("mia", email="mia@example.org", is_staff=True)
    mine = make_application(user=mia, vacancy=office.own.vacancy)
    everything = left()
    assertContains(erase(admin, mine), "This is a staff account.", status_code=422)
    settings.ERASURE_LOG = tmp_path / "missing" / "erased"
    assertContains(
        erase(admin, office.own), "The log of erasures cannot be written.", status_code=422
    )
    assert left() == everything
    assert not AccessLog.objects.filter(action="erase").exists()
    Application.objects.filter(pk=office.own.pk).update(email="", email_folded="")
    assert "nobody can be erased" in messages_of(admin.get(page(office.own, "erase")))[-1]


def test_only_who_may_delete_every_application_erases(office):
    for client in (office.anna, staff("editor", "Editor"), staff("auditor", "Auditor")):
        assertNotContains(client.get(page(office.own)), "Erase this person")
        for method in (client.get, client.post):
            assert method(page(office.own, "erase")).status_code == 403
