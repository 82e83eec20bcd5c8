"""What a system reads next: first all applications of a brand by id, then what changed.

A cursor says what is read. Late commits are not lost: a reader gets the changes of transactions
that are older than every running one (docs/integrations.md).
"""

from collections.abc import Collection
from dataclasses import astuple, dataclass, replace
from datetime import UTC, datetime, timedelta

from django.db import connection
from django.db.models import Max, Q

from applications.models import Application, Outgoing
from jobsite.api import cursors
from jobsite.api.cursors import END, CursorError, CursorExpiredError
from jobsite.ops.backups.restore import REVISION_STEP
from jobsite.serving.revision import read_state

PAGE = 100


@dataclass(frozen=True)
class OutgoingCursor:
    brand: int  # 0: none
    epoch: str  # of the database: a failover or a restore changes it
    mark: int  # all changes below are read
    last: int  # with `mark`, the applications up to this one; END: all
    walked: int  # the applications up to this id are read; END: all
    at: int  # seconds since 1970: what changed before is read


@dataclass(frozen=True)
class OutgoingPage:
    """The ids of what changed in order, of which those in `gone` left the brand."""

    pks: list[int]
    gone: set[int]
    cursor: OutgoingCursor
    has_more: bool


def encode(cursor: OutgoingCursor) -> str:
    return cursors.encode(astuple(cursor))


def decode(text: str, brand: int, *, now: datetime) -> OutgoingCursor:
    """Return the cursor. Raises CursorError and CursorExpiredError."""
    try:
        cursor = OutgoingCursor(*cursors.decode(text))
        since = datetime.fromtimestamp(cursor.at, UTC)
    except (ValueError, TypeError, OverflowError, OSError) as error:
        raise CursorError from error
    numbers = [cursor.brand, cursor.mark, cursor.last, cursor.walked, cursor.at]
    is_whole = all(map(cursors.is_number, numbers)) and encode(cursor) == text
    if not is_whole or cursor.brand != brand:
        raise CursorError
    # A day less than rows are kept: `purge` may run while a client reads.
    if cursor.epoch != epoch() or since < now - Outgoing.KEPT + timedelta(days=1):
        raise CursorExpiredError
    return cursor


def begin(brand: int, *, now: datetime) -> OutgoingCursor:
    """Return the cursor of a reader who has nothing."""
    return OutgoingCursor(brand, epoch(), horizon() - 1, END, 0, int(now.timestamp()))


def epoch() -> str:
    """Return what changes with a failover and a restore, after which marks may repeat."""
    restores = read_state().shared // REVISION_STEP
    timeline = ""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT jobsite_timeline()")
            timeline = cursor.fetchone()[0]
    return f"{timeline}:{restores}"


def horizon() -> int:
    """Return the mark below which every transaction has ended."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint")
            return cursor.fetchone()[0]
    return (Outgoing.objects.aggregate(last=Max("mark"))["last"] or 0) + 1


def read(cursor: OutgoingCursor, *, now: datetime) -> OutgoingPage:
    """Return what follows `cursor`."""
    if cursor.walked < END:
        return _walk(cursor)
    found = changed(cursor, [cursor.brand])
    page, has_more = found[:PAGE], len(found) > PAGE
    following = after(cursor, page[-1] if page else None, now=now, has_more=has_more)
    known = [row for row in page if row.entered is not None]
    gone = {row.application for row in known if row.is_gone}
    return OutgoingPage([row.application for row in known], gone, following, has_more)


def changed(cursor: OutgoingCursor, brands: Collection[int]) -> list[Outgoing]:
    """Return what changed after `cursor` for readers of `brands`, at most a page and one row."""
    # The horizon first: a later one would be of a later snapshot than the rows.
    below = horizon()
    later = Q(mark__gt=cursor.mark) | Q(mark=cursor.mark, application__gt=cursor.last)
    rows = Outgoing.objects.filter(later, brand__in=brands, mark__lt=below)
    return list(rows.order_by("mark", "application", "brand")[: PAGE + 1])


def after(
    cursor: OutgoingCursor, row: Outgoing | None, *, now: datetime, has_more: bool
) -> OutgoingCursor:
    """Return the cursor of who has read everything up to `row`."""
    mark, last = (row.mark, row.application) if row else (cursor.mark, cursor.last)
    until = min(row.at, now) if row and has_more else now
    return replace(cursor, mark=mark, last=last, at=int(until.timestamp()))


def _walk(cursor: OutgoingCursor) -> OutgoingPage:
    rows = Application.objects.filter(vacancy__brand=cursor.brand or None, pk__gt=cursor.walked)
    found = list(rows.order_by("pk").values_list("pk", flat=True)[: PAGE + 1])
    has_more = len(found) > PAGE
    walked = found[PAGE - 1] if has_more else END
    return OutgoingPage(found[:PAGE], set(), replace(cursor, walked=walked), has_more)
