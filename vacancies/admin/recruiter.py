"""Recruiters: who answers for vacancies, and which of their contact data everybody may see."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from unfold.decorators import display

from jobsite.workplace import counted
from vacancies.admin.base import IllustratedAdmin, thumbnail
from vacancies.models import Recruiter, Vacancy, VacancyRecruiter


@admin.register(Recruiter)
class RecruiterAdmin(IllustratedAdmin):
    list_display = ("name", "portrait", "function", "shown", "head_count", "link_count")
    search_fields = ("name", "function")  # never the e-mail: suggestions would confirm a hidden address
    fieldsets = (
        (None, {"fields": ("name", "function")}),
        ("Contact", {"fields": ("email", "is_email_public", "phone", "is_phone_public")}),
        ("Image", {"fields": ("image", "image_url", "portrait")}),
    )
    readonly_fields = ("portrait",)

    def get_queryset(self, request: HttpRequest) -> Any:
        counts = {
            "head_count": counted(Vacancy.objects.all(), "head_recruiter"),
            "link_count": counted(VacancyRecruiter.objects.all(), "recruiter"),
        }
        return super().get_queryset(request).annotate(**counts)

    @display(description="Image shown")
    def portrait(self, recruiter: Recruiter) -> str:
        return thumbnail(recruiter.image, recruiter.image_url)

    @display(description="Everybody sees")
    def shown(self, recruiter: Recruiter) -> str:
        seen = {"e-mail": recruiter.shown_email, "phone": recruiter.shown_phone}
        return " and ".join(name for name, value in seen.items() if value) or "-"

    @display(description="Head of", ordering="head_count")
    def head_count(self, recruiter: Recruiter) -> int:
        return recruiter.head_count  # type: ignore[attr-defined] # annotated

    @display(description="Also on", ordering="link_count")
    def link_count(self, recruiter: Recruiter) -> int:
        return recruiter.link_count  # type: ignore[attr-defined] # annotated
