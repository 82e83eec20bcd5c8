"""Import of the rows of a spreadsheet through the form of a vacancy: the same rules, permissions
and versions as on its page.
"""

import json
from collections.abc import Iterable
from copy import copy
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import sha256
from typing import Any

from django.contrib.admin.utils import flatten_fieldsets
from django.contrib.admin.widgets import RelatedFieldWidgetWrapper
from django.core.exceptions import ValidationError
from django.db import transaction
from django.forms import BooleanField, FileField, MultiWidget
from django.http import QueryDict
from django.utils import timezone
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from jobsite.admin.base import as_id
from jobsite.languages import text_languages
from jobsite.text.iso_names import language_name
from jobsite.types import JsonObject, UserRequest
from vacancies.admin.edit.forms import form_content
from vacancies.admin.edit.texts import stored_texts
from vacancies.admin.spreadsheets.columns import (
    BATCH,
    Sheet,
    cells,
    changed,
    headings,
    sheet_columns,
    text_columns,
)
from vacancies.admin.spreadsheets.values import Values, recruiters_with_a_namesake
from vacancies.choices import State
from vacancies.dates import closing_date_of
from vacancies.exchange.cells import CellError
from vacancies.exchange.comparison import rows_of_item
from vacancies.history.diff import Difference, differences, field_labels, marked
from vacancies.history.versions import Content
from vacancies.models import Vacancy, Version, text_field
from vacancies.operations.approval_requests import SUBMITTED, check_conflicts, waiting_request
from vacancies.operations.save import Edit, Plan, plan_save, save_content, set_values

RECEIVED = 80  # characters of a text in an error


@dataclass(frozen=True)
class PlannedRow:
    """What a row of the file changes:
    the id of the vacancy, None for a new one, and the changed texts.
    """

    number: int
    pk: int | None
    texts: dict[str, str]


@dataclass(frozen=True)
class RowError:
    column: str
    received: str
    message: str


@dataclass
class RowResult:
    """A row after the import: what changed in which vacancy, or the errors."""

    number: int
    pk: int | None = None
    title: str = ""
    is_new: bool = False
    is_meanwhile_changed: bool = False  # since it was shown
    differences: list[Difference] = field(default_factory=list)
    errors: list[RowError] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def digest(self, texts: dict[str, str]) -> str:
        """Return a hash of what the page shows of this row. A time that the row does not state is
        that of the import, so it is left out.
        """
        shown = [
            (each.name, str(each.marked))
            for each in self.differences
            if each.name != "publish_from" or each.name in texts
        ]
        return sha256(
            json.dumps([self.pk if not self.is_new else None, shown]).encode()
        ).hexdigest()


def planned(
    page: Any, request: UserRequest, sheet: Sheet
) -> tuple[list[PlannedRow], list[RowResult]]:
    """Return the rows of `sheet` that change something, and the results of the others: errors and
    unchanged rows. `page` is the admin of vacancies.
    """
    rows, done = [], []
    numbers: dict[int, int] = {}  # by id
    current = _current_cells(page, request, sheet)
    for row in sheet.rows:
        pk = as_id(row.key) if row.key else None
        if row.key and pk is None:
            message = _("Not an ID. Leave it empty for a new vacancy.")
            done.append(
                RowResult(row.number, errors=[RowError(headings()["id"], row.key, message)])
            )
        elif pk is None:
            rows.append(
                PlannedRow(
                    row.number, None, {name: text for name, text in row.texts.items() if text}
                )
            )
        elif pk not in current:  # the same for another brand's vacancy and none
            message = _("No vacancy with this ID is among those of your brands.")
            done.append(
                RowResult(row.number, errors=[RowError(headings()["id"], row.key, message)])
            )
        elif pk in numbers:
            message = _("Row %(number)d has the same ID.") % {"number": numbers[pk]}
            done.append(
                RowResult(row.number, errors=[RowError(headings()["id"], row.key, message)])
            )
        else:
            numbers[pk] = row.number
            if texts := changed(row.texts, current[pk]):
                rows.append(PlannedRow(row.number, pk, texts))
            else:
                done.append(RowResult(row.number, pk, str(current[pk]["title"])))
    return rows, done


def _current_cells(page: Any, request: UserRequest, sheet: Sheet) -> dict[int, JsonObject]:
    """Return the cells of the vacancies in `sheet` that the user may access, by id."""
    pks = sorted({pk for row in sheet.rows if (pk := as_id(row.key)) is not None})
    namesakes = recruiters_with_a_namesake()
    found: dict[int, JsonObject] = {}
    for start in range(0, len(pks), BATCH):
        rows = page.get_queryset(request).filter(pk__in=pks[start : start + BATCH]).with_related()
        found |= {vacancy.pk: cells(vacancy, namesakes) for vacancy in rows}
    return found


class Import:
    """Imports planned rows for the user of `request`."""

    def __init__(self, page: Any, request: UserRequest) -> None:
        self.page, self.request = page, request
        self.headings = headings()
        self.labels = field_labels()
        self.first_version: int | None = None  # that `run` recorded

    def preview(self, rows: Iterable[PlannedRow]) -> list[RowResult]:
        """Return what importing each row would change. Writes nothing."""
        return [result for result, _form, _content in map(self._read, rows)]

    def run(self, rows: list[PlannedRow], shown: dict[str, str]) -> tuple[bool, list[RowResult]]:
        """Import all rows, or none if one has an error or differs from the digest that was `shown`
        for it. Return whether they were imported, and the results.
        """
        with transaction.atomic():
            # In one order, so that two requests that lock rows wait for each other.
            known = Vacancy.objects.filter(pk__in=[row.pk for row in rows if row.pk]).order_by("pk")
            list(known.select_for_update().values_list("pk"))
            read = [self._read(row) for row in rows]
            for row, (result, _form, _content) in zip(rows, read, strict=True):
                result.is_meanwhile_changed = result.digest(row.texts) != shown.get(str(row.number))
            results = [result for result, _form, _content in read]
            if any(result.errors or result.is_meanwhile_changed for result in results):
                return False, results
            at = timezone.now()  # of all rows, so that they are undone together
            for result, form, content in read:
                self._save(result, form, content, at)
        return True, results

    def _read(self, row: PlannedRow) -> tuple[RowResult, Any, Content]:
        """Return what importing the row would change, or its errors, the form with its values, and
        the content that it wants.
        """
        result = RowResult(
            row.number, row.pk, is_new=row.pk is None, title=row.texts.get("title", "")
        )
        page, request = self.page, self.request
        vacancy = page.get_queryset(request).filter(pk=row.pk).first() if row.pk else None
        if vacancy:
            result.title = vacancy.title
        self._check_access(row, vacancy, result)
        if result.errors:
            return result, None, {}
        # All fields: the page of a vacancy has buttons for its status, a row has a column.
        fields = flatten_fieldsets(page.fieldsets)
        form_class = page.get_form(request, vacancy, change=vacancy is not None, fields=fields)
        form = form_class(QueryDict(mutable=True), instance=copy(vacancy))
        posted = self._posted_values(row, form, result)
        if result.errors:
            return result, None, {}
        # No field of the form.
        places = {"places": posted.pop("places")} if "places" in posted else {}
        places |= _texts_of(posted, stored_texts(vacancy))
        _fill(form, posted)
        if not self._is_valid(row, form, result):
            return result, None, {}
        if result.is_new and not form.instance.language:
            _guess_language(form, result)
        content = form_content(form) | places
        try:
            plan = plan_save(vacancy or Vacancy(), Edit(content), at=timezone.now())
            if plan.requested and vacancy and (waiting := waiting_request(vacancy)):
                check_conflicts(waiting, plan.requested, request.user)
        except ValidationError as error:
            form.add_reasons(error.message_dict)
            self._is_valid(row, form, result)
            return result, None, {}
        result.title = form.instance.title
        if plan.requested:  # shown with the other changes
            result.notes.append(str(SUBMITTED))
        closing = [closing_date_of(vacancy)] if vacancy and vacancy.publish_until else []
        result.differences = [
            self._closing_date(plan, closing) if each.name == "publish_until" else each
            for each in differences(plan.before, plan.after, self.labels)
        ]
        return result, form, content

    def _save(self, result: RowResult, form: Any, content: Content, at: datetime) -> None:
        saved = save_content(form.instance, Edit(content), author=self.request.user, at=at)
        version = Version.objects.filter(
            vacancy=saved.vacancy.pk, author=self.request.user, created_at=at
        )
        self.first_version = self.first_version or version.values_list("pk", flat=True).first()
        message = self.page.construct_change_message(self.request, form, [], add=result.is_new)
        log = self.page.log_addition if result.is_new else self.page.log_change
        log(self.request, saved.vacancy, message)
        result.pk = saved.vacancy.pk

    def _closing_date(self, plan: Plan, before: list[str]) -> Difference:
        """Return the change of the closing date as the file has it:
        the last day, not the time after it.
        """
        vacancy = Vacancy()
        set_values(vacancy, {"publish_until": plan.after["publish_until"]})
        after = [closing_date_of(vacancy)] if vacancy.publish_until else []
        return Difference("publish_until", self.headings["last_day"], marked(before, after))

    def _check_access(self, row: PlannedRow, vacancy: Vacancy | None, result: RowResult) -> None:
        if row.pk and vacancy is None:
            message = _("No vacancy with this ID is among those of your brands.")
        elif vacancy and not self.page.has_change_permission(self.request, vacancy):
            message = _("You do not have permission to change this vacancy.")
        elif vacancy is None and not self.page.has_add_permission(self.request):
            message = _(
                "You do not have permission to add vacancies. Enter the ID of an existing one."
            )
        else:
            return
        result.errors.append(RowError(self.headings["id"], str(row.pk or ""), message))

    def _posted_values(self, row: PlannedRow, form: Any, result: RowResult) -> JsonObject:
        """Return what a browser would post for the texts of `row`, by field."""
        values, posted, columns = Values(form, result.notes), {}, sheet_columns()
        for name, text in row.texts.items():
            try:
                posted[name] = values.value(name, text, columns[name].read)
            except CellError as error:
                self._add_error(row, name, str(error), result)
        return posted

    def _is_valid(self, row: PlannedRow, form: Any, result: RowResult) -> bool:
        for name, messages in form.errors.items():
            for message in messages:
                self._add_error(row, name, message, result)
        becomes_expired = form.instance.state_at(timezone.now()) == State.EXPIRED
        if not result.errors and "status" in row.texts and becomes_expired:
            message = _("The closing date has passed. Choose a later date or leave it empty.")
            self._add_error(row, "status", message, result)
        return not result.errors

    def _add_error(self, row: PlannedRow, name: str, message: str, result: RowResult) -> None:
        received = row.texts.get(name, "")
        short = received if len(received) <= RECEIVED else f"{received[:RECEIVED]}…"
        result.errors.append(
            RowError(self.headings.get(name, self.labels.get(name, "")), short, message)
        )


def _texts_of(posted: JsonObject, stored: JsonObject) -> Content:
    """Take the texts in other languages from `posted`, and return them as in a content."""
    given = {
        code: {key: posted.pop(name) for key, name in text_columns(code) if name in posted}
        for code in text_languages()
    }
    item = {"translations": {code: values for code, values in given.items() if values}}
    return rows_of_item(item, {text_field(code): text for code, text in stored.items()})


def _guess_language(form: Any, result: RowResult) -> None:
    """Set the language of a new vacancy to that of its texts, if it is recognised."""
    language = form.instance.recognised_language()
    if not language:
        text = _("The language of the texts was not recognised: that of the site is assumed.")
        result.notes.append(text)
    elif language != form.instance.shown_language:
        form.instance.language = language
        text = _("The language was guessed from the texts: %(language)s.")
        result.notes.append(text % {"language": language_name(language, get_language() or "en")})


def _fill(form: Any, posted: JsonObject) -> None:
    """Set the data of the bound `form` to what a browser would post:
    its initial values and `posted`.
    """
    for name, form_field in form.fields.items():
        widget = form_field.widget
        if isinstance(widget, RelatedFieldWidgetWrapper):
            widget = widget.widget
        initial = form_field.prepare_value(form.get_initial_for_field(form_field, name))
        if isinstance(form_field, FileField):
            continue  # without an upload, the file stays
        if isinstance(form_field, BooleanField):
            if posted.get(name, initial):
                form.data[name] = "on"
        elif isinstance(widget, MultiWidget):  # a date and a time, and which of two times is meant
            parts = posted.get(name) or _parts(widget, initial)
            for number, part in enumerate(parts):
                form.data[f"{name}_{number}"] = part
        else:
            value = posted[name] if name in posted else widget.format_value(initial)
            form.data.setlist(name, value if isinstance(value, (list, tuple)) else [value or ""])


def _parts(widget: Any, initial: Any) -> list[str]:
    local = timezone.localtime(initial) if initial else None
    parts = zip(widget.widgets, widget.decompress(initial), strict=True)
    texts = [each.format_value(part) or "" for each, part in parts]
    return [*texts, str(local.fold) if local else ""]
