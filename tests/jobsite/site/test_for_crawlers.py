"""robots.txt and the sitemap: the pages of a site, on their host and nowhere else."""

from datetime import timedelta
from typing import Any
from urllib.robotparser import RobotFileParser

import pytest
from defusedxml import ElementTree

from tests.factories import make_brand, make_vacancy
from vacancies.models import Vacancy

pytestmark = pytest.mark.django_db
NAMESPACE = "{http://www.sitemaps.org/schemas/sitemap/0.9}"
HOST = "jobs.harbour.example.com"


@pytest.fixture(autouse=True)
def _site(settings: Any) -> None:
    settings.CAREER_SITE = True
    settings.ALLOWED_HOSTS = ["testserver", HOST]


def read(client: Any, path: str, host: str = "testserver") -> dict[str, str | None]:
    """Return the addresses in a file of the sitemap, with the time of the last change."""
    answer = client.get(path, headers={"host": host})
    assert (answer.status_code, answer["Content-Type"]) == (200, "application/xml; charset=utf-8")
    root = ElementTree.fromstring(answer.content)
    assert {each.tag for each in root} <= {f"{NAMESPACE}url", f"{NAMESPACE}sitemap"}
    found = {
        each.findtext(f"{NAMESPACE}loc"): each.findtext(f"{NAMESPACE}lastmod") for each in root
    }
    assert len(found) == len(root)
    return found


def test_sitemap_has_the_pages_of_public_vacancies(client, at):
    first = make_vacancy(title="<Nurse> & “doctor”", id=9_999, updated_at=at)
    at_its_start = at - timedelta(seconds=1)
    second = make_vacancy(id=20_000, publish_from=at_its_start, updated_at=at - timedelta(days=9))
    for values in (
        {"id": 20_001, "publish_until": at},
        {"id": 30_000, "publish_from": at + timedelta(seconds=1)},
        {"id": 20_002, "audience": "internal"},
        {"id": 40_000, "status": "draft"},
        {"id": 50_000, "brand": make_brand("Elsewhere", vacancy_url="https://acme.test/jobs/")},
    ):
        make_vacancy(**values)

    assert read(client, "/sitemap.xml") == dict.fromkeys(
        ("http://testserver/sitemap-0.xml", "http://testserver/sitemap-2.xml")
    )
    lists = ("jobs", "nl/jobs", "fr/jobs", "de/jobs", "brands/acme", "brands/elsewhere")
    assert read(client, "/sitemap-0.xml") == {
        **dict.fromkeys(f"http://testserver/{path}" for path in lists),
        f"http://testserver{first.site_path}": "2026-03-02T09:30:15Z",
    }
    assert read(client, "/sitemap-2.xml") == {
        f"http://testserver{second.site_path}": "2026-03-02T09:30:14Z"
    }
    for path in ("/sitemap-1.xml", "/sitemap-3.xml", f"/sitemap-{10**30}.xml", "/sitemap-x.xml"):
        assert client.get(path).status_code == 404, path


def test_pages_are_in_the_sitemap_of_their_host_only(client, at):
    brand = make_brand("Harbour", host=HOST)
    there, here = make_vacancy(brand=brand), make_vacancy()

    assert read(client, "/sitemap.xml", HOST) == {f"https://{HOST}/sitemap-0.xml": None}
    files = read(client, "/sitemap-0.xml", HOST), read(client, "/sitemap-0.xml")
    pages = [{address for address, changed in found.items() if changed} for found in files]
    assert pages == [{f"https://{HOST}{there.site_path}"}, {f"http://testserver{here.site_path}"}]
    lists = {address for address, changed in files[0].items() if not changed}
    assert lists == {f"https://{HOST}{path}/jobs" for path in ("", "/nl", "/fr", "/de")}
    for row in Vacancy.objects.all():
        item = client.get(f"/v1/vacancies/{row.pk}").json()["data"]
        assert item["url"] in pages[0] | pages[1]


def test_sitemap_is_cached_until_the_clock_changes_it(client, at, settings):
    settings.PUBLIC_MAX_AGE = 300
    make_vacancy(publish_until=at + timedelta(seconds=40))
    for path in ("/sitemap.xml", "/sitemap-0.xml", "/jobs.atom"):
        assert client.get(path)["Cache-Control"] == "public, max-age=40", path


def test_robots_txt_names_the_sitemap_of_the_host(client, settings):
    make_brand("Harbour", host=HOST)
    for host, base in (("testserver", "http://testserver"), (HOST, f"https://{HOST}")):
        rules = RobotFileParser()
        rules.parse(client.get("/robots.txt", headers={"host": host}).content.decode().splitlines())
        assert rules.site_maps() == [f"{base}/sitemap.xml"]
        assert rules.can_fetch("crawler", "/jobs/1-nurse")
        assert not rules.can_fetch("crawler", "/account/login")
    settings.CAREER_SITE = False
    assert b"Sitemap" not in client.get("/robots.txt").content
    for path in ("/sitemap.xml", "/sitemap-0.xml", "/jobs.atom", "/feeds/indeed.xml"):
        assert client.get(path).status_code == 404, path
