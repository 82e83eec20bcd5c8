"""The public answers about vacancies, put together from what is stored for them (`ListedVacancy`,
`DailyCount`) without Django's views: a page is one statement and a few joins of bytes. Whatever is unusual here (a parameter in
error, a visitor with rights, nothing found) is left to the views, which answer everything.

Every page is of one revision: what is remembered between requests is kept under the state of the database
that it was read in, and the statement that reads the page reads that state along.
"""

import re
import sys
import zlib
from array import array
from collections import OrderedDict
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from hashlib import blake2b
from threading import Lock
from time import monotonic
from typing import Any, NamedTuple

from django.conf import settings
from django.core.exceptions import DisallowedHost, EmptyResultSet
from django.core.handlers.wsgi import WSGIRequest
from django.db import connections
from django.db.models import Exists, OuterRef
from django.http import QueryDict
from django.utils import timezone

from forms_structure.api import v1 as forms_v1
from forms_structure.exchange import digest
from forms_structure.models import Form
from forms_structure.schema import submission_schema
from jobsite.api import parameters
from jobsite.api.addresses import absolute
from jobsite.api.pagination import PageNumberPagination
from jobsite.api.permissions import is_protected
from jobsite.api.placeholders import Token
from jobsite.api.problems import InvalidParameters
from jobsite.serving import replicas
from jobsite.serving.rendered_items import MARK, UnknownError, Words, cut, dumps, encode, whole
from jobsite.serving.response_cache import Fresh
from jobsite.serving.revision import State, fetch, snapshot, state
from vacancies.api import v0_1, v1
from vacancies.api.rendered_items import VERSIONS, ChangedError, fill_in, look_up, made_by
from vacancies.filtersets import SEARCH
from vacancies.models import (
    LISTED,
    NEWEST,
    Audience,
    Brand,
    FilterOption,
    ListedVacancy,
    Vacancy,
    VacancyOption,
)
from vacancies.readmodel.listing import EPOCH, LISTS, microseconds, settle
from vacancies.readmodel.totals import Counts, as_moment, count

TRIES = 4  # when others write between two of our reads
FORMS_MAX = 1_000
LIMITS = (5, 20, 50, 100)  # rows that are read for a page: a statement is planned for each


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
    "/v1/vacancies/internal": List("v1", "internal", v1.VacancyViewSet, ("internal",)),
    "/v1/vacancies/hot/internal": List("v1", "hot_internal", v1.VacancyViewSet, ("internal", "hot")),
    "/v0.1/vacancies": List("v0_1", "external", v0_1.VacancyViewSet, ("external",)),
    "/v0.1/vacancies/internal": List("v0_1", "internal", v0_1.VacancyViewSet, ("internal",)),
}
SINGLE = re.compile(r"/v1/vacancies/([1-9][0-9]{0,17})(/form(?:/schema)?)?", re.ASCII)


# --- What is remembered ---------------------------------------------------------------------------------


@dataclass
class Selection:
    """A narrowed or sorted list in one state of the database."""

    state: State
    ids: "array[int]"


@dataclass
class Memory:
    """What a process remembers of one database, the primary or a replica, between requests."""

    counts: Counts | None = None
    no_settling_before: float = 0.0
    shared: int = -1
    words: dict[str, Words] = field(default_factory=dict)  # by address of this service
    forms: "OrderedDict[tuple, tuple]" = field(default_factory=OrderedDict)
    selections: "OrderedDict[tuple, Selection]" = field(default_factory=OrderedDict)
    lock: Any = field(default_factory=Lock)

    def current_counts(self, now: datetime, stands: State | None) -> Counts:
        """Return the sizes of the lists in the state `stands`, or the last known ones, what the clock has
        passed being written down first. Raises ChangedError."""
        for _ in range(TRIES):
            counts = self.counts
            if counts is None or (stands and counts.state != stands):
                counts = self.counts = count()
                stands = counts.state
            if counts.next_change is None or now < counts.next_change:
                if microseconds(now) < counts.state.settled:
                    break  # a clock behind that of whoever wrote it down
                return counts
            if monotonic() < self.no_settling_before:
                break
            moved = settle(at=now)
            # Somebody holds a lock, or a replica has not heard of it: not every reader has to try again.
            if moved is None or replicas.current() != "default":
                self.no_settling_before = monotonic() + (1 if moved is None else 0.1)
                break
            stands = state()
        raise ChangedError

    def learnt(self, shared: int, base: str) -> Words:
        """What tokens stand for where what is shared has the number `shared`."""
        if shared != self.shared:
            self.words, self.forms, self.shared = {}, OrderedDict(), shared
        if base not in self.words and len(self.words) > 8:
            self.words.clear()
        return self.words.setdefault(base, Words(base, look_up))

    def select(self, key: tuple, stands: State, rows: Callable[[], Any] | None) -> Selection:
        """Return the list that is remembered under `key`, else made of `rows`. Raises ChangedError without
        them: others may write while that takes its time."""
        selection = self.selections.get(key)
        if selection is None or selection.state != stands:
            if rows is None:
                raise ChangedError
            selection = Selection(stands, ids_of(rows()))
        with self.lock:
            self.selections[key] = selection
            self.selections.move_to_end(key)
            while self.size() > settings.LIST_CACHE_MB * 2**20:
                self.selections.popitem(last=False)
        return selection

    def size(self) -> int:
        """Bytes that the selections take, about."""
        ids = (each.ids for each in self.selections.values())
        return sum(len(each) * each.itemsize for each in ids) + 1_000 * len(self.selections)


def ids_of(rows: Any) -> "array[int]":
    """The ids of a queryset in its order, which may be a million: PostgreSQL sends them in one piece."""
    database = connections[replicas.current()]
    if database.vendor == "postgresql":
        try:
            sql, parameters = rows.values("pk").query.sql_with_params()
        except EmptyResultSet:  # no such option
            return array("I")
        with database.cursor() as cursor:
            cursor.execute(f"SELECT string_agg(int8send(pk), '') FROM ({sql}) AS rows (pk)", parameters)
            ids = array("q", cursor.fetchone()[0] or b"")
        if sys.byteorder == "little":
            ids.byteswap()
    else:
        ids = array("q", rows.values_list("pk", flat=True).iterator())
    return array("I", ids) if max(ids, default=0) < 2**32 else ids


def served_form(own: int | None, brand: int | None) -> Form | None:
    """The form of a vacancy with the form `own` and of the brand, by the rule of `with_form`."""
    vacancy = Vacancy()
    of_brand = Brand.objects.filter(pk__in=[brand]).values_list("form_id", flat=True)
    default = Form.objects.default().values_list("pk", flat=True)
    vacancy.served_form_id = own or of_brand.first() or default.first()
    return vacancy.served_form


# --- Answers --------------------------------------------------------------------------------------------

_ROW = "l.vacancy_id, l.stamp, l.{version}, r.number, r.shared, r.settled"
_PAGE = (
    f"SELECT {_ROW} FROM (SELECT vacancy_id FROM vacancies_listedvacancy {{index}} "
    "WHERE phase = 1 AND {rule} {where} "
    "ORDER BY publish_from DESC, vacancy_id DESC LIMIT {size} OFFSET %s) p "
    "JOIN vacancies_listedvacancy l ON l.vacancy_id = p.vacancy_id, jobsite_revision r WHERE r.id = 1 "
    "ORDER BY l.publish_from DESC, l.vacancy_id DESC"
)
_CHOSEN = f"SELECT {_ROW} FROM vacancies_listedvacancy l, jobsite_revision r WHERE r.id = 1 AND l.vacancy_id "
_ONE = (
    "SELECT l.stamp, l.v1, l.audience, l.publish_from, l.publish_until, l.brand_id, l.form_id, "
    "r.number, r.shared "
    "FROM vacancies_listedvacancy l, jobsite_revision r WHERE r.id = 1 AND l.vacancy_id = %s"
)


class Shortcut:
    """Answers what can be put together; None means that the views have to.

    Where the database stands need not be known: a page is put together from the sums that were read last,
    and the statement that reads its rows tells whether they still are the sums.
    """

    def __init__(self) -> None:
        self.memories: dict[str, Memory] = {}

    def __call__(self, environ: dict[str, Any], stands: State | None = None) -> Fresh | None:
        path = environ.get("PATH_INFO", "")
        which, single = PATHS.get(path), SINGLE.fullmatch(path)
        if not (which or single) or environ.get("SCRIPT_NAME"):
            return None
        now = environ.get("jobsite.at") or timezone.now()  # only audit_visibility asks about another moment
        if which and now > timezone.now():  # the lists would be moved on to a moment that has not come
            return None
        if connections["default"].in_atomic_block:  # what is not committed has no number yet
            return None
        memory = self.memories.setdefault(replicas.current(), Memory())
        try:
            request = WSGIRequest(environ)
            base, query = absolute(request, "/")[:-1], request.GET
            for is_still in (False, *(True,) * TRIES):
                try:
                    if is_still:  # what the clock has passed cannot be written down within
                        memory.current_counts(now, state())
                    with snapshot() if is_still else nullcontext():
                        if which:
                            stands = state() if is_still else stands
                            return self.page(which, base + path, base, query, now, memory, stands, is_still)
                        return self.one(int(single[1]), single[2] or "", base, query, now, memory)  # type: ignore[index]
                except (ChangedError, UnknownError):
                    pass
        except (InvalidParameters, DisallowedHost):
            pass
        return None

    def page(
        self,
        which: List,
        path: str,
        base: str,
        query: QueryDict,
        now: datetime,
        memory: Memory,
        stands: State | None,
        is_still: bool,
    ) -> Fresh | None:
        if "internal" in which.verbs and is_protected():
            return None
        names = (*which.view.query_names, *PageNumberPagination.names)
        received = parameters.read(query, names, which.view.list_names)
        asked = {name: received[name] for name in names if name in received}
        paginator = PageNumberPagination()
        paginator.read(asked)
        keys = None
        if "fields" in asked:
            allowed = VERSIONS["v1"].Meta.fields
            chosen = parameters.choices("fields", asked["fields"], allowed)
            keys = [dumps(name) for name in allowed if name in chosen]
        narrowing = {name: value for name, value in paginator.others.items() if name != "fields"}
        is_oldest_first = narrowing == {"sort": "published_at"}
        if is_oldest_first or narrowing == {"sort": "-published_at"}:
            narrowing = {}

        if narrowing:  # whose ids are dear
            stands = stands or state()
        counts = memory.current_counts(now, stands)
        until = counts.changes[which.name]
        if narrowing:
            rows = self.selected(which, narrowing, paginator, counts, now, memory, is_still)
        else:
            total = counts.totals[which.name]
            start = paginator.turn(total)
            size = len(range(start, min(start + paginator.size, total)))
            start = total - start - size if is_oldest_first else start
            rows = self.listed(which, counts, start, size) if size else []
            if len(rows) != size:
                raise ChangedError
            if is_oldest_first:
                rows.reverse()
        states = {row[3:] for row in rows} or {stands or state()}
        if counts.state.number < 0 or states != {counts.state}:
            memory.counts = None
            raise ChangedError
        made = fill_in(which.version, rows)
        items = ((made.get(row[0]) or bytes(row[2]))[8:] for row in rows)
        data = whole(b",".join(items)) if keys is None else b",".join(cut(item, keys) for item in items)
        words = memory.learnt(counts.state.shared, base)
        place = dumps(paginator.place(path))
        body = b"".join((b'{"data":[', words.fill(data), b"],", place[1:]))
        made_of = repr([row[:2] for row in rows]).encode() + place
        tag = blake2b(made_of, digest_size=8).hexdigest()
        tag = f"{counts.state.shared:x}-{made_by().decode()}-{tag}"
        return Fresh(body, until, tag, {}, counts.state.number)

    def listed(self, which: List, counts: Counts, start: int, size: int) -> list[tuple]:
        """The rows of a page, found from the day that it begins on."""
        day, offset = counts.find(which.name, start)
        is_sqlite = connections["default"].vendor == "sqlite"
        end: Any = EPOCH + timedelta(days=day + 1)
        rule, index = LISTS[which.name], ""
        if is_sqlite:  # it would rather sort all of them; and Djangos differ in how they say it in an index
            index = f"INDEXED BY listed_{which.name}"
            rule = rule.replace("is_hot", "is_hot AND is_hot = 1")
        sql = _PAGE.format(
            version=which.version,
            rule=rule,
            index=index,
            where="AND publish_from < %s" if day != counts.days[0] else "",
            size=next((limit for limit in LIMITS if limit >= size), settings.PAGE_SIZE_MAX),
        )
        before = [str(end.replace(tzinfo=None)) if is_sqlite else end] if day != counts.days[0] else []
        return fetch(sql, *before, offset)[:size]

    def selected(
        self,
        which: List,
        narrowing: dict[str, str],
        paginator: PageNumberPagination,
        counts: Counts,
        now: datetime,
        memory: Memory,
        is_still: bool,
    ) -> list[tuple]:
        def narrowed() -> Any:
            filterset = which.view.filterset_class(narrowing, queryset=Vacancy.objects.all())
            filterset.check()
            if "sort" in narrowing:
                return filterset.qs.published(at=now).that_are(*which.verbs)
            # The same ones, by indexes alone: of the list, which has them in order, and of who carries an
            # option. Options are looked up first, so that PostgreSQL knows how common they are.
            listed = ListedVacancy.objects.filter(LISTED[which.name]).order_by(*NEWEST)
            for name, value in narrowing.items():
                if name == SEARCH:
                    listed = listed.filter(vacancy__in=Vacancy.objects.search(value))
                    continue
                keyword = filterset.filters[name].keyword
                options = FilterOption.objects.filter(filter__keyword=keyword, value__in=value.split(","))
                carriers = VacancyOption.objects.filter(
                    vacancy=OuterRef("pk"), option__in=list(options.values_list("pk", flat=True))
                )
                listed = listed.filter(Exists(carriers))
            return listed

        key = (which.name, *narrowing.items())
        selection = memory.select(key, counts.state, narrowed if is_still else None)
        start = paginator.turn(len(selection.ids))
        ids = list(selection.ids[start : start + paginator.size])
        if not ids:
            return []
        chosen = _CHOSEN.format(version=which.version)
        if connections["default"].vendor == "sqlite":
            rows = fetch(f"{chosen} IN (SELECT value FROM json_each(%s))", str(ids))
        else:
            rows = fetch(f"{chosen} = ANY(%s)", ids)
        by_id = {row[0]: row for row in rows}
        if len(by_id) < len(ids):
            raise ChangedError
        return [by_id[pk] for pk in ids]

    def one(
        self, pk: int, form: str, base: str, query: QueryDict, now: datetime, memory: Memory
    ) -> Fresh | None:
        if parameters.read(query, ("preview",)):
            return None
        rows = fetch(_ONE, pk)
        if not rows:
            return None
        stamp, document, audience, begins, ends, brand, own_form, number, shared = rows[0]
        begins, ends = as_moment(begins), as_moment(ends)
        assert begins is not None  # of what is published
        if now < begins or (ends and ends <= now) or (audience == Audience.INTERNAL and is_protected()):
            return None
        if number < 0:  # nobody tells of changes
            return None
        words = memory.learnt(shared, base)
        if form:
            return self.form(pk, form, base, own_form, brand, ends, number, memory)
        made = fill_in("v1", [(pk, stamp, document)])
        data = whole((made.get(pk) or bytes(document))[8:])
        body = b"".join((b'{"data":', words.fill(data), b"}"))
        tag = blake2b(repr((stamp, base)).encode(), digest_size=8).hexdigest()
        return Fresh(body, ends, f"{shared:x}-{made_by().decode()}-{tag}", {}, number)

    def form(
        self,
        pk: int,
        form: str,
        base: str,
        own: int | None,
        brand: int | None,
        ends: datetime | None,
        number: int,
        memory: Memory,
    ) -> Fresh | None:
        forms, key = memory.forms, (own, None if own else brand)
        served = forms.get(key)
        if served is None:
            sections, language = forms_v1.serve(served_form(own, brand))
            rules = submission_schema(sections, address=Token("address"))
            version = digest(sections)
            served = (
                b'{"data":' + dumps(sections) + b"}",
                encode({"data": {"version": version, "schema": rules}}).split(MARK),
                {"Form-Version": version, "Content-Language": language},
            )
            forms[key] = served
            with memory.lock:
                while len(forms) > FORMS_MAX:
                    forms.popitem(last=False)
        sections_json, schema, headers = served
        tag = headers["Form-Version"] + headers["Content-Language"]
        if form == "/form":
            return Fresh(sections_json, ends, f"{tag}-form", headers, number)
        address = f"{base}/v1/vacancies/{pk}{form}"
        parts = [dumps(address) if part == b"address" else part for part in schema]
        return Fresh(b"".join(parts), ends, f"{tag}-{zlib.crc32(address.encode()):x}", headers, number)
