"""Reads the body of a vacancy: strict JSON with the keys of an item of v1. All errors are found at
once, each with a JSON Pointer.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Any, cast

from django.http import HttpRequest
from rest_framework import serializers
from rest_framework.exceptions import APIException

from jobsite.text.html import LENGTH_MAX
from jobsite.text.html_conversion import convert, is_escaped
from jobsite.types import JsonObject
from vacancies.api.v1.serializers import VacancySerializer
from vacancies.choices import Audience
from vacancies.exchange.fields import (
    ID_MAX,
    ChoiceField,
    DateTimeField,
    EndField,
    FlagField,
    LineField,
    Remark,
    faults,
    format_value,
)
from vacancies.exchange.json_files import RepeatedKeys, parse_json
from vacancies.exchange.serializers import (
    SINGULAR,
    TEXTS,
    ImportRecruiter,
    ImportSerializer,
    Translations,
)

BYTES_MAX = 1_000_000
SHOWN_MAX = 60  # characters of a key that an error repeats
# Keys of v1 that the site computes.
COMPUTED = {
    *("id", "slug", "url", "reference", "employment_types"),
    *("created_at", "updated_at", "published_at", "closes_at", "closing_date"),
}
_NOT_ITEMS = {*ImportSerializer().fields} - {*VacancySerializer.Meta.fields}
_RIGHT_NAMES = {
    "published_at": "publication.from",
    "closes_at": "publication.until",
    "closing_date": "publication.until",
    "status": "publication.state",
    "state": "publication.state",
} | {name: keyword.value for name, keyword in SINGULAR.items()}


@dataclass(frozen=True)
class Fault:
    """An error of the value at `pointer`, or a warning about it."""

    pointer: str
    detail: str
    code: str = "invalid"
    allowed: Iterable[object] = ()

    def as_item(self) -> JsonObject:
        item: JsonObject = {"pointer": self.pointer, "code": self.code, "detail": self.detail}
        return item | ({"allowed": list(self.allowed)} if self.allowed else {})


class RefusedBodyError(APIException):
    """A body that is not stored, with all its errors."""

    def __init__(self, status: int, faults: Iterable[Fault], detail: str = "") -> None:
        errors = [each.as_item() for each in faults]
        text = f"The vacancy has {len(errors)} error{'s' if len(errors) != 1 else ''}."
        super().__init__(detail or text)
        self.status_code, self.members = status, {"errors": errors} if errors else {}


class _Person(ImportRecruiter):
    name = LineField(max_length=200)


class _Publication(serializers.Serializer):
    state = ChoiceField(["public", "closed"], required=False)
    vars()["from"] = DateTimeField(allow_null=True)
    until = EndField(allow_null=True)


class BodySerializer(ImportSerializer):
    """The keys of an item of v1 that a source decides, and those of the management interface."""

    vars().update(dict.fromkeys(COMPUTED | _NOT_ITEMS))  # None removes a field
    head_recruiter: Any = _Person(required=False, allow_null=True)
    recruiters: Any = serializers.ListSerializer(child=_Person(), required=False, allow_null=True)
    form = serializers.IntegerField(required=False, allow_null=True, min_value=1, max_value=ID_MAX)
    audience = ChoiceField(Audience.choices, required=False)
    is_pay_public = FlagField()
    publication = _Publication(required=False)
    translations = Translations(is_strict=True)


def read_body(request: HttpRequest) -> JsonObject:
    """Return the JSON object in the body of `request`. Raises RefusedBodyError."""
    media_type = request.headers.get("Content-Type", "").partition(";")[0].strip().lower()
    if media_type != "application/json":
        raise RefusedBodyError(415, [], "The body must be JSON: application/json.")
    content = request.read(BYTES_MAX + 1)
    if len(content) > BYTES_MAX:
        raise RefusedBodyError(413, [], f"The body must have at most {BYTES_MAX} bytes.")
    try:
        body = parse_json(content)
    except (ValueError, RecursionError) as error:
        raise RefusedBodyError(400, [], f"The body is not JSON: {str(error)[:200]}.") from error
    if not isinstance(body, dict):
        raise RefusedBodyError(400, [], "The body must be a JSON object.")
    if repeated := [*_repeated(body)]:
        raise RefusedBodyError(400, repeated)
    return body


def parse(body: JsonObject, changes: list[Remark]) -> tuple[JsonObject, list[Fault], list[Fault]]:
    """Return the values of `body` that are valid, its unknown keys, and the other errors. What is
    altered is added to `changes`.
    """
    serializer = BodySerializer(data=body, context={"changes": changes})
    unknown, errors = [*_unknown(serializer, body)], []
    if not serializer.is_valid():
        errors = [_fault(serializer, each) for each in faults(serializer.errors)]
        valid = {name: body[name] for name in body if name not in serializer.errors}
        serializer = BodySerializer(data=valid, context={"changes": []})
        serializer.is_valid(raise_exception=True)
    item = dict(serializer.validated_data)
    return item, unknown, [*errors, *_convert_texts(item, changes)]


def pointer_of(path: str) -> str:
    """Return "/recruiters/0/name" for "recruiters.0.name"."""
    return "".join(f"/{escaped(part)}" for part in path.split(".")) if path else ""


def escaped(key: str) -> str:
    """Return `key` as a part of a JSON Pointer, shortened."""
    shown = key[:SHOWN_MAX].encode("utf-8", "replace").decode()  # without lone surrogates
    return shown.replace("~", "~0").replace("/", "~1")


def as_fault(remark: Remark) -> Fault:
    return Fault(pointer_of(remark.field), remark.message, remark.code)


def _fault(serializer: serializers.Serializer, remark: Remark) -> Fault:
    field: Any = serializer
    for part in remark.field.split("."):
        field = getattr(field, "child", field)
        field = getattr(field, "fields", {}).get(part, field)
    allowed = list(getattr(field, "choices", ()))
    return replace(as_fault(remark), allowed=allowed)


def _repeated(value: Any, pointer: str = "") -> Iterator[Fault]:
    """Yield an error for the keys that occur more than once in an object."""
    if isinstance(value, RepeatedKeys):
        at = f"{pointer}/{escaped(value.key)}"
        yield Fault(at, "This key occurs more than once.", "repeated_key")
    is_list = isinstance(value, list)
    for key, inner in enumerate(value) if is_list else value.items():
        if isinstance(inner, dict | list):
            yield from _repeated(inner, f"{pointer}/{escaped(str(key))}")


def _unknown(field: Any, data: object, pointer: str = "") -> Iterator[Fault]:
    """Yield an error for each key of `data` that the serializer `field` does not have."""
    if isinstance(field, serializers.ListSerializer):
        for number, inner in enumerate(data if isinstance(data, list) else ()):
            yield from _unknown(field.child, inner, f"{pointer}/{number}")
    elif isinstance(field, serializers.Serializer) and isinstance(data, dict):
        for key, inner in data.items():
            at = f"{pointer}/{escaped(key)}"
            if key in field.fields:
                yield from _unknown(field.fields[key], inner, at)
            else:
                yield Fault(at, *_right_name(key, [*field.fields], is_whole=not pointer))


def _right_name(key: str, known: list[str], *, is_whole: bool) -> tuple[str, str, list[str]]:
    """Return the text, the code and the names of the error for the unknown `key`."""
    shown = format_value(key[:SHOWN_MAX])
    if is_whole and key in _RIGHT_NAMES:
        right = _RIGHT_NAMES[key]
        return f"{shown} is not a key here: use {right}.", "unknown_key", [right]
    if is_whole and key in COMPUTED:
        return f"The site sets {shown}: leave it out.", "unknown_key", []
    close = get_close_matches(key[:SHOWN_MAX].lower().replace("-", "_"), known, n=1, cutoff=0.7)
    if close:
        return f"{shown} is not a key here: use {close[0]}.", "unknown_key", close
    return f"{shown} is not a key here.", "unknown_key", sorted(known)


def _convert_texts(item: JsonObject, changes: list[Remark]) -> Iterator[Fault]:
    """Convert the HTML texts of `item`; yield the errors."""
    places = [(item, name, name) for name in TEXTS]
    for code, texts in (item.get("translations") or {}).items():
        places += [(texts or {}, name, f"translations.{code}.{name}") for name in TEXTS]
    for values, name, path in places:
        text = cast("str", values.get(name) or "")
        if len(text) > LENGTH_MAX:
            detail = f"Has {len(text)} characters; at most {LENGTH_MAX} are allowed."
            yield Fault(pointer_of(path), detail, "too_long")
        elif is_escaped(text):
            detail = "Contains escaped HTML such as &lt;p&gt;: send the tags themselves."
            yield Fault(pointer_of(path), detail, "escaped_html")
        elif name in values:
            values[name], alterations = convert(text)
            changes += (Remark(path, each.code, each.message) for each in alterations)
