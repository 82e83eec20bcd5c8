"""Publication of vacancies, one by one or many at once, and duplication."""

from collections.abc import Callable
from copy import copy as shallow_copy
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from vacancies.choices import State, VacancyStatus
from vacancies.dates import end_of_day, last_day
from vacancies.history.versions import PUBLICATION, read_content, values_of
from vacancies.models import Change, Requisition, Vacancy, needs_approval
from vacancies.operations.approval_requests import needed_reason
from vacancies.operations.blockers import publish_blockers
from vacancies.operations.save import Edit, save_content, save_values
from vacancies.operations.team import copy_team
from vacancies.querysets import VacancyQuerySet


@dataclass
class BulkResult:
    """The ids of the vacancies that were changed, and the refused vacancies with the reasons by
    field. `first_version` is the id of the first version that was recorded, for `undo`; None in a
    preview.
    """

    done: list[int] = field(default_factory=list)
    refused: dict[Vacancy, dict[str, str]] = field(default_factory=dict)
    first_version: int | None = None
    notes: dict[Vacancy, str] = field(default_factory=dict)  # about changed vacancies


@dataclass(frozen=True)
class BulkChange:
    """A change of many vacancies, which the history records as `kind`. `decide` changes `fields` of
    a vacancy, or returns the reasons why not, by field.
    """

    kind: Change
    decide: Callable[[Vacancy], dict[str, str]]
    fields: tuple[str, ...] = PUBLICATION


def publish(
    *,
    vacancies: VacancyQuerySet,
    at: datetime,
    author: User | None = None,
    is_preview: bool = False,
) -> BulkResult:
    """Publish at `at`.

    A vacancy that was published before keeps its publish_from: otherwise, unpublishing it for a day
    would move it to the top of every list. A missing or future publish_from becomes `at`.
    """
    start = at.replace(microsecond=0)  # as the form and the interface show it

    def decide(vacancy: Vacancy) -> dict[str, str]:
        if vacancy.state_at(at) == State.PUBLISHED:
            return {"status": _("It is already published.")}
        vacancy.status = VacancyStatus.PUBLISHED
        vacancy.publish_from = min(vacancy.publish_from or start, start)
        return publish_blockers(vacancy=vacancy, at=at)

    return _run(
        BulkChange(Change.PUBLISHED, decide), vacancies, at=at, author=author, is_preview=is_preview
    )


def schedule(
    *,
    vacancies: VacancyQuerySet,
    publish_from: datetime,
    at: datetime,
    author: User | None = None,
    is_preview: bool = False,
) -> BulkResult:
    """Schedule the publication for `publish_from`."""

    def decide(vacancy: Vacancy) -> dict[str, str]:
        if vacancy.state_at(at) == State.PUBLISHED:
            return {"status": _("It is already published.")}
        if publish_from <= at:
            return {"publish_from": _("This time has passed. Publish the vacancy now instead.")}
        vacancy.status = VacancyStatus.PUBLISHED
        vacancy.publish_from = publish_from
        return publish_blockers(vacancy=vacancy, at=at)

    return _run(
        BulkChange(Change.SCHEDULED, decide), vacancies, at=at, author=author, is_preview=is_preview
    )


def unpublish(
    *,
    vacancies: VacancyQuerySet,
    at: datetime,
    author: User | None = None,
    is_preview: bool = False,
) -> BulkResult:
    """Unpublish vacancies that are published or scheduled."""

    def decide(vacancy: Vacancy) -> dict[str, str]:
        if vacancy.status != VacancyStatus.PUBLISHED:
            return {"status": _("It is not published.")}
        vacancy.status = VacancyStatus.UNPUBLISHED
        return {}

    return _run(
        BulkChange(Change.UNPUBLISHED, decide),
        vacancies,
        at=at,
        author=author,
        is_preview=is_preview,
    )


def extended_day(until: datetime, weeks: int, *, at: datetime) -> date:
    """Return the last day of a publication until `until` that is extended by `weeks`."""
    today = timezone.localtime(at, timezone.get_default_timezone()).date()
    return max(last_day(until), today) + timedelta(weeks=weeks)


def extend(
    *,
    vacancies: VacancyQuerySet,
    at: datetime,
    day: date | None = None,
    weeks: int = 0,
    author: User | None = None,
    is_preview: bool = False,
) -> BulkResult:
    """Extend the publication to the end of `day`, or by `weeks` from the closing date of each
    vacancy, or from the day of `at` if that is later. A publication is never shortened.
    """

    def decide(vacancy: Vacancy) -> dict[str, str]:
        if vacancy.status != VacancyStatus.PUBLISHED:
            return {"status": _("It is not published.")}
        if day and end_of_day(day) <= at:
            return {"publish_until": _("This day has passed.")}
        if vacancy.publish_until is None:
            return {"publish_until": _("It has no closing date.")}
        until = end_of_day(day or extended_day(vacancy.publish_until, weeks, at=at))
        if until <= vacancy.publish_until:
            return {"publish_until": _("It is already public until then or longer.")}
        vacancy.publish_until = until
        return publish_blockers(vacancy=vacancy, at=at)

    return _run(
        BulkChange(Change.EXTENDED, decide), vacancies, at=at, author=author, is_preview=is_preview
    )


def archive(
    *,
    vacancies: VacancyQuerySet,
    at: datetime,
    author: User | None = None,
    is_preview: bool = False,
) -> BulkResult:
    """Archive vacancies that are not published or scheduled."""

    def decide(vacancy: Vacancy) -> dict[str, str]:
        if vacancy.status == VacancyStatus.ARCHIVED:
            return {"status": _("It is already archived.")}
        if vacancy.state_at(at) in (State.PUBLISHED, State.SCHEDULED):
            return {"status": _("It is published or scheduled. Unpublish it first.")}
        vacancy.status = VacancyStatus.ARCHIVED
        return {}

    return _run(
        BulkChange(Change.ARCHIVED, decide), vacancies, at=at, author=author, is_preview=is_preview
    )


def feature(
    *,
    vacancies: VacancyQuerySet,
    at: datetime,
    author: User | None = None,
    is_preview: bool = False,
    is_hot: bool = True,
) -> BulkResult:
    """Feature vacancies, or stop featuring them."""

    def decide(vacancy: Vacancy) -> dict[str, str]:
        if vacancy.is_hot == is_hot:
            return {"is_hot": _("It is already featured.") if is_hot else _("It is not featured.")}
        vacancy.is_hot = is_hot
        return {}

    featuring = BulkChange(Change.CHANGED, decide, fields=("is_hot",))
    return _run(featuring, vacancies, at=at, author=author, is_preview=is_preview)


def _run(
    change: BulkChange,
    vacancies: VacancyQuerySet,
    *,
    at: datetime,
    author: User | None,
    is_preview: bool,
) -> BulkResult:
    """Make `change` in each of `vacancies`, unless there is a reason not to. Save and record those
    that were changed in one transaction, unless this is a preview. What needs approval is refused.
    """
    fields = change.fields
    result = BulkResult()
    rows = vacancies.without_texts().select_related("brand").order_by("pk")
    with transaction.atomic():
        ready, before = [], []
        for vacancy in rows if is_preview else rows.select_for_update(of=("self",)):
            was, stored = values_of(vacancy, fields), shallow_copy(vacancy)
            reasons = change.decide(vacancy)
            changed = {name for name in fields if getattr(stored, name) != getattr(vacancy, name)}
            if not reasons and needs_approval(before=stored, after=vacancy, changed=changed, at=at):
                reasons = {"status": needed_reason()}
            if reasons:
                result.refused[vacancy] = reasons
                continue
            ready.append(vacancy)
            before.append(was)
        result.done = [vacancy.pk for vacancy in ready]
        if ready and not is_preview:
            result.first_version = save_values(ready, before, change.kind, author=author, at=at)[
                0
            ].pk
    return result


def duplicate(*, vacancy: Vacancy, at: datetime, author: User | None = None) -> Vacancy:
    """Return a new draft with the content of `vacancy`, without its dates, for the same client and
    team.
    """
    with transaction.atomic():
        # Locked, so that the columns and the related rows are from the same save.
        Vacancy.objects.select_for_update().only("pk").get(pk=vacancy.pk)
        title = _("Copy of %(title)s") % {"title": vacancy.title}
        wanted = read_content(vacancy) | {
            "title": title[: Vacancy._meta.get_field("title").max_length],
            "status": VacancyStatus.DRAFT.value,
            "publish_from": None,
            "publish_until": None,
            "reference": "",
        }
        copy = Vacancy(created_at=at)
        saved = save_content(
            copy, Edit(wanted), author=author, at=at, change=Change.DUPLICATED
        ).vacancy
        internal = Requisition.objects.filter(vacancy=vacancy).exclude(client="")
        for client in internal.values_list("client", flat=True):
            Requisition.objects.create(vacancy=saved, client=client, updated_at=at)
        copy_team(vacancy, saved, author=author, at=at)
        return saved
