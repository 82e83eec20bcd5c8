"""The sizes of the public lists, where in them a page begins, and when time alone changes them: from the
tally, without counting anything."""

import json
from bisect import bisect_right
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import accumulate
from typing import Any

from django.db import DatabaseError, connections

from jobsite.serving.revision import State, fetch
from vacancies.models import Audience, DailyCount, ListedVacancy
from vacancies.readmodel.listing import LISTS, impatiently

ROWS_PER_DAY = 8  # of the tally, before they are added up


@dataclass
class Counts:
    """The sizes of the lists in one state of the database, by day, newest first, and the moment at which
    time alone changes each."""

    state: State
    days: list[int] = field(default_factory=list)
    before: dict[str, list[int]] = field(default_factory=dict)  # how many are on later days
    totals: dict[str, int] = field(default_factory=dict)
    changes: dict[str, datetime | None] = field(default_factory=dict)

    @property
    def next_change(self) -> datetime | None:
        return min(filter(None, self.changes.values()), default=None)

    def find(self, name: str, start: int) -> tuple[int, int]:
        """Return the day on which the item at `start` of a list stands, and how many of the list are
        before it on that day."""
        place = bisect_right(self.before[name], start) - 1
        return self.days[place], start - self.before[name][place]


# The lists that a moment changes, at which one of this audience and heat appears or vanishes.
_GROUPS = {
    (audience, heat): [
        name
        for name in LISTS
        if audience != (Audience.PUBLIC if "internal" in name else Audience.INTERNAL)
        and (heat == "true" or "hot" not in name)
    ]
    for audience in Audience.values
    for heat in ("false", "true")
}
_MOMENTS = [
    (
        f"(SELECT min({column}) FROM {ListedVacancy._meta.db_table} "
        f"WHERE phase = {phase} AND audience = '{audience}' AND is_hot = {heat})",
        names,
    )
    for column, phase in (("publish_from", 0), ("publish_until", 1))
    for (audience, heat), names in _GROUPS.items()
]
NEXT_CHANGES = ", ".join(moment for moment, _ in _MOMENTS)
# One statement, so that all of it is of one moment; the days as JSON, since there are many.
_DAYS = (
    f"SELECT {{}}(day, {', '.join(LISTS)}, entries)) FROM (SELECT day, "
    f"{', '.join(f'sum({name}) AS {name}' for name in LISTS)}, count(*) AS entries "
    f"FROM {DailyCount._meta.db_table} GROUP BY day) AS days"
)
_READ = (
    f"SELECT r.number, r.shared, r.settled, CAST(({_DAYS}) AS text), "
    f"{NEXT_CHANGES} FROM jobsite_revision r WHERE r.id = 1"
)
READ = {
    "postgresql": _READ.format("json_agg(json_build_array"),
    "sqlite": _READ.format("json_group_array(json_array"),
}


def as_moment(value: Any) -> datetime | None:
    """What a driver gives for a moment; SQLite keeps it as text in UTC."""
    if isinstance(value, str):
        value = datetime.fromisoformat(value)
    return value and (value if value.tzinfo else value.replace(tzinfo=UTC))


def count() -> Counts:
    """Return the sizes of the lists, by one statement whatever their size."""
    found = fetch(READ[connections["default"].vendor])
    row: tuple = found[0] if found else (0, 0, 0, None, *(None for _ in _MOMENTS))
    counts = Counts(State(*row[:3]))
    rows = sorted(json.loads(row[3] or "[]"), reverse=True)
    counts.days = [row[0] for row in rows]
    for column, name in enumerate(LISTS, start=1):
        sums = list(accumulate((row[column] for row in rows), initial=0))
        counts.totals[name] = sums.pop()
        counts.before[name] = sums
    changes: dict[str, list[datetime]] = {name: [] for name in LISTS}
    for value, (_, names) in zip(row[4:], _MOMENTS, strict=True):
        if moment := as_moment(value):
            for name in names:
                changes[name].append(moment)
    counts.changes = {name: min(each, default=None) for name, each in changes.items()}
    if sum(row[-1] for row in rows) > ROWS_PER_DAY * len(rows) + 1_000:
        add_up()
    return counts


def add_up() -> None:
    """Make one row of those that writers added to the tally for a day."""
    table, columns = DailyCount._meta.db_table, ", ".join(LISTS)
    sums = ", ".join(f"sum({name})" for name in LISTS)
    try:
        with impatiently(), connections["default"].cursor() as cursor:
            cursor.execute(
                f"WITH gone AS (DELETE FROM {table} WHERE id IN (SELECT id FROM {table} "
                f"FOR UPDATE SKIP LOCKED) RETURNING *) INSERT INTO {table} (day, {columns}) "
                f"SELECT day, {sums} FROM gone GROUP BY day"
            )
    except DatabaseError:
        pass  # the next one to count will
