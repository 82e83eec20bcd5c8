"""The lists follow the clock of the process that responds, and no reader writes because time
passed.

The clock of the process is stopped; that of the database, which marks rows as expired, cannot be
changed.
"""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection
from django.utils import timezone

from jobsite.serving.revision import read_state
from tests.factories import make_vacancy
from tests.vacancies.api.site import (
    LISTS,
    ON_POSTGRESQL,
    Site,
    bucket_counts,
    check,
    published_counts,
)
from tests.vacancies.readmodel.helpers import LIST, on_postgresql, write_rows
from vacancies.api.lists import ListViewSet
from vacancies.models import BucketCount, ListedVacancy, Vacancy
from vacancies.readmodel.maintenance import mark_expired

HOUR = timedelta(hours=1)
PATHS = (*LISTS, f"{LIST}?sort=title", f"{LIST}?filter[search]=vacancy&page[size]=2")


@pytest.fixture
def now(time_machine):
    """The time of the database, at which the clock of the process is stopped."""
    now = timezone.now()
    time_machine.move_to(now, tick=False)
    return now


@pytest.fixture
def plain_pages(monkeypatch):
    """The paths of lists that were read without the read model."""
    found, plain_page = [], ListViewSet.plain_page

    def note(view: Any, state: Any) -> Any:
        found.append(view.request.path)
        return plain_page(view, state)

    monkeypatch.setattr(ListViewSet, "plain_page", note)
    return found


@pytest.fixture
def schedule(now):
    """Vacancies that go live or expire from 3 hours before now to 3 hours after it."""
    for hours in range(-3, 4):
        make_vacancy(publish_from=now + hours * HOUR, is_hot=hours % 2 == 0, audience="both")
    for hours in range(4):
        make_vacancy(publish_from=now - 9 * HOUR, publish_until=now + hours * HOUR)


def stored() -> Any:
    """Return everything that the read model stores."""
    rows = ListedVacancy.objects.order_by("pk"), BucketCount.objects.order_by("pk")
    return read_state(), *(list(each.values()) for each in rows)


@pytest.mark.slow("many cases")
@pytest.mark.each_database
def test_reader_does_not_write_when_vacancies_go_live_or_expire(
    uncached, schedule, now, time_machine
):
    call_command("render_items", verbosity=0)
    before, written = stored(), []

    def note(execute: Any, sql: str, *rest: Any) -> Any:
        if not re.match("SELECT|BEGIN DEFERRED|ROLLBACK|SET TRANSACTION", sql):
            written.append(sql)
        return execute(sql, *rest)

    with connection.execute_wrapper(note):
        for hours in range(5):
            time_machine.move_to(now + hours * HOUR, tick=False)
            for path in (*PATHS, "/v1/filters"):
                uncached.ask(path)
            uncached.same(LIST)
    assert written == []
    assert stored() == before
    assert bucket_counts() == published_counts()


@pytest.mark.slow("reads every page of every list")
@pytest.mark.each_database
def test_processes_with_different_clocks_serve_their_own_time(
    uncached, schedule, now, time_machine, plain_pages
):
    one, other, before = uncached, Site(), read_state()
    for minutes in (-90, -1, 0, 61, 180):
        for process, offset in ((one, 0), (other, 150), (one, 0), (other, -20)):
            time_machine.move_to(now + timedelta(minutes=minutes + offset), tick=False)
            for path in PATHS:
                process.same(path)
    assert read_state() == before
    # No clock makes the read model unusable for the other.
    assert plain_pages == [] or not ON_POSTGRESQL


def test_cached_response_ends_to_the_microsecond(site, now, time_machine):
    make_vacancy(publish_from=now + HOUR, publish_until=now + 2 * HOUR)
    one = timedelta(microseconds=1)
    for time, total in ((HOUR - one, 0), (HOUR, 1), (2 * HOUR - one, 1), (2 * HOUR, 0), (HOUR, 1)):
        time_machine.move_to(now + time, tick=False)
        check(site, LIST)
        assert Site().same(LIST)["meta"]["total"] == total


# --- Rows that the clock of the database marked as expired ----------------------------------------


@on_postgresql
def test_clock_behind_a_marked_row_needs_a_plain_query(uncached, now, time_machine, plain_pages):
    shown = make_vacancy(publish_from=now - 9 * HOUR)
    marked = make_vacancy(publish_from=now - 9 * HOUR, publish_until=now - HOUR)
    assert ListedVacancy.objects.get(is_expired=True).pk == marked.pk
    for path in PATHS:
        uncached.same(path)
    assert plain_pages == []
    time_machine.move_to(now - 2 * HOUR, tick=False)
    for path in PATHS:
        uncached.same(path)
    assert len(plain_pages) == len(PATHS)
    assert {item["id"] for item in uncached.same(LIST)["data"]} == {shown.pk, marked.pk}
    uncached.same(f"{LIST}/{marked.pk}")
    assert mark_expired() == 0
    time_machine.move_to(now - HOUR, tick=False)
    assert [item["id"] for item in uncached.same(LIST)["data"]] == [shown.pk]


@on_postgresql
def test_row_that_was_marked_too_early(uncached, now, time_machine, plain_pages):
    """The clock of the database was ahead for a while."""
    early = make_vacancy(publish_from=now - 9 * HOUR, publish_until=now + HOUR, audience="both")
    make_vacancy(publish_from=now - 8 * HOUR)
    write_rows(Vacancy.objects.filter(pk=early.pk), is_expired=True)
    for path in PATHS:
        uncached.same(path)
    assert len(plain_pages) == len(PATHS)
    time_machine.move_to(now + HOUR, tick=False)
    for path in PATHS:
        uncached.same(path)
    time_machine.move_to(now, tick=False)
    assert mark_expired() == 1
    assert mark_expired() == 0
    for path in PATHS:
        uncached.same(path)
    assert len(plain_pages) == len(PATHS)
    assert bucket_counts() == published_counts()


@on_postgresql
def test_row_that_is_marked_too_late(uncached, now, plain_pages):
    """The clock of the database is behind."""
    make_vacancy(publish_from=now - 9 * HOUR, publish_until=now - HOUR, audience="both")
    make_vacancy(publish_from=now - 8 * HOUR)
    write_rows(Vacancy.objects.exclude(publish_until=None), is_expired=False)
    for path in PATHS:
        uncached.same(path)
    assert plain_pages == []
    assert bucket_counts() == published_counts() == [1, 0, 0, 0]


# --- ETags ----------------------------------------------------------------------------------------


@on_postgresql
def test_etag_is_stable_while_pages_are_plain_queries(uncached, now, plain_pages):
    early = make_vacancy(
        publish_from=now - 9 * HOUR, publish_until=now + HOUR, audience="both", is_hot=True
    )
    tags = {path: uncached.ask(path)[1]["ETag"] for path in PATHS}
    for act, plain in (
        (lambda: write_rows(Vacancy.objects.all(), is_expired=True), True),
        (mark_expired, False),
    ):
        act()
        plain_pages.clear()
        for path, tag in tags.items():
            assert uncached.ask(path, HTTP_IF_NONE_MATCH=tag)[0] == "304 Not Modified"
        assert len(plain_pages) == plain * len(PATHS)
    assert early.pk in ListedVacancy.objects.filter(is_expired=False).values_list("pk", flat=True)
