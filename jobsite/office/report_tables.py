"""The tables of the reports, each with a chart of the same numbers."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import date
from math import ceil
from typing import Any

from django.contrib.auth.models import User
from django.db.models import Count, QuerySet, Sum, Value
from django.db.models.functions import Coalesce
from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from applications.models import Application, DailyApplications, Reason, Stage
from applications.statistics import OTHER
from jobsite.admin.charts import SERIES_MAX, Series, bar_chart, legend, line_chart
from jobsite.days import start_of_day
from jobsite.spreadsheets.writing import Cell
from vacancies.access.brands import scope_to_brands
from vacancies.dates import end_of_day
from vacancies.models import Brand, DailyVacancies, StatisticsQuerySet
from vacancies.statistics.reading import Days, by_brand, by_day, live_by_brand
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
    """What a report is about: one `brand`, or all of the user."""

    user: User
    days: Days
    brand: Brand | None
    _names: dict[int | None, str] = field(default_factory=dict)

    def rows(self, model: type[DailyVacancies] | type[DailyApplications]) -> StatisticsQuerySet:
        rows = model.objects.visible_to(self.user)
        return rows.filter(brand=self.brand) if self.brand else rows

    def name(self, pk: int | None) -> str:
        """Return the name of a brand."""
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


def short(day: date) -> str:
    return date_format(day, pgettext("a date in Django's letters", "j M Y"))


def live(scope: Scope) -> ReportTable:
    """The vacancies that are live at the end of a day."""
    points = [part.last for part in scope.parts()]
    rows = scope.rows(DailyVacancies)
    everything = rows.filter(day__in=points).order_by()
    total = dict(everything.values_list("day").annotate(number=Sum("live")))
    brands = live_by_brand(rows, points)
    largest = sorted(brands, key=lambda pk: (-brands[pk].get(points[-1], 0), scope.name(pk)))
    filled = [pk for pk in largest if any(brands[pk].values())]
    shown = filled[: SERIES_MAX - 1]
    series = [Series(_("All"), [total.get(day, 0) for day in points])]
    series += [Series(scope.name(pk), [brands[pk].get(day, 0) for day in points]) for pk in shown]
    if len(series) == 2:
        series.pop(0)  # one brand has everything
    note = _("The five with the most vacancies on the last date are shown.")
    return _table_of_series(
        series, [short(day) for day in points], note if len(filled) > len(shown) else ""
    )


def _table_of_series(series: list[Series], labels: list[str], note: str) -> ReportTable:
    rows: list[list[Cell]] = [
        [label, *(each.values[n] for each in series)] for n, label in enumerate(labels)
    ]
    return ReportTable(
        "live",
        _("Published vacancies"),
        [_("End of"), *(each.name for each in series)],
        rows if any(any(each.values) for each in series) else [],
        line_chart(labels, series),
        legend(series),
        note,
    )


def vacancies_by_brand(scope: Scope) -> ReportTable:
    rows = scope.rows(DailyVacancies)
    sums = by_brand(rows, scope.days, "went_live", "closed")
    at_end = live_by_brand(rows, [scope.days.last])
    found = []
    for pk, row in sums.items():
        of_brand = at_end.get(pk, {}).get(scope.days.last, 0)
        if of_brand or row["went_live"] or row["closed"]:
            found.append((scope.name(pk), of_brand, row["went_live"], row["closed"]))
    found.sort(key=lambda row: (-row[1], row[0]))
    return ReportTable(
        "groups",
        _("Vacancies by brand"),
        [_("Brand"), _("Published on the last date"), _("Went live"), _("Closed")],
        [list(row) for row in found],
        bar_chart([(name, number) for name, number, *_rest in found if number][:MAX_BARS]),
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


def applications_by_brand(scope: Scope) -> ReportTable:
    sums = by_brand(scope.rows(DailyApplications), scope.days, "received")
    found = [(scope.name(pk), row["received"]) for pk, row in sums.items() if row["received"]]
    return counted("applications-by-group", _("Applications by brand"), _("Brand"), found)


def sources(scope: Scope) -> ReportTable:
    rows = scope.rows(DailyApplications).filter(received__gt=0).order_by()
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


def of_vacancies(code: str, title: str, headings: list[str], rows: QuerySet) -> ReportTable:
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
OF_VACANCIES: Makers = {"live": live, "groups": vacancies_by_brand}
OF_APPLICATIONS: Makers = {
    "applications": received,
    "sources": sources,
    "stages": stages,
    "reasons": reasons,
    "applications-by-group": applications_by_brand,
    "vacancies": by_vacancy,
    "vacancies-sources": by_vacancy_and_source,
}
