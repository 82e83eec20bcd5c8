"""What the fast path caches in each process between requests."""

import sys
from array import array
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from threading import Lock
from time import monotonic
from typing import Any

from django.conf import settings
from django.core.exceptions import EmptyResultSet
from django.db import connections

from jobsite.serving import replicas
from jobsite.serving.rendered_items import PlaceholderResolver
from jobsite.serving.revision import RevisionState, read_state
from vacancies.api.rendered_items import ChangedError, resolve
from vacancies.readmodel.changes import apply_due_changes, microseconds
from vacancies.readmodel.totals import Totals, read_totals

MAX_TRIES = 4  # when others write between two reads
MAX_FORMS = 1_000
MAX_RESOLVERS = 8


@dataclass
class CachedIdList:
    """The ids of a filtered or sorted list at one revision."""

    state: RevisionState
    ids: "array[int]"


@dataclass
class ProcessCache:
    """The cache of one database: the primary or a replica."""

    totals: Totals | None = None
    retry_after: float = 0.0  # monotonic time before which no due changes are applied
    shared: int = -1  # the shared number at which resolvers and forms are valid
    resolvers: dict[str, PlaceholderResolver] = field(default_factory=dict)  # by base URL
    forms: "OrderedDict[tuple, tuple]" = field(default_factory=OrderedDict)
    id_lists: "OrderedDict[tuple, CachedIdList]" = field(default_factory=OrderedDict)
    lock: Any = field(default_factory=Lock)

    def current_totals(self, now: datetime, state: RevisionState | None) -> Totals:
        """Return the totals at the revision `state`, or the last known ones, after applying due changes.

        Raises ChangedError.
        """
        for _ in range(MAX_TRIES):
            totals = self.totals
            if totals is None or (state and totals.state != state):
                totals = self.totals = read_totals()
                state = totals.state
            if totals.next_change is None or now < totals.next_change:
                if microseconds(now) < totals.state.watermark:
                    break  # this clock is behind the clock of the process that applied the changes
                return totals
            if monotonic() < self.retry_after:
                break
            changed = apply_due_changes(at=now)
            # A lock is not free, or the replica lags. Other readers do not try meanwhile.
            if changed is None or replicas.current() != "default":
                self.retry_after = monotonic() + (1 if changed is None else 0.1)
                break
            state = read_state()
        raise ChangedError

    def resolver(self, shared: int, base_url: str) -> PlaceholderResolver:
        """Return the resolver that is valid at the shared number `shared`."""
        if shared != self.shared:
            self.resolvers, self.forms, self.shared = {}, OrderedDict(), shared
        if base_url not in self.resolvers and len(self.resolvers) > MAX_RESOLVERS:
            self.resolvers.clear()
        return self.resolvers.setdefault(base_url, PlaceholderResolver(base_url, resolve))

    def id_list(self, key: tuple, state: RevisionState, query: Callable[[], Any] | None) -> CachedIdList:
        """Return the list that is cached for `key`, or the ids of the queryset that `query` returns.

        Without `query`, raises ChangedError instead: a query takes time in which others write.
        """
        found = self.id_lists.get(key)
        if found is None or found.state != state:
            if query is None:
                raise ChangedError
            found = CachedIdList(state, read_ids(query()))
        with self.lock:
            self.id_lists[key] = found
            self.id_lists.move_to_end(key)
            while self.size() > settings.LIST_CACHE_MB * 2**20:
                self.id_lists.popitem(last=False)
        return found

    def size(self) -> int:
        """Bytes that the id lists take, roughly."""
        ids = (each.ids for each in self.id_lists.values())
        return sum(len(each) * each.itemsize for each in ids) + 1_000 * len(self.id_lists)


def read_ids(queryset: Any) -> "array[int]":
    """Read the ids of a queryset in its order. PostgreSQL sends them as one value: there can be a million."""
    database = connections[replicas.current()]
    if database.vendor == "postgresql":
        try:
            sql, parameters = queryset.values("pk").query.sql_with_params()
        except EmptyResultSet:  # no such option
            return array("I")
        with database.cursor() as cursor:
            cursor.execute(f"SELECT string_agg(int8send(pk), '') FROM ({sql}) AS rows (pk)", parameters)
            ids = array("q", cursor.fetchone()[0] or b"")
        if sys.byteorder == "little":
            ids.byteswap()
    else:
        ids = array("q", queryset.values_list("pk", flat=True).iterator())
    return array("I", ids) if max(ids, default=0) < 2**32 else ids
