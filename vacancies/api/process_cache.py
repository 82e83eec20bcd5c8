"""What the fast path caches in each process between requests."""

from array import array
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from threading import Lock
from typing import Any

from django.conf import settings

from jobsite.serving.rendered_items import PlaceholderResolver
from jobsite.serving.revision import RevisionState, read_state
from vacancies.api.rendered_items import ChangedError, resolve
from vacancies.readmodel.maintenance import balance
from vacancies.readmodel.totals import Totals, read_totals

MAX_FORMS = 1_000
MAX_RESOLVERS = 8


@dataclass
class SharedCache:
    """What is valid at one shared number. Threads that read from a late replica have another one."""

    number: int
    resolvers: dict[str, PlaceholderResolver] = field(default_factory=dict)  # by base URL
    forms: dict[tuple, tuple] = field(default_factory=dict)

    def resolver(self, base_url: str) -> PlaceholderResolver:
        if base_url not in self.resolvers and len(self.resolvers) > MAX_RESOLVERS:
            self.resolvers.clear()
        return self.resolvers.setdefault(base_url, PlaceholderResolver(base_url, resolve))


@dataclass
class ProcessCache:
    """The cache of this process. Its threads may read from servers at different revisions."""

    totals: Totals | None = None
    last_shared: SharedCache = field(default_factory=lambda: SharedCache(-1))
    # Ids of filtered or sorted lists, with the revision and the next change of their totals.
    id_lists: "OrderedDict[tuple, tuple[tuple, array[int]]]" = field(default_factory=OrderedDict)
    lock: Any = field(default_factory=Lock)

    def current_totals(self, state: RevisionState | None, now: datetime, *, is_pinned: bool) -> Totals:
        """Return the totals at the revision `state`, or the last known ones, for the time `now`."""
        totals = self.totals
        if totals is None or not totals.holds_at(now) or (state and totals.state != state):
            totals = read_totals(state or read_state(), now=now)
            if totals.is_unbalanced and not is_pinned:
                balance()
                totals = read_totals(totals.state, now=now)
            self.totals = totals
        return totals

    def shared(self, number: int) -> SharedCache:
        """Return the cache that is valid at the shared number."""
        found = self.last_shared
        if found.number != number:
            found = self.last_shared = SharedCache(number)
        return found

    def id_list(self, key: tuple, totals: Totals, query: Callable[[], Any] | None) -> "array[int]":
        """Return the ids that are cached for `key`, or those of the queryset that `query` returns.

        Without `query`, raises ChangedError instead: a query takes time in which others write.
        """
        valid = (totals.state, totals.until)
        found, ids = self.id_lists.get(key, (None, array("q")))
        if found != valid:
            if query is None:
                raise ChangedError
            ids = array("q", query().values_list("pk", flat=True))
        with self.lock:
            self.id_lists[key] = (valid, ids)
            self.id_lists.move_to_end(key)
            while self.size() > settings.LIST_CACHE_MB * 2**20:
                self.id_lists.popitem(last=False)
        return ids

    def size(self) -> int:
        """Bytes that the id lists take, roughly."""
        return sum(len(ids) * ids.itemsize + 1_000 for _, ids in self.id_lists.values())
