"""The pages of emails, of templates and of the daily digest."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from applications.mail.delivery import ABANDONED
from applications.mail.receipt import queue_receipt
from applications.models import EmailLanguage, EmailOptOut, MailTemplate, Message
from tests.applications.makers import make_application, make_submission
from tests.browser.accessibility import all_findings
from tests.browser.admin import findings, follow, log_in, make_office, screenshot, visit
from tests.factories import make_vacancy


@pytest.fixture
def office(filters: Any, settings: Any) -> User:
    """A superuser with an email that failed, one that waits, and a template."""
    user = make_office(filters, settings)
    User.objects.update(email="anna@example.org")
    vacancy = make_vacancy(title="Baker")
    for number in range(2):
        reference = f"7K3QX9W{number}"
        application = make_application(vacancy=vacancy, email="mia@example.org", reference=reference)
        make_submission(application, {"first_name": "Mia", "experience": "no", "privacy_consent": "1"})
        queue_receipt(application=application, at=timezone.now())
    first = Message.objects.order_by("pk")[0]
    Message.objects.filter(pk=first.pk).update(state="failed", error=ABANDONED, attempts=1)
    MailTemplate.objects.create(
        name="Invitation",
        subject_en="Come and see us",
        body_en="Dear {given_name},\n\nCome!",
        subject_nl="Kom langs",
        body_nl="Dag {given_name},\n\nKom langs voor {vacancy}.",
    )
    return user


def test_recruiter_sends_a_failed_email_again(live_server: Any, browser_page: Any, office: User) -> None:
    page, site = browser_page, live_server.url
    log_in(page, site)
    visit(page, f"{site}/admin/applications/message/")
    screenshot(page, "emails")
    page.get_by_role("link", name="We received your application: Baker").last.click()
    page.get_by_text("This is what we stored:").wait_for()
    screenshot(page, "email")
    assert findings(page) == []
    assert page.get_by_text("personal-link").count() == 1

    visit(page, f"{site}/admin/applications/message/")
    page.locator("input.action-select").last.check()
    page.locator("select[name=action]").select_option("send_again")
    with page.expect_navigation():
        page.get_by_role("button", name="Run").click()
    screenshot(page, "send-again")
    assert findings(page) == []
    follow(page, "button", "Send again")
    page.get_by_text("1 email is queued again.").wait_for()
    assert set(Message.objects.values_list("state", flat=True)) == {"queued"}


def test_user_chooses_the_emails(live_server: Any, browser_page: Any, office: User) -> None:
    page, site = browser_page, live_server.url
    log_in(page, site)
    visit(page, f"{site}/admin/applications/message/")
    page.locator("a", has_text="My emails").last.click()
    page.get_by_label("Daily digest").uncheck()
    page.get_by_label("Language of these emails").select_option("nl")
    page.set_viewport_size({"width": 320, "height": 900})
    screenshot(page, "my-emails")
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
    follow(page, "button", "Save")
    page.get_by_text("Your choice was saved.").wait_for()
    assert [(row.user, row.kind) for row in EmailOptOut.objects.all()] == [(office, "digest")]
    assert EmailLanguage.objects.get().language == "nl"


def test_template_has_a_preview(live_server: Any, browser_page: Any, office: User) -> None:
    page, site = browser_page, live_server.url
    log_in(page, site)
    pk = MailTemplate.objects.get(name="Invitation").pk
    visit(page, f"{site}/admin/applications/mailtemplate/{pk}/change/")
    page.get_by_text("Dag Mia,").wait_for()
    screenshot(page, "template")
    assert all_findings(page) == []
