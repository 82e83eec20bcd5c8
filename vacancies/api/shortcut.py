"""The public answers about vacancies, put together from what is stored for them (`Listing`, `Tally`) without
Django's views: a page is one statement and a few joins of bytes. Whatever is unusual here (a parameter in
error, a visitor with rights, nothing found) is left to the views, which answer everything.

Every page is of one revision: what is remembered between requests is kept under the state of the database
that it was read in, and the statement that reads the page reads that state along.
"""

import re
import zlib
from array import array
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple

import django
import rest_framework
from django.conf import settings
from django.core.exceptions import DisallowedHost
from django.core.handlers.wsgi import WSGIRequest
from django.db import DatabaseError, connections
from django.http import QueryDict
from django.utils import timezone

from forms_structure.api import v1 as forms_v1
from forms_structure.exchange import digest
from forms_structure.schema import submission_schema
from jobsite.api import documents, parameters, serializers
from jobsite.api.addresses import absolute
from jobsite.api.bodies import Fresh
from jobsite.api.documents import MARK, Token, Words, dumps
from jobsite.api.pagination import PageNumberPagination
from jobsite.api.permissions import is_protected
from jobsite.api.problems import InvalidParameters
from jobsite.revision import State, fetch, state
from vacancies import models
from vacancies.api import serializers as shared_serializers
from vacancies.api import v0_1, v1
from vacancies.listing import EPOCH, LISTS, impatiently, microseconds, settle
from vacancies.models import Audience, Brand, FilterOption, Listing, Recruiter, Tally, Vacancy

TRIES = 4  # when others write between two of our reads
SELECTED_MAX = 200_000  # ids of one narrowed list that are remembered, 8 bytes each
FORMS_MAX = 1_000
ROWS_PER_DAY = 8  # of the tally, before they are added up
VERSIONS = {"v1": v1.VacancySerializer, "v0_1": v0_1.VacancySerializer}
STORED = {"is_stored": True}  # the context in which serializers leave tokens
SHARED: dict[str, Any] = {
    "brand": (Brand, v1.BrandSerializer),
    "recruiter": (Recruiter, v1.RecruiterSerializer),
}


class List(NamedTuple):
    """A list of the interface: the version of its items, its column of the tally, its view, and the verbs
    of its queryset."""

    version: str
    name: str
    view: Any
    verbs: tuple[str, ...]


PATHS = {
    "/v1/vacancies": List("v1", "external", v1.VacancyViewSet, ("external",)),
    "/v1/vacancies/hot": List("v1", "hot", v1.VacancyViewSet, ("external", "hot")),
    "/v1/vacancies/hot/internal": List("v1", "hot_internal", v1.VacancyViewSet, ("internal", "hot")),
    "/v0.1/vacancies": List("v0_1", "external", v0_1.VacancyViewSet, ("external",)),
    "/v0.1/vacancies/internal": List("v0_1", "internal", v0_1.VacancyViewSet, ("internal",)),
}
SINGLE = re.compile(r"/v1/vacancies/([1-9][0-9]{0,17})(/form(?:/schema)?)?", re.ASCII)


class ChangedError(Exception):
    """Somebody wrote between two of our reads."""


# --- What is remembered ---------------------------------------------------------------------------------


@dataclass
class Counts:
    """The sizes of the lists in one state of the database, by day, newest first, and the moment at which
    time alone changes each."""

    state: State
    days: list[int] = field(default_factory=list)
    before: dict[str, list[int]] = field(default_factory=dict)  # how many are on later days
    totals: dict[str, int] = field(default_factory=dict)
    changes: dict[str, datetime | None] = field(default_factory=dict)

    @property
    def next_change(self) -> datetime | None:
        return min(filter(None, self.changes.values()), default=None)

    def find(self, name: str, start: int) -> tuple[int, int]:
        """Return the day on which the item at `start` of a list stands, and how many of the list are
        before it on that day."""
        place = bisect_right(self.before[name], start) - 1
        return self.days[place], start - self.before[name][place]


def _next_changes() -> str:
    """A statement for the first moment, of each audience and heat, at which one appears or vanishes."""
    table = Listing._meta.db_table
    return "SELECT " + ", ".join(
        f"(SELECT min({column}) FROM {table} WHERE phase = {phase} AND audience = '{audience}' "
        f"AND is_hot = {heat})"
        for column, phase in (("publish_from", 0), ("publish_until", 1))
        for audience in Audience.values
        for heat in ("false", "true")
    )


TALLIES = (
    f"SELECT day, {', '.join(f'CAST(sum({name}) AS int)' for name in LISTS)}, count(*) "
    f"FROM {Tally._meta.db_table} GROUP BY day ORDER BY day DESC"
)
NEXT_CHANGES = _next_changes()


def _moment(value: Any) -> datetime | None:
    """What a driver gives for a moment; SQLite keeps it as text in UTC."""
    if isinstance(value, str):
        value = datetime.fromisoformat(value)
    return value and (value if value.tzinfo else value.replace(tzinfo=UTC))


def count(using: str) -> Counts:
    """Return the sizes of the lists. Three statements, whatever their size."""
    counts = Counts(state(using))
    rows = fetch(TALLIES, using=using)
    counts.days = [row[0] for row in rows]
    for column, name in enumerate(LISTS, start=1):
        sums = list(accumulate((row[column] for row in rows), initial=0))
        counts.totals[name] = sums.pop()
        counts.before[name] = sums
    moments = list(map(_moment, fetch(NEXT_CHANGES, using=using)[0]))
    groups = [(audience, heat) for _ in range(2) for audience in Audience.values for heat in (False, True)]
    for name in LISTS:
        other = Audience.INTERNAL if name in ("external", "hot") else Audience.PUBLIC
        changes = (
            moment
            for moment, (audience, heat) in zip(moments, groups, strict=True)
            if moment and audience != other and (heat or "hot" not in name)
        )
        counts.changes[name] = min(changes, default=None)
    if sum(row[-1] for row in rows) > ROWS_PER_DAY * len(rows) + 1_000:
        add_up()
    return counts


def add_up() -> None:
    """Make one row of those that writers added to the tally for a day."""
    table, columns = Tally._meta.db_table, ", ".join(LISTS)
    sums = ", ".join(f"sum({name})" for name in LISTS)
    try:
        with impatiently(), connections["default"].cursor() as cursor:
            cursor.execute(
                f"WITH gone AS (DELETE FROM {table} WHERE id IN (SELECT id FROM {table} "
                f"FOR UPDATE SKIP LOCKED) RETURNING *) INSERT INTO {table} (day, {columns}) "
                f"SELECT day, {sums} FROM gone GROUP BY day"
            )
    except DatabaseError:
        pass  # the next one to count will


@dataclass
class Selection:
    """A narrowed or sorted list in one state of the database: its size, its ids unless they are too many,
    and its queryset."""

    state: State
    until: datetime | None
    total: int
    ids: "array[int] | None"
    rows: Any


@dataclass
class Memory:
    """What a process remembers of one database between requests."""

    using: str
    counts: Counts | None = None
    shared: int = -1
    words: dict[str, Words] = field(default_factory=dict)  # by address of this service
    forms: "OrderedDict[tuple, tuple]" = field(default_factory=OrderedDict)
    selections: "OrderedDict[tuple, Selection]" = field(default_factory=OrderedDict)

    def current_counts(self, now: datetime, stands: State) -> Counts:
        """Return the sizes of the lists in the state `stands`, what the clock has passed being written down
        first. Raises ChangedError."""
        for _ in range(TRIES):
            counts = self.counts
            if counts is None or counts.state != stands:
                counts = self.counts = count(self.using)
                stands = counts.state
            if counts.next_change is None or now < counts.next_change:
                if microseconds(now) < stands.settled:
                    break  # a clock behind that of whoever wrote it down
                return counts
            if not settle(at=now):
                break
            stands = state(self.using)
        raise ChangedError

    def learnt(self, shared: int, base: str) -> Words:
        """What tokens stand for where what is shared has the number `shared`."""
        if shared != self.shared:
            self.words, self.forms, self.shared = {}, OrderedDict(), shared
        if base not in self.words and len(self.words) > 8:
            self.words.clear()
        return self.words.setdefault(base, Words(base, look_up))

    def select(self, key: tuple, stands: State, until: datetime | None, rows: Callable[[], Any]) -> Selection:
        selection = self.selections.get(key)
        if selection is None or selection.state != stands:
            queryset = rows()
            ids = array("q", queryset.values_list("pk", flat=True)[: SELECTED_MAX + 1])
            is_whole = len(ids) <= SELECTED_MAX
            total = len(ids) if is_whole else queryset.count()
            selection = Selection(stands, until, total, ids if is_whole else None, queryset)
            self.selections[key] = selection
        self.selections.move_to_end(key)
        while self.size() > settings.LIST_CACHE_MB * 2**20:
            self.selections.popitem(last=False)
        return selection

    def size(self) -> int:
        """Bytes that the selections take, about."""
        return sum(8 * len(each.ids or ()) + 1_000 for each in self.selections.values())


def look_up(tokens: Iterable[bytes]) -> dict[bytes, bytes]:
    """Return what `tokens` stand for; those of what is no more are left out."""
    by_kind: dict[str, list[int]] = {}
    for token in tokens:
        kind, _, pk = token.decode().partition(":")
        by_kind.setdefault(kind, []).append(int(pk))
    found = {}
    for kind, pks in by_kind.items():
        if kind == "option":
            for option, label in FilterOption.objects.filter(pk__in=pks).values_list("pk", "label"):
                found[f"option:{option}".encode()] = dumps(label)
        else:
            model, serializer = SHARED[kind]
            for instance in model.objects.filter(pk__in=pks):
                item = serializer(instance, context=STORED).data
                found[f"{kind}:{instance.pk}".encode()] = documents.whole(documents.document(item))
    return found


# --- Documents ------------------------------------------------------------------------------------------


def render(version: str, pks: Iterable[int]) -> dict[int, bytes]:
    """Return the documents of the vacancies `pks`, made by the serializer of the version."""
    serializer = VERSIONS[version](context=STORED)
    made = {}
    for vacancy in Vacancy.objects.with_related().filter(pk__in=list(pks)):
        for choice in vacancy.ordered_choices:
            choice.option.label = Token(f"option:{choice.option_id}")
        made[vacancy.pk] = made_by() + documents.document(serializer.to_representation(vacancy))
    return made


def made_by() -> bytes:
    """The mark of documents that this code makes under these settings, 8 bytes; others are made anew."""
    return _made_by(settings.MULTI_BRANDING, settings.TIME_ZONE, settings.MEDIA_URL)


@cache
def _made_by(*values: Any) -> bytes:
    made_of = (documents, serializers, shared_serializers, models, v0_1, v1, rest_framework)
    mark = zlib.crc32(repr((django.VERSION, values)).encode())
    for module in made_of:
        mark = zlib.crc32(Path(module.__file__ or "").read_bytes(), mark)
    return b"%08x" % mark


def fill_in(version: str, rows: list[tuple], using: str) -> dict[int, bytes]:
    """Return the documents of those of `rows` (id, stamp, document) that have none, and store them.
    Raises ChangedError if one was written meanwhile."""
    mark = made_by()
    lacking = {row[0]: row[1] for row in rows if not (row[2] and bytes(row[2][:8]) == mark)}
    if not lacking:
        return {}
    made = render(version, lacking)
    stamps = dict(Listing.objects.filter(pk__in=list(lacking)).values_list("pk", "stamp"))
    if made.keys() != lacking.keys() or stamps != lacking:
        raise ChangedError
    store(version, {pk: (lacking[pk], document) for pk, document in made.items()})
    return made


def store(version: str, made: dict[int, tuple[int, bytes]]) -> None:
    """Keep documents by id, each with the stamp that its vacancy had before it was read, where that still
    is the stamp."""
    sql = f"UPDATE {Listing._meta.db_table} SET {version} = %s WHERE vacancy_id = %s AND stamp = %s"
    try:
        with impatiently(), connections["default"].cursor() as cursor:
            cursor.executemany(sql, [(made[pk][1], pk, made[pk][0]) for pk in sorted(made)])
    except DatabaseError:
        pass  # made again for the next reader


# --- Answers --------------------------------------------------------------------------------------------

_ROW = "l.vacancy_id, l.stamp, l.{version}, r.number, r.shared, r.settled"
_PAGE = (
    f"SELECT {_ROW} FROM (SELECT vacancy_id FROM vacancies_listing {{index}} "
    "WHERE phase = 1 AND {rule} {where} "
    "ORDER BY publish_from DESC, vacancy_id DESC LIMIT {size} OFFSET %s) p "
    "JOIN vacancies_listing l ON l.vacancy_id = p.vacancy_id, jobsite_revision r WHERE r.id = 1 "
    "ORDER BY l.publish_from DESC, l.vacancy_id DESC"
)
_CHOSEN = f"SELECT {_ROW} FROM vacancies_listing l, jobsite_revision r WHERE r.id = 1 AND l.vacancy_id "
_ONE = (
    "SELECT l.stamp, l.v1, l.audience, l.publish_from, l.publish_until, l.brand_id, l.form_id, r.shared "
    "FROM vacancies_listing l, jobsite_revision r WHERE r.id = 1 AND l.vacancy_id = %s"
)


class Shortcut:
    """Answers what can be put together; None means that the views have to."""

    def __init__(self) -> None:
        self.memories: dict[str, Memory] = {}

    def __call__(self, environ: dict[str, Any], stands: State) -> Fresh | None:
        path = environ.get("PATH_INFO", "")
        which, single = PATHS.get(path), SINGLE.fullmatch(path)
        if not (which or single) or environ.get("SCRIPT_NAME") or "jobsite.at" in environ:
            return None
        if connections["default"].in_atomic_block:  # what is not committed has no number yet
            return None
        memory = self.memories.setdefault("default", Memory("default"))
        try:
            base = absolute(WSGIRequest(environ), "/")[:-1]
            query = QueryDict(environ.get("QUERY_STRING", ""))
            for _ in range(TRIES):
                try:
                    if which:
                        return self.page(which, base + path, base, query, memory, stands)
                    return self.one(int(single[1]), single[2] or "", base, query, memory)  # type: ignore[index]
                except (ChangedError, documents.UnknownError):
                    stands = state(memory.using)
        except (InvalidParameters, DisallowedHost):
            pass
        return None

    def page(
        self, which: List, path: str, base: str, query: QueryDict, memory: Memory, stands: State
    ) -> Fresh | None:
        if "internal" in which.verbs and is_protected():
            return None
        names = (*which.view.query_names, *PageNumberPagination.names)
        received = parameters.read(query, names)
        asked = {name: received[name] for name in names if name in received}
        paginator = PageNumberPagination()
        paginator.read(asked)
        only = asked.get("fields")
        keys = only and {
            dumps(name) for name in parameters.choices("fields", only, VERSIONS["v1"].Meta.fields)
        }
        narrowing = {name: value for name, value in paginator.others.items() if name != "fields"}

        now = timezone.now()
        counts = memory.current_counts(now, stands)
        until = counts.changes[which.name]
        if narrowing:
            rows, total = self.selected(which, narrowing, paginator, counts, now, memory)
        else:
            total = counts.totals[which.name]
            start = paginator.turn(total)
            rows = self.listed(which, counts, start, paginator.size, memory) if start < total else []
            if len(rows) != len(range(start, min(start + paginator.size, total))):
                raise ChangedError
        if any(row[3:] != counts.state for row in rows):
            memory.counts = None
            raise ChangedError
        made = fill_in(which.version, rows, memory.using)
        data = b",".join(made[row[0]][8:] if row[0] in made else bytes(row[2][8:]) for row in rows)
        if keys:
            items = (made.get(row[0]) or bytes(row[2]) for row in rows)
            data = b",".join(documents.cut(each[8:], keys) for each in items)
        else:
            data = documents.whole(data)
        words = memory.learnt(counts.state.shared, base)
        place = dumps(paginator.place(path))
        body = b"".join((b'{"data":[', words.fill(data), b"],", place[1:]))
        tag = zlib.crc32(repr([row[:2] for row in rows]).encode() + place + (only or "").encode())
        return Fresh(body, until, f"{counts.state.shared:x}-{made_by().decode()}-{total:x}-{tag:08x}", {})

    def listed(self, which: List, counts: Counts, start: int, size: int, memory: Memory) -> list[tuple]:
        """The rows of a page, found from the day that it begins on."""
        day, offset = counts.find(which.name, start)
        is_sqlite = connections[memory.using].vendor == "sqlite"
        end: Any = EPOCH + timedelta(days=day + 1)
        sql = _PAGE.format(
            version=which.version,
            rule=LISTS[which.name],
            # SQLite would rather sort all of them
            index=f"INDEXED BY listed_{which.name}" if is_sqlite else "",
            where="AND publish_from < %s" if day != counts.days[0] else "",
            size=size,
        )
        before = [str(end.replace(tzinfo=None)) if is_sqlite else end] if day != counts.days[0] else []
        return fetch(sql, *before, offset, using=memory.using)

    def selected(
        self,
        which: List,
        narrowing: dict[str, str],
        paginator: PageNumberPagination,
        counts: Counts,
        now: datetime,
        memory: Memory,
    ) -> tuple[list[tuple], int]:
        def narrowed() -> Any:
            vacancies = Vacancy.objects.published(at=now).that_are(*which.verbs).newest_first()
            filterset = which.view.filterset_class(narrowing, queryset=vacancies)
            filterset.check()
            return filterset.qs

        key = (which.name, *narrowing.items())
        selection = memory.select(key, counts.state, counts.changes[which.name], narrowed)
        start = paginator.turn(selection.total)
        if start >= selection.total:
            return [], selection.total
        end = start + paginator.size
        if selection.ids is None:
            ids = list(selection.rows.values_list("pk", flat=True)[start:end])
        else:
            ids = list(selection.ids[start:end])
        chosen = _CHOSEN.format(version=which.version)
        if connections[memory.using].vendor == "sqlite":
            rows = fetch(f"{chosen} IN (SELECT value FROM json_each(%s))", str(ids), using=memory.using)
        else:
            rows = fetch(f"{chosen} = ANY(%s)", ids, using=memory.using)
        by_id = {row[0]: row for row in rows}
        return [by_id[pk] for pk in ids], selection.total

    def one(self, pk: int, form: str, base: str, query: QueryDict, memory: Memory) -> Fresh | None:
        if parameters.read(query, ("preview",)):
            return None
        rows = fetch(_ONE, pk, using=memory.using)
        if not rows:
            return None
        stamp, document, audience, begins, ends, brand, own_form, shared = rows[0]
        begins, ends, now = _moment(begins), _moment(ends), timezone.now()
        assert begins is not None  # of what is published
        if now < begins or (ends and ends <= now) or (audience == Audience.INTERNAL and is_protected()):
            return None
        words = memory.learnt(shared, base)
        if form:
            return self.form(pk, form, base, (brand, own_form), ends, memory)
        made = fill_in("v1", [(pk, stamp, document)], memory.using)
        data = documents.whole((made.get(pk) or bytes(document))[8:])
        body = b"".join((b'{"data":', words.fill(data), b"}"))
        return Fresh(
            body, ends, f"{shared:x}-{made_by().decode()}-{stamp:x}-{zlib.crc32(base.encode()):x}", {}
        )

    def form(
        self, pk: int, form: str, base: str, key: tuple, ends: datetime | None, memory: Memory
    ) -> Fresh | None:
        served = memory.forms.get(key)
        if served is None:
            forms, vacancy = memory.forms, Vacancy.objects.with_form().only("pk").filter(pk=pk).first()
            if vacancy is None:
                raise ChangedError
            sections, language = forms_v1.serve(vacancy.served_form)
            rules = submission_schema(sections, address=Token("address"))
            version = digest(sections)
            served = (
                b'{"data":' + dumps(sections) + b"}",
                documents.encode({"data": {"version": version, "schema": rules}}).split(MARK),
                {"Form-Version": version, "Content-Language": language},
            )
            forms[key] = served
            if len(forms) > FORMS_MAX:
                forms.popitem(last=False)
        sections_json, schema, headers = served
        tag = headers["Form-Version"] + headers["Content-Language"]
        if form == "/form":
            return Fresh(sections_json, ends, f"{tag}-form", headers)
        address = f"{base}/v1/vacancies/{pk}{form}"
        parts = [dumps(address) if part == b"address" else part for part in schema]
        return Fresh(b"".join(parts), ends, f"{tag}-{zlib.crc32(address.encode()):x}", headers)
