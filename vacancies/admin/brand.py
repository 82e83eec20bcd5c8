"""Brands: an employer's face."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from unfold.decorators import display

from jobsite.workplace import counted
from vacancies.admin.base import IllustratedAdmin, thumbnail
from vacancies.models import Brand, Vacancy


@admin.register(Brand)
class BrandAdmin(IllustratedAdmin):
    list_display = ("name", "small_icon", "url", "vacancy_count")
    autocomplete_fields = ("form",)
    search_fields = ("name",)
    fieldsets = (
        (None, {"fields": ("name", "description", "url", "form")}),
        ("People", {"fields": ("members",)}),
        ("Icons", {"fields": (
            "icon_small", "icon_small_url", "small_icon",
            "icon_large", "icon_large_url", "large_icon",
        )}),
    )  # fmt: skip
    readonly_fields = ("small_icon", "large_icon")

    def get_fieldsets(self, request: HttpRequest, obj: Brand | None = None) -> Any:
        """Who works for a brand sees its applicants: that is decided by who manages accounts."""
        if request.user.has_perm("auth.change_user"):
            return self.fieldsets
        return [(name, spec) for name, spec in self.fieldsets if name != "People"]

    def get_queryset(self, request: HttpRequest) -> Any:
        return super().get_queryset(request).annotate(vacancy_count=counted(Vacancy.objects.all(), "brand"))

    @display(description="Small icon shown")
    def small_icon(self, brand: Brand) -> str:
        return thumbnail(brand.icon_small, brand.icon_small_url)

    @display(description="Large icon shown")
    def large_icon(self, brand: Brand) -> str:
        return thumbnail(brand.icon_large, brand.icon_large_url)

    @display(description="Vacancies", ordering="vacancy_count")
    def vacancy_count(self, brand: Any) -> str:
        url = reverse("admin:vacancies_vacancy_changelist")
        return format_html(
            '<a class="text-link" href="{}?brand__id__exact={}">{}</a>', url, brand.pk, brand.vacancy_count
        )
