"""The vacancy lists of every version.

On PostgreSQL, a page consists of stored items. It takes one statement, and the cache of the
process. If they lack a part, or are of different revisions, the page is read in a snapshot of the
database. On SQLite, in a transaction, and where a clock is behind, a page is a query of the
vacancies, in a snapshot too.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any, ClassVar, NamedTuple

from django.db import DEFAULT_DB_ALIAS, connections
from django.http import HttpResponse
from rest_framework.request import Request
from rest_framework.serializers import BaseSerializer

from jobsite.api.absolute_urls import absolute
from jobsite.api.permissions import is_protected
from jobsite.api.viewsets import LANGUAGE, ReadOnlyViewSet
from jobsite.serving.rendered_items import UnknownPlaceholderError, dumps, project, strip_markers
from jobsite.serving.revision import RevisionState, fetch, read_state, snapshot
from vacancies.api import process_cache
from vacancies.api.rendered_items import in_language, render, resolve, store, stored_version
from vacancies.filtersets import VacancyFilterSet
from vacancies.models import Vacancy
from vacancies.querysets import LIVE, VacancyList
from vacancies.readmodel.maintenance import balance
from vacancies.readmodel.totals import Period, Totals, is_maintained

_REVISION = (
    "(SELECT number FROM jobsite_revision WHERE id = 1), (SELECT shared FROM jobsite_revision "
    "WHERE id = 1)"
)
# The columns of a row: id, row version, stored item or NULL, and the revision.
ROW = (
    "vacancy_id, row_version, (SELECT body FROM vacancies_rendereditem AS item WHERE "
    "item.vacancy_id = listed.vacancy_id AND item.version = %s AND item.row_version = "
    f"listed.row_version), {_REVISION}"
)
_PAGE = (
    f"SELECT {ROW} FROM (SELECT vacancy_id, publish_from, row_version FROM "
    f"vacancies_listedvacancy WHERE NOT is_expired AND {{condition}} AND (publish_from, "
    f"vacancy_id) < (%s, %s) AND {LIVE} ORDER BY publish_from DESC, vacancy_id DESC LIMIT %s "
    "OFFSET %s) AS listed ORDER BY publish_from DESC, vacancy_id DESC"
)
PAGES = {each: _PAGE.format(condition=each.sql()) for each in VacancyList}
_BY_ID = f"SELECT {ROW} FROM vacancies_listedvacancy AS listed WHERE vacancy_id = ANY(%s)"

SHOWN = ("fields", LANGUAGE)  # parameters that say what items contain, not which there are

Rows = list[tuple]
Rendered = dict[int, tuple[int, bytes]]  # items to store, with their row versions, by id


def has_read_model() -> bool:
    """Whether this request may use the read model:
    what a transaction has changed has no revision yet.
    """
    return is_maintained() and not connections[DEFAULT_DB_ALIAS].in_atomic_block


def json_response(body: bytes) -> HttpResponse:
    return HttpResponse(body, content_type="application/json")


def read_items(
    serializer_class: type[BaseSerializer],
    rows: Rows,
    state: RevisionState | None,
    language: str,
) -> tuple[list[bytes], Rendered] | None:
    """Return the items of `rows` (see ROW), and those of them that had to be rendered.

    Without a snapshot, whose revision is `state`, return None if one has to be rendered.
    """
    missing = {row[0]: row[1] for row in rows if row[2] is None}
    if not missing:
        return [row[2] for row in rows], {}
    if state is None:
        return None
    made = render(serializer_class, missing, language)
    return [row[2] or made[row[0]] for row in rows], {
        pk: (missing[pk], item) for pk, item in made.items()
    }


def fill(data: bytes, base_url: str, shared: int, state: RevisionState | None) -> bytes:
    """Return `data` with the values of its placeholders at the number `shared`. Without a snapshot,
    whose revision is `state`, they have to be known. Raises UnknownPlaceholderError.
    """
    return (
        process_cache.process.shared(shared)
        .resolver(base_url)
        .fill(data, resolve if state else None)
    )


class Page(NamedTuple):
    data: bytes  # the items, separated by commas
    period: Period | None  # None in a transaction
    rendered: Rendered


class ListViewSet(ReadOnlyViewSet):
    """A list of published vacancies."""

    vacancy_list: ClassVar[VacancyList] = VacancyList.EXTERNAL
    serializer_class: Any
    filterset_class: type[VacancyFilterSet] | None = None
    item_version: ClassVar[str]  # of the interface
    only: list[str] | None = None  # the keys of the items
    paginator: Any

    def list(self, request: Request, *args: Any, **kwargs: Any) -> HttpResponse:
        self.paginator.read(self.query)
        page = self.stored_page(None) if (is_stored := has_read_model()) else None
        if page is None:
            with snapshot() as state:
                page = self.stored_page(state) if is_stored else None
                page = page or self.plain_page(state)
            if page.rendered:
                store(self.version, page.rendered)
            if getattr(page.period, "is_unbalanced", False) and balance():
                process_cache.process.totals = None
        if page.period:
            self.until, self.revision = page.period.until, page.period.state.number
        envelope = dumps(self.paginator.links_and_meta(absolute(request, request.path)))
        return json_response(b"".join((b'{"data":[', page.data, b"],", envelope[1:])))

    @property
    def version(self) -> str:
        return in_language(self.item_version, self.language)

    def is_private(self) -> bool:
        return is_protected() and self.vacancy_list.is_internal

    # --- With the read model ---

    def stored_page(self, state: RevisionState | None) -> Page | None:
        """Return the page of stored items at `state`, the revision of the snapshot in which this
        runs.

        Without a snapshot, return None if the page needs one. Return None too if a clock is behind.
        """
        cache = process_cache.process
        totals = cache.totals_at(self.now, state)
        if totals is None:
            return None
        rows = (
            self.listed_rows(totals)
            if self.filters() is None
            else self.filtered_rows(totals, state)
        )
        if rows is None or ({row[3:] for row in rows} or {read_state()}) != {totals.state}:
            return None
        found = read_items(self.serializer_class, rows, state, self.language)
        if found is None:
            return None
        items, rendered = found
        try:
            base_url = absolute(self.request, "/")[:-1]
            return Page(
                fill(self.joined(items), base_url, totals.state.shared, state), totals, rendered
            )
        except UnknownPlaceholderError:
            return None

    def listed_rows(self, totals: Totals) -> Rows | None:
        """Return the rows of a page of the whole list, from the bucket in which the page begins.
        None after a concurrent write.
        """
        total = totals.totals[self.vacancy_list]
        positions = self.paginator.set_total(total)
        if not positions:
            return []
        size, is_reversed = len(positions), self.query.get("sort") == "published_at"
        start = total - positions.stop if is_reversed else positions.start
        end, offset = totals.find(self.vacancy_list, start)
        at, pk = end or (self.now + timedelta(microseconds=1), 0)
        version = stored_version(self.version)
        rows = fetch(PAGES[self.vacancy_list], version, at, pk, self.now, self.now, size, offset)
        if len(rows) != size:
            return None
        return rows[::-1] if is_reversed else rows

    def filtered_rows(self, totals: Totals, state: RevisionState | None) -> Rows | None:
        """Return the rows of a page of a filtered or sorted list, whose ids the process caches.
        None after a concurrent write, and if the ids have to be read in a snapshot.
        """
        read = (lambda: self.ids(state)) if state else None
        ids = process_cache.process.ids(self.key(), totals, read)
        if ids is None or (not ids and not self.propose(state)):
            return None
        positions = self.paginator.set_total(len(ids))
        page = list(ids[positions.start : positions.stop])
        rows = (
            {row[0]: row for row in fetch(_BY_ID, stored_version(self.version), page)}
            if page
            else {}
        )
        return [rows[pk] for pk in page] if len(rows) == len(page) else None

    # --- Without it ---

    def plain_page(self, state: RevisionState | None) -> Page:
        """Return the page of a query of the vacancies, in the snapshot of `state`."""
        cache = process_cache.process
        period = cache.period_at(self.now, state) if state else None
        ids: Any
        if period:
            ids = cache.ids((Vacancy, *self.key()), period, lambda: self.ids(state))
        else:
            ids = list(self.ids(state))
            self.until = None if self.is_private() else Vacancy.objects.next_change(after=self.now)
        if not ids:
            self.propose(state, is_snapshot=True)
        positions = self.paginator.set_total(len(ids))
        page = list(ids[positions.start : positions.stop])
        vacancies = Vacancy.objects.with_related(self.only).in_bulk(page)
        serializer = self.get_serializer(only=self.only)
        items = [serializer.to_representation(vacancies[pk]) for pk in page]
        return Page(dumps(items)[1:-1], period, {})

    # --- Single items ---

    def items(
        self, pks: Sequence[int], state: RevisionState | None
    ) -> tuple[dict[int, bytes], Rendered]:
        """Return the items of the vacancies `pks` by id, in the snapshot of `state`, and those of
        them that had to be rendered, to be stored.
        """
        found = self.stored_items(pks, state, state) if state and is_maintained() else None
        if found:
            return found
        serializer = self.get_serializer(only=self.only)
        vacancies = Vacancy.objects.with_related(self.only).in_bulk(pks)
        return {pk: dumps(serializer.to_representation(vacancies[pk])) for pk in vacancies}, {}

    def stored_items(
        self, pks: Sequence[int], current: RevisionState, state: RevisionState | None
    ) -> tuple[dict[int, bytes], Rendered] | None:
        """`items` from stored items. Without a snapshot, whose revision is `state`, return None if
        it needs one, or if the revision is not `current` any more.
        """
        rows = fetch(_BY_ID, stored_version(self.version), [*pks]) if pks else []
        if len(rows) < len(pks) or ({row[3:] for row in rows} or {read_state()}) != {current}:
            return None
        found = read_items(self.serializer_class, rows, state, self.language)
        if found is None:
            return None
        lines = b"\n".join(self.joined([item]) for item in found[0])  # JSON has no line end
        base_url = absolute(self.request, "/")[:-1]
        try:
            filled = fill(lines, base_url, current.shared, state).split(b"\n")
        except UnknownPlaceholderError:
            return None
        return dict(zip((row[0] for row in rows), filled, strict=False)), found[1]

    def next_turn(self, state: RevisionState | None) -> datetime | None:
        """Return the next time at which a vacancy starts or ends."""
        if state is None:
            return Vacancy.objects.next_change(after=self.now)
        cache = process_cache.process
        period = cache.totals_at(self.now, state) if is_maintained() else None
        return (period or cache.period_at(self.now, state)).until

    # --- Parameters ---

    def filters(self) -> dict[str, str] | None:
        """Return the parameters that filter or sort the list. None: it is the whole list in the
        order of its index, or the reverse of that.
        """
        found = {name: value for name, value in self.paginator.others.items() if name not in SHOWN}
        return None if found in ({}, {"sort": "published_at"}, {"sort": "-published_at"}) else found

    def key(self) -> tuple:
        # an empty `sort` is invalid, and has a key of its own
        return self.vacancy_list, *(
            self.filters() or {"sort": self.query.get("sort", "default")}
        ).items()

    def filterset(self) -> VacancyFilterSet | None:
        """Return the parameters that filter or sort the list, checked, or None without any. Raises
        InvalidParameters."""
        if (
            self.filterset_class is None
            or not self.query.keys() & self.filterset_class.base_filters.keys()
        ):
            return None
        found = self.filterset_class(
            self.query, queryset=Vacancy.objects.none(), request=self.request
        )
        found.check()
        return found

    def ids(self, state: RevisionState | None) -> Iterable[int]:
        """Return the ids of the members of the list, filtered and sorted, in the snapshot of
        `state`. Raises InvalidParameters.
        """
        if (filterset := self.filterset()) is None:
            members = Vacancy.objects.published(at=self.now).in_list(self.vacancy_list)
            return members.newest_first().values_list("pk", flat=True)
        index = process_cache.process.search.at(state)
        return filterset.ids(filterset.search(index, self.vacancy_list, at=self.now))

    def propose(self, state: RevisionState | None, *, is_snapshot: bool = False) -> bool:
        """Add what the search proposes to an empty list to `meta`.
        Return False if that needs a snapshot.
        """
        filterset = self.filterset()
        if filterset is None or not filterset.words:
            return True
        if not (state or is_snapshot):
            return False
        search = filterset.search(
            process_cache.process.search.at(state), self.vacancy_list, at=self.now
        )
        self.paginator.suggestions = search.suggestions(filterset.words)
        return True

    def joined(self, items: Iterable[bytes]) -> bytes:
        """Return `items` separated by commas, with the keys that the client wants."""
        if self.only is not None:
            fields = self.serializer_class.Meta.fields
            names = [dumps(name) for name in fields if name in self.only]
            items = [project(item, names) for item in items]
        return strip_markers(b",".join(items))
