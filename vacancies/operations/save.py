"""The one way to write a vacancy. The form, the list, spreadsheets, approval and restoring call
`save_content` with the content that they want; `plan_save` says what that would do. Publication
actions, which change the same few plain fields of many vacancies, call `save_values`.

An import of vacancies compares contents, asks for approval, writes rows and records versions with
the same functions, for 100 vacancies at a time. With one `save_content` for each, it would take
three times the CPU (docs/performance-figures.md).
"""

from collections.abc import Iterable, Mapping
from copy import copy
from dataclasses import KW_ONLY, dataclass, field, replace
from datetime import datetime
from typing import Any

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import QuerySet

from jobsite.text.html import sanitise
from vacancies.choices import Keyword, VacancyStatus
from vacancies.fields import html_fields
from vacancies.history.diff import LISTS
from vacancies.history.versions import (
    PUBLICATION,
    Content,
    changed_content,
    columns_of,
    content_fields,
    read_content,
    record,
    record_drift,
    record_values,
    values_of,
    without_names,
)
from vacancies.models import (
    Approval,
    Change,
    FilterOption,
    Vacancy,
    Version,
    needs_approval,
    text_fields,
)
from vacancies.models.approval import PUBLIC
from vacancies.operations.approval_requests import Overrides, SaveConflictError, request_approval
from vacancies.operations.blockers import save_blockers
from vacancies.operations.rows import store_uploads, write
from vacancies.operations.texts import cleaned_texts, crossing_texts, settle_texts

BATCH = 500


@dataclass
class Plan:
    """What a save would do: the content `before`, the `changes` that it writes, and what it would
    submit for approval instead. `missing` has the names of related rows that no longer exist.
    """

    vacancy: Vacancy  # with the changed columns, not saved
    before: Content
    changes: Content
    requested: Content = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)
    unfinished: list[str] = field(default_factory=list)  # notes on translations that are not ready

    @property
    def after(self) -> Content:
        """The content after the save, and after the approval of what is submitted."""
        return self.before | self.changes | self.requested


@dataclass
class Saved:
    """A saved vacancy. `approval` is the request for what was not written, because it needs
    approval.
    """

    vacancy: Vacancy
    plan: Plan
    approval: Approval | None = None


@dataclass(frozen=True)
class Edit:
    """The fields of a vacancy that are `wanted`, in the format of Version.content. A file can be an
    upload.

    With `base`, the content that the author started from, only what the author changed is written.
    If `is_approved`, it needs no approval. If `is_undo`, it was so before, and may have ended
    already. If `skips_missing`, related rows that no longer exist are left out, and so is a form
    that is not among `forms`.
    """

    wanted: Mapping[str, Any]
    _: KW_ONLY
    base: Mapping[str, object] | None = None
    is_approved: bool = False
    is_undo: bool = False
    skips_missing: bool = False
    forms: QuerySet | None = None


def plan_save(vacancy: Vacancy, edit: Edit, *, at: datetime) -> Plan:
    """Return what `save_content` would do. Writes nothing. `vacancy` is as stored, or new.

    Raises SaveConflictError, and ValidationError with the reasons by field if the result could not
    be public.
    """
    stored = None if vacancy._state.adding else vacancy
    before = read_content(vacancy) if stored else {}
    wanted, missing = _wanted(edit, before)
    notes = settle_texts(wanted, before, columns_of(vacancy))
    changes = changed_content(before, wanted)
    after = copy(vacancy)
    set_values(after, changes)
    plan = Plan(after, before, changes, missing=missing, unfinished=notes)
    if reasons := save_blockers(after=after, changed=_checked(edit, changes), at=at):
        raise ValidationError(reasons)
    if not edit.is_approved and needs_approval(before=stored, after=after, changed=changes, at=at):
        _submit(plan, stored, at=at)
    return plan


def _wanted(edit: Edit, before: Content) -> tuple[Content, list[str]]:
    """Return what `edit` writes, and the names of related rows that no longer exist."""
    missing: list[str] = []
    wanted: Content = {name: edit.wanted[name] for name in content_fields() if name in edit.wanted}
    wanted |= {name: sanitise(wanted[name]) for name in html_fields(Vacancy) if name in wanted}
    wanted |= cleaned_texts(wanted, {**before, **(edit.base or {}), **wanted})
    if edit.skips_missing:
        wanted, missing = existing(wanted, edit.forms)
    if edit.base is not None:
        wanted = merged(edit.base, wanted, before)
    return wanted, missing


def _checked(edit: Edit, changes: Content) -> set[str]:
    """Return the fields of `changes` that can keep the vacancy from being saved."""
    # It was so before: it may have ended, or have been imported without a description.
    was_so = {"status", "publish_until", "description"} if edit.is_undo else set()
    return set(changes) - was_so


def _submit(plan: Plan, stored: Vacancy | None, *, at: datetime) -> None:
    """Move what needs approval from the changes of `plan` to what it requests."""
    if stored and stored.state_at(at) in PUBLIC:
        plan.vacancy, plan.changes, plan.requested = copy(stored), {}, plan.changes
        return
    # The texts of a vacancy that is not public are saved. What would publish it waits.
    was, after = stored or Vacancy(), plan.vacancy
    now, then = values_of(after, PUBLICATION), values_of(was, PUBLICATION)
    plan.requested = {name: value for name, value in now.items() if value != then[name]}
    if after.publish_from and after.publish_from > at:
        plan.requested["publish_from"] = now["publish_from"]
    # An expired vacancy keeps its dates, which would publish it again. Others keep their status.
    kept = (
        ("publish_from", "publish_until") if was.status == VacancyStatus.PUBLISHED else ("status",)
    )
    set_values(after, {name: then[name] for name in kept})
    plan.changes = {name: value for name, value in plan.changes.items() if name not in kept}


def save_content(
    vacancy: Vacancy,
    edit: Edit,
    *,
    author: User | None,
    at: datetime,
    change: Change | None = None,
    overrides: Overrides = (),
) -> Saved:
    """Write `edit` of `vacancy`, and record the version as a `change`. What needs approval is
    submitted instead, with `overrides` as for `request_approval`. Raises what `plan_save` and
    `request_approval` raise.
    """
    # before rows are locked: an object store may take seconds
    edit = replace(edit, wanted=store_uploads(edit.wanted))
    with transaction.atomic():
        is_new = vacancy._state.adding
        if not is_new:
            vacancy = Vacancy.objects.select_for_update().get(pk=vacancy.pk)
        plan = plan_save(vacancy, edit, at=at)
        change = change or (Change.CREATED if is_new else Change.CHANGED)
        saved = Saved(plan.vacancy, plan)
        if plan.changes or not plan.requested:
            if not is_new:
                record_drift(vacancy, at=at)
            if plan.changes or change != Change.CHANGED:
                plan.vacancy.updated_at = at
                write(plan.vacancy, plan.changes)
            record(plan.vacancy, change, author=author, at=at)
        if plan.requested:
            saved.approval = request_approval(
                plan.vacancy, plan.requested, at=at, author=author, overrides=overrides
            )
    return saved


def merged(base: Mapping[str, object], wanted: Content, stored: Content) -> Content:
    """Return what of `wanted` differs from `base`.
    Raises SaveConflictError if it differs in `stored` too.
    """
    mine = changed_content(dict(base), wanted)
    theirs = changed_content(dict(base), {name: stored.get(name) for name in mine if name in base})
    conflicts = [
        name for name in theirs if without_names(theirs[name]) != without_names(mine[name])
    ]
    conflicts += [name for name in crossing_texts(base, wanted, stored) if name not in conflicts]
    if conflicts:
        raise SaveConflictError(conflicts)
    return mine


def existing(wanted: Mapping[str, Any], forms: QuerySet | None) -> tuple[Content, list[str]]:
    """Return `wanted` without related rows that no longer exist, and the names of these."""
    missing: list[str] = []

    def there(model: Any, pairs: Iterable[Any]) -> list[Any]:
        pairs = list(pairs)
        rows = forms if forms is not None and model is forms.model else model._default_manager.all()
        pks = (
            set(rows.filter(pk__in=[pk for pk, _ in pairs]).values_list("pk", flat=True))
            if pairs
            else set()
        )
        missing.extend(name for pk, name in pairs if pk not in pks)
        return [pair for pair in pairs if pair[0] in pks]

    found = dict(wanted)
    for name, value in wanted.items():
        if name in Keyword.values:
            found[name] = there(FilterOption, value)
        elif name == "recruiters":
            found[name] = there(Vacancy._meta.get_field(name).related_model, value)
        elif name in LISTS or name in text_fields():
            continue
        elif Vacancy._meta.get_field(name).is_relation and value:
            found[name] = next(
                iter(there(Vacancy._meta.get_field(name).related_model, [value])), None
            )
    return found, missing


def set_values(vacancy: Vacancy, values: Mapping[str, Any]) -> None:
    """Set the columns of `vacancy` that are in `values` to these JSON values.
    The inverse of `values_of`.
    """
    for column in Vacancy._meta.concrete_fields:
        if column.name not in values:
            continue
        value = values[column.name]
        value = (value[0] if value else None) if column.is_relation else column.to_python(value)
        setattr(vacancy, column.attname, value)


def save_values(
    vacancies: list[Vacancy],
    before: list[Content],
    change: Change,
    *,
    author: User | None,
    at: datetime,
) -> list[Version]:
    """Save those plain fields of each of `vacancies` that differ from `before`, their `values_of`
    as stored, and record the versions. The vacancies are locked, and the caller has checked
    approval and blockers. The number of queries does not depend on the number of vacancies.
    """
    # One query per combination of values: `bulk_update` needs ten times as much CPU for 10,000
    # rows.
    groups: dict[tuple[tuple[str, object], ...], list[int]] = {}
    for vacancy, was in zip(vacancies, before, strict=True):
        now = values_of(vacancy, was)
        changed = tuple((name, getattr(vacancy, name)) for name in was if was[name] != now[name])
        vacancy.updated_at = at
        groups.setdefault(changed, []).append(vacancy.pk)
    for changed, pks in groups.items():
        for start in range(0, len(pks), BATCH):
            rows = Vacancy.objects.filter(pk__in=pks[start : start + BATCH])
            rows.update(**dict(changed), updated_at=at)
    return record_values(vacancies, before, change, author=author, at=at)
