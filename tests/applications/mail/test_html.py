"""The HTML of emails to applicants: the brand, links, and what applicants wrote."""

import pytest
from django.utils import timezone

from applications.mail.delivery import as_email
from applications.mail.outbox import Email, queue
from applications.models import Application, Message
from tests.applications.makers import make_application
from tests.factories import make_brand, make_vacancy

pytestmark = pytest.mark.django_db


@pytest.fixture
def application():
    logo = "https://acme.test/logo.png"
    brand = make_brand("Acme <NV>", accent="#224466", icon_large_url=logo)
    return make_application(vacancy=make_vacancy(brand=brand))


def sent(application: Application, body: str, **values: object) -> Message:
    row = {"to": "mia@example.org", "language": "nl", "subject": "Hi <b>", "body": body}
    email = Email(kind=Message.Kind.TEMPLATE, application=application, **row | values)
    return queue(email, at=timezone.now())


def test_email_to_an_applicant_has_the_logo_and_the_color_of_the_brand(application):
    email = as_email(sent(application, "Dag <Mia>,\n\nzie https://acme.test/a?b=1&c=2."))
    ((html, kind),) = email.alternatives
    assert (kind, '<html lang="nl">' in html, email.body[:10]) == ("text/html", True, "Dag <Mia>,")
    for part in (
        "Acme &lt;NV&gt;",
        'src="https://acme.test/logo.png"',
        "background: #224466",
        "Dag &lt;Mia&gt;,",
        '<a href="https://acme.test/a?b=1&amp;c=2" style="color: inherit;">'
        "https://acme.test/a?b=1&amp;c=2</a>.",
    ):
        assert part in html, part
    assert "<b>" not in html
    assert "Hi &lt;b&gt;" in html


def test_what_an_applicant_entered_is_no_link(application):
    """A receipt goes to an address that anybody can enter."""
    ((html, _kind),) = as_email(sent(application, "Hello,\n  http://evil.test\n")).alternatives
    assert ("http://evil.test" in html, 'href="http://evil.test' in html) == (True, False)


def test_emails_to_colleagues_are_text(application, django_user_model):
    anna = django_user_model.objects.create_user("anna")
    assert not as_email(sent(application, "Hello", recipient=anna)).alternatives


def test_invitation_has_the_text_the_html_and_the_calendar(application):
    calendar = "BEGIN:VCALENDAR\r\nMETHOD:REQUEST\r\nEND:VCALENDAR\r\n"
    mail = as_email(sent(application, "Hello", calendar=calendar)).message()
    assert [part.get_content_type() for part in mail.walk()] == [
        "multipart/mixed",
        "multipart/alternative",
        "text/plain",
        "text/html",
        "text/calendar",
        "application/ics",
    ]
