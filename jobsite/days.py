"""Arithmetic with calendar days in the site's time zone, where a day can have 23 or 25 hours."""

from datetime import UTC, datetime, timedelta

from django.utils import timezone


def days_after(at: datetime, days: int) -> datetime:
    """Return the datetime `days` calendar days after `at`, or before it if negative, at the same time of day
    in the site's time zone. An ambiguous time is its first occurrence. A time that does not exist is shifted
    by the gap (02:30 becomes 03:30). Return `at` for 0 days."""
    if not days:
        return at
    # Python adds to the local time, and returns the first of two occurrences.
    return (at.astimezone(timezone.get_default_timezone()) + timedelta(days=days)).astimezone(UTC)
