"""Colleagues are invited, accept, and forget their password; the list, a user and the access log."""

import re
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.core import mail

from applications.mail.delivery import as_email
from applications.models import AccessLog, Message
from jobsite.accounts import pages, roles
from tests.applications.makers import make_application
from tests.browser.admin import PASSWORD, findings, follow, log_in, make_office, screenshot, visit
from tests.factories import make_brand, make_vacancy

office = pytest.fixture(make_office)
NEW = "correct horse battery"
USERS = "/admin/auth/user/"


@pytest.mark.each_django
def test_colleague_is_invited_and_accepts(live_server: Any, browser_page: Any, office: User) -> None:
    page, site = browser_page, live_server.url
    roles.create()
    make_brand("Beta")  # one brand is preselected
    log_in(page, site)
    visit(page, f"{site}{USERS}")
    follow(page, "link", "Invite a colleague")
    page.get_by_label("E-mail address").fill("noor@example.org")
    page.get_by_label("First name").fill("Noor")
    page.get_by_label("Last name").fill("Peeters")
    page.get_by_role("radio", name=re.compile("^Recruiter")).check()
    screenshot(page, "invite")
    follow(page, "button", "Send the invitation")
    page.get_by_text("Choose at least one brand.").wait_for()
    assert findings(page) == []
    page.get_by_role("group", name="Brands").get_by_role("checkbox", name="Acme").check()
    follow(page, "button", "Send the invitation")
    page.get_by_text("The invitation is sent to noor@example.org.").wait_for()
    page.get_by_text("Email queued, valid until").wait_for()
    with page.expect_navigation():
        page.get_by_role("button", name=re.compile("^Send again.*noor@example.org")).click()
    screenshot(page, "users")
    assert findings(page) == []

    link = re.search(r"/account/invitation/\S+", as_email(Message.objects.get()).body)
    guest = page.context.browser.new_context(viewport={"width": 320, "height": 800}).new_page()
    visit(guest, f"{site}{link and link[0]}")
    guest.get_by_text("Your role: Recruiter. Your brands: Acme.").wait_for()
    for field in guest.get_by_label(re.compile("password", re.IGNORECASE)).all():
        field.fill(NEW)
    screenshot(guest, "invitation")
    with guest.expect_navigation(url="**/admin/"):
        guest.get_by_role("button", name="Accept the invitation").click()
    visit(guest, f"{site}/admin/vacancies/vacancy/")
    guest.get_by_role("heading", name="Vacancies").first.wait_for()
    guest.context.close()
    noor = User.objects.get(username="noor@example.org")
    assert [str(brand) for brand in noor.brands.all()] == ["Acme"]


def test_user_gets_another_role_and_brand(live_server: Any, browser_page: Any, office: User) -> None:
    page, site = browser_page, live_server.url
    roles.create()
    make_brand("Beta")
    noor = User.objects.create_user("noor", "noor@example.org", is_staff=True, first_name="Noor")
    noor.groups.add(Group.objects.get(name="Recruiter"))
    page.emulate_media(color_scheme="dark")
    log_in(page, site)
    page.set_viewport_size({"width": 320, "height": 1000})
    visit(page, f"{site}{USERS}")
    screenshot(page, "users-dark")
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
    visit(page, f"{site}{USERS}{noor.pk}/change/")
    screenshot(page, "user-dark")
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
    page.get_by_role("checkbox", name=re.compile("^Editor")).check()
    page.get_by_role("checkbox", name="Beta").check()
    with page.expect_navigation():
        page.click("[name=_save]")
    assert {group.name for group in noor.groups.all()} == {"Recruiter", "Editor"}
    assert [str(brand) for brand in noor.brands.all()] == ["Beta"]


def test_user_is_deactivated_after_a_confirmation(live_server: Any, browser_page: Any, office: User) -> None:
    page, site = browser_page, live_server.url
    noor = User.objects.create_user("noor", "noor@example.org", is_staff=True, first_name="Noor")
    log_in(page, site)
    visit(page, f"{site}{USERS}")
    page.locator(f"input[name=_selected_action][value='{noor.pk}']").check()
    page.select_option("select[name=action]", label="Deactivate")
    follow(page, "button", "Run")
    page.get_by_role("heading", name="Deactivate 1 user?").wait_for()
    screenshot(page, "deactivate")
    assert findings(page) == []
    follow(page, "button", "Deactivate")
    page.get_by_text("1 user was deactivated.").wait_for()
    assert not User.objects.get(pk=noor.pk).is_active


def test_forgotten_password_leads_back_to_the_admin(
    live_server: Any, browser_page: Any, office: User, monkeypatch: Any
) -> None:
    monkeypatch.setattr(pages, "in_background", lambda work: work())
    User.objects.update(email="anna@example.org")
    page, site = browser_page, live_server.url
    visit(page, f"{site}/admin/")
    screenshot(page, "sign-in")
    follow(page, "link", "Forgot password?")
    page.get_by_label("Email").fill("anna@example.org")
    follow(page, "button", "Send me a link")
    page.get_by_role("heading", name="Check your inbox").wait_for()
    link = re.search(r"/account/reset/\S+", str(mail.outbox[0].body))
    visit(page, f"{site}{link and link[0]}")
    for field in page.get_by_label(re.compile("password", re.IGNORECASE)).all():
        field.fill(NEW)
    follow(page, "button", "Save")
    page.fill("#id_username", "anna")
    page.fill("#id_password", NEW)
    with page.expect_navigation(url="**/admin/"):
        page.press("#id_password", "Enter")
    assert NEW != PASSWORD


def test_access_log_leads_to_people_and_applications(
    live_server: Any, browser_page: Any, office: User
) -> None:
    page, site = browser_page, live_server.url
    vacancy = make_vacancy(title="Nurse")
    jan = make_application(vacancy=vacancy, user=None, given_name="Jan", family_name="Peeters")
    mia = make_application(vacancy=vacancy, user=None, given_name="Mia", family_name="Maes")
    for row in (jan, jan, mia):
        AccessLog.objects.create(actor=office, application=row.pk, action="view")
    AccessLog.objects.create(application=jan.pk + 99, action="export")
    page.emulate_media(color_scheme="dark")
    log_in(page, site)
    page.set_viewport_size({"width": 320, "height": 1000})
    visit(page, f"{site}/admin/applications/accesslog/")
    page.get_by_role("link", name="Mia Maes: Nurse").wait_for()
    page.get_by_text(f"Application {jan.pk + 99}").wait_for()
    screenshot(page, "access-log-dark")
    visit(page, f"{site}/admin/applications/application/{jan.pk}/change/")
    with page.expect_navigation():
        page.locator(".panel-bar").get_by_role("link", name="Access log").click()
    page.get_by_role("link", name="Jan Peeters: Nurse").first.wait_for()
    assert page.get_by_role("link", name="Mia Maes: Nurse").count() == 0
