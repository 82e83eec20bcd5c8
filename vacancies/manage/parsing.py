"""Reads the body of a vacancy: strict JSON with the keys of an item of v1. All errors are found at
once, each with a JSON Pointer.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Any

from django.http import HttpRequest
from rest_framework import serializers
from rest_framework.exceptions import APIException

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
from vacancies.exchange.html_texts import convert_texts
from vacancies.exchange.json_files import RepeatedKeys, parse_json
from vacancies.exchange.serializers import (
    SINGULAR,
    ImportRecruiter,
    ImportSerializer,
    Translations,
)

BYTES_MAX = 1_000_000
SHOWN_MAX = 60  # characters of a key that an error repeats
UNKNOWN = "unknown_key"
ESCAPED = "Contains escaped HTML such as &lt;p&gt;: send the tags themselves."
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


class RefusedError(APIException):
    """A request that writes nothing, with all errors of its body."""

    def __init__(self, status: int, faults: Iterable[Fault] = (), detail: str = "") -> None:
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
    """Return the JSON object in the body of `request`. Raises RefusedError."""
    media_type = request.headers.get("Content-Type", "").partition(";")[0].strip().lower()
    if media_type != "application/json":
        raise RefusedError(415, detail="The body must be JSON: application/json.")
    content = request.read(BYTES_MAX + 1)
    if len(content) > BYTES_MAX:
        raise RefusedError(413, detail=f"The body must have at most {BYTES_MAX} bytes.")
    try:
        body = parse_json(content)
    except (ValueError, RecursionError) as error:
        raise RefusedError(400, detail=f"The body is not JSON: {str(error)[:200]}.") from error
    if not isinstance(body, dict):
        raise RefusedError(400, detail="The body must be a JSON object.")
    if repeated := [*_repeated(body)]:
        raise RefusedError(400, repeated)
    return body


def parse(body: JsonObject, changes: list[Remark]) -> tuple[JsonObject, list[Fault]]:
    """Return the values of `body` that are valid, and the errors, its unknown keys first. What is
    altered is added to `changes`.
    """
    serializer = BodySerializer(data=body, context={"changes": changes})
    errors = [*_unknown(serializer, body)]
    if not serializer.is_valid():
        errors += (_fault(serializer, each) for each in faults(serializer.errors))
        valid = {name: body[name] for name in body if name not in serializer.errors}
        serializer = BodySerializer(data=valid, context={"changes": []})
        serializer.is_valid(raise_exception=True)
    item = dict(serializer.validated_data)
    return item, [*errors, *map(as_fault, convert_texts(item, changes, ESCAPED))]


def escaped(key: str) -> str:
    """Return `key` as a part of a JSON Pointer, shortened."""
    shown = key[:SHOWN_MAX].encode("utf-8", "replace").decode()  # without lone surrogates
    return shown.replace("~", "~0").replace("/", "~1")


def as_fault(remark: Remark) -> Fault:
    parts = remark.field.split(".") if remark.field else ()  # "recruiters.0.name"
    return Fault("".join(f"/{escaped(part)}" for part in parts), remark.message, remark.code)


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
    for key, inner in enumerate(value) if isinstance(value, list) else value.items():
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
                yield _unknown_key(at, key, [*field.fields])


def _unknown_key(at: str, key: str, known: list[str]) -> Fault:
    shown, is_whole = format_value(key[:SHOWN_MAX]), at.count("/") == 1  # of the whole body
    right = _RIGHT_NAMES.get(key) if is_whole else None
    if is_whole and key in COMPUTED and not right:
        return Fault(at, f"The site sets {shown}: leave it out.", UNKNOWN)
    near = key[:SHOWN_MAX].lower().replace("-", "_")
    use = [right] if right else get_close_matches(near, known, n=1, cutoff=0.7)
    text = f"{shown} is not a key here{f': use {use[0]}' if use else ''}."
    return Fault(at, text, UNKNOWN, use or sorted(known))
