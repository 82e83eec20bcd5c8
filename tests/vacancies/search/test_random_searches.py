"""After every change, searches find what the plain implementation finds, in its order, in a process
with an index and in a new one.

SEARCH_STEPS=500 runs more changes than usual, SEARCH_SEED=1 other ones.
"""

import json
import os
from collections.abc import Callable
from datetime import datetime, timedelta
from random import Random
from typing import Any
from urllib.parse import urlencode

import pytest
from django.db import transaction
from django.utils import timezone

from tests.factories import make_brand, make_option, make_vacancy
from tests.vacancies.api.site import V1_LISTS, Site
from vacancies.models import Brand, FilterOption, Place, SearchChange, Vacancy, VacancyOption
from vacancies.search import index
from vacancies.search.merge import merge

STEPS = int(os.environ.get("SEARCH_STEPS", "60"))
SEED = int(os.environ.get("SEARCH_SEED", "0"))
TITLES = (
    "Steuerberater (m/w/d)",
    "Steuerberaterin",
    "Vrachtwagenchauffeur",
    "Chauffeur C++",
    "Infirmière de nuit",
    "Infirmier",
    "Nurse",
    "Night nurses",
    "IT-Systemadministrator",
    "Verkäufer/in",
    "Vendeuse",
    "R developer",
    "Software-Entwickler",
    "Softwareentwicklerin",
    ".NET Entwickler",
    "Night shift nurse",
    "Office manager",
    "東京 office",
)
PLACES = ("Gent", "Sint-Niklaas", "Den Haag", "Köln", "")
TEXTS = (
    "<p>IT night shift in Gent</p>",
    "<p>Nurses and a chauffeur.</p>",
    "<p>Entwickler, c++, R.</p>",
    "",
)
LABELS = ("Voltijds", "Night work", "Verpleegkundigen", "Köln")
QUERIES = (
    "steuerberater",
    "Steuerberaterin",
    "chauffeur",
    "vrachtwagenchauffeurs",
    "infirmiere",
    "nurse",
    "night nurse",
    '"night shift"',
    '"night nurse" IT',
    "IT",
    "r",
    "c++",
    ".net",
    "verkaeufer",
    "softwareentwickler",
    "entwickler koln",
    "gent",
    '"den haag"',
    "vendeur",
    "nurss",
    "steuerberatter gent",
    "chaufeur",
    "zzzz",
    "office",
    "東",
    "acme",
    "lumen care",
    "voltijd",
    "verpleegkundige",
    "nachtschicht chauffeur",
    "&",
    '"night work"',
    "off",
)
FEW = (2_000, 1)  # numbers of ids that the database sorts
SORTS = (
    "",
    "relevance",
    "title",
    "-title",
    "published_at",
    "-published_at",
    "closes_at",
    "-closes_at",
)
FILTERS = (
    ("regions", "voltijds,night-work"),
    ("brand", "acme"),
    ("country", "BE,NL"),
    ("language", "en"),
    ("language", "nl,fr"),
    ("employment_types", "FULL_TIME"),
    ("work_place", "remote"),
    ("near", "51,4,50"),
)


class World:
    def __init__(self, travel: Callable[[datetime], None], sort_few: Callable[[int], None]) -> None:
        self.random, self.travel, self.sort_few = Random(SEED), travel, sort_few
        self.start = timezone.now()
        self.process = Site()
        self.log: list[str] = []

    def time(self) -> datetime:
        return self.start + timedelta(hours=self.random.randint(-30, 30))

    def values(self) -> dict[str, Any]:
        start = self.time()
        choose = self.random.choice
        return {
            "title": choose(TITLES),
            "title_internal": choose(("", "", "Night R. IT")),
            "reference": f"A{self.random.randrange(10**6)}",
            "location": choose(PLACES),
            "description": choose(TEXTS),
            "language": choose(("", "en", "nl", "fr", "de", "es")),
            "work_place": choose(("", "remote")),
            "is_hot": self.random.random() < 0.5,
            "audience": choose(("public", "both", "internal")),
            "status": choose(("published",) * 4 + ("draft",)),
            "publish_from": start,
            "publish_until": choose((None, start + timedelta(hours=20))),
        }

    def some(self, share: float) -> Any:
        pks = [
            pk
            for pk in Vacancy.objects.values_list("pk", flat=True)
            if self.random.random() < share
        ]
        return Vacancy.objects.filter(pk__in=pks)

    # --- Changes ---

    def create(self) -> None:
        brand = make_brand(self.random.choice(("Acme", "Lumen Care")))
        options = {"regions": self.random.sample(LABELS, self.random.randint(0, 2))}
        made = make_vacancy(brand=brand, options=options, **self.values())
        if self.random.random() < 0.4:
            Place.objects.create(
                vacancy=made,
                locality=self.random.choice(PLACES[:3]),
                country="BE",
                latitude=51,
                longitude=4,
            )

    def save(self) -> None:
        for vacancy in self.some(0.1):
            for name, value in self.values().items():
                setattr(vacancy, name, value)
            vacancy.save()

    def update(self) -> None:
        name = self.random.choice(("title", "language", "audience", "is_hot", "status"))
        self.some(0.3).update(**{name: self.values()[name]})

    def redate(self) -> None:
        values = self.values()
        dates = {name: values[name] for name in ("publish_from", "publish_until")}
        self.some(0.3).update(**dates)

    def change_options(self) -> None:
        VacancyOption.objects.filter(vacancy__in=self.some(0.3)).delete()
        for vacancy in self.some(0.1).filter(choices=None):
            option = make_option("regions", self.random.choice(LABELS))
            VacancyOption.objects.create(vacancy=vacancy, option=option, position=0)

    def change_places(self) -> None:
        Place.objects.filter(vacancy__in=self.some(0.3)).delete()
        Place.objects.update(locality=self.random.choice(PLACES[:3]))

    def rename(self) -> None:
        for option in FilterOption.objects.all():
            label = f"{self.random.choice(LABELS)} {option.pk}"
            values = {
                "value": f"renamed-{option.pk}",
                "employment_type": self.random.choice(("", "FULL_TIME")),
            }
            FilterOption.objects.filter(pk=option.pk).update(label=label, **values)
        for brand in Brand.objects.filter(name__startswith="Lumen"):
            name = f"Lumen {self.random.choice(TITLES)} {brand.pk}"
            Brand.objects.filter(pk=brand.pk).update(name=name)

    def delete(self) -> None:
        self.some(0.1).delete()

    def roll_back(self) -> None:
        with transaction.atomic():
            self.update()
            transaction.set_rollback(True)

    def move_clock(self) -> None:
        self.travel(self.time())

    def merge(self) -> None:
        merge()
        assert not SearchChange.objects.exists()

    def rebuild(self) -> None:
        merge(anew=True)

    CHANGES = {
        create: 8,
        save: 5,
        update: 5,
        redate: 3,
        change_options: 3,
        change_places: 2,
        rename: 2,
        delete: 2,
        roll_back: 1,
        move_clock: 4,
        merge: 4,
        rebuild: 1,
    }

    def step(self) -> None:
        [change] = self.random.choices(list(self.CHANGES), list(self.CHANGES.values()))
        self.log.append(change.__name__)
        change(self)

    def check(self) -> None:
        new = Site()
        for path in (*V1_LISTS, "/v1/vacancies"):
            query = {
                "filter[search]": self.random.choice(QUERIES),
                "fields": "id,title",
                "page[size]": 100,
            }
            if sort := self.random.choice(SORTS):
                query["sort"] = sort
            if self.random.random() < 0.4:
                name, value = self.random.choice(FILTERS)
                query[f"filter[{name}]"] = value
            target = f"{path}?{urlencode(query)}"
            few = self.random.sample(FEW, 2)
            self.sort_few(few[0])
            found = self.process.same(target)
            self.sort_few(few[1])
            assert json.loads(new.body(target)) == found, target


@pytest.mark.slow("many random changes")
@pytest.mark.each_database
def test_searches_after_random_changes(site, monkeypatch, time_machine):
    world = World(
        travel=lambda time: time_machine.move_to(time, tick=False),
        sort_few=lambda number: monkeypatch.setattr(index, "FEW", number),
    )
    world.travel(world.start)
    for _ in range(10):
        world.create()
    for _ in range(STEPS):
        world.step()
        try:
            world.check()
        except Exception as error:
            raise AssertionError(f"seed {SEED}, after {world.log[-10:]}") from error
