"""Calendar days across changes of the clock: embargoes, retention, "within a week"."""

from contextlib import nullcontext
from datetime import UTC, datetime, timedelta
from io import StringIO
from itertools import pairwise
from zoneinfo import ZoneInfo, available_timezones

import pytest
from django.conf import settings as django_settings
from django.core.management import call_command
from django.test import Client, override_settings

from applications.models import Application, HistoryEntry, StageChange
from jobsite.days import days_after, start_of_day
from tests.applications.makers import (
    MINE,
    bearer,
    make_application,
    make_stage,
    make_step,
    make_token,
    make_user,
)
from tests.factories import make_vacancy
from vacancies.dates import closing_date_of, end_of_day, is_exact, last_day
from vacancies.models import Vacancy
from vacancies.quality.warnings import content_warnings, with_warnings

BRUSSELS, ST_JOHNS, LORD_HOWE = "Europe/Brussels", "America/St_Johns", "Australia/Lord_Howe"
# Time zone, local datetime with offset, days, and the expected datetime.
CASES = [
    # Brussels goes from +02:00 to +01:00 on 25 October 2026 at 03:00, and back on 28 March 2027 at
    # 02:00
    (BRUSSELS, "2026-10-24T14:00:00+02:00", 1, "2026-10-25T14:00:00+01:00"),
    (BRUSSELS, "2026-10-24T00:00:00+02:00", 2, "2026-10-26T00:00:00+01:00"),
    (BRUSSELS, "2026-10-24T02:30:00+02:00", 1, "2026-10-25T02:30:00+02:00"),  # the first of two
    (BRUSSELS, "2026-10-25T02:30:00+02:00", 1, "2026-10-26T02:30:00+01:00"),
    (BRUSSELS, "2026-10-25T02:30:00+01:00", 1, "2026-10-26T02:30:00+01:00"),
    (BRUSSELS, "2026-10-25T02:30:00+01:00", 0, "2026-10-25T02:30:00+01:00"),
    (BRUSSELS, "2027-03-27T14:00:00+01:00", 1, "2027-03-28T14:00:00+02:00"),
    (BRUSSELS, "2027-03-27T02:30:00+01:00", 1, "2027-03-28T03:30:00+02:00"),  # 02:30 does not exist
    (BRUSSELS, "2027-03-27T23:59:59.999999+01:00", 1, "2027-03-28T23:59:59.999999+02:00"),
    (BRUSSELS, "2026-10-20T09:00:00+02:00", 365, "2027-10-20T09:00:00+02:00"),
    (BRUSSELS, "2026-10-26T14:00:00+01:00", -2, "2026-10-24T14:00:00+02:00"),
    (BRUSSELS, "2028-02-28T09:00:00+01:00", 1, "2028-02-29T09:00:00+01:00"),
    # St John's goes from -02:30 to -03:30 on 1 November 2026, and back on 14 March 2027
    (ST_JOHNS, "2026-10-31T21:45:00-02:30", 1, "2026-11-01T21:45:00-03:30"),
    (ST_JOHNS, "2026-10-31T01:15:00-02:30", 1, "2026-11-01T01:15:00-02:30"),
    (ST_JOHNS, "2027-03-13T21:45:00-03:30", 3, "2027-03-16T21:45:00-02:30"),
    (ST_JOHNS, "2027-03-13T02:15:00-03:30", 1, "2027-03-14T03:15:00-02:30"),
    (LORD_HOWE, "2026-10-03T12:00:00+10:30", 1, "2026-10-04T12:00:00+11:00"),  # by half an hour
    ("UTC", "2026-10-24T14:00:00+00:00", 1, "2026-10-25T14:00:00+00:00"),
]


@pytest.fixture(params=CASES, ids=lambda case: f"{case[0]} {case[1]} {case[2]}")
def case(request, settings):
    settings.TIME_ZONE, at, days, after = request.param
    return (
        datetime.fromisoformat(at).astimezone(UTC),
        days,
        datetime.fromisoformat(after).astimezone(UTC),
    )


def test_days_after_adds_calendar_days(case):
    at, days, after = case
    assert days_after(at, days) == after
    zone = ZoneInfo(django_settings.TIME_ZONE)
    # However `at` is written.
    assert days_after(at.astimezone(ZoneInfo("Asia/Tokyo")), days) == after
    assert after.astimezone(zone).date() - at.astimezone(zone).date() == timedelta(days=days)


@pytest.mark.django_db
@pytest.mark.parametrize("case", [CASES[0], CASES[4], CASES[7], CASES[12]], indirect=True)
def test_embargo_counts_calendar_days(case, client: Client, time_machine):
    at, days, after = case
    user = make_user()
    application = make_application(
        user=user, stage=make_stage(en="Received"), created_at=at - timedelta(1)
    )
    rejected = make_stage(en="Not selected", embargo_days=days)
    StageChange.objects.create(application=application, stage=rejected, at=at)
    headers = bearer(make_token(user, timedelta(days=3000)))

    def reported(moment: datetime) -> str:
        time_machine.move_to(moment, tick=False)
        return client.get(MINE, headers=headers).json()["data"][0]["status"]

    assert [reported(after - timedelta(microseconds=1)), reported(after)] == [
        "Received",
        "Not selected",
    ]
    known = make_stage(en="Known", embargo_days=days)
    StageChange.objects.create(
        application=application, stage=known, at=at, is_exempt_from_embargo=True
    )
    assert reported(at) == "Known"


BOUNDARIES = [
    # time zone, now, days, expected datetime; across both changes of the clock
    (BRUSSELS, "2026-10-28T14:00:00+01:00", 7, "2026-10-21T14:00:00+02:00"),
    (BRUSSELS, "2027-03-31T00:30:00+02:00", 7, "2027-03-24T00:30:00+01:00"),
    (ST_JOHNS, "2026-11-03T23:45:00-03:30", 7, "2026-10-27T23:45:00-02:30"),
    (ST_JOHNS, "2027-03-16T23:45:00-02:30", 7, "2027-03-09T23:45:00-03:30"),
]


@pytest.fixture(params=BOUNDARIES, ids=lambda case: f"{case[0]} {case[1]}")
def week(request, settings, time_machine):
    """Two datetimes a calendar week apart. The current time is the later one."""
    settings.TIME_ZONE, later, _, earlier = request.param
    moments = [datetime.fromisoformat(text).astimezone(UTC) for text in (earlier, later)]
    time_machine.move_to(moments[1], tick=False)
    return moments


@pytest.mark.django_db
def test_retention_counts_calendar_days(week):
    before, moments = week[0] - timedelta(1), [week[0] + timedelta(microseconds=n) for n in (-1, 0)]
    _, kept = (make_application(created_at=before, updated_at=moment) for moment in moments)

    call_command("purge", "--older-than", "7", stdout=StringIO())

    assert Application.objects.get() == kept


@pytest.mark.django_db
def test_closing_within_a_week_counts_calendar_days(week, admin_client: Client, time_machine):
    earlier, later = week
    time_machine.move_to(earlier, tick=False)
    for n in (-1, 0, 1):
        end = later + timedelta(microseconds=n)
        make_vacancy(title=f"Nurse {n}", is_hot=True, publish_until=end)

    def filter_by_warning(code: str) -> list[str]:
        page = admin_client.get(f"/admin/vacancies/vacancy/?attention={code}")
        return sorted(vacancy.title for vacancy in page.context["cl"].queryset)

    assert filter_by_warning("hot-ending") == ["Nurse -1"]
    assert filter_by_warning("ending") == ["Nurse -1", "Nurse 0"]
    found = {
        row.title
        for row in with_warnings(Vacancy.objects.all(), at=earlier)
        if "hot-ending" in {warning.code for warning in content_warnings(row)}
    }
    assert found == {"Nurse -1"}


@pytest.mark.slow("many cases")
def test_days_begin_and_end_where_the_clock_changes_at_midnight(settings):
    """A closing date is a day also in zones without a midnight on some days, as it is stored:
    in UTC.
    """
    wrong, zones, microsecond = [], set(), timedelta(microseconds=1)
    for name in sorted(available_timezones()):
        zone = ZoneInfo(name)
        noons = [datetime(2027, 1, 1, 12, tzinfo=zone) + timedelta(days=n) for n in range(366)]
        changed = [b.date() for a, b in pairwise(noons) if a.utcoffset() != b.utcoffset()]
        skipped = [day for day in changed if start_of_day(day, zone).astimezone(zone).hour]
        if skipped:
            zones.add(name)
        with override_settings(TIME_ZONE=name) if skipped else nullcontext():
            for day in (each + timedelta(days=n) for each in changed for n in (-1, 0, 1)):
                start, end = start_of_day(day, zone), end_of_day(day, zone)
                dates = [
                    at.astimezone(zone).date()
                    for at in (start - microsecond, start, end - microsecond, end)
                ]
                expected = [day - timedelta(days=1), day, day, day + timedelta(days=1)]
                is_day = not skipped or (last_day(end), is_exact(end)) == (day, False)
                if dates != expected or not is_day:
                    wrong.append((name, day))
    assert wrong == []
    assert {
        "Atlantic/Azores",
        "Africa/Cairo",
        "America/Santiago",
        "Asia/Beirut",
        "America/Havana",
    } <= zones


@pytest.mark.django_db
def test_a_day_without_midnight_is_one_in_texts_and_lists(settings, time_machine):
    settings.TIME_ZONE = "Atlantic/Azores"  # 28 March 2027 begins at 01:00
    vacancy = make_vacancy(publish_until=datetime(2027, 3, 28, 1, tzinfo=UTC))
    assert closing_date_of(vacancy) == "27 Mar 2027"
    time_machine.move_to(datetime(2027, 3, 28, 12, tzinfo=UTC), tick=False)
    application, first = make_application(), datetime(2027, 3, 28, 1, tzinfo=UTC)
    steps = [make_step(application, planned_at=first + timedelta(minutes=n)) for n in (-1, 0)]
    assert list(HistoryEntry.objects.today()) == steps[1:]
