"""Reads the recorded statistics of vacancies:
only the rows of the days and groups that are shown.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from django.db.models import Max, Sum

from vacancies.models import DailyStatisticsBase, DailyVacancies, StatisticsQuerySet
from vacancies.statistics.recording import DAY, LIMITS

SUMS = ("went_live", "closed", "days_live", *(f"closed_in_{limit}" for limit in LIMITS))


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
    return model.objects.filter(option=None).aggregate(day=Max("day"))["day"]


def by_day(rows: StatisticsQuerySet, days: Days, *names: str) -> dict[str, list[int]]:
    """Return the sums of the columns `names` for each of the `days`, of rows without an option."""
    chosen = rows.filter(option=None, day__gte=days.first, day__lte=days.last).order_by()
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


def by_group(
    rows: StatisticsQuerySet, days: Days, options: Sequence[int] | None, *names: str
) -> dict[int | None, dict[str, int]]:
    """Return the sums of the columns `names` over the `days` by option, or by brand without
    `options`.
    """
    chosen = _of_groups(rows, options).filter(day__gte=days.first, day__lte=days.last)
    key = _key(options)
    sums = chosen.values(key).annotate(**{f"sum_{name}": Sum(name) for name in names})
    return {row[key]: {name: row[f"sum_{name}"] for name in names} for row in sums}


def live_by_group(
    rows: StatisticsQuerySet, days: Sequence[date], options: Sequence[int] | None
) -> dict[int | None, dict[date, int]]:
    """Return the numbers of live vacancies at the end of each of the `days`
    by option, or by brand.
    """
    key = _key(options)
    chosen = (
        _of_groups(rows, options)
        .filter(day__in=days)
        .values(key, "day")
        .annotate(sum_live=Sum("live"))
    )
    found: dict[int | None, dict[date, int]] = {}
    for row in chosen:
        found.setdefault(row[key], {})[row["day"]] = row["sum_live"]
    return found


def _key(options: Sequence[int] | None) -> str:
    return "brand_id" if options is None else "option_id"


def _of_groups(rows: StatisticsQuerySet, options: Sequence[int] | None) -> StatisticsQuerySet:
    return (
        rows.filter(option=None).order_by()
        if options is None
        else rows.filter(option__in=options).order_by()
    )
