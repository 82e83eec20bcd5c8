"""Version v0.1 of the vacancy API (interface 2.3): single values, paging only."""

from typing import Any

from django.conf import settings
from django.http import HttpResponse
from django.urls import reverse
from drf_spectacular.utils import extend_schema_view
from rest_framework.decorators import action
from rest_framework.request import Request

from jobsite.api.absolute_urls import absolute
from jobsite.api.openapi import OPTIONAL_CREDENTIALS, PAGING, Operation, SuccessResponse, documented
from jobsite.api.permissions import InternalAccess
from jobsite.api.viewsets import mark_deprecated
from vacancies.api import operation_parts, schema
from vacancies.api.lists import ListViewSet
from vacancies.api.serializers import (
    AttachmentSerializer,
    BrandSerializer,
    LabelField,
    LabelsField,
    VacancyItemSerializer,
)
from vacancies.choices import Keyword
from vacancies.models import Vacancy
from vacancies.querysets import VacancyList


@documented("VacancyV0_1", "A published vacancy in version v0.1.", schema.VACANCY)
class VacancySerializer(VacancyItemSerializer):
    """Interface 2.3; needs `Vacancy.objects.with_related()`."""

    brand = BrandSerializer(source="shown_brand", read_only=True, required=False)
    functiongroup = LabelField(Keyword.FUNCTIONGROUP)
    type = LabelField(Keyword.TYPES)
    contract_type = LabelField(Keyword.CONTRACT_TYPES)
    work_regime = LabelField(Keyword.WORK_REGIMES)
    regions = LabelsField(Keyword.REGIONS)
    attachments = AttachmentSerializer(many=True, read_only=True, required=False)

    class Meta:
        model = Vacancy
        fields = (
            "id",
            "title",
            "slug",
            "brand",
            "is_hot",
            "functiongroup",
            "type",
            "contract_type",
            "work_regime",
            "regions",
            "location",
            "description",
            "profile",
            "offer",
            "contact",
            "company",
            "attachments",
            "updated_at",
            "created_at",
        )
        omit_absent = ("brand", "attachments")


@extend_schema_view(
    list=Operation(
        id="listVacanciesV0_1",
        summary="List vacancies (v0.1)",
        description="Published public vacancies with single-value fields, newest first.",
        tag="Vacancies v0.1",
        takes=PAGING,
        response=SuccessResponse(
            serializer=VacancySerializer(many=True),
            description="A page of vacancies.",
            examples=operation_parts.page_examples(
                "/v0.1/vacancies", VacancySerializer.Meta.fields
            ),
        ),
        is_deprecated=bool(settings.V0_1_DEPRECATED_AT),
    ),
    internal=Operation(
        id="listInternalVacanciesV0_1",
        summary="List internal vacancies (v0.1)",
        description="Vacancies published for internal use, newest first. "
        + operation_parts.INTERNAL,
        tag="Vacancies v0.1",
        takes=PAGING,
        response=SuccessResponse(
            serializer=VacancySerializer(many=True),
            description="A page of internal vacancies.",
            examples=operation_parts.page_examples(
                "/v0.1/vacancies/internal", VacancySerializer.Meta.fields
            ),
        ),
        credentials=OPTIONAL_CREDENTIALS,
        errors=(401, 403),
        is_deprecated=bool(settings.V0_1_DEPRECATED_AT),
    ),
)
class VacancyViewSet(ListViewSet):
    """Published vacancies, in version v0.1."""

    serializer_class = VacancySerializer
    item_version = "v0_1"
    item_keys = VacancySerializer.Meta.fields
    successor = "v1:vacancy-list"  # the route that replaces the list

    def finalize_response(
        self, request: Request, response: HttpResponse, *args: Any, **kwargs: Any
    ) -> HttpResponse:
        response = super().finalize_response(request, response, *args, **kwargs)
        mark_deprecated(response, successor=absolute(request, reverse(self.successor)))
        return response

    @action(
        detail=False,
        vacancy_list=VacancyList.INTERNAL,
        permission_classes=[InternalAccess],
        successor="v1:vacancy-internal",
    )
    def internal(self, request: Request) -> HttpResponse:
        return self.list(request)
