"""Sizes of the public lists, the day on which a page begins, and the next change by the clock.

All are read from `DailyCount` and indexes; no vacancies are counted.
"""

import json
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import accumulate
from typing import Any

from django.db import DatabaseError, connections

from jobsite.serving.revision import RevisionState, fetch
from vacancies.models import Audience, DailyCount, ListedVacancy, PublicationState
from vacancies.querysets import VacancyList
from vacancies.readmodel.changes import best_effort_write

MAX_ROWS_PER_DAY = 8  # of DailyCount, before they are compacted
COLUMNS = tuple(each.column for each in VacancyList)


@dataclass
class Totals:
    """The sizes of the lists at one revision."""

    state: RevisionState
    days: list[int]  # newest first
    before: Mapping[VacancyList, list[int]]  # for each day, the number of items on newer days
    totals: Mapping[VacancyList, int]
    changes: Mapping[VacancyList, datetime | None]  # the next time at which the clock changes the list

    @property
    def next_change(self) -> datetime | None:
        return min(filter(None, self.changes.values()), default=None)

    def find(self, vacancy_list: VacancyList, start: int) -> tuple[int, int]:
        """Return the day of the item at position `start` of a list, and its position within that day."""
        index = bisect_right(self.before[vacancy_list], start) - 1
        return self.days[index], start - self.before[vacancy_list][index]


# The next start or end among the vacancies of one audience and `is_hot`, and the lists that it changes.
_NEXT_CHANGES = [
    (
        f"(SELECT min({column}) FROM {ListedVacancy._meta.db_table} "
        f"WHERE state = {state:d} AND audience = '{audience}' AND is_hot = {is_hot})",
        [each for each in VacancyList if each.contains(audience=audience, is_hot=is_hot)],
    )
    for column, state in (
        ("publish_from", PublicationState.SCHEDULED),
        ("publish_until", PublicationState.LIVE),
    )
    for audience in Audience.values
    for is_hot in (False, True)
]
NEXT_CHANGES = ", ".join(sql for sql, _ in _NEXT_CHANGES)
# One statement, so that it reads one snapshot. The days are one JSON value, because there are many.
_DAYS = (
    f"SELECT {{}}(day, {', '.join(COLUMNS)}, entries)) FROM (SELECT day, "
    f"{', '.join(f'sum({column}) AS {column}' for column in COLUMNS)}, count(*) AS entries "
    f"FROM {DailyCount._meta.db_table} GROUP BY day) AS days"
)
_READ = (
    f"SELECT r.number, r.shared, r.watermark, CAST(({_DAYS}) AS text), "
    f"{NEXT_CHANGES} FROM jobsite_revision r WHERE r.id = 1"
)
READ = {
    "postgresql": _READ.format("json_agg(json_build_array"),
    "sqlite": _READ.format("json_group_array(json_array"),
}


def as_datetime(value: Any) -> datetime | None:
    """Return the datetime of a driver's value. SQLite returns text in UTC."""
    if isinstance(value, str):
        value = datetime.fromisoformat(value)
    return value and (value if value.tzinfo else value.replace(tzinfo=UTC))


def read_totals() -> Totals:
    """Read the sizes of the lists, in one statement."""
    rows = fetch(READ[connections["default"].vendor])
    row: tuple = rows[0] if rows else (0, 0, 0, None, *(None for _ in _NEXT_CHANGES))
    days = sorted(json.loads(row[3] or "[]"), reverse=True)
    before, totals = {}, {}
    for column, each in enumerate(VacancyList, start=1):
        sums = list(accumulate((day[column] for day in days), initial=0))
        totals[each] = sums.pop()
        before[each] = sums
    changes: dict[VacancyList, datetime | None] = dict.fromkeys(VacancyList)
    for value, (_, lists) in zip(row[4:], _NEXT_CHANGES, strict=True):
        if time := as_datetime(value):
            for each in lists:
                changes[each] = min(changes[each] or time, time)
    if sum(day[-1] for day in days) > MAX_ROWS_PER_DAY * len(days) + 1_000:
        compact()
    return Totals(RevisionState(*row[:3]), [day[0] for day in days], before, totals, changes)


def compact() -> None:
    """Replace the rows of each day by one row with their sums. Rows that another transaction locks stay."""
    table, columns = DailyCount._meta.db_table, ", ".join(COLUMNS)
    sums = ", ".join(f"sum({column})" for column in COLUMNS)
    try:
        with best_effort_write(), connections["default"].cursor() as cursor:
            cursor.execute(
                f"WITH gone AS (DELETE FROM {table} WHERE id IN (SELECT id FROM {table} "
                f"FOR UPDATE SKIP LOCKED) RETURNING *) INSERT INTO {table} (day, {columns}) "
                f"SELECT day, {sums} FROM gone GROUP BY day"
            )
    except DatabaseError:
        pass  # a later read tries again
