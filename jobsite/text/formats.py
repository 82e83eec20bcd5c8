"""Formats of dates on pages, in the active language. `jobsite/locale/*/formats.py` define them, also for
templates and for pages of Django."""

from datetime import date, datetime

from django.conf import settings
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.html import format_html


def format_datetime(at: datetime) -> str:
    """Return `at` in the site's time zone."""
    return date_format(at.astimezone(timezone.get_default_timezone()), "DATETIME_FORMAT")


def format_date(day: date) -> str:
    return date_format(day, "DATE_FORMAT")


def zoned(text: str) -> str:
    """Return a date or time on a list, with the site's time zone as its tooltip."""
    return format_html('<span title="{}">{}</span>', settings.TIME_ZONE, text)
