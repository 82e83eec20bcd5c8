"""Pages of rows that belong to a vacancy, and the choice of a brand (docs/decisions.md #56)."""

from typing import Any

from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.utils.translation import gettext as _

from jobsite.admin.base import JobsiteAdmin
from jobsite.types import UserRequest
from vacancies.access.brands import brands_of, scope_to_brands
from vacancies.querysets import EVERY_BRAND


class BrandScopedAdmin(JobsiteAdmin):
    """An admin page of rows that belong to a vacancy. Rows of other brands are excluded."""

    vacancy = "vacancy"

    def get_queryset(self, request: UserRequest) -> QuerySet:
        return scope_to_brands(request.user, super().get_queryset(request), self.vacancy)


def brand_choices(field: Any, user: User) -> None:
    """Let `field` offer the brands of `user`. All brands are for users who work for every brand."""
    field.queryset = brands_of(user)
    if not user.has_perm(EVERY_BRAND):
        field.required, field.empty_label = True, None
    else:
        field.empty_label = _("All brands")
