"""Clients of the feed while vacancies change at random: each copy has to equal the list.

Transactions with several changes, renames of what vacancies show, starts and ends, clocks that
differ, deletion of old changes, and pages of 1 to 50 changes. `python -m tests.vacancies.feed` adds
writers at the same time, servers that are late, and the loss of commits.
"""

import random
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.db import IntegrityError, OperationalError, transaction
from django.test import Client
from django.utils import timezone

from jobsite.api.caching import REQUEST_TIME
from jobsite.models import Commit
from tests.factories import make_brand, make_option, make_recruiter, make_vacancy
from vacancies.feed import maintenance
from vacancies.models import (
    Brand,
    FilterOption,
    Recruiter,
    Vacancy,
    VacancyOption,
    VacancyRecruiter,
)

SLOTS = 14
UNIT = timedelta(milliseconds=10)
SKEW = UNIT
PATHS = {"external": "/v1/vacancies", "internal": "/v1/vacancies/internal"}


class DifferenceError(AssertionError):
    """A copy is not the list."""


@dataclass
class Copy:
    """A client of the feed."""

    kind: str
    brand: str
    size: int
    url: str = ""
    items: dict[int, Any] = field(default_factory=dict)
    restarts: int = 0

    @property
    def start(self) -> str:
        brand = f"&filter[brand]={self.brand}" if self.brand else ""
        return f"{PATHS[self.kind]}/changes?page[size]={self.size}{brand}"

    def read(self, http: Client, at: datetime) -> bool:
        """Apply a page of changes. Return whether the address changed."""
        before = self.url
        response = http.get(self.url or self.start, **{REQUEST_TIME: at})
        if response.status_code == 410:
            self.url, self.items = "", {}
            self.restarts += 1
            return True
        if response.status_code == 400 and "must be the slug" in response.text:
            self.has_more = False  # the list has no vacancy of the brand, and had none recently
            return False
        assert response.status_code == 200, response.content
        body = response.json()
        for change in body["data"]:
            if change["change"] == "upsert":
                self.items[change["id"]] = change["vacancy"]
            else:
                self.items.pop(change["id"], None)
        self.url = body["links"]["next"].removeprefix("http://testserver")
        self.has_more = body["meta"]["more"]
        return bool(self.url != before or body["data"])

    def compare(self, http: Client, at: datetime) -> None:
        """Raise DifferenceError if the copy is not the list."""
        brand = f"&filter[brand]={self.brand}" if self.brand else ""
        listed = http.get(f"{PATHS[self.kind]}?page[size]=100{brand}", **{REQUEST_TIME: at})
        truth = {item["id"]: item for item in listed.json()["data"]}
        if truth != self.items:
            extra, missing = set(self.items) - set(truth), set(truth) - set(self.items)
            stale = [pk for pk in truth.keys() & self.items.keys() if truth[pk] != self.items[pk]]
            what = f"{self.kind} {self.brand or 'all'} in pages of {self.size}"
            raise DifferenceError(f"{what}: extra {extra}, missing {missing}, stale {stale}")


def make_rows() -> None:
    """What all vacancies of a simulation show."""
    for name in ("Acme", "Beta"):
        make_brand(name, slug=name.lower())
    for number in range(5):
        make_option("regions", f"Region {number}")
    for number in range(2):
        make_recruiter(f"Person {number}")


class Simulation:
    """One writer, and `clients`. `now` is simulated, or, with `is_live`, that of the machine."""

    forgets = 0.01  # the part of the steps that delete old changes

    def __init__(self, seed: int, clients: int = 4, *, is_live: bool = False) -> None:
        self.random = random.Random(seed)
        self.http = Client()
        self.now, self.is_live = timezone.now(), is_live
        self.brands = list(Brand.objects.filter(slug__in=["acme", "beta"]))
        self.options = list(FilterOption.objects.filter(value__startswith="region-"))
        self.people = list(Recruiter.objects.filter(name__startswith="Person ").order_by("name"))
        self.copies = [
            Copy(
                self.random.choice(["external", "internal"]),
                self.random.choice(["", "", "acme", "beta"]),
                self.random.choice([1, 2, 3, 50]),
            )
            for _ in range(clients)
        ]

    def run(self, steps: int) -> int:
        """Return the number of restarts. Raises DifferenceError."""
        for step in range(steps):
            self.step()
            if step % 40 == 39:
                self.settle()
        return sum(copy.restarts for copy in self.copies)

    def step(self) -> None:
        """Write, or let a client read."""
        self.tick(self.random.choice([0, 0.1, 1, 5]))
        kind = self.random.random()
        if kind < 0.45:
            with suppress(OperationalError, IntegrityError), transaction.atomic():  # of two at once
                for _ in range(self.random.choice([1, 1, 1, 2, 6])):
                    self.change()
        elif kind < 0.45 + self.forgets:
            self.forget()
        else:
            copy = self.random.choice(self.copies)
            for _ in range(self.random.choice([1, 1, 5])):
                copy.read(self.http, self.clock())

    def tick(self, units: float) -> None:
        self.now = timezone.now() if self.is_live else self.now + units * UNIT

    def clock(self) -> datetime:
        """The time of one of the servers."""
        return self.now + self.random.uniform(-1, 1) * SKEW

    def settle(self) -> None:
        """Let every client read all, and compare. Raises DifferenceError."""
        self.tick(3)
        for copy in self.copies:
            for _ in range(1_000):
                if not copy.read(self.http, self.now):
                    break
            else:
                raise DifferenceError("the feed does not end")
            assert not copy.has_more
            copy.compare(self.http, self.now)

    def forget(self) -> None:
        """Delete the older half of the changes."""
        numbers = list(Commit.objects.order_by("number").values_list("at", flat=True))
        if numbers:
            maintenance.delete_old(self.random.choice(numbers))

    def change(self) -> None:
        slot, kind = f"slot {self.random.randint(1, SLOTS)}", self.random.random()
        rows = Vacancy.objects.filter(reference=slot)
        pk = rows.values_list("pk", flat=True).first()
        if kind < 0.12:
            self.rename()
        elif kind < 0.22:
            rows.delete()
        elif kind < 0.35 and pk:
            self.relate(pk)
        elif pk:
            rows.update(**self.values())
        else:
            make_vacancy(reference=slot, head_recruiter=self.people[0], **self.values())

    def values(self) -> dict[str, Any]:
        choose = self.random.choice
        start = self.now + choose([-20, -5, 0, 3, 10, 40]) * UNIT * (4 if self.is_live else 1)
        return {
            "status": choose(["published", "published", "published", "draft"]),
            "publish_from": start,
            "publish_until": choose([None, start + choose([1, 5, 30]) * UNIT]),
            "audience": choose(["public", "both", "internal"]),
            "brand": choose(self.brands),
            "title": f"Title {self.random.random()}",
        }

    def relate(self, pk: int) -> None:
        """Change the options or the recruiters of a vacancy."""
        if self.random.random() < 0.5:
            VacancyOption.objects.filter(vacancy=pk).delete()
            for option in self.random.sample(self.options, self.random.randint(0, 2)):
                VacancyOption.objects.create(vacancy_id=pk, option=option)
        else:
            VacancyRecruiter.objects.filter(vacancy=pk).delete()
            VacancyRecruiter.objects.create(vacancy_id=pk, recruiter=self.people[1])

    def rename(self) -> None:
        row: Any = self.random.choice([*self.options, *self.brands, *self.people])
        name = (
            "label"
            if hasattr(row, "label")
            else "function"
            if hasattr(row, "function")
            else "description"
        )
        type(row).objects.filter(pk=row.pk).update(**{name: f"{self.random.random()}"})
