"""Records the statistics of days. Those of today are recorded again by each run, until the day has
finished.

A vacancy is live from `publish_from` until it closes: at `publish_until`, or earlier when it was
unpublished. Of a vacancy that was published again, only the last period counts. Drafts and deleted
vacancies do not count.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from datetime import date, datetime, timedelta
from functools import partial
from itertools import islice

from django.db import transaction
from django.db.models import (
    Case,
    Count,
    DateTimeField,
    F,
    Max,
    Min,
    OuterRef,
    Q,
    Subquery,
    When,
)
from django.db.models.functions import Coalesce, TruncDate
from django.utils import timezone

from jobsite.days import start_of_day
from jobsite.db.locks import lock_transaction
from vacancies.choices import VacancyStatus
from vacancies.models import Change, DailyStatisticsBase, DailyVacancies, Vacancy, Version
from vacancies.querysets import VacancyQuerySet

BACKFILL = 730  # days that the first run records, from the dates of the vacancies
DAY = timedelta(days=1)
BATCH = 2_000


def day_of(at: datetime) -> date:
    return at.astimezone(timezone.get_default_timezone()).date()


def with_end() -> VacancyQuerySet:
    """Return the vacancies that were live at some time, with `ended_at`; None: no closing date."""
    unpublished = Version.objects.filter(
        vacancy=OuterRef("pk"), change=Change.UNPUBLISHED
    ).order_by("-pk")
    # Without a version, the last change is the latest time at which it can have been unpublished.
    by_hand = Coalesce(Subquery(unpublished.values("created_at")[:1]), "updated_at")
    rows = (
        Vacancy.objects.exclude(status=VacancyStatus.DRAFT)
        .exclude(publish_from=None)
        .annotate(
            ended_at=Case(
                When(status=VacancyStatus.PUBLISHED, then="publish_until"),
                When(publish_until__lt=by_hand, then="publish_until"),
                default=by_hand,
                output_field=DateTimeField(null=True),
            )
        )
    )
    return rows.filter(Q(ended_at=None) | Q(ended_at__gt=F("publish_from"))).order_by()


def record_days(*, at: datetime) -> int:
    """Record the days until `at` that are missing, and again the last recorded one, which had
    perhaps not finished. Return their number.
    """
    return record_missing(DailyVacancies, _first_day, partial(_rows, at=at), at=at)


def record_missing(
    model: type[DailyStatisticsBase],
    first_day: Callable[[date], date | None],
    rows: Callable[[date, date], Iterator[DailyStatisticsBase]],
    *,
    at: datetime,
) -> int:
    """Record the days of `model` until `at` that are missing, and again the last recorded one.
    `first_day` returns the first one of all, `rows` those of the days between two, both included.
    Return the number of days.
    """
    last = day_of(at)
    with transaction.atomic():
        lock_transaction(f"statistics of {model._meta.label}")
        first = model.objects.aggregate(day=Max("day"))["day"] or first_day(last)
        if first is None or first > last:
            return 0
        model.objects.filter(day=first).delete()
        create(model, rows(first, last))
    return (last - first).days + 1


def create(model: type[DailyStatisticsBase], rows: Iterator[DailyStatisticsBase]) -> None:
    """Insert `rows`, which may be too many for the memory."""
    while batch := list(islice(rows, BATCH)):
        model.objects.bulk_create(batch)


def _first_day(last: date) -> date | None:
    """Return the first day to record; None if nothing was live until `last`."""
    started = with_end().aggregate(at=Min("publish_from"))["at"]
    if started is None:
        return None
    return max(day_of(started), last - (BACKFILL - 1) * DAY)


def _rows(first: date, last: date, *, at: datetime) -> Iterator[DailyVacancies]:
    """Yield the rows of the days from `first` to `last`. Live vacancies are counted at `at`. The
    numbers of the days before it follow from what went live and closed."""
    start, rows = start_of_day(first), with_end()
    at_end = rows.filter(Q(ended_at=None) | Q(ended_at__gt=at), publish_from__lte=at)
    live = Counter(dict(at_end.values_list("brand_id").annotate(number=Count("pk"))))
    started = rows.filter(publish_from__gte=start, publish_from__lte=at)
    went_live = _by_day(started, "publish_from")
    # What an index finds.
    candidates = Q(status=VacancyStatus.PUBLISHED, publish_until__gte=start)
    candidates |= ~Q(status=VacancyStatus.PUBLISHED)
    ended = rows.filter(candidates, ended_at__gte=start, ended_at__lte=at)
    closed = _by_day(ended, "ended_at")
    brands = set(live).union(*went_live.values(), *closed.values())
    day = last
    while day >= first:
        # The day is recorded.
        yield DailyVacancies(day=day, brand=None, live=0, went_live=0, closed=0)
        for brand in brands:
            began, over = went_live[day][brand], closed[day][brand]
            if live[brand] or began or over:
                # Not below 0: a vacancy may have been closed between the queries.
                numbers = {"live": max(live[brand], 0), "went_live": began, "closed": over}
                yield DailyVacancies(day=day, brand_id=brand, **numbers)
            live[brand] += over - began
        day -= DAY


def _by_day(rows: VacancyQuerySet, column: str) -> defaultdict[date, Counter[int | None]]:
    """Return the numbers of `rows` by the day of `column` and by brand."""
    found: defaultdict[date, Counter[int | None]] = defaultdict(Counter)
    days = rows.annotate(day=TruncDate(column, tzinfo=timezone.get_default_timezone()))
    for day, brand, number in days.values_list("day", "brand_id").annotate(number=Count("pk")):
        found[day][brand] = number
    return found
