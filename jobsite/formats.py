"""Formats of values on pages, in the active language."""

from datetime import datetime

from django.conf import settings
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.html import format_html
from django.utils.translation import pgettext


def format_datetime(at: datetime) -> str:
    """Return `at` in the site's time zone. The month is in letters, so that it cannot be read as the day."""
    form = pgettext("a date in Django's letters", "j M Y, H:i")
    return date_format(at.astimezone(timezone.get_default_timezone()), form)


def zoned(text: str) -> str:
    """Return a date or time on a list, with the site's time zone as its tooltip."""
    return format_html('<span title="{}">{}</span>', settings.TIME_ZONE, text)
