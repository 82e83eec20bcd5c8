"""The career site of a brand on its own host:
what it serves, where the main site leads, its color.
"""

import re
from typing import Any

import pytest
from django.conf import settings as site_settings
from django.contrib.auth.models import User
from django.db import connection
from django.forms import modelform_factory
from django.test import Client
from django.test.utils import CaptureQueriesContext
from hypothesis import example, given
from hypothesis.strategies import integers

from applications.models import Application
from jobsite.appearance import contrast
from jobsite.office.brand import BrandForm
from jobsite.site.hosts import Site, stylesheet
from tests.applications.test_apply_page import VALUES, make_open, post
from tests.factories import make_brand, make_vacancy
from vacancies.checks import hosts_of_brands_lead_here
from vacancies.models import Brand, Vacancy

pytestmark = pytest.mark.django_db
MAIN, ACME, OTHER = "jobs.example.com", "jobs.acme.test", "jobs.other.test"


@pytest.fixture
def brands(settings: Any) -> dict[str, Brand]:
    settings.CAREER_SITE = settings.APPLY_PAGES = True
    settings.PUBLIC_BASE_URL, settings.ALLOWED_HOSTS = (
        f"https://{MAIN}",
        [MAIN, ".acme.test", OTHER],
    )
    return {
        "acme": make_brand("Acme", slug="acme", host=ACME, accent="#ffcc00"),
        "other": make_brand("Other", slug="other", host=OTHER),
        "plain": make_brand("Plain", slug="plain"),
    }


def titles(response: Any) -> set[str]:
    return {item.title for item in response.context["items"]}


def test_host_of_a_brand_shows_that_brand_only(client, brands):
    rows = {
        name: make_vacancy(title=f"Nurse at {name}", brand=brand) for name, brand in brands.items()
    }
    everything = {row.title for row in rows.values()}
    for host, shown in (
        (MAIN, everything),
        (ACME, {"Nurse at acme"}),
        ("new.acme.test", everything),  # of no brand
    ):
        assert titles(client.get("/jobs", HTTP_HOST=host)) == shown
    assert client.get("/jobs", HTTP_HOST="jobs.evil.test").status_code == 400
    assert client.get("/", HTTP_HOST=ACME)["Location"] == "/jobs"

    page = client.get("/nl/jobs", HTTP_HOST=ACME).content.decode()
    assert f'<link rel="canonical" href="https://{ACME}/nl/jobs">' in page
    assert f"https://{MAIN}/account/" in page  # applicants' pages are on the main host
    assert (
        client.get("/jobs?filter[brand]=other&page[number]=2", HTTP_HOST=ACME)["Location"]
        == "/jobs"
    )


@pytest.mark.parametrize(
    ("host", "name"),
    [
        ("JOBS.Acme.TEST", "acme"),
        (f"{ACME}.", "acme"),
        (f"{ACME}:443", "acme"),
        (f"{ACME}.:8443", "acme"),
        (OTHER, "other"),
        (f"{OTHER}:8000", "port"),
        (MAIN, None),
        (MAIN.upper(), None),
        (f"x.{ACME}", None),
    ],
)
def test_brand_of_a_host(rf, brands, host, name):
    # With a port only for development.
    brands["port"] = make_brand("Port", slug="port", host=f"{OTHER}:8000")
    Brand.objects.filter(name="Plain").update(host=MAIN)  # never instead of the main site
    assert Site(rf.get("/", HTTP_HOST=host)).brand == brands.get(name)


def test_page_of_a_vacancy_is_on_the_host_of_its_brand_and_nowhere_else(client, brands):
    own, other = (make_vacancy(title="Nurse", brand=brands[name]) for name in ("acme", "other"))
    paths = {row.pk: f"/jobs/{row.pk}-nurse" for row in (own, other)}
    answers = {
        (host, pk): client.get(f"{path}?source=a", HTTP_HOST=host)
        for pk, path in paths.items()
        for host in (MAIN, ACME, OTHER)
    }
    assert {place: answer.status_code for place, answer in answers.items()} == {
        (MAIN, own.pk): 301,
        (ACME, own.pk): 200,
        (OTHER, own.pk): 404,
        (MAIN, other.pk): 301,
        (ACME, other.pk): 404,
        (OTHER, other.pk): 200,
    }
    assert answers[MAIN, own.pk]["Location"] == f"https://{ACME}{paths[own.pk]}?source=a"
    canonical = f'<link rel="canonical" href="https://{ACME}{paths[own.pk]}">'
    assert canonical in answers[ACME, own.pk].content.decode()
    # Zeros, another slug and a closed vacancy of another brand do not reveal it either.
    for path in (f"/jobs/0{other.pk}", f"/jobs/{other.pk}-x", f"/jobs/{'9' * 30}"):
        assert client.get(path, HTTP_HOST=ACME).status_code == 404, path
    Vacancy.objects.update(status="unpublished")
    assert [client.get(paths[row.pk], HTTP_HOST=ACME).status_code for row in (own, other)] == [
        410,
        404,
    ]


def test_page_of_a_brand_with_a_host_is_its_list(client, brands):
    def get(path: str, host: str) -> tuple[int, str | None]:
        answer = client.get(path, HTTP_HOST=host)
        return answer.status_code, answer.get("Location")

    assert get("/brands/plain", MAIN) == (200, None)
    assert get("/brands/acme?sort=title", MAIN) == (301, f"https://{ACME}/jobs?sort=title")
    assert get("/brands/acme", ACME) == (301, f"https://{ACME}/jobs")
    assert get("/brands/other", ACME) == get("/brands/plain", ACME) == (404, None)


def test_host_of_a_brand_serves_nothing_of_the_main_host(client, brands, filters):
    client.force_login(User.objects.create_superuser("root"))
    own, other = (make_open(brand=brands[name]) for name in ("acme", "other"))
    main_only = (
        "/admin",
        "/admin/",
        "/admin/vacancies/vacancy/",
        "/admin/language",
        "/admin/texts.js",
        "/account/",
        "/account/login",
        "/docs",
        "/docs/api.md",
        "/llms.txt",
        "/openapi.json",
        "/preview/x",
        f"/apply/{other.pk}",
        f"/vacancies/{other.pk}",
        "/apply/x",
        "/apply/²",
        f"/apply/{'9' * 30}",
        f"/apply/{'9' * 5000}",  # more digits than Python reads as a number
    )
    found = {path: client.get(path, HTTP_HOST=ACME).status_code for path in main_only}
    assert found == dict.fromkeys(main_only, 404)
    assert client.post("/admin/login/", HTTP_HOST=ACME).status_code == 404
    served = (
        f"/apply/{own.pk}",
        "/v1/vacancies",
        f"/v1/vacancies/{other.pk}/form",
        "/v0.1/vacancies",
        "/site.css",
    )
    assert {path: client.get(path, HTTP_HOST=ACME).status_code for path in served} == dict.fromkeys(
        served, 200
    )


def test_application_is_sent_from_the_host_of_its_brand(brands, filters):
    answer = post(Client(HTTP_HOST=ACME), make_open(brand=brands["acme"]), VALUES)
    assert answer["Location"].startswith("/apply/thanks/")
    assert Client().get(answer["Location"], HTTP_HOST=ACME).status_code == 200
    assert Application.objects.count() == 1


def test_hosts_of_brands_are_like_any_other_without(client, brands, settings, filters):
    settings.CAREER_SITE = False
    make_vacancy(brand=brands["acme"])
    assert client.get("/docs", HTTP_HOST=ACME).status_code == 200
    assert client.get("/brands/acme", HTTP_HOST=MAIN).status_code == 404


def test_requests_of_the_api_look_up_no_host(client, brands, filters):
    make_vacancy(brand=brands["acme"])
    found = {}
    for path in ("/v1/vacancies", "/v1/filters", "/v0.1/vacancies", "/jobs"):
        with CaptureQueriesContext(connection) as captured:
            assert client.get(path, HTTP_HOST=ACME).status_code == 200
        found[path] = sum('"host" IN' in query["sql"] for query in captured)
    assert found == {"/v1/vacancies": 0, "/v1/filters": 0, "/v0.1/vacancies": 0, "/jobs": 1}


def test_hosts_that_lead_elsewhere_are_reported(brands, settings):
    assert hosts_of_brands_lead_here() == []
    settings.ALLOWED_HOSTS = [MAIN, OTHER]
    make_brand("Main", slug="main", host=MAIN)
    assert [(warning.id, warning.msg) for warning in hosts_of_brands_lead_here()] == [
        ("jobsite.W026", f"ALLOWED_HOSTS does not contain {ACME}, the host of the brand Acme."),
        (
            "jobsite.W027",
            "The host of the brand Main is a name of PUBLIC_BASE_URL: it shows all brands.",
        ),
    ]
    settings.CAREER_SITE = False
    assert hosts_of_brands_lead_here() == []


def test_other_names_of_the_main_site_are_no_hosts_of_brands(brands, settings, rf):
    settings.ALLOWED_HOSTS = [".example.com"]
    form_class = modelform_factory(Brand, BrandForm, fields=["host"])

    def errors(host: str, **instance: Brand) -> list[str] | None:
        return form_class({"host": host}, **instance).errors.get("host")

    for base, names, others in (
        (
            "https://Jobs.Example.com",
            ("jobs.example.com", "jobs.example.com:443"),
            ("jobs.example.com:8443",),
        ),
        (
            "http://jobs.example.com:81/x",
            ("jobs.example.com", "jobs.example.com:81"),
            ("jobs.example.com:80",),
        ),
        ("https://bücher.example.com", ("xn--bcher-kva.example.com",), ()),
    ):
        settings.PUBLIC_BASE_URL = base
        for name in names:
            assert errors(name) == ["This is the host of the main site."]
            # Not even one that is stored already takes the place of the main site.
            brands["plain"].host = name
            brands["plain"].save()
            for host in (name, name.upper(), name.replace("com", "com.")):
                assert Site(rf.get("/jobs", headers={"host": host})).brand is None, host
        for name in others:
            assert not errors(name)
    settings.PUBLIC_BASE_URL = ""
    assert errors("jobs.example.com") == [
        "Set PUBLIC_BASE_URL first: it tells which host is the main one."
    ]
    # The rest of its page can be saved.
    assert not errors(brands["plain"].host, instance=brands["plain"])


def test_theme_of_a_brand_has_its_color_and_a_readable_text(client, brands):
    def theme(host: str) -> tuple[str, str]:
        [path] = re.findall(
            r'href="(/[^"]+\.css\?v=[^"]+)"', client.get("/jobs", HTTP_HOST=host).text
        )
        answer = client.get(path, HTTP_HOST=host)
        assert (answer["Content-Type"], answer["Cache-Control"]) == (
            "text/css",
            "public, max-age=31536000, immutable",
        )
        return path, answer.text

    first, css = theme(ACME)
    assert css == ":root{--site:#ffcc00;--on-site:#000000}"
    assert theme(MAIN)[1] == theme(OTHER)[1] == ":root{--site:#0b57b0;--on-site:#ffffff}"
    Brand.objects.filter(host=ACME).update(accent="#000000")
    assert theme(ACME)[1] == ":root{--site:#000000;--on-site:#ffffff}"
    assert theme(ACME)[0] != first  # caches keep the style sheet for a year
    changed = client.get(first, HTTP_HOST=ACME)  # the address of the other color
    assert changed["Cache-Control"] == "public, max-age=60"
    assert client.get("/brands/unknown.css", HTTP_HOST=ACME).status_code == 404


@given(accent=integers(0, 0xFFFFFF).map("#{:06x}".format))
@example(accent="#ffffff")
@example(accent="#777777")
def test_text_on_each_color_is_readable(accent):
    colors = re.findall("#[0-9a-f]{6}", stylesheet(Brand(accent=accent)))
    assert colors[0] == accent
    assert contrast(*colors) >= 4.5


def test_button_of_any_color_has_an_edge_on_both_pages():
    """A white button on a white page, and a black one on a dark page."""
    css = (site_settings.BASE_DIR / "jobsite/static/jobsite/site.css").read_text()
    assert re.search(r"\.button \{[^}]*border: 1px solid var\(--edge\)", css)
    [light, dark] = re.findall(
        r"--paper: (#\w+);.*?--edge: (#\w+);", css.replace("#fff;", "#ffffff;")
    )
    assert contrast(*light) >= 3
    assert contrast(*dark) >= 3
