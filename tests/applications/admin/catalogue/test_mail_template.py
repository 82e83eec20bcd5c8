"""The admin of email templates."""

import pytest

from applications.admin.list.mailing import written
from applications.admin.selection import ApplicationSelection
from applications.mail.templates import PLACEHOLDERS
from applications.models import Application, MailTemplate
from tests.applications.admin.conftest import staff
from tests.applications.makers import signed_in

pytestmark = pytest.mark.django_db
ADD = "/admin/applications/mailtemplate/add/"


@pytest.fixture
def client(recruiter):
    return signed_in(recruiter)


@pytest.fixture
def template(db):
    return MailTemplate.objects.create(name="Site", subject_en="Of the site", body_en="Hello")


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


@pytest.mark.slow("opens many pages")
def test_brand_administrator_owns_the_templates_of_the_brand(office, template):
    """Not those of the site, and nobody else's are seen or used."""
    boss = staff("boss", "Brand administrator", brands=[office.brand])
    texts = {"subject_en": "From Acme", "body_en": "Dear {name}"}
    foreign = MailTemplate.objects.create(name="Talk", brand=office.other, **texts)
    templates = "/admin/applications/mailtemplate/"

    assert errors(boss.post(ADD, {"name": "Talk", **texts})).keys() == {"brand"}
    sent = {"name": "Talk", "brand": office.brand.pk, **texts}
    assert boss.post(ADD, sent).status_code == 302
    assert errors(boss.post(ADD, sent)) == {"__all__": ["The brand has a template with this name."]}
    own = MailTemplate.objects.get(brand=office.brand)
    boss.post(f"{templates}{own.pk}/change/", sent | {"subject_en": "Changed"})
    status = {
        each.pk: boss.post(f"{templates}{each.pk}/change/", sent | {"name": "Mine"}).status_code
        for each in (template, foreign)
    }
    assert status == {template.pk: 403, foreign.pk: 302}  # which says that there is none
    boss.post(f"{templates}{template.pk}/delete/", {"post": "yes"})
    names = MailTemplate.objects.order_by("pk").values_list("name", "subject_en")
    assert list(names)[-3:] == [("Site", "Of the site"), ("Talk", "From Acme"), ("Talk", "Changed")]

    page = office.anna.get(f"/admin/applications/application/{office.own.pk}/email/")
    offered = set(page.context["templates"])
    assert offered >= {own, template}
    assert foreign not in offered
    mailing = boss.get(f"/admin/vacancies/brand/{office.brand.pk}/emails/")
    rejection = {
        each.value for each, _name in mailing.context["rejection"][0].field.choices if each
    }
    assert own.pk in rejection
    assert foreign.pk not in rejection
    both = ApplicationSelection.of(Application.objects.all())  # of two brands
    assert own not in written(both.brands())
