"""The tables of what became of applications: answers, hires, stages, and positions to fill.

Each states the rule of its figures: those of other products differ, and cannot be compared.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from django.db.models import Count, Exists, OuterRef, Q, Subquery, Sum
from django.db.models.functions import Coalesce
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import ngettext, pgettext

from applications.models import Application, DailyHiring, MonthlyStages, Reason, Stage
from applications.statistics.hiring import ANSWERED_IN, HIRED_IN
from jobsite.admin.charts import bar_chart
from jobsite.days import start_of_day
from jobsite.office.reporting.tables import (
    MAX_BARS,
    Makers,
    ReportTable,
    Scope,
    counted,
    source_name,
    titles_of,
)
from jobsite.spreadsheets.writing import Cell
from vacancies.access.brands import scope_to_brands
from vacancies.dates import end_of_day
from vacancies.models import Change, DailyVisits, StatisticsQuerySet, Vacancy, Version
from vacancies.statistics.recording import day_of

MAX_POSITIONS = 5_000  # vacancies in the table of open positions, the oldest first


def first_answers(scope: Scope) -> ReportTable:
    note = _(
        "The first answer is the first email to the applicant after the receipt, or the first "
        "other status that the applicant sees. Counted on the day of the answer, in calendar days "
        "since the application was received. Imported applications are left out."
    )
    title = _("Time to first answer")
    return _within(scope, "first-answer", title, ("answered", "days_to_answer", ANSWERED_IN), note)


def hires(scope: Scope) -> ReportTable:
    note = _(
        "From the application to the move to a stage that hires, unless the move was undone. "
        "Counted on the day of the move, in calendar days. Imported applications are left out."
    )
    return _within(scope, "hires", _("Time to hire"), ("hired", "days_to_hire", HIRED_IN), note)


def _within(
    scope: Scope, code: str, title: str, columns: tuple[str, str, tuple[int, ...]], note: str
) -> ReportTable:
    """Return how many happened within each number of days, of all."""
    name, days, limits = columns
    rows = scope.rows(DailyHiring).filter(day__gte=scope.days.first, day__lte=scope.days.last)
    names = [name, days, *(f"{name}_in_{limit}" for limit in limits)]
    sums = rows.aggregate(**{f"sum_{each}": Coalesce(Sum(each), 0) for each in names})
    total = sums[f"sum_{name}"]
    if not total:
        return ReportTable(code, title, [], [])
    bars = [
        (ngettext("within %d day", "within %d days", limit) % limit, sums[f"sum_{name}_in_{limit}"])
        for limit in limits
    ]
    bars.append((pgettext("any number of days", "all"), total))
    average = _("On average: %(days)s days.") % {"days": round(sums[f"sum_{days}"] / total, 1)}
    return ReportTable(
        code,
        title,
        [pgettext("until something happens", "Time"), _("Applications"), _("Share (%)")],
        [[label, number, percent(number, total)] for label, number in bars],
        bar_chart(bars),
        note=f"{average} {note}",
    )


def percent(part: int, whole: int) -> Cell:
    return round(100 * part / whole, 1) if whole else ""


@dataclass
class Reached:
    """How many applications of a group reached a step, and after how many days, added up."""

    number: int = 0
    days: int = 0

    @property
    def average(self) -> Cell:
        return round(self.days / self.number, 1) if self.number else ""


Steps = defaultdict[int, Reached]


def steps_by(scope: Scope, *columns: str) -> dict[tuple, Steps]:
    """Return the steps that the applications of the months of the period reached, by `columns`."""
    found: dict[tuple, Steps] = defaultdict(lambda: defaultdict(Reached))
    sums = _of_months(scope).values_list(*columns, "step").annotate(n=Sum("reached"), d=Sum("days"))
    for *key, step, number, days in sums.filter(n__gt=0):
        found[tuple(key)][step] = Reached(number, days)
    return found


def _of_months(scope: Scope) -> StatisticsQuerySet:
    first = scope.days.first.replace(day=1)
    return scope.rows(MonthlyStages).filter(month__gte=first, month__lte=scope.days.last).order_by()


def _vacancies(scope: Scope) -> Any:
    rows: Any = Vacancy.objects.editable_by(scope.user)
    return rows.filter(brand=scope.brand) if scope.brand else rows


def month(day: date) -> str:
    return date_format(day, pgettext("a month in Django's letters", "F Y"))


def _months(scope: Scope) -> str:
    """Return which months a table is about."""
    names = [month(scope.days.first), month(scope.days.last)]
    if names[0] == names[1]:
        return _("Applications received in %(month)s.") % {"month": names[0]}
    return _("Applications received from %(first)s until %(last)s.") % {
        "first": names[0],
        "last": names[1],
    }


def stages(scope: Scope) -> ReportTable:
    """The stages that applications reached, and of how many of those of the stage before."""
    all_steps = steps_by(scope).get((), defaultdict(Reached))
    received = all_steps[MonthlyStages.RECEIVED].number
    rows: list[list[Cell]] = []
    before = received
    for step, name in _named_steps():
        reached = all_steps[step]
        if not reached.number:
            continue
        share = "" if name.is_refusal or step <= 0 else percent(reached.number, before)
        days = "" if step == MonthlyStages.RECEIVED else reached.average
        rows.append([name.label, reached.number, percent(reached.number, received), share, days])
        if step > 0 and not name.is_refusal:
            before = reached.number
    note = _(
        "Who skipped a stage has reached it too. Rejected and withdrawn applications count while "
        "that is their stage. Applications that were deleted since are included."
    )
    return ReportTable(
        "stages",
        _("Stages reached"),
        [
            _("Stage"),
            _("Applications"),
            _("Of those received (%)"),
            _("Of the stage before (%)"),
            _("Days until then, on average"),
        ],
        rows,
        bar_chart([(str(row[0]), float(str(row[1]))) for row in rows][:MAX_BARS]),
        note=f"{_months(scope)} {note}",
    )


@dataclass(frozen=True)
class StepName:
    label: str
    is_refusal: bool = False


def _named_steps() -> list[tuple[int, StepName]]:
    """Return the steps in their order, refusals last."""
    refusals = (Stage.Kind.REJECTED, Stage.Kind.WITHDRAWN)
    named = [
        (stage.pk, StepName(str(stage), stage.kind in refusals)) for stage in Stage.objects.all()
    ]
    return [
        (MonthlyStages.RECEIVED, StepName(_("Received"))),
        (MonthlyStages.ANSWERED, StepName(_("Answered"))),
        *sorted(named, key=lambda each: each[1].is_refusal),
    ]


def funnel(
    scope: Scope, code: str, column: str, heading: str, labels: Callable[[Collection], Mapping]
) -> ReportTable:
    """The stages reached by the groups of a `column`. `labels` returns the names of its values."""
    groups = {key: steps for (key,), steps in steps_by(scope, column).items()}
    shown = [each for each in _named_steps() if any(each[0] in steps for steps in groups.values())]
    names = labels(groups)
    received = {key: steps[MonthlyStages.RECEIVED].number for key, steps in groups.items()}
    by_time = column == "month"
    order = sorted(groups, key=lambda key: (key if by_time else -received[key], names[key]))
    rows: list[list[Cell]] = [
        [
            names[key],
            *(groups[key][step].number for step, _name in shown),
            *(groups[key][step].average for step, _name in shown[1:]),
        ]
        for key in order
    ]
    days = [_("Days until: %(stage)s") % {"stage": name.label} for _step, name in shown[1:]]
    headings = [heading, *(name.label for _step, name in shown), *days]
    titles = {
        "month": _("Stages reached by month"),
        "brand": _("Stages reached by brand"),
        "vacancy_number": _("Stages reached by vacancy"),
        "source": _("Stages reached by source"),
    }
    return ReportTable(code, titles[column], headings, rows, note=_months(scope))


def by_month(scope: Scope) -> ReportTable:
    return funnel(
        scope, "stages-months", "month", _("Month"), lambda keys: {k: month(k) for k in keys}
    )


def by_brand(scope: Scope) -> ReportTable:
    return funnel(
        scope, "stages-brands", "brand", _("Brand"), lambda keys: {k: scope.name(k) for k in keys}
    )


def by_vacancy(scope: Scope) -> ReportTable:
    return funnel(scope, "stages-vacancies", "vacancy_number", _("Vacancy"), titles_of)


def by_source(scope: Scope) -> ReportTable:
    return funnel(
        scope,
        "stages-sources",
        "source",
        _("Source"),
        lambda keys: {k: source_name(k) for k in keys},
    )


def reasons(scope: Scope) -> ReportTable:
    """The reasons of those that were rejected or withdrew."""
    rows = _of_months(scope).exclude(reason=0)
    names = {reason.pk: str(reason) for reason in Reason.objects.all()}
    found = [
        (names.get(pk, _("Deleted reason")), number)
        for pk, number in rows.values_list("reason").annotate(n=Sum("reached")).filter(n__gt=0)
    ]
    return counted("reasons", _("Applications by reason"), _("Reason"), found, _months(scope))


def views_to_hire(scope: Scope) -> ReportTable:
    """From the views of pages on the career site to hires."""
    visits = scope_to_brands(scope.user, DailyVisits.objects.all(), "vacancy").order_by()
    if scope.brand:
        visits = visits.filter(vacancy__brand=scope.brand)
    visits = visits.filter(day__gte=scope.days.first.replace(day=1), day__lte=scope.days.last)
    views = visits.aggregate(views=Coalesce(Sum("views"), 0), started=Coalesce(Sum("started"), 0))
    steps = steps_by(scope).get((), defaultdict(Reached))
    numbers = [(_("Page views"), views["views"]), (_("Applications started"), views["started"])]
    numbers += [
        (name.label, steps[step].number)
        for step, name in _named_steps()
        if step != MonthlyStages.ANSWERED and not name.is_refusal and steps[step].number
    ]
    rows: list[list[Cell]] = []
    before = 0
    for label, number in numbers:
        rows.append([label, number, percent(number, before) if rows else ""])
        before = number
    return ReportTable(
        "views-to-hire",
        _("From view to hire"),
        [_("Step"), pgettext("of a step", "Number"), _("Of the step before (%)")],
        rows if any(number for _label, number in numbers) else [],
        bar_chart(numbers),
        note=_months(scope) + " " + _("Imported and added applications have no views."),
    )


def open_positions(scope: Scope) -> ReportTable:
    """The published vacancies that people applied to, or that have internal data, and are not
    filled.
    """
    at = timezone.now()
    applied = Application.objects.filter(vacancy=OuterRef("pk"))
    rows = _vacancies(scope).published(at=at).filter(requisition__filled_at=None)
    rows = rows.filter(Q(requisition__isnull=False) | Exists(applied))
    found = list(
        rows.order_by("publish_from", "pk").values_list(
            "pk", "title", Coalesce("requisition__positions", 1), "publish_from"
        )[:MAX_POSITIONS]
    )
    hired = Application.objects.filter(vacancy__in=[row[0] for row in found]).hired()
    numbers = dict(hired.order_by().values_list("vacancy").annotate(n=Count("pk")))
    return ReportTable(
        "positions",
        _("Open positions"),
        [_("Vacancy"), _("Positions"), _("Hired"), _("Days published"), _("Vacancy number")],
        [
            [title, positions, numbers.get(pk, 0), (day_of(at) - day_of(start)).days, pk]
            for pk, title, positions, start in found
        ],
        note=_("Now: published vacancies with applications or internal data that are not filled."),
    )


def time_to_fill(scope: Scope) -> ReportTable:
    """The vacancies that were filled in the period."""
    first, end = start_of_day(scope.days.first), end_of_day(scope.days.last)
    published = Version.objects.filter(vacancy=OuterRef("pk"), change=Change.PUBLISHED)
    started = Subquery(published.order_by("pk").values("created_at")[:1])
    rows = _vacancies(scope).filter(
        requisition__filled_at__gte=first, requisition__filled_at__lt=end
    )
    found = rows.annotate(started=Coalesce(started, "publish_from")).order_by(
        "-requisition__filled_at"
    )
    cells: list[list[Cell]] = [
        [title, positions, max((day_of(filled) - day_of(start)).days, 0) if start else "", pk]
        for pk, title, positions, start, filled in found.values_list(
            "pk", "title", "requisition__positions", "started", "requisition__filled_at"
        )
    ]
    return ReportTable(
        "filled",
        _("Time to fill"),
        [_("Vacancy"), _("Positions"), _("Days"), _("Vacancy number")],
        cells,
        note=_("From the first publication until the vacancy was marked as filled."),
    )


OF_HIRING: Makers = {
    "first-answer": first_answers,
    "hires": hires,
    "stages": stages,
    "stages-months": by_month,
    "stages-brands": by_brand,
    "stages-vacancies": by_vacancy,
    "stages-sources": by_source,
    "reasons": reasons,
    "positions": open_positions,
    "filled": time_to_fill,
}
