"""Arithmetic with calendar days in the site's time zone, where a day can have 23 or 25 hours."""

from calendar import monthrange
from datetime import UTC, date, datetime, time, timedelta, tzinfo

from django.utils import timezone


def start_of_day(day: date, zone: tzinfo | None = None) -> datetime:
    """Return the first instant of `day`, by default in the site's time zone; where the clocks skip
    midnight, the time at which they do. In UTC: Python never regards a skipped time as equal to one
    of another zone.
    """
    return datetime.combine(day, time.min, zone or timezone.get_default_timezone()).astimezone(UTC)


def days_after(at: datetime, days: int) -> datetime:
    """Return the datetime `days` calendar days after `at`, or before it if negative, at the same
    time of day in the site's time zone. An ambiguous time is its first occurrence. A time that does
    not exist is shifted by the gap (02:30 becomes 03:30). Return `at` for 0 days.
    """
    if not days:
        return at
    # Python adds to the local time, and returns the first of two occurrences.
    return (at.astimezone(timezone.get_default_timezone()) + timedelta(days=days)).astimezone(UTC)


def months_after(day: date, months: int) -> date:
    """Return the same day `months` months after `day`, or the last day of a shorter month."""
    years, month = divmod(day.month - 1 + months, 12)
    year, month = day.year + years, month + 1
    return date(year, month, min(day.day, monthrange(year, month)[1]))
