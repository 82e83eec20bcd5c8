"""The admin of vacancies, with the number of applications."""

from typing import Any
from urllib.parse import urlencode

from django.contrib import admin
from django.db.models import QuerySet
from django.urls import reverse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from unfold.decorators import display

from applications.admin.parts import LIST_QUERY
from applications.models import Application, Stage
from jobsite.admin.base import counted, counted_link
from jobsite.office.reporting.pages import ReportPages
from jobsite.office.team import TeamPages
from jobsite.types import Context, UserRequest
from vacancies.admin.vacancy import VacancyBaseAdmin
from vacancies.models import Vacancy


def candidates_of(vacancy: Vacancy) -> Context:
    """Return the number of applications for `vacancy`, in all and by stage, with its board."""
    by_stage = Application.objects.filter(vacancy=vacancy).counts_by_stage()
    query = urlencode({"vacancy__id__exact": vacancy.pk})
    return {
        "url": f"{reverse('admin:applications_application_board')}?{query}",
        "first_url": first_of(vacancy, query),
        "count": sum(by_stage.values()),
        "by_stage": by_stage,
        # also those without any: the board moves applications there
        "stages": [
            {"pk": stage.pk, "name": str(stage), "count": by_stage.get(stage.pk, 0)}
            for stage in Stage.objects.all()
        ]
        if by_stage
        else [],
    }


def first_of(vacancy: Vacancy, filters: str) -> str:
    """Return the page of the newest application for `vacancy`, in the list with `filters`; "" if
    there is none.
    """
    rows = Application.objects.filter(vacancy=vacancy).newest_first()
    pk = rows.values_list("pk", flat=True).first()
    url = reverse("admin:applications_application_change", args=[pk or 0])
    return f"{url}?{urlencode({LIST_QUERY: filters})}" if pk else ""


@admin.register(Vacancy)
class VacancyAdmin(VacancyBaseAdmin):
    page_classes: Any = (ReportPages, TeamPages, *VacancyBaseAdmin.page_classes)

    def get_queryset(self, request: UserRequest) -> QuerySet:
        count = counted(Application.objects.all(), "vacancy")
        return super().get_queryset(request).annotate(application_count=count)

    def head_of(self, request: UserRequest, vacancy: Vacancy) -> Context:
        """Add the candidates, for those who may see applications."""
        head: dict[str, Any] = dict(super().head_of(request, vacancy))
        if request.user.has_perm("applications.view_application"):
            head["candidates"] = candidates_of(vacancy)
        if self.has_change_permission(request, vacancy):
            url = reverse("admin:vacancies_vacancy_team", args=[vacancy.pk])
            head["menu"].insert(0, {"label": gettext("Team…"), "icon": "group_add", "url": url})
        return head

    list_columns = (*VacancyBaseAdmin.list_columns, "applied")
    default_columns = (*VacancyBaseAdmin.default_columns, "applied")

    def offered_columns(self, request: UserRequest) -> tuple[str, ...]:
        may = request.user.has_perm("applications.view_application")
        offered = super().offered_columns(request)
        return tuple(name for name in offered if may or name != "applied")

    def rows_of_page(self, vacancies: QuerySet) -> QuerySet:
        count = counted(Application.objects.all(), "vacancy")
        return super().rows_of_page(vacancies.annotate(application_count=count))

    def people_url(self, request: UserRequest, vacancy: Any) -> str:
        may = request.user.has_perm("applications.view_application")
        if not (may and vacancy.application_count):
            return ""
        query = urlencode({"vacancy__id__exact": vacancy.pk})
        return f"{reverse('admin:applications_application_board')}?{query}"

    @display(description=_("Applications"), ordering="application_count")
    def applied(self, vacancy: Any) -> str:
        return counted_link(Application, "vacancy", vacancy, vacancy.application_count)
