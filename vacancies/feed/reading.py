"""What changed in a list after a cursor.

The rules are numbered as in docs/architecture.md. Everything is read in one snapshot of the
database, whose revision is `number`.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import datetime
from itertools import islice
from typing import Any, NamedTuple

from django.db.models import Q, QuerySet

from jobsite.api.cursors import END
from jobsite.serving.revision import fetch
from vacancies.feed.cursor import (
    Cursor,
    CursorExpiredError,
    FeedScope,
    LiveCursor,
    WalkCursor,
    microseconds,
    time,
)
from vacancies.models import (
    FeedEntry,
    ListedVacancy,
    TouchKind,
    Vacancy,
    VacancyOption,
    VacancyRecruiter,
)
from vacancies.querysets import is_live
from vacancies.readmodel.totals import is_maintained

NOWHERE = (-1, -1)  # before the first row
SCAN = 1_000  # rows that one request looks at, at least
STEP = 100  # rows to read at a time, at least
_GAPS = (
    "SELECT 1 FROM jobsite_cursorgap WHERE after < %s AND before > %s OR after < %s AND before > %s"
)
# What `change` needs of a vacancy: its columns and the flags of its entry, for both lists.
_CURRENT = "v.status, v.audience, v.publish_from, v.publish_until, v.brand_id"
_FLAGS = "e.was_external, e.was_internal, e.has_moved"
# The entries of commits, and before those of a commit with touches, a row with the id 0.
_ENTRIES = (
    "SELECT * FROM (SELECT c.number, e.vacancy_id{current} FROM jobsite_commit AS c "
    "JOIN vacancies_feedentry AS e ON e.mark = c.mark{vacancy} "
    "WHERE c.number BETWEEN %s AND %s AND (c.number > %s OR e.vacancy_id > %s) "
    "ORDER BY 1, 2 LIMIT %s) AS entries UNION ALL SELECT * FROM (SELECT c.number, 0{current} "
    "FROM jobsite_commit AS c{nothing} WHERE c.number BETWEEN %s AND %s AND EXISTS (SELECT 1 FROM "
    "vacancies_feedtouch AS t WHERE t.mark = c.mark) ORDER BY 1 LIMIT 1) AS touched "
    "ORDER BY 1, 2 LIMIT %s"
)
_ENTRY_IDS = _ENTRIES.format(current="", vacancy="", nothing="")
# On PostgreSQL, with the vacancies.
_ENTRY_ROWS = _ENTRIES.format(
    current=f", {_CURRENT}, {_FLAGS}",
    vacancy=" LEFT JOIN vacancies_vacancy AS v ON v.id = e.vacancy_id",
    nothing=" LEFT JOIN vacancies_vacancy AS v ON false LEFT JOIN vacancies_feedentry AS e ON false",
)
_BY_ID = (
    f"SELECT ids.id, {_CURRENT}, {_FLAGS} "
    "FROM unnest(%s::bigint[]) AS ids (id) LEFT JOIN vacancies_vacancy AS v ON v.id = ids.id "
    "LEFT JOIN vacancies_feedentry AS e ON e.vacancy_id = ids.id"
)
# The starts and ends of listed vacancies.
_TURNS = " UNION ALL ".join(
    f"(SELECT {name}, vacancy_id FROM vacancies_listedvacancy WHERE {rows} AND {name} BETWEEN %s "
    f"AND %s AND ({name}, vacancy_id) > (%s, %s) ORDER BY 1, 2 LIMIT %s)"
    for name, rows in (
        ("publish_from", "NOT is_expired"),
        ("publish_until", "is_expired IN (false, true)"),
    )
)
_TOUCHES = (
    "SELECT DISTINCT t.kind, t.object_id FROM jobsite_commit AS c "
    "JOIN vacancies_feedtouch AS t ON t.mark = c.mark WHERE c.number = %s"
)


class FeedChange(NamedTuple):
    id: int
    is_visible: bool  # in the list; else it is to be removed


class FeedPage(NamedTuple):
    changes: list[FeedChange]
    cursor: Cursor
    has_more: bool


def read(
    cursor: Cursor | None, scope: FeedScope, size: int, *, now: datetime, number: int
) -> FeedPage:
    """Return up to `size` changes after `cursor`; without one, the vacancies of the list. Raises
    CursorExpiredError.
    """
    cursor = cursor or WalkCursor(0, number, microseconds(now), -1)
    if is_late := cursor.number > number:  # this server: the client has newer content
        result = FeedPage([], cursor, isinstance(cursor, WalkCursor))
    else:
        result = _Reader(scope, size, now).read(cursor, number)
    if _is_in_gap(cursor):  # checked last: changes may have been deleted meanwhile
        raise CursorExpiredError
    is_idle = not (result.changes or result.has_more) and isinstance(result.cursor, type(cursor))
    if is_late or is_idle:
        return result._replace(cursor=cursor)  # so that the response stays the same
    return result._replace(cursor=replace(result.cursor, seen=max(cursor.seen, number)))


def has_been_listed(scope: FeedScope, *, at: datetime) -> bool:
    """Whether the list has, or recently had, vacancies of the brand."""
    flag = "was_internal" if scope.vacancy_list.is_internal else "was_external"
    entries = FeedEntry.objects.filter(**{flag: True})
    audiences = scope.vacancy_list.audiences
    begun = Q(status="published", publish_from__lte=at, audience__in=audiences)
    known = begun | Q(pk__in=entries.values("pk"))
    return Vacancy.objects.filter(known, brand=scope.brand).exists()


def _is_in_gap(cursor: Cursor) -> bool:
    """R6, R7: whether a revision that the client read, or stopped in, is not known any more."""
    is_inside = isinstance(cursor, LiveCursor) and cursor.last != END
    read_until = cursor.number - is_inside
    return bool(fetch(_GAPS, read_until, read_until, cursor.seen, cursor.seen))


class _Reader:
    """Reads a list at one time."""

    def __init__(self, scope: FeedScope, size: int, now: datetime) -> None:
        self.list, self.brand, self.size, self.now = scope.vacancy_list, scope.brand, size, now
        self.step = max(STEP, size) + 1  # one more shows whether there is a next page

    def read(self, cursor: Cursor, number: int) -> FeedPage:
        """Read at this time. If the cursor has a later one, from another clock, go back: what
        starts or ends in between is read again.
        """
        now = microseconds(self.now)
        if isinstance(cursor, WalkCursor):
            return self.walk(replace(cursor, at=min(cursor.at, now)), number)
        if cursor.at > now:
            cursor = replace(cursor, at=now, at_last=END)
        return self.follow(cursor, number)

    def walk(self, cursor: WalkCursor, number: int) -> FeedPage:
        """The next vacancies of the whole list."""
        rows = self.members().filter(pk__gt=cursor.last).order_by("pk")
        pks = list(rows.values_list("pk", flat=True)[: self.size])
        changes = [FeedChange(pk, True) for pk in pks]
        if len(pks) == self.size:
            return FeedPage(changes, replace(cursor, last=pks[-1]), True)
        has_more = (cursor.number, cursor.at) != (number, microseconds(self.now))
        return FeedPage(
            changes, LiveCursor(cursor.number, END, cursor.at, END, cursor.seen), has_more
        )

    def follow(self, cursor: LiveCursor, number: int) -> FeedPage:
        """What changed: by commits, then by starts and ends (R5: their positions are independent)."""
        limit = max(SCAN, self.size)
        changes: list[FeedChange] = []
        rows = changed(cursor.number, cursor.last, step=self.step)
        has_more, row = self.take(rows, changes, limit)
        if has_more:
            return FeedPage(changes, replace(cursor, number=row[0], last=row[1]), True)
        position = replace(cursor, number=number, last=END) if changes else cursor
        turns = self.turns(cursor.at, cursor.at_last, limit)
        has_more, row = self.take(iter(turns), changes, limit)
        if has_more and row != NOWHERE:
            position = replace(position, at=row[0], at_last=row[1])
        elif changes and not has_more:
            position = LiveCursor(number, END, microseconds(self.now), END, cursor.seen)
        return FeedPage(changes, position, has_more)

    def take(
        self, rows: Iterator[tuple[int, int]], changes: list[FeedChange], limit: int
    ) -> tuple[bool, tuple[int, int]]:
        """Add the changes of at most `limit` of `rows` to `changes`, until the page is full. Return
        whether there may be more rows, and the last one that was used.
        """
        last, used = NOWHERE, 0
        while batch := list(islice(rows, self.step)):
            current = {row[1]: row[1:] for row in batch if len(row) > 2}
            current |= self.current([row[1] for row in batch if row[1] not in current])
            for row in batch:
                if len(changes) == self.size or used == limit:
                    return True, last
                change = self.change(current[row[1]])
                changes += [change] if change else []
                last, used = row[:2], used + 1
        return used == limit, last

    def members(self) -> QuerySet:
        """The vacancies of the list at this time; on PostgreSQL their rows in the read model, which
        has the indexes.
        """
        rows: Any = Vacancy.objects.filter(status="published")
        if is_maintained():
            rows = ListedVacancy.objects.filter(is_expired__in=(False, True))
        rows = rows.live(at=self.now).in_list(self.list)
        return rows if self.brand is None else rows.filter(brand_id=self.brand)

    def turns(self, at: int, last: int, limit: int) -> list[tuple[int, int]]:
        """The starts and ends after `at` until now: the time and the id of each, in this order."""
        since = time(at)
        if is_maintained():
            rows = fetch(_TURNS, *[since, self.now, since, last, limit] * 2)
        else:
            rows = [
                row
                for name in ("publish_from", "publish_until")
                for row in Vacancy.objects.filter(
                    Q(**{f"{name}__gt": since}) | Q(pk__gt=last),
                    **{"status": "published", f"{name}__range": (since, self.now)},
                )
                .order_by(name, "pk")
                .values_list(name, "pk")[:limit]
            ]
        return sorted({(microseconds(moment), pk) for moment, pk in rows})[:limit]

    def current(self, pks: list[int]) -> dict[int, tuple]:
        """Return by id what `change` needs: the vacancy as it is now, and the flags of its entry."""
        if is_maintained():
            return {row[0]: row for row in fetch(_BY_ID, pks)} if pks else {}
        columns = ("pk", "status", "audience", "publish_from", "publish_until", "brand_id")
        found = {pk: (pk, *[None] * 5) for pk in pks}
        found |= {row[0]: row for row in Vacancy.objects.filter(pk__in=pks).values_list(*columns)}
        entries = FeedEntry.objects.filter(pk__in=pks)
        names = ("was_external", "was_internal", "has_moved")
        flags = {pk: row for pk, *row in entries.values_list("pk", *names)}
        return {pk: (*found[pk], *flags.get(pk, (None,) * 3)) for pk in pks}

    def change(self, row: tuple) -> FeedChange | None:
        """Return the change of a vacancy, whose status is None if it is gone. None: no client has
        it.
        """
        pk, status, audience, start, end, brand, was_external, was_internal, has_moved = row
        was_in_list = was_internal if self.list.is_internal else was_external
        is_of_brand = self.brand is None or brand == self.brand
        has_begun = status == "published" and start <= self.now and audience in self.list.audiences
        if has_begun and is_of_brand:
            return FeedChange(pk, is_live(start, end, at=self.now))
        if was_in_list and (status is None or is_of_brand or has_moved):
            return FeedChange(pk, False)
        return None


def changed(number: int, last: int, *, step: int) -> Iterator[tuple[int, int]]:
    """Yield the vacancies that commits changed, after id `last` of commit `number`: the number and
    the id of each, in this order. It reads `step` rows at a time.

    R4: with the vacancies that show a row which the commit touched, as they are now.
    """
    first, last = (number + 1, 0) if last == END else (number, last)
    while True:
        rows = _entries(first, END, last, step)
        for row in rows:
            number, pk = row[:2]
            if not pk:  # it has touches
                after = last if number == first else 0
                yield from ((number, pk) for pk in _carriers(number, after, step))
                first, last = number + 1, 0
                break
            yield row
            first, last = number, pk
        else:
            if len(rows) < step:
                return


def _entries(first: int, until: int, last: int, step: int) -> list[tuple]:
    sql = _ENTRY_ROWS if is_maintained() else _ENTRY_IDS
    return fetch(sql, first, until, first, last, step, first, until, step)


def _carriers(number: int, last: int, step: int) -> Iterator[int]:
    """Yield the ids of the entries of a commit and of the vacancies that it touched, in batches."""
    touches = fetch(_TOUCHES, number)
    while True:
        found = {row[1] for row in _entries(number, number, last, step + 1)} - {0}
        for kind, pk in touches:
            for rows, name in _showing(kind, pk):
                ids = rows.filter(**{f"{name}__gt": last}).order_by(name)
                found.update(ids.values_list(name, flat=True)[:step])
        batch = sorted(found)[:step]
        yield from batch
        if len(batch) < step:
            return
        last = batch[-1]


def _showing(kind: str, pk: int) -> Iterable[tuple[Any, str]]:
    """The rows of the vacancies that show the row, and the column that has their id."""
    published = Vacancy.objects.filter(status="published")
    match kind:
        case TouchKind.OPTION:
            return [(VacancyOption.objects.filter(option=pk), "vacancy_id")]
        case TouchKind.BRAND:
            return [(published.filter(brand=pk), "pk")]
        case TouchKind.RECRUITER:
            links = VacancyRecruiter.objects.filter(recruiter=pk)
            return [(published.filter(head_recruiter=pk), "pk"), (links, "vacancy_id")]
    return [(published, "pk")]
