"""Sizes of the public lists at a given time, and the bucket in which a page begins.

`BucketCount` ignores the clock. This module subtracts the rows that the clock excludes: those that
expired since maintenance last ran, and those of the current bucket that are not live yet. No reader
writes because time passed.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import accumulate

from django.db import DEFAULT_DB_ALIAS, connections

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
    "CAST(sum(internal) AS integer), CAST(sum(hot_internal) AS integer), count(*) FROM "
    "vacancies_bucketcount GROUP BY start_at, start_id ORDER BY start_at DESC, start_id DESC"
)
_EXCLUDED = (
    "SELECT publish_from, vacancy_id, audience, is_hot FROM vacancies_listedvacancy WHERE NOT "
    "is_expired AND publish_until <= %s AND publish_from <= %s UNION ALL SELECT publish_from, "
    "vacancy_id, audience, is_hot FROM vacancies_listedvacancy WHERE NOT is_expired AND "
    "publish_from > %s AND (publish_from, vacancy_id) < (%s, %s)"
)
_TIMES = (
    "SELECT (SELECT min(publish_from) FROM vacancies_listedvacancy WHERE NOT is_expired AND "
    "publish_from > %s), (SELECT min(publish_until) FROM vacancies_listedvacancy WHERE NOT "
    "is_expired AND publish_until > %s), (SELECT max(publish_until) FROM vacancies_listedvacancy "
    "WHERE is_expired)"
)


@dataclass
class Period:
    """A revision, and a range of times in which no vacancy goes live or expires."""

    state: RevisionState
    since: datetime
    until: datetime | None

    def holds_at(self, now: datetime) -> bool:
        """False if a clock is behind:
        that of this machine, or that of the database after a step forward.
        """
        return self.since <= now and (self.until is None or now < self.until)


@dataclass
class Totals(Period):
    """The sizes of the lists in a period."""

    starts: list[Key]  # of the buckets, newest first
    before: Mapping[VacancyList, list[int]]  # for each bucket, the number of items in newer ones
    totals: Mapping[VacancyList, int]
    is_unbalanced: bool

    def find(self, vacancy_list: VacancyList, position: int) -> tuple[Key | None, int]:
        """Return where the bucket of an item ends (None:
        now), and the position of the item in the bucket.
        """
        index = bisect_right(self.before[vacancy_list], position) - 1
        return self.starts[index - 1] if index else None, position - self.before[vacancy_list][
            index
        ]


def is_maintained() -> bool:
    """Whether triggers maintain the read model. On SQLite, its tables are empty."""
    return connections[DEFAULT_DB_ALIAS].vendor == "postgresql"


def read_totals(state: RevisionState, *, now: datetime) -> Totals:
    """Read the sizes of the lists. `state` is the revision, read before:
    compare it after reading a page.
    """
    buckets = fetch(BUCKETS)
    starts = [row[:2] for row in buckets]
    live = next((index for index, start in enumerate(starts) if start[0] <= now), len(starts))
    end = starts[live - 1] if live else END  # of the bucket of `now`; nothing in newer ones is live
    # Not prepared: the plan depends on the time.
    with connections[replica.current()].cursor() as cursor:
        cursor.execute(_EXCLUDED, [now, now, now, *end])
        excluded = cursor.fetchall()
        cursor.execute(_TIMES, [now, now])
        start, until, expired = cursor.fetchone()
    starts = starts[live:]
    counts = {
        each: [row[n] for row in buckets[live:]] for n, each in enumerate(VacancyList, start=2)
    }
    for row in excluded:
        key, audience, is_hot = row[:2], row[2], row[3]
        # The newest that starts at the key or before.
        bucket = bisect_left(starts, True, key=key.__ge__)
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
