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


def erase(client, opened, **changed):
    """Send the form with its ticks, but what is `changed`."""
    url = page(opened, "erase")
    shown = client.get(url).context
    data = {
        "seen": shown["listed"].seen,
        "application": sorted(shown["ticked"].applications),
        "account": sorted(shown["ticked"].accounts),
        "confirmed": "1",
    } | changed
    return client.post(url, {name: value for name, value in data.items() if value})


def left():
    return set(Application.objects.values_list("pk", flat=True))


def likely(shown):
    return {each.application.pk: each.signs for each in shown.context["listed"].likely}


@pytest.mark.slow("opens many pages")
def test_person_without_an_account_is_erased(office, admin, settings, tmp_path):
    settings.ERASURE_LOG = tmp_path / "erased"
    Application.objects.update(given_name="Mia")
    elsewhere = office.foreign  # from the same address, to another brand
    others = {apply(office.own.vacancy, "Jan", "jan@example.org").pk}
    assertContains(admin.get(page(office.own)), page(office.own, "erase"))
    asked = admin.get(page(office.own, "erase"))
    assert asked.context["ticked"].applications == {office.own.pk, elsewhere.pk}
    assertContains(asked, "Nobody has proved that this e-mail address is theirs")

    for changed, error in (
        ({"confirmed": ""}, "Tick the box"),
        ({"seen": ""}, "Other applications were added"),
        ({"application": [*others, "x", 0]}, "Tick at least one"),
    ):
        assertContains(erase(admin, office.own, **changed), error, status_code=422)
        assert left() == {office.own.pk, elsewhere.pk, *others}
    done = messages_of(erase(admin, office.own))[-1]
    assert done.startswith("Erased. Applications: 2, files: 0, ")
    assert left() == others
    erased = AccessLog.objects.filter(action="erase").values_list("actor__username", "application")
    assert set(erased) == {("admin", office.own.pk), ("admin", elsewhere.pk)}
    assert len((tmp_path / "erased").read_text().split()) == 3


def test_what_is_only_likely_theirs_is_erased_if_it_is_ticked(office, admin):
    Application.objects.filter(pk=office.own.pk).update(family_name="Maes", phone="0470 12 34 56")
    Application.objects.filter(pk=office.foreign.pk).update(family_name="Smets")
    vacancy = office.own.vacancy
    brother = apply(vacancy, "Jan", family_name="Smets")  # the same mailbox
    phone = apply(vacancy, "Mia", "x@example.org", phone_digits="470123456")
    names = apply(vacancy, "Mia", "y@example.org", family_name="MAES")
    joined = apply(vacancy, "Maria", "maria@example.org", phone="0499 12 34 56")
    joined_phone = apply(vacancy, "M.", "z@example.org", phone_digits="499123456")
    Application.objects.filter(pk__in=(office.own.pk, joined.pk)).update(person=office.own.pk)

    asked = admin.get(page(office.own, "erase"))
    assert asked.context["ticked"].applications == {office.own.pk, joined.pk}
    assert likely(asked) == {
        office.foreign.pk: ["same e-mail address"],
        brother.pk: ["same e-mail address"],
        phone.pk: ["same telephone number"],
        names.pk: ["same name"],
        joined_phone.pk: ["same telephone number"],
    }
    viewed = AccessLog.objects.filter(action="view").values_list("application", flat=True)
    assert set(viewed) == left()
    again = erase(admin, office.own, application=[phone.pk], confirmed="")
    assert again.context["ticked"].applications == {phone.pk}  # as posted

    kept = left() - {office.own.pk, phone.pk}
    erase(admin, office.own, application=[office.own.pk, phone.pk])
    assert left() == kept


def test_address_of_an_account_is_certain_only_if_it_is_proven(office, admin, at):
    mia = make_user("mia", email="mia@example.org")
    mine = make_application(user=mia, vacancy=office.own.vacancy, email="mia@example.org")
    Application.objects.update(email_folded="mia@example.org", given_name="Mia")
    asked = admin.get(page(mine, "erase"))
    assert asked.context["ticked"].accounts == {mia.pk}
    assert likely(asked).keys() == {office.own.pk, office.foreign.pk}
    Application.objects.filter(pk=mine.pk).update(verified_at=at)
    assert not likely(admin.get(page(mine, "erase")))
    Application.objects.filter(pk=mine.pk).update(verified_at=None)

    whole = "An account is erased with all of its applications"
    assertContains(erase(admin, mine, application=[office.own.pk]), whole, status_code=422)
    assert "accounts: 1" in messages_of(erase(admin, mine))[-1]
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
    settings.ERASURE_LOG = ""
    erase(admin, mine, account="")
    assert User.objects.filter(pk=mia.pk).exists()
    assert left() == everything - {mine.pk}


def test_application_without_an_address_is_erased_alone(office, admin):
    Application.objects.filter(pk=office.own.pk).update(email="", email_folded="")
    erase(admin, office.own)
    assert left() == {office.foreign.pk}


@pytest.mark.slow("opens many pages")
def test_only_who_may_delete_every_application_erases(office):
    for client in (office.anna, staff("editor", "Editor"), staff("auditor", "Auditor")):
        assertNotContains(client.get(page(office.own)), "Erase this person")
        for method in (client.get, client.post):
            assert method(page(office.own, "erase")).status_code == 403
