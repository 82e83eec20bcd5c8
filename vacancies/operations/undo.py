"""Deleting vacancies, and undoing an action:
its versions say what it changed (docs/decisions.md #184).
"""

from copy import copy
from datetime import datetime, timedelta

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import models, transaction
from django.db.models import Max, QuerySet
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from jobsite.types import JsonObject
from vacancies.history.diff import field_labels
from vacancies.history.versions import (
    changed_content,
    read_content,
    record_deletion,
    replay,
    values_of,
)
from vacancies.models import Change, Vacancy, Version, needs_approval, text_fields
from vacancies.operations.approval_requests import SUBMITTED, approved_unchanged, needed_reason
from vacancies.operations.publication import BulkResult, unpublish
from vacancies.operations.restore import restore
from vacancies.operations.save import Edit, Saved, save_content, save_values, set_values
from vacancies.operations.texts import unit
from vacancies.querysets import VacancyQuerySet

UNDO_TIME = timedelta(minutes=30)
SAVES = {Change.CREATED, Change.CHANGED}  # an import has both
CHANGED_SINCE = gettext_lazy("It was changed in the meantime.")
DELETED = 1_000  # at a time: undoing a deletion restores each vacancy with its rows


def delete(
    *,
    vacancies: VacancyQuerySet,
    at: datetime,
    author: User | None = None,
    is_preview: bool = False,
) -> BulkResult:
    """Delete at most DELETED vacancies. Their last versions can be restored. A vacancy that other
    rows need, such as applications, is refused.
    """
    result = BulkResult()
    rows = vacancies.without_texts().order_by("pk")
    with transaction.atomic():
        # Locked: a concurrent save between the version and the deletion would be lost.
        found = list(rows if is_preview else rows.select_for_update(of=("self",)))
        needed = needed_reasons([vacancy.pk for vacancy in found])
        for vacancy in found:
            if vacancy.pk in needed:
                result.refused[vacancy] = {"": needed[vacancy.pk]}
            elif len(result.done) == DELETED:
                text = _("At most %(count)d vacancies can be deleted at a time.")
                result.refused[vacancy] = {"": text % {"count": DELETED}}
            else:
                result.done.append(vacancy.pk)
        if result.done and not is_preview:
            result.first_version = record_deletion(result.done, author=author, at=at)[0].pk
            Vacancy.objects.filter(pk__in=result.done).delete()
    return result


def needed_reasons(pks: list[int]) -> dict[int, str]:
    """Return why vacancies cannot be deleted, by id: rows of other tables that protect them."""
    found: dict[int, str] = {}
    for relation in Vacancy._meta.related_objects:
        if getattr(relation, "on_delete", None) is not models.PROTECT:
            continue
        name = relation.field.name
        rows = relation.related_model._base_manager.filter(**{f"{name}__in": pks})
        for pk, count in rows.order_by().values_list(name).annotate(models.Count("pk")):
            text = _("It has %(names)s (%(count)d) and cannot be deleted. Archive it instead.")
            names = relation.related_model._meta.verbose_name_plural
            found[pk] = text % {"names": names, "count": count}
    return found


def versions_of_action(first: int, *, author: User | None, at: datetime) -> QuerySet[Version]:
    """Return the versions that one action of `author` recorded; `first` is the id of the first.
    Return none if somebody else recorded it, or longer than UNDO_TIME ago.
    """
    versions: QuerySet[Version] = Version.objects.filter(author=author)
    version = versions.filter(pk=first, created_at__gt=at - UNDO_TIME).first()
    if version is None:
        return versions.none()
    changes = SAVES if version.change in SAVES else {version.change}
    return versions.filter(pk__gte=first, created_at=version.created_at, change__in=changes)


def undo_versions(
    versions: QuerySet[Version], *, author: User | None, at: datetime, forms: QuerySet | None = None
) -> BulkResult:
    """Undo what `versions`, those of one action, recorded. A vacancy that was changed since is
    refused.

    Changed values get the values from before, new vacancies are deleted, deleted vacancies are
    restored. `forms` as for `restore`. A vacancy that needs approval is published again only as it
    was approved.
    """
    result = BulkResult()
    with transaction.atomic():
        recorded = list(versions.order_by("vacancy"))
        pks = [version.vacancy_id for version in recorded]
        there = _locked(pks)
        of_vacancies = Version.objects.filter(vacancy__in=pks).order_by()
        latest = dict(of_vacancies.values_list("vacancy").annotate(Max("pk")))
        created: list[Vacancy] = []
        changed: dict[Vacancy, JsonObject] = {}
        unapproved = _unapproved(recorded, there, at=at)
        for version in recorded:
            pk = version.vacancy_id
            vacancy = there.get(pk)
            if vacancy and version.change == Change.CHANGED and version.before is None:
                _revert(version, vacancy, result, author=author, at=at, forms=forms)
            elif latest[pk] != version.pk or _is_changed_since(version, vacancy):
                missing = Vacancy(pk=pk, title=version.content.get("title", str(pk)))
                result.refused[vacancy or missing] = {"": str(CHANGED_SINCE)}
            elif vacancy is None:
                _restore(version, result, author=author, at=at, forms=forms)
            elif version.change in (Change.CREATED, Change.DUPLICATED):
                created.append(vacancy)
            elif pk in unapproved:
                result.refused[vacancy] = {"status": needed_reason()}
            elif version.before is not None:
                changed[vacancy] = version.before
        if created:
            _delete_or_unpublish(created, result, author=author, at=at)
        if changed:
            _write(changed, result, author=author, at=at)
    return result


def _locked(pks: list[int]) -> dict[int, Vacancy]:
    """Return the vacancies `pks` that there are, by id, and lock them."""
    rows = Vacancy.objects.filter(pk__in=pks).without_texts().select_related("brand")
    return {row.pk: row for row in rows.order_by("pk").select_for_update(of=("self",))}


def _is_changed_since(version: Version, vacancy: Vacancy | None) -> bool:
    """Whether `vacancy`, None if there is none, is not as `version`, its latest, left it."""
    if vacancy is None:
        return version.change != Change.DELETED
    return version.change == Change.DELETED or vacancy.updated_at != version.created_at


def _write(
    changed: dict[Vacancy, JsonObject], result: BulkResult, *, author: User | None, at: datetime
) -> None:
    """Write the plain values from before."""
    before = [values_of(vacancy, values) for vacancy, values in changed.items()]
    for vacancy, values in changed.items():
        set_values(vacancy, values)
    save_values(list(changed), before, Change.RESTORED, author=author, at=at)
    result.done += [vacancy.pk for vacancy in changed]


def _delete_or_unpublish(
    created: list[Vacancy], result: BulkResult, *, author: User | None, at: datetime
) -> None:
    """Delete the new vacancies. Those that have applications meanwhile are unpublished."""
    named = Vacancy.objects.filter(pk__in=[vacancy.pk for vacancy in created])
    deleted = delete(vacancies=named, at=at, author=author)
    result.done += deleted.done
    result.refused |= deleted.refused
    kept = Vacancy.objects.filter(pk__in=[vacancy.pk for vacancy in deleted.refused])
    there = {vacancy.pk: vacancy for vacancy in created}
    for pk in unpublish(vacancies=kept, at=at, author=author).done:
        vacancy = there[pk]
        result.notes[vacancy] = f"{result.refused.pop(vacancy)['']} {_('It was unpublished.')}"


def _unapproved(recorded: list[Version], there: dict[int, Vacancy], *, at: datetime) -> set[int]:
    """Return the ids of the vacancies that the values from before would
    publish without approval.
    """
    found = set()
    for version in recorded:
        stored = there.get(version.vacancy_id)
        if stored is None or version.before is None:
            continue
        wanted = copy(stored)
        set_values(wanted, version.before)
        changed = {
            name for name in version.before if getattr(stored, name) != getattr(wanted, name)
        }
        if needs_approval(before=stored, after=wanted, changed=changed, at=at):
            found.add(stored.pk)
    return found - approved_unchanged(found) if found else found


def _revert(
    version: Version,
    vacancy: Vacancy,
    result: BulkResult,
    *,
    author: User | None,
    at: datetime,
    forms: QuerySet | None,
) -> None:
    """Write the values from before `version`, which recorded a save. What needs approval is
    submitted. What was changed since, or is not possible any more, is left out and named, so that
    the rest is undone.
    """
    before = replay(Version.objects.filter(vacancy=vacancy.pk, pk__lt=version.pk))
    before = dict.fromkeys(text_fields()) | before
    wanted = {name: before[name] for name in version.content if name in before}
    together = set(unit()) if "language" in version.content and text_fields() else set()
    now, labels = read_content(vacancy), field_labels()
    since = changed_content(version.content, {name: now[name] for name in wanted})
    left = dict.fromkeys(since, str(CHANGED_SINCE))
    while True:
        if reason := next((left[name] for name in left if name in together), ""):
            left |= dict.fromkeys(together & wanted.keys(), reason)
        if not (wanted := {name: each for name, each in wanted.items() if name not in left}):
            break
        try:
            saved = save_content(
                vacancy,
                Edit(wanted, skips_missing=True, is_undo=True, forms=forms),
                author=author,
                at=at,
                change=Change.RESTORED,
            )
        except ValidationError as error:
            failed = wanted.keys() & error.message_dict or wanted
            left |= {
                name: " ".join(error.message_dict.get(name, error.messages)) for name in failed
            }
        else:
            text = _("Not restored: %(field)s.")
            notes = [f"{text % {'field': labels[name]}} {reason}" for name, reason in left.items()]
            _done(result, saved, notes + [str(SUBMITTED)] * bool(saved.plan.requested))
            return
    result.refused[vacancy] = {"": " ".join(dict.fromkeys(left.values()))}


def _restore(
    version: Version,
    result: BulkResult,
    *,
    author: User | None,
    at: datetime,
    forms: QuerySet | None,
) -> None:
    try:
        with transaction.atomic():
            saved = restore(version, author=author, at=at, forms=forms, is_undo=True)
    except ValidationError as error:
        deleted = Vacancy(pk=version.vacancy_id, title=version.content["title"])
        result.refused[deleted] = {"": " ".join(error.messages)}
        return
    is_as_before = saved.vacancy.status == version.content["status"]
    _done(result, saved, [] if is_as_before else [needed_reason()])


def _done(result: BulkResult, saved: Saved, notes: list[str]) -> None:
    result.done.append(saved.vacancy.pk)
    if saved.plan.missing:
        text = _("Not restored because they no longer exist: %(names)s.")
        notes.append(text % {"names": ", ".join(saved.plan.missing)})
    if notes:
        result.notes[saved.vacancy] = " ".join(notes)
