"""The receipt lists what was stored."""

import pytest

from applications.mail.receipt import queue_receipt, queue_withdrawal
from tests.applications.applicants import make_anonymous
from tests.applications.makers import make_application, make_file, make_submission
from tests.conftest import NOW
from tests.factories import make_vacancy

pytestmark = pytest.mark.django_db
SITE = "https://jobs.example.org"


@pytest.fixture
def application(at):
    application = make_application(
        user=None,
        vacancy=make_vacancy(title="Baker"),
        email="mia@example.org",
        reference="7K3QX9WD",
        language="en",
        created_at=NOW,
    )
    values = {
        "first_name": "Mia",
        "email": "mia@example.org",
        "experience": "yes",
        "where": "Here.\n\nThere.",
        "cv": "cv.pdf",
        "privacy_consent": "1",
    }
    make_file(make_submission(application, values), size=123_456)
    return application


def test_receipt_lists_what_was_stored(application):
    message = queue_receipt(application=application, base_url=SITE, at=NOW)

    assert (message.kind, message.to, message.language, message.application) == (
        "receipt",
        "mia@example.org",
        "en",
        application,
    )
    assert message.subject == "We received your application: Baker"
    assert message.text == (
        "Hello,\n\nWe received your application. Thank you.\n\n"
        "Vacancy: Baker\nEmployer: Acme\nReference: 7K3QX9WD\nReceived: 2 Mar 2026, 09:30\n\n"
        "Open this link to see your application, to follow it or to withdraw it:\n"
        "https://jobs.example.org/account/receipt/personal-link\n"
        "The link is personal and valid for 30 days. Do not forward it.\n\n"
        "If you did not apply, somebody entered your address by mistake. You need not do "
        "anything.\n\n"
        "This is what we stored:\n\n"
        "Personal data\n  First name: Mia\n  E-mail address: mia@example.org\n\n"
        "  Do you have experience? Yes, I have\n"
        "  Where?\n    Here.\n\n    There.\n"
        "  Your CV: cv.pdf (120.6\xa0KB)\n"
        "  I agree. Yes"
    )


def test_receipt_of_a_repeated_application_in_another_language(application, settings):
    settings.PUBLIC_BASE_URL = "https://public.example.org"
    make_anonymous(application.email, vacancy=application.vacancy)
    application.vacancy.brand = None
    body = queue_receipt(application=application, at=NOW).text
    assert "You have applied for this vacancy before." in body
    assert "Employer" not in body
    assert "\nhttps://public.example.org/account/receipt/personal-link\n" in body

    application.language = "fr"
    message = queue_receipt(application=application, at=NOW)
    assert (message.language, "2 mars 2026" in message.body) == ("fr", True)


def test_withdrawal_names_the_application(application):
    application.withdrawn_at = NOW

    message = queue_withdrawal(application=application, base_url=SITE, at=NOW)
    assert (message.kind, message.to) == ("withdrawal", "mia@example.org")
    assert message.subject == "You withdrew your application: Baker"
    assert message.body == (
        "Hello,\n\nYou withdrew this application. We do not consider it any further.\n\n"
        "Vacancy: Baker\nEmployer: Acme\nReference: 7K3QX9WD\nReceived: 2 Mar 2026, 09:30\n"
        "Withdrawn: 2 Mar 2026, 09:30\n\n"
        "If you did not do this, please contact us."
    )
