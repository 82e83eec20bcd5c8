"""Clients of the feed while vacancies change at random: each copy has to equal the list.

Transactions with several changes, renames of what vacancies show, starts and ends, clocks that
differ, deletion of old changes, and pages of 1 to 50 changes. `switched_off` names a rule of the
feed that does not hold, to see that the simulation notices.
"""

import random
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.test import Client
from django.utils import timezone

from jobsite.api.caching import REQUEST_TIME
from jobsite.models import Commit
from tests.factories import make_brand, make_option, make_recruiter, make_vacancy
from vacancies.feed import maintenance
from vacancies.models import Vacancy, VacancyOption, VacancyRecruiter

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


class Simulation:
    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.http = Client()
        self.now = timezone.now()
        self.brands = [make_brand(name, slug=name.lower()) for name in ("Acme", "Beta")]
        self.options = [make_option("regions", f"Region {n}") for n in range(5)]
        self.people = [make_recruiter(f"Person {n}") for n in range(2)]
        self.pks: dict[int, int] = {}  # of vacancies, by slot
        self.copies = [
            Copy(
                self.random.choice(["external", "internal"]),
                self.random.choice(["", "", "acme", "beta"]),
                self.random.choice([1, 2, 3, 50]),
            )
            for _ in range(4)
        ]

    def run(self, steps: int) -> int:
        """Return the number of restarts. Raises DifferenceError."""
        for step in range(steps):
            self.now += self.random.choice([0, 0.1, 1, 5]) * UNIT
            kind = self.random.random()
            if kind < 0.45:
                with transaction.atomic():
                    for _ in range(self.random.choice([1, 1, 1, 2, 6])):
                        self.change()
            elif kind < 0.46:
                self.forget()
            else:
                copy = self.random.choice(self.copies)
                for _ in range(self.random.choice([1, 1, 5])):
                    copy.read(self.http, self.clock())
            if step % 40 == 39:
                self.now += 2 * SKEW + UNIT
                self.settle(step)
        return sum(copy.restarts for copy in self.copies)

    def clock(self) -> datetime:
        """The time of one of the servers."""
        return self.now + self.random.uniform(-1, 1) * SKEW

    def settle(self, step: int) -> None:
        """Let every client read all, and compare."""
        for copy in self.copies:
            for _ in range(1_000):
                if not copy.read(self.http, self.now):
                    break
            else:
                raise DifferenceError(f"step {step}: the feed does not end")
            try:
                assert not copy.has_more
                copy.compare(self.http, self.now)
            except DifferenceError as error:
                raise DifferenceError(f"step {step}: {error}") from None

    def forget(self) -> None:
        """Delete the older half of the changes."""
        numbers = list(Commit.objects.order_by("number").values_list("at", flat=True))
        if numbers:
            maintenance.delete_old(self.random.choice(numbers))

    def change(self) -> None:
        slot, kind = self.random.randint(1, SLOTS), self.random.random()
        pk = self.pks.get(slot)
        if kind < 0.12:
            self.rename()
        elif kind < 0.22:
            Vacancy.objects.filter(pk=pk).delete()
            self.pks.pop(slot, None)
        elif kind < 0.35 and pk:
            self.relate(pk)
        else:
            values = self.values()
            if pk:
                Vacancy.objects.filter(pk=pk).update(**values)
            else:
                self.pks[slot] = make_vacancy(head_recruiter=self.people[0], **values).pk

    def values(self) -> dict[str, Any]:
        choose = self.random.choice
        start = self.now + choose([-20, -5, 0, 3, 10, 40]) * UNIT
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
