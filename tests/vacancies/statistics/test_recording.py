"""The daily figures of vacancies."""

from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest

from jobsite.models import Revision
from tests.factories import make_brand, make_vacancy
from vacancies.history.versions import PUBLICATION, record_values, values_of
from vacancies.models import Brand, Change, DailyVacancies, Vacancy
from vacancies.operations.publication import archive, unpublish
from vacancies.statistics.recording import BACKFILL, record_days

pytestmark = pytest.mark.django_db

DAY = timedelta(days=1)
NOW = datetime(2026, 3, 2, 8, 30, tzinfo=UTC)
TODAY = date(2026, 3, 2)


def of_day(day: date) -> dict[str | None, tuple[int, int, int]]:
    """Return (live, went live, closed) by brand."""
    rows = DailyVacancies.objects.filter(day=day).exclude(brand=None)
    return {
        str(row.brand): (row.live, row.went_live, row.closed)
        for row in rows.select_related("brand")
    }


def record_unpublication(vacancy: Any, at: datetime) -> None:
    before = values_of(vacancy, PUBLICATION) | {"status": "published"}
    record_values([vacancy], [before], Change.UNPUBLISHED, author=None, at=at)


def test_days_are_recorded_from_the_dates_of_vacancies():
    acme, other = make_brand("Acme"), make_brand("Other")
    make_vacancy(brand=acme, publish_from=NOW - 3 * DAY, publish_until=NOW - DAY)
    make_vacancy(brand=acme, publish_from=NOW - 2 * DAY)
    make_vacancy(brand=other, publish_from=NOW - 2 * DAY, publish_until=NOW + DAY)
    make_vacancy(brand=other, publish_from=NOW + DAY)
    make_vacancy(brand=other, status="draft", publish_from=NOW - 2 * DAY)

    assert record_days(at=NOW) == 4

    assert of_day(TODAY - 3 * DAY) == {"Acme": (1, 1, 0)}
    assert of_day(TODAY - 2 * DAY) == {"Acme": (2, 1, 0), "Other": (1, 1, 0)}
    assert of_day(TODAY - DAY) == {"Acme": (1, 0, 1), "Other": (1, 0, 0)}
    assert of_day(TODAY) == {"Acme": (1, 0, 0), "Other": (1, 0, 0)}


def test_later_run_continues_with_the_same_figures():
    make_vacancy(publish_from=NOW - 9 * DAY, publish_until=NOW - 2 * DAY)
    make_vacancy(publish_from=NOW - 4 * DAY)
    record_days(at=NOW - 3 * DAY)
    assert record_days(at=NOW) == 4
    figures = DailyVacancies.objects.order_by("day", "brand").values(
        "day", "brand", "live", "closed"
    )
    in_parts = list(figures.all())
    DailyVacancies.objects.all().delete()

    record_days(at=NOW)

    assert list(figures.all()) == in_parts


def test_today_is_recorded_again_by_each_run():
    make_vacancy(publish_from=NOW - DAY)
    record_days(at=NOW)
    make_vacancy(publish_from=NOW, publish_until=NOW + DAY / 2)
    assert of_day(TODAY) == {"Acme": (1, 0, 0)}
    assert record_days(at=NOW) == 1
    assert of_day(TODAY) == {"Acme": (2, 1, 0)}
    assert record_days(at=NOW + DAY) == 2
    assert (of_day(TODAY), of_day(TODAY + DAY)) == ({"Acme": (1, 1, 1)}, {"Acme": (1, 0, 0)})


def test_unpublished_vacancy_closes_when_it_was_unpublished():
    vacancy = make_vacancy(publish_from=NOW - 9 * DAY, publish_until=NOW + 30 * DAY)
    unpublish(vacancies=Vacancy.objects.all(), at=NOW - 2 * DAY)
    archive(vacancies=Vacancy.objects.all(), at=NOW - DAY)
    Vacancy.objects.filter(pk=vacancy.pk).update(updated_at=NOW)

    record_days(at=NOW)

    assert DailyVacancies.objects.get(closed=1).day == TODAY - 2 * DAY
    assert of_day(TODAY - DAY) == {}


def test_unpublishing_counts_only_while_the_vacancy_is_public():
    early = make_vacancy(publish_from=NOW - 2 * DAY, status="unpublished")
    record_unpublication(early, NOW - 5 * DAY)
    assert record_days(at=NOW) == 0
    vacancy = make_vacancy(
        publish_from=NOW - 9 * DAY, publish_until=NOW - 5 * DAY, status="unpublished"
    )
    record_unpublication(vacancy, NOW - DAY)
    record_days(at=NOW)
    assert DailyVacancies.objects.get(closed=1).day == TODAY - 5 * DAY


def test_days_are_those_of_the_site(settings):
    settings.TIME_ZONE = "Pacific/Auckland"  # 13 hours ahead
    make_vacancy(publish_from=datetime(2026, 2, 28, 12, tzinfo=UTC), publish_until=NOW + DAY)

    record_days(at=NOW)

    assert of_day(date(2026, 3, 1)) == {"Acme": (1, 1, 0)}
    assert not of_day(date(2026, 2, 28))


def test_first_run_records_two_years_at_most():
    make_vacancy(publish_from=NOW - 3000 * DAY)

    assert record_days(at=NOW) == BACKFILL
    assert DailyVacancies.objects.filter(live=1).count() == BACKFILL
    assert not DailyVacancies.objects.filter(went_live=1).exists()


def test_deleted_brand_keeps_its_figures():
    vacancy = make_vacancy(publish_from=NOW - 2 * DAY)
    before = list(Revision.objects.values())
    record_days(at=NOW)
    assert list(Revision.objects.values()) == before
    vacancy.delete()
    Brand.objects.all().delete()
    assert DailyVacancies.objects.filter(live=1).count() == 3
