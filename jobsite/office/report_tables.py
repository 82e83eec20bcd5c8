"""The tables of the reports, each with a chart of the same numbers."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import date
from math import ceil
from typing import Any

from django.contrib.auth.models import User
from django.db.models import Count, Sum, Value
from django.db.models.functions import Coalesce
from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import ngettext, pgettext

from applications.models import Application, DailyApplications, Reason, Stage
from applications.statistics import OTHER
from jobsite.admin.charts import SERIES_MAX, Series, bar_chart, legend, line_chart
from jobsite.days import start_of_day
from jobsite.spreadsheets.writing import Cell
from vacancies.access.brands import scope_to_brands
from vacancies.dates import end_of_day
from vacancies.models import Brand, DailyVacancies, FilterOption, StatisticsQuerySet
from vacancies.statistics.reading import SUMS, Days, by_day, by_group, live_by_group
from vacancies.statistics.recording import DAY

MAX_POINTS = 60  # of a line
MAX_BARS = 20


@dataclass
class ReportTable:
    """A table of a report. `code` names it in the URL of its export."""

    code: str
    title: str
    headings: list[str]
    rows: list[list[Cell]]
    chart: str = ""
    legend: str = ""
    note: str = ""


@dataclass
class Scope:
    """What a report is about. `options` has the labels of the options by id, or is None:
    divided by brand.
    """

    user: User
    days: Days
    brand: Brand | None
    label: str
    options: dict[int, str] | None
    _names: dict[int | None, str] = field(default_factory=dict)

    @property
    def pks(self) -> list[int] | None:
        return None if self.options is None else list(self.options)

    def rows(self, model: type[DailyVacancies] | type[DailyApplications]) -> StatisticsQuerySet:
        rows = model.objects.visible_to(self.user)
        return rows.filter(brand=self.brand) if self.brand else rows

    def name(self, pk: int | None) -> str:
        """Return the name of a group."""
        if self.options is not None:
            return self.options.get(pk or 0, "")
        if not self._names:
            self._names = {None: _("No brand"), **dict(Brand.objects.values_list("pk", "name"))}
        return self._names.get(pk, _("Deleted brand"))

    def parts(self) -> list[Days]:
        """Return the days in parts that are equally long, except the first."""
        step = ceil(len(self.days) / MAX_POINTS)
        found, last = [], self.days.last
        while last >= self.days.first:
            found.append(Days(max(self.days.first, last - (step - 1) * DAY), last))
            last -= step * DAY
        return found[::-1]


def options_of(keyword: str) -> dict[int, str]:
    return dict(FilterOption.objects.filter(filter__keyword=keyword).values_list("pk", "label"))


def short(day: date) -> str:
    return date_format(day, pgettext("a date in Django's letters", "j M Y"))


def live(scope: Scope) -> ReportTable:
    """The vacancies that are live at the end of a day."""
    points = [part.last for part in scope.parts()]
    rows = scope.rows(DailyVacancies)
    everything = rows.filter(option=None, day__in=points).order_by()
    total = dict(everything.values_list("day").annotate(number=Sum("live")))
    groups = live_by_group(rows, points, scope.pks)
    largest = sorted(groups, key=lambda pk: (-groups[pk].get(points[-1], 0), scope.name(pk)))
    filled = [pk for pk in largest if any(groups[pk].values())]
    shown = filled[: SERIES_MAX - 1]
    series = [Series(_("All"), [total.get(day, 0) for day in points])]
    series += [Series(scope.name(pk), [groups[pk].get(day, 0) for day in points]) for pk in shown]
    if len(series) == 2 and scope.options is None:
        series.pop(0)  # one brand has everything
    labels = [short(day) for day in points]
    note = ""
    if len(filled) > len(shown):
        note = _("The five with the most vacancies on the last date are shown.")
    return ReportTable(
        "live",
        _("Published vacancies"),
        [_("End of"), *(each.name for each in series)],
        [[label, *(each.values[n] for each in series)] for n, label in enumerate(labels)]
        if any(any(each.values) for each in series)
        else [],
        line_chart(labels, series),
        legend(series),
        note,
    )


def time_to_close(scope: Scope) -> ReportTable:
    """How long closed vacancies had been live."""
    rows = scope.rows(DailyVacancies).filter(option=None)
    rows = rows.filter(day__gte=scope.days.first, day__lte=scope.days.last)
    sums = {name: value or 0 for name, value in rows.aggregate(**{n: Sum(n) for n in SUMS}).items()}
    limits = [sums[f"closed_in_{limit}"] for limit in (7, 30, 60, 90)] + [sums["closed"]]
    names = [
        _("up to 7 days"),
        _("8 to 30 days"),
        _("31 to 60 days"),
        _("61 to 90 days"),
        _("more than 90 days"),
    ]
    numbers = [limit - before for before, limit in zip([0, *limits], limits, strict=False)]
    closed = sums["closed"]
    return ReportTable(
        "time-to-close",
        _("Time to close"),
        [_("Published for"), _("Closed"), _("Share (%)")],
        [
            [name, number, round(100 * number / closed, 1)]
            for name, number in zip(names, numbers, strict=True)
        ]
        if closed
        else [],
        bar_chart(list(zip(names, numbers, strict=True))),
        note=ngettext(
            "%(count)s vacancy closed, after %(days)s days.",
            "%(count)s vacancies closed, after %(days)s days on average.",
            closed,
        )
        % {"count": closed, "days": average(sums["days_live"], closed)}
        if closed
        else "",
    )


def average(days: float, closed: int) -> Cell:
    """Return the average number of days, "" if nothing closed."""
    return round(days / closed, 1) if closed else ""


def groups(scope: Scope) -> ReportTable:
    """Vacancies by brand or option."""
    rows = scope.rows(DailyVacancies)
    sums = by_group(rows, scope.days, scope.pks, "went_live", "closed", "days_live")
    at_end = live_by_group(rows, [scope.days.last], scope.pks)
    found: list[list[Cell]] = []
    for pk, row in sums.items():
        of_group = at_end.get(pk, {}).get(scope.days.last, 0)
        if of_group or row["went_live"] or row["closed"]:
            days = average(row["days_live"], row["closed"])
            found.append([scope.name(pk), of_group, row["went_live"], row["closed"], days])
    found.sort(key=lambda row: (-int(str(row[1])), str(row[0])))
    bars = [(str(row[0]), float(str(row[4]))) for row in found if row[4] != ""]
    return ReportTable(
        "groups",
        _("Time to close by: %(name)s") % {"name": scope.label},
        [
            scope.label,
            _("Published on the last date"),
            _("Went live"),
            _("Closed"),
            _("Days to close, average"),
        ],
        found,
        bar_chart(sorted(bars, key=lambda bar: -bar[1])[:MAX_BARS]),
        note=several(scope),
    )


def several(scope: Scope) -> str:
    return (
        ""
        if scope.options is None
        else _("A vacancy with several options counts for each of them.")
    )


def received(scope: Scope) -> ReportTable:
    """Applications by day, or by several days."""
    parts = scope.parts()
    daily = by_day(scope.rows(DailyApplications), scope.days, "received")["received"]
    numbers = iter(daily)
    sums = [sum(next(numbers) for _day in part.all()) for part in parts]
    labels = [short(part.first) for part in parts]
    return ReportTable(
        "applications",
        _("Applications received"),
        [_("From"), _("Until"), _("Applications")],
        [[label, short(part.last), n] for label, part, n in zip(labels, parts, sums, strict=True)]
        if any(sums)
        else [],
        line_chart(labels, [Series(_("Applications"), sums)]),
    )


def applications_by_group(scope: Scope) -> ReportTable:
    sums = by_group(scope.rows(DailyApplications), scope.days, scope.pks, "received")
    found = [(scope.name(pk), row["received"]) for pk, row in sums.items() if row["received"]]
    title = _("Applications by: %(name)s") % {"name": scope.label}
    return counted("applications-by-group", title, scope.label, found, several(scope))


def sources(scope: Scope) -> ReportTable:
    rows = scope.rows(DailyApplications).filter(option=None, received__gt=0).order_by()
    rows = rows.filter(day__gte=scope.days.first, day__lte=scope.days.last)
    names = {"": _("No source"), OTHER: _("Other sources")}
    found = [
        (names.get(source, source), number)
        for source, number in rows.values_list("source").annotate(number=Sum("received"))
    ]
    note = _("Sources of fewer than five applications are counted together as other sources.")
    return counted("sources", _("Applications by source"), _("Source"), found, note)


def stages(scope: Scope) -> ReportTable:
    """The current stages of the applications that were received in the period and still exist."""
    numbers = dict(stored(scope).with_stage().values_list("stage_id").annotate(number=Count("pk")))
    found = [
        *((str(stage), numbers[stage.pk]) for stage in Stage.objects.all() if stage.pk in numbers),
        *([(_("No stage"), numbers[None])] if None in numbers else []),
    ]
    title = _("Applications by current stage")
    return counted("stages", title, _("Stage"), found, deleted_note(), is_sorted=True)


def reasons(scope: Scope) -> ReportTable:
    """The reasons of the current stages of the applications that were received in the period."""
    numbers = dict(
        stored(scope).with_reason().values_list("reason_id").annotate(number=Count("pk"))
    )
    found = [
        (str(reason), numbers[reason.pk]) for reason in Reason.objects.all() if reason.pk in numbers
    ]
    title = _("Applications by reason")
    return counted("reasons", title, _("Reason"), found, deleted_note())


def by_vacancy(scope: Scope) -> ReportTable:
    """The applications of each vacancy that were received in the period and still exist."""
    rows = stored(scope).values_list("vacancy__title", "vacancy_id")
    table = of_vacancies("vacancies", _("Applications by vacancy"), [], rows)
    table.chart = bar_chart([(str(row[0]), float(str(row[1]))) for row in table.rows[:MAX_BARS]])
    return table


def by_vacancy_and_source(scope: Scope) -> ReportTable:
    rows = stored(scope).values_list(
        "vacancy__title", "vacancy_id", Coalesce("submission__source", Value(""))
    )
    title = _("Applications by vacancy and source")
    return of_vacancies("vacancies-sources", title, [_("Source")], rows)


def stored(scope: Scope) -> Any:
    """Return the applications that were received in the period and still
    exist, without an order.
    """
    rows: Any = scope_to_brands(scope.user, Application.objects.all(), "vacancy")
    if scope.brand:
        rows = rows.filter(vacancy__brand=scope.brand)
    first, end = start_of_day(scope.days.first), end_of_day(scope.days.last)
    return rows.filter(created_at__gte=first, created_at__lt=end).order_by()


def of_vacancies(code: str, title: str, headings: list[str], rows: Any) -> ReportTable:
    """Count `rows` of (title, number of the vacancy) or (title, number, source)."""
    found: list[list[Cell]] = []
    for name, pk, *source, number in rows.annotate(number=Count("pk")).order_by(
        "-number", "vacancy_id"
    ):
        found.append([name, *(text or _("No source") for text in source), number, pk])
    headings = [_("Vacancy"), *headings, _("Applications"), _("Vacancy number")]
    return ReportTable(code, title, headings, found, note=deleted_note() if found else "")


def deleted_note() -> str:
    return _("Applications that were deleted are not counted here. The other figures include them.")


def counted(
    code: str,
    title: str,
    label: str,
    found: Sequence[tuple[str, int]],
    note: str = "",
    *,
    is_sorted: bool = False,
) -> ReportTable:
    rows = list(found) if is_sorted else sorted(found, key=lambda row: (-row[1], row[0]))
    cells: list[list[Cell]] = [[name, number] for name, number in rows]
    return ReportTable(
        code,
        title,
        [label, _("Applications")],
        cells,
        bar_chart(rows[:MAX_BARS]),
        note=note if rows else "",
    )


Makers = dict[str, Callable[[Scope], ReportTable]]  # by the code of the table
OF_VACANCIES: Makers = {"live": live, "time-to-close": time_to_close, "groups": groups}
OF_APPLICATIONS: Makers = {
    "applications": received,
    "sources": sources,
    "stages": stages,
    "reasons": reasons,
    "applications-by-group": applications_by_group,
    "vacancies": by_vacancy,
    "vacancies-sources": by_vacancy_and_source,
}
