"""What each process caches of the public lists between requests."""

from array import array
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field
from datetime import datetime
from threading import Lock
from typing import Any

from django.conf import settings

from jobsite.serving.rendered_items import PlaceholderResolver
from jobsite.serving.revision import RevisionState
from vacancies.models import Vacancy
from vacancies.readmodel.totals import Period, Totals, read_totals
from vacancies.search.index import SearchCache

MAX_VALUES = 1_000
MAX_RESOLVERS = 8


@dataclass
class SharedCache:
    """What is valid at one shared number.
    Threads that read from a late replica have another one.
    """

    number: int
    resolvers: dict[str, PlaceholderResolver] = field(default_factory=dict)  # by base URL
    values: dict[Hashable, Any] = field(default_factory=dict)

    def resolver(self, base_url: str) -> PlaceholderResolver:
        if found := self.resolvers.get(base_url):
            return found
        if len(self.resolvers) > MAX_RESOLVERS:
            self.resolvers.clear()
        return self.resolvers.setdefault(base_url, PlaceholderResolver(base_url))

    def get(self, key: Hashable, make: Callable[[], Any]) -> Any:
        """Return what is cached for `key`, or what `make` returns."""
        if (found := self.values.get(key)) is None:
            if len(self.values) >= MAX_VALUES:
                self.values.clear()
            found = self.values[key] = make()
        return found


@dataclass
class ProcessCache:
    """The cache of this process. Its threads may read from servers at different revisions."""

    totals: Totals | None = None  # of the read model
    period: Period | None = None  # without it
    last_shared: SharedCache = field(default_factory=lambda: SharedCache(-1))
    id_lists: "OrderedDict[tuple, tuple[tuple, array[int]]]" = field(default_factory=OrderedDict)
    search: SearchCache = field(default_factory=SearchCache)
    lock: Any = field(default_factory=Lock)

    def totals_at(self, now: datetime, state: RevisionState | None) -> Totals | None:
        """Return the totals of the read model at the time `now` and the revision `state`, which the
        current snapshot has. With None, return those that were read last. None if a clock is
        behind, or nothing is cached.
        """
        totals = self.totals
        if state and not (totals and totals.state == state and totals.holds_at(now)):
            totals = self.totals = read_totals(state, now=now)
        return totals if totals and totals.holds_at(now) else None

    def period_at(self, now: datetime, state: RevisionState) -> Period:
        """Return the period of the time `now` at the revision `state`, which the current snapshot
        has.
        """
        period = self.period
        if not (period and period.state == state and period.holds_at(now)):
            period = self.period = Period(state, now, Vacancy.objects.next_change(after=now))
        return period

    def shared(self, number: int) -> SharedCache:
        """Return the cache that is valid at the shared number."""
        found = self.last_shared
        if found.number != number:
            found = self.last_shared = SharedCache(number)
        return found

    def ids(
        self, key: tuple, period: Period, read: Callable[[], Iterable[int]] | None
    ) -> "array[int] | None":
        """Return the ids that are cached for the list `key`, or those that `read` returns. None
        without `read`.
        """
        valid = (period.state, period.until)
        found, ids = self.id_lists.get(key, (None, array("q")))
        if found != valid:
            if read is None:
                return None
            ids = array("q", read())
        with self.lock:
            self.id_lists[key] = (valid, ids)
            self.id_lists.move_to_end(key)
            while self.size() > settings.LIST_CACHE_MB * 2**20:
                self.id_lists.popitem(last=False)
        return ids

    def size(self) -> int:
        """Bytes that the id lists take, roughly."""
        return sum(len(ids) * ids.itemsize + 1_000 for _, ids in self.id_lists.values())


process = ProcessCache()
