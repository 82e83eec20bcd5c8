"""Two people publish a vacancy."""

from typing import Any

import pytest
from django.contrib.auth.models import Group, User

from jobsite.accounts import roles
from tests.browser.admin import (
    ADMIN,
    PASSWORD,
    findings,
    follow,
    log_in,
    make_office,
    save,
    served,
    visit,
)
from tests.factories import make_brand, make_vacancy
from vacancies.models import Approval, Vacancy

office = pytest.fixture(make_office)


def make_colleague(name: str, role: str, brand: Any) -> User:
    user = User.objects.create_user(name, password=PASSWORD, is_staff=True, first_name=name.title())
    user.groups.add(Group.objects.get(name=role))
    user.brands.add(brand)
    return user


def check(page: Any) -> None:
    """Look at the page on a wide and on a narrow screen."""
    assert findings(page) == []
    page.set_viewport_size({"width": 320, "height": 900})
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
    page.set_viewport_size({"width": 1400, "height": 1000})


def test_two_people_publish_a_vacancy(live_server: Any, browser_page: Any, office: User) -> None:
    roles.create()
    page, site = browser_page, live_server.url
    strict = make_brand("Strict", requires_approval=True)
    make_colleague("ed", "Recruiter", strict)
    make_colleague("lea", "Approver", strict)
    nurse = make_vacancy(title="Nurse", brand=strict, status="draft", publish_from=None)
    change = f"{site}{ADMIN}{nurse.pk}/change/"
    leas = page.context.browser.new_context(
        viewport={"width": 1400, "height": 1000}, color_scheme="dark"
    ).new_page()
    leas.set_default_timeout(30_000)

    log_in(page, site, "ed")
    visit(page, change)
    assert page.get_by_role("link", name="Publish now").count() == 0
    follow(page, "link", "Submit for approval…")
    page.get_by_label("Note for the approver").fill("Please read before Monday.")
    check(page)
    follow(page, "button", "Submit for approval")
    page.get_by_role("heading", name="Waiting for approval").wait_for()
    check(page)
    assert served(page, site) == []

    log_in(leas, site, "lea")
    visit(leas, f"{site}{ADMIN}?attention=approval")
    follow(leas, "link", "Nurse")
    follow(leas, "link", "Open the request")
    check(leas)
    leas.get_by_label("Note", exact=True).fill("Name the shifts.")
    follow(leas, "button", "Send back")
    assert served(page, site) == []

    visit(page, change)
    page.get_by_text("Name the shifts.").wait_for()
    follow(page, "link", "Submit for approval…")
    follow(page, "button", "Submit for approval")
    visit(leas, f"{site}{ADMIN}{nurse.pk}/approval/")
    follow(leas, "button", "Approve and publish")
    assert [each["title"] for each in served(page, site)] == ["Nurse"]

    # A change of the public vacancy waits.
    visit(page, change)
    page.fill("#id_title", "Head nurse")
    save(page)
    assert Vacancy.objects.get().title == "Nurse"
    visit(leas, f"{site}{ADMIN}{nurse.pk}/approval/")
    follow(leas, "button", "Approve the change")
    assert [each["title"] for each in served(page, site)] == ["Head nurse"]
    visit(page, f"{site}{ADMIN}{nurse.pk}/history/")
    assert page.get_by_text("Approved by Lea on").count() == 2
    check(page)
    assert Approval.objects.count() == 3
    leas.context.close()
