"""Changing the closing date and "featured" in the list. Each row is validated and recorded like its form, and
saved on its own: an error in one row does not keep the others from being saved."""

from contextlib import suppress
from typing import Any

from django import forms
from django.contrib import messages
from django.core.exceptions import NON_FIELD_ERRORS, PermissionDenied
from django.db import transaction
from django.http import HttpRequest
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from jobsite.admin.base import JobsiteAdmin, as_id
from vacancies.admin.change_list import EDIT_VAR, VIEW_VAR
from vacancies.admin.vacancy_form import VacancyForm
from vacancies.approval import SUBMITTED
from vacancies.choices import Keyword
from vacancies.models import Vacancy
from vacancies.operations import last_day

SAVE = "_save"
VIEW_ALL = f"{VIEW_VAR}=all"
ROWS = 200  # of a page


class DayInput(forms.DateInput):
    input_type = "date"

    def __init__(self, attrs: Any = None) -> None:
        super().__init__({"class": "panel-select"} | (attrs or {}), format="%Y-%m-%d")


class RowForm(VacancyForm):
    """The two fields of a row. It compares them with what the page showed: a change by somebody else in the
    meantime is never overwritten, and one of another field is no conflict."""

    version = None  # type: ignore[assignment] # removes the field
    last_day = forms.DateField(
        label=gettext_lazy("Closing date"),
        required=False,
        widget=DayInput,
        validators=VacancyForm.base_fields["last_day"].validators,
        show_hidden_initial=True,
    )
    is_hot = forms.BooleanField(
        label=gettext_lazy("Featured"), required=False, widget=forms.CheckboxInput, show_hidden_initial=True
    )
    vars().update({keyword.value: None for keyword in Keyword})

    class Meta(VacancyForm.Meta):
        fields = ("is_hot",)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for field in self.fields.values():
            label = _("%(field)s of “%(vacancy)s”") % {"field": field.label, "vacancy": self.instance}
            field.widget.attrs["aria-label"] = label

    def _fill_options(self) -> None:
        """The row has no options."""

    conflicts: Any = ()  # errors of an earlier attempt

    def clean(self) -> dict[str, Any]:
        if "is_hot" not in self.changed_data:
            self.cleaned_data["is_hot"] = self.instance.is_hot
        self._refuse_overwriting()  # first: the form of a vacancy sets the new closing date
        return super().clean()

    def _refuse_overwriting(self) -> None:
        until = self.instance.publish_until
        now = {"is_hot": self.instance.is_hot, "last_day": last_day(until) if until else None}
        for name in self.changed_data:
            field = self.fields[name]
            with suppress(forms.ValidationError):
                seen = field.to_python(self.data.get(self[name].html_initial_name))
                if now[name] not in (seen, self.cleaned_data.get(name)):
                    text = _(
                        "Not saved: somebody else changed “%(vacancy)s” in the meantime. Check it, then save."
                    )
                    self.add_error(
                        None, forms.ValidationError(text % {"vacancy": self.instance}, code="conflict")
                    )


def row_form(vacancy: Vacancy, data: Any = None) -> RowForm:
    return RowForm(data, instance=vacancy, prefix=f"row{vacancy.pk}", auto_id="id_%s")


class ListEditingAdmin(JobsiteAdmin):
    """The list with `edit` in its address, and its POST."""

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        is_editing = EDIT_VAR in request.GET and self.has_change_permission(request)
        failed: dict[int, RowForm] = {}
        if request.method == "POST" and SAVE in request.POST and EDIT_VAR in request.GET:
            if not is_editing:
                raise PermissionDenied
            failed = self._save_rows(request)
            if not failed:
                query = request.GET.copy()
                del query[EDIT_VAR]
                return redirect(f"{request.path}?{query.urlencode() or VIEW_ALL}")
        request.row_forms = failed if is_editing else None  # type: ignore[attr-defined]
        edited = request.GET.copy()
        edited[EDIT_VAR] = "1"
        left = request.GET.copy()
        left.pop(EDIT_VAR, None)
        context = {
            "is_editing": is_editing,
            "edit_url": f"?{edited.urlencode()}",
            "leave_url": f"?{left.urlencode() or VIEW_ALL}",
            "save_name": SAVE,
        }
        return super().changelist_view(request, context | (extra_context or {}))

    def rows_to_edit(self, request: Any, rows: list[Vacancy]) -> None:
        """Add the form of each row that the user may change as `edit_form`."""
        failed = getattr(request, "row_forms", None)
        if failed is None:
            return
        for row in rows:
            row.edit_form = failed.get(row.pk) or row_form(row)  # type: ignore[attr-defined]

    def _save_rows(self, request: HttpRequest) -> dict[int, RowForm]:
        """Save the rows that the user changed. Return the forms of those that could not be saved, by id."""
        failed: dict[int, RowForm] = {}
        saved, gone, is_requested = 0, 0, False
        pks = list(
            dict.fromkeys(pk for value in request.POST.getlist("row") if (pk := as_id(value)) is not None)
        )
        rows = self.get_queryset(request)
        for pk in self._changed(request, pks[:ROWS]):
            with transaction.atomic():
                vacancy = (
                    rows.filter(pk=pk).first() and Vacancy.objects.select_for_update().filter(pk=pk).first()
                )
                if vacancy is None:
                    gone += 1
                    continue
                form = row_form(vacancy, request.POST)
                if not form.is_valid():
                    failed[pk] = form
                    if form.has_error(
                        NON_FIELD_ERRORS, "conflict"
                    ):  # shows what is stored now, to choose again
                        failed[pk] = row_form(Vacancy.objects.get(pk=pk))
                        failed[pk].conflicts = form.non_field_errors()
                    continue
                if form.has_changed():
                    self._save_row(request, form)
                    saved += 1
                    is_requested |= hasattr(form.instance, "requested")
        if saved:
            text = ngettext("%(count)d vacancy was saved.", "%(count)d vacancies were saved.", saved)
            self.message_user(request, text % {"count": saved}, messages.SUCCESS)
        if is_requested:
            self.message_user(request, SUBMITTED, messages.INFO)
        if failed:
            text = ngettext(
                "%(count)d vacancy was not saved. The reason is at its row.",
                "%(count)d vacancies were not saved. The reasons are at their rows.",
                len(failed),
            )
            self.message_user(request, text % {"count": len(failed)}, messages.ERROR)
        if gone:
            text = ngettext(
                "%(count)d vacancy was not saved: it was deleted, or belongs to another brand.",
                "%(count)d vacancies were not saved: they were deleted, or belong to another brand.",
                gone,
            )
            self.message_user(request, text % {"count": gone}, messages.WARNING)
        return failed

    def _changed(self, request: HttpRequest, pks: list[int]) -> list[int]:
        """Return the ids of the rows whose inputs differ from what the page showed. Needs no query."""
        return [
            pk
            for pk in pks
            if row_form(Vacancy(pk=pk, updated_at=timezone.now()), request.POST).has_changed()
        ]

    def _save_row(self, request: HttpRequest, form: RowForm) -> None:
        vacancy = self.save_form(request, form, change=True)
        self.save_model(request, vacancy, form, change=True)
        super().save_related(request, form, formsets=[], change=True)  # no content warnings
        self.log_change(request, vacancy, self.construct_change_message(request, form, None))
