"""Version v1 of the API of a user's own applications (interface 2.7, 2.8, 5)."""

from datetime import datetime

from django.conf import settings
from django.http import HttpResponse
from django.utils import timezone
from django.utils.cache import patch_vary_headers
from django.utils.functional import cached_property
from drf_spectacular.utils import extend_schema_view
from rest_framework import serializers
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response

from applications.api import schema
from applications.models import Application, HistoryEntry
from applications.querysets import ApplicationQuerySet
from jobsite.api import caching
from jobsite.api.openapi import Operation, SuccessResponse, documented, example
from jobsite.api.pagination import Unpaged
from jobsite.api.serializers import ItemSerializer, PlainItemSerializer
from jobsite.api.viewsets import ReadOnlyViewSet
from jobsite.languages import preferred_language
from jobsite.types import JsonObject
from vacancies.api.v1.serializers import VacancySerializer


class MillisecondsField(serializers.DateTimeField):
    """A datetime with milliseconds, truncated and never rounded (docs/decisions.md #13)."""

    def to_representation(self, value: datetime) -> str:
        local = timezone.localtime(value)
        return f"{local:%Y-%m-%d %H:%M:%S}.{local.microsecond // 1000:03}"


@documented("HistoryEntry", "A step of an application.", schema.HISTORY_ENTRY)
class HistoryEntrySerializer(ItemSerializer):
    """Interface 2.8."""

    planned_at = MillisecondsField(read_only=True)

    class Meta:
        model = HistoryEntry
        fields = ("name", "result", "planned_at", "updated_at", "created_at")


@documented(
    "Application",
    "A vacancy that the user applied to, with the status of the application.",
    schema.APPLICATION,
)
class ApplicationSerializer(PlainItemSerializer):
    """Interface 2.7: the vacancy as in v1, then the application's own keys. Needs
    `Application.objects.with_visible_status()`, and `status_language` and `now` in its context."""

    status = serializers.SerializerMethodField()
    is_spontaneous = serializers.BooleanField()
    history = HistoryEntrySerializer(many=True, source="visible_history")

    class Meta:
        fields = (*VacancySerializer.Meta.fields, "status", "is_spontaneous", "history")
        omit_absent = VacancySerializer.Meta.omit_absent

    @property
    def keys(self) -> list[str]:
        return [*VacancySerializer.Meta.fields, *self.fields]

    def get_fields(self) -> dict[str, serializers.Field]:
        fields = super().get_fields()
        if not settings.APPLICATION_HISTORY:
            del fields["history"]
        return fields

    def get_status(self, application: Application) -> str:
        status = application.visible_status(at=self.context["now"])
        return status.label(self.context["status_language"]) if status else ""

    @cached_property
    def vacancy(self) -> VacancySerializer:
        return VacancySerializer(context=self.context)

    def to_representation(self, instance: Application) -> JsonObject:
        return {
            **self.vacancy.to_representation(instance.vacancy),
            **super().to_representation(instance),
        }


@extend_schema_view(
    list=Operation(
        id="listMyApplications",
        summary="List my applications",
        description="The vacancies that the signed-in user applied to, newest application first, "
        "in any state of the vacancy. `status` is in the language of `Accept-Language`.",
        tag="Applications",
        takes=[schema.ACCEPT_LANGUAGE],
        response=SuccessResponse(
            serializer=ApplicationSerializer(many=True),
            description="All applications of the user.",
            examples={
                "One application": {"data": [example(schema.APPLICATION)]},
                "None": {"data": []},
            },
            headers=("Content-Language",),
            is_private=True,
        ),
        credentials=[{"bearer": []}, {"session": []}],
        errors=(401,),
    )
)
class ApplicationViewSet(ReadOnlyViewSet):
    """The signed-in user's own applications."""

    serializer_class = ApplicationSerializer
    pagination_class = Unpaged
    permission_classes = [IsAuthenticated]
    status_language: str

    def initial(self, request: Request, *args: object, **kwargs: object) -> None:
        self.status_language = preferred_language(request.headers.get("Accept-Language", ""))
        super().initial(request, *args, **kwargs)

    def get_queryset(self) -> ApplicationQuerySet:
        return Application.objects.of(self.request.user).newest_first().with_visible_status()

    def get_serializer_context(self) -> dict[str, object]:
        return {
            **super().get_serializer_context(),
            "status_language": self.status_language,
            "now": self.now,
        }

    def is_private(self) -> bool:
        return True

    def finalize_response(
        self, request: Request, response: Response, *args: object, **kwargs: object
    ) -> HttpResponse:
        final = super().finalize_response(request, response, *args, **kwargs)
        caching.private(final)  # errors too: they depend on the user
        if final.status_code == 200:
            final["Content-Language"] = self.status_language
        patch_vary_headers(final, ["Authorization", "Cookie", "Accept-Language"])
        return final
