"""Vacancies and filters in version v1 (interface 2.2, 2.10, 4): all their keys."""

from rest_framework import serializers

from jobsite.api.openapi import (
    documented,
)
from jobsite.api.serializers import AddressField, ItemSerializer, PageField
from jobsite.types import JsonObject
from vacancies.api import schema
from vacancies.api.serializers import (
    AttachmentSerializer,
    BrandSerializer,
    ClosingDateField,
    LabelField,
    LabelsField,
    LabelsOrNullField,
    LanguagesField,
    PaySerializer,
    PlaceSerializer,
    RecruiterSerializer,
    VacancyItemSerializer,
)
from vacancies.choices import Keyword
from vacancies.models import Filter, FilterOption, Vacancy, shown_in


@documented("Vacancy", "A published vacancy.", schema.VACANCY)
class VacancySerializer(VacancyItemSerializer):
    """Interface 2.2; needs `Vacancy.objects.with_related()`."""

    title_internal = serializers.CharField(source="shown_title_internal", read_only=True)
    brand = BrandSerializer(source="shown_brand", read_only=True, required=False)
    functiongroup = LabelField(Keyword.FUNCTIONGROUP)
    types = LabelsOrNullField(Keyword.TYPES)
    contract_types = LabelsOrNullField(Keyword.CONTRACT_TYPES)
    work_regimes = LabelsOrNullField(Keyword.WORK_REGIMES)
    regions = LabelsField(Keyword.REGIONS)
    jobcustom1_values = LabelsField(Keyword.JOBCUSTOM1)
    jobcustom2_values = LabelsField(Keyword.JOBCUSTOM2)
    jobcustom3_values = LabelsField(Keyword.JOBCUSTOM3)
    jobcustom4_values = LabelsField(Keyword.JOBCUSTOM4)
    image = AddressField("image", "image_url")
    attachments = AttachmentSerializer(many=True, read_only=True, required=False)
    head_recruiter = RecruiterSerializer(read_only=True)
    recruiters = RecruiterSerializer(source="shown_recruiters", many=True, read_only=True)
    language = serializers.CharField(source="shown_language", read_only=True)
    places = PlaceSerializer(source="sites", many=True, read_only=True)
    remote_countries = serializers.ListField(child=serializers.CharField(), read_only=True)
    employment_types = serializers.ListField(child=serializers.CharField(), read_only=True)
    pay = PaySerializer(source="*", read_only=True)
    published_at = serializers.DateTimeField(source="publish_from", read_only=True)
    closes_at = serializers.DateTimeField(source="publish_until", read_only=True)
    closing_date = ClosingDateField()
    url = PageField()
    languages = LanguagesField()

    def to_representation(self, instance: Vacancy) -> JsonObject:  # type: ignore[override]
        return super().to_representation(shown_in(instance, self.context.get("language", "")))

    class Meta:
        model = Vacancy
        fields = (
            "id",
            "title",
            "title_internal",
            "slug",
            "brand",
            "is_hot",
            "is_permanent",
            "functiongroup",
            "types",
            "contract_types",
            "work_regimes",
            "regions",
            "jobcustom1_values",
            "jobcustom2_values",
            "jobcustom3_values",
            "jobcustom4_values",
            "location",
            "description",
            "short_description",
            "profile",
            "offer",
            "contact",
            "company",
            "postcustom1",
            "image",
            "video",
            "attachments",
            "head_recruiter",
            "recruiters",
            "updated_at",
            "created_at",
            "apply_url",
            "reference",
            "language",
            "work_place",
            "places",
            "remote_countries",
            "employment_types",
            "pay",
            "published_at",
            "closes_at",
            "closing_date",
            "url",
            "languages",
        )
        omit_absent = ("brand", "attachments")


@documented(
    "FilterOption", "An option of a filter, with the number of its vacancies.", schema.OPTION
)
class OptionSerializer(ItemSerializer):
    """An option of a filter, with the number of its vacancies."""

    count = serializers.IntegerField(read_only=True, min_value=1)

    class Meta:
        model = FilterOption
        fields = ("value", "label", "count")


@documented("Filter", "A filter in use and its options in use.", schema.FILTER)
class FilterSerializer(ItemSerializer):
    """Interface 2.10, docs/decisions.md #20."""

    options = OptionSerializer(many=True, read_only=True)

    class Meta:
        model = Filter
        fields = ("id", "label", "keyword", "options")
