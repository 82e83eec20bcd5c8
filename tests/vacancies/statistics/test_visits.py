"""Counting of visits: which requests count, what is stored, and what a hostile client can fill."""

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, date, datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

import pytest
import time_machine as clock
from django.db import DatabaseError, InterfaceError

from jobsite.ops.logs import Requests
from tests.factories import make_vacancy
from tests.servers import Instance, get, until
from tests.wsgi import ask
from vacancies.fields import slug_of
from vacancies.models import DailyVisits
from vacancies.statistics import visits as module
from vacancies.statistics.visits import (
    NAMED_MAX,
    OTHER,
    SOURCES_MAX,
    STARTED,
    Visits,
    count_visit,
    store,
)

BROWSER = "Mozilla/5.0 (X11; Linux x86_64; rv:144.0) Gecko/20100101 Firefox/144.0"
DAY = date(2026, 3, 2)


@pytest.fixture
def visits(monkeypatch: Any) -> Iterator[Visits]:
    """The counts of a process that has just started."""
    own = Visits()
    monkeypatch.setattr(module, "visits", own)
    yield own
    if own.timer:
        own.timer.cancel()


def answer(environ: dict, start_response: Any) -> list[bytes]:
    """A site on which the vacancies 1 to 9 are published, and 2 is one that
    the browser has cached.
    """
    number = (re.findall("[0-9]+", environ["PATH_INFO"]) or ["1"])[0]
    if environ["PATH_INFO"].startswith("/apply/"):
        environ[STARTED] = int(number)
    statuses = {"2": "304 Not Modified", "10": "410 Gone", "11": "301 Moved Permanently"}
    start_response(statuses.get(number, "200 OK"), [])
    return []


def seen(visits: Visits) -> dict[tuple[int, str], list[int]]:
    return {(vacancy, source): numbers for (vacancy, _day, source), numbers in visits.sums.items()}


def view(path: str, method: str = "GET", **headers: str) -> None:
    ask(
        Requests(answer, count_visit=count_visit),
        path,
        method,
        **({"HTTP_USER_AGENT": BROWSER} | headers),
    )


def test_visits_of_people_count_by_vacancy_and_source(visits):
    for path in (
        "/jobs/1-baker",
        "/jobs/1-baker",
        "/jobs/1-baker?source=Indeed",
        "/jobs/2",
        "/jobs/1-baker?utm_source=%20indeed%0A&page[size]=2",
        "/apply/1?source=indeed",
        "/jobs/3-x?source=&utm_source=Caf%C3%A9",
    ):
        view(path)

    assert seen(visits) == {
        (1, ""): [2, 0],
        (1, "indeed"): [2, 1],
        (2, ""): [1, 0],
        (3, "café"): [1, 0],
    }


def test_robots_and_other_requests_do_not_count(visits):
    for path, method, headers in (
        ("/jobs/1-baker", "HEAD", {}),
        ("/apply/1", "HEAD", {}),
        ("/apply/1", "POST", {}),
        ("/jobs/10-closed", "GET", {}),
        ("/jobs", "GET", {}),
        ("/jobs/11", "GET", {}),
        ("/nl/jobs", "GET", {}),
        ("/v1/jobs/1-baker", "GET", {}),
        ("/jobs/1-baker", "GET", {"HTTP_SEC_PURPOSE": "prefetch;prerender"}),
        ("/jobs/1-baker", "GET", {"HTTP_USER_AGENT": ""}),
        ("/jobs/1-baker", "GET", {"HTTP_USER_AGENT": "curl/8.14.1"}),
        ("/jobs/1-baker", "GET", {"HTTP_USER_AGENT": "Mozilla/5.0 (compatible; Googlebot/2.1)"}),
        ("/jobs/1-baker", "GET", {"HTTP_USER_AGENT": "Mozilla/5.0 (compatible; BingPreview/1.0b)"}),
        ("/apply/1", "GET", {"HTTP_USER_AGENT": "Mozilla/5.0 (compatible; YandexBot/3.0)"}),
    ):
        view(path, method, **headers)

    assert seen(visits) == {}


def test_source_that_may_be_personal_or_is_no_text_is_not_stored(visits):
    for source in (
        "jan@example.com",
        "jan%40example.com",
        "a%00b",
        "%ff%fe",
        "a%E2%80%AEb",
        "%ED%A0%80",
    ):
        view(f"/jobs/1-baker?source={source}")
    view(f"/jobs/1-baker?source={'x' * 300}")

    names = {source for _vacancy, source in seen(visits)}
    assert names == {OTHER, "\ufffd\ufffd", "\ufffd\ufffd\ufffd", "x" * 200}


def test_invented_sources_are_counted_together(visits, monkeypatch):
    for number in range(SOURCES_MAX + 10):
        view(f"/jobs/1-baker?source=s{number}")
    view("/jobs/1-baker?source=s0")

    found = seen(visits)
    assert len(found) == SOURCES_MAX + 1
    assert (found[1, OTHER], found[1, "s0"]) == ([10, 0], [2, 0])

    visits.sums.clear()  # they were written: the limit is of the day
    view("/jobs/1-baker?source=one-more")
    assert seen(visits) == {(1, OTHER): [1, 0]}

    assert NAMED_MAX <= 20_000
    monkeypatch.setattr(module, "NAMED_MAX", SOURCES_MAX)
    view("/jobs/2-miller?source=letter")
    assert (2, OTHER) in seen(visits)
    with clock.travel(datetime.now(UTC) + timedelta(days=1), tick=False):
        view("/jobs/2-miller?source=letter")
    assert (2, "letter") in seen(visits)


def test_day_is_that_of_the_time_zone_of_the_site(visits, settings):
    settings.TIME_ZONE = "Europe/Brussels"
    for minute in (0, 1):
        with clock.travel(
            datetime(2026, 3, 1, 22, 59, tzinfo=UTC) + timedelta(minutes=minute), tick=False
        ):
            view("/jobs/1-baker")
    assert list(visits.sums) == [(1, DAY - timedelta(days=1), ""), (1, DAY, "")]


def rows() -> list[tuple]:
    names = ("vacancy_id", "day", "source", "views", "started")
    return [*DailyVisits.objects.order_by(*names).values_list(*names)]


@pytest.mark.django_db
def test_counts_of_processes_are_added(django_assert_num_queries):
    first, second = make_vacancy(), make_vacancy()
    with django_assert_num_queries(3):  # one statement in a transaction
        store(
            {
                (first.pk, DAY, ""): [3, 1],
                (second.pk, DAY, "indeed"): [1, 0],
                (999_999, DAY, ""): [1, 0],
            }
        )
    store({(first.pk, DAY, ""): [2, 0], (first.pk, DAY, "indeed"): [1, 1]})
    store({})

    assert rows() == [
        (first.pk, DAY, "", 5, 1),
        (first.pk, DAY, "indeed", 1, 1),
        (second.pk, DAY, "indeed", 1, 0),
    ]
    first.delete()
    assert len(rows()) == 1


@pytest.mark.django_db(transaction=True)
def test_counts_are_written_soon_and_kept_if_the_database_refuses_them(visits, monkeypatch):
    """Without another request, so a crash loses what was counted in the last
    WRITE_EVERY seconds.
    """
    assert module.WRITE_EVERY <= 30
    monkeypatch.setattr(module, "WRITE_EVERY", 0.02)
    vacancy = make_vacancy()
    visits.sums[vacancy.pk, DAY, ""] = [-7, 0]  # the database has a constraint
    with pytest.raises(DatabaseError):
        visits.write()
    with clock.travel(datetime(2026, 3, 2, 12, tzinfo=UTC), tick=False):
        for _ in range(9):
            visits.add(vacancy.pk, "", 0)

    until(rows)
    assert rows() == [(vacancy.pk, DAY, "", 2, 0)]
    assert visits.sums == {}


def test_counts_are_written_after_any_error_of_a_connection(visits, monkeypatch):
    attempts: list[object] = []

    def lose(query: object) -> None:
        attempts.append(query)
        if len(attempts) == 1:
            raise InterfaceError("the connection is closed")
        visits.sums.clear()

    monkeypatch.setattr(module, "WRITE_EVERY", 0.02)
    monkeypatch.setattr(module, "on_dedicated_connection", lose)
    visits.add(1, "", 0)
    until(lambda: len(attempts) == 2)


@pytest.mark.slow("starts gunicorn")
def test_process_that_ends_has_counted_cached_pages_too(tmp_path):
    site = Instance(tmp_path, CAREER_SITE="on")
    site.manage("generate_vacancies", "1")
    with closing(sqlite3.connect(tmp_path / "db.sqlite3")) as database:
        ((pk, title),) = database.execute("SELECT id, title FROM vacancies_vacancy")
        page, browser = f"/jobs/{pk}-{slug_of(title)}", {"User-Agent": BROWSER}
        with site.serve() as url:
            port = urlsplit(url).port
            etag = get(port, page, browser)[1]["ETag"]
            statuses = [
                get(port, path, browser | headers)[0]
                for path, headers in (
                    (page, {}),
                    (page, {"If-None-Match": etag}),
                    (f"{page}?source=indeed", {}),
                    (f"/apply/{pk}", {}),  # has no form
                    (page, {"User-Agent": "curl/8"}),
                )
            ]
            assert database.execute("SELECT * FROM vacancies_dailyvisits").fetchall() == []
        found = database.execute(
            "SELECT source, views, started FROM vacancies_dailyvisits ORDER BY source"
        )
        assert (statuses, found.fetchall()) == (
            [200, 304, 200, 404, 200],
            [("", 3, 0), ("indeed", 1, 0)],
        )
