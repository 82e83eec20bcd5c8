"""Asking for the talent pool in the admin, and what colleagues see of it."""

import pytest

from applications.admin.candidates import pool
from applications.models import AccessLog, Message
from applications.operations import join_pool
from applications.operations.pool import ask_for_pool
from tests.applications.admin.conftest import apply, staff
from tests.messages import messages_of

pytestmark = pytest.mark.django_db
LIST = "/admin/applications/application/"


def page(application, name="change"):
    return f"{LIST}{application.pk}/{name}/"


def post_action(client, *applications, **values):
    pks = [each.pk for each in applications]
    return client.post(LIST, {"action": "ask_for_pool", "_selected_action": pks, **values})


@pytest.mark.slow("opens many pages")
def test_one_applicant_is_asked(office):
    url = page(office.own, "pool")
    assert url in office.anna.get(page(office.own)).content.decode()
    shown = office.anna.get(url).content.decode()
    assert "May we keep your data for other vacancies?" in shown
    assert not Message.objects.exists()

    response = office.anna.post(url)

    assert (response["Location"], messages_of(response)) == (
        page(office.own),
        ["1 applicant is asked."],
    )
    assert Message.objects.get().kind == "pool"
    assert AccessLog.objects.filter(action="change", application=office.own.pk).count() == 1
    again = office.anna.get(url).content.decode()
    assert "1 applicant is not asked" in again
    assert 'type="submit">' not in again.split('class="panel-form"')[1]
    assert messages_of(office.anna.post(url)) == ["0 applicants are asked.", "1 is not asked."]
    for name in ("change", "candidate"):
        shown = office.anna.get(page(office.own, name)).content.decode()
        assert "Asked for the talent pool on 2 Mar 2026." in shown
    assert office.anna.get(page(office.foreign, "pool")).status_code == 404
    assert staff("auditor", "Auditor").post(url).status_code == 403


def test_selection_is_asked_after_a_confirmation(office, monkeypatch):
    without = apply(office.own.vacancy, "Jan", "")
    shown = post_action(office.anna, office.own, without, office.foreign)
    assert [each.pk for each in shown.context["asked"]] == [office.own.pk]
    assert [(each.pk, reason) for each, reason in shown.context["left_out"]] == [
        (without.pk, "Without an e-mail address")
    ]
    assert not Message.objects.exists()

    done = post_action(office.anna, office.own, without, confirmed="1")
    assert messages_of(done) == ["1 applicant is asked.", "1 is not asked."]

    monkeypatch.setattr(pool, "MAX_ASKED", 1)
    many = post_action(office.anna, office.own, without)
    assert messages_of(many)[-1].startswith("Nobody was asked. Choose at most 1 ")


def test_list_filters_by_the_talent_pool(office, at):
    joined = apply(office.own.vacancy, "Jo", "jo@example.org")
    ask_for_pool([office.own.pk, joined.pk], at=at)
    join_pool(application=joined, at=at)
    for value, expected in (("in", [joined.pk]), ("asked", [office.own.pk])):
        rows = office.anna.get(LIST, {"pool": value}).context["cl"].result_list
        assert [each.pk for each in rows] == expected
