"""Formats of dates on pages, in the active language. `jobsite/locale/*/formats.py` define them, also for
templates and for pages of Django."""

from datetime import date, datetime

from django.utils import timezone
from django.utils.formats import date_format


def format_datetime(at: datetime) -> str:
    """Return `at` in the site's time zone."""
    return date_format(at.astimezone(timezone.get_default_timezone()), "DATETIME_FORMAT")


def format_date(day: date) -> str:
    return date_format(day, "DATE_FORMAT")
