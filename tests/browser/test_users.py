"""A colleague is invited and accepts."""

import re
from typing import Any

import pytest
from django.contrib.auth.models import User

from applications.mail.delivery import as_email
from applications.models import Message
from jobsite.accounts import roles
from tests.browser.admin import findings, follow, log_in, make_office, visit
from tests.factories import make_brand

office = pytest.fixture(make_office)
NEW = "correct horse battery"
USERS = "/admin/auth/user/"


@pytest.mark.each_django
def test_colleague_is_invited_and_accepts(
    live_server: Any, browser_page: Any, office: User
) -> None:
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
    follow(page, "button", "Send the invitation")
    page.get_by_text("Choose at least one brand.").wait_for()
    assert findings(page) == []
    page.get_by_role("group", name="Brands").get_by_role("checkbox", name="Acme").check()
    follow(page, "button", "Send the invitation")
    page.get_by_text("The invitation is sent to noor@example.org.").wait_for()
    page.get_by_text("Email queued, valid until").wait_for()
    with page.expect_navigation():
        page.get_by_role("button", name=re.compile("^Send again.*noor@example.org")).click()
    assert findings(page) == []

    link = re.search(r"/account/invitation/\S+", as_email(Message.objects.get()).body)
    guest = page.context.browser.new_context(viewport={"width": 320, "height": 800}).new_page()
    visit(guest, f"{site}{link and link[0]}")
    guest.get_by_text("Your role: Recruiter. Your brands: Acme.").wait_for()
    for field in guest.get_by_label(re.compile("password", re.IGNORECASE)).all():
        field.fill(NEW)
    with guest.expect_navigation(url="**/admin/"):
        guest.get_by_role("button", name="Accept the invitation").click()
    visit(guest, f"{site}/admin/vacancies/vacancy/")
    guest.get_by_role("heading", name="Vacancies").first.wait_for()
    guest.context.close()
    noor = User.objects.get(username="noor@example.org")
    assert [str(brand) for brand in noor.brands.all()] == ["Acme"]
