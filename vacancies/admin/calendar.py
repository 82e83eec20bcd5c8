"""The calendar of vacancies that go live and close, on the start page: a month, a week or a day.

Each day shows its first vacancies, which one statement reads from the indexes by date: the cost
depends on the number of days, not on the number of vacancies.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta

from django.core.exceptions import BadRequest
from django.db import connections
from django.urls import reverse
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from jobsite.days import start_of_day
from jobsite.types import UserRequest
from vacancies.choices import VacancyStatus
from vacancies.dates import end_of_day
from vacancies.querysets import VacancyQuerySet

DAY = timedelta(days=1)
# Vacancies that go live on a day, and as many that close.
LIMITS = {"month": 3, "week": 10, "day": 100}
YEARS = range(1970, 2200)
# Stand for the begin and the end of a day in a query that is compiled once for all days.
BEGIN, END = datetime(1000, 1, 1, tzinfo=UTC), datetime(1000, 1, 2, tzinfo=UTC)


@dataclass
class Day:
    day: date
    name: str
    is_today: bool
    is_outside: bool  # of another month
    url: str
    live: list[tuple[str, str]] = field(default_factory=list)  # (URL, title)
    closing: list[tuple[str, str]] = field(default_factory=list)
    has_more: bool = False


def calendar(request: UserRequest, own: VacancyQuerySet, *, at: datetime) -> dict[str, object]:
    """Return the context of the calendar of the vacancies `own`. Raises BadRequest."""
    today = at.astimezone(timezone.get_default_timezone()).date()
    view = request.GET.get("calendar", "month")
    if view not in LIMITS:
        raise BadRequest(f"calendar is not one of: {', '.join(LIMITS)}.")
    chosen = _date(request.GET.get("date", ""), today)
    first, last, before, after = _range(view, chosen)
    index = reverse("admin:index")  # once: a month has fifty links
    letters = pgettext("a date in Django's letters", "D j M")

    def address(view: str, day: date) -> str:
        return f"{index}?calendar={view}&date={day.isoformat()}#calendar"

    days = [
        Day(
            day=(day := first + number * DAY),
            name=date_format(day, letters),
            is_today=day == today,
            is_outside=view == "month" and day.month != chosen.month,
            url=address("day", day),
        )
        for number in range((last - first).days + 1)
    ]
    _fill(days, own, LIMITS[view])
    return {
        "view": view,
        "title": _title(view, chosen, first, last),
        "days": days,
        "weekdays": [date_format(day.day, "D") for day in days[:7]] if view != "day" else [],
        "is_empty": not any(day.live or day.closing for day in days),
        "views": [
            {"name": name, "url": address(code, chosen), "is_chosen": code == view}
            for code, name in (("month", _("Month")), ("week", _("Week")))
        ],
        "before": address(view, before) if before.year in YEARS else None,
        "after": address(view, after) if after.year in YEARS else None,
        "today": address(view, today),
        "limit": LIMITS[view],
    }


def _date(text: str, today: date) -> date:
    if not text:
        return today
    try:
        day = date.fromisoformat(text)
    except ValueError:
        day = None
    if day is None or day.year not in YEARS:
        raise BadRequest(
            f"date is not a date from {YEARS[0]} to {YEARS[-1]}, such as {today.isoformat()}."
        )
    return day


def _range(view: str, day: date) -> tuple[date, date, date, date]:
    """Return the first and the last day that are shown, and a day of the
    range before and after it.
    """
    if view == "day":
        return day, day, day - DAY, day + DAY
    monday = day - day.weekday() * DAY
    if view == "week":
        return monday, monday + 6 * DAY, monday - DAY, monday + 7 * DAY
    first = day.replace(day=1)
    last = (first + 31 * DAY).replace(day=1) - DAY
    return first - first.weekday() * DAY, last + (6 - last.weekday()) * DAY, first - DAY, last + DAY


def _title(view: str, chosen: date, first: date, last: date) -> str:
    letters = pgettext("a date in Django's letters", "j M Y")
    if view == "day":
        return date_format(chosen, pgettext("a date in Django's letters", "D j M Y"))
    if view == "week":
        return f"{date_format(first, letters)} – {date_format(last, letters)}"
    return date_format(chosen, pgettext("a date in Django's letters", "F Y"))


def _fill(days: Sequence[Day], own: VacancyQuerySet, limit: int) -> None:
    """Add the first vacancies of each day, in one statement."""
    connection = connections[own.db]
    published = own.filter(status=VacancyStatus.PUBLISHED)
    queries = (
        # `publish_until` is exclusive: the end of a day is the start of the next one.
        published.filter(publish_from__gte=BEGIN, publish_from__lt=END).order_by(
            "publish_from", "pk"
        ),
        published.filter(publish_until__gt=BEGIN, publish_until__lte=END).order_by(
            "publish_until", "pk"
        ),
    )
    compiled = [
        rows.values_list("pk", "title")[: limit + 1].query.sql_with_params() for rows in queries
    ]
    begin, end = map(connection.ops.adapt_datetimefield_value, (BEGIN, END))
    parts, parameters = [], []
    for number, day in enumerate(days):
        start, until = start_of_day(day.day), end_of_day(day.day)
        times = {
            begin: connection.ops.adapt_datetimefield_value(start),
            end: connection.ops.adapt_datetimefield_value(until),
        }
        for kind, (sql, of_query) in enumerate(compiled):
            parts.append(f"SELECT {number} AS day, {kind} AS kind, part.* FROM ({sql}) AS part")
            parameters += [times.get(value, value) for value in of_query]
    url = reverse("admin:vacancies_vacancy_change", args=[0])
    with connection.cursor() as cursor:
        cursor.execute(" UNION ALL ".join(parts), parameters)
        for number, kind, pk, title in cursor.fetchall():
            entries = days[number].closing if kind else days[number].live
            if len(entries) == limit:
                days[number].has_more = True
            else:
                entries.append((url.replace("/0/", f"/{pk}/"), title))
