"""The sender, the signature and the privacy statement of a brand, in emails to applicants."""

import pytest

from applications.checks import senders_are_allowed
from applications.mail.receipt import queue_receipt, queue_withdrawal
from applications.mail.templates import fill
from applications.models import BrandMail, Message
from forms_structure.models import ConsentText
from tests.applications.mail.conftest import put, work
from tests.applications.makers import make_application, make_submission, make_user
from tests.conftest import NOW
from tests.factories import make_brand, make_vacancy
from vacancies.models import Brand

pytestmark = pytest.mark.django_db
SITE = {"from": "Jobs <jobs@example.com>", "reply-to": None}
GLOBEX = {"from": '"Globex, Jobs" <work@globex.test>', "reply-to": "hr@globex.test"}


@pytest.fixture
def mail(settings):
    """What the emails of the brand Globex have."""
    settings.DEFAULT_FROM_EMAIL, settings.SENDER_DOMAINS = (
        "Jobs <jobs@example.com>",
        ["globex.test"],
    )
    return BrandMail.objects.create(
        brand=make_brand("Globex"),
        sender_name="Globex, Jobs",
        sender_address="work@globex.test",
        reply_to="hr@globex.test",
        signature_en="Globex\nwww.globex.test",
        signature_nl="Globex NV",
    )


def apply(brand, **values):
    values = {"email": "mia@example.org", "reference": None} | values
    application = make_application(user=None, vacancy=make_vacancy(brand=brand), **values)
    make_submission(application, {"first_name": "Mia"})
    return application


def sent(server, count=1):
    """Return the headers of the last emails."""
    return [{name: email[name] for name in SITE} for email in server.accepted[-count:]]


def test_emails_to_applicants_have_the_sender_of_their_brand(mail_server, mail, delivery, clock):
    anna = make_user("anna", email="anna@example.org", is_staff=True, is_superuser=True)
    own, other = apply(mail.brand), apply(make_brand("Acme"))
    for application in (own, other):
        queue_receipt(application=application, at=NOW)
        put(application=application, kind=Message.Kind.TEMPLATE, author=anna)
        put(application=application, kind=Message.Kind.MENTION, recipient=anna)  # to a colleague
    mail.delete()  # what was written before is sent as it was written
    Brand.objects.filter(pk=mail.brand_id).update(name="Gone")

    assert work(delivery, clock) == ["sent"] * 6
    assert sent(mail_server, 6) == [
        GLOBEX,
        GLOBEX | {"reply-to": "anna@example.org"},
        SITE,
        SITE,
        SITE | {"reply-to": "anna@example.org"},
        SITE,
    ]


def test_sender_is_one_line_of_an_allowed_domain(mail_server, mail, delivery, clock, settings):
    application, found = apply(mail.brand), []
    for values in (
        {"sender_name": "", "sender_address": "work@globex.test"},
        {"sender_name": 'Müller "M"\r\nBcc: eve@evil.test', "sender_address": ""},
        {"sender_name": "Globex", "sender_address": "work@evil.test"},
        {"sender_name": "Globex", "sender_address": "work@MÜLLER.test"},
        {"sender_name": "", "sender_address": ""},
        {"sender_name": "x" * 80, "sender_address": f"{'a' * 187}@globex.test"},
    ):
        settings.SENDER_DOMAINS = ["globex.test", "xn--mller-kva.test"]
        BrandMail.objects.update(**values)
        application.vacancy.brand.refresh_from_db()
        put(application=application, kind=Message.Kind.TEMPLATE)
        assert work(delivery, clock) == ["sent"], values
        found.append(mail_server.accepted[-1]["From"])
    assert found == [
        "Globex <work@globex.test>",
        "\"Müller 'M' Bcc: eve@evil.test\" <jobs@example.com>",
        "Globex <jobs@example.com>",
        "Globex <work@xn--mller-kva.test>",
        "Jobs <jobs@example.com>",
        f"{'x' * 80} <{'a' * 187}@globex.test>",
    ]
    assert all(email["Bcc"] is None for email in mail_server.accepted)


def test_receipts_end_with_the_signature(mail):
    end = "\n\nGlobex\nwww.globex.test"
    for language, ending in (("en", end), ("nl", "\n\nGlobex NV"), ("de", end)):
        application = apply(mail.brand, language=language)
        for make in (queue_receipt, queue_withdrawal):
            assert make(application=application, at=NOW).body.endswith(ending), (make, language)


def test_placeholders_are_those_of_the_brand(mail):
    for brand, language in ((None, "en"), (mail.brand, "en"), (mail.brand, "nl")):
        url = f"https://{language}.{brand.name if brand else 'site'}.test"
        texts = {"text": "Yes", "statement_url": url}
        ConsentText.objects.add(brand_number=brand and brand.pk, language=language, **texts)
    text = "{signature}|{privacy}"

    assert fill(text, apply(mail.brand)) == "Globex\nwww.globex.test|https://en.Globex.test"
    assert fill(text, apply(make_brand("Acme"))) == "|https://en.site.test"
    assert fill("{signature}", apply(make_brand("{privacy}"))) == ""
    mail.signature_en = "{privacy}"
    mail.save()
    # No text of ours.
    assert fill(text, apply(Brand.objects.get(name="Globex"))).startswith("{privacy}|")


def test_sender_that_may_not_send_any_more_is_a_warning(mail, settings):
    assert senders_are_allowed() == []
    settings.SENDER_DOMAINS = ["globe.test"]
    [warning] = senders_are_allowed()
    assert (warning.id, warning.msg) == (
        "jobsite.W034",
        "The emails of Globex are sent from jobs@example.com: work@globex.test is of no domain of "
        "SENDER_DOMAINS.",
    )
    assert warning.hint == "Allowed: example.com, globe.test."
