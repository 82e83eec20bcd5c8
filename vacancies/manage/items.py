"""The representation of a vacancy: its item of v1, and what only the management interface shows."""

import json
from collections.abc import Iterable
from typing import Any

from django.http import HttpRequest
from rest_framework import serializers
from xxhash import xxh3_128_hexdigest

from jobsite.languages import text_languages
from jobsite.types import JsonObject
from vacancies.api.serializers import PaySerializer
from vacancies.api.v1.serializers import VacancySerializer
from vacancies.choices import VacancyStatus
from vacancies.models import TRANSLATED, Vacancy

OWN_KEYS = ("form", "audience", "is_pay_public", "publication", "translations")


class _OwnPay(PaySerializer):
    """The pay, also if the public does not see it."""

    def to_representation(self, vacancy: Vacancy) -> JsonObject | None:
        return (
            super(PaySerializer, self).to_representation(vacancy) if vacancy.pay.is_known else None
        )


class _PublicationField(serializers.Field):
    def to_representation(self, vacancy: Vacancy) -> JsonObject:
        time: Any = serializers.DateTimeField().to_representation
        is_public = vacancy.status == VacancyStatus.PUBLISHED
        return {
            "state": "public" if is_public else "closed",
            "from": vacancy.publish_from and time(vacancy.publish_from),
            "until": vacancy.publish_until and time(vacancy.publish_until),
        }


class _TranslationsField(serializers.Field):
    """The texts in other languages, also those that are not ready. Absent where vacancies have
    none.
    """

    def to_representation(self, vacancy: Vacancy) -> JsonObject:
        languages = text_languages()
        rows = {each.language: each for each in vacancy.translations.all()} if languages else {}
        return {
            code: {name: rows[code].texts.get(name) for name in TRANSLATED}
            | {"ready": rows[code].is_ready}
            for code in languages
            if code in rows
        }


class ManagedVacancySerializer(VacancySerializer):
    pay = _OwnPay(source="*", read_only=True)
    form = serializers.IntegerField(source="form_id", read_only=True)
    publication = _PublicationField(source="*", read_only=True)
    translations = _TranslationsField(source="*", read_only=True)

    class Meta(VacancySerializer.Meta):
        fields: Any = (*VacancySerializer.Meta.fields, *OWN_KEYS)
        omit_absent: Any = (*VacancySerializer.Meta.omit_absent, "translations")


def items_of(request: Any, vacancies: Iterable[Vacancy]) -> list[JsonObject]:
    """Return the items of `vacancies`, which were read `with_related`."""
    serializer = ManagedVacancySerializer(context={"request": request})
    return [dict(serializer.to_representation(vacancy)) for vacancy in vacancies]


def item_of(request: HttpRequest, vacancy: Vacancy) -> JsonObject:
    """Return the item of `vacancy`, which is read unless it was read `with_related`."""
    if not hasattr(vacancy, "ordered_choices"):
        vacancy = Vacancy.objects.with_related().get(pk=vacancy.pk)
    return items_of(request, [vacancy])[0]


def etag_of(item: JsonObject) -> str:
    return f'"{xxh3_128_hexdigest(json.dumps(item, sort_keys=True).encode())}"'
