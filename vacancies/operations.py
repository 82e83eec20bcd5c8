"""Publication: what is in the way of it, and the decisions about it, for one vacancy or many at a time."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from vacancies.choices import Keyword
from vacancies.history.versions import (
    EXCLUDED_FIELDS,
    PUBLICATION,
    content_at,
    record,
    record_drift,
    record_publication,
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
)
from vacancies.querysets import VacancyQuerySet
from vacancies.readmodel.changes import mark_live

BATCH = 500


def end_of_day(day: date) -> datetime:
    """The start of the next day in the site's time zone (docs/decisions.md #1)."""
    return datetime.combine(day + timedelta(days=1), time.min, timezone.get_default_timezone())


def last_day(until: datetime) -> date:
    """The day in which the last moment before `until` lies; the inverse of `end_of_day`."""
    # In UTC, because a night in which the clock jumps would otherwise lose or gain a day.
    return (until - timedelta(microseconds=1)).astimezone(timezone.get_default_timezone()).date()


def publish_blockers(*, vacancy: Vacancy, at: datetime) -> dict[str, str]:
    """Why `vacancy` cannot go out at the moment `at`, by field; empty when nothing is in the way."""
    found = vacancy.missing_to_publish()
    if not vacancy.description:
        found["description"] = _("A vacancy needs a description to be published.")
    if vacancy.publish_until and vacancy.publish_until <= at:
        found["publish_until"] = _("The closing date has passed. Choose a later date or leave it empty.")
    return found


@dataclass
class BulkResult:
    """The ids of those that a decision changed, and of the others which and why not, by field."""

    done: list[int] = field(default_factory=list)
    refused: dict[Vacancy, dict[str, str]] = field(default_factory=dict)


def publish(*, vacancies: VacancyQuerySet, at: datetime, author: Any = None) -> BulkResult:
    """Publish at the moment `at`.

    One that appeared before keeps its first moment, so that going offline for a day does not bring
    it back to the top of every list; a planned or missing moment becomes `at`.
    """
    at = at.replace(microsecond=0)  # a recruiter's moment is whole seconds: see imports.Importer.keep_order

    def decide(vacancy: Vacancy) -> dict[str, str]:
        if vacancy.state_at(at) == State.PUBLISHED:
            return {"status": _("It is already published.")}
        vacancy.status = Status.PUBLISHED
        vacancy.publish_from = min(vacancy.publish_from or at, at)
        return publish_blockers(vacancy=vacancy, at=at)

    return _decide(Change.PUBLISHED, decide, vacancies=vacancies, at=at, author=author)


def schedule(
    *, vacancies: VacancyQuerySet, publish_from: datetime, at: datetime, author: Any = None
) -> BulkResult:
    """Schedule the publication for `publish_from`."""

    def decide(vacancy: Vacancy) -> dict[str, str]:
        if vacancy.state_at(at) == State.PUBLISHED:
            return {"status": _("It is already published.")}
        if publish_from <= at:
            return {"publish_from": _("This time has passed. Publish the vacancy now instead.")}
        vacancy.status = Status.PUBLISHED
        vacancy.publish_from = publish_from
        found = publish_blockers(vacancy=vacancy, at=at)
        if vacancy.publish_until and vacancy.publish_until <= publish_from:
            found.setdefault(
                "publish_until",
                _("The vacancy would close before it goes live. Choose a later closing date."),
            )
        return found

    return _decide(Change.SCHEDULED, decide, vacancies=vacancies, at=at, author=author)


def unpublish(*, vacancies: VacancyQuerySet, at: datetime, author: Any = None) -> BulkResult:
    """Take those that are published or planned offline."""

    def decide(vacancy: Vacancy) -> dict[str, str]:
        if vacancy.status != Status.PUBLISHED:
            return {"status": _("It is not published.")}
        vacancy.status = Status.UNPUBLISHED
        return {}

    return _decide(Change.UNPUBLISHED, decide, vacancies=vacancies, at=at, author=author)


def extend(*, vacancies: VacancyQuerySet, day: date, at: datetime, author: Any = None) -> BulkResult:
    """Show them until the end of `day`. Nothing is shortened."""
    until = end_of_day(day)

    def decide(vacancy: Vacancy) -> dict[str, str]:
        if vacancy.status != Status.PUBLISHED:
            return {"status": _("It is not published.")}
        if until <= at:
            return {"publish_until": _("This day has passed.")}
        if vacancy.publish_until is None:
            return {"publish_until": _("It has no closing date.")}
        if until <= vacancy.publish_until:
            return {"publish_until": _("It is already public until then or longer.")}
        vacancy.publish_until = until
        return publish_blockers(vacancy=vacancy, at=at)

    return _decide(Change.EXTENDED, decide, vacancies=vacancies, at=at, author=author)


def archive(*, vacancies: VacancyQuerySet, at: datetime, author: Any = None) -> BulkResult:
    """Put away what is not shown any more."""

    def decide(vacancy: Vacancy) -> dict[str, str]:
        if vacancy.status == Status.ARCHIVED:
            return {"status": _("It is already archived.")}
        if vacancy.state_at(at) in (State.PUBLISHED, State.SCHEDULED):
            return {"status": _("It is published or scheduled. Unpublish it first.")}
        vacancy.status = Status.ARCHIVED
        return {}

    return _decide(Change.ARCHIVED, decide, vacancies=vacancies, at=at, author=author)


def _decide(
    change: Change,
    decide: Callable[[Vacancy], dict[str, str]],
    *,
    vacancies: VacancyQuerySet,
    at: datetime,
    author: Any,
) -> BulkResult:
    """Let `decide` change each of `vacancies` or say why not; write and put on record what changed, all
    or nothing."""
    outcome = BulkResult()
    with transaction.atomic():
        ready = []
        for vacancy in vacancies.without_texts().order_by("pk").select_for_update(of=("self",)):
            if reasons := decide(vacancy):
                outcome.refused[vacancy] = reasons
                continue
            vacancy.updated_at = at
            ready.append(vacancy)
        Vacancy.objects.bulk_update(ready, [*PUBLICATION, "updated_at"], batch_size=BATCH)
        record_publication(ready, change, author=author, at=at)
        outcome.done = [vacancy.pk for vacancy in ready]
        if change == Change.PUBLISHED:
            mark_live(outcome.done, at=at)
    return outcome


def duplicate(*, vacancy: Vacancy, at: datetime, author: Any = None) -> Vacancy:
    """Return a new draft with the content of `vacancy`, and without its dates."""
    with transaction.atomic():
        # Locked, so that its texts and its parts are those of one save.
        copy = Vacancy.objects.select_for_update().get(pk=vacancy.pk)
        copy.pk, copy._state.adding = None, True
        copy.title = _("Copy of %(title)s") % {"title": vacancy.title}
        copy.title = copy.title[: Vacancy._meta.get_field("title").max_length]
        copy.status, copy.publish_from, copy.publish_until = Status.DRAFT, None, None
        copy.created_at = copy.updated_at = at
        copy.save()
        parts: tuple[Any, ...] = (VacancyOption, VacancyRecruiter, Attachment)
        for model in parts:
            rows = list(model.objects.filter(vacancy=vacancy))
            for row in rows:
                row.pk, row.vacancy = None, copy
            model.objects.bulk_create(rows)
        record(copy, Change.DUPLICATED, author=author, at=at)
    return copy


def save_options(*, vacancy: Vacancy, keyword: Keyword, pks: Iterable[int]) -> None:
    """Let `vacancy` carry exactly the options `pks` of the filter `keyword`, in this order."""
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
    version: Version, *, author: Any, at: datetime, forms: QuerySet | None = None
) -> tuple[Vacancy, list[str]]:
    """Let the vacancy say again what it said after `version`, and return it with the names of what is
    gone since and stays away. When, to whom and for which brand it shows stays as it is; one that was
    deleted comes back as a draft. A form that is not among `forms`, where those are given, counts as gone.
    Raises a ValidationError where what shows could not go out like that."""
    wanted = content_at(version)
    with transaction.atomic():
        # Locked, because of one that was deleted there is nothing else that two could wait for.
        list(Version.objects.select_for_update().filter(vacancy=version.vacancy_id).values_list("pk"))
        vacancy = Vacancy.objects.select_for_update().filter(pk=version.vacancy_id).first()
        if vacancy is None:
            brand = wanted["brand"] and Brand.objects.filter(pk=wanted["brand"][0]).first()
            vacancy = Vacancy(pk=version.vacancy_id, created_at=at, audience=wanted["audience"], brand=brand)
            gone = [wanted["brand"][1]] if wanted["brand"] and not brand else []
        else:
            record_drift(vacancy, at=at)
            gone = []
        vacancy.updated_at = at
        gone += _apply(vacancy, wanted, at=at, forms=forms)
        record(vacancy, Change.RESTORED, author=author, at=at)
    return vacancy, gone


def _apply(vacancy: Vacancy, wanted: Mapping[str, Any], *, at: datetime, forms: QuerySet | None) -> list[str]:
    """Save the values `wanted`; return the names of what they point to that is gone."""
    gone: list[str] = []

    def there(model: Any, pairs: Iterable[tuple[int, str]]) -> list[int]:
        """The ids among `pairs` of rows that still are."""
        pairs = list(pairs)
        rows = forms if forms is not None and model is forms.model else model._default_manager.all()
        found = set(rows.filter(pk__in=[pk for pk, _ in pairs]).values_list("pk", flat=True))
        gone.extend(name for pk, name in pairs if pk not in found)
        return [pk for pk, _ in pairs if pk in found]

    for column in Vacancy._meta.concrete_fields:
        if column.name in EXCLUDED_FIELDS or column.name not in wanted:
            continue
        value = wanted[column.name]
        if column.is_relation:
            value = next(iter(there(column.related_model, [value] if value else [])), None)
        setattr(vacancy, column.attname, value)
    reasons: dict[str, str] = {}
    if vacancy.state_at(at) in (State.PUBLISHED, State.SCHEDULED):
        reasons = publish_blockers(vacancy=vacancy, at=at)
    elif vacancy.status == Status.PUBLISHED:  # one that ended needs no text, and a head as ever
        reasons = vacancy.missing_to_publish()
    if reasons:
        raise ValidationError(list(reasons.values()))
    vacancy.save()
    for keyword in Keyword:
        if keyword.value in wanted:
            save_options(vacancy=vacancy, keyword=keyword, pks=there(FilterOption, wanted[keyword.value]))
    if "recruiters" in wanted:
        vacancy.recruiter_links.all().delete()
        pks = there(vacancy.recruiters.model, wanted["recruiters"])
        VacancyRecruiter.objects.bulk_create(
            VacancyRecruiter(vacancy=vacancy, recruiter_id=pk, position=place) for place, pk in enumerate(pks)
        )
    if "attachments" in wanted:
        vacancy.attachments.all().delete()
        Attachment.objects.bulk_create(
            Attachment(vacancy=vacancy, position=place, **row)
            for place, row in enumerate(wanted["attachments"])
        )
    return gone


def merge_options(*, into: FilterOption, others: Iterable[FilterOption]) -> int:
    """Let every vacancy that carries one of `others`, options of the same filter, carry `into` in its
    place, and delete them; return how many vacancies that were. Raises a ValidationError where `into` was
    merged or deleted meanwhile."""
    gone = [option.pk for option in others]
    with transaction.atomic():
        links = VacancyOption.objects.filter(option__in=gone)
        # Locked in the order of whoever saves a vacancy: the vacancy, then the options, at the commit. From
        # then on nobody can choose an option that is deleted below.
        carriers = Vacancy.objects.filter(pk__in=list(links.values_list("vacancy", flat=True)))
        list(carriers.order_by("pk").select_for_update().values_list("pk", flat=True))
        options = FilterOption.objects.filter(pk__in=[into.pk, *gone]).order_by("pk").select_for_update()
        if into.pk not in options.values_list("pk", flat=True):
            text = _("“%(option)s” was deleted or merged in the meantime. Nothing was changed.")
            raise ValidationError(text % {"option": into})
        vacancies = set(links.values_list("vacancy", flat=True))
        carrying = VacancyOption.objects.filter(option=into).values("vacancy")
        links.filter(vacancy__in=carrying).delete()
        kept: dict[int, int] = {}  # the first of several, in the recruiter's order
        for pk, vacancy in links.order_by("position", "pk").values_list("pk", "vacancy"):
            kept.setdefault(vacancy, pk)
        pks = list(kept.values())
        for start in range(0, len(pks), BATCH):
            VacancyOption.objects.filter(pk__in=pks[start : start + BATCH]).update(option=into)
        links.delete()
        FilterOption.objects.filter(pk__in=gone).delete()
        changed, now = sorted(vacancies), timezone.now()
        for start in range(0, len(changed), BATCH):
            Vacancy.objects.filter(pk__in=changed[start : start + BATCH]).update(updated_at=now)
    return len(vacancies)
