"""Records the daily statistics of applications, which remain when applications are deleted."""

from collections import Counter
from collections.abc import Iterator
from datetime import date, datetime

from django.db import transaction
from django.db.models import Count, Max, Min
from django.db.models.functions import TruncDate
from django.utils import timezone

from applications.models import Application, DailyApplications, Submission
from jobsite.days import start_of_day
from jobsite.db.locks import lock_transaction
from vacancies.dates import end_of_day
from vacancies.statistics.recording import BACKFILL, DAY, create, day_of
from vacancies.statistics.visits import OTHER

# From which its name is kept: a rare source could point to a person.
MIN_APPLICATIONS_PER_SOURCE = 5


def record_days(*, at: datetime) -> int:
    """Record the days until `at` that are missing, and again the last recorded one, which had
    perhaps not finished. Return their number.
    """
    last = day_of(at)
    with transaction.atomic():
        lock_transaction("statistics of applications")
        first = DailyApplications.objects.aggregate(day=Max("day"))["day"] or _first_day(last)
        if first is None or first > last:
            return 0
        DailyApplications.objects.filter(day=first).delete()
        create(DailyApplications, _rows(first, last))
    return (last - first).days + 1


def _first_day(last: date) -> date | None:
    started = Application.objects.aggregate(at=Min("created_at"))["at"]
    if started is None:
        return None
    return max(day_of(started), last - (BACKFILL - 1) * DAY)


def _rows(first: date, last: date) -> Iterator[DailyApplications]:
    rows = Application.objects.filter(
        created_at__gte=start_of_day(first), created_at__lt=end_of_day(last)
    )
    rows = rows.annotate(
        day=TruncDate("created_at", tzinfo=timezone.get_default_timezone())
    ).order_by()
    by_source = rows.values("day", "vacancy__brand_id", "submission__source").annotate(
        number=Count("pk")
    )
    found: Counter[tuple[date, int | None, str]] = Counter()
    named = _named_sources(first, last)
    for row in by_source:
        source = row["submission__source"] or ""
        found[row["day"], row["vacancy__brand_id"], source if source in named else OTHER] += row[
            "number"
        ]
    for (day, brand, source), number in found.items():
        yield DailyApplications(day=day, brand_id=brand, source=source, received=number)
    day = first
    while day <= last:  # the day is recorded, also without applications
        yield DailyApplications(day=day, source="", received=0)
        day += DAY


def _named_sources(first: date, last: date) -> set[str]:
    """Return the sources of these days that enough of the stored applications have; "":
    none was sent.
    """
    used = Submission.objects.filter(
        application__created_at__gte=start_of_day(first),
        application__created_at__lt=end_of_day(last),
    )
    counted = Submission.objects.filter(source__in=used.order_by().values("source").distinct())
    common = counted.order_by().values_list("source").annotate(number=Count("pk"))
    return {"", *(source for source, number in common if number >= MIN_APPLICATIONS_PER_SOURCE)}
