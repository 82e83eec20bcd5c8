"""The links at the end of pages and emails: the privacy statement, the imprint and others."""

from typing import Any

from django.contrib import admin
from django.db.models import ForeignKey, Q, QuerySet
from django.forms import ModelChoiceField

from jobsite.types import UserRequest
from vacancies.access import brands_of
from vacancies.admin.brand_access import BrandScopedAdmin
from vacancies.models import BrandLink
from vacancies.querysets import EVERY_BRAND


@admin.register(BrandLink)
class BrandLinkAdmin(BrandScopedAdmin):
    """Users of some brands see the links of the site too. Users of every brand change them."""

    list_display = ("__str__", "kind", "language", "brand", "url")
    list_filter = ("kind", "language")
    list_select_related = ("brand",)
    fields = ("brand", "kind", "language", "label", "url")

    def get_queryset(self, request: UserRequest) -> QuerySet:
        own = Q(brand=None) | Q(brand__in=brands_of(request.user).values("pk"))
        return super(BrandScopedAdmin, self).get_queryset(request).filter(own)

    def has_change_permission(self, request: UserRequest, obj: BrandLink | None = None) -> bool:
        is_own = obj is None or obj.brand_id is not None or request.user.has_perm(EVERY_BRAND)
        return is_own and super().has_change_permission(request, obj)

    def has_delete_permission(self, request: UserRequest, obj: BrandLink | None = None) -> bool:
        return self.has_change_permission(request, obj) and super().has_delete_permission(request, obj)

    def formfield_for_foreignkey(
        self, db_field: ForeignKey, request: UserRequest, **kwargs: Any
    ) -> ModelChoiceField | None:
        kwargs["queryset"] = brands_of(request.user)
        field = super().formfield_for_foreignkey(db_field, request, **kwargs)
        field.required = not request.user.has_perm(EVERY_BRAND)
        return field
