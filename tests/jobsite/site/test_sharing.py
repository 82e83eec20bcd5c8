"""What the head of a page says to social networks and search engines."""

import re
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from django.core.files.base import ContentFile

from tests.factories import make_brand, make_vacancy
from tests.vacancies.sample_files import encoded

pytestmark = pytest.mark.django_db
HOST = "jobs.harbour.example.com"
HOSTILE = 'Nurse"><script>alert(1)</script>'


@pytest.fixture(autouse=True)
def _site(settings: Any) -> None:
    settings.CAREER_SITE = True
    settings.SITE_NAME = "Jobs & more"
    settings.SITE_LOGO = "/static/logo.svg"
    settings.ALLOWED_HOSTS = ["testserver", HOST]


def read(client: Any, path: str, host: str = "testserver") -> dict[str, str]:
    """Return the values of the meta elements by name."""
    body = client.get(path, headers={"host": host}).content.decode()
    found = re.findall(r'<meta (?:name|property)="([^"]+)" content="([^"]*)">', body)
    assert len(dict(found)) == len(found)
    return {name: unescape(value) for name, value in found if name != "viewport"}


def test_vacancy_has_its_short_description_and_image(client):
    brand = make_brand(icon_large_url="https://acme.test/logo.png")
    short = "<p>Care &amp; <strong>love</strong></p><p>Every day</p>"
    values = {"title": HOSTILE, "language": "nl", "brand": brand}
    vacancy = make_vacancy(image_url="https://acme.test/a.jpg", short_description=short, **values)

    assert read(client, vacancy.site_path) == {
        "description": "Care & love Every day",
        "og:type": "website",
        "og:site_name": "Jobs & more",
        "og:locale": "nl_NL",
        "og:url": f"http://testserver{vacancy.site_path}",
        "og:title": HOSTILE,
        "og:description": "Care & love Every day",
        "og:image": "https://acme.test/a.jpg",
    }
    vacancy.image.save("a.jpg", ContentFile(encoded("JPEG", size=(1000, 400))))
    smaller = f"http://testserver/media/{Path(vacancy.image.name).with_suffix('.960.webp')}"
    assert read(client, vacancy.site_path)["og:image"] == smaller
    plain = make_vacancy(description=f"<p>{'long ' * 100}</p>", brand=brand)
    found = read(client, plain.site_path)
    assert found["og:image"] == "https://acme.test/logo.png"
    assert (len(found["description"]), found["description"][-1]) == (200, "…")


def test_lists_have_a_description_and_the_logo(client):
    make_vacancy()
    make_vacancy(brand=make_brand("Harbour", host=HOST))
    found = read(client, "/fr/jobs")
    assert (found["og:locale"], found["og:url"]) == ("fr_FR", "http://testserver/fr/jobs")
    assert found["og:image"] == "http://testserver/static/logo.svg"
    assert "Jobs & more" in found["description"]
    make_vacancy(brand=make_brand("Shipyard", description="<p>We build ships.</p>"))
    assert read(client, "/brands/shipyard")["description"] == "We build ships."
    assert read(client, "/jobs", HOST)["og:site_name"] == "Harbour"


def test_lists_name_their_translations(client):
    for number in range(21):
        make_vacancy(title=f"Nurse {number}")
    make_vacancy(brand=make_brand("Harbour", host=HOST))

    def alternates(path: str, host: str = "testserver") -> list[tuple[str, str]]:
        body = client.get(path, headers={"host": host}).content.decode()
        found = re.findall(r'<link rel="alternate" hreflang="([^"]+)" href="([^"]+)">', body)
        return [(code, unescape(url)) for code, url in found]

    codes = {"en": "", "nl": "/nl", "fr": "/fr", "de": "/de", "x-default": ""}
    expected = [(code, f"http://testserver{path}/jobs") for code, path in codes.items()]
    assert alternates("/jobs") == alternates("/nl/jobs") == expected
    assert alternates("/de/jobs?page[number]=2") == [
        (code, f"{url}?page%5Bnumber%5D=2") for code, url in expected
    ]
    assert alternates("/jobs", HOST)[0] == ("en", f"https://{HOST}/jobs")
    assert alternates("/brands/acme") == []
