"""Validators of dates, videos, colors, hosts and currencies."""

from datetime import datetime

from django.core.exceptions import ValidationError
from django.core.validators import RegexValidator
from django.utils.translation import gettext_lazy as _

from jobsite.text.iso_names import currency_codes

# Sites pass it to a video player: a URL, or the id of a video.
validate_video = RegexValidator(
    # not //host, which is an address of another site
    r"^(https?://\S+|[\w.\-][^:\s\\]*)\Z",
    _("Enter an http or https URL, or the ID of a video."),
)
validate_color = RegexValidator(r"^#[0-9a-f]{6}\Z", _("Enter a color such as #0b57b0."))
# A port is for development.
validate_host = RegexValidator(
    r"^(?=.{1,253}\Z)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(:[0-9]{1,5})?\Z",
    _("Enter a host in lower case, such as jobs.example.com, without https:// and path."),
)


def validate_datetime(value: datetime) -> None:
    """Refuse datetimes near the limits of `datetime`, which cannot be
    converted to every time zone.
    """
    if not 1900 <= value.year <= 2200:
        raise ValidationError(_("Choose a date between the years 1900 and 2200."), code="range")


def validate_currency(code: str) -> None:
    """Refuse what is not a code of ISO 4217."""
    if code not in currency_codes():
        raise ValidationError(
            _("“%(code)s” is not the code of a currency, such as EUR."),
            code="currency",
            params={"code": code},
        )
