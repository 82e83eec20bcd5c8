"""The secret of a personal link is only in the site's own link, whatever people write."""

import pytest
from django.contrib.auth.models import User

from applications.mail.delivery import as_email
from applications.mail.templates import PLACEHOLDERS, email
from applications.models import Application, Message
from applications.operations.emails import send_emails
from tests.applications.submissions.sending import make_field, make_form, make_open_vacancy, send
from tests.conftest import NOW
from tests.factories import make_brand, make_recruiter

pytestmark = pytest.mark.django_db
EVIL = "https://evil.example"
LINKS = f"{EVIL}/account/receipt/personal-link {EVIL}/account/invitation/personal-link"
SITE = "https://jobs.example.org"


def lines_with_the_secret(message):
    return [line for line in as_email(message).body.splitlines() if ":secret" in line]


@pytest.fixture
def application(at, settings):
    """An application with the address of a victim, and the path of a link in every free text."""
    settings.PUBLIC_BASE_URL = SITE
    names = ("given_name", "family_name", "phone")
    fields = [make_field(name, role=name) for name in names] + [make_field("letter", "textarea")]
    sections = [{"title": LINKS, "description": "", "fields": fields}]
    fields.append(make_field("email", "email", required=True, role="email"))
    vacancy = make_open_vacancy(
        make_form(sections),
        title=LINKS,
        brand=make_brand(LINKS),
        head_recruiter=make_recruiter(LINKS),
    )
    values = dict.fromkeys((*names, "letter"), LINKS)
    values |= {"email": "victim@example.org", "privacy_consent": "1"}
    response = send(vacancy, values, source=LINKS)
    assert response.status_code == 201, response.content
    return Application.objects.get()


def test_answers_cannot_get_the_secret(application):
    receipt = Message.objects.get()

    assert receipt.body.count(EVIL) > 5
    own = f"{SITE}/account/receipt/{application.reference}:secret"
    assert lines_with_the_secret(receipt) == [own]
    # a copy of a receipt that somebody has seen does not help for the next one
    application.given_name = receipt.body
    assert lines_with_the_secret(written(application, "{given_name}")) == []


def test_texts_and_placeholders_of_recruiters_cannot_get_the_secret(application):
    body = "\n".join([LINKS, *(f"{{{name}}}" for name in PLACEHOLDERS), EVIL + "{link}"])

    message = written(application, body)

    own = f"{SITE}/account/receipt/{application.reference}:secret"
    assert lines_with_the_secret(message) == [own, EVIL + own]  # the recruiter's own {link}
    assert ":secret" not in message.subject


def written(application, body):
    author = User.objects.get_or_create(username="an")[0]
    made = email("{link}", body, application, language="en", base_url=SITE)
    send_emails([made], author=author, at=NOW)
    return Message.objects.latest("pk")
