"""What the head of a page says to social networks and search engines."""

import re
from html import unescape
from io import BytesIO
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.contrib.staticfiles import finders
from django.core.files.base import ContentFile
from PIL import Image

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
        "og:image:alt": HOSTILE,
        "twitter:card": "summary",
    }
    plain = make_vacancy(description=f"<p>{'long ' * 100}</p>", brand=brand)
    found = read(client, plain.site_path)
    assert found["og:image"] == "https://acme.test/logo.png"
    assert (len(found["description"]), found["description"][-1]) == (200, "…")


def test_image_is_a_jpeg_of_the_size_that_the_page_names(client, settings, tmp_path):
    """Whatever was uploaded: few of those who read og:image know WebP, and transparency would be
    black.
    """
    for kind, size, expected in (
        ("WEBP", (1000, 401), (1000, 401)),
        ("PNG", (1407, 333), (1200, 284)),
        ("JPEG", (50, 20), (50, 20)),
    ):
        vacancy = make_vacancy()
        name = f"a.{kind.lower().replace('jpeg', 'jpg')}"
        vacancy.image.save(name, ContentFile(encoded(kind, size=size)))
        found = read(client, vacancy.site_path)
        assert found["og:image"].endswith(f"{Path(vacancy.image.name).stem}.1200.jpg")
        assert found["twitter:card"] == ("summary_large_image" if expected[0] > 600 else "summary")
        answer = client.get(urlsplit(found["og:image"]).path)
        assert (answer.status_code, answer["Content-Type"]) == (200, "image/jpeg")
        with Image.open(BytesIO(answer.getvalue())) as image:
            assert (image.format, image.size) == ("JPEG", expected)
        assert (found["og:image:width"], found["og:image:height"]) == tuple(map(str, expected))


def test_page_without_an_image_has_the_icon_of_its_brand_or_a_default(client):
    brand = make_brand("Seen")
    brand.icon_large.save("a.webp", ContentFile(encoded("WEBP", size=(64, 64))))
    found = read(client, make_vacancy(brand=brand).site_path)
    assert (found["og:image:width"], found["twitter:card"]) == ("64", "summary")
    answer = client.get(urlsplit(found["og:image"]).path)
    assert (answer["Content-Type"], answer.getvalue()[:3]) == ("image/jpeg", b"\xff\xd8\xff")
    found = read(client, make_vacancy(image_url="https://acme.test/a.webp").site_path)
    assert found["og:image"] == "http://testserver/static/jobsite/share.png"
    with Image.open(finders.find("jobsite/share.png")) as image:
        assert image.size == (int(found["og:image:width"]), int(found["og:image:height"]))


def test_lists_have_a_description_and_the_logo(client):
    make_vacancy()
    make_vacancy(brand=make_brand("Harbour", host=HOST))
    found = read(client, "/fr/jobs")
    assert (found["og:locale"], found["og:url"]) == ("fr_FR", "http://testserver/fr/jobs")
    # None of them shows SVG.
    assert found["og:image"] == "http://testserver/static/jobsite/share.png"
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
    brands = [(code, url.replace("/jobs", "/brands/acme")) for code, url in expected]
    assert alternates("/brands/acme") == alternates("/fr/brands/acme") == brands
    assert client.get("/en/brands/acme?x=1")["Location"] == "/brands/acme?x=1"
