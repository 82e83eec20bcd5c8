"""The sizes of the public lists, where in them a page begins, and when time alone changes them: from the
tally, without counting anything."""

from bisect import bisect_right
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import accumulate
from typing import Any

from django.db import DatabaseError, connections

from jobsite.revision import State, fetch, state
from vacancies.listing import LISTS, impatiently
from vacancies.models import Audience, Listing, Tally

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


def _next_changes() -> str:
    """A statement for the first moment, of each audience and heat, at which one appears or vanishes."""
    table = Listing._meta.db_table
    return "SELECT " + ", ".join(
        f"(SELECT min({column}) FROM {table} WHERE phase = {phase} AND audience = '{audience}' "
        f"AND is_hot = {heat})"
        for column, phase in (("publish_from", 0), ("publish_until", 1))
        for audience in Audience.values
        for heat in ("false", "true")
    )


TALLIES = (
    f"SELECT day, {', '.join(f'CAST(sum({name}) AS int)' for name in LISTS)}, count(*) "
    f"FROM {Tally._meta.db_table} GROUP BY day ORDER BY day DESC"
)
NEXT_CHANGES = _next_changes()


def as_moment(value: Any) -> datetime | None:
    """What a driver gives for a moment; SQLite keeps it as text in UTC."""
    if isinstance(value, str):
        value = datetime.fromisoformat(value)
    return value and (value if value.tzinfo else value.replace(tzinfo=UTC))


def count() -> Counts | None:
    """Return the sizes of the lists, or None if somebody wrote meanwhile. Four statements, whatever their
    size."""
    counts = Counts(state())
    rows = fetch(TALLIES)
    moments = list(map(as_moment, fetch(NEXT_CHANGES)[0]))
    if state() != counts.state:
        return None
    counts.days = [row[0] for row in rows]
    for column, name in enumerate(LISTS, start=1):
        sums = list(accumulate((row[column] for row in rows), initial=0))
        counts.totals[name] = sums.pop()
        counts.before[name] = sums
    groups = [(audience, heat) for _ in range(2) for audience in Audience.values for heat in (False, True)]
    for name in LISTS:
        other = Audience.INTERNAL if name in ("external", "hot") else Audience.PUBLIC
        changes = (
            moment
            for moment, (audience, heat) in zip(moments, groups, strict=True)
            if moment and audience != other and (heat or "hot" not in name)
        )
        counts.changes[name] = min(changes, default=None)
    if sum(row[-1] for row in rows) > ROWS_PER_DAY * len(rows) + 1_000:
        add_up()
    return counts


def add_up() -> None:
    """Make one row of those that writers added to the tally for a day."""
    table, columns = Tally._meta.db_table, ", ".join(LISTS)
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
