"""Serializers of imported items. An invalid item is refused with the key and the reason."""

from django.db import models
from rest_framework import serializers

from vacancies.choices import Keyword
from vacancies.exchange.columns import COLUMNS, imported
from vacancies.exchange.fields import (
    ID_MAX,
    ChoiceField,
    DateTimeField,
    EndField,
    LineField,
    TextField,
    UrlField,
)
from vacancies.fields import html_fields
from vacancies.models import Vacancy

TEXTS = html_fields(Vacancy)
# Keys of v0.1, and of hot lists that mix both versions, for vocabularies with a single value there.
SINGULAR = {
    "type": Keyword.TYPES,
    "contract_type": Keyword.CONTRACT_TYPES,
    "work_regime": Keyword.WORK_REGIMES,
}


class FileStatus(models.TextChoices):
    """What a file can state about a vacancy. A published one is public from `published_at` on."""

    DRAFT = "draft"
    SCHEDULED = "scheduled"
    PUBLISHED = "published"
    CLOSED = "closed"


class _Labels(serializers.ListField):
    """An ordered list of labels. Null and, as in v0.1, a single string are accepted too."""

    child = LineField(max_length=200, allow_blank=False, allow_null=False)

    def __init__(self, max_length: int | None = None) -> None:
        super().__init__(required=False, allow_null=True, max_length=max_length)

    def run_validation(self, data: object = serializers.empty) -> list[str]:
        return list(dict.fromkeys(super().run_validation([data] if isinstance(data, str) else data) or ()))


class _Icons(serializers.Serializer):
    small = UrlField()
    large = UrlField()


class _Brand(serializers.Serializer):
    name = LineField(max_length=200, required=True, allow_null=False, allow_blank=False)
    description = TextField()
    icons = _Icons(required=False, allow_null=True)
    url = UrlField()


class _Attachment(serializers.Serializer):
    name = LineField(max_length=200)
    path = UrlField(required=True, allow_null=False, allow_blank=False)


class _Recruiter(serializers.Serializer):
    id = serializers.IntegerField(required=False, min_value=1, max_value=ID_MAX)
    name = LineField(max_length=200, required=True, allow_null=False, allow_blank=False)
    function = LineField(max_length=200)
    email = serializers.EmailField(required=False, allow_null=True, allow_blank=True)
    phone = LineField(max_length=50)
    image = UrlField()


class ItemSerializer(serializers.Serializer):
    """An item of API v1 or v0.1. A missing key is also missing in `validated_data`, and changes nothing
    (docs/decisions.md #118)."""

    id = serializers.IntegerField(min_value=1, max_value=ID_MAX)
    title = LineField(max_length=300, allow_null=False, allow_blank=False)
    title_internal = LineField(max_length=300)
    slug = TextField()
    brand = _Brand(required=False, allow_null=True)
    vars().update(
        {keyword.value: _Labels(max_length=1 if keyword.is_single else None) for keyword in Keyword}
    )
    vars().update({name: _Labels(max_length=1) for name in SINGULAR})
    vars().update({column.name: imported(column) for column in COLUMNS})
    image = UrlField()
    attachments = _Attachment(many=True, required=False, allow_null=True)
    head_recruiter = _Recruiter(required=False, allow_null=True)
    recruiters = _Recruiter(many=True, required=False, allow_null=True)
    created_at = DateTimeField()
    updated_at = DateTimeField()
    published_at = DateTimeField(allow_null=True)
    publish_until = EndField(allow_null=True)
    closes_at = EndField(allow_null=True)
    closing_date = EndField(allow_null=True)
    status = ChoiceField(FileStatus.choices, required=False)
