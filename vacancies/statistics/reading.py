"""Reads the recorded statistics of vacancies:
only the rows of the days that are shown.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from django.db.models import Max, Sum

from vacancies.models import DailyStatisticsBase, DailyVacancies, StatisticsQuerySet
from vacancies.statistics.recording import DAY


@dataclass(frozen=True)
class Days:
    """Consecutive days, both ends included."""

    first: date
    last: date

    def __len__(self) -> int:
        return (self.last - self.first).days + 1

    def all(self) -> list[date]:
        return [self.first + number * DAY for number in range(len(self))]

    @classmethod
    def until(cls, last: date, count: int) -> "Days":
        return cls(last - (count - 1) * DAY, last)


def last_recorded(model: type[DailyStatisticsBase] = DailyVacancies) -> date | None:
    """Return the last recorded day."""
    return model.objects.aggregate(day=Max("day"))["day"]


def by_day(rows: StatisticsQuerySet, days: Days, *names: str) -> dict[str, list[int]]:
    """Return the sums of the columns `names` for each of the `days`."""
    chosen = rows.filter(day__gte=days.first, day__lte=days.last).order_by()
    found = {
        row["day"]: row
        for row in chosen.values("day").annotate(**{f"sum_{name}": Sum(name) for name in names})
    }
    return {
        name: [found[day][f"sum_{name}"] if day in found else 0 for day in days.all()]
        for name in names
    }


def in_parts(values: Sequence[int], size: int) -> list[int]:
    """Return the sums of consecutive parts of `size` values;
    an incomplete first part is left out.
    """
    start = len(values) % size
    return [sum(values[index : index + size]) for index in range(start, len(values), size)]


def by_brand(rows: StatisticsQuerySet, days: Days, *names: str) -> dict[int | None, dict[str, int]]:
    """Return the sums of the columns `names` over the `days` by brand."""
    chosen = rows.filter(day__gte=days.first, day__lte=days.last).order_by()
    sums = chosen.values("brand_id").annotate(**{f"sum_{name}": Sum(name) for name in names})
    return {row["brand_id"]: {name: row[f"sum_{name}"] for name in names} for row in sums}


def live_by_brand(
    rows: StatisticsQuerySet, days: Sequence[date]
) -> dict[int | None, dict[date, int]]:
    """Return the numbers of live vacancies at the end of each of the `days` by brand."""
    found: dict[int | None, dict[date, int]] = {}
    chosen = rows.filter(day__in=days).order_by().values_list("brand_id", "day")
    for brand, day, number in chosen.annotate(sum_live=Sum("live")):
        found.setdefault(brand, {})[day] = number
    return found
