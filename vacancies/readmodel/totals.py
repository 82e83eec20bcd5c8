"""Sizes of the public lists at a given time, and the bucket in which a page begins.

`BucketCount` ignores the clock. This module subtracts the rows that the clock excludes: those that expired
since maintenance last ran, and those of the current bucket that are not live yet. No reader writes because
time passed.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import accumulate
from typing import Any

from django.db import connections

from jobsite.serving import replica
from jobsite.serving.revision import RevisionState, fetch
from vacancies.querysets import VacancyList

MAX_SIZE = 400  # vacancies in a bucket, before it is divided
MAX_ROWS = 1_000  # of BucketCount beyond one for each bucket, before they are summed

Key = tuple[datetime, int]  # (publish_from, id)
FIRST: Key = (datetime.min.replace(tzinfo=UTC), 0)  # the start of the first bucket
END: Key = (datetime.max.replace(tzinfo=UTC), 0)

BUCKETS = (
    "SELECT start_at, start_id, CAST(sum(external) AS integer), CAST(sum(hot) AS integer), "
    "CAST(sum(internal) AS integer), CAST(sum(hot_internal) AS integer), count(*) "
    "FROM vacancies_bucketcount GROUP BY start_at, start_id ORDER BY start_at DESC, start_id DESC"
)
# `is_expired = false`: with NOT, SQLite without statistics reads all live vacancies through `listed_start`.
_EXCLUDED = (
    "SELECT publish_from, vacancy_id, audience, is_hot FROM vacancies_listedvacancy "
    "WHERE is_expired = false AND publish_until <= %s AND publish_from <= %s "
    "UNION ALL SELECT publish_from, vacancy_id, audience, is_hot FROM vacancies_listedvacancy "
    "WHERE NOT is_expired AND publish_from > %s AND (publish_from, vacancy_id) < (%s, %s)"
)
_TIMES = (
    "SELECT (SELECT min(publish_from) FROM vacancies_listedvacancy "
    "WHERE NOT is_expired AND publish_from > %s), "
    "(SELECT min(publish_until) FROM vacancies_listedvacancy "
    "WHERE is_expired = false AND publish_until > %s), "
    "(SELECT max(publish_until) FROM vacancies_listedvacancy WHERE is_expired = true)"
)


@dataclass
class Totals:
    """The sizes of the lists at one revision, for a range of times."""

    state: RevisionState
    since: datetime
    until: datetime | None  # the next time at which a vacancy goes live or expires
    starts: list[Key]  # of the buckets, newest first
    before: Mapping[VacancyList, list[int]]  # for each bucket, the number of items in newer ones
    totals: Mapping[VacancyList, int]
    is_unbalanced: bool

    def holds_at(self, now: datetime) -> bool:
        """False if a clock is behind: that of this machine, or that of the database after a step forward."""
        return self.since <= now and (self.until is None or now < self.until)

    def find(self, vacancy_list: VacancyList, position: int) -> tuple[Key | None, int]:
        """Return where the bucket of an item ends (None: now), and the position of the item in the bucket."""
        index = bisect_right(self.before[vacancy_list], position) - 1
        return self.starts[index - 1] if index else None, position - self.before[vacancy_list][index]


def as_datetime(value: Any) -> datetime | None:
    """Return the aware datetime of a driver's value. SQLite returns text or naive datetimes, in UTC."""
    if isinstance(value, str):
        value = datetime.fromisoformat(value)
    return value and (value if value.tzinfo else value.replace(tzinfo=UTC))


def as_parameter(at: datetime) -> Any:
    """Return the driver's value of an aware datetime."""
    return connections["default"].ops.adapt_datetimefield_value(at)


def as_key(row: Any) -> Key:
    """Return the key of a row that begins with it."""
    at = as_datetime(row[0])
    assert at is not None
    return at, row[1]


def read_totals(state: RevisionState, *, now: datetime) -> Totals:
    """Read the sizes of the lists. `state` is the revision, read before: compare it after reading a page."""
    buckets = fetch(BUCKETS)
    starts = [as_key(row) for row in buckets]
    live = next((index for index, start in enumerate(starts) if start[0] <= now), len(starts))
    end = starts[live - 1] if live else END  # of the bucket of `now`; nothing in newer ones is live
    time = as_parameter(now)
    with connections[replica.current()].cursor() as cursor:  # not prepared: the plan depends on the time
        cursor.execute(_EXCLUDED, [time, time, time, as_parameter(end[0]), end[1]])
        excluded = cursor.fetchall()
        cursor.execute(_TIMES, [time, time])
        start, until, expired = map(as_datetime, cursor.fetchone())
    starts = starts[live:]
    counts = {each: [row[n] for row in buckets[live:]] for n, each in enumerate(VacancyList, start=2)}
    for row in excluded:
        key, audience, is_hot = as_key(row), row[2], row[3]
        bucket = bisect_left(starts, True, key=key.__ge__)  # the newest that starts at the key or before
        for each in VacancyList:
            if each.contains(audience=audience, is_hot=is_hot):
                counts[each][bucket] -= 1
    before = {each: list(accumulate(counts[each], initial=0)) for each in VacancyList}
    return Totals(
        state=state,
        since=max(now, expired or now),
        until=min(filter(None, (start, until)), default=None),
        starts=starts,
        totals={each: numbers.pop() for each, numbers in before.items()},
        before=before,
        is_unbalanced=sum(row[6] for row in buckets) > len(buckets) + MAX_ROWS
        or any(max(row[2:6]) > MAX_SIZE for row in buckets),
    )
