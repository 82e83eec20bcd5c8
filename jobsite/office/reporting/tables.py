"""The tables of what was published and received, each with a chart of the same numbers."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from datetime import date
from math import ceil
from typing import Any

from django.contrib.auth.models import User
from django.db.models import Sum
from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from applications.models import DailyApplications, Origin
from applications.statistics.received import ADDED, IMPORTED, OTHER
from jobsite.admin.charts import SERIES_MAX, Series, bar_chart, legend, line_chart
from jobsite.spreadsheets.writing import Cell
from vacancies.models import Brand, DailyVacancies, StatisticsQuerySet, Vacancy
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

    @property
    def is_wide(self) -> bool:
        """Whether the table needs the width of the page."""
        return len(self.headings) > 6


@dataclass
class Scope:
    """What a report is about: one `brand`, or all of the user."""

    user: User
    days: Days
    brand: Brand | None
    _names: dict[int | None, str] = field(default_factory=dict)

    def rows(self, model: Any) -> StatisticsQuerySet:
        """The statistics of a `model` that the report is about."""
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
    found = [
        (source_name(source), number)
        for source, number in received_rows(scope, "source").values_list("source", "number")
    ]
    note = _("Sources of fewer than five applications are counted together as other sources.")
    return counted("sources", _("Applications by source"), _("Source"), found, note)


def by_vacancy(scope: Scope) -> ReportTable:
    table = of_vacancies(scope, "vacancies", _("Applications by vacancy"))
    table.chart = bar_chart([(str(row[0]), float(str(row[1]))) for row in table.rows[:MAX_BARS]])
    return table


def by_vacancy_and_source(scope: Scope) -> ReportTable:
    title = _("Applications by vacancy and source")
    return of_vacancies(scope, "vacancies-sources", title, "source")


def received_rows(scope: Scope, *columns: str) -> Any:
    """Return the applications that were received in the period by `columns`, with their `number`.
    All tables count these: also those that were deleted since.
    """
    rows = scope.rows(DailyApplications).filter(received__gt=0).order_by()
    rows = rows.filter(day__gte=scope.days.first, day__lte=scope.days.last)
    return rows.values(*columns).annotate(number=Sum("received"))


def of_vacancies(scope: Scope, code: str, title: str, *columns: str) -> ReportTable:
    """Count the applications of each vacancy, by the source too if it is in `columns`."""
    numbers = received_rows(scope, "vacancy_number", *columns)
    numbers = numbers.values_list("vacancy_number", *columns, "number")
    titles = titles_of({row[0] for row in numbers})
    found: list[list[Cell]] = [
        [titles[pk], *map(source_name, source), number, pk or ""] for pk, *source, number in numbers
    ]
    found.sort(key=lambda row: (-int(str(row[-2])), str(row[-1]), row[:-2]))
    source_heading = [_("Source")] * len(columns)
    headings = [_("Vacancy"), *source_heading, _("Applications"), _("Vacancy number")]
    return ReportTable(code, title, headings, found)


def titles_of(numbers: Collection[int | None]) -> dict[int | None, str]:
    """Return the title of each vacancy."""
    rows = Vacancy.objects.filter(pk__in=[pk for pk in numbers if pk is not None])
    titles: dict[int | None, str] = dict.fromkeys(numbers, _("Deleted vacancy"))
    titles.update(rows.order_by().values_list("pk", "title"))
    if None in titles:
        titles[None] = _("Before figures by vacancy")
    return titles


def source_name(source: str) -> str:
    """Return the name of a source, or how an application without one came in."""
    names = {"": _("No source"), OTHER: _("Other sources"), IMPORTED: _("Imported")}
    if source not in names and source.startswith(ADDED):
        return str(dict(Origin.Channel.choices).get(source.removeprefix(ADDED), source))
    return names.get(source, source)


def counted(
    code: str,
    title: str,
    label: str,
    found: Sequence[tuple[str, int]],
    note: str = "",
) -> ReportTable:
    rows = sorted(found, key=lambda row: (-row[1], row[0]))
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
    "applications-by-group": applications_by_brand,
    "vacancies": by_vacancy,
    "vacancies-sources": by_vacancy_and_source,
}
