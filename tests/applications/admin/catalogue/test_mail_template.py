"""The admin of email templates."""

import pytest

from applications.mail.templates import PLACEHOLDERS
from applications.models import MailTemplate
from tests.applications.makers import signed_in

pytestmark = pytest.mark.django_db
ADD = "/admin/applications/mailtemplate/add/"


@pytest.fixture
def client(recruiter):
    return signed_in(recruiter)


def errors(response):
    return {name: list(texts) for name, texts in response.context["adminform"].form.errors.items()}


def test_template_is_saved_and_previewed(client):
    data = {
        "name": "Hello",
        "subject_en": "For {name}",
        "body_en": "Dear {given_name}, <b>{vacancy}</b>",
    }
    assert client.post(ADD, data).status_code == 302

    template = MailTemplate.objects.get(name="Hello")
    page = client.get(f"/admin/applications/mailtemplate/{template.pk}/change/").content.decode()
    assert "English: For Mia Maes" in page
    assert "<pre>Dear Mia, &lt;b&gt;Baker&lt;/b&gt;</pre>" in page
    assert all(f"<code>{{{name}}}</code>" in page for name in PLACEHOLDERS)


def test_invalid_template_is_refused(client):
    unknown = "There is no placeholder {nobody}, {Name}. Choose from the list above."
    for texts, expected in (
        ({"subject_en": "{nobody} {Name}", "body_en": "x"}, {"subject_en": [unknown]}),
        (
            {"subject_nl": "x", "body_nl": "  "},
            {"body_nl": ["Enter both the subject and the text, or neither."]},
        ),
        ({}, {"__all__": ["Enter the subject and the text in at least one language."]}),
    ):
        assert errors(client.post(ADD, {"name": "Hello"} | texts)) == expected
    assert not MailTemplate.objects.filter(name="Hello").exists()
