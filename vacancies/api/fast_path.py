"""Public responses from the read model, without Django's views.

A page takes one statement. Every other request (an invalid parameter, a protected list, nothing found) falls
through to the views, which are the reference implementation.

Each page is of one revision: what the process cache holds is valid at a revision, and the statement that
reads the page reads the revision too.
"""

import re
import zlib
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import blake2b
from typing import Any, NamedTuple

from django.conf import settings
from django.core.exceptions import DisallowedHost
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
from jobsite.serving.rendered_items import (
    MARK,
    UnknownPlaceholderError,
    dumps,
    encode,
    project,
    strip_markers,
)
from jobsite.serving.response_cache import RenderedResponse
from jobsite.serving.revision import RevisionState, fetch, read_state, snapshot
from vacancies.api import v0_1, v1
from vacancies.api.process_cache import MAX_FORMS, MAX_TRIES, ProcessCache
from vacancies.api.rendered_items import (
    FINGERPRINT_LENGTH,
    VERSIONS,
    ChangedError,
    render_missing,
    renderer_fingerprint,
)
from vacancies.filtersets import SEARCH
from vacancies.models import Audience, Brand, FilterOption, ListedVacancy, Vacancy, VacancyOption
from vacancies.querysets import VacancyList
from vacancies.readmodel.changes import EPOCH
from vacancies.readmodel.totals import Totals, as_datetime

LIMITS = (5, 20, 50, 100)  # rows that a statement reads: each limit is one prepared statement


class Endpoint(NamedTuple):
    """An endpoint that returns a list: the version of its items, the list, and the view."""

    version: str
    list: VacancyList
    view: Any


PATHS = {
    "/v1/vacancies": Endpoint("v1", VacancyList.EXTERNAL, v1.VacancyViewSet),
    "/v1/vacancies/hot": Endpoint("v1", VacancyList.HOT, v1.VacancyViewSet),
    "/v1/vacancies/internal": Endpoint("v1", VacancyList.INTERNAL, v1.VacancyViewSet),
    "/v1/vacancies/hot/internal": Endpoint("v1", VacancyList.HOT_INTERNAL, v1.VacancyViewSet),
    "/v0.1/vacancies": Endpoint("v0_1", VacancyList.EXTERNAL, v0_1.VacancyViewSet),
    "/v0.1/vacancies/internal": Endpoint("v0_1", VacancyList.INTERNAL, v0_1.VacancyViewSet),
}
SINGLE = re.compile(r"/v1/vacancies/([1-9][0-9]{0,17})(/form(?:/schema)?)?", re.ASCII)

# Columns of a row: id, row version, item, and the revision.
_ROW = "l.vacancy_id, l.row_version, l.{version}, r.number, r.shared, r.watermark"
_PAGE = (
    f"SELECT {_ROW} FROM (SELECT vacancy_id FROM vacancies_listedvacancy {{index}} "
    "WHERE state = 1 AND {condition} {where} "
    "ORDER BY publish_from DESC, vacancy_id DESC LIMIT {size} OFFSET %s) p "
    "JOIN vacancies_listedvacancy l ON l.vacancy_id = p.vacancy_id, jobsite_revision r WHERE r.id = 1 "
    "ORDER BY l.publish_from DESC, l.vacancy_id DESC"
)
_BY_ID = f"SELECT {_ROW} FROM vacancies_listedvacancy l, jobsite_revision r WHERE r.id = 1 AND l.vacancy_id "
_SINGLE = (
    "SELECT l.row_version, l.v1, l.audience, l.publish_from, l.publish_until, l.brand_id, l.form_id, "
    "r.number, r.shared "
    "FROM vacancies_listedvacancy l, jobsite_revision r WHERE r.id = 1 AND l.vacancy_id = %s"
)


@dataclass
class _Request:
    """A request, as the fast path reads it."""

    path: str
    base_url: str
    query: QueryDict
    now: datetime
    cache: ProcessCache
    is_pinned: bool = False  # runs in one snapshot of the database


class FastPath:
    """Returns the response to a request, or None if the views have to make it.

    The revision need not be known: a page is made with the totals that were read last, and the statement that
    reads its rows shows whether they are still valid. After a concurrent write the request is repeated in one
    snapshot of the database.
    """

    def __init__(self) -> None:
        self.caches: dict[str, ProcessCache] = {}  # by database alias

    def __call__(
        self, environ: dict[str, Any], state: RevisionState | None = None
    ) -> RenderedResponse | None:
        path = environ.get("PATH_INFO", "")
        endpoint, single = PATHS.get(path), SINGLE.fullmatch(path)
        if not (endpoint or single) or environ.get("SCRIPT_NAME"):
            return None
        now = environ.get("jobsite.at") or timezone.now()  # audit_visibility asks about other times
        if endpoint and now > timezone.now():  # due changes must not be applied before their time
            return None
        if connections["default"].in_atomic_block:  # uncommitted changes have no revision
            return None
        cache = self.caches.setdefault(replicas.current(), ProcessCache())
        try:
            wsgi_request = WSGIRequest(environ)
            request = _Request(path, absolute(wsgi_request, "/")[:-1], wsgi_request.GET, now, cache)
            for is_pinned in (False, *(True,) * MAX_TRIES):
                request.is_pinned = is_pinned
                try:
                    if is_pinned:  # due changes cannot be applied inside the snapshot
                        cache.current_totals(now, read_state())
                    with snapshot() if is_pinned else nullcontext():
                        if endpoint:
                            return self.page(endpoint, request, read_state() if is_pinned else state)
                        return self.single(request, int(single[1]), single[2] or "")  # type: ignore[index]
                except (ChangedError, UnknownPlaceholderError):
                    pass
        except (InvalidParameters, DisallowedHost):
            pass
        return None

    def page(
        self, endpoint: Endpoint, request: _Request, state: RevisionState | None
    ) -> RenderedResponse | None:
        """Return a page of a list. Raises ChangedError, InvalidParameters."""
        if endpoint.list.is_internal and is_protected():
            return None
        names = (*endpoint.view.query_names, *PageNumberPagination.names)
        received = parameters.read(request.query, names, endpoint.view.list_names)
        query = {name: received[name] for name in names if name in received}
        paginator = PageNumberPagination()
        paginator.read(query)
        keys = None
        if "fields" in query:
            allowed = VERSIONS["v1"].Meta.fields
            chosen = parameters.choices("fields", query["fields"], allowed)
            keys = [dumps(name) for name in allowed if name in chosen]
        filters = {name: value for name, value in paginator.others.items() if name != "fields"}
        is_oldest_first = filters == {"sort": "published_at"}
        if is_oldest_first or filters == {"sort": "-published_at"}:
            filters = {}

        if filters:  # the ids are expensive: pin the revision first
            state = state or read_state()
        totals = request.cache.current_totals(request.now, state)
        if filters:
            rows = self.filtered_rows(endpoint, filters, paginator, totals, request)
        else:
            rows = self.listed_rows(endpoint, paginator, totals, is_oldest_first=is_oldest_first)
        states = {row[3:] for row in rows} or {state or read_state()}
        if totals.state.number < 0 or states != {totals.state}:
            request.cache.totals = None
            raise ChangedError
        rendered = render_missing(endpoint.version, rows)
        items = [(rendered.get(row[0]) or bytes(row[2]))[FINGERPRINT_LENGTH:] for row in rows]
        if keys is None:
            data = strip_markers(b",".join(items))
        else:
            data = b",".join(project(item, keys) for item in items)
        shared = totals.state.shared
        envelope = dumps(paginator.place(request.base_url + request.path))
        data = request.cache.resolver(shared, request.base_url).fill(data)
        body = b"".join((b'{"data":[', data, b"],", envelope[1:]))
        content = repr([row[:2] for row in rows]).encode() + envelope
        return RenderedResponse(
            body, totals.changes[endpoint.list], _tag(shared, content), {}, totals.state.number
        )

    def listed_rows(
        self, endpoint: Endpoint, paginator: PageNumberPagination, totals: Totals, *, is_oldest_first: bool
    ) -> list[tuple]:
        """Read the rows of a page of a whole list, starting at the day on which the page begins."""
        total = totals.totals[endpoint.list]
        start = paginator.turn(total)
        size = len(range(start, min(start + paginator.size, total)))
        if not size:
            return []
        start = total - start - size if is_oldest_first else start
        day, offset = totals.find(endpoint.list, start)
        is_sqlite = connections["default"].vendor == "sqlite"
        end: Any = EPOCH + timedelta(days=day + 1)
        condition, index = endpoint.list.sql(), ""
        if is_sqlite:  # its planner would sort all rows; Django versions differ in how the index says is_hot
            index = f"INDEXED BY listed_{endpoint.list.column}"
            condition = condition.replace("is_hot", "is_hot AND is_hot = 1")
        sql = _PAGE.format(
            version=endpoint.version,
            condition=condition,
            index=index,
            where="AND publish_from < %s" if day != totals.days[0] else "",
            size=next((limit for limit in LIMITS if limit >= size), settings.PAGE_SIZE_MAX),
        )
        before = [str(end.replace(tzinfo=None)) if is_sqlite else end] if day != totals.days[0] else []
        rows = fetch(sql, *before, offset)[:size]
        if len(rows) != size:
            raise ChangedError
        if is_oldest_first:
            rows.reverse()
        return rows

    def filtered_rows(
        self,
        endpoint: Endpoint,
        filters: dict[str, str],
        paginator: PageNumberPagination,
        totals: Totals,
        request: _Request,
    ) -> list[tuple]:
        """Read the rows of a page of a filtered or sorted list, whose ids the process caches."""

        def query() -> Any:
            return self.filtered(endpoint, filters, request.now)

        key = (endpoint.list, *filters.items())
        id_list = request.cache.id_list(key, totals.state, query if request.is_pinned else None)
        start = paginator.turn(len(id_list.ids))
        ids = list(id_list.ids[start : start + paginator.size])
        if not ids:
            return []
        sql = _BY_ID.format(version=endpoint.version)
        if connections["default"].vendor == "sqlite":
            rows = fetch(f"{sql} IN (SELECT value FROM json_each(%s))", str(ids))
        else:
            rows = fetch(f"{sql} = ANY(%s)", ids)
        by_id = {row[0]: row for row in rows}
        if len(by_id) < len(ids):
            raise ChangedError
        return [by_id[pk] for pk in ids]

    @staticmethod
    def filtered(endpoint: Endpoint, filters: dict[str, str], now: datetime) -> Any:
        """Return the queryset of a filtered or sorted list. Raises InvalidParameters."""
        filterset = endpoint.view.filterset_class(filters, queryset=Vacancy.objects.all())
        filterset.check()
        if "sort" in filters:
            return filterset.qs.published(at=now).in_list(endpoint.list)
        # The same vacancies by indexes alone: the ordered index of the list, and the index of options. Option
        # ids are read first, so that PostgreSQL's planner knows how common they are.
        listed = ListedVacancy.objects.live(endpoint.list)
        for name, value in filters.items():
            if name == SEARCH:
                listed = listed.filter(vacancy__in=Vacancy.objects.search(value))
                continue
            keyword = filterset.filters[name].keyword
            options = FilterOption.objects.filter(filter__keyword=keyword, value__in=value.split(","))
            with_option = VacancyOption.objects.filter(
                vacancy=OuterRef("pk"), option__in=list(options.values_list("pk", flat=True))
            )
            listed = listed.filter(Exists(with_option))
        return listed

    def single(self, request: _Request, pk: int, form: str) -> RenderedResponse | None:
        """Return one vacancy, or its form where `form` is the end of the path."""
        if parameters.read(request.query, ("preview",)):
            return None
        rows = fetch(_SINGLE, pk)
        if not rows:
            return None
        row_version, item, audience, start, end, brand, own_form, number, shared = rows[0]
        start, end = as_datetime(start), as_datetime(end)
        assert start is not None  # for a published vacancy
        now = request.now
        if now < start or (end and end <= now) or (audience == Audience.INTERNAL and is_protected()):
            return None
        if number < 0:  # no triggers: a migration runs
            return None
        resolver = request.cache.resolver(shared, request.base_url)
        if form:
            body, tag, headers = _form(request, form, own_form, brand)
            return RenderedResponse(body, end, tag, headers, number)
        rendered = render_missing("v1", [(pk, row_version, item)])
        data = strip_markers((rendered.get(pk) or bytes(item))[FINGERPRINT_LENGTH:])
        body = b"".join((b'{"data":', resolver.fill(data), b"}"))
        tag = _tag(shared, repr((row_version, request.base_url)).encode())
        return RenderedResponse(body, end, tag, {}, number)


def _tag(shared: int, content: bytes) -> str:
    digest = blake2b(content, digest_size=8).hexdigest()
    return f"{shared:x}-{renderer_fingerprint().decode()}-{digest}"


def _form(
    request: _Request, form: str, own_form: int | None, brand: int | None
) -> tuple[bytes, str, dict[str, str]]:
    """Return the body, tag and headers of a form or its schema."""
    forms, key = request.cache.forms, (own_form, None if own_form else brand)
    served = forms.get(key)
    if served is None:
        sections, language = forms_v1.serve(_served_form(own_form, brand))
        rules = submission_schema(sections, address=Token("address"))
        version = digest(sections)
        served = (
            b'{"data":' + dumps(sections) + b"}",
            encode({"data": {"version": version, "schema": rules}}).split(MARK),
            {"Form-Version": version, "Content-Language": language},
        )
        forms[key] = served  # not `request.cache.forms`: another thread may have replaced it
        with request.cache.lock:
            while len(forms) > MAX_FORMS:
                forms.popitem(last=False)
    sections_json, schema, headers = served
    tag = headers["Form-Version"] + headers["Content-Language"]
    if form == "/form":
        return sections_json, f"{tag}-form", headers
    address = request.base_url + request.path
    parts = [dumps(address) if part == b"address" else part for part in schema]
    return b"".join(parts), f"{tag}-{zlib.crc32(address.encode()):x}", headers


def _served_form(own_form: int | None, brand: int | None) -> Form | None:
    """Return the form of a vacancy, by the rule of `VacancyQuerySet.with_form`."""
    vacancy = Vacancy()
    of_brand = Brand.objects.filter(pk__in=[brand]).values_list("form_id", flat=True)
    default = Form.objects.default().values_list("pk", flat=True)
    vacancy.served_form_id = own_form or of_brand.first() or default.first()
    return vacancy.served_form
