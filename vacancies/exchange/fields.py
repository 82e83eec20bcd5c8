"""Serializer fields for imported values: a value is kept exactly, changed with a remark, or
refused.

The serializer context may have `zone`, the time zone of the source, and `changes`, a list that
receives a Remark for each value that was changed.
"""

import json
import re
import unicodedata
from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from html import unescape
from typing import Any, NoReturn

from django.utils import timezone
from rest_framework import ISO_8601, serializers

from jobsite.days import start_of_day
from jobsite.fields import WebURLField
from jobsite.text.html_conversion import MARKUP, without_entities
from jobsite.types import JsonObject
from jobsite.unseen import plain_number, visible

# The largest integer that every JSON parser reads exactly; leaves room for new ids.
ID_MAX = 2**53 - 1
SHOWN_CHARACTERS = 60

_BREAKS = re.compile(r"\s*[\t\n\v\f\r\x1c-\x1f\x85\u2028\u2029]\s*")
# Bidirectional overrides, embeddings and isolates.
_DIRECTION = re.compile("[\u202a-\u202e\u2066-\u2069]")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}\Z", re.ASCII)


@dataclass(frozen=True)
class Remark:
    """An error or a change of a value. `field` is its path, such as "recruiters.0.name"."""

    field: str
    code: str
    message: str

    def __str__(self) -> str:
        return f"{self.field}: {self.message}" if self.field else self.message


class ImportTextField(serializers.CharField):
    """Text, kept exactly. Null becomes ""."""

    def __init__(self, **kwargs: Any) -> None:
        defaults = {
            "required": False,
            "allow_null": True,
            "allow_blank": True,
            "trim_whitespace": False,
        }
        super().__init__(**defaults | kwargs)

    def run_validation(self, data: object = serializers.empty) -> object:
        if data is not None and data is not serializers.empty and not isinstance(data, str):
            self.fail("invalid")  # DRF would convert a number
        return super().run_validation(data) or ""


class LineField(ImportTextField):
    """Text of one line. HTML entities are converted, line breaks are replaced by spaces; control
    characters and bidirectional overrides are removed. This and tags are reported. NUL is refused,
    as in every text.
    """

    def to_internal_value(self, data: Any) -> str:
        text = _converted(self, super().to_internal_value(data))
        line = _BREAKS.sub(" ", text).strip() if _BREAKS.search(text) else text
        if line != text:
            _report(
                self,
                "line_breaks",
                f"replaced line breaks by spaces; received {format_value(text)}",
            )
        plain = "".join(c for c in line if c == "\0" or not _is_invisible(c))
        if plain != line:
            names = sorted({f"U+{ord(c):04X}" for c in line if c not in plain})
            _report(
                self, "control_characters", f"removed the invisible characters {', '.join(names)}"
            )
        if not plain.strip() and not self.allow_blank:
            self.fail("blank")
        return plain


class EmailField(serializers.EmailField):
    """An e-mail address. What nobody sees of it is removed and reported."""

    def to_internal_value(self, data: Any) -> str:
        return _seen(self, super().to_internal_value(data), visible)


class PhoneField(LineField):
    """A telephone number. What nobody sees of it is removed and reported."""

    def to_internal_value(self, data: Any) -> str:
        return _seen(self, super().to_internal_value(data), plain_number)


class UrlField(ImportTextField):
    """An http or https URL, with the validators of the models."""

    def __init__(self, **kwargs: Any) -> None:
        defaults = {"max_length": 1000, "validators": WebURLField.default_validators}
        super().__init__(**defaults | kwargs)

    def to_internal_value(self, data: Any) -> str:
        return _seen(self, _converted(self, super().to_internal_value(data)), visible)


class ChoiceField(serializers.ChoiceField):
    """The value of a choice. Null becomes "" unless the column can be null."""

    default_error_messages = {"invalid_choice": "Must be one of {allowed}; received {received}."}

    def fail(self, key: str, **kwargs: Any) -> NoReturn:
        kwargs |= {
            "allowed": ", ".join(map(str, self.choices)),
            "received": format_value(kwargs.get("input")),
        }
        super().fail(key, **kwargs)

    def run_validation(self, data: object = serializers.empty) -> object:
        return super().run_validation("" if data is None and not self.allow_null else data)


class CodeField(serializers.Field):
    """A code of a long closed list, such as that of countries. Null becomes ""."""

    default_error_messages = {"invalid": "Must be {allowed}; received {received}."}

    def __init__(self, codes: Callable[[], Collection[str]], allowed: str, **kwargs: Any) -> None:
        self.codes, self.allowed = codes, allowed
        super().__init__(**{"required": False, "allow_null": True} | kwargs)

    def to_internal_value(self, data: object) -> str:
        is_empty = data == "" and self.allow_null
        if not (is_empty or (isinstance(data, str) and data in self.codes())):
            self.fail("invalid", allowed=self.allowed, received=format_value(data))
        return str(data)

    def run_validation(self, data: object = serializers.empty) -> object:
        return super().run_validation(data) or ""


class ImportNumberField(serializers.Field):
    """A JSON number as a Decimal.
    If `is_rounded`, more decimals are rounded and reported, else refused.
    """

    default_error_messages = {"invalid": "Must be a number {allowed}; received {received}."}

    def __init__(
        self,
        *,
        max_digits: int,
        decimal_places: int,
        min_value: float | None = None,
        max_value: float | None = None,
        is_rounded: bool = False,
        **kwargs: Any,
    ) -> None:
        self.decimal_places, self.is_rounded = decimal_places, is_rounded
        limit = Decimal(10**max_digits - 1).scaleb(-decimal_places)
        self.low = -limit if min_value is None else Decimal(min_value)
        self.high = limit if max_value is None else Decimal(max_value)
        super().__init__(**kwargs)

    def fail(self, key: str, **kwargs: Any) -> NoReturn:
        decimals = "" if self.is_rounded else f" with at most {self.decimal_places} decimals"
        super().fail(key, allowed=f"from {self.low} to {self.high}{decimals}", **kwargs)

    def to_internal_value(self, data: object) -> Decimal:
        received = format_value(data)
        if isinstance(data, bool) or not isinstance(data, (int, float)):
            self.fail("invalid", received=received)
        value = Decimal(str(data))
        if not (value.is_finite() and self.low <= value <= self.high):
            self.fail("invalid", received=received)
        rounded = round(value, self.decimal_places)
        if rounded == value:
            return value
        if not self.is_rounded:
            self.fail("invalid", received=received)
        _report(self, "rounded", f"rounded to {self.decimal_places} decimals; received {received}")
        return rounded


class FlagField(serializers.BooleanField):
    """A JSON boolean. Null is false; strings and numbers are refused."""

    default_error_messages = {"invalid": "Must be true or false; received {received}."}

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**{"required": False, "allow_null": True} | kwargs)

    def to_internal_value(self, data: object) -> bool:
        if not isinstance(data, bool):
            self.fail("invalid", received=format_value(data))
        return data

    def run_validation(self, data: object = serializers.empty) -> object:
        return super().run_validation(data) or False


class DateTimeField(serializers.DateTimeField):
    """A datetime, in the time zone of the source or in ISO 8601 with an offset.
    The result is in UTC.
    """

    default_error_messages = {
        "range": "Must be between the years 1900 and 2200.",
        "gap": "Does not exist in the time zone {zone}. Is TIME_ZONE the time zone of the source?",
        "stated_gap": "Does not exist in {zone}, the time zone of the source.",
    }

    def __init__(self, **kwargs: Any) -> None:
        formats = ["%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M:%S.%f", ISO_8601]
        defaults: JsonObject = {"required": False, "input_formats": formats}
        super().__init__(**defaults | kwargs)

    def enforce_timezone(self, value: datetime) -> datetime:
        if not 1900 <= value.year <= 2200:
            self.fail("range")
        if value.tzinfo:
            return value.astimezone(UTC)
        stated = self.context.get("zone")
        zone = stated or timezone.get_current_timezone()
        first, second = (value.replace(tzinfo=zone, fold=fold) for fold in (0, 1))
        utc = first.astimezone(UTC)
        if utc.astimezone(zone).replace(tzinfo=None, fold=0) != value:
            self.fail("stated_gap" if stated else "gap", zone=str(zone))
        if first.utcoffset() != second.utcoffset():
            _report(self, "ambiguous_time", f"{value} occurs twice in {zone}; used the first")
        return utc


class EndField(DateTimeField):
    """The datetime at which something ends. A date means the end of that day."""

    def to_internal_value(self, value: Any) -> datetime:
        if isinstance(value, str) and _DATE.match(value):
            with suppress(ValueError):
                day = date.fromisoformat(value)
                if not 1900 <= day.year <= 2200:
                    self.fail("range")
                zone = self.context.get("zone") or timezone.get_current_timezone()
                return start_of_day(day + timedelta(days=1), zone)
        return super().to_internal_value(value)


def _seen(field: serializers.Field, text: str, rule: Callable[[str], str]) -> str:
    if (plain := rule(text)) != text:
        _report(
            field, "control_characters", f"removed what nobody sees; received {format_value(text)}"
        )
    return plain


def _converted(field: serializers.Field, text: str) -> str:
    plain = without_entities(text)
    if plain != text:
        _report(field, "html_entities", f"converted HTML entities; received {format_value(text)}")
    elif MARKUP.search(unescape(text)):
        _report(
            field,
            "html_tags",
            f"has HTML tags, which are shown as text; received {format_value(text)}",
        )
    return plain


def _is_invisible(character: str) -> bool:
    return bool(_DIRECTION.match(character)) or unicodedata.category(character) == "Cc"


def format_value(value: object) -> str:
    """Return `value` as JSON on one line, truncated."""
    text = json.dumps(value, ensure_ascii=True, default=str)
    return text if len(text) <= SHOWN_CHARACTERS else f"{text[:SHOWN_CHARACTERS]}…"


def faults(errors: object, path: str = "") -> Iterator[Remark]:
    """Yield a Remark for each error in the nested `errors` of a serializer."""
    if isinstance(errors, dict):
        for name, inner in errors.items():
            at = "" if name == "non_field_errors" else f"{path}.{name}" if path else str(name)
            yield from faults(inner, at or path)
    elif isinstance(errors, list):
        for number, inner in enumerate(errors):
            yield from faults(
                inner, f"{path}.{number}" if isinstance(inner, (dict, list)) and inner else path
            )
    else:
        yield Remark(path, getattr(errors, "code", "invalid"), str(errors))


def _report(field: serializers.Field, code: str, message: str) -> None:
    """Add a Remark about the value of `field` to the `changes` of its context."""
    names = []
    at = field
    while at is not None:
        names.append(at.field_name)
        at = at.parent
    path = ".".join(filter(None, reversed(names)))
    field.context.setdefault("changes", []).append(Remark(path, code, message))
