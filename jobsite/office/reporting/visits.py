"""The tables of the reports about visitors of the career site:
views, and applications started and sent.
"""

from collections import defaultdict
from collections.abc import Iterator

from django.db.models import Sum
from django.utils.translation import gettext as _

from applications.statistics.received import ADDED
from jobsite.admin.charts import bar_chart
from jobsite.office.reporting.tables import (
    MAX_BARS,
    Makers,
    ReportTable,
    Scope,
    received_rows,
    source_name,
    titles_of,
)
from jobsite.spreadsheets.writing import Cell
from vacancies.access.brands import scope_to_brands
from vacancies.models import DailyVisits
from vacancies.statistics.visits import folded


def by_source(scope: Scope) -> ReportTable:
    return table(scope, "visitors-sources", _("Visitors by source"), has_vacancies=False)


def by_vacancy(scope: Scope) -> ReportTable:
    return table(scope, "visitors-vacancies", _("Visitors by vacancy"), has_sources=False)


def by_vacancy_and_source(scope: Scope) -> ReportTable:
    return table(scope, "visitors-vacancies-sources", _("Visitors by vacancy and source"))


OF_VISITORS: Makers = {
    "visitors-sources": by_source,
    "visitors-vacancies": by_vacancy,
    "visitors-vacancies-sources": by_vacancy_and_source,
}


def table(
    scope: Scope, code: str, title: str, *, has_vacancies: bool = True, has_sources: bool = True
) -> ReportTable:
    sums = _sums(scope, has_vacancies=has_vacancies, has_sources=has_sources)
    rows: list[list[Cell]] = [
        [*labels, views, started, sent, round(100 * sent / views, 1) if views else "", *pks]
        for (labels, pks), (views, started, sent) in sums.items()
    ]
    first = has_vacancies + has_sources  # column of the numbers
    rows.sort(
        key=lambda row: (*(-int(str(row[first + n])) for n in (2, 1, 0)), *map(str, row[:first]))
    )
    headings = [_("Vacancy")] * has_vacancies + [_("Source")] * has_sources
    headings += [
        _("Page views"),
        _("Applications started"),
        _("Applications sent"),
        _("Conversion (%)"),
    ]
    headings += [_("Vacancy number")] * has_vacancies
    bars = [(str(row[0]), float(str(row[1]))) for row in rows if row[1]] if first == 1 else []
    bars.sort(key=lambda bar: -bar[1])
    chart = bar_chart(bars[:MAX_BARS]) if bars else ""
    return ReportTable(code, title, headings, rows, chart)


def _sums(scope: Scope, *, has_vacancies: bool, has_sources: bool) -> dict[tuple, list[int]]:
    """Return the numbers of each group: its labels, and the number of its vacancy."""
    sums: defaultdict[tuple, list[int]] = defaultdict(lambda: [0, 0, 0])
    for vacancy, pk, source, *numbers in counted(scope):
        labels = (vacancy,) * has_vacancies + (source_name(source),) * has_sources
        of_group = sums[labels, (pk,) * has_vacancies]
        for column, number in enumerate(numbers):
            of_group[column] += number
    return sums


def counted(scope: Scope) -> Iterator[tuple]:
    """Yield title and number of the vacancy, source, views, started and sent applications. A group
    can come several times.
    """
    visits = scope_to_brands(scope.user, DailyVisits.objects.all(), "vacancy").order_by()
    if scope.brand:
        visits = visits.filter(vacancy__brand=scope.brand)
    visits = visits.filter(day__gte=scope.days.first, day__lte=scope.days.last)
    numbers = {"of_views": Sum("views"), "of_started": Sum("started")}
    for row in visits.values_list("vacancy__title", "vacancy_id", "source").annotate(**numbers):
        yield *row, 0
    sent = received_rows(scope, "vacancy_number", "source").exclude(vacancy_number=None)
    sent = list(sent.values_list("vacancy_number", "source", "number"))
    titles = titles_of({pk for pk, *_rest in sent})
    for pk, source, number in sent:
        if not source.startswith(ADDED):
            yield titles[pk], pk, folded(source), 0, 0, number
