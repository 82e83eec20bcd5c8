"""Every page is right, whatever the distribution of the vacancies over time."""

from collections.abc import Iterable
from datetime import datetime, timedelta

import pytest
from django.utils import timezone

from tests.factories import make_vacancy
from tests.vacancies.api.site import bucket_counts, check, published_counts
from tests.vacancies.readmodel.helpers import LIST, check_pages, on_postgresql, use_small_buckets
from vacancies.readmodel.maintenance import balance

DAY, SECOND, MICROSECOND = timedelta(days=1), timedelta(seconds=1), timedelta(microseconds=1)
Dates = Iterable[tuple[datetime, datetime | None]]  # publish_from and publish_until


@pytest.fixture
def now(time_machine):
    now = timezone.now()
    time_machine.move_to(now, tick=False)
    return now


def make(dates: Dates) -> None:
    for number, (start, end) in enumerate(dates):
        audience = ("public", "both", "internal", "both")[number % 4]
        make_vacancy(
            publish_from=start, publish_until=end, audience=audience, is_hot=number % 3 == 0
        )


@on_postgresql
def test_vacancy_that_expires_with_the_end_of_its_bucket(site, now, monkeypatch, time_machine):
    """Both ends of a range: a vacancy is live at publish_from, and not at publish_until."""
    use_small_buckets(monkeypatch, 2)
    now = now.replace(microsecond=0)
    make([(now - DAY, now), (now - DAY, now + SECOND), (now, now + SECOND), (now + SECOND, None)])
    make([(now + n * MICROSECOND, None) for n in range(-2, 3)])
    balance()
    for offset in (-MICROSECOND, MICROSECOND * 0, MICROSECOND, SECOND - MICROSECOND, SECOND):
        time_machine.move_to(now + offset, tick=False)
        for number in range(1, 7):
            check(site, f"{LIST}/internal?page[size]=1&page[number]={number}")
        assert bucket_counts() == published_counts()


@pytest.mark.slow("reads every page of every list")
@on_postgresql
def test_first_and_last_time(site, now, monkeypatch):
    use_small_buckets(monkeypatch, 2)
    first, last = (datetime(year, 1, 1, tzinfo=now.tzinfo) for year in (1, 9999))
    make(
        [
            (first + DAY, None),
            (first + DAY, None),
            (now, None),
            (now, last),
            (last, None),
            (last, None),
        ]
    )
    for _ in range(2):
        check_pages(site, 1)
        assert bucket_counts() == published_counts()
        balance()
