"""Writes a vacancy that a source sends: one call of `save_content`, as for a person."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.core.exceptions import NON_FIELD_ERRORS, ValidationError
from django.core.files.storage import default_storage
from django.db import transaction
from django.http import HttpRequest
from django.utils import translation

from jobsite.api import caching
from jobsite.api.absolute_urls import absolute
from jobsite.db.locks import lock_transaction
from jobsite.db.transactions import retry_on_conflict
from jobsite.types import JsonObject
from vacancies.choices import VacancyStatus
from vacancies.exchange.comparison import column_values, rows_of_item
from vacancies.exchange.fields import Remark
from vacancies.exchange.related import comparable
from vacancies.exchange.serializers import PAY
from vacancies.history.versions import PUBLICATION, Content, as_json, changed_content, content_of
from vacancies.manage import items
from vacancies.manage.parsing import UNKNOWN, Fault, RefusedError, as_fault, parse
from vacancies.manage.publication import KEYS, decide
from vacancies.manage.references import MISSING_SCOPE, form_of, options_of, people_of
from vacancies.models import (
    Brand,
    Change,
    Integration,
    IntegrationScope,
    Vacancy,
    text_field,
    text_fields,
)
from vacancies.operations.approval_requests import authors_of, waiting_request, withdraw_request
from vacancies.operations.save import Edit, Saved, plan_save, save_content
from vacancies.querysets import VacancyQuerySet

_PAY_COLUMNS = {f"pay_{key}": key for key in PAY}
# The places in a body of what it sets by another name; "" is set by its address.
_POINTERS = (
    {name: f"/pay/{key}" for name, key in _PAY_COLUMNS.items()}
    | {name: f"/publication/{key}" for name, key in KEYS.items()}
    | {"image_url": "/image"}
    | dict.fromkeys(("brand", "reference", NON_FIELD_ERRORS), "")
)


@dataclass(frozen=True)
class VacancyTarget:
    """A vacancy of an address, and who writes it when."""

    integration: Integration
    brand: Brand | None
    reference: str
    request: HttpRequest
    at: datetime

    def rows(self) -> VacancyQuerySet:
        rows = Vacancy.objects.with_related()
        return rows.filter(brand=self.brand, reference=self.reference)

    def save(self, vacancy: Vacancy, edit: Edit, **options: Any) -> Saved:
        return save_content(vacancy, edit, author=self.integration.user, at=self.at, **options)


@dataclass
class Result:
    """What a body asks for, and what the request did or would do. `before` is the stored content,
    {} for a new vacancy.
    """

    vacancy: Vacancy
    before: Content
    content: Content
    closes: bool
    faults: list[Fault]
    kept: list[str]
    warnings: list[Fault]
    changed: list[str] = field(default_factory=list)
    approval: JsonObject | None = None

    @property
    def is_new(self) -> bool:
        return not self.before


def put(target: VacancyTarget, body: JsonObject, *, is_dry_run: bool) -> Result:
    """Create or update the vacancy of `target`, or say what that would do. Raises RefusedError."""

    def attempt() -> Result:
        vacancy = _locked(target)
        if vacancy is None:  # the second of two requests that create it updates
            lock_transaction(f"reference {target.brand and target.brand.pk} {target.reference}")
            vacancy = _locked(target)
        check_preconditions(target, vacancy)
        result = _save(target, _read(target, vacancy, body), is_dry_run=is_dry_run)
        if is_dry_run:
            transaction.set_rollback(True)  # of new recruiters
        return result

    with translation.override("en"):
        return retry_on_conflict(attempt)


def archive(target: VacancyTarget) -> bool:
    """Unpublish and archive the vacancy of `target`. Return whether there is one. Raises
    RefusedError.
    """
    with transaction.atomic():
        vacancy = _locked(target)
        if vacancy is None:
            return False
        check_preconditions(target, vacancy)
        if vacancy.status != VacancyStatus.ARCHIVED:
            _withdraw_own(target, vacancy, set(PUBLICATION))
            archived = Edit({"status": VacancyStatus.ARCHIVED.value})
            target.save(vacancy, archived, change=Change.ARCHIVED)
        return True


def check_preconditions(target: VacancyTarget, vacancy: Vacancy | None) -> None:
    """Raise RefusedError unless the vacancy is as If-Match and If-None-Match say."""
    headers = target.request.headers
    names = [name for name in ("If-Match", "If-None-Match") if name in headers]
    etag = items.etag_of(items.item_of(target.request, vacancy)) if vacancy and names else ""
    found = {name: bool(etag) and caching.contains(headers[name], etag) for name in names}
    if not found.get("If-Match", True):
        raise RefusedError(412, detail="The vacancy is not the one that If-Match names.")
    if found.get("If-None-Match"):
        raise RefusedError(412, detail="There is a vacancy that If-None-Match names.")


def _locked(target: VacancyTarget) -> Vacancy | None:
    """Return the vacancy with its rows, locked before they are read."""
    return target.rows().select_related("form").select_for_update(of=("self",)).first()


# --- What is wanted -------------------------------------------------------------------------------


def _read(target: VacancyTarget, stored: Vacancy | None, body: JsonObject) -> Result:
    """Return what `body` wants of the vacancy, with all errors."""
    new = Vacancy(brand=target.brand, reference=target.reference, created_at=target.at)
    vacancy, brand = stored or new, target.brand
    before = content_of(stored) if stored else {}
    changes: list[Remark] = []
    item, faults = parse(body, changes)
    if stored is None and "title" not in body:
        faults.append(Fault("/title", "A new vacancy needs a title.", "required"))
    content = _columns(target, item, vacancy)
    content |= options_of(item, before, faults)
    content |= people_of(item, target.integration, faults)
    content |= form_of(item, target.integration, brand, faults)
    content |= _attachments(target, item, before)
    content |= rows_of_item(item, before)
    faults += _other_brand(item, target.brand)
    sent = item.get("publication") or {}
    wanted, kept = decide(vacancy, sent, target.integration, at=target.at)
    content |= wanted
    if stored is None:
        content |= {"reference": target.reference, "brand": brand and [brand.pk, brand.name]}
    return Result(
        vacancy,
        before,
        content,
        closes=sent.get("state") == "closed",
        faults=faults,
        kept=["publication"] if kept else [],
        warnings=[*map(as_fault, changes), *kept],
    )


def _columns(target: VacancyTarget, item: JsonObject, vacancy: Vacancy) -> Content:
    values = column_values({name: item[name] for name in item if name != "pay"}, vacancy)
    if "pay" in item:
        pay = item["pay"] or {}
        values |= {name: pay.get(name, PAY[key]) for name, key in _PAY_COLUMNS.items()}
    values |= {name: item[name] for name in ("audience", "is_pay_public") if name in item}
    if vacancy.image and values.get("image_url") in _addresses(target, vacancy.image.url):
        del values["image_url"]  # that of the upload, which stays
    return as_json(values)


def _attachments(target: VacancyTarget, item: JsonObject, before: Content) -> Content:
    """Return the attachments of `item`, and before them the uploads that it does not name."""
    if "attachments" not in item:
        return {}
    uploads = [each for each in before.get("attachments", ()) if each["file"]]
    names = {
        address: each["file"]
        for each in uploads
        for address in _addresses(target, default_storage.url(each["file"]))
    }
    rows: dict[str, JsonObject] = {}
    for data in item["attachments"] or ():
        path, name = data["path"], data.get("name", "")
        file = names.get(path, "")
        rows.setdefault(file or path, {"name": name, "file": file, "url": "" if file else path})
    kept = [each for each in uploads if each["file"] not in rows]
    return {"attachments": [*kept, *rows.values()]}


def _addresses(target: VacancyTarget, url: str) -> set[str]:
    return {url, absolute(target.request, url)}


def _other_brand(item: JsonObject, brand: Brand | None) -> Iterable[Fault]:
    """Return an error if `item` names another brand than its address."""
    if "brand" not in item:
        return []
    sent = (item["brand"] or {}).get("name", "")
    if comparable(sent) == comparable(brand.name if brand else ""):
        return []
    text = "The address has another brand. A vacancy keeps its brand."
    allowed = [brand.name] if brand else []
    return [Fault("/brand/name" if sent else "/brand", text, "brand", allowed)]


# --- Writing it -----------------------------------------------------------------------------------


def _save(target: VacancyTarget, result: Result, *, is_dry_run: bool) -> Result:
    if not (result.faults or result.is_new):
        result.content |= _without_stale_request(target, result)
        if not changed_content(result.before, result.content):
            return result
    edit = Edit(result.content)
    try:
        plan = plan_save(result.vacancy, edit, at=target.at)
    except ValidationError as error:
        known = {_first(each.pointer) for each in result.faults if each.code != UNKNOWN}
        result.faults += [each for each in _reasons(error) if _first(each.pointer) not in known]
    if result.faults:
        raise _refusal(result.faults)
    result.changed = _keys(plan.changes)
    if is_dry_run:
        result.approval = {"id": None, "waiting": _keys(plan.requested)} if plan.requested else None
        return result
    if not plan.changes and not plan.requested:
        return result
    waiting = None if result.is_new else waiting_request(result.vacancy)
    overrides = [(waiting.pk, name) for name in waiting.changes] if waiting else ()
    try:
        saved = target.save(result.vacancy, edit, overrides=overrides)
    except ValidationError as error:
        raise _refusal([*_reasons(error)]) from error
    result.vacancy = saved.vacancy
    if saved.approval:
        result.approval = {"id": saved.approval.pk, "waiting": _keys(saved.approval.changes)}
    return result


def _without_stale_request(target: VacancyTarget, result: Result) -> Content:
    """Withdraw the waiting request of this integration if the source asks for the stored values
    again, and return what it asked for besides.
    """
    waiting = waiting_request(result.vacancy)
    if waiting is None:
        return {}
    asked = {name: result.content[name] for name in waiting.changes if name in result.content}
    differs = changed_content(waiting.changes, asked)
    stale = {name for name in differs if not changed_content(result.before, {name: asked[name]})}
    if result.closes:
        stale |= set(PUBLICATION).intersection(waiting.changes)
    if not (stale and _withdraw_own(target, result.vacancy, stale)):
        return {}
    others = waiting.changes.keys() - stale - result.content.keys()
    return {name: waiting.changes[name] for name in others}


def _withdraw_own(target: VacancyTarget, vacancy: Vacancy, names: set[str]) -> bool:
    """Withdraw the waiting request of `vacancy` if it has one of the fields `names` and nobody but
    this integration asked. Return whether it did.
    """
    waiting, user = waiting_request(vacancy), target.integration.user
    if waiting is None or names.isdisjoint(waiting.changes):
        return False
    if any(author != user for author in [waiting.submitted_by, *authors_of(waiting).values()]):
        return False
    withdraw_request(vacancy=vacancy, at=target.at, author=user)
    return True


def _refusal(faults: list[Fault]) -> RefusedError:
    codes = {each.code for each in faults}
    if UNKNOWN in codes:
        return RefusedError(400, faults)
    if codes == {MISSING_SCOPE}:
        detail = f"This token does not have the scope {IntegrationScope.RECRUITERS}."
        return RefusedError(403, faults, detail)
    return RefusedError(422, faults)


def _reasons(error: ValidationError) -> Iterable[Fault]:
    for name, texts in error.message_dict.items():
        yield Fault(_pointer(name), " ".join(texts), "blocked")


def _pointer(column: str) -> str:
    """Return the place in a body of what sets `column`."""
    if column in text_fields():
        return f"/translations/{column.removeprefix(text_field(''))}"
    return _POINTERS.get(column, f"/{column}")


def _first(pointer: str) -> str:
    """Return the key of a body that `pointer` begins with."""
    return f"{pointer}/".split("/")[1]


def _keys(content: Content) -> list[str]:
    """Return the keys of the body that set `content`, in the order of an item."""
    keys = {_first(_pointer(name)) for name in content}
    return [name for name in items.ManagedVacancySerializer.Meta.fields if name in keys]
