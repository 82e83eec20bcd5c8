"""The representation of a vacancy: its item of v1, and what only the management interface shows."""

import json
import re
from collections.abc import Iterable
from typing import Any

from django.http import HttpRequest
from django.urls import reverse
from rest_framework import serializers
from xxhash import xxh3_128_hexdigest

from jobsite.api.absolute_urls import absolute
from jobsite.languages import text_languages
from jobsite.types import JsonObject
from vacancies.api.serializers import PaySerializer
from vacancies.api.v1.serializers import VacancySerializer
from vacancies.choices import VacancyStatus
from vacancies.manage.authentication import NO_BRAND
from vacancies.models import TRANSLATED, Brand, Vacancy

REFERENCE = re.compile(r"[A-Za-z0-9._~-]{1,100}", re.ASCII)
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


def find(brand: Brand | None, reference: str) -> Vacancy | None:
    return Vacancy.objects.filter(brand=brand, reference=reference).first()


def item_of(request: HttpRequest, vacancy: Vacancy) -> JsonObject:
    """Return the item of `vacancy`, which is read unless it was read `with_related`."""
    if not hasattr(vacancy, "ordered_choices"):
        vacancy = Vacancy.objects.with_related().get(pk=vacancy.pk)
    return items_of(request, [vacancy])[0]


def address_of(request: Any, brand: Brand | None, reference: str) -> str | None:
    """Return the address of the vacancy `reference`, None if an address cannot have it."""
    if not REFERENCE.fullmatch(reference):
        return None
    slug = brand.slug if brand else NO_BRAND
    return absolute(request, reverse("manage:managed-vacancy", args=[slug, reference]))


def etag_of(item: JsonObject) -> str:
    return f'"{xxh3_128_hexdigest(json.dumps(item, sort_keys=True).encode())}"'


def matches(condition: str, etag: str | None) -> bool:
    """Whether the header If-Match or If-None-Match names `etag`, None if there is no vacancy. A
    compressed response has a weak tag, which is taken for the same.
    """
    if etag is None:
        return False
    tags = [tag.strip().removeprefix("W/") for tag in condition.split(",")]
    return "*" in tags or etag in tags
