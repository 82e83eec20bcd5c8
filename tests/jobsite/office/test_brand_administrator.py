"""A brand administrator changes the own brand, but not what is for developers, nor others."""

import pytest
from django.urls import reverse

from applications.models import BrandMail
from tests.applications.admin.conftest import colleague
from tests.applications.makers import signed_in
from tests.factories import make_brand
from vacancies.models import BrandLink

pytestmark = pytest.mark.django_db


@pytest.fixture
def acme(module_roles):
    return make_brand("Acme", slug="acme")


def change(client, brand, **values):
    url = reverse("admin:vacancies_brand_change", args=[brand.pk])
    data = {"name": brand.name, "members": [], **values}
    return client.post(url, data)


def test_brand_administrator_owns_the_brand_but_not_its_addresses(acme, settings):
    settings.CAREER_SITE = True
    bea = colleague("bea", "Brand administrator", acme)
    client, other = signed_in(bea), make_brand("Other")
    kim = colleague("kim", "Recruiter", acme)
    values = {"accent": "#abc", "requires_approval": "on", "members": [bea.pk, kim.pk]}
    values |= {"slug": "stolen", "host": "stolen.test"}
    assert change(client, acme, **values).status_code == 302
    acme.refresh_from_db()
    assert (acme.accent, acme.requires_approval) == ("#aabbcc", True)
    assert (acme.slug, acme.host) == ("acme", "")
    assert set(acme.members.all()) == {bea, kim}

    change(client, other, name="Stolen")
    other.refresh_from_db()
    assert other.name == "Other"
    emails = reverse("admin:vacancies_brand_emails", args=[acme.pk])
    assert client.get(emails).status_code == 200
    client.post(emails, {"sender_name": "Acme jobs"})
    assert not BrandMail.objects.filter(brand=other).exists()


def test_links_are_those_of_own_brands(acme):
    client = signed_in(colleague("bea", "Brand administrator", acme))
    other = make_brand("Other")
    values = {"kind": "imprint", "language": "en", "url": "https://x.test/", "label": "Imprint"}
    add = reverse("admin:vacancies_brandlink_add")
    client.post(add, values | {"brand": other.pk})
    client.post(add, values | {"brand": ""})
    assert not BrandLink.objects.exists()
    client.post(add, values | {"brand": acme.pk})
    assert BrandLink.objects.get().brand == acme


def test_the_parts_of_the_page(acme):
    client = signed_in(colleague("bea", "Brand administrator", acme))
    page = client.get(reverse("admin:vacancies_brand_change", args=[acme.pk])).content.decode()
    assert page.index("For developers") > page.index("Icons")
    assert 'name="slug"' not in page
    recruiter = signed_in(colleague("rob", "Recruiter", acme))
    assert change(recruiter, acme, name="Mine").status_code == 403
