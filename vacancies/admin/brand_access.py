"""The base class of admin pages of rows that belong to a vacancy (docs/decisions.md #56)."""

from django.db.models import QuerySet

from jobsite.admin.base import JobsiteAdmin
from jobsite.types import UserRequest
from vacancies.access import scope_to_brands


class BrandScopedAdmin(JobsiteAdmin):
    """An admin page of rows that belong to a vacancy. Rows of other brands are excluded."""

    vacancy = "vacancy"

    def get_queryset(self, request: UserRequest) -> QuerySet:
        return scope_to_brands(request.user, super().get_queryset(request), self.vacancy)
