"""Days as people count them: by the calendar of the site's time zone, where some have 23 or 25 hours."""

from datetime import UTC, datetime, timedelta

from django.utils import timezone


def days_after(at: datetime, days: int) -> datetime:
    """Return the moment `days` calendar days after `at`, or before it if negative: the same time of day in
    the site's time zone. Of a time that occurs twice on that day it is the first; of one that the clock
    skips, the time after the gap (02:30 becomes 03:30). `at` itself for 0 days."""
    if not days:
        return at
    # Python adds to the time on the clock, in whatever zone, and returns the first of two.
    return (at.astimezone(timezone.get_default_timezone()) + timedelta(days=days)).astimezone(UTC)
