"""Serializers of objects that are the same in every API version."""

from datetime import datetime
from decimal import Decimal
from typing import Any

from django.db import models
from django.db.models import Field
from rest_framework import serializers

from jobsite.api.openapi import documented
from jobsite.api.serializers import (
    AddressField,
    ItemSerializer,
    PlainItemSerializer,
    SharedItemSerializer,
    TextField,
)
from jobsite.types import JsonObject
from vacancies.api import schema
from vacancies.choices import Keyword
from vacancies.dates import last_day
from vacancies.models import Attachment, Brand, Recruiter, Vacancy, languages_of


class VacancyItemSerializer(ItemSerializer):
    """A vacancy. Text columns that may be empty are null then, so versions
    declare only other keys.
    """

    def build_standard_field(self, field_name: str, model_field: Field) -> tuple:
        if isinstance(model_field, models.CharField | models.TextField) and model_field.blank:
            return TextField, {}
        if isinstance(model_field, models.DecimalField):
            return NumberField, {}
        return super().build_standard_field(field_name, model_field)


class IconsSerializer(serializers.Serializer):
    small = AddressField("icon_small", "icon_small_url", empty="")
    large = AddressField("icon_large", "icon_large_url", empty="")


@documented("Brand", "Brand of an employer.", schema.BRAND)
class BrandSerializer(SharedItemSerializer):
    """Interface 2.4: all values are strings, empty if there is none."""

    icons = IconsSerializer(source="*", read_only=True)

    class Meta:
        model = Brand
        fields = ("name", "description", "icons", "url")


@documented("Recruiter", "A recruiter, with public contact data only.", schema.RECRUITER)
class RecruiterSerializer(SharedItemSerializer):
    """Interface 2.6: contact data only if the recruiter's record marks it as public."""

    function = TextField()
    email = TextField(source="shown_email")
    phone = TextField(source="shown_phone")
    image = AddressField("image", "image_url")

    class Meta:
        model = Recruiter
        fields = ("id", "name", "function", "email", "phone", "image")


@documented("Attachment", "A file to download.", schema.ATTACHMENT)
class AttachmentSerializer(ItemSerializer):
    """Interface 2.5."""

    path = AddressField("file", "url", empty="")

    class Meta:
        model = Attachment
        fields = ("name", "path")


class LabelsField(serializers.Field):
    """The labels of a filter in the recruiter's order; an empty array if there are none."""

    def __init__(self, keyword: Keyword, **kwargs: Any) -> None:
        self.keyword = keyword
        super().__init__(source="*", read_only=True, **kwargs)

    def to_representation(self, value: Vacancy) -> list[str]:
        return value.labels(self.keyword, self.context.get("language", ""))


class LabelField(LabelsField):
    """The first label of a filter in the recruiter's order; null if there is none."""

    def to_representation(self, value: Vacancy) -> str | None:  # type: ignore[override]
        return next(iter(super().to_representation(value)), None)


class LabelsOrNullField(LabelsField):
    """The labels of a filter in the recruiter's order; null if there are none."""

    def to_representation(self, value: Vacancy) -> list[str] | None:  # type: ignore[override]
        return super().to_representation(value) or None


class NumberField(serializers.DecimalField):
    """A number of JSON: an integer if it is whole. Null if there is none."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(
            max_digits=12, decimal_places=None, read_only=True, allow_null=True, **kwargs
        )

    def to_representation(self, value: Decimal) -> int | float:  # type: ignore[override]
        return int(value) if value == value.to_integral_value() else float(value)


@documented("Place", "A place where the work is done.", schema.PLACE)
class PlaceSerializer(PlainItemSerializer):
    street = TextField()
    postal_code = TextField()
    locality = TextField()
    region = TextField()
    country = serializers.CharField(read_only=True)
    latitude = NumberField()
    longitude = NumberField()


@documented("Pay", "What the job pays.", schema.PAY)
class PaySerializer(PlainItemSerializer):
    """The public pay of a vacancy; null if there is none."""

    min = NumberField(source="pay_min")
    max = NumberField(source="pay_max")
    currency = TextField(source="pay_currency")
    period = TextField(source="pay_period")
    note = TextField(source="pay_note")

    def to_representation(self, vacancy: Vacancy) -> JsonObject | None:  # type: ignore[override]
        return (
            super().to_representation(vacancy)
            if vacancy.is_pay_public and vacancy.pay.is_known
            else None
        )


class LanguagesField(serializers.Field):
    """The languages in which a vacancy can be read, its own first."""

    def __init__(self) -> None:
        super().__init__(source="*", read_only=True)

    def to_representation(self, value: Vacancy) -> list[str]:
        return languages_of(value)


class ClosingDateField(serializers.Field):
    """The last day on which a vacancy is shown, in the site's time zone; null without an end."""

    def __init__(self) -> None:
        super().__init__(source="publish_until", read_only=True)

    def to_representation(self, value: datetime) -> str:
        return last_day(value).isoformat()
