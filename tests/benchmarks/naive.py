"""The naive baseline: what a competent Django developer writes first over the same tables.
Settings, URLs, serializers and views in one file; nothing here knows our interface but the keys of
its items.
"""

import os
from decimal import Decimal
from typing import Any

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.benchmarks.naive_settings")

from django.core.wsgi import get_wsgi_application

application = get_wsgi_application()

import django_filters  # noqa: E402 - these need the settings
from django.db.models import CharField, Prefetch, Q, QuerySet, TextField  # noqa: E402
from django.urls import include, path  # noqa: E402
from django.utils import timezone  # noqa: E402
from django_filters.rest_framework import DjangoFilterBackend  # noqa: E402
from rest_framework import routers, serializers, viewsets  # noqa: E402
from rest_framework.pagination import PageNumberPagination  # noqa: E402
from rest_framework.permissions import AllowAny  # noqa: E402
from rest_framework.response import Response  # noqa: E402

from vacancies.api.v1.serializers import VacancySerializer as Ours  # noqa: E402
from vacancies.choices import EmploymentType, Keyword  # noqa: E402
from vacancies.dates import last_day  # noqa: E402
from vacancies.exchange.columns import COLUMNS  # noqa: E402
from vacancies.models import Attachment, Brand, Recruiter, Vacancy, VacancyOption  # noqa: E402

TEXTS = [field.name for field in COLUMNS if isinstance(field, CharField | TextField)]


PAY = ("min", "max", "currency", "period", "note")


def number(value: Any) -> Any:
    """Return a decimal as a number of JSON, and null for an empty text."""
    if isinstance(value, Decimal):
        return int(value) if value == int(value) else float(value)
    return value or None


class BrandSerializer(serializers.ModelSerializer):
    icons = serializers.SerializerMethodField()

    class Meta:
        model = Brand
        fields = ["name", "description", "icons", "url"]

    def get_icons(self, brand: Brand) -> dict[str, str]:
        return {"small": brand.icon_small_url, "large": brand.icon_large_url}


class RecruiterSerializer(serializers.ModelSerializer):
    email = serializers.CharField(source="shown_email")
    phone = serializers.CharField(source="shown_phone")
    image = serializers.CharField(source="image_url")

    class Meta:
        model = Recruiter
        fields = ["id", "name", "function", "email", "phone", "image"]

    def to_representation(self, recruiter: Recruiter) -> dict[str, Any]:
        return {name: value or None for name, value in super().to_representation(recruiter).items()}


class AttachmentSerializer(serializers.ModelSerializer):
    path = serializers.CharField(source="url")

    class Meta:
        model = Attachment
        fields = ["name", "path"]


class LabelsField(serializers.Field):
    """The labels of the vocabulary `keyword`, `empty` where there are none, the first if
    `is_single`.
    """

    def __init__(self, keyword: str, *, empty: Any = None, is_single: bool = False) -> None:
        super().__init__(source="*", read_only=True)
        self.keyword, self.empty, self.is_single = keyword, empty, is_single

    def to_representation(self, vacancy: Vacancy) -> Any:
        choices = vacancy.choices.all()
        labels = [
            choice.option.label
            for choice in choices
            if choice.option.filter.keyword == self.keyword
        ]
        return (labels[0] if self.is_single else labels) if labels else self.empty


class VacancySerializer(serializers.ModelSerializer):
    brand = BrandSerializer()
    functiongroup = LabelsField("functiongroup", is_single=True)
    types = LabelsField("types")
    contract_types = LabelsField("contract_types")
    work_regimes = LabelsField("work_regimes")
    regions = LabelsField("regions", empty=[])
    jobcustom1_values = LabelsField("jobcustom1_values", empty=[])
    jobcustom2_values = LabelsField("jobcustom2_values", empty=[])
    jobcustom3_values = LabelsField("jobcustom3_values", empty=[])
    jobcustom4_values = LabelsField("jobcustom4_values", empty=[])
    image = serializers.CharField(source="image_url")
    attachments = AttachmentSerializer(many=True)
    head_recruiter = RecruiterSerializer()
    recruiters = serializers.SerializerMethodField()
    language = serializers.CharField(source="shown_language")
    places = serializers.SerializerMethodField()
    remote_countries = serializers.ListField()
    employment_types = serializers.SerializerMethodField()
    pay = serializers.SerializerMethodField()
    published_at = serializers.DateTimeField(source="publish_from")
    closes_at = serializers.DateTimeField(source="publish_until")
    closing_date = serializers.SerializerMethodField()

    class Meta:
        model = Vacancy
        fields = Ours.Meta.fields

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if names := self.context["request"].query_params.get("fields"):
            for name in set(self.fields) - set(names.split(",")):
                self.fields.pop(name)

    def get_recruiters(self, vacancy: Vacancy) -> Any:
        recruiters = [link.recruiter for link in vacancy.recruiter_links.all()]
        return RecruiterSerializer(recruiters, many=True).data or None

    def get_places(self, vacancy: Vacancy) -> list[dict[str, Any]]:
        return [
            {name: number(value) for name, value in place.address.items()}
            for place in vacancy.places.all()
            if place.kind == "site"
        ]

    def get_employment_types(self, vacancy: Vacancy) -> list[str]:
        found = {choice.option.employment_type for choice in vacancy.choices.all()}
        return [each for each in EmploymentType.values if each in found]

    def get_pay(self, vacancy: Vacancy) -> dict[str, Any] | None:
        if not (vacancy.is_pay_public and vacancy.pay.is_known):
            return None
        return {name: number(getattr(vacancy, f"pay_{name}")) for name in PAY}

    def get_closing_date(self, vacancy: Vacancy) -> str | None:
        return last_day(vacancy.publish_until).isoformat() if vacancy.publish_until else None

    def to_representation(self, vacancy: Vacancy) -> dict[str, Any]:
        item = super().to_representation(vacancy)
        for name in ("image", "reference", "work_place", "url", *TEXTS):
            if name in item:
                item[name] = item[name] or None
        if "title_internal" in item:
            item["title_internal"] = item["title_internal"] or vacancy.title
        if not item.get("attachments", True):
            del item["attachments"]
        return item


class Pages(PageNumberPagination):
    page_size = 20
    page_query_param = "page[number]"
    page_size_query_param = "page[size]"
    max_page_size = 100
    page: Any

    def get_paginated_response(self, data: Any) -> Response:
        links = {"next": self.get_next_link(), "prev": self.get_previous_link()}
        return Response(
            {"data": data, "links": links, "meta": {"total": self.page.paginator.count}}
        )


def having(keyword: str) -> Any:
    """Return a filter method: those with any of the option values of the vocabulary `keyword`."""

    def method(queryset: QuerySet, name: str, values: list[str]) -> QuerySet:
        chosen = VacancyOption.objects.filter(
            option__filter__keyword=keyword, option__value__in=values
        )
        return queryset.filter(pk__in=chosen.values("vacancy"))

    return method


class ValuesFilter(django_filters.BaseInFilter, django_filters.CharFilter):
    pass


class VacancyFilterSet(django_filters.FilterSet):
    vars().update(
        {f"filter[{keyword}]": ValuesFilter(method=having(keyword)) for keyword in Keyword.values}
    )
    vars()["filter[search]"] = django_filters.CharFilter("search_text", lookup_expr="contains")
    sort = django_filters.OrderingFilter(
        fields={"title_folded": "title", "publish_from": "published_at"}
    )

    def filter_queryset(self, queryset: QuerySet) -> QuerySet:
        queryset = super().filter_queryset(queryset)
        return queryset.order_by(*queryset.query.order_by, "-pk")


class VacancyViewSet(viewsets.ReadOnlyModelViewSet):
    serializer_class = VacancySerializer
    pagination_class = Pages
    permission_classes = [AllowAny]
    filter_backends = [DjangoFilterBackend]
    filterset_class = VacancyFilterSet

    def get_queryset(self) -> QuerySet:
        now = timezone.now()
        shown = {field.name for field in Vacancy._meta.concrete_fields}.intersection(
            [
                *VacancySerializer.Meta.fields,
                "image_url",
                "publish_from",
                "publish_until",
                "is_pay_public",
            ]
            + [f"pay_{name}" for name in PAY]
        )
        others = [
            f.name
            for f in Vacancy._meta.concrete_fields
            if f.name not in shown and not f.primary_key
        ]
        choices = VacancyOption.objects.select_related("option__filter").order_by("position", "pk")
        return (
            Vacancy.objects.filter(Q(publish_until=None) | Q(publish_until__gt=now))
            .filter(status="published", publish_from__lte=now, audience__in=["public", "both"])
            .order_by("-publish_from", "-pk")
            # Long columns that help searching, and whatever else is no key of an item.
            .defer(*others)
            .select_related("brand", "head_recruiter")
            .prefetch_related(
                Prefetch("choices", choices), "recruiter_links__recruiter", "places", "attachments"
            )
        )

    def retrieve(self, request: Any, *args: Any, **kwargs: Any) -> Response:
        return Response({"data": super().retrieve(request, *args, **kwargs).data})


router = routers.SimpleRouter(trailing_slash=False)
router.register("v1/vacancies", VacancyViewSet, basename="vacancy")
urlpatterns = [path("", include(router.urls))]
