"""Changing the closing date and "featured" in the list. Each row is validated and recorded like its
form, and saved on its own: an error in one row does not keep the others from being saved.
"""

from collections.abc import Iterable
from contextlib import suppress
from datetime import datetime
from typing import Any

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from jobsite.admin.base import as_id
from jobsite.admin.datetime_fields import DateField
from jobsite.types import Context, UserRequest
from vacancies.admin.edit.vacancy_form import VacancyForm
from vacancies.admin.list.change_list import EDIT_VAR, VIEW_VAR
from vacancies.choices import Keyword
from vacancies.dates import end_of_day, last_day
from vacancies.history.versions import Content, as_json
from vacancies.models import Vacancy
from vacancies.operations.approval_requests import SUBMITTED
from vacancies.operations.save import Edit, SaveConflictError, save_content

SAVE = "_save"
VIEW_ALL = f"{VIEW_VAR}=all"
MAX_ROWS = 200  # of a page
CONFLICT = gettext_lazy(
    "Not saved: somebody else changed “%(vacancy)s” in the meantime. Check it, then save."
)


class DayInput(forms.DateInput):
    input_type = "date"

    def __init__(self, attrs: dict[str, object] | None = None) -> None:
        super().__init__({"class": "panel-select"} | (attrs or {}), format="%Y-%m-%d")


class RowForm(VacancyForm):
    """The two fields of a row. It compares them with what the page showed: a change by somebody
    else in the meantime is never overwritten, and one of another field is no conflict.
    """

    version = None  # type: ignore[assignment] # removes the field
    last_day = DateField(
        label=gettext_lazy("Closing date"),
        required=False,
        widget=DayInput,
        validators=VacancyForm.base_fields["last_day"].validators,
        show_hidden_initial=True,
    )
    is_hot = forms.BooleanField(
        label=gettext_lazy("Featured"),
        required=False,
        widget=forms.CheckboxInput,
        show_hidden_initial=True,
    )
    vars().update(dict.fromkeys(("remote_countries", "pay_currency", *Keyword.values)))

    class Meta(VacancyForm.Meta):
        fields = ("is_hot",)

    def __init__(self, *args: Any, conflicts: Iterable[str] = (), **kwargs: Any) -> None:
        """`conflicts` are the errors of an earlier attempt."""
        super().__init__(*args, **kwargs)
        self.conflicts = conflicts
        for field in self.fields.values():
            label = _("%(field)s of “%(vacancy)s”") % {
                "field": field.label,
                "vacancy": self.instance,
            }
            field.widget.attrs["aria-label"] = label

    def _fill_options(self) -> None:
        """The row has no options."""

    def clean(self) -> dict[str, object]:
        if "is_hot" not in self.changed_data:
            self.cleaned_data["is_hot"] = self.instance.is_hot
        return super().clean()

    def contents(self, until: datetime | None) -> tuple[Content, Content]:
        """Return the changed fields as the user wants them, and as the page showed them: a day
        stands for `until`, the stored closing date, if it ends on that day.
        """
        wanted, base = {}, {}
        for name in self.changed_data:
            field = "publish_until" if name == "last_day" else name
            wanted[field] = getattr(self.instance, field)
            with suppress(forms.ValidationError):
                seen = self.fields[name].to_python(self.data.get(self[name].html_initial_name))
                if name == "last_day":
                    is_stored = seen == (last_day(until) if until else None)
                    seen = until if is_stored else seen and end_of_day(seen)
                base[field] = seen
        return as_json(wanted), as_json(base)


def row_form(vacancy: Vacancy, data: object = None, conflicts: Iterable[str] = ()) -> RowForm:
    return RowForm(
        data, instance=vacancy, prefix=f"row{vacancy.pk}", auto_id="id_%s", conflicts=conflicts
    )


class ListEditing:
    """The list with `edit` in its address, and its POST."""

    def __init__(self, admin: Any, request: UserRequest) -> None:
        self.admin, self.request = admin, request
        self.is_editing = EDIT_VAR in request.GET and admin.has_change_permission(request)
        self.failed: dict[int, RowForm] = {}

    def save(self) -> HttpResponse | None:
        """Save the posted rows, if there are any.
        Return the way out if nothing is left to correct.
        """
        request = self.request
        if not (request.method == "POST" and SAVE in request.POST and EDIT_VAR in request.GET):
            return None
        if not self.is_editing:
            raise PermissionDenied
        self.failed = self._save_rows()
        if self.failed:
            return None
        query = request.GET.copy()
        del query[EDIT_VAR]
        return redirect(f"{request.path}?{query.urlencode() or VIEW_ALL}")

    def context(self) -> Context:
        edited = self.request.GET.copy()
        edited[EDIT_VAR] = "1"
        left = self.request.GET.copy()
        left.pop(EDIT_VAR, None)
        return {
            "is_editing": self.is_editing,
            "edit_url": f"?{edited.urlencode()}",
            "leave_url": f"?{left.urlencode() or VIEW_ALL}",
            "save_name": SAVE,
        }

    def forms(self, rows: Iterable[Vacancy]) -> dict[int, RowForm]:
        """Return the form of each of `rows` that the user may change, by id."""
        if not self.is_editing:
            return {}
        return {row.pk: self.failed.get(row.pk) or row_form(row) for row in rows}

    def _save_rows(self) -> dict[int, RowForm]:
        """Save the rows that the user changed.
        Return the forms of those that could not be saved, by id.
        """
        admin, request, at = self.admin, self.request, timezone.now()
        failed: dict[int, RowForm] = {}
        saved, gone, is_requested = 0, 0, False
        pks = list(
            dict.fromkeys(
                pk for value in request.POST.getlist("row") if (pk := as_id(value)) is not None
            )
        )
        rows = admin.get_queryset(request)
        for pk in _changed(request, pks[:MAX_ROWS]):
            with transaction.atomic():
                vacancy = (
                    rows.filter(pk=pk).first()
                    and Vacancy.objects.select_for_update().filter(pk=pk).first()
                )
                if vacancy is None:
                    gone += 1
                    continue
                until = vacancy.publish_until
                form = row_form(vacancy, request.POST)
                if not form.is_valid():
                    failed[pk] = form
                    continue
                wanted, base = form.contents(until)
                try:
                    done = save_content(
                        vacancy, Edit(wanted, base=base), author=request.user, at=at
                    )
                except SaveConflictError as error:  # shows what is stored now, to choose again
                    conflict = " ".join(
                        getattr(error, "messages", [CONFLICT % {"vacancy": vacancy}])
                    )
                    failed[pk] = row_form(Vacancy.objects.get(pk=pk), conflicts=[conflict])
                    continue
                saved += 1
                is_requested |= done.approval is not None
                admin.log_change(
                    request, vacancy, admin.construct_change_message(request, form, None)
                )
        if saved:
            text = ngettext(
                "%(count)d vacancy was saved.", "%(count)d vacancies were saved.", saved
            )
            admin.message_user(request, text % {"count": saved}, messages.SUCCESS)
        if is_requested:
            admin.message_user(request, SUBMITTED, messages.INFO)
        if failed:
            text = ngettext(
                "%(count)d vacancy was not saved. The reason is at its row.",
                "%(count)d vacancies were not saved. The reasons are at their rows.",
                len(failed),
            )
            admin.message_user(request, text % {"count": len(failed)}, messages.ERROR)
        if gone:
            text = ngettext(
                "%(count)d vacancy was not saved: it was deleted, or belongs to another brand.",
                "%(count)d vacancies were not saved: they were deleted, or belong to another brand.",
                gone,
            )
            admin.message_user(request, text % {"count": gone}, messages.WARNING)
        return failed


def _changed(request: UserRequest, pks: list[int]) -> list[int]:
    """Return the ids of the rows whose inputs differ from what the page showed. Needs no query."""
    return [
        pk
        for pk in pks
        if row_form(Vacancy(pk=pk, updated_at=timezone.now()), request.POST).has_changed()
    ]
