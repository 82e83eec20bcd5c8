"""The base class of admin pages of rows that belong to a vacancy (docs/decisions.md #56)."""

from django.db.models import QuerySet
from django.http import HttpResponse
from django.shortcuts import get_object_or_404

from jobsite.admin.base import JobsiteAdmin, as_id
from jobsite.types import UserRequest
from vacancies.access import scope_to_brands


class BrandScopedAdmin(JobsiteAdmin):
    """An admin page of rows that belong to a vacancy. Rows of other brands are excluded."""

    vacancy = "vacancy"

    def get_queryset(self, request: UserRequest) -> QuerySet:
        return scope_to_brands(request.user, super().get_queryset(request), self.vacancy)

    def history_view(self, request: UserRequest, object_id: str, **kwargs: object) -> HttpResponse:
        """Check access: Django's view does not use `get_queryset`."""
        get_object_or_404(self.get_queryset(request), pk=as_id(object_id))
        return super().history_view(request, object_id, **kwargs)
