"""The Atom feed and the feed for Indeed, under hostile texts too."""

from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from defusedxml import ElementTree
from django.core.cache import cache

from tests.factories import make_brand, make_option, make_vacancy
from vacancies.models import Requisition

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("at")]
ATOM = "{http://www.w3.org/2005/Atom}"
HOST = "jobs.harbour.example.com"
GHENT: dict[str, Any] = {"locality": "Ghent", "country": "BE"}
LILLE: dict[str, Any] = {
    "street": "Rue 1",
    "postal_code": "59000",
    "locality": "Lille",
    "region": "Nord",
    "country": "FR",
}
BELGIUM: dict[str, Any] = {"kind": "applicant", "country": "BE"}
SHOWN = "]]> </script> <!-- &amp; <title> \u202e\u200f \U0001f600\U0001f469\u200d\U0001f680 "
HOSTILE = f"\x08\x0b\x1f{SHOWN}\ufffe\uffff"


@pytest.fixture(autouse=True)
def _site(settings: Any) -> None:
    settings.CAREER_SITE = True
    settings.SITE_NAME = "Jobs & more"
    settings.ALLOWED_HOSTS = ["testserver", HOST]


def read(client: Any, path: str, host: str = "testserver") -> Any:
    answer = client.get(path, headers={"host": host})
    assert answer.status_code == 200
    return ElementTree.fromstring(answer.getvalue())


def jobs(
    client: Any, path: str = "/feeds/indeed.xml", host: str = "testserver"
) -> list[dict[str, str]]:
    found = read(client, path, host)
    assert [each.tag for each in found[:2]] == ["publisher", "publisherurl"]
    return [{each.tag: each.text for each in job} for job in found.findall("job")]


def test_atom_feed_has_the_newest_vacancies(client, at):
    old = make_vacancy(
        title="Old",
        publish_from=at - timedelta(days=2),
        language="nl",
        updated_at=at,
        short_description="<p>Kort &amp; goed</p>",
    )
    new = make_vacancy(
        publish_from=at, description="<p>Long</p>", updated_at=at - timedelta(days=9)
    )
    make_vacancy(publish_until=at)
    make_vacancy(audience="internal")
    make_vacancy(brand=make_brand("Elsewhere", vacancy_url="https://acme.test/jobs/"))
    there = make_vacancy(brand=make_brand("Harbour", host=HOST))

    feed = read(client, "/jobs.atom")

    assert feed.findtext(f"{ATOM}title") == "Vacancies – Jobs & more"
    links = {each.get("rel"): each.get("href") for each in feed.findall(f"{ATOM}link")}
    assert links == {"alternate": "http://testserver/jobs", "self": "http://testserver/jobs.atom"}
    entries = feed.findall(f"{ATOM}entry")
    assert [{each.tag.removeprefix(ATOM): each.text for each in entry} for entry in entries] == [
        {
            "title": new.title,
            "link": None,
            "published": "2026-03-02T09:30:15+00:00",
            "updated": "2026-03-02T09:30:15+00:00",
            "id": f"http://testserver/jobs/{new.pk}",
            "summary": "<p>Long</p>",
        },
        {
            "title": "Old",
            "link": None,
            "published": "2026-02-28T09:30:15+00:00",
            "updated": "2026-03-02T09:30:15+00:00",
            "id": f"http://testserver/jobs/{old.pk}",
            "summary": "<p>Kort &amp; goed</p>",
        },
    ]
    assert [entry.find(f"{ATOM}link").get("href") for entry in entries] == [
        f"http://testserver{vacancy.site_path}" for vacancy in (new, old)
    ]
    languages = [entry.get("{http://www.w3.org/XML/1998/namespace}lang") for entry in entries]
    assert languages == ["en", "nl"]
    [only] = read(client, "/jobs.atom", HOST).findall(f"{ATOM}entry")
    assert only.findtext(f"{ATOM}id") == f"https://{HOST}/jobs/{there.pk}"


def test_feed_for_indeed_has_a_job_for_each_place(client):
    make_option("types", "Full", employment_type="FULL_TIME")
    make_option("types", "Odd", employment_type="OTHER")
    make_option("types", "Night", employment_type="PART_TIME")
    pay = {"pay_min": 3000, "pay_max": "4250.50", "pay_currency": "EUR", "pay_period": "month"}
    vacancy = make_vacancy(
        title="Nurse",
        reference="HW-1",
        places=(GHENT, LILLE),
        options={"types": ["Night", "Odd", "Full"]},
        description="<p>Care &amp; <strong>love</strong></p>",
        profile="<p>1 &lt; 2&nbsp;&gt; 0</p>",
        offer="<p>&lt;script&gt;</p>",
        publish_from=datetime(2026, 3, 1, 8, tzinfo=UTC),
        work_place="hybrid",
        publish_until=datetime(2026, 6, 1, 22, tzinfo=UTC),
        **pay,
    )
    remote = make_vacancy(
        work_place="remote", places=(BELGIUM, BELGIUM | {"country": "NL"}), pay_note="Good"
    )
    pages = make_brand("Elsewhere", vacancy_url="https://acme.test/job?id=")
    elsewhere = make_vacancy(brand=pages, places=(GHENT,), **pay | {"pay_min": None})
    make_vacancy()  # no place
    make_vacancy(places=(BELGIUM,), work_place="hybrid")
    make_vacancy(places=(GHENT,), audience="internal")
    open_applications = make_vacancy(places=(GHENT,))
    Requisition.objects.create(vacancy=open_applications, is_for_open_applications=True)

    first, second, *others = jobs(client)

    assert first == {
        "referencenumber": f"{vacancy.pk}-1",
        "title": "Nurse",
        "date": "2026-03-01T08:00:00Z",
        "requisitionid": "HW-1",
        "url": f"http://testserver{vacancy.site_path}?source=indeed",
        "company": "Acme",
        "description": "<p>Care & <strong>love</strong></p><p>1 < 2\u00a0> 0</p><p>< script></p>",
        "salary": "3000 - 4250.5 EUR per month",
        "jobtype": "fulltime, parttime",
        "expirationdate": "2026-06-01",
        "city": "Ghent",
        "country": "BE",
        "remotetype": "Hybrid remote",
    }
    assert second == first | {
        "referencenumber": f"{vacancy.pk}-2",
        "city": "Lille",
        "state": "Nord",
        "country": "FR",
        "postalcode": "59000",
        "streetaddress": "Rue 1",
    }
    names = ("referencenumber", "requisitionid", "country", "city", "remotetype", "salary", "url")
    assert [{name: job[name] for name in names if name in job} for job in others] == [
        *(
            {
                "referencenumber": f"{remote.pk}-{number}",
                "requisitionid": str(remote.pk),
                "country": country,
                "remotetype": "Fully remote",
                "url": f"http://testserver{remote.site_path}?source=indeed",
            }
            for number, country in ((1, "BE"), (2, "NL"))
        ),
        {
            "referencenumber": f"{elsewhere.pk}-1",
            "requisitionid": str(elsewhere.pk),
            "country": "BE",
            "city": "Ghent",
            "salary": "up to 4250.5 EUR per month",
            "url": f"https://acme.test/job?id={elsewhere.pk}&source=indeed",
        },
    ]


def test_feed_for_indeed_of_one_brand(client):
    harbour = make_brand("Harbour", host=HOST)
    ours, others = make_vacancy(brand=harbour, places=(GHENT,)), make_vacancy(places=(GHENT,))
    paths = {"/feeds/indeed.xml": [ours, others], "/feeds/indeed.xml?brand=harbour": [ours]}
    for path, expected in paths.items():
        assert [job["referencenumber"] for job in jobs(client, path)] == [
            f"{each.pk}-1" for each in expected
        ]
    [job] = jobs(client, host=HOST)
    assert urlsplit(job["url"]).netloc == HOST
    assert parse_qs(urlsplit(job["url"]).query) == {"source": ["indeed"]}
    for path, host in (
        ("?brand=x", "testserver"),
        ("?brands=harbour", "testserver"),
        ("?brand=acme", HOST),
    ):
        answer = client.get(f"/feeds/indeed.xml{path}", headers={"host": host})
        assert answer.status_code == 400, path
        assert path[1:6] in answer.content.decode()


def test_documents_of_the_whole_site_count_for_the_rate_limit(client, settings):
    settings.RATE_LIMIT = "1/min"
    for path in ("/feeds/indeed.xml", "/sitemap.xml"):
        cache.clear()
        answers = [client.get(path) for _ in range(2)]
        assert [each.status_code for each in answers] == [200, 429]
        assert answers[-1].has_header("Retry-After")


def test_feed_for_indeed_is_read_in_batches(client, monkeypatch):
    monkeypatch.setattr("jobsite.site.feeds.BATCH", 2)
    vacancies = [make_vacancy(places=(GHENT,)) for _ in range(5)]
    found = [job["referencenumber"] for job in jobs(client)]
    assert found == [f"{each.pk}-1" for each in vacancies]
    assert client.head("/feeds/indeed.xml").getvalue() == b""


def test_hostile_texts_stay_texts(client):
    values = {
        "title": HOSTILE,
        "brand": make_brand(HOSTILE),
        "reference": HOSTILE,
        "pay_note": HOSTILE,
    }
    place = {"locality": HOSTILE, "street": HOSTILE, "country": "BE"}
    text = f"<p>{HOSTILE.replace('&', '&amp;').replace('<', '&lt;')}</p>"
    make_vacancy(**values, places=(place,), description=text, short_description=text)

    [job] = jobs(client)
    assert {
        job[name] for name in ("title", "company", "requisitionid", "city", "streetaddress")
    } == {SHOWN}
    [entry] = read(client, "/jobs.atom").findall(f"{ATOM}entry")
    assert entry.findtext(f"{ATOM}title") == SHOWN
