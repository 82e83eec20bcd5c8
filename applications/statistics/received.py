"""Records how many applications were received on each day."""

from collections import Counter
from collections.abc import Iterator
from datetime import date, datetime

from django.db.models import Case, Count, F, Min, QuerySet, Value, When
from django.db.models.functions import Concat, TruncDate
from django.utils import timezone

from applications.models import Application, DailyApplications, Submission
from jobsite.days import start_of_day
from vacancies.dates import end_of_day
from vacancies.statistics.recording import BACKFILL, DAY, day_of, record_missing
from vacancies.statistics.visits import OTHER

# From which its name is kept: a rare source could point to a person.
MIN_APPLICATIONS_PER_SOURCE = 5
ADDED = "+"  # before the channel of an application that a colleague added
IMPORTED = "+import"

# Where an application came from: the source of what the applicant sent, or how it was added. A link
# cannot name a channel.
SOURCE = Case(
    When(submission__source__startswith=ADDED, then=Value(OTHER)),
    When(submission__isnull=False, then=F("submission__source")),
    When(origin__isnull=False, then=Concat(Value(ADDED), F("origin__channel"))),
    default=Value(IMPORTED),
)


def record_days(*, at: datetime) -> int:
    """Record the days until `at` that are missing, and again the last recorded one, which had
    perhaps not finished. Return their number.
    """
    return record_missing(DailyApplications, _first_day, _rows, at=at)


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
    numbers = rows.values_list("day", "vacancy__brand", "vacancy", SOURCE).annotate(n=Count("pk"))
    found: Counter[tuple[date, int | None, int, str]] = Counter()
    named = _named_sources(first, last)
    for *key, source, number in numbers:
        is_named = source in named or source.startswith(ADDED)
        found[*key, source if is_named else OTHER] += number
    for (day, brand, vacancy, source), number in found.items():
        yield DailyApplications(
            day=day, brand_id=brand, vacancy_number=vacancy, source=source, received=number
        )
    day = first
    while day <= last:  # the day is recorded, also without applications
        yield DailyApplications(day=day, source="", received=0)
        day += DAY


def common_sources() -> QuerySet[Submission, str]:
    """Return the sources that enough of the stored applications have."""
    counted = Submission.objects.order_by().values("source").annotate(number=Count("pk"))
    return counted.filter(number__gte=MIN_APPLICATIONS_PER_SOURCE).values_list("source", flat=True)


def _named_sources(first: date, last: date) -> set[str]:
    """Return the common sources of these days; "": none was sent."""
    used = Submission.objects.filter(
        application__created_at__gte=start_of_day(first),
        application__created_at__lt=end_of_day(last),
    )
    return {"", *common_sources().filter(source__in=used.order_by().values("source").distinct())}
