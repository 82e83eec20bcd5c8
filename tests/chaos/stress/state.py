"""What all processes of the stress test know of the content, in shared memory, and the content
itself.

A writer increments SEQUENCE before and after each change of a row, so it is odd during the change.
A row whose SEQUENCE is even and the same before and after a request did not change meanwhile. All
columns are doubles.
"""

import time
from collections.abc import Sequence
from datetime import UTC, datetime
from enum import IntEnum
from math import inf
from typing import Any, NamedTuple

import tests.chaos.set_up  # noqa: F401

# isort: split

from django.core.management import call_command

from forms_structure.operations import create
from vacancies.models import Brand, Filter, FilterOption, Recruiter, Vacancy
from vacancies.readmodel import maintenance, totals

REGIONS, BRANDS, RECRUITERS = 6, 4, 4
# What each writer changes.
WRITERS = ("all", "rows", "rows", "related", "names", "imports", "maintenance")
READERS = 3
WIDTH = 13
AUDIENCES = ("public", "internal", "both")


class Row(IntEnum):
    """A vacancy's own row. Its title contains the number of the change that set it."""

    SEQUENCE = 0
    IS_PUBLISHED = 1
    AUDIENCE = 2  # index in AUDIENCES
    IS_HOT = 3
    PUBLISH_FROM = 4  # seconds since 1970
    PUBLISH_UNTIL = 5  # inf: no end
    TITLE = 6  # the number in the committed title
    BEGUN = 7  # how many changes have begun
    BRAND = 8
    HEAD_RECRUITER = 9
    FORM = 10  # 0: none of its own
    PAY = 11  # the number in the note of the committed pay; 0: none
    CHANGED_AT = 12  # monotonic seconds


class Related(IntEnum):
    """The rows that belong to a vacancy. Lists of ids are octal numbers, see `octal`."""

    SEQUENCE = 0
    REGIONS = 1
    ATTACHMENT = 2  # the number in the name of the committed attachment; 0: none
    BEGUN = 3
    RECRUITERS = 4
    PLACE = 5  # the number in the city of the committed place; 0: none
    CHANGED_AT = 12


class Name(IntEnum):
    """The name of a region, brand or recruiter. The employment type of a region and the address of
    a brand change with it.
    """

    SEQUENCE = 0
    TITLE = 1
    BEGUN = 2
    CHANGED_AT = 12


# The first place of each kind in the table of names.
REGION_NAMES, BRAND_NAMES, RECRUITER_NAMES = 0, REGIONS, REGIONS + BRANDS


class Facts(NamedTuple):
    """A vacancy as the oracle takes it."""

    pk: int
    status: str
    audience: str
    is_hot: bool
    publish_from: float
    publish_until: float | None


class Snapshot(NamedTuple):
    """The shared tables at one time: columns by row."""

    rows: Any
    related: Any
    names: Any

    def facts(self, place: int) -> Facts:
        def row(column: Row) -> float:
            return get(self.rows, place, column)

        until = row(Row.PUBLISH_UNTIL)
        return Facts(
            place + 1,
            "published" if row(Row.IS_PUBLISHED) else "unpublished",
            AUDIENCES[int(row(Row.AUDIENCE))],
            bool(row(Row.IS_HOT)),
            row(Row.PUBLISH_FROM),
            until if until < inf else None,
        )


class SharedState:
    """The tables and events that all processes share. The vacancy with the id 1 is at place 0."""

    def __init__(self, count: int, context: Any) -> None:
        self.count = count
        self.rows, self.related = (context.RawArray("d", count * WIDTH) for _ in range(2))
        self.names = context.RawArray("d", (REGIONS + BRANDS + RECRUITERS) * WIDTH)
        self.going, self.ended = context.Event(), context.Event()
        self.idle = context.RawArray("i", len(WRITERS))
        self.writes = context.RawArray("q", len(WRITERS))
        self.responses = context.RawArray("q", READERS)
        self.unchanged = context.RawArray("q", READERS)  # 304
        self.errors = context.Queue()  # kind, details, by how many seconds a response was stale
        self.failed = context.Queue()  # what the database said of each write that failed

    def snapshot(self) -> Snapshot:
        return Snapshot(*([*table] for table in (self.rows, self.related, self.names)))


def get(table: Any, place: int, column: int) -> float:
    return table[place * WIDTH + column]


def octal(chosen: Sequence[int]) -> int:
    """Encode up to seven ids in order: 0o31 from [2, 0]."""
    return int("".join(str(each + 1) for each in chosen) or "0", 8)


def decoded(number: float) -> list[int]:
    return [int(digit) - 1 for digit in f"{int(number):o}" if digit != "0"]


def datetime_at(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


def first_word(place: int) -> str:
    """What the name at `place` begins with."""
    if place < BRAND_NAMES:
        return f"Region{place}"
    return (
        f"Brand{place - BRAND_NAMES}"
        if place < RECRUITER_NAMES
        else f"Person{place - RECRUITER_NAMES}"
    )


def employment_type(number: float) -> str:
    """The employment type of a region whose name has that number."""
    return ("", "FULL_TIME", "PART_TIME")[int(number) % 3]


def address(brand: int, number: float) -> str:
    """The address of the vacancies of a brand whose name has that number."""
    return f"https://brand{brand}.example/c{int(number)}/" if number else ""


def use_small_buckets(size: int) -> None:
    """Let this process divide the buckets of the counts into those of `size`, and sum their rows
    early.
    """
    maintenance.BUCKET_SIZE, maintenance.MAX_SIZE = size, 2 * size
    totals.MAX_SIZE = totals.MAX_ROWS = 2 * size


def fill(shared: SharedState) -> None:
    """Create the content in an empty database, and record it in `shared`."""
    call_command("migrate", verbosity=0)
    for n in range(4):  # 3 belongs to a brand, 4 is the default
        create(
            name=f"Form {n + 1}",
            language="en",
            is_default=n == 3,
            structure=[{"title": f"Form{n + 1}", "description": "", "fields": []}],
        )
    Filter.objects.switch_on_unused()
    Filter.objects.update(is_active=True)
    regions = Filter.objects.get(keyword="regions")
    for n in range(REGIONS):
        FilterOption.objects.create(
            pk=n + 1, filter=regions, label=f"Region{n} c0", value=f"region{n}"
        )
    for n in range(BRANDS):
        Brand.objects.create(pk=n + 1, name=f"Brand{n} c0", form_id=3 if n == 1 else None)
    for n in range(RECRUITERS):
        Recruiter.objects.create(pk=n + 1, name=f"Person{n} c0")
    now = round(time.time(), 6)
    for place in range(shared.count):
        begins = round(now - place * 20_000, 6)
        Vacancy.objects.create(
            pk=place + 1,
            title=f"V{place + 1} c0 word{place % 7}",
            brand_id=1,
            head_recruiter_id=1,
            status="published",
            publish_from=datetime_at(begins),
            description=f"<p>Text of word{place % 7}.</p>",
            updated_at=datetime_at(now),
            created_at=datetime_at(now),
        )
        columns = {Row.IS_PUBLISHED: 1, Row.PUBLISH_FROM: begins, Row.PUBLISH_UNTIL: inf}
        for column, value in columns.items():
            shared.rows[place * WIDTH + column] = value
