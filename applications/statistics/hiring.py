"""Counts what became of applications: first answers, hires, and the stages that they reached.

Each run computes the facts of the applications that changed, subtracts what was counted of them
before, and adds the new facts. So an undone move is subtracted, and what was counted of an
application remains when it is deleted.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import date, datetime, timedelta

from django.db import connection, models, transaction
from django.db.models import Max, Min

from applications.models import (
    Application,
    CountedApplication,
    DailyHiring,
    Message,
    MonthlyStages,
    Stage,
    StageChange,
    without_undone,
)
from applications.statistics.received import ADDED, IMPORTED, OTHER, SOURCE, common_sources
from jobsite.days import start_of_day
from jobsite.db.locks import lock_transaction
from vacancies.statistics.recording import BACKFILL, DAY, day_of

BATCH = 500  # applications of a transaction
# Emails that answer an applicant: no receipt, notice, question for consent or confirmation.
ANSWERS = (
    Message.Kind.TEMPLATE,
    Message.Kind.STAGE,
    Message.Kind.INTERVIEW,
    Message.Kind.REMINDER,
)
ANSWERED_IN, HIRED_IN = (1, 3, 7, 14), (14, 30, 60, 90)  # days
OVERLAP = timedelta(days=1)  # a transaction commits later than the times that it writes

Sums = defaultdict[tuple, list[int]]


@dataclass(frozen=True)
class Facts:
    """What the statistics know of an application. `answered` and `hired` are days since it was
    received, `steps` the (id, reason, days) of `MonthlyStages`.
    """

    received: str  # the day, as in ISO 8601
    brand: int | None
    vacancy: int
    source: str
    answered: int | None
    hired: int | None
    steps: Sequence[Sequence[int]]


def record(*, since: date | None, at: datetime) -> int:
    """Count what happened until `at`. `since` is the day of the last run; None: there was none.
    Return the number of applications whose facts changed.
    """
    stages, common = list(Stage.objects.all()), set(common_sources())
    found = sorted(_candidates(since, at=at))
    return sum(
        _count(found[start : start + BATCH], stages, common, at=at)
        for start in range(0, len(found), BATCH)
    )


def _candidates(since: date | None, *, at: datetime) -> set[int]:
    """Return the ids of the applications that are not counted yet or may have changed."""
    first = start_of_day(day_of(at) - (BACKFILL - 1) * DAY)
    rows = Application.objects.filter(created_at__gte=first, created_at__lte=at).order_by()
    found = set(rows.filter(counted=None).values_list("pk", flat=True))
    if since is None:
        return found
    start = start_of_day(since) - OVERLAP
    embargo = Stage.objects.aggregate(days=Max("embargo_days"))["days"] or 0
    sent = Message.objects.filter(state=Message.State.SENT, finished_at__gte=start)
    renamed = rows.filter(counted__source=OTHER, submission__source__in=common_sources())
    found.update(renamed.values_list("pk", flat=True))
    found.update(rows.filter(updated_at__gte=start - embargo * DAY).values_list("pk", flat=True))
    found.update(rows.filter(pk__in=sent.values("application")).values_list("pk", flat=True))
    return found


def _count(pks: Sequence[int], stages: list[Stage], common: set[str], *, at: datetime) -> int:
    """Count the applications `pks` again. Return how many changed."""
    with transaction.atomic():
        lock_transaction("statistics of hiring")
        # Who deletes an application waits until it is counted.
        locked = Application.objects.filter(pk__in=pks).order_by("pk").select_for_update()
        pks = list(locked.values_list("pk", flat=True))
        before = CountedApplication.objects.in_bulk(pks)
        changed = []
        daily: Sums = defaultdict(lambda: [0] * 12)
        monthly: Sums = defaultdict(lambda: [0, 0])
        for pk, facts in _facts(pks, stages, common, at=at):
            now, known = asdict(facts), before.get(pk)
            if known and known.facts == now:
                continue
            for each, sign in ((known and Facts(**known.facts), -1), (facts, 1)):
                if each:
                    _add_day(daily, each, sign)
                    _add_steps(monthly, each, sign)
            changed.append(CountedApplication(application_id=pk, source=facts.source, facts=now))
        CountedApplication.objects.bulk_create(
            changed,
            update_conflicts=True,
            unique_fields=["application"],
            update_fields=["source", "facts"],
        )
        _write(DailyHiring, daily)
        _write(MonthlyStages, monthly)
    return len(changed)


def _facts(
    pks: Sequence[int], stages: list[Stage], common: set[str], *, at: datetime
) -> Iterator[tuple[int, Facts]]:
    emails = Message.objects.filter(
        application__in=pks,
        recipient=None,
        kind__in=ANSWERS,
        state=Message.State.SENT,
        finished_at__lte=at,
    )
    answers = dict(emails.order_by().values_list("application").annotate(first=Min("finished_at")))
    by_application: dict[int, list[StageChange]] = defaultdict(list)
    changes = StageChange.objects.filter(application__in=pks, at__lte=at).select_related("stage")
    for change in changes.order_by("at", "pk"):
        by_application[change.application_id].append(change)
    rows = Application.objects.filter(pk__in=pks).values_list(
        "pk", "created_at", "vacancy__brand", "vacancy", SOURCE
    )
    for pk, created_at, brand, vacancy, source in rows:
        is_named = not source or source in common or source.startswith(ADDED)
        history = History(created_at, without_undone(by_application[pk]))
        yield (
            pk,
            Facts(
                received=day_of(created_at).isoformat(),
                brand=brand,
                vacancy=vacancy,
                source=source if is_named else OTHER,
                answered=(answered := history.answered(answers.get(pk), at=at)),
                hired=history.hired(),
                steps=history.steps(stages, answered),
            ),
        )


@dataclass(frozen=True)
class History:
    """The stage changes of an application that were not undone, in their order."""

    created_at: datetime
    changes: list[StageChange]

    def days(self, at: datetime) -> int:
        return max((day_of(at) - day_of(self.created_at)).days, 0)

    def answered(self, emailed_at: datetime | None, *, at: datetime) -> int | None:
        """The first email, or the first other status that the applicant sees. A withdrawal is the
        applicant's own act.
        """
        times = [emailed_at] if emailed_at else []
        for change in self.changes[1:]:
            is_other = change.stage.status_id != self.changes[0].stage.status_id
            if is_other and change.stage.kind != Stage.Kind.WITHDRAWN and change.visible_at <= at:
                times.append(change.visible_at)
        return self.days(min(times)) if times else None

    def hired(self) -> int | None:
        for change in self.changes:
            if change.stage.kind == Stage.Kind.HIRED:
                return self.days(change.at)
        return None

    def steps(self, stages: list[Stage], answered: int | None) -> list[list[int]]:
        """The steps that were reached: a stage in progress or of hiring is also reached by who
        skips it. A result that refuses counts while it is the current stage.
        """
        found = [[MonthlyStages.RECEIVED, 0, 0]]
        if answered is not None:
            found.append([MonthlyStages.ANSWERED, 0, answered])
        on_the_way = [s.pk for s in stages if s.kind in (Stage.Kind.OPEN, Stage.Kind.HIRED)]
        reached = [
            (on_the_way.index(c.stage_id), c.at) for c in self.changes if c.stage_id in on_the_way
        ]
        for number, stage in enumerate(on_the_way):
            if times := [at for index, at in reached if index >= number]:
                found.append([stage, 0, self.days(min(times))])
        if self.changes and (last := self.changes[-1]).stage_id not in on_the_way:
            found.append([last.stage_id, last.reason_id or 0, self.days(last.at)])
        return found


def _add_day(daily: Sums, facts: Facts, sign: int) -> None:
    if facts.source == IMPORTED:
        return
    received = date.fromisoformat(facts.received)
    for offset, days, limits in ((0, facts.answered, ANSWERED_IN), (6, facts.hired, HIRED_IN)):
        if days is not None:
            row = daily[received + days * DAY, facts.brand]
            for column, number in enumerate((1, days, *(int(days <= limit) for limit in limits))):
                row[offset + column] += sign * number


def _add_steps(monthly: Sums, facts: Facts, sign: int) -> None:
    month = date.fromisoformat(facts.received).replace(day=1)
    for step, reason, days in facts.steps:
        row = monthly[month, facts.brand, facts.vacancy, step, reason, facts.source]
        row[0] += sign
        row[1] += sign * days


def _write(model: type[models.Model], sums: Mapping[tuple, list[int]]) -> None:
    """Add `sums` to the rows of `model`, by the columns before those of the numbers."""
    quote = connection.ops.quote_name
    columns = [quote(field.column) for field in model._meta.concrete_fields[1:] if field.column]
    rows = [
        (connection.ops.adapt_datefield_value(key[0]), *key[1:], *numbers)
        for key, numbers in sorted(sums.items(), key=repr)
        if any(numbers)
    ]
    if not rows:
        return
    size = len(columns) - len(next(iter(sums.values())))
    brand, table = quote("brand_id"), quote(model._meta.db_table)
    target = ", ".join(f"COALESCE({name}, 0)" if name == brand else name for name in columns[:size])
    added = ", ".join(f"{name} = {table}.{name} + excluded.{name}" for name in columns[size:])
    values = ", ".join([f"({', '.join(['%s'] * len(columns))})"] * len(rows))
    with connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO {table} ({', '.join(columns)}) VALUES {values} "
            f"ON CONFLICT ({target}) DO UPDATE SET {added}",
            [value for row in rows for value in row],
        )
