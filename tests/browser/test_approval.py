"""Two people publish a vacancy, and a recruiter starts from a template."""

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
    screenshot,
    served,
    visit,
)
from tests.factories import make_brand, make_vacancy
from vacancies.models import Approval, Vacancy, VacancyTemplate

office = pytest.fixture(make_office)


def make_colleague(name: str, role: str, brand: Any) -> User:
    user = User.objects.create_user(name, password=PASSWORD, is_staff=True, first_name=name.title())
    user.groups.add(Group.objects.get(name=role))
    user.brands.add(brand)
    return user


def check(page: Any, name: str) -> None:
    """Look at the page on a wide and on a narrow screen."""
    screenshot(page, name)
    assert findings(page) == []
    page.set_viewport_size({"width": 320, "height": 900})
    screenshot(page, f"{name}-phone")
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
    check(page, "submit")
    follow(page, "button", "Submit for approval")
    page.get_by_role("heading", name="Waiting for approval").wait_for()
    check(page, "waiting")
    assert served(page, site) == []

    log_in(leas, site, "lea")
    visit(leas, f"{site}{ADMIN}?attention=approval")
    follow(leas, "link", "Nurse")
    follow(leas, "link", "Open the request")
    check(leas, "request")
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
    screenshot(leas, "request-change")
    follow(leas, "button", "Approve the change")
    assert [each["title"] for each in served(page, site)] == ["Head nurse"]
    visit(page, f"{site}{ADMIN}{nurse.pk}/history/")
    assert page.get_by_text("Approved by Lea on").count() == 2
    check(page, "approval-history")
    assert Approval.objects.count() == 3
    leas.context.close()


def test_recruiter_starts_from_a_template(live_server: Any, browser_page: Any, office: User) -> None:
    page, site = browser_page, live_server.url
    page.emulate_media(color_scheme="dark")
    nurse = make_vacancy(title="Nurse", location="Ghent", options={"regions": ["Ghent", "Namur"]})
    log_in(page, site)
    visit(page, f"{site}{ADMIN}{nurse.pk}/change/")
    follow(page, "link", "Save as template…")
    page.get_by_label("Name").fill("Care")
    check(page, "save-as-template")
    follow(page, "button", "Save as template")
    check(page, "templates")
    follow(page, "link", "Care")
    check(page, "template")

    visit(page, f"{site}{ADMIN}add/")
    page.get_by_text("Start from a template").click()
    check(page, "start-from-template")
    follow(page, "link", "Care")
    assert page.input_value("#id_title") == "Nurse"
    check(page, "from-template")
    assert Vacancy.objects.count() == 1
    page.fill("#id_title", "Night nurse")
    save(page)
    made = Vacancy.objects.latest("pk")
    assert (made.title, made.location, made.status) == ("Night nurse", "Ghent", "draft")
    assert sorted(option.label for option in made.options.all()) == ["Ghent", "Namur"]

    visit(page, f"{site}{ADMIN}add/?template={VacancyTemplate.objects.get().pk}&edit=1")
    page.fill("#id_title", "Carer")
    save(page, "_save")
    page.get_by_text("The template “Care” was saved.").wait_for()
    assert (VacancyTemplate.objects.get().content["title"], Vacancy.objects.count()) == ("Carer", 2)
