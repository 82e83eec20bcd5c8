"""Formats of dates on pages, in the active language. `jobsite/locale/*/formats.py` define them,
also for templates and for pages of Django.
"""

from datetime import date, datetime
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from django.conf import settings
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.html import format_html


def format_datetime(at: datetime) -> str:
    """Return `at` in the site's time zone."""
    return date_format(at.astimezone(timezone.get_default_timezone()), "DATETIME_FORMAT")


def format_period(start: datetime, end: datetime, zone: str) -> str:
    """Return when a meeting is, in the time zone `zone`: day, begin, end, zone and offset, as
    "Tuesday 3 Mar 2026, 10:00-11:00 (Europe/Brussels, UTC+1)"; both offsets if the clocks change
    meanwhile. A zone that this machine does not know is shown as UTC.
    """
    try:
        first, last = (at.astimezone(ZoneInfo(zone)) for at in (start, end))
    except (OSError, ValueError, ZoneInfoNotFoundError):
        return format_period(start, end, "UTC")
    day = f"{date_format(first, 'l')} {format_date(first)}, {first:%H:%M}"
    until = f"{last:%H:%M}" if last.date() == first.date() else f"{format_date(last)}, {last:%H:%M}"
    offsets = "–".join(dict.fromkeys((_offset(first), _offset(last))))
    return f"{day}–{until} ({zone if zone == 'UTC' else f'{zone}, {offsets}'})"


def _offset(at: datetime) -> str:
    sign, hours, minutes = at.isoformat()[-6], int(at.isoformat()[-5:-3]), at.isoformat()[-2:]
    return f"UTC{sign}{hours}{'' if minutes == '00' else f':{minutes}'}"


def format_date(day: date) -> str:
    return date_format(day, "DATE_FORMAT")


def zoned(text: str) -> str:
    """Return a date or time on a list, with the site's time zone as its tooltip."""
    return format_html('<span title="{}">{}</span>', settings.TIME_ZONE, text)
