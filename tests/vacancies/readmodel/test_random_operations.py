"""Random operations: after each of them, random pages of all lists equal a plain query.

READMODEL_STEPS=3000 runs more operations than usual, READMODEL_SEED=1 other ones.
"""

import json
import os
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable
from datetime import datetime, timedelta
from operator import attrgetter
from random import Random
from typing import Any
from urllib.parse import quote

import pytest
from django.db import transaction
from django.db.models import F, QuerySet
from django.utils import timezone

from tests.factories import make_option, make_vacancy
from tests.vacancies.api.test_fast_path import LISTS, Site
from tests.vacancies.readmodel.helpers import use_small_buckets, write_rows
from tests.wsgi import ask
from vacancies.api.fast_path import PATHS
from vacancies.models import Audience, BucketCount, ListedVacancy, Vacancy, VacancyOption
from vacancies.readmodel.maintenance import balance, mark_expired, rebuild

STEPS = int(os.environ.get("READMODEL_STEPS", "300"))
SEED = int(os.environ.get("READMODEL_SEED", "0"))
MAX_VACANCIES = 120
GRID = timedelta(minutes=10)  # of all times, so that many are equal
COLUMNS = ("external", "hot", "internal", "hot_internal")
REGIONS = ("antwerp", "ghent")


class World:
    """A site, its clock, and what can happen to it. Each operation is a method that returns nothing."""

    def __init__(self, site: Site, travel: Callable[[datetime], None]) -> None:
        self.random = Random(SEED)
        self.site, self.travel = site, travel
        self.others = [site, Site(site.django)]  # processes with a response cache
        self.direct = Site(site.django)  # a process without
        self.start = self.now = timezone.now()
        self.options = [make_option("regions", label.title()) for label in REGIONS]
        self.log: list[str] = []
        self.fast: Counter[bool] = Counter()

    # --- Choices ---

    def time(self, earliest: int = -144, latest: int = 144) -> datetime:
        exact = self.start + self.random.randint(earliest, latest) * GRID
        return exact + timedelta(microseconds=self.random.choice((0, 0, 0, 0, -1, 1)))

    def dates(self) -> dict[str, datetime | None]:
        start, end = self.time(), self.random.choice((None, self.time()))
        if end and end <= start:
            end = start + self.random.randint(1, 12) * GRID
        return {"publish_from": start, "publish_until": end}

    def values(self) -> dict[str, Any]:
        return self.dates() | {
            "audience": self.random.choice(Audience.values),
            "is_hot": self.random.random() < 0.4,
            "status": self.random.choice(("published",) * 4 + ("draft", "unpublished")),
            "title": self.random.choice(("nurse", "cook", "baker")),
        }

    def some(self, share: float = 0.2) -> QuerySet[Vacancy]:
        pks = [pk for pk in Vacancy.objects.values_list("pk", flat=True) if self.random.random() < share]
        return Vacancy.objects.filter(pk__in=pks)

    # --- Operations ---

    def create(self) -> None:
        make_vacancy(options={"regions": ["Ghent"]} if self.random.random() < 0.4 else {}, **self.values())

    def create_many(self) -> None:
        shared = Vacancy.objects.first() or make_vacancy()
        people = {"brand_id": shared.brand_id, "head_recruiter_id": shared.head_recruiter_id}
        values = self.values()  # all at one time
        Vacancy.objects.bulk_create(Vacancy(**values | people) for _ in range(self.random.randint(2, 14)))

    def save(self) -> None:
        for vacancy in self.some(0.02):
            for name, value in self.values().items():
                setattr(vacancy, name, value)
            vacancy.save()

    def update(self) -> None:
        name = self.random.choice(("audience", "is_hot", "status"))
        self.some().update(**{name: self.values()[name]})

    def redate(self) -> None:
        self.some().update(**self.dates())

    def shift(self) -> None:
        by = self.random.randint(-30, 30) * GRID
        self.some().update(publish_from=F("publish_from") + by, publish_until=F("publish_until") + by)

    def end(self) -> None:
        self.some().filter(publish_from__lt=self.now).update(publish_until=self.now)

    def delete(self) -> None:
        self.some(0.03).delete()

    def choose_options(self) -> None:
        option = self.random.choice(self.options)
        VacancyOption.objects.filter(option=option, vacancy__in=self.some()).delete()
        for vacancy in self.some(0.05).exclude(choices__option=option):
            VacancyOption.objects.create(vacancy=vacancy, option=option, position=0)

    def roll_back(self) -> None:
        with transaction.atomic():
            self.one_of(self.CHANGES)()
            transaction.set_rollback(True)

    def roll_back_in_part(self) -> None:
        with transaction.atomic():
            self.one_of(self.CHANGES)()
            self.roll_back()
            self.one_of(self.CHANGES)()

    def move_clock(self) -> None:
        self.now = self.random.choice((self.time(0), self.time(0), self.time(-40, 0)))
        self.travel(self.now)

    def move_clock_to_the_next_change(self) -> None:
        due = Vacancy.objects.next_change(after=self.now)
        self.now = (due or self.now) - timedelta(microseconds=self.random.choice((0, 0, 1)))
        self.travel(self.now)

    def mark(self) -> None:
        mark_expired()

    def balance(self) -> None:
        assert balance() is not False

    def rebuild(self) -> None:
        rebuild()

    def mark_early(self) -> None:
        write_rows(self.some(0.05).exclude(publish_until=None), is_expired=True)

    def mark_late(self) -> None:
        write_rows(self.some(), is_expired=False)

    CHANGES = {create: 6, create_many: 3, save: 8, update: 6, redate: 4, shift: 3, end: 2, delete: 5,
               choose_options: 2}  # fmt: skip
    OPERATIONS = CHANGES | {
        roll_back: 2, roll_back_in_part: 2, move_clock: 10, move_clock_to_the_next_change: 10, mark: 4,
        balance: 4, rebuild: 1, mark_early: 1, mark_late: 2,
    }  # fmt: skip

    def one_of(self, operations: dict[Any, int]) -> Callable[[], None]:
        [operation] = self.random.choices(list(operations), list(operations.values()))
        self.log.append(f"{len(self.log)} {operation.__name__}")
        return lambda: operation(self)

    def step(self) -> None:
        if Vacancy.objects.count() > MAX_VACANCIES:
            self.some(0.5).delete()
        self.one_of(self.OPERATIONS)()

    # --- Checks ---

    def check(self) -> None:
        published = list(Vacancy.objects.filter(status="published").prefetch_related("choices__option"))
        marked = self.check_read_model(published)
        is_fast = all(row.publish_until <= self.now for row in marked)
        for path in LISTS:
            shown = [each for each in published if self.is_shown(each, PATHS[path].list.column)]
            query, expected = self.query(path, shown)
            for process in (self.random.choice(self.others), self.direct):
                self.check_page(process, path, query, expected, is_fast=is_fast)

    def check_read_model(self, published: list[Vacancy]) -> list[ListedVacancy]:
        """Check rows and counts. Return the rows that are marked as expired."""
        columns = ("audience", "is_hot", "publish_from", "publish_until", "brand_id", "form_id")
        rows = {row.pk: row for row in ListedVacancy.objects.defer("v1", "v0_1")}
        key = attrgetter("pk", *columns)
        assert {key(row) for row in rows.values()} == {key(vacancy) for vacancy in published}
        counts: dict[Any, Counter[str]] = {}
        for at, pk, *numbers in BucketCount.objects.values_list("start_at", "start_id", *COLUMNS):
            counts.setdefault((at, pk), Counter()).update(dict(zip(COLUMNS, numbers, strict=True)))
        starts = sorted(counts)
        for row in rows.values():
            if not row.is_expired:
                bucket = starts[bisect_right(starts, (row.publish_from, row.pk)) - 1]
                counts[bucket].subtract(column for column in COLUMNS if self.is_in(row, column))
        assert not any(number for each in counts.values() for number in each.values()), counts
        return [row for row in rows.values() if row.is_expired]

    @staticmethod
    def is_in(row: Any, column: str) -> bool:
        audience = "internal" if "internal" in column else "public"
        return row.audience in (audience, "both") and (row.is_hot or "hot" not in column)

    def is_shown(self, vacancy: Vacancy, column: str) -> bool:
        start, end = vacancy.publish_from, vacancy.publish_until
        assert start
        return start <= self.now and (end is None or self.now < end) and self.is_in(vacancy, column)

    def query(self, path: str, shown: list[Vacancy]) -> tuple[dict[str, Any], list[int]]:
        """Return random parameters of a list, and the ids that it has to return on all of its pages."""
        query: dict[str, Any] = {}
        shown = sorted(shown, key=lambda each: (each.publish_from, each.pk), reverse=True)
        if path.startswith("/v1/") and self.random.random() < 0.4:
            region, word = self.random.choice(REGIONS), self.random.choice(("nurse", "cook"))
            query = self.random.choice((
                {"sort": "published_at"}, {"sort": "-published_at"}, {"sort": "title"},
                {"filter[regions]": region}, {"filter[search]": word},
            ))  # fmt: skip
            if "filter[regions]" in query:
                shown = [v for v in shown if region in (each.option.value for each in v.choices.all())]
            elif "filter[search]" in query:
                shown = [v for v in shown if v.title == word]
            elif query["sort"] == "published_at":
                shown = shown[::-1]
            elif query["sort"] == "title":
                shown = sorted(shown, key=lambda each: (each.title.lower(), -each.pk))
        return query, [vacancy.pk for vacancy in shown]

    def check_page(
        self, process: Site, path: str, query: dict[str, Any], expected: list[int], *, is_fast: bool
    ) -> None:
        size = self.random.choice((1, 3, 7, 100))
        number = self.random.randint(1, -(-len(expected) // size) + 1)
        query = query | {"page[size]": size, "page[number]": number}
        path += "?" + "&".join(f"{quote(name)}={value}" for name, value in query.items())
        if process is self.direct:
            before = process.fast_responses
            body = ask(process.cached, path)[2]
            process.cached.entries.clear()
            assert (process.fast_responses > before) == is_fast, path
            self.fast[is_fast] += 1
        else:
            body = ask(process.cached, path)[2]
        found = json.loads(body)
        page = [item["id"] for item in found["data"]]
        assert page == expected[(number - 1) * size : number * size], path
        assert found["meta"]["total"] == len(expected), path


@pytest.mark.slow("hundreds of random operations")
@pytest.mark.each_database
def test_pages_after_random_operations(site, monkeypatch, time_machine):
    use_small_buckets(monkeypatch, 8)
    world = World(site, lambda time: time_machine.move_to(time, tick=False))
    world.travel(world.now)
    for _ in range(STEPS):
        try:
            world.step()
            world.check()
        except Exception as error:
            lines = [f"seed {SEED}, at {world.now}, start {world.start}:", *world.log[-15:]]
            raise AssertionError("\n".join(lines)) from error
    assert world.fast[True] > world.fast[False]
    assert world.fast[False] or STEPS < 300  # the clock was behind a marked row
