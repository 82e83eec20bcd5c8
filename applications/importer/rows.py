"""The shape of a row of a file (docs/operations/import.md). The parts that an export has too have
its shape (applications/privacy/export.py).
"""

import base64
import binascii

from django.contrib.auth.validators import UnicodeUsernameValidator
from rest_framework import serializers

from applications.submissions.files import FILE_BYTES_MAX
from jobsite.languages import LANGUAGES
from jobsite.types import JsonObject
from vacancies.exchange.fields import (
    ID_MAX,
    DateTimeField,
    EmailField,
    FlagField,
    ImportTextField,
    LineField,
    PhoneField,
)

NAME_MAX = 64  # characters of the name of a form field
# Columns of an application that a row sets. A row replaces those that it has.
COLUMNS = (
    "reference",
    "given_name",
    "family_name",
    "email",
    "phone",
    "language",
    "is_spontaneous",
    "is_repeated",
    "rating",
    "verified_at",
    "withdrawn_at",
)


class _Person(serializers.Serializer):
    username = serializers.CharField(max_length=150, validators=[UnicodeUsernameValidator()])
    email = EmailField(max_length=254, required=False, allow_blank=True, default="")
    password = serializers.CharField(required=False, max_length=4096, trim_whitespace=False)


class _Step(serializers.Serializer):
    name = LineField(max_length=200, required=True, allow_null=False, allow_blank=False)
    result = LineField(max_length=200)
    planned_at = DateTimeField(required=True)
    is_visible = FlagField(default=True)
    created_at = DateTimeField()
    updated_at = DateTimeField()


class _FieldName(serializers.CharField):
    """The name of a form field, made up from the position if it is absent."""

    def __init__(self) -> None:
        super().__init__(max_length=NAME_MAX, required=False)


class _Answer(serializers.Serializer):
    """A field of the form and what the applicant answered, as people read it."""

    field = _FieldName()
    label = LineField(max_length=1000, required=True, allow_null=False, allow_blank=False)  # type: ignore[assignment]
    values = serializers.ListField(
        child=ImportTextField(max_length=10_000, allow_null=False), max_length=1000
    )


class _Base64(serializers.Field):
    """Bytes in base64."""

    default_error_messages = {
        "invalid": "Must be base64. An export has it with the option --files.",
        "size": "The file is larger than 10 MB.",
    }

    def to_internal_value(self, data: str) -> bytes:
        if isinstance(data, str) and len(data) > FILE_BYTES_MAX * 4 // 3 + 4:
            self.fail("size")
        try:
            return base64.b64decode(data, validate=True)
        except (TypeError, ValueError, binascii.Error):
            return self.fail("invalid")


class _File(serializers.Serializer):
    """A file: its content, or its path relative to the folder of the import file."""

    field = _FieldName()
    name = serializers.CharField(max_length=10_000, trim_whitespace=False)
    content = _Base64(required=False)
    path = serializers.CharField(max_length=4096, required=False, trim_whitespace=False)

    def validate(self, attrs: JsonObject) -> JsonObject:
        if ("content" in attrs) == ("path" in attrs):
            raise serializers.ValidationError("Must have either content or path.", code="file")
        return attrs


class _Submission(serializers.Serializer):
    answers = _Answer(many=True, required=False)
    files = _File(many=True, required=False)
    source = LineField(max_length=200)  # type: ignore[assignment]
    consent_text = ImportTextField()
    consent_version = serializers.IntegerField(min_value=0, max_value=2**31 - 1, default=0)
    consented_at = DateTimeField()

    def validate(self, attrs: JsonObject) -> JsonObject:
        """Name the fields that have no name, and refuse names that occur twice."""
        for kind in ("answers", "files"):
            for number, each in enumerate(attrs.get(kind, ()), 1):
                each.setdefault("field", f"{kind.removesuffix('s')}_{number}")
            names = [each["field"] for each in attrs.get(kind, ())]
            if len(set(names)) < len(names):
                raise serializers.ValidationError(
                    {kind: "A field occurs more than once."}, code="repeated"
                )
        return attrs


class _Email(serializers.Serializer):
    """An email that the other system sent, or failed to send. It is not sent again."""

    to = EmailField(max_length=254)
    subject = LineField(max_length=400)
    body = ImportTextField()
    state = serializers.CharField(default="sent")
    queued_at = DateTimeField(required=True)
    finished_at = DateTimeField(allow_null=True)


class _Note(serializers.Serializer):
    text = ImportTextField(max_length=10_000, required=True, allow_null=False, allow_blank=False)
    at = DateTimeField(required=True)


class ApplicationRow(serializers.Serializer):
    """A row of a file. `status` is what the applicant reads; `stage` is the name of an internal
    stage. The applicant has an account (`user`), or only an address (`email`).
    """

    user = _Person(required=False, allow_null=True)
    vacancy_id = serializers.IntegerField(min_value=1, max_value=ID_MAX)
    status = LineField(max_length=200)
    stage = LineField(max_length=200)
    reference = serializers.RegexField(r"^[0-9A-Za-z-]{1,12}\Z", required=False, allow_null=True)
    given_name = LineField(max_length=200)
    family_name = LineField(max_length=200)
    email = EmailField(max_length=254, required=False, allow_blank=True)
    phone = PhoneField(max_length=200)
    language = serializers.ChoiceField(tuple(LANGUAGES), required=False)
    is_spontaneous = FlagField()
    is_repeated = FlagField()
    rating = serializers.IntegerField(min_value=1, max_value=5, required=False, allow_null=True)
    verified_at = DateTimeField(allow_null=True)
    withdrawn_at = DateTimeField(allow_null=True)
    created_at = DateTimeField()
    history = _Step(many=True, required=False, allow_null=True)
    submission = _Submission(required=False, allow_null=True)
    emails = _Email(many=True, required=False)
    notes = _Note(many=True, required=False)

    def validate(self, attrs: JsonObject) -> JsonObject:
        if not attrs.get("user") and not attrs.get("email"):
            raise serializers.ValidationError("Must have a user or an email.", code="applicant")
        return attrs


def of_export(document: object) -> list[JsonObject] | None:
    """Return the rows of a file that export_applicant wrote; None if `document` is none. Internal
    stages are not in it: an application gets the status that the applicant saw.
    """
    if not isinstance(document, dict) or not isinstance(document.get("applications"), list):
        return None
    account = document.get("account")
    person = (
        {"username": account.get("username"), "email": account.get("email")} if account else None
    )
    return [
        _of_export(each, person) if isinstance(each, dict) else each
        for each in document["applications"]
    ]


def _of_export(application: JsonObject, person: JsonObject | None) -> JsonObject:
    row = {name: value for name, value in application.items() if name in ApplicationRow().fields}
    vacancy, statuses = application.get("vacancy"), application.get("statuses")
    if isinstance(vacancy, dict):
        row["vacancy_id"] = vacancy.get("id")
    if isinstance(statuses, list) and statuses and isinstance(statuses[-1], dict):
        row["status"] = statuses[-1].get("status")
    return row | {"user": person}
