"""A second database connection, a step at a defined point, and comparisons of all pages."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import pytest
from django.db import DatabaseError, connection, connections, transaction
from django.db.models import F

from tests.vacancies.api.site import LISTS, Site
from vacancies.api import lists
from vacancies.models import ListedVacancy
from vacancies.readmodel import maintenance, totals

LIST = "/v1/vacancies"
on_postgresql = pytest.mark.skipif(
    connection.vendor != "postgresql", reason="SQLite has one writer at a time, and no read model"
)


@contextmanager
def elsewhere() -> Iterator[Callable[..., None]]:
    """A transaction on its own connection. Yields a function that executes SQL;
    commits at the end.
    """
    other = connection.copy()
    try:
        other.set_autocommit(False)
        with other.cursor() as cursor:
            yield cursor.execute
        other.commit()
    finally:
        other.close()


def now_or_later(act: Callable[[], Any]) -> Callable[[], Any]:
    """Try `act`. Return what to call later: `act` again if it was blocked by a lock."""
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SET LOCAL lock_timeout = 100")
            act()
    except DatabaseError:
        return act
    return lambda: None


def step_in(monkeypatch: Any, sql: str, act: Callable[[], Any]) -> list[Any]:
    """Call `act` once, right before the first statement that contains `sql`. Return a list that is
    empty afterwards.
    """
    fetch, left = lists.fetch, [act]

    def act_once(statement: str) -> None:
        if sql in statement and left:
            left.pop()()

    def fetch_later(statement: str, *parameters: Any) -> list[tuple]:
        act_once(statement)
        return fetch(statement, *parameters)

    def execute_later(execute: Any, statement: str, *rest: Any) -> Any:
        act_once(statement)
        return execute(statement, *rest)

    for module in (lists, totals):
        monkeypatch.setattr(module, "fetch", fetch_later)
    monkeypatch.setattr(connections["default"], "execute_wrappers", [execute_later])
    return left


def in_a_thread(act: Callable[[], Any]) -> None:
    """Call `act` in another thread, which has its own connection."""

    def run() -> None:
        try:
            act()
        finally:
            connections.close_all()

    with ThreadPoolExecutor(1) as pool:
        pool.submit(run).result()


def use_small_buckets(monkeypatch: Any, size: int) -> None:
    """Divide buckets of more than `size` vacancies, into buckets of half that size."""
    for module in (maintenance, totals):
        monkeypatch.setattr(module, "MAX_SIZE", size)
    monkeypatch.setattr(totals, "MAX_ROWS", size)
    monkeypatch.setattr(maintenance, "BUCKET_SIZE", size // 2)


def write_rows(vacancies: Any, *, is_expired: bool) -> None:
    """Write the rows of `vacancies` with that mark, as a database does whose clock is ahead or
    behind.
    """
    with transaction.atomic():
        vacancies.update(status=F("status"))  # raises the revision
        rows = list(ListedVacancy.objects.filter(vacancy__in=vacancies))
        ListedVacancy.objects.filter(vacancy__in=vacancies).delete()
        for row in rows:
            row.is_expired = is_expired
        ListedVacancy.objects.bulk_create(rows)


def check_pages(site: Site, *sizes: int) -> None:
    """Check every page of every list, newest and oldest first."""
    site.cached.entries.clear()
    for path in LISTS:
        for size in sizes:
            query = f"page[size]={size}"
            last = site.same(f"{path}?{query}")["meta"]["last_page"]
            for number in range(2, last + 2):
                site.same(f"{path}?{query}&page[number]={number}")
            for number in range(1, last + 1) if path.startswith("/v1/") else ():
                site.same(f"{path}?{query}&page[number]={number}&sort=published_at")
