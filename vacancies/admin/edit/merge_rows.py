"""The three-way merge of the rows of a formset: attachments and recruiters of a vacancy."""

from dataclasses import dataclass
from typing import Any

from django import forms
from django.utils.text import capfirst
from django.utils.translation import gettext as _

from jobsite.admin.base import as_id
from vacancies.admin.edit.form_input import ROWS_MAX, Input, widget_of
from vacancies.admin.edit.merge import (
    MINE,
    Merge,
    MergeInput,
    Overlap,
    Values,
    file_of,
    lines,
    values_of,
)

Content = dict[str, Values] | None  # of a row, by field; None if there is no such row
UNKNOWN: Content = {"": ()}  # equals no content


@dataclass(frozen=True)
class FormsetRow:
    """A row of a formset: its inputs by the name of the field."""

    start: str  # of the names of its inputs: "attachments-2-"
    inputs: Input
    is_mine: bool

    @property
    def pk(self) -> str:
        return next(iter(self.inputs.get("id", ())), "")

    @property
    def is_deleted(self) -> bool:
        return bool(self.inputs.get("DELETE"))

    def with_values(self, **inputs: list[str]) -> "FormsetRow":
        return FormsetRow(self.start, self.inputs | inputs, self.is_mine)


def rows_of(data: Input, prefix: str, *, is_mine: bool = False) -> list[FormsetRow]:
    total = as_id(next(iter(data.get(f"{prefix}-TOTAL_FORMS", ())), ""))
    found: list[Input] = [{} for _number in range(min(total or 0, ROWS_MAX))]
    for name, values in data.items():
        number, _dash, of_row = name.removeprefix(f"{prefix}-").partition("-")
        index = as_id(number) if name.startswith(f"{prefix}-") else None
        if index is not None and index < len(found):
            found[index][of_row] = values
    return [FormsetRow(f"{prefix}-{index}-", inputs, is_mine) for index, inputs in enumerate(found)]


class RowMerge:
    """Merges the rows of one formset into `result`.
    `formset` is that of the stored vacancy, unbound.
    """

    def __init__(self, sides: MergeInput, result: Merge, formset: Any) -> None:
        self.sides, self.result, self.prefix = sides, result, formset.prefix
        hidden = ("id", "DELETE", "position", formset.fk.name)
        self.fields: dict[str, forms.Field] = {
            name: each for name, each in formset.empty_form.fields.items() if name not in hidden
        }
        self.meta = formset.model._meta
        self.mine = rows_of(sides.mine, self.prefix, is_mine=True)
        self.own = {row.pk: row for row in self.mine if row.pk}
        self.theirs = {row.pk: row for row in rows_of(sides.theirs, self.prefix)}
        self.base = {row.pk: row for row in rows_of(sides.base or {}, self.prefix)}

    def run(self) -> None:
        pks = [*self.theirs, *(pk for pk in self.own if pk not in self.theirs)]
        stored = [row for pk in pks if (row := self._merged(pk)) is not None]
        added = [self._content(row) for pk, row in self.theirs.items() if pk not in self.base]
        new = [
            row
            for row in self.mine
            if not row.pk
            and not row.is_deleted
            and any((content := self._content(row) or {}).values())
            and content not in added
        ]
        self._write(sorted(stored, key=lambda row: not row.pk) + new)

    def _merged(self, pk: str) -> FormsetRow | None:
        """Return the row to post for the stored or deleted row `pk`, None for none."""
        theirs, base, own = self.theirs.get(pk), self.base.get(pk), self.own.get(pk)
        stored = self._content(theirs)
        began = UNKNOWN if self.sides.base is None and own else self._content(base)
        mine = self._content(own) if own else began
        if mine == stored or stored == began:
            return self._positioned(own) if theirs else None
        if mine == began or (own and self._has_lost_its_file(own, stored)):
            self._note_theirs()
            return theirs and self._positioned(theirs)
        if self._decided_for_mine(pk, began, mine, stored):
            return self._positioned(own) if theirs else own and own.with_values(id=[""])
        return theirs and self._positioned(theirs)

    def _has_lost_its_file(self, own: FormsetRow, stored: Content) -> bool:
        """Return whether the other user deleted the row, and with it the file
        that this user kept.
        """
        kept_file = "file" in self.fields and (self._content(own) or {}).get("file")
        return stored is None and bool(kept_file) and f"{own.start}file" not in self.sides.uploads

    def _decided_for_mine(self, pk: str, began: Content, mine: Content, stored: Content) -> bool:
        key = f"{self.prefix}-{pk}"
        decision = self.sides.decisions.get(key, "")
        name = next(iter(self._lines(stored or mine or {})), "")
        label = f"{capfirst(self.meta.verbose_name)}: {name.partition(': ')[2]}"
        shown = None if began is UNKNOWN else self._lines(began)
        overlap = Overlap(key, label, shown, self._lines(mine), self._lines(stored), decision)
        self.result.overlaps.append(overlap)
        return decision == MINE

    def _positioned(self, row: FormsetRow | None) -> FormsetRow | None:
        """Return `row` with the position that this user chose, else the stored one."""
        if row is None:
            return None
        own, base, theirs = (rows.get(row.pk) for rows in (self.own, self.base, self.theirs))
        positions = [
            each.inputs.get("position", [""]) if each else None for each in (own, base, theirs)
        ]
        mine, began, stored = positions
        chosen = mine if mine is not None and mine != began else stored
        return row.with_values(position=chosen or [""])

    def _content(self, row: FormsetRow | None) -> Content:
        if row is None or row.is_deleted:
            return None
        found = {name: values_of(row.inputs, [name]) for name in self.fields}
        for name, each in self.fields.items():
            if row.is_mine and isinstance(widget_of(each), forms.FileInput):
                before = self.base.get(row.pk) or self.theirs.get(row.pk) if row.pk else None
                stored = values_of(before.inputs, [name]) if before else ()
                found[name] = file_of(self.sides, f"{row.start}{name}", stored)
        return found

    def _lines(self, content: Content) -> list[str]:
        if content is None:
            return [_("Removed")]
        shown = {
            name: lines(self.fields[name], values) for name, values in content.items() if values
        }
        return [f"{self.fields[name].label or name}: {' '.join(of)}" for name, of in shown.items()]

    def _note_theirs(self) -> None:
        label = str(capfirst(self.meta.verbose_name_plural))
        if label not in self.result.from_theirs:
            self.result.from_theirs.append(label)

    def _write(self, rows: list[FormsetRow]) -> None:
        data, uploads = self.result.data, self.result.uploads
        for name in [name for name in data if name.startswith(f"{self.prefix}-")]:
            if name.removeprefix(f"{self.prefix}-")[:1].isdecimal():
                del data[name]
        for name in [name for name in uploads if name.startswith(f"{self.prefix}-")]:
            del uploads[name]
        for index, row in enumerate(rows):
            start = f"{self.prefix}-{index}-"
            data |= {f"{start}{name}": values for name, values in row.inputs.items()}
            if row.is_mine:
                own = [name for name in self.sides.uploads if name.startswith(row.start)]
                uploads |= {name: start + name.removeprefix(row.start) for name in own}
        data[f"{self.prefix}-TOTAL_FORMS"] = [str(len(rows))]
        data[f"{self.prefix}-INITIAL_FORMS"] = [str(sum(bool(row.pk) for row in rows))]
