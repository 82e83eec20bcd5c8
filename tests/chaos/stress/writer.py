"""A process that changes the content and records each change in shared memory."""

import random
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from math import inf
from typing import Any

import tests.chaos.set_up  # noqa: F401

# isort: split

from django.db import DatabaseError, transaction
from django.db.models import F, Value
from django.db.models.functions import Concat

from tests.chaos.stress import state
from tests.chaos.stress.state import WIDTH, Name, Related, Row, SharedState, datetime_at, get
from vacancies import models
from vacancies.models import Vacancy, VacancyOption, VacancyRecruiter
from vacancies.readmodel import maintenance
from vacancies.readmodel.totals import is_maintained
from vacancies.search.merge import merge


def write(shared: SharedState, number: int, is_sqlite: bool) -> None:
    Writer(shared, number, is_sqlite).run()


class RollbackError(Exception):
    pass


class Writer:
    """Changes the rows that it owns; `number` is its place in state.WRITERS."""

    def __init__(self, shared: SharedState, number: int, is_sqlite: bool) -> None:
        self.shared, self.number, self.random = shared, number, random.Random(number)
        self.kind = state.WRITERS[number]
        self.suffix = ""  # of texts that are rolled back
        # The share of transactions that stay open for a second.
        self.long = 0.01 if is_sqlite else 0.2 if self.kind == "related" else 0.06
        rest = [place for place in range(shared.count) if place % 5 > 1]
        self.own = {
            "all": [place for place in range(shared.count) if place % 5 == 0],
            "imports": [place for place in range(shared.count) if place % 5 == 1],
            "maintenance": [],
            "rows": [place for place in rest if place % 2 == number % 2],
            "related": rest,
            "names": list(range(state.REGIONS + state.BRANDS + state.RECRUITERS)),
        }[self.kind]

    def run(self) -> None:
        mark_expired = partial(self.maintain, maintenance.mark_expired)
        actions = {
            "all": [self.row, self.related, self.related, self.bulk, self.recreate],
            "rows": [self.row, self.row, self.row, self.bulk],
            "related": [self.related],
            "names": [self.name],
            "imports": [self.import_many],
            "maintenance": [self.merge]
            + [self.balance, self.balance, self.balance, mark_expired, self.rebuild]
            * is_maintained(),
        }[self.kind]
        while not self.shared.ended.is_set():
            if not self.shared.going.is_set():
                self.shared.idle[self.number] = 1
                time.sleep(0.02)
                continue
            self.shared.idle[self.number] = 0
            self.random.choice(actions)()
            time.sleep(self.random.uniform(0.02, 0.2) * (4 if self.kind == "names" else 1))

    @contextmanager
    def changing(self, *tables: Any, places: list[int], begun: int | None = None) -> Iterator[Any]:
        """Run a transaction that changes `places` of `tables`. Yields a dict for each table, to be
        filled with the new values of columns, by place. `begun`: the column of the first table that
        counts changes.

        Some transactions stay open for a second, some are rolled back."""
        becomes: list[dict[int, dict[int, float]]] = [
            {place: {} for place in places} for _ in tables
        ]
        is_long, is_rolled_back = self.random.random() < self.long, self.random.random() < 0.1
        self.suffix = " NEVER" if is_rolled_back else ""
        self.mark(tables, places)
        for place in places if begun is not None else ():
            tables[0][place * WIDTH + (begun or 0)] += 1
        try:
            with transaction.atomic():
                if self.random.random() < 0.1:
                    self.roll_back_savepoint()
                yield becomes if len(tables) > 1 else becomes[0]
                if is_long:
                    time.sleep(1)
                if is_rolled_back:
                    raise RollbackError
        except RollbackError:
            self.shared.writes[self.number] += 1
        except DatabaseError as error:  # a deadlock: rolled back by the database
            self.failed(error)
        else:
            self.shared.writes[self.number] += 1
            for table, changed in zip(tables, becomes, strict=True):
                for place, columns in changed.items():
                    for column, value in columns.items():
                        table[place * WIDTH + column] = value
                    table[place * WIDTH + Row.CHANGED_AT] = time.monotonic()
        self.mark(tables, places)

    @staticmethod
    def mark(tables: tuple[Any, ...], places: list[int]) -> None:
        """Increment SEQUENCE: before a change, and after it."""
        for table in tables:
            for place in places:
                table[place * WIDTH + Row.SEQUENCE] += 1

    def failed(self, error: Exception) -> None:
        message, _, details = str(error).partition("\n")
        place = re.search(r'in relation "\w+"', details)
        self.shared.failed.put(f"{self.kind}: {message}{' ' + place[0] if place else ''}")

    def roll_back_savepoint(self) -> None:
        pks = [place + 1 for place in self.random.sample(self.own, 2)]
        if self.kind in ("all", "rows"):
            with suppress(RollbackError), transaction.atomic():
                Vacancy.objects.filter(pk__in=pks).update(title="NEVER in a savepoint", is_hot=True)
                raise RollbackError

    def values(self, place: int) -> tuple[dict[str, Any], dict[int, float]]:
        """Choose a change of a vacancy's row: its columns in the database, and in shared memory."""
        table, now = self.shared.rows, time.time()
        count = get(table, place, Row.BEGUN)
        choose: Any = self.random.choice
        title = {"title": self.title(place, count)}, {Row.TITLE: count}
        amount = {"pay_min": count, "pay_currency": "EUR", "pay_period": "month"}
        pay = amount | {"pay_note": f"Pay c{int(count)}{self.suffix}"}, {Row.PAY: count}
        begins, ends = get(table, place, Row.PUBLISH_FROM), get(table, place, Row.PUBLISH_UNTIL)

        def dates(begins: float, ends: float) -> tuple[dict[str, Any], dict[Row, float]]:
            begins, ends = round(begins, 6), round(ends, 6) if ends < inf else inf
            return {
                "publish_from": datetime_at(begins),
                "publish_until": datetime_at(ends) if ends < inf else None,
                "status": "published",
            }, {Row.PUBLISH_FROM: begins, Row.PUBLISH_UNTIL: ends, Row.IS_PUBLISHED: 1}

        if not get(table, place, Row.IS_PUBLISHED):
            begins, ends = choose(
                [(-each, inf) for each in (0, 0.001, 3, 90_000, 900_000)]
                + [(each, inf) for each in (0.3, 1, 2)] * 2
                + [(1, 1.5), (1, 3)] * 3
            )
            return dates(now + begins, now + ends)
        brand, head, form = (
            choose(range(state.BRANDS)),
            choose(range(state.RECRUITERS)),
            choose(range(3)),
        )
        audience, hot = choose([0, 0, 0, 1, 2]), float(self.random.random() < 0.06)
        return choose(
            [
                title,
                title,
                title,
                pay,
                ({"status": choose(["unpublished", "draft", "archived"])}, {Row.IS_PUBLISHED: 0}),
                dates(now + choose([0.3, 1, 2]), inf),
                dates(now - 5, now + choose([0.01, 1, 2])),
                dates(begins, inf) if ends < inf else dates(now - choose([0, 90_000]), inf),
                ({"audience": state.AUDIENCES[audience]}, {Row.AUDIENCE: audience}),
                ({"is_hot": bool(hot)}, {Row.IS_HOT: hot}),
                ({"brand_id": brand + 1}, {Row.BRAND: brand}),
                ({"head_recruiter_id": head + 1}, {Row.HEAD_RECRUITER: head}),
                ({"form_id": form or None}, {Row.FORM: form}),
            ]
        )

    def title(self, place: int, count: float) -> str:
        return f"V{place + 1} c{int(count)} word{place % 7}{self.suffix}"

    def row(self) -> None:
        table = self.shared.rows
        place = self.random.choice(self.own)
        if self.random.random() < 0.4:  # an unpublished one whose related rows are being changed
            related = self.shared.related
            offline = [each for each in self.own if not get(table, each, Row.IS_PUBLISHED)]
            busy = [each for each in offline if get(related, each, Related.SEQUENCE) % 2]
            place = self.random.choice(busy or [place])
        with self.changing(table, places=[place], begun=Row.BEGUN) as becomes:
            columns, becomes[place] = self.values(place)
            if self.random.random() < 0.5:
                Vacancy.objects.filter(pk=place + 1).update(**columns)
            else:
                vacancy = Vacancy.objects.get(pk=place + 1)
                for name, value in columns.items():
                    setattr(vacancy, name, value)
                vacancy.save()

    def bulk(self) -> None:
        """Change many rows by one statement."""
        places = sorted(self.random.sample(self.own, min(25, len(self.own))))
        now = round(time.time(), 6)
        kind = self.random.choice(["hot", "unpublish", "publish", "publish", "expire", "title"])
        with self.changing(self.shared.rows, places=places) as becomes:
            rows = Vacancy.objects.filter(pk__in=[place + 1 for place in places])
            if kind == "hot":
                rows.update(is_hot=False)
                becomes.update({place: {Row.IS_HOT: 0} for place in places})
            elif kind == "unpublish":
                rows.filter(publish_from__isnull=False).update(status="unpublished")
                becomes.update({place: {Row.IS_PUBLISHED: 0} for place in places})
            elif kind == "publish":
                begins = round(now + self.random.choice([0, 0, 1]), 6)
                rows.update(
                    status="published", publish_from=datetime_at(begins), publish_until=None
                )
                columns = {Row.IS_PUBLISHED: 1, Row.PUBLISH_FROM: begins, Row.PUBLISH_UNTIL: inf}
                becomes.update(dict.fromkeys(places, columns))
            elif kind == "expire":
                ends = round(now + self.random.choice([-400, -299, -1, 0.5, 1, 2]), 6)
                rows.filter(publish_from__lt=datetime_at(ends)).update(
                    publish_until=datetime_at(ends)
                )
                started = [p for p in places if get(self.shared.rows, p, Row.PUBLISH_FROM) < ends]
                becomes.update({place: {Row.PUBLISH_UNTIL: ends} for place in started})
            else:
                rows.update(title=Concat(F("title"), Value(self.suffix)))

    def import_many(self) -> None:
        """Replace many vacancies by others with the same ids:
        all expired, or published at one instant.
        """
        places = sorted(self.random.sample(self.own, min(25, len(self.own))))
        table, now, choose = self.shared.rows, time.time(), self.random.choice
        if choose([True, False]):
            begins, ends = (
                now - choose([1_000, 90_000, 900_000]),
                now - choose([0, 1, 299, 301, 390, 900]),
            )
        else:
            begins, ends = now + choose([-400, -1, 0, 0.5, 2]), choose([inf, inf, now + 3])
        begins, ends = round(begins, 6), round(ends, 6) if ends < inf else inf
        audience, is_hot = choose([0, 0, 1, 2]), choose([False, False, True])
        dates = {
            "publish_from": datetime_at(begins),
            "publish_until": datetime_at(ends) if ends < inf else None,
        }
        with self.changing(table, places=places, begun=Row.BEGUN) as becomes:
            Vacancy.objects.filter(pk__in=[place + 1 for place in places]).delete()
            Vacancy.objects.bulk_create(
                Vacancy(
                    pk=place + 1,
                    title=self.title(place, get(table, place, Row.BEGUN)),
                    brand_id=1,
                    head_recruiter_id=1,
                    status="published",
                    audience=state.AUDIENCES[audience],
                    is_hot=is_hot,
                    **dates,
                    description=f"<p>Text of word{place % 7}.</p>",
                )
                for place in places
            )
            becomes.update(
                {
                    place: {
                        Row.IS_PUBLISHED: 1,
                        Row.AUDIENCE: audience,
                        Row.IS_HOT: is_hot,
                        Row.PUBLISH_FROM: begins,
                        Row.PUBLISH_UNTIL: ends,
                        Row.TITLE: get(table, place, Row.BEGUN),
                    }
                    for place in places
                }
            )

    def maintain(self, act: Callable[[], Any]) -> None:
        try:
            act()
        except DatabaseError as error:
            self.failed(error)
        else:
            self.shared.writes[self.number] += 1

    def balance(self) -> None:
        state.use_small_buckets(self.random.choice([3, 10, 25, 500]))
        self.maintain(maintenance.balance)

    def merge(self) -> None:
        """Merge the changes of the search index, now and then all vacancies. On SQLite, others
        cannot write meanwhile.
        """
        time.sleep(self.random.uniform(0, 6))
        self.maintain(partial(merge, anew=self.random.random() < 0.1))

    def rebuild(self) -> None:
        if self.random.random() < 0.1:  # it waits for all other writers
            self.maintain(maintenance.rebuild)

    def recreate(self) -> None:
        """Delete a vacancy and create it again with the same id."""
        place = self.random.choice(self.own)
        rows, related = self.shared.rows, self.shared.related
        with self.changing(rows, related, places=[place], begun=Row.BEGUN) as (
            becomes,
            related_becomes,
        ):
            vacancy = Vacancy.objects.get(pk=place + 1)
            vacancy.delete()
            count = get(rows, place, Row.BEGUN)
            vacancy.pk, vacancy.title = place + 1, self.title(place, count)
            vacancy.save(force_insert=True)
            becomes[place] = {Row.TITLE: count}
            VacancyOption.objects.create(vacancy=vacancy, option_id=1)
            VacancyRecruiter.objects.create(vacancy=vacancy, recruiter_id=1)
            one = state.octal([0])
            related_becomes[place] = {
                Related.REGIONS: one,
                Related.RECRUITERS: one,
                Related.ATTACHMENT: 0,
                Related.PLACE: 0,
            }

    def related(self) -> None:
        table = self.shared.related
        place = self.random.choice(self.own)
        if self.random.random() < 0.5:
            unpublished = [
                each for each in self.own if not get(self.shared.rows, each, Row.IS_PUBLISHED)
            ]
            place = self.random.choice(unpublished or [place])
        pk = place + 1
        with self.changing(table, places=[place], begun=Related.BEGUN) as becomes:
            match self.random.choice(["regions", "order", "recruiters", "attachment", "place"]):
                case "regions":
                    VacancyOption.objects.filter(vacancy=pk).delete()
                    chosen = self.random.sample(range(state.REGIONS), self.random.randint(0, 3))
                    VacancyOption.objects.bulk_create(
                        VacancyOption(vacancy_id=pk, option_id=option + 1, position=n)
                        for n, option in enumerate(chosen)
                    )
                    becomes[place] = {Related.REGIONS: state.octal(chosen)}
                case "order":
                    links = list(
                        VacancyOption.objects.filter(vacancy=pk).order_by("position", "pk")
                    )
                    self.random.shuffle(links)
                    for n, link in enumerate(links):
                        link.position = n
                        link.save()
                    becomes[place] = {
                        Related.REGIONS: state.octal([link.option_id - 1 for link in links])
                    }
                case "recruiters":
                    VacancyRecruiter.objects.filter(vacancy=pk).delete()
                    chosen = self.random.sample(range(state.RECRUITERS), self.random.randint(0, 2))
                    for n, recruiter in enumerate(chosen):
                        VacancyRecruiter.objects.create(
                            vacancy_id=pk, recruiter_id=recruiter + 1, position=n
                        )
                    becomes[place] = {Related.RECRUITERS: state.octal(chosen)}
                case "attachment":
                    count = get(table, place, Related.BEGUN)
                    files = models.Attachment.objects.filter(vacancy=pk)
                    if not get(table, place, Related.ATTACHMENT):
                        files.create(vacancy_id=pk, name=f"A c{int(count)}", url="https://x.org/a")
                    elif self.random.random() < 0.3:
                        files.delete()
                        count = 0
                    else:
                        files.update(name=f"A c{int(count)}{self.suffix}")
                    becomes[place] = {Related.ATTACHMENT: count}
                case "place":
                    count = get(table, place, Related.BEGUN)
                    places = models.Place.objects.filter(vacancy=pk)
                    if not get(table, place, Related.PLACE):
                        places.create(
                            vacancy_id=pk, locality=f"City c{int(count)}{self.suffix}", country="BE"
                        )
                    elif self.random.random() < 0.3:
                        places.delete()
                        count = 0
                    else:
                        places.update(locality=f"City c{int(count)}{self.suffix}")
                    becomes[place] = {Related.PLACE: count}

    def name(self) -> None:
        table, place = self.shared.names, self.random.choice(self.own)
        with self.changing(table, places=[place], begun=Name.BEGUN) as becomes:
            count = get(table, place, Name.BEGUN)
            becomes[place] = {Name.TITLE: count}
            text = f"{state.first_word(place)} c{int(count)}{self.suffix}"
            if place < state.BRAND_NAMES:
                options = models.FilterOption.objects.filter(pk=place + 1)
                options.update(label=text, employment_type=state.employment_type(count))
            elif place < state.RECRUITER_NAMES:
                number = place - state.BRAND_NAMES
                address = state.address(number, count)
                models.Brand.objects.filter(pk=number + 1).update(name=text, vacancy_url=address)
            else:
                models.Recruiter.objects.filter(pk=place - state.RECRUITER_NAMES + 1).update(
                    name=text
                )
