"""The admin of vacancies, with the number of applications."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.urls import reverse
from django.utils.html import format_html
from django.utils.translation import gettext_lazy as _
from unfold.decorators import display

from applications.admin.reports import ReportPages
from applications.models import Application
from jobsite.admin.base import counted
from jobsite.types import UserRequest
from vacancies.admin.vacancy import VacancyAdmin as BaseVacancyAdmin
from vacancies.models import Vacancy


@admin.register(Vacancy)
class VacancyAdmin(BaseVacancyAdmin):
    page_classes = (ReportPages, *BaseVacancyAdmin.page_classes)

    def get_queryset(self, request: UserRequest) -> QuerySet:
        count = counted(Application.objects.all(), "vacancy")
        return super().get_queryset(request).annotate(application_count=count)

    list_columns = (*BaseVacancyAdmin.list_columns, "applied")
    default_columns = (*BaseVacancyAdmin.default_columns, "applied")

    def offered_columns(self, request: UserRequest) -> tuple[str, ...]:
        may = request.user.has_perm("applications.view_application")
        return tuple(name for name in self.list_columns if may or name != "applied")

    def rows_of_page(self, vacancies: QuerySet) -> QuerySet:
        count = counted(Application.objects.all(), "vacancy")
        return super().rows_of_page(vacancies.annotate(application_count=count))

    @display(description=_("Applications"), ordering="application_count")
    def applied(self, vacancy: Any) -> str:
        url = reverse("admin:applications_application_changelist")
        return format_html(
            '<a class="text-link" href="{}?vacancy__id__exact={}">{}</a>',
            url,
            vacancy.pk,
            vacancy.application_count,
        )
