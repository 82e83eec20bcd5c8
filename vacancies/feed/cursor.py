"""The cursor of a feed: what a client has read. Whatever it says, a reader only gets what is public
at the time of the request.
"""

import zlib
from dataclasses import astuple, dataclass
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from jobsite.api import cursors
from jobsite.api.cursors import CursorError, CursorExpiredError
from vacancies.querysets import VacancyList

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LAST = int((datetime.max.replace(tzinfo=UTC) - _EPOCH) / timedelta(microseconds=1))


class OtherFeedError(CursorError):
    """It is a cursor of another list, brand, language or selection of keys."""


class FeedScope(NamedTuple):
    """What the client reads: a cursor of something else would mix items."""

    vacancy_list: VacancyList
    brand: int | None = None  # its id
    slug: str = ""
    fields: tuple[str, ...] = ()
    language: str = ""

    def numbers(self) -> tuple[int, ...]:
        """The scope in a cursor: the list, the id of the brand, and checksums."""
        kinds = list(VacancyList)
        return (
            kinds.index(self.vacancy_list),
            self.brand or 0,
            zlib.crc32(self.slug.encode()),
            zlib.crc32(",".join(self.fields).encode(), zlib.crc32(self.language.encode())),
        )


@dataclass(frozen=True)
class WalkCursor:
    """A client that reads the whole list, in the order of the ids."""

    last: int  # id
    number: int  # the revision at which it began
    at: int  # when: microseconds since 1970
    seen: int  # the highest revision at which something in this walk was read


@dataclass(frozen=True)
class LiveCursor:
    """A client that has the list as it was, and reads what changes."""

    number: int  # all commits up to this one are read
    last: int  # in commit `number`, the entries up to this id; END: all
    at: int  # all starts and ends up to this time are read
    at_last: int  # of those at the time `at`, the ids up to this one; END: all
    seen: int


Cursor = WalkCursor | LiveCursor


def microseconds(at: datetime) -> int:
    return (at - _EPOCH) // timedelta(microseconds=1)


def time(at: int) -> datetime:
    return _EPOCH + timedelta(microseconds=at)


def encode(cursor: Cursor, scope: FeedScope) -> str:
    return cursors.encode([*scope.numbers(), *astuple(cursor)])


def decode(text: str, scope: FeedScope) -> Cursor:
    """Return the cursor. Raises CursorError, and CursorExpiredError if the brand's slug belongs to
    another brand now.
    """
    try:
        values = cursors.decode(text)
    except ValueError:
        raise CursorError from None
    if not isinstance(values, list) or len(values) not in (8, 9):
        raise CursorError
    if not all(map(cursors.is_number, values)) or not 0 <= values[6] <= _LAST:
        raise CursorError
    vacancy_list, brand, slug, fields, *position = values
    cursor: Cursor = WalkCursor(*position) if len(position) == 4 else LiveCursor(*position)
    if encode(cursor, scope) == text:
        return cursor
    wanted = scope.numbers()
    if (vacancy_list, fields) != (wanted[0], wanted[3]) or (brand, slug) == wanted[1:3]:
        raise OtherFeedError
    if brand == wanted[1]:  # it has another slug now
        return cursor
    if brand and slug == wanted[2]:
        raise CursorExpiredError
    raise OtherFeedError
