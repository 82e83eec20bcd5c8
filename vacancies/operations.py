"""Changes of vacancies: publication, duplication, restoring and merging of options."""

from collections.abc import Callable, Collection, Iterable, Mapping
from copy import copy as shallow_copy
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from vacancies.approval import approved_unchanged, needed_reason
from vacancies.choices import Keyword
from vacancies.history.versions import (
    EXCLUDED_FIELDS,
    PUBLICATION,
    Content,
    content_at,
    record,
    record_drift,
    record_values,
    values_of,
)
from vacancies.models import (
    Attachment,
    Brand,
    Change,
    FilterOption,
    State,
    Status,
    Vacancy,
    VacancyOption,
    VacancyRecruiter,
    Version,
    needs_approval,
)
from vacancies.querysets import VacancyQuerySet

BATCH = 500


def end_of_day(day: date) -> datetime:
    """The start of the next day in the site's time zone (docs/decisions.md #1)."""
    return datetime.combine(day + timedelta(days=1), time.min, timezone.get_default_timezone())


def last_day(until: datetime) -> date:
    """Return the last day before `until`. The inverse of `end_of_day`."""
    # Subtracted in UTC: around a change of the clock, local arithmetic could give another day.
    return (until - timedelta(microseconds=1)).astimezone(timezone.get_default_timezone()).date()


def closing_date_passed() -> str:
    return _("The closing date has passed. Choose a later date or leave it empty.")


def closes_before_start() -> str:
    return _("The closing date is before the publication date.")


def publish_blockers(*, vacancy: Vacancy, at: datetime) -> dict[str, str]:
    """Return the reasons why `vacancy` cannot be published at `at`, by field; empty if it can."""
    found = vacancy.missing_to_publish()
    if not vacancy.description:
        found["description"] = _("A vacancy needs a description to be published.")
    if vacancy.publish_until and vacancy.publish_until <= at:
        found["publish_until"] = closing_date_passed()
    elif vacancy.publish_until and vacancy.publish_from and vacancy.publish_until <= vacancy.publish_from:
        found["publish_until"] = closes_before_start()
    return found


@dataclass
class BulkResult:
    """The ids of the vacancies that were changed, and the refused vacancies with the reasons by field.
    `first_version` is the id of the first version that was recorded, for `undo`; None in a preview."""

    done: list[int] = field(default_factory=list)
    refused: dict[Vacancy, dict[str, str]] = field(default_factory=dict)
    first_version: int | None = None
    notes: dict[Vacancy, str] = field(default_factory=dict)  # about changed vacancies


def publish(
    *, vacancies: VacancyQuerySet, at: datetime, author: Any = None, is_preview: bool = False
) -> BulkResult:
    """Publish at `at`.

    A vacancy that was published before keeps its publish_from: otherwise, unpublishing it for a day would
    move it to the top of every list. A missing or future publish_from becomes `at`.
    """
    start = at.replace(microsecond=0)  # whole seconds mark a recruiter's choice (exchange.list_order)

    def decide(vacancy: Vacancy) -> dict[str, str]:
        if vacancy.state_at(at) == State.PUBLISHED:
            return {"status": _("It is already published.")}
        vacancy.status = Status.PUBLISHED
        vacancy.publish_from = min(vacancy.publish_from or start, start)
        return publish_blockers(vacancy=vacancy, at=at)

    return _decide(Change.PUBLISHED, decide, vacancies=vacancies, at=at, author=author, is_preview=is_preview)


def schedule(
    *, vacancies: VacancyQuerySet, publish_from: datetime, at: datetime, author: Any = None,
    is_preview: bool = False,
) -> BulkResult:  # fmt: skip
    """Schedule the publication for `publish_from`."""

    def decide(vacancy: Vacancy) -> dict[str, str]:
        if vacancy.state_at(at) == State.PUBLISHED:
            return {"status": _("It is already published.")}
        if publish_from <= at:
            return {"publish_from": _("This time has passed. Publish the vacancy now instead.")}
        vacancy.status = Status.PUBLISHED
        vacancy.publish_from = publish_from
        return publish_blockers(vacancy=vacancy, at=at)

    return _decide(Change.SCHEDULED, decide, vacancies=vacancies, at=at, author=author, is_preview=is_preview)


def unpublish(
    *, vacancies: VacancyQuerySet, at: datetime, author: Any = None, is_preview: bool = False
) -> BulkResult:
    """Unpublish vacancies that are published or scheduled."""

    def decide(vacancy: Vacancy) -> dict[str, str]:
        if vacancy.status != Status.PUBLISHED:
            return {"status": _("It is not published.")}
        vacancy.status = Status.UNPUBLISHED
        return {}

    return _decide(
        Change.UNPUBLISHED, decide, vacancies=vacancies, at=at, author=author, is_preview=is_preview
    )


def extend(
    *, vacancies: VacancyQuerySet, at: datetime, day: date | None = None, weeks: int = 0, author: Any = None,
    is_preview: bool = False,
) -> BulkResult:  # fmt: skip
    """Extend the publication to the end of `day`, or by `weeks` from the closing date of each vacancy, or
    from the day of `at` if that is later. A publication is never shortened."""

    def decide(vacancy: Vacancy) -> dict[str, str]:
        if vacancy.status != Status.PUBLISHED:
            return {"status": _("It is not published.")}
        if day and end_of_day(day) <= at:
            return {"publish_until": _("This day has passed.")}
        if vacancy.publish_until is None:
            return {"publish_until": _("It has no closing date.")}
        today = timezone.localtime(at, timezone.get_default_timezone()).date()
        until = end_of_day(day or max(last_day(vacancy.publish_until), today) + timedelta(weeks=weeks))
        if until <= vacancy.publish_until:
            return {"publish_until": _("It is already public until then or longer.")}
        vacancy.publish_until = until
        return publish_blockers(vacancy=vacancy, at=at)

    return _decide(Change.EXTENDED, decide, vacancies=vacancies, at=at, author=author, is_preview=is_preview)


def archive(
    *, vacancies: VacancyQuerySet, at: datetime, author: Any = None, is_preview: bool = False
) -> BulkResult:
    """Archive vacancies that are not published or scheduled."""

    def decide(vacancy: Vacancy) -> dict[str, str]:
        if vacancy.status == Status.ARCHIVED:
            return {"status": _("It is already archived.")}
        if vacancy.state_at(at) in (State.PUBLISHED, State.SCHEDULED):
            return {"status": _("It is published or scheduled. Unpublish it first.")}
        vacancy.status = Status.ARCHIVED
        return {}

    return _decide(Change.ARCHIVED, decide, vacancies=vacancies, at=at, author=author, is_preview=is_preview)


def feature(
    *, vacancies: VacancyQuerySet, at: datetime, author: Any = None, is_preview: bool = False,
    is_hot: bool = True,
) -> BulkResult:  # fmt: skip
    """Feature vacancies, or stop featuring them."""

    def decide(vacancy: Vacancy) -> dict[str, str]:
        if vacancy.is_hot == is_hot:
            return {"is_hot": _("It is already featured.") if is_hot else _("It is not featured.")}
        vacancy.is_hot = is_hot
        return {}

    return _decide(
        Change.CHANGED, decide, vacancies=vacancies, at=at, author=author, is_preview=is_preview,
        fields=["is_hot"],
    )  # fmt: skip


def _decide(
    change: Change,
    decide: Callable[[Vacancy], dict[str, str]],
    *,
    vacancies: VacancyQuerySet,
    at: datetime,
    author: Any,
    is_preview: bool,
    fields: Iterable[str] = PUBLICATION,
) -> BulkResult:
    """Call `decide`, which changes `fields` of a vacancy or returns the reasons why not, for each of
    `vacancies`. Save and record the changed ones in one transaction, unless this is a preview. What needs
    approval is refused."""
    result = BulkResult()
    rows = vacancies.without_texts().select_related("brand").order_by("pk")
    with transaction.atomic():
        ready, before = [], []
        for vacancy in rows if is_preview else rows.select_for_update(of=("self",)):
            was, stored = values_of(vacancy, fields), shallow_copy(vacancy)
            reasons = decide(vacancy)
            changed = {name for name in fields if getattr(stored, name) != getattr(vacancy, name)}
            if not reasons and needs_approval(before=stored, after=vacancy, changed=changed, at=at):
                reasons = {"status": needed_reason()}
            if reasons:
                result.refused[vacancy] = reasons
                continue
            vacancy.updated_at = at
            ready.append(vacancy)
            before.append(was)
        result.done = [vacancy.pk for vacancy in ready]
        if ready and not is_preview:
            save_changed(ready, before, at=at)
            versions = record_values(ready, before, change, author=author, at=at)
            result.first_version = versions[0].pk
    return result


def save_changed(vacancies: Iterable[Vacancy], before: Iterable[Content], *, at: datetime) -> None:
    """Save what differs from `before`, the `values_of` of each of `vacancies`. One query per combination of
    values: `bulk_update` needs ten times as much CPU for 10,000 rows."""
    groups: dict[tuple[tuple[str, Any], ...], list[int]] = {}
    for vacancy, was in zip(vacancies, before, strict=True):
        now = values_of(vacancy, was)
        changed = tuple((name, getattr(vacancy, name)) for name in was if was[name] != now[name])
        groups.setdefault(changed, []).append(vacancy.pk)
    for changed, pks in groups.items():
        for start in range(0, len(pks), BATCH):
            rows = Vacancy.objects.filter(pk__in=pks[start : start + BATCH])
            rows.update(**dict(changed), updated_at=at)


def duplicate(*, vacancy: Vacancy, at: datetime, author: Any = None) -> Vacancy:
    """Return a new draft with the content of `vacancy`, without its dates."""
    with transaction.atomic():
        # Locked, so that the columns and the related rows are from the same save.
        copy = Vacancy.objects.select_for_update().get(pk=vacancy.pk)
        copy.pk, copy._state.adding = None, True
        copy.title = _("Copy of %(title)s") % {"title": vacancy.title}
        copy.title = copy.title[: Vacancy._meta.get_field("title").max_length]
        copy.status, copy.publish_from, copy.publish_until = Status.DRAFT, None, None
        copy.created_at = copy.updated_at = at
        copy.save()
        child_tables: tuple[Any, ...] = (VacancyOption, VacancyRecruiter, Attachment)
        for model in child_tables:
            rows = list(model.objects.filter(vacancy=vacancy))
            for row in rows:
                row.pk, row.vacancy = None, copy
            model.objects.bulk_create(rows)
        record(copy, Change.DUPLICATED, author=author, at=at)
    return copy


def save_options(*, vacancy: Vacancy, keyword: Keyword, pks: Iterable[int]) -> None:
    """Set the options of `vacancy` in the filter `keyword` to `pks`, in this order."""
    pks = list(pks)
    links = VacancyOption.objects.filter(vacancy=vacancy, option__filter__keyword=keyword)
    links.exclude(option__in=pks).delete()
    VacancyOption.objects.bulk_create(
        [VacancyOption(vacancy=vacancy, option_id=pk, position=position) for position, pk in enumerate(pks)],
        update_conflicts=True,
        unique_fields=["vacancy", "option"],
        update_fields=["position"],
    )


def restore(
    version: Version, *, author: Any, at: datetime, forms: QuerySet | None = None, is_undo: bool = False
) -> tuple[Vacancy, list[str]]:
    """Restore the content of the vacancy after `version`. Return the vacancy and the names of related rows
    that no longer exist.

    The fields of EXCLUDED_FIELDS do not change. A deleted vacancy becomes a draft, unless `is_undo`: then it
    is published as before, if that needs no new approval. If `forms` is given, a form that is not among them
    counts as missing. Raise ValidationError if the vacancy is published or scheduled and the restored content
    could not be published, or needs approval.
    """
    wanted = content_at(version)
    with transaction.atomic():
        # A deleted vacancy has no row to lock: lock its versions, so that two restores wait for each other.
        list(Version.objects.select_for_update().filter(vacancy=version.vacancy_id).values_list("pk"))
        vacancy = Vacancy.objects.select_for_update().filter(pk=version.vacancy_id).first()
        if vacancy is None:
            brand = wanted["brand"] and Brand.objects.filter(pk=wanted["brand"][0]).first()
            vacancy = Vacancy(pk=version.vacancy_id, created_at=at, audience=wanted["audience"], brand=brand)
            missing = [wanted["brand"][1]] if wanted["brand"] and not brand else []
            if is_undo:
                as_draft = values_of(vacancy, PUBLICATION)
                set_values(vacancy, {name: wanted[name] for name in PUBLICATION})
                is_new = needs_approval(before=None, after=vacancy, at=at)
                if is_new and not approved_unchanged([version.vacancy_id]):
                    set_values(vacancy, as_draft)
        else:
            if needs_approval(before=vacancy, after=vacancy, changed=wanted, at=at):
                raise ValidationError(needed_reason())
            record_drift(vacancy, at=at)
            missing = []
        vacancy.updated_at = at
        missing += apply_content(vacancy, wanted, at=at, forms=forms)
        record(vacancy, Change.RESTORED, author=author, at=at)
    return vacancy, missing


def set_values(vacancy: Vacancy, values: Mapping[str, Any]) -> None:
    """Set plain fields of `vacancy` to JSON values. The inverse of `values_of`."""
    for name, value in values.items():
        field: Any = Vacancy._meta.get_field(name)
        setattr(vacancy, name, field.to_python(value))


def apply_content(
    vacancy: Vacancy,
    wanted: Mapping[str, Any],
    *,
    at: datetime,
    forms: QuerySet | None = None,
    excluded: Collection[str] = EXCLUDED_FIELDS,
) -> list[str]:
    """Save the values `wanted`, except `excluded`. Return the names of related rows that no longer exist."""
    missing: list[str] = []

    def existing(model: Any, pairs: Iterable[tuple[int, str]]) -> list[int]:
        """Return the ids among `pairs` whose rows exist, and add the names of the others to `missing`."""
        pairs = list(pairs)
        rows = forms if forms is not None and model is forms.model else model._default_manager.all()
        found = set(rows.filter(pk__in=[pk for pk, _ in pairs]).values_list("pk", flat=True))
        missing.extend(name for pk, name in pairs if pk not in found)
        return [pk for pk, _ in pairs if pk in found]

    for column in Vacancy._meta.concrete_fields:
        if column.name in excluded or column.name not in wanted:
            continue
        value = wanted[column.name]
        if column.is_relation:
            value = next(iter(existing(column.related_model, [value] if value else [])), None)
        else:
            value = column.to_python(value)
        setattr(vacancy, column.attname, value)
    reasons: dict[str, str] = {}
    if vacancy.state_at(at) in (State.PUBLISHED, State.SCHEDULED):
        reasons = publish_blockers(vacancy=vacancy, at=at)
    elif vacancy.status == Status.PUBLISHED:  # an expired one needs no description, but a head recruiter
        reasons = vacancy.missing_to_publish()
    if reasons:
        raise ValidationError(list(reasons.values()))
    vacancy.save()
    for keyword in Keyword:
        if keyword.value in wanted:
            save_options(vacancy=vacancy, keyword=keyword, pks=existing(FilterOption, wanted[keyword.value]))
    if "recruiters" in wanted:
        vacancy.recruiter_links.all().delete()
        pks = existing(vacancy.recruiters.model, wanted["recruiters"])
        VacancyRecruiter.objects.bulk_create(
            VacancyRecruiter(vacancy=vacancy, recruiter_id=pk, position=place) for place, pk in enumerate(pks)
        )
    if "attachments" in wanted:
        vacancy.attachments.all().delete()
        Attachment.objects.bulk_create(
            Attachment(vacancy=vacancy, position=place, **row)
            for place, row in enumerate(wanted["attachments"])
        )
    return missing


def merge_options(*, into: FilterOption, others: Iterable[FilterOption]) -> int:
    """Replace `others`, options of the same filter, by `into` on every vacancy, and delete them. Return the
    number of vacancies that changed. Raise ValidationError if `into` was deleted or merged meanwhile."""
    merged = [option.pk for option in others]
    with transaction.atomic():
        links = VacancyOption.objects.filter(option__in=merged)
        # Locked in the same order as by a save of a vacancy, to avoid deadlocks: the vacancies, then the
        # options. From here on, nobody can choose an option that is deleted below.
        vacancies_with_option = Vacancy.objects.filter(pk__in=list(links.values_list("vacancy", flat=True)))
        list(vacancies_with_option.order_by("pk").select_for_update().values_list("pk", flat=True))
        options = FilterOption.objects.filter(pk__in=[into.pk, *merged]).order_by("pk").select_for_update()
        if into.pk not in options.values_list("pk", flat=True):
            text = _("“%(option)s” was deleted or merged in the meantime. Nothing was changed.")
            raise ValidationError(text % {"option": into})
        vacancies = set(links.values_list("vacancy", flat=True))
        carrying = VacancyOption.objects.filter(option=into).values("vacancy")
        links.filter(vacancy__in=carrying).delete()
        first: dict[int, int] = {}  # link by vacancy: the first one, if it has several of `others`
        for pk, vacancy in links.order_by("position", "pk").values_list("pk", "vacancy"):
            first.setdefault(vacancy, pk)
        pks = list(first.values())
        for start in range(0, len(pks), BATCH):
            VacancyOption.objects.filter(pk__in=pks[start : start + BATCH]).update(option=into)
        links.delete()
        FilterOption.objects.filter(pk__in=merged).delete()
        changed, now = sorted(vacancies), timezone.now()
        for start in range(0, len(changed), BATCH):
            Vacancy.objects.filter(pk__in=changed[start : start + BATCH]).update(updated_at=now)
    return len(vacancies)
