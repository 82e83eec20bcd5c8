"""The calendar on the start page."""

from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from django.test import Client

from tests.conftest import NOW
from tests.factories import make_brand, make_vacancy
from vacancies.admin import calendar
from vacancies.models import Vacancy

pytestmark = pytest.mark.django_db

DAY = timedelta(days=1)


def shown(client: Client, query: str = "") -> dict[date, tuple[list[str], list[str]]]:
    """Return the titles that go live and close, by day, without empty days."""
    days = client.get(f"/admin/{query}").context["calendar"]["days"]
    return {
        each.day: ([title for _, title in each.live], [title for _, title in each.closing])
        for each in days
        if each.live or each.closing
    }


def test_calendar_shows_what_goes_live_and_closes(anna: Client, at: datetime):
    make_vacancy(title="Nurse", publish_from=NOW - DAY, publish_until=NOW + 3 * DAY)
    make_vacancy(title="Baker", publish_from=NOW + 3 * DAY)
    make_vacancy(title="Draft", publish_from=NOW, status="draft")
    make_vacancy(title="Later", publish_from=NOW + 60 * DAY)
    today = NOW.date()

    assert shown(anna) == {today - DAY: (["Nurse"], []), today + 3 * DAY: (["Baker"], ["Nurse"])}


@pytest.mark.slow("many cases")
def test_vacancy_closes_on_its_last_day_of_the_site(anna: Client, at: datetime, settings: Any):
    midnight = datetime(2026, 3, 12, tzinfo=UTC)
    make_vacancy(title="Until the 11th", publish_from=NOW - 90 * DAY, publish_until=midnight)
    assert shown(anna) == {date(2026, 3, 11): ([], ["Until the 11th"])}
    settings.TIME_ZONE = "Pacific/Auckland"
    Vacancy.objects.update(publish_from=datetime(2026, 3, 10, 12, tzinfo=UTC), publish_until=None)
    assert shown(anna) == {date(2026, 3, 11): (["Until the 11th"], [])}


@pytest.mark.slow("opens several pages of the admin")
def test_calendar_has_a_month_a_week_and_a_day(anna: Client, at: datetime):
    for query, first, last, before, after in (
        ("", (2026, 2, 23), (2026, 4, 5), "month&date=2026-02-28", "month&date=2026-04-01"),
        (
            "?calendar=month&date=2026-02-11",
            (2026, 1, 26),
            (2026, 3, 1),
            "month&date=2026-01-31",
            "month&date=2026-03-01",
        ),
        (
            "?calendar=week",
            (2026, 3, 2),
            (2026, 3, 8),
            "week&date=2026-03-01",
            "week&date=2026-03-09",
        ),
        (
            "?calendar=day&date=2026-12-31",
            (2026, 12, 31),
            (2026, 12, 31),
            "day&date=2026-12-30",
            "day&date=2027-01-01",
        ),
    ):
        seen = anna.get(f"/admin/{query}").context["calendar"]
        assert (seen["days"][0].day, seen["days"][-1].day) == (date(*first), date(*last))
        links = [f"/admin/?calendar={link}#calendar" for link in (before, after)]
        assert [seen["before"], seen["after"]] == links
    for query, link in (("week&date=1970-01-01", "before"), ("month&date=2199-12-31", "after")):
        assert anna.get(f"/admin/?calendar={query}").context["calendar"][link] is None


def test_invalid_calendar_returns_400(anna: Client):
    for query in (
        "calendar=year",
        "date=tomorrow",
        "date=2026-02-30",
        "date=0001-01-01",
        "date=9999-12-31",
        "date=%00",
    ):
        assert anna.get(f"/admin/?{query}").status_code == 400, query


def test_calendar_shows_own_brands_only(colleague: Client, at: datetime):
    for name in ("Mine", "Other"):
        make_vacancy(
            title=f"{name} job", brand=make_brand(name), publish_from=NOW, publish_until=NOW + DAY
        )

    assert shown(colleague) == {
        NOW.date(): (["Mine job"], []),
        NOW.date() + DAY: ([], ["Mine job"]),
    }


def test_busy_day_links_to_all_of_its_vacancies(anna: Client, at: datetime, monkeypatch: Any):
    for number in range(5):
        make_vacancy(title=f"Job {number}", publish_from=NOW)

    response = anna.get("/admin/")

    [day] = [each for each in response.context["calendar"]["days"] if each.live]
    assert ([title for _, title in day.live], day.has_more) == (["Job 0", "Job 1", "Job 2"], True)
    assert f'href="{day.url.replace("&", "&amp;")}"' in response.content.decode()
    assert len(shown(anna, "?calendar=day&date=2026-03-02")[NOW.date()][0]) == 5
    monkeypatch.setitem(calendar.LIMITS, "day", 4)
    limited = anna.get("/admin/?calendar=day&date=2026-03-02")
    assert "Only the first 4 are shown." in limited.content.decode()
