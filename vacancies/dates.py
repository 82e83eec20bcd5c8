"""The closing date of a vacancy:
`publish_until` is exclusive, people see the last day (decisions.md #1).
"""

from datetime import date, datetime, timedelta, tzinfo

from django.utils import timezone

from jobsite.days import start_of_day
from jobsite.text.formats import format_date, format_datetime
from vacancies.models import Vacancy


def end_of_day(day: date, zone: tzinfo | None = None) -> datetime:
    """Return the start of the next day, by default in the site's time zone.
    The result is in UTC.
    """
    return start_of_day(day + timedelta(days=1), zone)


def last_day(until: datetime, zone: tzinfo | None = None) -> date:
    """Return the last day before `until`, by default in the site's time zone.
    The inverse of `end_of_day`.
    """
    # Subtracted in UTC: around a change of the clock, local arithmetic could give another day.
    return (
        (until - timedelta(microseconds=1))
        .astimezone(zone or timezone.get_default_timezone())
        .date()
    )


def is_exact(until: datetime) -> bool:
    """Return whether a vacancy ends within a day, as imported vacancies may."""
    return until != end_of_day(last_day(until))


def closing_date_of(vacancy: Vacancy) -> str:
    """Return the closing date of `vacancy`, with a time if it is not the end of the day;
    "-" without one.
    """
    until = vacancy.publish_until
    if until is None:
        return "-"
    if is_exact(until):
        return format_datetime(until)
    return format_date(last_day(until))
