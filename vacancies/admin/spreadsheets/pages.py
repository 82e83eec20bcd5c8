"""The pages of the export and the import of vacancies."""

from array import array
from collections.abc import Callable
from dataclasses import dataclass, field
from secrets import token_hex
from typing import Any

from django.contrib import admin, messages
from django.contrib.admin import ModelAdmin
from django.contrib.admin.models import ADDITION, LogEntry
from django.contrib.admin.options import IncorrectLookupParameters
from django.core import signing
from django.core.exceptions import BadRequest, PermissionDenied
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, reverse
from django.utils import timezone, translation
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from unfold.widgets import UnfoldAdminFileFieldWidget

from jobsite.admin.confirmation import with_undo
from jobsite.admin.pages import AdminPages
from jobsite.db.locks import lock_transaction
from jobsite.db.transactions import retry_on_conflict
from jobsite.spreadsheets.reading import SpreadsheetError, read
from jobsite.spreadsheets.writing import Cell, csv_response, xlsx_response
from jobsite.types import UserRequest
from vacancies.admin.spreadsheets.columns import Sheet, VacancyTable, headings
from vacancies.admin.spreadsheets.rows import Import, PlannedRow, RowResult, planned
from vacancies.operations.approval_requests import SUBMITTED

XLSX_MAX = 10_000  # rows of an XLSX export, which is made in memory
ROWS_MAX = 5_000  # of an import
CHANGES_MAX = 200  # rows of an import that change something: one transaction, about 0.1 s each
PLAN_MAX = 2_000_000  # characters of a plan in the page
UNCHANGED_SHOWN = 100
HOUR = 3600
FILE_INPUT = {"id": "file", "accept": ".csv,.xlsx", "required": True}


def export_action(ending: str, label: Any) -> Callable:
    """Return the export of the chosen rows as an action of the list."""

    @admin.action(description=label, permissions=["view"])
    def export(
        model_admin: ModelAdmin, request: UserRequest, queryset: QuerySet
    ) -> HttpResponseBase | None:
        return SpreadsheetPages(model_admin).export(request, queryset, ending)

    export.__name__ = f"export_{ending}"
    return export


EXPORT_ACTIONS = (
    export_action("csv", gettext_lazy("Export as CSV")),
    export_action("xlsx", gettext_lazy("Export as XLSX")),
)


@dataclass(frozen=True, kw_only=True)
class CheckedFile:
    """An imported file: the `rows` to write with their `results`, and the results of rows that are
    `done`, because they are wrong or change nothing. Some columns are `ignored`. `notes` are about
    the file.
    """

    rows: list[PlannedRow]
    results: list[RowResult]
    done: list[RowResult] = field(default_factory=list)
    ignored: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


class SortedResults:
    """The results of all rows of a file, in its order, by what they say."""

    def __init__(self, checked: CheckedFile) -> None:
        every = sorted([*checked.results, *checked.done], key=lambda result: result.number)
        self.wrong = [each for each in every if each.errors]
        self.changed = [each for each in every if each.differences]
        self.unchanged = [each for each in every if not (each.errors or each.differences)]


class SpreadsheetPages(AdminPages):
    """Export of the list, and import of the same format with a preview."""

    def urls(self) -> list[URLPattern]:
        return [
            self.url("export-csv/", self.export_view, "export_csv", ending="csv"),
            self.url("export-xlsx/", self.export_view, "export_xlsx", ending="xlsx"),
            self.url("import/", self.import_view, "import"),
            self.url("import-template/", self.import_template_view, "import_template"),
        ]

    def may_import(self, request: UserRequest) -> bool:
        return self.admin.has_add_permission(request) or self.admin.has_change_permission(request)

    # --- export ---

    def export_view(self, request: UserRequest, ending: str) -> HttpResponseBase | None:
        """Export the rows that the list shows with the same query, of all its pages."""
        if not self.admin.has_view_permission(request):
            raise PermissionDenied
        try:
            changelist = self.admin.get_changelist_instance(request)
        except IncorrectLookupParameters as error:
            raise BadRequest("The filters of the list are invalid.") from error
        back = redirect("admin:vacancies_vacancy_changelist")
        return self.export(request, changelist.queryset, ending) or back

    def export(
        self, request: UserRequest, queryset: QuerySet, ending: str
    ) -> HttpResponseBase | None:
        """Return the file. Show a message and return None if it would be too large."""
        pks = array("q", queryset.values_list("pk", flat=True).iterator())
        if ending == "xlsx" and len(pks) > XLSX_MAX:
            text = _(
                "An XLSX file has at most %(count)d vacancies. Export as CSV, or use the filters."
            )
            self.admin.message_user(request, text % {"count": XLSX_MAX}, messages.WARNING)
            return None
        batches = VacancyTable(pks, translation.get_language()).batches()
        response = xlsx_response if ending == "xlsx" else csv_response
        return response(batches, "vacancies", at=timezone.now())

    # --- import ---

    def import_template_view(self, request: UserRequest) -> HttpResponse:
        """Return an XLSX file with the headings."""
        if not self.may_import(request):
            raise PermissionDenied
        names: list[Cell] = [
            heading for name, heading in headings().items() if name != "updated_at"
        ]
        response = xlsx_response([[names]], "vacancies", at=timezone.now())
        response["Content-Disposition"] = 'attachment; filename="vacancies-template.xlsx"'
        return response

    def import_view(self, request: UserRequest) -> HttpResponse:
        """GET asks for a file. POST of a file shows what it changes. POST of the `plan` of that
        page imports it.
        """
        if not self.may_import(request):
            raise PermissionDenied
        if request.method == "POST" and "plan" in request.POST:
            return self._confirm(request)
        if request.method != "POST":
            return self._import_page(request, columns=list(headings().values()))
        try:
            return self._preview(request)
        except SpreadsheetError as error:
            columns = list(headings().values())
            return self._import_page(request, status=400, columns=columns, file_error=str(error))

    def _preview(self, request: UserRequest) -> HttpResponse:
        file = request.FILES.get("file")
        if file is None:
            raise SpreadsheetError(_("Choose a file."))
        notes: list[str] = []
        sheet = Sheet.of(read(file, rows_max=ROWS_MAX, notes=notes))
        rows, done = planned(self.admin, request, sheet)
        if len(rows) > CHANGES_MAX:
            text = _(
                "%(rows)d rows would change. Import at most %(count)d at a time: split the file."
            )
            raise SpreadsheetError(text % {"rows": len(rows), "count": CHANGES_MAX})
        results = Import(self.admin, request).preview(rows)
        checked = CheckedFile(
            rows=rows, results=results, done=done, ignored=sheet.ignored, notes=notes
        )
        return self._results_page(request, checked)

    def _confirm(self, request: UserRequest) -> HttpResponse:
        try:
            plan = signing.loads(request.POST["plan"], salt=_salt(request), max_age=12 * HOUR)
        except signing.BadSignature as error:
            raise BadRequest(
                "plan is not one that this user was shown in the last 12 hours."
            ) from error
        rows = [PlannedRow(number, pk, texts) for number, pk, texts in plan["rows"]]
        with transaction.atomic():
            lock_transaction(f"import {request.user.pk}")
            own = LogEntry.objects.filter(user=request.user.pk)
            if own.filter(change_message=plan["id"]).exists():  # a second click
                self.admin.message_user(
                    request, _("This file was imported already."), messages.WARNING
                )
                return redirect("admin:vacancies_vacancy_changelist")
            imports: list[Import] = []

            def run() -> tuple[bool, list[RowResult]]:
                imports[:] = [Import(self.admin, request)]  # another one for each try
                return imports[0].run(rows, plan["shown"])

            is_done, results = retry_on_conflict(run)
            if is_done:
                own.create(user=request.user, action_flag=ADDITION, change_message=plan["id"])
        if not is_done:
            return self._results_page(
                request, CheckedFile(rows=rows, results=results), is_refused=True
            )
        new = sum(result.is_new for result in results)
        may_undo = (not new or self.admin.has_delete_permission(request)) and (
            new == len(rows) or self.admin.has_change_permission(request)
        )
        first_version = imports[0].first_version if may_undo else None
        changed = len(rows) - new
        texts = [
            text % {"count": count}
            for count, text in (
                (
                    new,
                    ngettext(
                        "%(count)d vacancy was created.", "%(count)d vacancies were created.", new
                    ),
                ),
                (
                    changed,
                    ngettext(
                        "%(count)d vacancy was changed.",
                        "%(count)d vacancies were changed.",
                        changed,
                    ),
                ),
            )
            if count
        ]
        text = " ".join(texts)
        if first_version:
            url = reverse("admin:vacancies_vacancy_undo", args=[first_version])
            text = with_undo(text, url, reverse("admin:vacancies_vacancy_changelist"))
        self.admin.message_user(request, text, messages.SUCCESS)
        if any(SUBMITTED in result.notes for result in results):
            self.admin.message_user(request, SUBMITTED, messages.INFO)
        return redirect("admin:vacancies_vacancy_changelist")

    def _results_page(
        self, request: UserRequest, checked: CheckedFile, *, is_refused: bool = False
    ) -> HttpResponse:
        sorted_rows = SortedResults(checked)
        return self._import_page(
            request,
            status=409 if is_refused else 400 if sorted_rows.wrong else 200,
            is_refused=is_refused,
            ignored=checked.ignored,
            notes=checked.notes,
            wrong=sorted_rows.wrong,
            new=[result for result in sorted_rows.changed if result.is_new],
            changed=[result for result in sorted_rows.changed if not result.is_new],
            unchanged=sorted_rows.unchanged[:UNCHANGED_SHOWN],
            unchanged_count=len(sorted_rows.unchanged),
            unchanged_more=len(sorted_rows.unchanged) - UNCHANGED_SHOWN,
            plan="" if sorted_rows.wrong else _plan(request, checked),
            import_count=sum(bool(result.differences) for result in checked.results),
            has_results=True,
        )

    def _import_page(
        self, request: UserRequest, *, status: int = 200, **context: Any
    ) -> HttpResponse:
        context = self.context(
            request,
            _("Import vacancies"),
            file_input=UnfoldAdminFileFieldWidget().render("file", None, FILE_INPUT),
            rows_max=ROWS_MAX,
            changes_max=CHANGES_MAX,
            **context,
        )
        return TemplateResponse(
            request, "admin/vacancies/vacancy/spreadsheets/import.html", context, status=status
        )


def _plan(request: UserRequest, checked: CheckedFile) -> str:
    """Return the signed rows of a file without errors, for the page that imports them. It is empty
    if nothing would change.
    """
    if not any(result.differences for result in checked.results):
        return ""
    pairs = list(zip(checked.rows, checked.results, strict=True))
    content = {
        "id": f"import {token_hex(8)}",
        "rows": [[row.number, row.pk, row.texts] for row, _result in pairs],
        "shown": {str(row.number): result.digest(row.texts) for row, result in pairs},
    }
    plan = signing.dumps(content, salt=_salt(request), compress=True)
    if len(plan) > PLAN_MAX:
        raise SpreadsheetError(_("The file has too much text. Split it into several files."))
    return plan


def _salt(request: UserRequest) -> str:
    return f"vacancies.import.{request.user.pk}"
