"""Hunts for wrong answers: a site under gunicorn, writers that commit and take back, readers that know what
each answer may show.

    python tests/benchmarks/hunt.py [--database sqlite|postgresql|URL] [--minutes 10] [--vacancies 300]

"postgresql" starts a server of its own. Whatever a writer changes it first marks as being changed, in memory
that all processes share, and marks as done with what it is now when the commit has returned. What stood still
from before a request began until its answer was read has to be in the answer exactly so; of what moved,
nothing older than the last commit before the request, and nothing that was taken back (NEVER). Every few
seconds the writers stand still, and each answer of each worker is compared to that of Django's views.

Prints JSON; the exit status is 1 when anything was wrong.
"""

import argparse
import gzip
import http.client
import json
import multiprocessing
import os
import random
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from io import BytesIO
from math import inf
from pathlib import Path
from queue import Empty
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, quote

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))

from tests import servers  # noqa: E402

REGIONS, BRANDS, RECRUITERS = 6, 4, 4
WRITERS = (
    "all",
    "rows",
    "rows",
    "parts",
    "names",
)  # what each writes of: vacancies, what hangs on them, names
READERS = 3
QUIET_EVERY = 12.0  # seconds
SHOWN = 5  # examples of each kind
KEPT = 400  # answers that each reader asks about again

# The columns, all doubles, of what is shared about a vacancy's row, about what hangs on it, about a name.
MARK, IS_THERE, IS_OUT, AUDIENCE, HOT, FROM, UNTIL, TITLE, BEGUN, BRAND, HEAD, FORM, WHEN = range(13)
REGIONS_AT, FILE, FILE_BEGUN, LINKS = 1, 2, 3, 4  # beside MARK; WHEN is at 12 too
WIDTH = 13
OPTION_NAMES, BRAND_NAMES, RECRUITER_NAMES = 0, REGIONS, REGIONS + BRANDS
AUDIENCES = ("public", "internal", "both")
# path: version, audience that it does not show, whether only hot ones
LISTS = {
    "/v1/vacancies": ("v1", 1, False),
    "/v1/vacancies/hot": ("v1", 1, True),
    "/v1/vacancies/internal": ("v1", 0, False),
    "/v1/vacancies/hot/internal": ("v1", 0, True),
    "/v0.1/vacancies": ("v0.1", 1, False),
    "/v0.1/vacancies/internal": ("v0.1", 0, False),
}


class Known(NamedTuple):
    """What was known at a moment: columns by row."""

    rows: Any
    parts: Any
    names: Any


class Shared:
    """What all processes know of `count` vacancies; the one with the id 1 is at place 0."""

    def __init__(self, count: int, context: Any) -> None:
        self.count = count
        self.rows, self.parts = (context.RawArray("d", count * WIDTH) for _ in range(2))
        self.names = context.RawArray("d", (REGIONS + BRANDS + RECRUITERS) * WIDTH)
        self.going, self.ended = context.Event(), context.Event()
        self.idle = context.RawArray("i", len(WRITERS))
        self.writes = context.RawArray("q", len(WRITERS))
        self.failed = context.RawArray("q", len(WRITERS))
        self.answers = context.RawArray("q", READERS)
        self.wrong = context.Queue()

    def known(self) -> Known:
        return Known(*([*table] for table in (self.rows, self.parts, self.names)))


def get(table: Any, place: int, column: int) -> float:
    return table[place * WIDTH + column]


def digits(number: float) -> list[int]:
    """What is linked, in order, from a number to the base of 8: [3, 1] from 0o31."""
    return [int(digit) - 1 for digit in f"{int(number):o}" if digit != "0"]


def set_up() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "jobsite.settings")
    import django

    django.setup()


# --- Writers --------------------------------------------------------------------------------------------


class TakenBackError(Exception):
    pass


class Writer:
    """Writes to what is its own; `number` is its place in WRITERS."""

    def __init__(self, shared: Shared, number: int, is_sqlite: bool) -> None:
        from django.db import transaction

        self.shared, self.number, self.random = shared, number, random.Random(number)
        self.atomic = transaction.atomic
        # The share of transactions that stay open for a second.
        self.long = 0.01 if is_sqlite else 0.2 if WRITERS[number] == "parts" else 0.06
        rows = [place for place in range(shared.count) if place % 5]
        self.own = {
            "all": [place for place in range(shared.count) if place % 5 == 0],
            "rows": [place for place in rows if place % 2 == number % 2],
            "parts": rows,
            "names": list(range(REGIONS + BRANDS + RECRUITERS)),
        }[WRITERS[number]]

    def run(self) -> None:
        acts = {
            "all": [self.row, self.part, self.part, self.bulk, self.again],
            "rows": [self.row, self.row, self.row, self.bulk],
            "parts": [self.part],
            "names": [self.name],
        }[WRITERS[self.number]]
        while not self.shared.ended.is_set():
            if not self.shared.going.is_set():
                self.shared.idle[self.number] = 1
                time.sleep(0.02)
                continue
            self.shared.idle[self.number] = 0
            self.random.choice(acts)()
            time.sleep(self.random.uniform(0.02, 0.2) * (4 if WRITERS[self.number] == "names" else 1))

    @contextmanager
    def changing(self, *tables: Any, places: list[int], begun: int | None = None) -> Iterator[Any]:
        """A transaction that changes `places` of `tables`, in the first of which `begun` counts; gets a dict
        for each table, to fill with what columns become, by place. Some stay open, some are taken back."""
        from django.db import DatabaseError

        becomes: list[dict[int, dict[int, float]]] = [{place: {} for place in places} for _ in tables]
        is_long, is_back = self.random.random() < self.long, self.random.random() < 0.1
        self.suffix = " NEVER" if is_back else ""
        for table in tables:
            for place in places:
                table[place * WIDTH + MARK] += 1
        for place in places if begun is not None else ():
            tables[0][place * WIDTH + (begun or 0)] += 1
        try:
            with self.atomic():
                if self.random.random() < 0.1:
                    self.savepoint()
                yield becomes if len(tables) > 1 else becomes[0]
                if is_long:
                    time.sleep(1)
                if is_back:
                    raise TakenBackError
        except TakenBackError:
            self.shared.writes[self.number] += 1
        except DatabaseError:  # a deadlock: all of it is taken back
            self.shared.failed[self.number] += 1
        else:
            self.shared.writes[self.number] += 1
            for table, changed in zip(tables, becomes, strict=True):
                for place, columns in changed.items():
                    for column, value in columns.items():
                        table[place * WIDTH + column] = value
                    table[place * WIDTH + WHEN] = time.monotonic()
        for table in tables:
            for place in places:
                table[place * WIDTH + MARK] += 1

    def savepoint(self) -> None:
        from vacancies.models import Vacancy

        pks = [place + 1 for place in self.random.sample(self.own, 2)]
        if WRITERS[self.number] in ("all", "rows"):
            try:
                with self.atomic():
                    Vacancy.objects.filter(pk__in=pks).update(title="NEVER in a savepoint", is_hot=True)
                    raise TakenBackError
            except TakenBackError:
                pass

    def values(self, table: Any, place: int) -> tuple[dict[str, Any], dict[int, float]]:
        """Another decision about the row at `place`: columns of the database, and what they are here."""
        now = time.time()
        count = get(table, place, BEGUN)
        draw: Any = self.random.choice
        title = {"title": f"V{place + 1} c{int(count)} word{place % 7}{self.suffix}"}, {TITLE: count}
        begins, ends = get(table, place, FROM), get(table, place, UNTIL)

        def dates(begins: float, ends: float) -> tuple[dict[str, Any], dict[int, float]]:
            begins, ends = round(begins, 6), round(ends, 6) if ends < inf else inf
            return {
                "publish_from": moment(begins), "publish_until": moment(ends) if ends < inf else None,
                "status": "published",
            }, {FROM: begins, UNTIL: ends, IS_OUT: 1}  # fmt: skip

        if not get(table, place, IS_OUT):
            return draw(
                [
                    dates(now - draw([0, 0.001, 3, 90_000, 900_000]), inf),
                    dates(now + draw([0.3, 1, 2]), inf),
                    dates(now + 1, now + draw([1.5, 3])),
                ]
            )
        brand, head, form = draw(range(BRANDS)), draw(range(RECRUITERS)), draw(range(3))
        audience, hot = draw([0, 0, 0, 1, 2]), float(self.random.random() < 0.06)
        return draw(
            [
                title, title, title,
                ({"status": draw(["unpublished", "draft", "archived"])}, {IS_OUT: 0}),
                dates(now + draw([0.3, 1, 2]), inf),
                dates(now - 5, now + draw([0.01, 1, 2])),
                dates(begins, inf) if ends < inf else dates(now - draw([0, 90_000]), inf),
                ({"audience": AUDIENCES[audience]}, {AUDIENCE: audience}),
                ({"is_hot": bool(hot)}, {HOT: hot}),
                ({"brand_id": brand + 1}, {BRAND: brand}),
                ({"head_recruiter_id": head + 1}, {HEAD: head}),
                ({"form_id": form or None}, {FORM: form}),
            ]
        )  # fmt: skip

    def row(self) -> None:
        from vacancies.models import Vacancy

        table = self.shared.rows
        place = self.random.choice(self.own)
        if self.random.random() < 0.4:  # one that is not out, while somebody else writes what hangs on it
            busy = [p for p in self.own if get(self.shared.parts, p, MARK) % 2 and not get(table, p, IS_OUT)]
            place = self.random.choice(busy or [place])
        with self.changing(table, places=[place], begun=BEGUN) as becomes:
            columns, becomes[place] = self.values(table, place)
            if self.random.random() < 0.5:
                Vacancy.objects.filter(pk=place + 1).update(**columns)
            else:
                vacancy = Vacancy.objects.get(pk=place + 1)
                for name, value in columns.items():
                    setattr(vacancy, name, value)
                vacancy.save()

    def bulk(self) -> None:
        """One statement for many rows."""
        from django.db.models import F, Value
        from django.db.models.functions import Concat

        from vacancies.models import Vacancy

        table, places = self.shared.rows, sorted(self.random.sample(self.own, min(25, len(self.own))))
        now = round(time.time(), 6)
        kind = self.random.choice(["hot", "out", "back", "title"])
        with self.changing(table, places=places) as becomes:
            rows = Vacancy.objects.filter(pk__in=[place + 1 for place in places])
            if kind == "hot":
                rows.update(is_hot=False)
                becomes.update({place: {HOT: 0} for place in places})
            elif kind == "out":
                rows.filter(publish_from__isnull=False).update(status="unpublished")
                becomes.update({place: {IS_OUT: 0} for place in places})
            elif kind == "back":
                rows.update(status="published", publish_from=moment(now), publish_until=None)
                becomes.update({place: {IS_OUT: 1, FROM: now, UNTIL: inf} for place in places})
            else:
                rows.update(title=Concat(F("title"), Value(self.suffix)))

    def again(self) -> None:
        """Delete one and make it again, under its id."""
        from vacancies.models import Vacancy, VacancyOption, VacancyRecruiter

        place = self.random.choice(self.own)
        rows, parts = self.shared.rows, self.shared.parts
        with self.changing(rows, parts, places=[place], begun=BEGUN) as (becomes, parts_become):
            vacancy = Vacancy.objects.get(pk=place + 1)
            vacancy.delete()
            count = get(rows, place, BEGUN)
            vacancy.pk, vacancy.title = place + 1, f"V{place + 1} c{int(count)} word{place % 7}{self.suffix}"
            vacancy.save(force_insert=True)
            becomes[place] = {TITLE: count}
            VacancyOption.objects.create(vacancy=vacancy, option_id=1)
            VacancyRecruiter.objects.create(vacancy=vacancy, recruiter_id=1)
            parts_become[place] = {REGIONS_AT: 1, LINKS: 1, FILE: 0}

    def part(self) -> None:
        from vacancies.models import Attachment, VacancyOption, VacancyRecruiter

        table = self.shared.parts
        place = self.random.choice(self.own)
        if self.random.random() < 0.5:
            out = [p for p in self.own if not get(self.shared.rows, p, IS_OUT)]
            place = self.random.choice(out or [place])
        pk = place + 1
        with self.changing(table, places=[place], begun=FILE_BEGUN) as becomes:
            match self.random.choice(["regions", "order", "links", "file"]):
                case "regions":
                    VacancyOption.objects.filter(vacancy=pk).delete()
                    chosen = self.random.sample(range(REGIONS), self.random.randint(0, 3))
                    VacancyOption.objects.bulk_create(
                        VacancyOption(vacancy_id=pk, option_id=option + 1, position=n)
                        for n, option in enumerate(chosen)
                    )
                    becomes[place] = {REGIONS_AT: number(chosen)}
                case "order":
                    links = list(VacancyOption.objects.filter(vacancy=pk).order_by("position", "pk"))
                    self.random.shuffle(links)
                    for n, link in enumerate(links):
                        link.position = n
                        link.save()
                    becomes[place] = {REGIONS_AT: number([link.option_id - 1 for link in links])}
                case "links":
                    VacancyRecruiter.objects.filter(vacancy=pk).delete()
                    chosen = self.random.sample(range(RECRUITERS), self.random.randint(0, 2))
                    for n, recruiter in enumerate(chosen):
                        VacancyRecruiter.objects.create(vacancy_id=pk, recruiter_id=recruiter + 1, position=n)
                    becomes[place] = {LINKS: number(chosen)}
                case "file":
                    count = get(table, place, FILE_BEGUN)
                    if not get(table, place, FILE):
                        Attachment.objects.create(
                            vacancy_id=pk, name=f"A c{int(count)}", url="https://x.org/a"
                        )
                    elif self.random.random() < 0.3:
                        Attachment.objects.filter(vacancy=pk).delete()
                        count = 0
                    else:
                        Attachment.objects.filter(vacancy=pk).update(name=f"A c{int(count)}{self.suffix}")
                    becomes[place] = {FILE: count}

    def name(self) -> None:
        from vacancies.models import Brand, FilterOption, Recruiter

        table, place = self.shared.names, self.random.choice(self.own)
        with self.changing(table, places=[place], begun=BEGUN) as becomes:
            count = get(table, place, BEGUN)
            becomes[place] = {TITLE: count}
            text = f"{name_of(place)} c{int(count)}{self.suffix}"
            if place < BRAND_NAMES:
                FilterOption.objects.filter(pk=place + 1).update(label=text)
            elif place < RECRUITER_NAMES:
                Brand.objects.filter(pk=place - BRAND_NAMES + 1).update(name=text)
            else:
                Recruiter.objects.filter(pk=place - RECRUITER_NAMES + 1).update(name=text)


def moment(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


def number(chosen: list[int]) -> int:
    return int("".join(str(each + 1) for each in chosen) or "0", 8)


def name_of(place: int) -> str:
    """What a name begins with."""
    if place < BRAND_NAMES:
        return f"Region{place}"
    return f"Brand{place - BRAND_NAMES}" if place < RECRUITER_NAMES else f"Person{place - RECRUITER_NAMES}"


def write(shared: Shared, number: int, is_sqlite: bool) -> None:
    set_up()
    Writer(shared, number, is_sqlite).run()


def fill(shared: Shared) -> None:
    """Make the content, and write down what it is."""
    from django.core.management import call_command

    from forms_structure.operations import create
    from vacancies.models import Brand, Filter, FilterOption, Recruiter, Vacancy

    call_command("migrate", verbosity=0)
    for n in range(4):  # 3 is of a brand, 4 the site's
        create(
            name=f"Form {n + 1}", language="en", is_default=n == 3,
            structure=[{"title": f"Form{n + 1}", "description": "", "fields": []}],
        )  # fmt: skip
    Filter.objects.switch_on_unused()
    Filter.objects.update(is_active=True)
    regions = Filter.objects.get(keyword="regions")
    for n in range(REGIONS):
        FilterOption.objects.create(pk=n + 1, filter=regions, label=f"Region{n} c0", value=f"region{n}")
    for n in range(BRANDS):
        Brand.objects.create(pk=n + 1, name=f"Brand{n} c0", form_id=3 if n == 1 else None)
    for n in range(RECRUITERS):
        Recruiter.objects.create(pk=n + 1, name=f"Person{n} c0")
    now = round(time.time(), 6)
    for place in range(shared.count):
        begins = now - place * 20_000
        Vacancy.objects.create(
            pk=place + 1, title=f"V{place + 1} c0 word{place % 7}", brand_id=1, head_recruiter_id=1,
            status="published", publish_from=moment(begins),
            description=f"<p>Text of word{place % 7}.</p>", updated_at=moment(now), created_at=moment(now),
        )  # fmt: skip
        for column, value in {IS_THERE: 1, IS_OUT: 1, FROM: round(begins, 6), UNTIL: inf}.items():
            shared.rows[place * WIDTH + column] = value


# --- Readers --------------------------------------------------------------------------------------------


class Answer(NamedTuple):
    status: int
    headers: dict[str, str]
    body: bytes


def ask(port: int, target: str, method: str = "GET", **headers: str) -> Answer:
    """One answer, over a connection of its own; `headers` with _ for -."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        connection.request(method, target, headers={k.replace("_", "-"): v for k, v in headers.items()})
        answer = connection.getresponse()
        got = {name.lower(): value for name, value in answer.getheaders()}
        return Answer(answer.status, got, answer.read())
    finally:
        connection.close()


@dataclass
class Judge:
    """Tells what is wrong with an answer to `target`, which began at `start` and ended at `end` of the
    clock, `began` of the monotonic one, when this was known before and after."""

    before: Known
    after: Known
    start: float
    end: float
    began: float
    tell: Callable[[str, str, float], None]
    target: str
    stood: dict[int, bool] = field(default_factory=dict)

    def wrong(self, kind: str, detail: Any, since: float | None = None) -> None:
        late = max(0.0, self.began - since) if since is not None else 0.0
        self.tell(kind, f"{self.target}: {detail}", late)

    def still(self, table: str, place: int) -> bool:
        """Whether it stood still during the request."""
        mark = get(getattr(self.before, table), place, MARK)
        return mark % 2 == 0 and get(getattr(self.after, table), place, MARK) == mark

    def membership(self, place: int, other: int | None, is_hot: bool) -> bool | None:
        """Whether the list has to hold it, or must not; None where both are right."""
        rows = self.before.rows
        if not self.still("rows", place):
            return None
        if not get(rows, place, IS_OUT) or get(rows, place, AUDIENCE) == other:
            return False
        if is_hot and not get(rows, place, HOT):
            return False
        begins, ends = get(rows, place, FROM), get(rows, place, UNTIL)
        if begins <= self.start and self.end < ends:
            return True
        return False if begins > self.end or ends <= self.start else None

    def counter(self, kind: str, text: str, start: str, table: str, place: int, begun: int = BEGUN) -> None:
        """`text` has to be `start` with a counter that was committed last, or is being written."""
        before, after = getattr(self.before, table), getattr(self.after, table)
        match = re.fullmatch(rf"{re.escape(start)} c(\d+)(?: word\d)?", text)
        column = FILE if begun == FILE_BEGUN else TITLE
        low, high = get(before, place, column), get(after, place, begun)
        if not match:
            self.wrong(f"{kind} is none", f"{text!r} instead of {start} c{low:.0f}", get(before, place, WHEN))
        elif self.still(table, place):
            if int(match[1]) != low:
                self.wrong(f"{kind} is stale", f"{text!r} is not c{low:.0f}", get(before, place, WHEN))
        elif not low <= int(match[1]) <= high:
            self.wrong(
                f"{kind} is stale", f"{text!r} is not c{low:.0f} to c{high:.0f}", get(before, place, WHEN)
            )

    def label(self, kind: str, text: str, first: int, places: int, expected: int | None) -> None:
        match = re.match(r"[A-Z][a-z]+(\d)", text or "")
        if not match or int(match[1]) >= places or (expected is not None and int(match[1]) != expected):
            self.wrong(f"another {kind}", f"{text!r}, not {expected}")
        else:
            place = first + int(match[1])
            self.counter(f"{kind} name", text, name_of(place), "names", place)

    def item(self, item: dict[str, Any], pk: int | None = None, version: str = "v1") -> None:
        """An item, or as much of it as there is."""
        place = (pk or item["id"]) - 1
        rows, parts = self.before.rows, self.before.parts
        row, part = self.still("rows", place), self.still("parts", place)
        since, parts_since = get(rows, place, WHEN), get(parts, place, WHEN)
        if "NEVER" in json.dumps(item):
            self.wrong("taken back", item)
        if "title" in item:
            self.counter("title", item["title"], f"V{place + 1}", "rows", place)
        if "is_hot" in item and row and item["is_hot"] != bool(get(rows, place, HOT)):
            self.wrong("is_hot is stale", item["id"], since)
        if "brand" in item:
            self.label("brand", item["brand"]["name"], BRAND_NAMES, BRANDS,
                       int(get(rows, place, BRAND)) if row else None)  # fmt: skip
        if "head_recruiter" in item:
            self.label("recruiter", item["head_recruiter"]["name"], RECRUITER_NAMES, RECRUITERS,
                       int(get(rows, place, HEAD)) if row else None)  # fmt: skip
        for key, first, places, column in (
            ("regions", OPTION_NAMES, REGIONS, REGIONS_AT),
            ("recruiters", RECRUITER_NAMES, RECRUITERS, LINKS),
        ):
            if key in item:
                texts = [each if isinstance(each, str) else each["name"] for each in item[key] or ()]
                meant = digits(get(parts, place, column))
                if part and len(texts) != len(meant):
                    self.wrong(f"{key} are stale", f"{place + 1}: {texts}, not {meant}", parts_since)
                else:
                    for n, text in enumerate(texts):
                        self.label(key, text, first, places, meant[n] if part else None)
        if "head_recruiter" in item and "title_internal" in item and part:  # a whole one
            files, count = item.get("attachments", []), get(parts, place, FILE)
            if len(files) != bool(count):
                self.wrong("files are stale", f"{place + 1}: {files}, not {count}", parts_since)
            elif files:
                self.counter("file", files[0]["name"], "A", "parts", place, FILE_BEGUN)

    def single(self, pk: int, answer: Answer) -> None:
        is_in = self.membership(pk - 1, None, False)
        since = get(self.before.rows, pk - 1, WHEN)
        if is_in is not None and answer.status != (200 if is_in else 404):
            self.wrong(f"single is {'missing' if is_in else 'shown'}", answer.status, since)
        if answer.status == 200:
            self.item(json.loads(answer.body)["data"], pk)

    def form(self, pk: int, answer: Answer) -> None:
        is_in = self.membership(pk - 1, None, False)
        rows = self.before.rows
        if is_in is not None and answer.status != (200 if is_in else 404):
            self.wrong(f"form is {'missing' if is_in else 'shown'}", answer.status, get(rows, pk - 1, WHEN))
        if answer.status == 200 and self.still("rows", pk - 1):
            own = int(get(rows, pk - 1, FORM))
            meant = own or (3 if get(rows, pk - 1, BRAND) == 1 else 4)
            if f"Form{meant}".encode() not in answer.body:
                self.wrong("another form", f"not {meant}: {answer.body[:60]!r}", get(rows, pk - 1, WHEN))

    def listed(self, path: str, asked: dict[str, str], answer: Answer) -> None:
        if answer.status != 200:
            return self.wrong("list is refused", (answer.status, answer.body[:200]))
        version, other, is_hot = LISTS[path]
        page, size = int(asked.get("page[number]", 1)), int(asked.get("page[size]", 20))
        said = json.loads(answer.body)
        data, meta = said["data"], said["meta"]
        region = asked.get("filter[regions]", "")[-1:]
        word = asked.get("filter[search]", "")[-1:]

        def member(place: int) -> bool | None:
            if word and place % 7 != int(word):
                return False
            is_in = self.membership(place, other, is_hot)
            if is_in is False or not region:
                return is_in
            if not self.still("parts", place):
                return None
            return is_in if int(region) in digits(get(self.before.parts, place, REGIONS_AT)) else False

        members = {place: member(place) for place in range(len(self.before.rows) // WIDTH)}
        least = sum(each is True for each in members.values())
        most = least + sum(each is None for each in members.values())
        latest = max((get(self.before.rows, p, WHEN) for p in members), default=0)
        if not least <= meta["total"] <= most:
            self.wrong("total", f"{meta['total']} is not {least} to {most}", latest)
        expected = len(range((page - 1) * size, min(page * size, meta["total"])))
        if len(data) != expected:
            self.wrong("length", f"{len(data)} items of {meta['total']}", latest)
        pks = [item["id"] for item in data] if all("id" in item for item in data) else []
        if len(pks) != len(data):
            return None
        if len(set(pks)) != len(pks):
            self.wrong("twice", pks)
        for item in data:
            if members[item["id"] - 1] is False:
                self.wrong(
                    "shown", f"{item['id']} must not be there", get(self.before.rows, item["id"] - 1, WHEN)
                )
            self.item(item, version=version)
        self.order(asked, page, size, meta["total"], [pk - 1 for pk in pks], members)
        return None

    def order(
        self, asked: dict[str, str], page: int, size: int, total: int, places: list[int], members: dict
    ) -> None:
        """Among those that stood still: one after another, and on a first page none left out."""
        rows, sort = self.before.rows, asked.get("sort", "")
        if sort.endswith("title"):  # titles change, and are in the order of text
            if page == 1 and size >= total:
                missing = [p + 1 for p, is_in in members.items() if is_in and p not in places]
                if missing:
                    self.wrong("missing", missing, get(rows, missing[0] - 1, WHEN))
            return
        sign = 1 if sort == "published_at" else -1
        still = [place for place in places if self.still("rows", place)]

        def key(place: int) -> tuple[float, int]:
            return sign * get(rows, place, FROM), sign * place

        if still != sorted(still, key=key):
            self.wrong("order", [place + 1 for place in still])
        if page == 1:
            last = key(still[-1]) if still and size < total else (inf, 0) if size >= total else (-inf, 0)
            missing = [p for p, is_in in members.items() if is_in and p not in places and key(p) < last]
            if missing:
                self.wrong("missing", [p + 1 for p in missing], get(rows, missing[0], WHEN))


def targets(chance: random.Random, count: int) -> tuple[str, dict[str, str]]:
    """A path, and the query as names and values."""
    kind = chance.random()
    if kind < 0.2:
        return f"/v1/vacancies/{chance.randint(1, count)}", {}
    if kind < 0.27:
        return f"/v1/vacancies/{chance.randint(1, count)}/form", {}
    path = chance.choice(list(LISTS))
    query: dict[str, str] = {"page[size]": chance.choice(["100", "100", "20", "7"])}
    if chance.random() < 0.3:
        query["page[number]"] = chance.choice(["1", "2", "3", "99"])
    if path.startswith("/v1/"):
        if chance.random() < 0.25:
            query["filter[regions]"] = f"region{chance.randrange(REGIONS)}"
        if chance.random() < 0.15:
            query["filter[search]"] = f"word{chance.randrange(7)}"
        if chance.random() < 0.2:
            query["sort"] = chance.choice(["title", "-title", "published_at", "-published_at"])
        if chance.random() < 0.25:
            query["fields"] = chance.choice(["id,title,regions", "id,is_hot", "brand,id,head_recruiter"])
    return path, query


def address(path: str, query: dict[str, str]) -> str:
    return path + ("?" + "&".join(f"{k}={quote(v, safe=',')}" for k, v in query.items()) if query else "")


def read(shared: Shared, number: int, port: int, pause: float) -> None:
    """Ask, and tell what is wrong, until the end."""
    chance = random.Random(1_000 + number)
    kept: dict[str, tuple[str, bytes]] = {}  # tag and body by target

    def tell(kind: str, detail: str, late: float) -> None:
        shared.wrong.put((kind, detail, late))

    shared.going.wait()
    while not shared.ended.is_set():
        path, query = targets(chance, shared.count)
        again = [target for target in kept if chance.random() < 0.02]
        target = chance.choice(again) if again and chance.random() < 0.5 else address(path, query)
        headers = {"Accept_Encoding": "gzip"} if chance.random() < 0.3 else {}
        had = kept.get(target) if chance.random() < 0.5 else None
        if had:
            headers["If_None_Match"] = had[0]
        method = "HEAD" if chance.random() < 0.03 else "GET"
        before, began, start = shared.known(), time.monotonic(), time.time()
        try:
            answer = ask(port, target, method, **headers)
        except OSError as error:
            tell("no answer", f"{target}: {error!r}", 0)
            continue
        judge = Judge(before, shared.known(), start, time.time(), began, tell, target)
        judge.after = shared.known()
        shared.answers[number] += 1
        if answer.status >= 500:
            judge.wrong("failure", answer.status)
            continue
        if method == "HEAD":
            if answer.body:
                judge.wrong("HEAD with a body", len(answer.body))
            if answer.status == 200:
                continue
        if answer.headers.get("content-encoding") == "gzip":
            answer = answer._replace(body=gzip.decompress(answer.body))
        if answer.status == 304:  # then what we have has to be right
            assert had
            judge.target += " (304)"
            answer = Answer(200, answer.headers, had[1])
        elif answer.status == 200 and "etag" in answer.headers:
            if target not in kept and len(kept) >= KEPT:
                kept.pop(next(iter(kept)))
            kept[target] = (answer.headers["etag"], answer.body)
        path, _, text = target.partition("?")
        single = re.fullmatch(r"/v1/vacancies/(\d+)(/form)?", path)
        if single and single[2]:
            judge.form(int(single[1]), answer)
        elif single:
            judge.single(int(single[1]), answer)
        else:
            judge.listed(path, dict(parse_qsl(text)), answer)
        time.sleep(chance.expovariate(1 / pause))


# --- Quiet moments --------------------------------------------------------------------------------------


class Views:
    """Django's own answers, without anything kept."""

    def __init__(self, port: int) -> None:
        from jobsite.wsgi import _bare

        self.application, self.host = _bare, f"127.0.0.1:{port}"

    def ask(self, target: str, method: str = "GET", **more: str) -> Answer:
        path, _, query = target.partition("?")
        environ = {
            "REQUEST_METHOD": method, "PATH_INFO": path, "QUERY_STRING": query, "SERVER_NAME": "127.0.0.1",
            "SERVER_PORT": self.host.partition(":")[2], "HTTP_HOST": self.host, "wsgi.url_scheme": "http",
            "wsgi.input": BytesIO(), "wsgi.errors": sys.stderr, "REMOTE_ADDR": "127.0.0.1", **more,
        }  # fmt: skip
        started: list[Any] = []
        respond: Any = lambda *parts: started.extend(parts)  # noqa: E731
        result = self.application(environ, respond)
        body = b"".join(result)
        if hasattr(result, "close"):
            result.close()
        headers = {name.lower(): value for name, value in started[1]}
        return Answer(int(started[0][:3]), headers, body)


def clock_stands(shared: Shared, start: float, end: float) -> bool:
    """Whether nothing appears or vanishes from `start` to `end`."""
    moments = (get(shared.rows, place, column) for place in range(shared.count) for column in (FROM, UNTIL))
    return not any(start <= moment <= end for moment in moments)


def compare(shared: Shared, views: Views, port: int, chance: random.Random, tags: dict) -> int:
    """Compare each answer to that of the views; return how many were. The writers stand still."""
    chosen = chance.sample(range(1, shared.count + 1), min(40, shared.count))
    found = [f"/v1/vacancies/{pk}" for pk in chosen] + [f"/v1/vacancies/{pk}/form" for pk in chosen[:8]]
    found += [f"/v1/vacancies/{pk}/form/schema" for pk in chosen[:3]] + ["/v1/filters"]
    for path in LISTS:
        found += [address(path, {"page[size]": "100", "page[number]": str(n)}) for n in range(1, 5)]
        found += [path, address(path, {"page[size]": "7", "page[number]": str(chance.randint(1, 30))})]
    found += [address(*targets(chance, shared.count)) for _ in range(25)]
    asked = 0
    for target in dict.fromkeys(found):
        for _ in range(4):
            start = time.time()
            expected = views.ask(target)
            got = [ask(port, target), ask(port, target)]
            zipped = ask(port, target, Accept_Encoding="gzip")
            if zipped.headers.get("content-encoding") == "gzip":
                zipped = zipped._replace(body=gzip.decompress(zipped.body))
            head = ask(port, target, "HEAD")
            old = tags.get(target)
            again = ask(port, target, If_None_Match=old[0]) if old else None
            asked += 5
            if clock_stands(shared, start, time.time()):
                break
        else:
            continue
        wrong = [each for each in (*got, zipped) if each[::2] != expected[::2]]
        if wrong:
            wrong += [each for each in (ask(port, target) for _ in range(8)) if each[::2] != expected[::2]]
            pairs = enumerate(zip(wrong[0].body, expected.body, strict=False))
            place = next((n for n, (one, other) in pairs if one != other), 0)
            near = slice(max(0, place - 60), place + 60)
            told = f"{target}: {len(wrong)} of 11: {wrong[0].body[near]!r}, not {expected.body[near]!r}"
            shared.wrong.put(("not what the views say", told, 0))
        if head.status != expected.status or head.body:
            shared.wrong.put(("HEAD", f"{target}: {head.status}, not {expected.status}", 0))
        if old and again and again.status == 304 and old[1] != expected.body:
            shared.wrong.put(("304 for another body", target, 0))
        if got[0].status == 200 and "etag" in got[0].headers:
            tags[target] = (got[0].headers["etag"], got[0].body)
    for path, (_, other, is_hot) in LISTS.items():  # walk all pages
        start, pks, page, total = time.time(), [], 1, None
        while page < 100:
            said = json.loads(ask(port, address(path, {"page[size]": "30", "page[number]": str(page)})).body)
            total = said["meta"]["total"]
            pks += [item["id"] for item in said["data"]]
            if not said["links"]["next"]:
                break
            page += 1
        asked += page
        now = time.time()
        if clock_stands(shared, start, now):
            known = shared.known()
            judge = Judge(known, known, start, now, 0, lambda *wrong: None, path)
            meant = {p + 1 for p in range(shared.count) if judge.membership(p, other, is_hot)}
            if total != len(pks) or len(set(pks)) != len(pks) or set(pks) != meant:
                odd = sorted(meant ^ set(pks))
                shared.wrong.put(
                    ("walk", f"{path}: total {total}, {len(pks)} items, not {len(meant)}: {odd}", 0)
                )
    return asked


# --- The hunt -------------------------------------------------------------------------------------------


KINDS = {"sync": ("-k", "sync", "-w", "4"), "gthread": ()}  # switches of gunicorn's


def hunt(shared: Shared, url: str, context: Any, arguments: argparse.Namespace, port: int) -> dict[str, Any]:
    """Let writers and readers run; return what came of it."""
    is_sqlite, views = url.startswith("sqlite"), Views(port)
    processes = [context.Process(target=write, args=(shared, n, is_sqlite)) for n in range(len(WRITERS))]
    processes += [
        context.Process(target=read, args=(shared, n, port, arguments.pause)) for n in range(READERS)
    ]
    kinds: Counter[str] = Counter()
    examples: dict[str, list[str]] = {}
    worst, compared, chance = 0.0, 0, random.Random(7)
    tags: dict[str, tuple[str, bytes]] = {}

    def collect() -> None:
        nonlocal worst
        try:
            while True:
                kind, detail, late = shared.wrong.get(timeout=0.05)
                kinds[kind] += 1
                worst = max(worst, late)
                if kinds[kind] <= SHOWN:
                    examples.setdefault(kind, []).append(f"{detail[:400]} ({late:.3f} s late)")
        except Empty:
            pass

    for process in processes:
        process.start()
    try:
        end = time.monotonic() + arguments.minutes * 60
        while time.monotonic() < end:
            shared.going.set()
            quiet = time.monotonic() + QUIET_EVERY
            while time.monotonic() < quiet:
                collect()
                time.sleep(0.2)
            shared.going.clear()
            for n in range(len(WRITERS)):
                shared.idle[n] = 0
            while not all(shared.idle) and time.monotonic() < end + 60:
                time.sleep(0.02)
            compared += compare(shared, views, port, chance, tags)
            collect()
            print(f"{sum(shared.answers)} answers, {compared} compared, {sum(shared.writes)} writes, "
                  f"{sum(kinds.values())} wrong", file=sys.stderr, flush=True)  # fmt: skip
            dead = [process.name for process in processes if not process.is_alive()]
            if dead:
                kinds["process died"] += len(dead)
                break
    finally:
        shared.ended.set()
        shared.going.set()
        deadline = time.monotonic() + 30
        while any(process.is_alive() for process in processes) and time.monotonic() < deadline:
            collect()
        for process in processes:
            if process.is_alive():
                process.terminate()
            process.join()
    return {
        "database": url.partition(":")[0], "server": arguments.server, "minutes": arguments.minutes,
        "answers": sum(shared.answers), "compared": compared, "writes": sum(shared.writes),
        "writes taken back by the database": sum(shared.failed), "wrong": dict(kinds),
        "worst staleness in seconds": round(worst, 3), "examples": examples,
    }  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "--database", default="sqlite", help='"sqlite", "postgresql" or a URL of an empty one'
    )
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--vacancies", type=int, default=300)
    parser.add_argument("--server", choices=list(KINDS), default="sync", help="4 workers, or 2 x 4")
    parser.add_argument("--pause", type=float, default=0.03, help="seconds between two questions of a reader")
    arguments = parser.parse_args()
    with ExitStack() as stack:
        folder = stack.enter_context(servers.folder_with_logs())
        url = arguments.database
        if url == "sqlite":
            url = f"sqlite:///{folder / 'hunt.sqlite3'}"
        elif url == "postgresql":
            database = servers.Postgres(folder / "pg", shared_buffers="256MB")
            stack.callback(database.stop)
            database.start()
            url = database.url
        env = {
            "DATABASE_URL": url,
            "SECRET_KEY": "only-for-hunt-" * 4,
            "RATE_LIMIT": "off",
            "ALLOWED_HOSTS": "127.0.0.1",
            "LOG_FORMAT": "text",
            "LOG_REQUESTS": "off",
        }
        os.environ.update(env)
        os.chdir(ROOT)
        set_up()
        context = multiprocessing.get_context("spawn")
        shared = Shared(arguments.vacancies, context)
        fill(shared)
        node = servers.Gunicorn(folder / "hunted", env, *KINDS[arguments.server])
        stack.callback(node.stop)
        node.start()
        result = hunt(shared, url, context, arguments, node.port)
        said = (folder / "hunted.log").read_text()
        result["server said"] = Counter(re.findall(r"^(?:\w+\.)*\w*(?:Error|Exception)\b.{0,80}", said, re.M))
        print(json.dumps(result, indent=2))
        return int(bool(result["wrong"]))


if __name__ == "__main__":
    sys.exit(main())
