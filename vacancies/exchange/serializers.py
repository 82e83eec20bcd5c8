"""Serializers of imported items. An invalid item is refused with the key and the reason."""

from typing import Any

from django.db import models
from rest_framework import serializers

from jobsite.languages import text_languages
from jobsite.types import JsonObject
from vacancies.choices import PLACES_MAX, EmploymentType, Keyword
from vacancies.exchange.columns import CODES, COLUMNS, imported
from vacancies.exchange.fields import (
    ID_MAX,
    ChoiceField,
    CodeField,
    DateTimeField,
    EmailField,
    EndField,
    FlagField,
    ImportNumberField,
    ImportTextField,
    LineField,
    PhoneField,
    Remark,
    UrlField,
)
from vacancies.fields import html_fields
from vacancies.models import TRANSLATED, Place, Vacancy

TEXTS = html_fields(Vacancy)
# Keys of v0.1, and of hot lists that mix both versions, for vocabularies with a single value there.
SINGULAR = {
    "type": Keyword.TYPES,
    "contract_type": Keyword.CONTRACT_TYPES,
    "work_regime": Keyword.WORK_REGIMES,
}


# The keys of `pay`, and their values where there are none.
PAY = {"min": None, "max": None, "currency": "", "period": "", "note": ""}


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
        return list(
            dict.fromkeys(super().run_validation([data] if isinstance(data, str) else data) or ())
        )


def _coordinate(limit: int) -> ImportNumberField:
    """Return a field for degrees, to about 10 cm."""
    return ImportNumberField(
        max_digits=9,
        decimal_places=6,
        min_value=-limit,
        max_value=limit,
        is_rounded=True,
        required=False,
        allow_null=True,
    )


class _Icons(serializers.Serializer):
    small = UrlField()
    large = UrlField()


class _Brand(serializers.Serializer):
    name = LineField(max_length=200, required=True, allow_null=False, allow_blank=False)
    description = ImportTextField()
    icons = _Icons(required=False, allow_null=True)
    url = UrlField()


class _Attachment(serializers.Serializer):
    name = LineField(max_length=200)
    path = UrlField(required=True, allow_null=False, allow_blank=False)


class ImportRecruiter(serializers.Serializer):
    id = serializers.IntegerField(required=False, min_value=1, max_value=ID_MAX)
    name = LineField(max_length=200, required=True, allow_null=False, allow_blank=False)
    function = LineField(max_length=200)
    email = EmailField(required=False, allow_null=True, allow_blank=True)
    phone = PhoneField(max_length=50)
    image = UrlField()


def _limited(values: list[Any]) -> list[Any]:
    if len(values) > PLACES_MAX:
        raise serializers.ValidationError(
            f"At most {PLACES_MAX} are allowed; received {len(values)}."
        )
    return values


class _Place(serializers.Serializer):
    """A place as the values of its fields. What is absent is empty."""

    vars().update({name: imported(Place._meta.get_field(name)) for name in Place.ADDRESS})
    locality = LineField(max_length=100, required=True, allow_null=False, allow_blank=False)
    country = CodeField(*CODES["country"], required=True, allow_null=False)
    latitude = _coordinate(90)
    longitude = _coordinate(180)

    def validate(self, data: JsonObject) -> JsonObject:
        place = Place(**data).address
        for name, other in (("latitude", "longitude"), ("longitude", "latitude")):
            if place[name] is None and place[other] is not None:
                raise serializers.ValidationError({name: f"This field is required with {other}."})
        return place


class _Pay(serializers.Serializer):
    """Pay as the values of columns, {} if nothing is given. Pay that is received is public."""

    vars().update({key: imported(Vacancy._meta.get_field(f"pay_{key}")) for key in PAY})

    def validate(self, data: JsonObject) -> JsonObject:
        low, high = data.get("min"), data.get("max")
        if low is None and high is None:
            if given := [key for key in ("currency", "period") if data.get(key)]:
                raise serializers.ValidationError(
                    {"min": f"This field or max is required with {given[0]}."}
                )
        elif missing := [key for key in ("currency", "period") if not data.get(key)]:
            text = "This field is required with min or max."
            raise serializers.ValidationError(dict.fromkeys(missing, text))
        if low is not None and high is not None and low > high:
            raise serializers.ValidationError(
                {"max": f"Must be at least min, {low}; received {high}."}
            )
        pay = {f"pay_{key}": data.get(key, empty) for key, empty in PAY.items()}
        return pay | {"is_pay_public": True} if {*pay.values()} - {None, ""} else {}


class _Translation(serializers.Serializer):
    """The texts in another language. A missing key changes nothing."""

    vars().update({name: imported(Vacancy._meta.get_field(name)) for name in TRANSLATED})
    title = LineField(max_length=300)
    title_internal = LineField(max_length=300)
    ready = FlagField(allow_null=False)


class Translations(serializers.DictField):
    """Texts by language; null deletes those of a language. `is_strict`: a language that the site
    does not have is an error, and not left out with a note.
    """

    child: Any = _Translation(allow_null=True)

    def __init__(self, *, is_strict: bool = False) -> None:
        super().__init__(required=False, allow_null=True)
        self.is_strict = is_strict

    def to_internal_value(self, data: Any) -> JsonObject:
        texts = data if isinstance(data, dict) else {}
        allowed = ", ".join(text_languages()) or "none, TEXT_LANGUAGES is empty"
        text = f"Not a language of texts here. Allowed: {allowed}."
        if others := [code for code in texts if code not in text_languages()]:
            if self.is_strict:
                raise serializers.ValidationError({code[:10]: [text] for code in others})
            named = (f"{self.field_name}.{code[:10]}" for code in others)
            self.context["changes"].extend(Remark(name, "language", text) for name in named)
            data = {code: each for code, each in texts.items() if code not in others}
        for code, values in data.items() if texts else ():
            if unknown := {*values} - {*self.child.fields} if isinstance(values, dict) else ():
                text = f"Unknown keys: {', '.join(sorted(unknown))[:200]}."
                raise serializers.ValidationError({code: [text]})
        return super().to_internal_value(data)  # type: ignore[no-any-return]


class ImportSerializer(serializers.Serializer):
    """An item of API v1 or v0.1. A missing key is also missing in `validated_data`, and changes
    nothing (docs/decisions.md #118).
    """

    id = serializers.IntegerField(min_value=1, max_value=ID_MAX)
    title = LineField(max_length=300, allow_null=False, allow_blank=False)
    title_internal = LineField(max_length=300)
    slug = ImportTextField()
    brand = _Brand(required=False, allow_null=True)
    vars().update(
        {keyword.value: _Labels(max_length=1 if keyword.is_single else None) for keyword in Keyword}
    )
    vars().update({name: _Labels(max_length=1) for name in SINGULAR})
    vars().update({column.name: imported(column) for column in COLUMNS})
    places: Any = serializers.ListSerializer(child=_Place(), required=False, allow_null=True)
    remote_countries = serializers.ListField(
        child=CodeField(*CODES["country"], allow_null=False), required=False, allow_null=True
    )
    employment_types = serializers.ListField(
        child=ChoiceField(EmploymentType.choices), required=False, allow_null=True
    )
    pay = _Pay(required=False, allow_null=True)
    image = UrlField()
    attachments: Any = serializers.ListSerializer(
        child=_Attachment(), required=False, allow_null=True
    )
    head_recruiter = ImportRecruiter(required=False, allow_null=True)
    recruiters: Any = serializers.ListSerializer(
        child=ImportRecruiter(), required=False, allow_null=True
    )
    created_at = DateTimeField()
    updated_at = DateTimeField()
    published_at = DateTimeField(allow_null=True)
    publish_until = EndField(allow_null=True)
    closes_at = EndField(allow_null=True)
    closing_date = EndField(allow_null=True)
    status = ChoiceField(FileStatus.choices, required=False)
    url = serializers.ReadOnlyField()  # ours is made from the brand
    languages = serializers.ReadOnlyField()  # of the ready texts
    translations = Translations()

    def validate_places(self, places: list[JsonObject] | None) -> list[JsonObject]:
        return _limited(places or [])

    def validate_remote_countries(self, codes: list[str] | None) -> list[str]:
        return list(dict.fromkeys(_limited(codes or [])))
