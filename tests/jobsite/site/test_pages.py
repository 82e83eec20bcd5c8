"""The pages of the career site: which vacancies they show, when, and under which address."""

import re
from datetime import timedelta
from html import unescape
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
from django.db import OperationalError, connection
from django.http import HttpRequest, HttpResponse, QueryDict
from django.test import Client
from django.urls import ResolverMatch
from psycopg.errors import LockNotAvailable

from jobsite.api.problems import LOCKED, unavailable
from tests.applications.submissions.sending import make_form
from tests.conftest import NOW
from tests.factories import make_brand, make_vacancy
from tests.vacancies.api.site import Site
from vacancies.fields import slug_of
from vacancies.models import BrandLink, Place, Vacancy

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("filters")]
DAY, SECOND = timedelta(days=1), timedelta(seconds=1)


@pytest.fixture(autouse=True)
def _career_site(settings: Any, time_machine: Any) -> None:
    settings.CAREER_SITE = settings.APPLY_PAGES = True
    time_machine.move_to(NOW, tick=False)


def titles(body: str) -> list[str]:
    """Return the titles of the vacancies on a list."""
    return [unescape(title) for title in re.findall(r"<h3[^>]*><a [^>]*>([^<]*)</a></h3>", body)]


def get(client: Client, path: str, status: int = 200) -> str:
    response = client.get(path)
    assert response.status_code == status, (path, response.status_code)
    return response.content.decode()


def canonical(body: str) -> str:
    return unescape(re.findall('<link rel="canonical" href="([^"]*)"', body)[0])


# --- Visibility --------------------------------------------------------------------------------

SHOWN = {
    "public": ({}, 200),
    "both": ({"audience": "both"}, 200),
    "internal": ({"audience": "internal"}, 404),
    "draft": ({"status": "draft", "publish_from": NOW - DAY}, 404),
    "scheduled": ({"publish_from": NOW + SECOND}, 404),
    "ending": ({"publish_until": NOW + SECOND}, 200),
    "expired": ({"publish_from": NOW - 2 * DAY, "publish_until": NOW}, 410),
    "expired internal": (
        {"audience": "internal", "publish_from": NOW - 2 * DAY, "publish_until": NOW},
        404,
    ),
    "unpublished": ({"status": "unpublished", "publish_from": NOW - DAY}, 410),
    "unpublished before its start": ({"status": "unpublished", "publish_from": NOW + DAY}, 404),
    "archived": ({"status": "archived", "publish_from": NOW - DAY}, 410),
}


def test_only_public_vacancies_have_a_page(client):
    vacancies = {
        name: (make_vacancy(title=f"Secret {name}", **{"publish_from": NOW - DAY} | values), status)
        for name, (values, status) in SHOWN.items()
    }
    public = sorted(f"Secret {name}" for name, (_, status) in SHOWN.items() if status == 200)
    assert sorted(titles(get(client, "/jobs"))) == public
    for name, (vacancy, status) in vacancies.items():
        body = get(client, vacancy.site_path, status)
        assert (f"Secret {name}" in body) is (status == 200), name
        if status == 410:
            assert sorted(titles(body)) == public
            assert 'content="noindex"' in body
        if status == 404:
            unknown = get(client, "/jobs/999999", 404)
            assert body == unknown, (
                f"the page of a vacancy ({name}) differs from that of an unknown one"
            )


def test_closed_page_lists_current_vacancies_of_the_brand(client):
    acme = make_brand("Acme")
    closed = make_vacancy(title="Gone", brand=acme, publish_from=NOW - 2 * DAY, publish_until=NOW)
    for number in range(6):
        make_vacancy(title=f"Nurse {number}", brand=acme, publish_from=NOW - (number + 1) * SECOND)
    make_vacancy(title="Of others", brand=make_brand("Other"))
    assert titles(get(client, closed.site_path, 410)) == [f"Nurse {number}" for number in range(5)]


def test_without_the_setting_there_is_no_page(client, settings):
    settings.CAREER_SITE = False
    vacancy = make_vacancy()
    for path in (
        vacancy.site_path,
        "/jobs",
        "/nl/jobs",
        f"/brands/{vacancy.brand.slug}",
        "/site.css",
    ):
        get(client, path, 404)
    assert client.get("/").headers["Location"] == "/docs"
    assert client.get(f"/v1/vacancies/{vacancy.pk}").json()["data"]["url"] is None


# --- Addresses ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "title",
    [
        "Nurse",
        "Verpleegkundige (m/v/x)",
        "日本語",
        "Ärztin & Co",
        "Straßenbauer/Maurer",
        "</script><b>",
        "x" * 300,
    ],
)
def test_page_has_one_address(client, title):
    vacancy = make_vacancy(title=title)
    path = vacancy.site_path
    assert path == f"/jobs/{vacancy.pk}-{slug_of(title)}".rstrip("-")
    body = get(client, path)
    assert canonical(body) == f"http://testserver{path}"
    assert (
        client.get(f"/v1/vacancies/{vacancy.pk}").json()["data"]["url"]
        == f"http://testserver{path}"
    )
    for other in (
        f"/jobs/{vacancy.pk}-other",
        f"/jobs/0{vacancy.pk}",
        f"/jobs/00{vacancy.pk}-{slug_of(title) or 'x'}",
    ):
        response = client.get(f"{other}?source=mail")
        assert (response.status_code, response.headers["Location"]) == (
            301,
            f"{path}?source=mail",
        ), other
        # The title may change back.
        assert response.headers["Cache-Control"] == "public, max-age=60"


@pytest.mark.parametrize(
    "path", ["/jobs/0", "/jobs/99999999999999999999", "/jobs/1.0", "/jobs/x", "/xx/jobs"]
)
def test_unknown_address_is_404(client, path):
    assert "/static/jobsite/site" in get(client, path, 404)
    # Of its layout.
    assert "style-src 'self'" in client.get(path).headers["Content-Security-Policy"]


def test_internal_vacancy_has_no_address():
    assert make_vacancy(audience="internal").url == ""


def test_lists_have_the_address_of_their_choices(client):
    make_vacancy(options={"regions": ["Ghent", "Antwerp"], "types": ["Graduate"]})
    two, both = (
        "filter[regions]=antwerp&filter[regions]=ghent",
        "filter[regions]=ghent&filter[types]=graduate",
    )
    for query, shown, is_indexed in [
        ("", "", True),
        ("page[number]=1&page[size]=3&source=mail&utm_campaign=x&filter[search]=", "", True),
        ("fbclid=x&unknown=y", "", True),
        ("filter[regions][]=ghent&fbclid=x", "filter[regions]=ghent", True),
        ("filter[regions]=ghent", "filter[regions]=ghent", True),
        ("filter[regions]=ghent,antwerp", two, False),
        ("filter[types]=graduate&filter[regions]=ghent", both, False),
        ("filter[search]=nurse", "filter[search]=nurse", False),
        ("sort=closes_at", "sort=closes_at", False),
    ]:
        body = get(client, f"/jobs?{query}")
        assert unquote(canonical(body)) == f"http://testserver/jobs?{shown}".rstrip("?")
        assert ('content="noindex, follow"' not in body) is is_indexed, query
        assert "fbclid" not in body, query
        assert body.count("checked>") == shown.count("regions") + shown.count("types"), query


# --- Lists -------------------------------------------------------------------------------------


def test_list_shows_twenty_on_a_page(client):
    for number in range(21):
        make_vacancy(title=f"Nurse {number}", publish_from=NOW - (number + 1) * SECOND)
    first = get(client, "/jobs")
    assert titles(first) == [f"Nurse {number}" for number in range(20)]
    assert 'href="/jobs?page%5Bnumber%5D=2" rel="next"' in first
    last = get(client, "/jobs?page[number]=2")
    assert titles(last) == ["Nurse 20"]
    assert 'href="/jobs" rel="prev"' in last
    assert 'rel="next"' not in last
    beyond = get(client, "/jobs?page[number]=9")
    assert titles(beyond) == []
    assert 'href="/jobs?page%5Bnumber%5D=2" rel="prev"' in beyond


def test_filters_are_checkboxes_with_counts(client):
    make_vacancy(title="Both", options={"regions": ["Ghent", "Antwerp"]})
    make_vacancy(title="Ghent only", options={"regions": ["Ghent"]})
    body = get(client, "/jobs?filter[regions]=antwerp,ghent")
    boxes = re.findall(
        r'name="filter\[regions\]" value="(\w+)"( checked)?><span>\w+</span> <small>(\d)', body
    )
    assert sorted(boxes) == [("antwerp", " checked", "1"), ("ghent", " checked", "2")]
    assert sorted(titles(body)) == ["Both", "Ghent only"]
    assert 'href="/jobs?filter%5Bregions%5D=ghent" rel="nofollow"' in body  # without antwerp


def test_filter_with_many_options_shows_those_with_the_most_vacancies(client, monkeypatch):
    monkeypatch.setattr("jobsite.site.filters.OPTIONS_MAX", 3)
    make_vacancy(options={"regions": [f"R{number}" for number in range(6)]})
    make_vacancy(options={"regions": ["R4", "R5"]})
    body = get(client, "/jobs?filter[regions]=r0,r4")
    assert re.findall(r'name="filter\[regions\]" value="(\w+)"', body) == ["r0", "r4", "r5"]
    assert "3 more. Use the search." in body


def test_search_without_a_match_proposes_words(client):
    make_vacancy(title="Nurse")
    body = get(client, "/jobs?filter[search]=nurze")
    assert titles(body) == []
    assert "No vacancy matches" in body
    assert 'href="/jobs?filter%5Bsearch%5D=nurse"' in body


@pytest.mark.parametrize(
    ("query", "named"),
    [
        ("sort=pay", "sort must be one of"),
        ("page[number]=x", "page[number] must be"),
        ("filter[regions]=a b", "filter[regions] must be"),
        ("filter[search]=%ff", "filter[search] must be"),
        ("filter[near]=nan,4,5", "filter[near] must be"),
        ("filter[regoins]=ghent", "filter[regions]"),
    ],
)
def test_invalid_parameter_is_named(client, query, named):
    body = get(client, f"/jobs?{query}", 400)
    assert named in unescape(body)


@pytest.mark.slow("many cases")
def test_names_that_are_no_parameters_of_the_list_are_ignored(client):
    make_vacancy(title="Nurse")
    brand = make_brand("Acme").slug
    ignored = "from campaign id utm_id Trk é PageSpeed page_type search_id lang utm[id] a[]"
    for name in ignored.split():
        for path in ("/jobs", "/nl/jobs", f"/brands/{brand}", "/alerts"):
            body = get(client, f"{path}?{name}=newsletter&filter[language]=en")
            if path != "/alerts":
                assert canonical(body).endswith(f"{path}?filter%5Blanguage%5D=en")
    assert client.get("/v1/vacancies?from=newsletter").status_code == 400
    for name in (
        "q",
        "sort_by",
        "page",
        "region",
        "filter[from]",
        "page[from]",
    ):  # a filter or a page is meant
        get(client, f"/jobs?{name}=x", 400)


def test_slash_at_the_end_leads_to_the_page(client, settings):
    settings.APPLY_PAGES = True
    vacancy = make_vacancy()
    pages = (
        "/jobs",
        "/nl/jobs",
        vacancy.site_path,
        f"/brands/{vacancy.brand.slug}",
        f"/apply/{vacancy.pk}",
        "/alerts",
        "/fr/alerts",
        "/account/login",
        "/account/reset",
        "/docs",
    )
    for path in pages:
        for end in ("/", "//"):
            answer = client.get(f"{path}{end}?source=a%26b&x=%C3%A9")
            assert (answer.status_code, answer["Location"]) == (
                301,
                f"{path}?source=a%26b&x=%C3%A9",
            ), path
    # Sends the form again.
    assert client.post("/alerts/", {"address": "a@example.org"}).status_code == 308
    for path in (
        "/v1/vacancies/",
        "/v1/",
        "/v0.1/vacancies/",
        "/nothing/",
        "//evil.example/",
        "//jobs/",
        "/\\evil.example/",
        "/jobs/x/",
        "///",
    ):
        assert client.get("/", PATH_INFO=path).status_code == 404, path


def test_brand_page_lists_the_vacancies_of_the_brand(client):
    acme = make_brand("Acme", description="<p>We <b>care</b>.</p>")
    make_vacancy(title="Nurse", brand=acme)
    make_vacancy(title="Of others", brand=make_brand("Other"))
    body = get(client, "/brands/acme")
    assert titles(body) == ["Nurse"]
    assert "<h1>Acme</h1>" in body
    assert "/brands/acme.css?v=" in body  # its color
    assert "<p>We <b>care</b>.</p>" in body
    get(client, "/brands/unknown", 404)


def test_client_with_too_many_requests_learns_when_to_try_again(client, settings):
    settings.RATE_LIMIT = "1/min"  # a page with a list reads two documents
    response = client.get("/jobs")
    assert response.status_code == 429
    assert 0 < int(response.headers["Retry-After"]) <= 60
    assert "too many requests" in response.content.decode()


def test_page_does_not_blame_the_visitor_for_a_locked_table(client, monkeypatch):
    def locked(request: HttpRequest) -> HttpResponse:
        error = OperationalError()
        error.__cause__ = LockNotAvailable()
        return unavailable(request, error)

    found = ResolverMatch(locked, (), {})
    monkeypatch.setattr("jobsite.site.reading.resolve", lambda path: found)
    response = client.get("/jobs")
    assert (response.status_code, response.headers["Retry-After"]) == (503, "2")
    assert "The site cannot answer at the moment" in response.content.decode()
    assert response.wsgi_request.META[LOCKED]  # it is not tried again on the primary


# --- Languages ---------------------------------------------------------------------------------


def test_list_is_in_the_language_of_its_path(client, settings):
    make_vacancy(title="Infirmière", language="fr")
    for path, language, heading in [("/jobs", "en", "Vacancies"), ("/nl/jobs", "nl", "Vacatures")]:
        response = client.get(path, headers={"Accept-Language": "de"})
        body = response.content.decode()
        assert f'<html lang="{language}">' in body
        assert f"<h1>{heading}</h1>" in body
        assert '<h3 lang="fr" dir="auto">' in body
        assert "Accept-Language" not in response.headers.get("Vary", "")
    assert client.get("/en/jobs?sort=closes_at").headers["Location"] == "/jobs?sort=closes_at"
    settings.LANGUAGE_CODE = "nl"
    assert '<html lang="nl">' in get(client, "/jobs")
    assert client.get("/nl/jobs").status_code == 301


def test_vacancy_is_in_its_own_language(client):
    for code, page, text in [
        ("nl", "nl", ""),
        ("en", "en", ""),
        ("", "en", ""),
        ("el", "en", "el"),
    ]:
        body = get(client, make_vacancy(title="Tekst", language=code).site_path)
        assert f'<html lang="{page}">' in body
        assert re.findall(r"<h1([^>]*)>", body) == [f' lang="{text}" dir="auto"' if text else ""]


def test_page_of_a_vacancy_keeps_the_language_and_the_list_of_the_visitor(client):
    vacancy = make_vacancy(title="Nurse", language="en", form=make_form())
    other = make_vacancy(title="Nachtzuster", language="nl", brand=vacancy.brand)
    for path in ("/nl/jobs", f"/nl/brands/{vacancy.brand.slug}"):
        body = get(client, f"{path}?filter[search]=nurse&sort=title&source=mail")
        [link] = [
            unescape(each) for each in re.findall('href="([^"]*/jobs/[0-9]+-nurse[^"]*)"', body)
        ]
        assert urlsplit(link).path == f"/nl{vacancy.site_path}"
        page = get(client, link)
        assert '<html lang="nl">' in page
        assert '<h1 lang="en" dir="auto">Nurse</h1>' in page
        assert "Gepubliceerd op" in page
        [back] = [unescape(each) for each in re.findall('class="back"><a href="([^"]*)"', page)]
        query = QueryDict(urlsplit(back).query)
        assert urlsplit(back).path == "/nl/jobs"
        assert {**query.dict()} | {"filter[brand]": "acme"} == {
            "filter[search]": "nurse",
            "sort": "title",
            "source": "mail",
            "filter[brand]": "acme",
        }
        assert ("filter[brand]" in query) == ("brands" in path)
        assert titles(get(client, back)) == ["Nurse"]
        assert f'href="/nl/brands/{vacancy.brand.slug}"' in page
        # One address for search engines.
        assert canonical(page) == f"http://testserver{vacancy.site_path}"
        assert f'href="/apply/{vacancy.pk}?source=mail&amp;language=nl"' in page
    assert urlsplit(client.get(f"/nl{other.site_path}")["Location"]).path == other.site_path
    assert (
        client.get(f"/nl/jobs/{vacancy.pk}?list=x")["Location"] == f"/nl{vacancy.site_path}?list=x"
    )
    assert f'href="http://testserver{other.site_path}"' in get(client, "/nl/jobs")
    assert f'href="http://testserver/en{other.site_path}"' in get(client, "/jobs")


def test_way_back_leads_to_no_other_site_and_adds_no_markup(client):
    vacancy = make_vacancy()
    for query in (
        "//evil.test",
        "https://evil.test/?a=b",
        "filter[search]=%22><script>",
        "x" * 3000,
        "&&=",
        "%00",
    ):
        body = client.get(vacancy.site_path, {"list": query}).content.decode()
        [back] = [unescape(each) for each in re.findall('class="back"><a href="([^"]*)"', body)]
        assert back.startswith("/jobs"), query
        assert {*QueryDict(urlsplit(back).query)} <= {"filter[search]"}
        assert "<script>" not in body


def test_closed_and_unknown_pages_are_in_the_language_of_the_visitor(client):
    closed = make_vacancy(language="nl", publish_from=NOW - 2 * DAY, publish_until=NOW)
    hidden = make_vacancy(language="nl", status="draft")
    for path, accepted, status, language in (
        (closed.site_path, "fr", 410, "nl"),
        (f"/fr{closed.site_path}", "de", 410, "fr"),
        (hidden.site_path, "fr", 404, "fr"),
        (f"/de{hidden.site_path}", "fr", 404, "de"),
        ("/jobs/999999", "", 404, "en"),
        ("/nl/brands/none", "", 404, "nl"),
    ):
        response = client.get(path, headers={"Accept-Language": accepted})
        assert (response.status_code, response["Content-Language"]) == (status, language), path
        assert f'<html lang="{language}">' in response.content.decode()
        assert response["Cache-Control"] == "no-store"


def test_form_and_thanks_keep_the_language_of_the_page(client):
    vacancy = make_vacancy(language="fr", form=make_form(language="fr"))
    body = get(client, f"/apply/{vacancy.pk}?language=nl")
    assert '<html lang="nl">' in body
    assert '<div id="form" lang="fr"' in body
    assert f'action="/apply/{vacancy.pk}?language=nl"' in body
    assert f'class="back"><a href="/nl{vacancy.site_path}"' in body
    assert '<html lang="fr">' in get(client, f"/apply/{vacancy.pk}?language=xx")
    assert '<html lang="nl">' in get(client, "/apply/999999?language=nl", 404)


# --- Links, logos and similar vacancies ----------------------------------------------------------


def test_every_page_has_the_links_of_its_employer(client, settings):
    acme = make_brand("Acme")
    BrandLink.objects.create(kind="privacy", language="en", url="https://site.test/privacy?a=1&b=2")
    BrandLink.objects.create(kind="imprint", language="en", url="https://site.test/imprint")
    BrandLink.objects.create(
        kind="imprint", language="en", brand=acme, url="https://acme.test/imprint"
    )
    vacancy = make_vacancy(brand=acme, form=make_form())
    gone = make_vacancy(brand=acme, publish_from=NOW - 2 * DAY, publish_until=NOW)
    pages = {
        "/jobs": 200,
        "/alerts": 200,
        "/jobs/999999": 404,
        "/jobs?filter[near]=x": 400,
        "/account/login": 200,
        "/apply/999999": 404,
        "/account/receipt/x": 404,
        "/nothing": 404,
    }
    own = {
        vacancy.site_path: 200,
        gone.site_path: 410,
        "/brands/acme": 200,
        f"/apply/{vacancy.pk}": 200,
        "/alerts?filter[brand]=acme": 200,
    }
    for path, status in (pages | own).items():
        body = get(client, path, status)
        links = re.findall('<nav class="links".*?</nav>', body, re.DOTALL)
        found = re.findall('href="([^"]*)"', "".join(links))
        host = "acme.test" if path in own else "site.test"
        assert found == ["https://site.test/privacy?a=1&amp;b=2", f"https://{host}/imprint"], path
    for path in ("/alerts", f"/apply/{vacancy.pk}"):  # beside the button, too
        assert get(client, path).count("https://site.test/privacy") == 2, path
    settings.CAREER_SITE = False
    for path in ("/account/login", f"/apply/{vacancy.pk}"):
        assert "https://site.test/privacy" in get(client, path), path


def test_lists_of_several_brands_have_their_logos(client):
    acme = make_brand("Acme", icon_small_url="https://acme.test/a.png")
    make_vacancy(brand=acme)
    logo = (
        '<img class="logo" src="https://acme.test/a.png" alt="" width="40" height="40" '
        'loading="lazy">'
    )
    assert logo not in get(client, "/jobs")
    make_vacancy(brand=make_brand("Other"))
    make_vacancy(brand=None)
    assert get(client, "/jobs").count('class="logo"') == get(client, "/jobs").count(logo) == 1
    assert logo not in get(client, "/brands/acme")


@pytest.mark.slow("opens many pages")
def test_similar_vacancies_are_public_ones_of_the_category_and_region(
    client, django_assert_max_num_queries
):
    here = {"functiongroup": ["Care"], "regions": ["Ghent"]}
    vacancy = make_vacancy(title="Nurse", options=here)

    def similar() -> list[str]:
        body = get(client, vacancy.site_path)
        return titles(body.partition('<section class="similar"')[2])

    assert similar() == []
    make_vacancy(title="Elsewhere", options={"functiongroup": ["Care"], "regions": ["Liège"]})
    assert similar() == ["Elsewhere"]  # of the category, because none is of both
    make_vacancy(title="Internal", audience="internal", options=here)
    make_vacancy(title="Draft", status="draft", options=here)
    make_vacancy(title="Clerk", options={"functiongroup": ["Office"], "regions": ["Ghent"]})
    assert similar() == ["Elsewhere"]
    for number in range(6):
        make_vacancy(title=f"Nurse {number}", options=here)
    assert similar() == [f"Nurse {number}" for number in (5, 4, 3, 2)]
    with django_assert_max_num_queries(60):
        similar()
    lonely = make_vacancy(title="Lonely", options={})
    assert "similar" not in get(client, lonely.site_path)


# --- Content -----------------------------------------------------------------------------------


def test_vacancy_shows_what_the_interface_shows(client):
    vacancy = make_vacancy(
        title="Nurse",
        description="<p>Care</p>",
        reference="A-7",
        work_place="remote",
        pay_min=3000,
        pay_max=3500,
        pay_currency="EUR",
        pay_period="month",
        pay_note="gross",
        publish_until=NOW + DAY,
        options={"regions": ["Ghent"]},
    )
    Place.objects.create(
        vacancy=vacancy, locality="Ghent", street="Kouter 1", postal_code="9000", country="BE"
    )
    Place.objects.create(vacancy=vacancy, kind="applicant", country="NL", position=1)
    body = get(client, vacancy.site_path)
    facts = dict(re.findall(r"<dt>([^<]*)</dt>\s*<dd>([^<]*)</dd>", body))
    assert facts == {
        "Pay": "€3,000 – €3,500 per month",
        "Places": "Kouter 1, 9000 Ghent, Belgium",
        "Countries for remote work": "Netherlands",
        "Regions": "Ghent",
        "Reference": "A-7",
        "Published on": facts["Published on"],
        "Apply by": "3 Mar 2026",
    }
    assert "<p>Care</p>" in body
    Vacancy.objects.filter(pk=vacancy.pk).update(is_pay_public=False)
    assert "3,000" not in get(client, vacancy.site_path)


def test_texts_cannot_run_scripts(client):
    vacancy = make_vacancy(title="</title><script>alert(1)</script>\u202e")
    Vacancy.objects.filter(pk=vacancy.pk).update(  # as raw SQL would
        description="<p onclick=x>a</p><script>alert(1)</script>", location="<img src=x>"
    )
    vacancy.refresh_from_db()
    with connection.cursor() as cursor:  # a text that no field has sanitised
        cursor.execute(
            "UPDATE vacancies_brand SET description = '<p onclick=x>a</p><script>1</script>'"
        )
    for path in ("/jobs", vacancy.site_path, f"/brands/{vacancy.brand.slug}"):
        body = get(client, path)
        assert "<script" not in body
        assert "onclick" not in body
        assert "<img src=x" not in body


def test_vacancy_that_is_deleted_meanwhile_is_404(client, monkeypatch):
    vacancy = make_vacancy()
    monkeypatch.setattr("jobsite.site.jsonld.with_requirements", lambda rows: rows.none())
    get(client, vacancy.site_path, 404)


@pytest.mark.slow("opens many pages")
def test_pages_have_no_cookie_and_no_script(client, admin_client):
    vacancy = make_vacancy()
    for path in ("/jobs", vacancy.site_path, f"/brands/{vacancy.brand.slug}", "/jobs/999999"):
        response = client.get(path)
        assert not response.cookies
        assert "Cookie" not in response.headers.get("Vary", "")
        assert "script-src" not in response.headers["Content-Security-Policy"]
        assert admin_client.get(path).content == response.content


def test_source_is_passed_on(client):
    vacancy = make_vacancy(form=make_form())
    for query in ("source=a%26b", "utm_source=a%26b"):
        assert f'href="http://testserver{vacancy.site_path}?source=a%26b"' in get(
            client, f"/jobs?{query}"
        )
        assert f'href="/apply/{vacancy.pk}?source=a%26b&amp;language=en"' in get(
            client, f"{vacancy.site_path}?{query}"
        )
    assert f'href="/apply/{vacancy.pk}?language=en"' in get(client, vacancy.site_path)
    longest = "x" * 200  # that an application can have
    assert f'data-source="{longest}"' in get(client, f"/apply/{vacancy.pk}?utm_source={longest}x")
    make_vacancy()  # lists of several have an order
    page = get(client, "/jobs?utm_source=a%26b&sort=title&utm_medium=x")
    assert '<input type="hidden" name="source" value="a&amp;b">' in page
    assert 'href="/jobs?sort=closes_at&amp;source=a%26b"' in page
    assert '<link rel="canonical" href="http://testserver/jobs?sort=title">' in page


def test_source_is_added_to_the_query_of_another_website(client):
    vacancy = make_vacancy(brand=make_brand("Else", vacancy_url="https://else.test/?job="))
    assert f'href="https://else.test/?job={vacancy.pk}&amp;source=mail"' in get(
        client, "/jobs?source=mail"
    )


def test_vacancy_with_an_application_url_leads_there(client):
    vacancy = make_vacancy(apply_url="https://acme.test/apply?a=1&b=2")
    assert 'href="https://acme.test/apply?a=1&amp;b=2"' in get(client, vacancy.site_path)


# --- Cache -------------------------------------------------------------------------------------


@pytest.mark.django_db(transaction=True)
@pytest.mark.slow("commits, because the revision changes with a commit")
def test_page_is_cached_until_it_changes(settings, time_machine):
    settings.RESPONSE_CACHE_MB = 1
    vacancy = make_vacancy(title="Nurse", publish_from=NOW - DAY, publish_until=NOW + DAY)
    make_vacancy(title="Next", publish_from=NOW + timedelta(hours=1))
    site = Site()
    for path in ("/jobs", vacancy.site_path):
        first = site.ask(path)
        assert first[0] == "200 OK"
        before = site.requests
        assert site.body(path) == first[2]
        assert site.requests == before, f"{path} was not cached"
    BrandLink.objects.create(kind="imprint", language="en", url="https://acme.test/imprint")
    assert b"https://acme.test/imprint" in site.body("/jobs")
    Vacancy.objects.filter(pk=vacancy.pk).update(reference="B-8")
    assert b"B-8" in site.body(vacancy.site_path)
    time_machine.move_to(NOW + timedelta(hours=1), tick=False)
    assert titles(site.body("/jobs").decode()) == ["Next", "Nurse"]
    time_machine.move_to(NOW + DAY, tick=False)
    assert site.ask(vacancy.site_path)[0] == "410 Gone"
    assert titles(site.body("/jobs").decode()) == ["Next"]
