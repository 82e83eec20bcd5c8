"""Records the statistics of days. Those of today are recorded again by each run, until the day has
finished.

A vacancy is live from `publish_from` until it closes: at `publish_until`, or earlier when it was
unpublished. Of a vacancy that was published again, only the last period counts. Drafts and deleted
vacancies do not count.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator
from datetime import date, datetime, timedelta
from itertools import islice
from typing import Any

from django.db import transaction
from django.db.models import (
    Case,
    Count,
    DateTimeField,
    DurationField,
    ExpressionWrapper,
    F,
    Max,
    Min,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    Sum,
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
LIMITS = (7, 30, 60, 90)  # days, of the columns closed_in_7 and so on
DAY = timedelta(days=1)
BATCH = 2_000

Group = tuple[int | None, int | None]  # brand, option; option None: all vacancies of the brand


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
    last = day_of(at)
    with transaction.atomic():
        lock_transaction("statistics of vacancies")
        first = DailyVacancies.objects.aggregate(day=Max("day"))["day"] or _first_day(last)
        if first is None or first > last:
            return 0
        DailyVacancies.objects.filter(day=first).delete()
        create(DailyVacancies, _rows(first, last, at=at))
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
    live: Counter[Group] = Counter()
    went_live: defaultdict[date, Counter[Group]] = defaultdict(Counter)
    closed: defaultdict[date, dict[Group, dict[str, Any]]] = defaultdict(dict)
    start = start_of_day(first)
    zone = timezone.get_default_timezone()
    for is_split in (False, True):
        at_end = with_end().filter(Q(ended_at=None) | Q(ended_at__gt=at), publish_from__lte=at)
        for row in _grouped(at_end, is_split).annotate(number=Count("pk")):
            live[_group(row)] = row["number"]
        started = with_end().filter(publish_from__gte=start, publish_from__lte=at)
        started = started.annotate(day=TruncDate("publish_from", tzinfo=zone))
        for row in _grouped(started, is_split, "day").annotate(number=Count("pk")):
            went_live[row["day"]][_group(row)] = row["number"]
        for row in _closings(start, at, is_split):
            closed[row["day"]][_group(row)] = row
    groups = set(live).union(*went_live.values(), *closed.values())
    day = last
    while day >= first:
        # The day is recorded.
        yield DailyVacancies(day=day, brand=None, option=None, **_columns(0, 0, {}))
        for brand, option in groups:
            group = (brand, option)
            ended, began = closed[day].get(group, {}), went_live[day][group]
            if live[group] or began or ended:
                # Not below 0: a vacancy may have been closed between the queries.
                columns = _columns(max(live[group], 0), began, ended)
                yield DailyVacancies(day=day, brand_id=brand, option_id=option, **columns)
            live[group] += ended.get("number", 0) - began
        day -= DAY


def _columns(live: int, went_live: int, ended: dict[str, Any]) -> dict[str, object]:
    days = {f"closed_in_{limit}": ended.get(f"in_{limit}", 0) for limit in LIMITS}
    spent = ended.get("spent", timedelta(0)) / DAY
    return {
        "live": live,
        "went_live": went_live,
        "closed": ended.get("number", 0),
        "days_live": spent,
        **days,
    }


def _closings(start: datetime, at: datetime, is_split: bool) -> QuerySet:
    """Return what closed from `start` until `at`, by day and group."""
    candidates = Q(status=VacancyStatus.PUBLISHED, publish_until__gte=start) | ~Q(
        status=VacancyStatus.PUBLISHED
    )
    rows = with_end().filter(candidates, ended_at__gte=start, ended_at__lte=at)
    rows = rows.annotate(
        day=TruncDate("ended_at", tzinfo=timezone.get_default_timezone()),
        spent_each=ExpressionWrapper(
            F("ended_at") - F("publish_from"), output_field=DurationField()
        ),
    )
    limits = {
        f"in_{limit}": Count("pk", filter=Q(ended_at__lte=F("publish_from") + limit * DAY))
        for limit in LIMITS
    }
    return _grouped(rows, is_split, "day").annotate(
        number=Count("pk"), spent=Sum("spent_each"), **limits
    )


def _grouped(rows: VacancyQuerySet, is_split: bool, *names: str) -> QuerySet:
    """Group `rows` by brand, and by option if `is_split`."""
    if not is_split:
        return rows.values("brand_id", *names)
    return rows.filter(choices__isnull=False).values("brand_id", "choices__option_id", *names)


def _group(row: dict[str, Any]) -> Group:
    return row["brand_id"], row.get("choices__option_id")
