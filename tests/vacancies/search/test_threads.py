"""Threads that search at once share one index, and none of them waits for a query of another."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from threading import Event
from typing import Any

import pytest
from pyroaring import BitMap64

from jobsite.serving.revision import RevisionState
from vacancies.search import index
from vacancies.search.index import Base, SearchCache
from vacancies.search.terms import PUBLISHED

BEFORE, AFTER = RevisionState(1, 1), RevisionState(2, 1)
SECONDS = 10  # until a test fails instead of waiting longer


class Database:
    """One vacancy with the term o1 and one change of it. A query can be made to wait."""

    def __init__(self) -> None:
        self.reads: list[str] = []
        self.waits_in = ""
        self.arrived, self.go_on = Event(), Event()

    def read(self, query: str) -> None:
        self.reads.append(query)
        if query == self.waits_in:
            self.arrived.set()
            assert self.go_on.wait(SECONDS)

    def facts(self, pks: BitMap64, *, expired_at: datetime | None) -> dict[str, BitMap64]:
        self.read("facts")
        return {"o1": pks, PUBLISHED: pks}

    def within(self, *args: object) -> list:
        self.read("bitmaps")
        return []


@pytest.fixture
def database(monkeypatch) -> Iterator[Database]:
    made, base = Database(), Base([1, 1], datetime(2026, 1, 1, tzinfo=UTC), 1, "en")
    monkeypatch.setattr(Base, "read", lambda: base)
    monkeypatch.setattr(index, "_read_changes", lambda: {1: 7})
    monkeypatch.setattr(index, "read_facts", made.facts)
    monkeypatch.setattr(index, "within", made.within)
    yield made
    made.go_on.set()


@pytest.fixture
def pool() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(4) as made:
        yield made


def search(cache: SearchCache, state: RevisionState) -> Any:
    return list(cache.at(state).load(["o1"])[0])


@pytest.mark.parametrize(
    ("query", "state"), [("bitmaps", BEFORE), ("facts", AFTER)], ids=["search", "change"]
)
def test_a_search_waits_for_no_query_of_another(database, pool, query, state):
    cache = SearchCache()
    cache.at(BEFORE)
    database.waits_in = query
    slow = pool.submit(search, cache, state)
    assert database.arrived.wait(SECONDS)
    database.waits_in = ""
    assert pool.submit(search, cache, BEFORE).result(SECONDS) == [7]
    assert not slow.done()
    database.go_on.set()
    assert slow.result(SECONDS) == [7]


def test_threads_read_a_change_once(database, pool):
    cache = SearchCache()
    database.waits_in = "facts"
    searches = [pool.submit(search, cache, AFTER) for _ in range(4)]
    assert database.arrived.wait(SECONDS)
    database.go_on.set()
    assert [each.result(SECONDS) for each in searches] == [[7]] * 4
    assert database.reads.count("facts") == 1


def test_an_index_that_cannot_be_read_is_read_by_the_next(database, pool, monkeypatch):
    cache = SearchCache()
    with monkeypatch.context() as patch:
        patch.setattr(index, "_read_changes", lambda: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            cache.at(BEFORE)
    assert search(cache, BEFORE) == [7]
