"""The links at the end of pages and emails: the privacy statement, the imprint and others."""

from typing import Any

from django.contrib import admin
from django.db.models import ForeignKey, QuerySet
from django.forms import ModelChoiceField

from jobsite.types import UserRequest
from vacancies.access import brands_of
from vacancies.admin.brand_access import BrandScopedAdmin
from vacancies.models import BrandLink
from vacancies.querysets import EVERY_BRAND


@admin.register(BrandLink)
class BrandLinkAdmin(BrandScopedAdmin):
    """Only users of every brand see and change the links of the site."""

    list_display = ("__str__", "kind", "language", "brand", "url")
    list_filter = ("kind", "language")
    list_select_related = ("brand",)

    def get_queryset(self, request: UserRequest) -> QuerySet:
        rows = super(BrandScopedAdmin, self).get_queryset(request)
        if request.user.has_perm(EVERY_BRAND):
            return rows
        return rows.filter(brand__in=request.user.brands.values("pk"))

    def formfield_for_foreignkey(
        self, db_field: ForeignKey, request: UserRequest, **kwargs: Any
    ) -> ModelChoiceField | None:
        kwargs["queryset"] = brands_of(request.user)
        field = super().formfield_for_foreignkey(db_field, request, **kwargs)
        field.required = not request.user.has_perm(EVERY_BRAND)
        return field
