"""The career site in several languages: a page for each ready text, and no word of the others."""

import json
import re
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client

from applications.alerts.mail import NewsEmails
from applications.alerts.queries import in_words
from applications.models import JobAlert
from jobsite.site.audit import SiteAudit
from tests.conftest import NOW
from tests.factories import make_brand, make_option, make_text, make_vacancy
from tests.jobsite.site.alternates import faults, links_of_page, links_of_sitemap
from vacancies.models import Filter, Place, Vacancy

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("filters")]
DAY = timedelta(days=1)
BASE = "http://testserver"


@pytest.fixture(autouse=True)
def _site(settings: Any, time_machine: Any) -> None:
    settings.CAREER_SITE = settings.APPLY_PAGES = True
    settings.LANGUAGE_CODE, settings.TEXT_LANGUAGES = "nl", ["nl", "fr", "de"]
    time_machine.move_to(NOW, tick=False)


@pytest.fixture
def nurse() -> Vacancy:
    """A Dutch vacancy with a French text; the German one is not ready."""
    vacancy = make_vacancy(
        title="Verpleegkundige",
        language="nl",
        description="<p>Zorg.</p>",
        publish_from=NOW - DAY,
        options={"regions": ["Antwerpen"]},
    )
    Place.objects.create(vacancy=vacancy, locality="Antwerp", country="BE")
    make_text(vacancy, "fr", title="Infirmière", description="<p>Soins.</p>")
    make_text(vacancy, "de", title="Zzgeheim", description="<p>Zzpflege.</p>", is_ready=False)
    return vacancy


def get(client: Client, path: str, status: int = 200) -> str:
    response = client.get(path)
    assert response.status_code == status, (path, response.status_code, response.get("Location"))
    return response.content.decode()


def test_a_vacancy_has_a_page_in_each_of_its_languages(client, nurse):
    dutch, french = f"/jobs/{nurse.pk}-verpleegkundige", f"/fr/jobs/{nurse.pk}-infirmiere"
    pages = {"nl": get(client, dutch), "fr": get(client, french)}
    assert "Soins." in pages["fr"]
    assert "Zorg" not in pages["fr"]
    assert '<html lang="fr">' in pages["fr"]
    assert re.search("<h1>Infirmière</h1>", pages["fr"])
    links = {"nl": BASE + dutch, "fr": BASE + french, "x-default": BASE + dutch}
    for code, body in pages.items():
        assert links_of_page(body) == links  # reciprocal
        assert f'<link rel="canonical" href="{links[code]}"' in body
        posting = json.loads(re.findall(r'ld\+json">(.*?)</script>', body, re.DOTALL)[0])
        assert posting["title"] == {"nl": "Verpleegkundige", "fr": "Infirmière"}[code]
        assert posting["identifier"]["value"] == str(nurse.pk)
        assert "Zz" not in body
        footer = body.partition("<footer")[2]
        assert re.findall('hreflang="(..)"', footer) == ["nl", "fr"]


@pytest.mark.parametrize(
    ("path", "target"),
    [
        ("/de/jobs/{}-zzgeheim", "/jobs/{}-verpleegkundige"),  # not ready
        ("/de/jobs/{}", "/jobs/{}-verpleegkundige"),
        ("/en/jobs/{}-verpleegkundige", "/jobs/{}-verpleegkundige"),  # no text
        ("/nl/jobs/{}-verpleegkundige", "/jobs/{}-verpleegkundige"),
        ("/fr/jobs/{}-verpleegkundige?source=x", "/fr/jobs/{}-infirmiere?source=x"),
        ("/jobs/{}-infirmiere", "/jobs/{}-verpleegkundige"),
    ],
)
def test_other_addresses_lead_to_the_page(client, nurse, path, target):
    response = client.get(path.format(nurse.pk))
    assert (response.status_code, response["Location"]) == (301, target.format(nurse.pk))
    assert "geheim" not in response.content.decode() + response["Location"]


def test_lists_have_titles_and_labels_of_their_language(client, nurse):
    option = nurse.options.get()
    option.translations = {"fr": "Anvers"}
    option.save()
    make_option("regions", "Gent")
    make_vacancy(title="Chauffeur", language="nl", options={"regions": ["Gent"]})
    body = get(client, "/fr/jobs")
    assert f'<h3><a href="{BASE}/fr/jobs/{nurse.pk}-infirmiere">Infirmière</a></h3>' in body
    assert re.search(r'<h3 lang="nl" dir="auto"><a href="[^"]*/jobs/\d+-chauffeur">', body)
    assert "<span>Anvers</span>" in body
    assert '<span lang="nl">Gent</span>' in body
    page = get(client, f"/fr/jobs/{nurse.pk}-infirmiere")
    assert "Anvers" in page
    assert "Antwerpen" not in page
    Filter.objects.filter(keyword="regions").update(translations={"fr": "Régions"})
    assert "<dt>Régions</dt>" in get(client, f"/fr/jobs/{nurse.pk}-infirmiere")
    assert "Zz" not in get(client, "/de/jobs")


def test_sitemap_has_each_page_with_its_alternates(client, nurse):
    pages = links_of_sitemap(client.get("/sitemap-0.xml").getvalue())
    dutch, french = f"{BASE}{nurse.site_path}", f"{BASE}/fr/jobs/{nurse.pk}-infirmiere"
    links = {"nl": dutch, "fr": french, "x-default": dutch}
    own = {url: links for url, links in pages.items() if f"/{nurse.pk}-" in url}
    assert own == {dutch: links, french: links}


@pytest.mark.slow("opens many pages")
def test_hreflang_of_many_pages_is_reciprocal(client, django_assert_max_num_queries):
    for number in range(15):
        vacancy = make_vacancy(title=f"Job {number}", language=("nl", "fr", "en", "it")[number % 4])
        for code in ("nl", "fr", "de", "en"):
            if code != vacancy.language and (number + len(code)) % 3:
                make_text(vacancy, code, is_ready=number % 5 > 0)
    with django_assert_max_num_queries(12):
        pages = links_of_sitemap(client.get("/sitemap-0.xml").getvalue())
    assert [*faults(pages, lambda url: client.get(url.removeprefix(BASE)))] == []
    assert sum("/jobs/" in url for url in pages) > 30
    french = next(url for url in pages if "/fr/jobs/" in url)
    wrong = {url: links for url, links in pages.items() if url != french}
    assert [*faults(wrong, lambda url: client.get(url.removeprefix(BASE)))] != []


def test_atom_is_in_each_language(client, nurse):
    for path, title in (("/jobs.atom", "Verpleegkundige"), ("/fr/jobs.atom", "Infirmière")):
        body = client.get(path).content.decode()
        assert f"<title>{title}</title>" in body
        assert f"/jobs/{nurse.pk}</id>" in body
    assert "Verpleegkundige" in client.get("/de/jobs.atom").content.decode()
    assert client.get("/en/jobs.atom").status_code == 404
    assert client.get("/nl/jobs.atom").status_code == 404
    assert "Zz" not in client.get("/de/jobs.atom").content.decode()


def test_alert_reads_in_its_language(nurse):
    option = nurse.options.get()
    option.translations = {"fr": "Anvers"}
    option.save()
    rows = [*Vacancy.objects.with_related({"title", "location", "brand", "url"})]
    emails = NewsEmails(base_url=BASE, at=NOW)
    for code, title, path in (
        ("fr", "Infirmière", f"/fr/jobs/{nurse.pk}-infirmiere"),
        ("de", "Verpleegkundige", nurse.site_path),
    ):
        alert = JobAlert.objects.create(
            address=f"{code}@example.org",
            address_folded=f"{code}@example.org",
            query=f"filter%5Bregions%5D={option.value}",
            language=code,
            frequency="daily",
            ends_at=NOW + DAY,
        )
        body = emails.email(alert, rows, 1).body
        assert title in body
        assert f"{BASE}{path}" in body
        assert ("Anvers" in body) == (code == "fr")


def test_address_of_a_brand_may_have_the_language(client, nurse, settings):
    brand = make_brand("Zeta", vacancy_url="https://acme.test/{language}/jobs/{language}-")
    Vacancy.objects.filter(pk=nurse.pk).update(brand=brand)
    urls = {
        code: client.get(f"/v1/vacancies/{nurse.pk}", {"language": code}).json()["data"]["url"]
        for code in ("nl", "fr", "de")
    }
    assert urls == {
        "nl": f"https://acme.test/nl/jobs/nl-{nurse.pk}",
        "fr": f"https://acme.test/fr/jobs/fr-{nurse.pk}",
        "de": f"https://acme.test/nl/jobs/nl-{nurse.pk}",
    }
    assert links_of_page(get(client, f"/fr/jobs/{nurse.pk}-infirmiere")) == {}


@pytest.mark.slow("opens many pages")
def test_audit_reads_the_pages_of_each_language(client, nurse, monkeypatch):
    def differences() -> list[str]:
        audit = SiteAudit(
            lambda path, host: client.get(path), at=NOW, pks={nurse.pk}, progress=lambda: None
        )
        return [each for each in audit.differences() if "pages" in each or "translation" in each]

    assert differences() == []
    monkeypatch.setattr("jobsite.site.views.ready_titles", lambda pks: {nurse.pk: {"de": "Zz"}})
    assert differences() != []


def test_without_languages_pages_are_as_before(client, nurse, settings):
    settings.TEXT_LANGUAGES = []
    body = get(client, f"/fr/jobs/{nurse.pk}-verpleegkundige")  # around the Dutch texts
    assert '<html lang="fr">' in body
    assert links_of_page(body) == {}
    assert re.findall('hreflang="(..)"', body) == ["nl", "en", "fr", "de"]
    assert "xhtml" not in client.get("/sitemap-0.xml").getvalue().decode()
    assert client.get("/fr/jobs.atom").status_code == 404
    assert in_words("", None) == []
