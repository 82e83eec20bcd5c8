"""The page "Emails and consent" of a brand."""

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Permission, User

from applications.models import BrandMail
from forms_structure.models import ConsentText
from tests.applications.makers import signed_in
from tests.factories import make_brand

pytestmark = pytest.mark.django_db
TEXTS = {
    "text": "I agree with Acme.",
    "statement_url": "https://acme.test/privacy",
    "statement_label": "More",
}


@pytest.fixture
def brand():
    return make_brand("Acme")


def make_client(name, *codenames, brand):
    user = User.objects.create_user(name, is_staff=True)
    user.user_permissions.add(*Permission.objects.filter(codename__in=codenames))
    user.brands.add(brand)
    return signed_in(user)


@pytest.fixture
def client(brand):
    return make_client("an", "view_brand", "change_brand", "view_consenttext", brand=brand)


def url(brand):
    return f"/admin/vacancies/brand/{brand.pk}/emails/"


def fields(response):
    """Return the values that a browser would post."""
    page = response.context
    parts = [field for each in page["languages"] for field in (*each["fields"], *each["versions"])]
    shown = (*page["sender"], *page["rejection"], *parts)
    values = {field.html_name: field.value() for field in shown}
    return {name: "" if value is None else value for name, value in values.items()}


def errors(response):
    """Return the errors by the name of their field."""
    shown = [
        *response.context["sender"],
        *(f for each in response.context["languages"] for f in each["fields"]),
    ]
    return {field.html_name: list(field.errors) for field in shown if field.errors}


def of(language, **texts):
    return {f"{language}-{name}": value for name, value in (TEXTS | texts).items()}


def served(brand):
    """Return the texts of the brand in English and Dutch."""
    return [ConsentText.objects.current(code, brand.pk).text for code in ("en", "nl")]


def test_page_saves_senders_signatures_and_texts(client, brand, settings):
    settings.SENDER_DOMAINS = ["acme.test"]
    ConsentText.objects.add(language="en", text="I agree.")
    shown = client.get(url(brand))
    assert "If empty: “I agree.”" in shown.content.decode()
    mail = {
        "sender_name": "Acme Jobs",
        "sender_address": "jobs@acme.test",
        "signature_nl": "Acme NV",
    }

    client.post(url(brand), fields(shown) | mail | of("en"))

    assert BrandMail.objects.values(*mail).get() == mail
    assert BrandMail.objects.get().has_rejection_email
    assert served(brand) == ["I agree with Acme."] * 2
    shown = client.get(url(brand))
    assert "They come from &quot;Acme Jobs&quot; &lt;jobs@acme.test&gt;." in shown.content.decode()
    assert [each["is_open"] for each in shown.context["languages"]] == [True, True, False, False]
    log = LogEntry.objects.get()
    assert (log.object_id, log.get_change_message()) == (
        str(brand.pk),
        "Changed Name of the sender, Address of the sender and Signature in Dutch. Added consent "
        "text “English, version 3”.",
    )

    client.post(url(brand), fields(shown))  # nothing is changed
    assert (LogEntry.objects.count(), ConsentText.objects.count()) == (1, 2)
    client.post(url(brand), fields(shown) | of("nl", text="Akkoord met Acme."))
    assert served(brand) == ["I agree with Acme.", "Akkoord met Acme."]
    nothing = dict.fromkeys(TEXTS, "")
    client.post(
        url(brand), fields(client.get(url(brand))) | of("en", **nothing) | of("nl", **nothing)
    )
    assert served(brand) == ["I agree."] * 2  # the texts of the site
    assert fields(client.get(url(brand)))["en-text"] == ""


@pytest.mark.slow("opens several pages of the admin")
def test_invalid_input_is_refused_at_its_field(client, brand):
    ConsentText.objects.add(brand_number=brand.pk, language="en", **TEXTS)
    before = fields(client.get(url(brand)))
    nothing = of("en", **dict.fromkeys(TEXTS, ""))
    for posted, field, part in (
        ({"sender_name": "Acme\r\nBcc: eve@evil.test"}, "sender_name", "Enter one line"),
        ({"sender_name": "Acme\x00"}, "sender_name", "Null characters are not allowed"),
        ({"sender_name": "x" * 81}, "sender_name", "at most 80 characters"),
        (
            {"sender_address": "jobs@acme.test"},
            "sender_address",
            "Enter an address of localhost, or ask",
        ),
        ({"sender_address": "jobs"}, "sender_address", "Enter a valid email address"),
        ({"signature_en": "{recruiter}"}, "signature_en", "{recruiter} would be sent as it is"),
        ({"en-text": ""}, "en-text", "or leave all three fields empty"),
        ({"en-statement_url": "javascript:alert(1)"}, "en-statement_url", "Enter a valid URL"),
        (nothing | of("nl"), "en-text", "Enter it in English too"),
    ):
        response = client.post(url(brand), before | posted)
        found = errors(response)
        assert (response.status_code, [*found], part in str(found)) == (422, [field], True), (
            posted,
            found,
        )
    assert (BrandMail.objects.count(), ConsentText.objects.count()) == (0, 1)


def test_text_that_a_colleague_changed_is_not_overwritten(client, brand):
    before = fields(client.get(url(brand)))
    ConsentText.objects.add(brand_number=brand.pk, language="en", **TEXTS)

    response = client.post(url(brand), before | of("en", text="Mine"))
    assert errors(response) == {
        "en-text": ["A colleague changed this text in the meantime. Load the page again."]
    }
    assert served(brand) == ["I agree with Acme."] * 2


def test_page_is_for_those_who_may_see_the_brand(client, brand):
    other = make_brand("Globex")
    reader = make_client("bo", "view_brand", brand=brand)
    assert "<fieldset" in reader.get(url(brand)).content.decode()
    assert " disabled>" in reader.get(url(brand)).content.decode()
    assert reader.post(url(brand), {"sender_name": "x"}).status_code == 403
    assert make_client("cy", "view_vacancy", brand=brand).get(url(brand)).status_code == 403
    assert [client.get(url(other)).status_code, client.post(url(other)).status_code] == [404, 404]
    assert url(brand) in client.get(f"/admin/vacancies/brand/{brand.pk}/change/").content.decode()


def test_texts_outlive_their_brand(brand, admin_client):
    BrandMail.objects.create(brand=brand)
    text = ConsentText.objects.add(brand_number=brand.pk, language="en", **TEXTS)
    admin_client.post(f"/admin/vacancies/brand/{brand.pk}/delete/", {"post": "yes"})

    assert (BrandMail.objects.count(), ConsentText.objects.get()) == (0, text)
    page = admin_client.get(
        f"/admin/forms_structure/consenttext/{text.pk}/change/"
    ).content.decode()
    assert ("I agree with Acme." in page, "deleted brand" in page) == (True, True)
