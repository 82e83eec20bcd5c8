"""The page of reports, and a table as a file."""

from collections.abc import Callable
from datetime import datetime
from urllib.parse import urlencode

from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpResponse
from django.http.response import HttpResponseBase
from django.template.response import TemplateResponse
from django.urls import URLPattern
from django.utils import timezone
from django.utils.translation import gettext as _

from jobsite.admin.pages import AdminPages
from jobsite.office.reporting.form import ReportForm, presets
from jobsite.office.reporting.hiring import OF_HIRING, views_to_hire
from jobsite.office.reporting.tables import (
    OF_APPLICATIONS,
    OF_VACANCIES,
    Makers,
    ReportTable,
    Scope,
    short,
)
from jobsite.office.reporting.visits import OF_VISITORS
from jobsite.spreadsheets.writing import csv_response, xlsx_response
from jobsite.types import UserRequest
from vacancies.statistics.reading import last_recorded

MAX_ROWS = 200  # of a table on the page; files have all
FORMATS: dict[str, Callable[..., HttpResponseBase]] = {"csv": csv_response, "xlsx": xlsx_response}


class ReportPages(AdminPages):
    """The reports, below the list of vacancies."""

    def urls(self) -> list[URLPattern]:
        return [self.url("reports/", self.reports_view, "reports")]

    def reports_view(self, request: UserRequest) -> HttpResponseBase:
        """Show the reports of the user's brands, or return one table as a file (`table` and
        `format`).
        """
        if request.method not in ("GET", "HEAD"):
            raise Http404
        if not self.admin.has_view_permission(request):
            raise PermissionDenied
        at = timezone.now()
        last = last_recorded()
        context = self.context(request, _("Reports"), last=last and short(last))
        if last is None:
            return self._page(request, context)
        form = ReportForm(request.GET.dict(), user=request.user, last=last)
        if not form.is_valid():
            return self._page(request, context | {"form": form}, status=400)
        makers, data = makers_for(request), form.cleaned_data
        scope = Scope(request.user, data["days"], data["brand"])
        if "table" in request.GET or "format" in request.GET:
            return export(request, makers, scope, at=at)
        query = {name: request.GET[name] for name in form.fields if request.GET.get(name)}
        tables = [make(scope) for make in makers.values()]
        context |= {
            "form": form,
            "tables": [(table, exports(table, query)) for table in tables if table.rows],
            "empty": [table.title for table in tables if not table.rows],
            "period": _("%(first)s until %(last)s")
            % {"first": short(scope.days.first), "last": short(scope.days.last)},
            "presets": [
                (name, f"?{urlencode(query | {'since': days.first, 'until': days.last})}")
                for name, days in presets(last)
            ],
            "max_rows": MAX_ROWS,
            "shown_rows": f":{MAX_ROWS}",
        }
        return self._page(request, context)

    def _page(
        self, request: UserRequest, context: dict[str, object], status: int = 200
    ) -> TemplateResponse:
        return TemplateResponse(
            request, "admin/vacancies/vacancy/reports.html", context, status=status
        )


def makers_for(request: UserRequest) -> Makers:
    """Return what makes the tables that the user may see."""
    if not request.user.has_perm("applications.view_application"):
        return OF_VACANCIES
    visitors = OF_VISITORS | {"views-to-hire": views_to_hire} if settings.CAREER_SITE else {}
    return OF_VACANCIES | OF_APPLICATIONS | OF_HIRING | visitors


def export(request: UserRequest, makers: Makers, scope: Scope, *, at: datetime) -> HttpResponseBase:
    """Return a table as a file."""
    code, file_format = request.GET.get("table", ""), request.GET.get("format", "")
    for name, value, allowed in (("table", code, makers), ("format", file_format, FORMATS)):
        if value not in allowed:
            text = f"{name} is not one of: {', '.join(allowed)}."
            return HttpResponse(text, content_type="text/plain", status=400)
    table = makers[code](scope)
    return FORMATS[file_format]([[[*table.headings], *table.rows]], f"report-{code}", at=at)


def exports(table: ReportTable, query: dict[str, str]) -> list[tuple[str, str]]:
    """Return (name, URL) of each format of `table`."""
    return [
        (code.upper(), f"?{urlencode(query | {'table': table.code, 'format': code})}")
        for code in FORMATS
    ]
