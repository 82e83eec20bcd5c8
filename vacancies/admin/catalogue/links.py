"""The links at the end of pages and emails: the privacy statement, the imprint and others."""

from typing import Any

from django.contrib import admin
from django.db.models import ForeignKey, QuerySet

from jobsite.admin.base import JobsiteAdmin
from jobsite.types import UserRequest
from vacancies.access.brands import brands_of
from vacancies.admin.brand_access import brand_choices
from vacancies.models import BrandLink
from vacancies.querysets import EVERY_BRAND


@admin.register(BrandLink)
class BrandLinkAdmin(JobsiteAdmin):
    """Only users of every brand see and change the links of the site."""

    list_display = ("__str__", "kind", "language", "brand", "url")
    list_filter = ("kind", "language")
    list_select_related = ("brand",)

    def get_queryset(self, request: UserRequest) -> QuerySet:
        rows = super().get_queryset(request)
        return (
            rows
            if request.user.has_perm(EVERY_BRAND)
            else rows.filter(brand__in=brands_of(request.user))
        )

    def formfield_for_foreignkey(
        self, db_field: ForeignKey, request: UserRequest, **kwargs: Any
    ) -> Any:
        field = super().formfield_for_foreignkey(db_field, request, **kwargs)
        brand_choices(field, request.user)
        return field
