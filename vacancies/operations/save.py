"""The one way to write a vacancy. The form, the list, spreadsheets, approval and restoring call
`save_content` with the content that they want; `plan_save` says what that would do. Publication
actions, which change the same few plain fields of many vacancies, call `save_values`.
"""

import json
from collections.abc import Iterable, Mapping
from copy import copy
from dataclasses import KW_ONLY, dataclass, field, replace
from datetime import datetime
from typing import Any

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.core.files import File
from django.db import transaction
from django.db.models import QuerySet

from jobsite.text.html import sanitise
from jobsite.types import JsonObject
from vacancies.choices import Keyword, PlaceKind, VacancyStatus
from vacancies.fields import html_fields
from vacancies.history.diff import LISTS
from vacancies.history.versions import (
    PUBLICATION,
    Content,
    as_json,
    changed_content,
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
    Attachment,
    Change,
    FilterOption,
    Place,
    Vacancy,
    VacancyRecruiter,
    Version,
    needs_approval,
)
from vacancies.models.approval import PUBLIC
from vacancies.operations.approval_requests import Overrides, SaveConflictError, request_approval
from vacancies.operations.blockers import save_blockers
from vacancies.operations.options import save_options

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
    missing: list[str] = []
    wanted: Content = {name: edit.wanted[name] for name in content_fields() if name in edit.wanted}
    wanted |= {name: sanitise(wanted[name]) for name in html_fields(Vacancy) if name in wanted}
    if edit.skips_missing:
        wanted, missing = existing(wanted, edit.forms)
    if edit.base is not None:
        wanted = merged(edit.base, wanted, before)
    changes = changed_content(before, wanted)
    after = copy(vacancy)
    set_values(after, changes)
    plan = Plan(after, before, changes, missing=missing)
    checked = set(changes)
    # It was so before: it may have ended, or have been imported without a description.
    if edit.is_undo:
        checked -= {"status", "publish_until", "description"}
    if reasons := save_blockers(after=after, changed=checked, at=at):
        raise ValidationError(reasons)
    if edit.is_approved or not needs_approval(before=stored, after=after, changed=changes, at=at):
        return plan
    if stored and stored.state_at(at) in PUBLIC:
        plan.vacancy, plan.changes, plan.requested = copy(vacancy), {}, changes
        return plan
    # The texts of a vacancy that is not public are saved. What would publish it waits.
    was = stored or Vacancy()
    now, then = values_of(after, PUBLICATION), values_of(was, PUBLICATION)
    plan.requested = {name: value for name, value in now.items() if value != then[name]}
    if after.publish_from and after.publish_from > at:
        plan.requested["publish_from"] = now["publish_from"]
    # An expired vacancy keeps its dates, which would publish it again. Others keep their status.
    kept = (
        ("publish_from", "publish_until") if was.status == VacancyStatus.PUBLISHED else ("status",)
    )
    set_values(after, {name: then[name] for name in kept})
    plan.changes = {name: value for name, value in changes.items() if name not in kept}
    return plan


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
                _write(plan)
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
        elif name in LISTS:
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


def store_uploads(values: Mapping[str, Any]) -> Content:
    """Return `values` with uploaded files in the storage, by name. Raises NotStoredError."""

    def stored(model: Any, name: str, value: Any) -> Any:
        if not isinstance(value, File):
            return value
        row = model(**{name: value})
        return str(model._meta.get_field(name).pre_save(row, add=True))

    found = dict(values)
    if "image" in values:
        found["image"] = stored(Vacancy, "image", values["image"])
    if "attachments" in values:
        rows = values["attachments"]
        found["attachments"] = [
            each | {"file": stored(Attachment, "file", each["file"])} for each in rows
        ]
    return found


def _write(plan: Plan) -> None:
    vacancy, changes = plan.vacancy, plan.changes
    vacancy.save()
    for keyword in Keyword:
        if keyword.value in changes:
            pks = [pk for pk, _name in changes[keyword.value]]
            save_options(vacancy=vacancy, keyword=keyword, pks=pks)
    if "recruiters" in changes:
        _save_recruiters(vacancy, [pk for pk, _name in changes["recruiters"]])
    if "places" in changes:
        _save_places(vacancy, PlaceKind.SITE, changes["places"])
    if "remote_countries" in changes:
        countries = [Place(country=code).address for code, _name in changes["remote_countries"]]
        _save_places(vacancy, PlaceKind.APPLICANT, countries)
    if "attachments" in changes:
        _save_attachments(vacancy, changes["attachments"])


def _save_recruiters(vacancy: Vacancy, pks: list[int]) -> None:
    vacancy.recruiter_links.exclude(recruiter__in=pks).delete()
    VacancyRecruiter.objects.bulk_create(
        [
            VacancyRecruiter(vacancy=vacancy, recruiter_id=pk, position=place)
            for place, pk in enumerate(pks)
        ],
        update_conflicts=True,
        unique_fields=["vacancy", "recruiter"],
        update_fields=["position"],
    )


def _save_places(vacancy: Vacancy, kind: PlaceKind, wanted: list[JsonObject]) -> None:
    """Write the places of one kind. A row with the same address is kept:
    open forms name rows by their id.
    """
    rows = list(vacancy.places.filter(kind=kind))
    same = {_address_key(row.address): row for row in reversed(rows)}
    kept = [same.pop(_address_key(each), None) for each in wanted]
    free = [row for row in rows if row not in kept]
    for place, (each, row) in enumerate(zip(wanted, kept, strict=True)):
        row = row or (free.pop(0) if free else Place(vacancy=vacancy, kind=kind))
        if row.pk is None or row.position != place or row not in kept:
            for name, value in each.items():
                setattr(row, name, value)
            row.position = place
            row.save()
    for row in free:
        row.delete()


def _address_key(address: JsonObject) -> str:
    return json.dumps(as_json(address), sort_keys=True)


def _save_attachments(vacancy: Vacancy, wanted: list[JsonObject]) -> None:
    """Write the attachments. A row with the same file or URL is kept:
    open forms name rows by their id.
    """
    there = {(row.file.name, row.url): row for row in vacancy.attachments.all()}
    for place, each in enumerate(wanted):
        row = there.pop((each["file"], each["url"]), None)
        if row is None or (row.name, row.position) != (each["name"], place):
            row = row or Attachment(vacancy=vacancy, file=each["file"], url=each["url"])
            row.name, row.position = each["name"], place
            row.save()
    for row in there.values():
        row.delete()


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
