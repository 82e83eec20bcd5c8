"""Public responses from the read model, without Django's views.

A page takes one statement. Every other request (an invalid parameter, a protected list, nothing found) falls
through to the views, which are the reference implementation.

Each page is of one revision: what the process cache holds is valid at a revision, and the statement that
reads the page reads the revision too.
"""

import re
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from typing import Any, NamedTuple

from django.core.exceptions import DisallowedHost
from django.core.handlers.wsgi import WSGIRequest
from django.db import connections
from django.http import QueryDict
from django.utils import timezone

from forms_structure.api import v1 as forms_v1
from forms_structure.exchange import digest
from forms_structure.models import Form
from forms_structure.roles import accepts_applications
from forms_structure.schema import submission_schema
from jobsite.api import parameters
from jobsite.api.absolute_urls import absolute
from jobsite.api.caching import REQUEST_TIME
from jobsite.api.pagination import PageNumberPagination
from jobsite.api.permissions import is_protected
from jobsite.api.placeholders import Token
from jobsite.api.problems import InvalidParameters
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
from vacancies.api.process_cache import MAX_FORMS, ProcessCache, SharedCache
from vacancies.api.rendered_items import (
    FINGERPRINT_LENGTH,
    VERSIONS,
    ChangedError,
    render_missing,
)
from vacancies.models import Audience, Brand, ListedVacancy, Vacancy
from vacancies.querysets import LIVE, VacancyList, is_live
from vacancies.readmodel.totals import Totals, as_datetime, as_parameter

MAX_TRIES = 4  # in one snapshot, after concurrent writes


class Endpoint(NamedTuple):
    """An endpoint that returns a list: the version of its items, the list, and the view."""

    version: str
    list: VacancyList
    view: Any


PATHS = {
    f"/{prefix}/vacancies{each.path}": Endpoint(version, each, view)
    for prefix, version, view, lists in (
        ("v1", "v1", v1.VacancyViewSet, VacancyList),
        ("v0.1", "v0_1", v0_1.VacancyViewSet, (VacancyList.EXTERNAL, VacancyList.INTERNAL)),
    )
    for each in lists
}
SINGLE = re.compile(r"/v1/vacancies/([1-9][0-9]{0,17})(/form(?:/schema)?)?", re.ASCII)

_REVISION = (
    "(SELECT number FROM jobsite_revision WHERE id = 1), (SELECT shared FROM jobsite_revision WHERE id = 1)"
)
# The columns of a row: id, row version, item, and the revision.
_ROW = f"vacancy_id, row_version, {{version}}, {_REVISION}"
_PAGE = (
    f"SELECT {_ROW} FROM vacancies_listedvacancy {{index}} "
    f"WHERE NOT is_expired AND {{condition}} AND (publish_from, vacancy_id) < (%s, %s) AND {LIVE} "
    "ORDER BY publish_from DESC, vacancy_id DESC LIMIT %s OFFSET %s"
)
_BY_ID = f"SELECT {_ROW} FROM vacancies_listedvacancy WHERE vacancy_id "
_SINGLE = (
    f"SELECT {_REVISION}, audience, publish_from, publish_until, vacancy_id, row_version, v1 "
    "FROM vacancies_listedvacancy WHERE vacancy_id = %s"
)
_FORM = (  # from the vacancy: the read model has no `apply_url`
    f"SELECT {_REVISION}, audience, publish_from, publish_until, form_id, brand_id, apply_url "
    "FROM vacancies_vacancy WHERE id = %s AND status = 'published'"
)


@cache
def _page_sql(endpoint: Endpoint, vendor: str) -> str:
    condition, index = endpoint.list.sql(), ""
    if vendor == "sqlite":  # its planner would sort all rows
        index = f"INDEXED BY listed_{endpoint.list.column}"
        # The conditions of an index depend on the version of Django that created it.
        condition = condition.replace("is_hot", "is_hot AND is_hot = 1") + " AND is_expired = 0"
    return _PAGE.format(version=endpoint.version, condition=condition, index=index)


@dataclass
class _Request:
    """A request, as the fast path reads it."""

    path: str
    base_url: str
    query: QueryDict
    now: datetime
    cache: ProcessCache
    is_pinned: bool = False  # runs in one snapshot of the database


class _Page:
    """The parameters of a page of a list. Raises InvalidParameters."""

    def __init__(self, endpoint: Endpoint, query: QueryDict) -> None:
        names = (*endpoint.view.query_names, *PageNumberPagination.names)
        received = parameters.read(query, names, endpoint.view.list_names)
        self.endpoint, self.list, self.paginator = endpoint, endpoint.list, PageNumberPagination()
        self.paginator.read({name: received[name] for name in names if name in received})
        self.filters = dict(self.paginator.others)
        self.fields = self.filters.pop("fields", None)
        self.is_oldest_first = self.filters == {"sort": "published_at"}
        if self.is_oldest_first or self.filters == {"sort": "-published_at"}:
            self.filters = {}

    def keys(self) -> list[bytes] | None:
        """The keys to return, in canonical order, as JSON. None: all of them."""
        if self.fields is None:
            return None
        allowed = VERSIONS["v1"].Meta.fields
        chosen = parameters.choices("fields", self.fields, allowed)
        return [dumps(name) for name in allowed if name in chosen]


class FastPath:
    """Returns the response to a request, or None if the views have to make it.

    The revision need not be known: a page is made with the totals that were read last, and the statement that
    reads its rows shows whether they are still valid. After a concurrent write the request is repeated in one
    snapshot of the database.
    """

    def __init__(self) -> None:
        self.cache = ProcessCache()

    def __call__(
        self, environ: dict[str, Any], state: RevisionState | None = None
    ) -> RenderedResponse | None:
        path = environ.get("PATH_INFO", "")
        endpoint, single = PATHS.get(path), SINGLE.fullmatch(path)
        if not (endpoint or single) or environ.get("SCRIPT_NAME"):
            return None
        if connections["default"].in_atomic_block:  # uncommitted changes have no revision
            return None
        now = environ.get(REQUEST_TIME) or timezone.now()
        with suppress(InvalidParameters, DisallowedHost):
            wsgi_request = WSGIRequest(environ)
            request = _Request(path, absolute(wsgi_request, "/")[:-1], wsgi_request.GET, now, self.cache)
            for is_pinned in (False, *(True,) * MAX_TRIES):
                request.is_pinned = is_pinned
                with (
                    suppress(ChangedError, UnknownPlaceholderError),
                    snapshot() if is_pinned else nullcontext(),
                ):
                    if endpoint:
                        return _page(request, endpoint, read_state() if is_pinned else state)
                    return _single(request, int(single[1]), single[2] or "")  # type: ignore[index]
        return None


# --- Lists ----------------------------------------------------------------------------------------------


def _page(request: _Request, endpoint: Endpoint, state: RevisionState | None) -> RenderedResponse | None:
    """Return a page of a list. Raises ChangedError, InvalidParameters."""
    if endpoint.list.is_internal and is_protected():
        return None
    page = _Page(endpoint, request.query)
    keys = page.keys()
    if page.filters:  # the ids are expensive: read the revision first
        state = state or read_state()
    totals = request.cache.current_totals(state, request.now, is_pinned=request.is_pinned)
    if not totals.holds_at(request.now):  # the views do not use what the clock of the database marked
        return None
    rows = _filtered_rows(request, page, totals) if page.filters else _listed_rows(request, page, totals)
    states = {row[3:] for row in rows} or {read_state()}
    if totals.state.number < 0 or states != {totals.state}:
        request.cache.totals = None
        raise ChangedError
    items = _items(endpoint.version, rows)
    data = b",".join(items if keys is None else [project(item, keys) for item in items])
    data = request.cache.shared(totals.state.shared).resolver(request.base_url).fill(strip_markers(data))
    envelope = dumps(page.paginator.place(request.base_url + request.path))
    body = b"".join((b'{"data":[', data, b"],", envelope[1:]))
    return RenderedResponse(body, totals.until, {}, totals.state.number)


def _listed_rows(request: _Request, page: _Page, totals: Totals) -> list[tuple]:
    """Read the rows of a page of a whole list, from the bucket in which the page begins."""
    total = totals.totals[page.list]
    start = page.paginator.turn(total)
    size = len(range(start, min(start + page.paginator.size, total)))
    if not size:
        return []
    end, offset = totals.find(page.list, total - start - size if page.is_oldest_first else start)
    at, pk = end or (request.now + timedelta(microseconds=1), 0)
    now = as_parameter(request.now)
    sql = _page_sql(page.endpoint, connections["default"].vendor)
    rows = fetch(sql, as_parameter(at), pk, now, now, size, offset)
    if len(rows) != size:
        raise ChangedError
    return rows[::-1] if page.is_oldest_first else rows


def _filtered_rows(request: _Request, page: _Page, totals: Totals) -> list[tuple]:
    """Read the rows of a page of a filtered or sorted list, whose ids the process caches."""

    def query() -> Any:
        listed = ListedVacancy.objects.filter(is_expired=False).live(at=request.now)
        listed = listed.in_list(page.list).newest_first()
        filterset = page.endpoint.view.filterset_class(page.filters, queryset=listed)
        filterset.check()
        return filterset.qs

    key = (page.list, *page.filters.items())
    all_ids = request.cache.id_list(key, totals, query if request.is_pinned else None)
    start = page.paginator.turn(len(all_ids))
    ids = list(all_ids[start : start + page.paginator.size])
    if not ids:
        return []
    sql = _BY_ID.format(version=page.endpoint.version)
    if connections["default"].vendor == "sqlite":
        rows = fetch(f"{sql} IN (SELECT value FROM json_each(%s))", str(ids))
    else:
        rows = fetch(f"{sql} = ANY(%s)", ids)
    by_id = {row[0]: row for row in rows}
    if len(by_id) < len(ids):
        raise ChangedError
    return [by_id[pk] for pk in ids]


def _items(version: str, rows: list[tuple]) -> list[bytes]:
    """Return the rendered items of `rows` (id, row version, item). Raises ChangedError."""
    rendered = render_missing(version, rows)
    return [(rendered.get(row[0]) or row[2])[FINGERPRINT_LENGTH:] for row in rows]


# --- One vacancy and its form ---------------------------------------------------------------------------


def _single(request: _Request, pk: int, form: str) -> RenderedResponse | None:
    """Return one vacancy, or its form where `form` is the end of the path."""
    if parameters.read(request.query, ("preview",)):
        return None
    rows = fetch(_FORM if form else _SINGLE, pk)
    if not rows:
        return None
    number, shared, audience, start, end, *row = rows[0]
    start, end = as_datetime(start), as_datetime(end)
    assert start is not None  # for a published vacancy
    if not is_live(start, end, at=request.now) or (audience == Audience.INTERNAL and is_protected()):
        return None
    if number < 0:  # no triggers: a migration runs
        return None
    cache = request.cache.shared(shared)
    if form:
        own_form, brand, apply_url = row
        apply = "" if apply_url else f"{request.base_url}/v1/vacancies/{pk}/applications"
        body, headers = _form(request, cache, form, own_form, brand, apply)
        return RenderedResponse(body, end, headers, number)
    data = cache.resolver(request.base_url).fill(strip_markers(_items("v1", [tuple(row)])[0]))
    return RenderedResponse(b'{"data":' + data + b"}", end, {}, number)


def _form(
    request: _Request, cache: SharedCache, form: str, own_form: int | None, brand: int | None, apply: str
) -> tuple[bytes, dict[str, str | None]]:
    """Return the body and headers of a form or its schema. `apply` is where submissions go, "" if nowhere."""
    forms, key = cache.forms, (own_form, None if own_form else brand)
    served = forms.get(key)
    if served is None:
        # By the rule of `VacancyQuerySet.with_form`.
        of_brand = Brand.objects.filter(pk__in=[brand]).values_list("form_id", flat=True)
        default = Form.objects.default().values_list("pk", flat=True)
        vacancy = Vacancy()
        vacancy.served_form_id = own_form or of_brand.first() or default.first()
        served_form = vacancy.served_form
        sections, language = forms_v1.serve(served_form)
        version = digest(sections)
        rules = submission_schema(sections, address=Token("address"))
        if len(forms) >= MAX_FORMS:
            forms.clear()
        served = forms[key] = (
            b'{"data":' + dumps(sections) + b"}",
            encode({"data": {"version": version, "schema": rules}}).split(MARK),
            {"Form-Version": version, "Content-Language": language},
            served_form is not None and accepts_applications(served_form.whole_structure),
        )
    sections_json, schema, headers, accepts = served
    if form == "/form":
        return sections_json, headers | {"Apply": apply if apply and accepts else None}
    address = dumps(request.base_url + request.path)
    return b"".join(address if part == b"address" else part for part in schema), headers
