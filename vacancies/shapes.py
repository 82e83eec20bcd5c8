"""Values of a source, for every kind of row that comes from one: taken as they came, or refused in words."""

from collections.abc import Iterable
from datetime import UTC
from typing import Any

from django.utils import timezone
from rest_framework import serializers

ID_MAX = 2**53 - 1  # what JSON carries exactly; nearer to the end of a column no new id would be left


class TextField(serializers.CharField):
    """Text exactly as it came; null is as good as none."""

    def __init__(self, **kwargs: Any) -> None:
        defaults = {"required": False, "allow_null": True, "allow_blank": True, "trim_whitespace": False}
        super().__init__(**defaults | kwargs)

    def run_validation(self, data: Any = serializers.empty) -> Any:
        if data is not None and data is not serializers.empty and not isinstance(data, str):
            self.fail("invalid")  # DRF would make text of a number
        return super().run_validation(data) or ""


class MomentField(serializers.DateTimeField):
    """A moment in the site's time zone that comes out as it came in."""

    default_error_messages = {
        "range": "Not between the years 1900 and 2200.",
        "gap": "There is no such time in the time zone {zone}; is TIME_ZONE that of the source?",
    }

    def __init__(self, *, required: bool = False) -> None:
        formats = ["%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M:%S.%f"]
        super().__init__(required=required, input_formats=formats)

    def enforce_timezone(self, value: Any) -> Any:
        if not 1900 <= value.year <= 2200:
            self.fail("range")
        moment = super().enforce_timezone(value)
        if timezone.localtime(moment.astimezone(UTC)).replace(tzinfo=None) != value.replace(tzinfo=None):
            self.fail("gap", zone=timezone.get_current_timezone_name())
        return moment


def flatten(errors: Any, path: str = "") -> Iterable[str]:
    """Yield "recruiters.0.name: reason" for each of the nested `errors` of a serializer."""
    if isinstance(errors, dict):
        for name, inner in errors.items():
            at = "" if name == "non_field_errors" else f"{path}.{name}" if path else str(name)
            yield from flatten(inner, at or path)
    elif isinstance(errors, list):
        for number, inner in enumerate(errors):
            yield from flatten(
                inner, f"{path}.{number}" if isinstance(inner, (dict, list)) and inner else path
            )
    else:
        yield f"{path}: {errors}" if path else str(errors)
