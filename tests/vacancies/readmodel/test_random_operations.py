"""Random operations: after each of them, random pages of all lists are those of the plain
implementation.

READMODEL_STEPS=3000 runs more operations than usual, READMODEL_SEED=1 other ones. SQLite needs
fewer, as it has no read model.
"""

import os
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable
from datetime import datetime, timedelta
from operator import attrgetter
from random import Random
from typing import Any
from urllib.parse import urlencode

import pytest
from django.db import transaction
from django.db.models import F, QuerySet
from django.utils import timezone

from tests.factories import make_option, make_vacancy
from tests.vacancies.api.site import LISTS, ON_POSTGRESQL, Site
from tests.vacancies.readmodel.helpers import use_small_buckets, write_rows
from vacancies.api.lists import ListViewSet
from vacancies.choices import Audience
from vacancies.models import (
    Brand,
    BucketCount,
    FilterOption,
    ListedVacancy,
    Place,
    Vacancy,
    VacancyOption,
)
from vacancies.readmodel.maintenance import balance, mark_expired, rebuild

STEPS = int(os.environ.get("READMODEL_STEPS", "200" if ON_POSTGRESQL else "60"))
SEED = int(os.environ.get("READMODEL_SEED", "0"))
MAX_VACANCIES = 120
GRID = timedelta(minutes=10)  # of all times, so that many are equal
COLUMNS = ("external", "hot", "internal", "hot_internal")
REGIONS = ("antwerp", "ghent")


class World:
    """A site, its clock, and what can happen to it.
    Each operation is a method that returns nothing.
    """

    def __init__(self, site: Site, travel: Callable[[datetime], None]) -> None:
        self.random = Random(SEED)
        self.site, self.travel = site, travel
        self.others = [site, Site()]  # processes with a response cache
        self.direct = Site()  # a process without
        self.start = self.now = timezone.now()
        self.options = [make_option("regions", label.title()) for label in REGIONS]
        self.log: list[str] = []
        self.plain: Counter[bool] = Counter()  # pages that needed a plain query, or did not

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
        pks = [
            pk
            for pk in Vacancy.objects.values_list("pk", flat=True)
            if self.random.random() < share
        ]
        return Vacancy.objects.filter(pk__in=pks)

    # --- Operations ---

    def create(self) -> None:
        make_vacancy(
            options={"regions": ["Ghent"]} if self.random.random() < 0.4 else {}, **self.values()
        )

    def create_many(self) -> None:
        shared = Vacancy.objects.first() or make_vacancy()
        people = {"brand_id": shared.brand_id, "head_recruiter_id": shared.head_recruiter_id}
        values = self.values()  # all at one time
        Vacancy.objects.bulk_create(
            Vacancy(**values | people) for _ in range(self.random.randint(2, 14))
        )

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
        self.some().update(
            publish_from=F("publish_from") + by, publish_until=F("publish_until") + by
        )

    def end(self) -> None:
        self.some().filter(publish_from__lt=self.now).update(publish_until=self.now)

    def delete(self) -> None:
        self.some(0.03).delete()

    def choose_options(self) -> None:
        option = self.random.choice(self.options)
        VacancyOption.objects.filter(option=option, vacancy__in=self.some()).delete()
        for vacancy in self.some(0.05).exclude(choices__option=option):
            VacancyOption.objects.create(vacancy=vacancy, option=option, position=0)

    def choose_places(self) -> None:
        Place.objects.filter(vacancy__in=self.some()).delete()
        for vacancy in self.some(0.05):
            city = self.random.choice(REGIONS).title()
            Place.objects.create(vacancy=vacancy, locality=city, country="BE")
        Place.objects.filter(vacancy__in=self.some(0.05)).update(region="Flanders")

    def change_others(self) -> None:
        kind = self.random.choice(("", "INTERN", "FULL_TIME"))
        FilterOption.objects.filter(pk=self.random.choice(self.options).pk).update(
            employment_type=kind
        )
        address = self.random.choice(("", "https://acme.test/"))
        Brand.objects.update(
            vacancy_url=address, host=self.random.choice(("", "acme.test", "new.test"))
        )

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
        assert balance()

    def rebuild(self) -> None:
        rebuild()

    def mark_early(self) -> None:
        write_rows(self.some(0.05).exclude(publish_until=None), is_expired=True)

    def mark_late(self) -> None:
        write_rows(self.some(), is_expired=False)

    CHANGES = {
        create: 6,
        create_many: 3,
        save: 8,
        update: 6,
        redate: 4,
        shift: 3,
        end: 2,
        delete: 5,
        choose_options: 2,
        choose_places: 2,
        change_others: 1,
    }
    OPERATIONS = CHANGES | {
        roll_back: 2,
        roll_back_in_part: 2,
        move_clock: 10,
        move_clock_to_the_next_change: 10,
    }
    if ON_POSTGRESQL:
        OPERATIONS |= {mark: 4, balance: 4, rebuild: 1, mark_early: 1, mark_late: 2}

    def one_of(self, operations: dict[Any, int]) -> Callable[[], None]:
        [operation] = self.random.choices(list(operations), list(operations.values()))
        self.log.append(f"{len(self.log)} {operation.__name__}")
        return lambda: operation(self)

    def step(self) -> None:
        if Vacancy.objects.count() > MAX_VACANCIES:
            self.some(0.5).delete()
        self.one_of(self.OPERATIONS)()

    # --- Checks ---

    def check(self, plain_pages: list[Any]) -> None:
        is_plain = self.check_read_model() if ON_POSTGRESQL else True
        for path in LISTS:
            size = self.random.choice((1, 3, 7, 100))
            query = {
                "page[size]": size,
                "page[number]": self.random.randint(1, MAX_VACANCIES // size // 4 + 2),
            }
            target = f"{path}?{urlencode(self.filters(path) | query)}"
            self.random.choice(self.others).same(target)
            plain_pages.clear()
            self.direct.same(target)
            self.direct.cached.entries.clear()
            assert bool(plain_pages) == is_plain, target
            self.plain[is_plain] += 1

    def check_read_model(self) -> bool:
        """Check rows and counts. Return whether a row is marked as expired that is not."""
        published = Vacancy.objects.filter(status="published")
        columns = ("audience", "is_hot", "publish_from", "publish_until", "brand_id", "form_id")
        rows = {row.pk: row for row in ListedVacancy.objects.all()}
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
        return any(row.is_expired and row.publish_until > self.now for row in rows.values())

    @staticmethod
    def is_in(row: Any, column: str) -> bool:
        audience = "internal" if "internal" in column else "public"
        return row.audience in (audience, "both") and (row.is_hot or "hot" not in column)

    def filters(self, path: str) -> dict[str, str]:
        """Return random parameters of a list."""
        if not path.startswith("/v1/") or self.random.random() > 0.4:
            return {}
        region, word = self.random.choice(REGIONS), self.random.choice(("nurse", "cook"))
        return self.random.choice(
            (
                {"sort": "published_at"},
                {"sort": "-published_at"},
                {"sort": "title"},
                {"sort": "-title"},
                {"filter[regions]": region},
                {"filter[search]": word},
                {"fields": "id,regions"},
            )
        )


@pytest.mark.slow("hundreds of random operations")
@pytest.mark.each_database
def test_pages_after_random_operations(site, settings, monkeypatch, time_machine):
    settings.CAREER_SITE = True
    use_small_buckets(monkeypatch, 8)
    plain_pages: list[Any] = []
    plain_page = ListViewSet.plain_page

    def note(view: Any, state: Any) -> Any:
        plain_pages.append(view)
        return plain_page(view, state)

    monkeypatch.setattr(ListViewSet, "plain_page", note)
    world = World(site, lambda time: time_machine.move_to(time, tick=False))
    world.travel(world.now)
    for _ in range(STEPS):
        try:
            world.step()
            world.check(plain_pages)
        except Exception as error:
            lines = [f"seed {SEED}, at {world.now}, start {world.start}:", *world.log[-15:]]
            raise AssertionError("\n".join(lines)) from error
    if ON_POSTGRESQL:
        assert world.plain[False] > world.plain[True]
        assert world.plain[True] or STEPS < 200  # the clock was behind a marked row
