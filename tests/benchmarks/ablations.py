"""Measures what low-level optimizations save: CPU per request with each of them and without it.

    export DATABASE_URL=postgres://...
    python -m tests.benchmarks.content fill 1000
    python -m tests.benchmarks.ablations

Requests are WSGI calls in this process, without a server. Short blocks of all variants take turns, because
the speed of a shared machine varies: a factor is the median over the turns. Each alternative is a patch of
the product, and its responses have to be the same.
"""

import argparse
import gzip
import json
import os
import random
import sys
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from statistics import median
from typing import Any
from unittest.mock import patch

from tests.benchmarks.servers import ENV

os.environ |= ENV

from tests.benchmarks.process import connection, cpu

# isort: split

import psycopg
from django.test import override_settings

from jobsite import wsgi
from jobsite.serving import revision
from jobsite.serving.response_cache import CacheEntry
from tests.benchmarks.compare import LARGE, LIST, path, shuffled
from tests.wsgi import ask

Variant = Callable[[], Any]  # returns a context manager

# --- Alternatives ------------------------------------------------------------------------------


def product() -> Any:
    """The code as it is."""
    return nullcontext()


def psycopg_cursor() -> Any:
    """psycopg's cursor instead of libpq by hand."""

    def execute(raw: Any, sql: str, parameters: Any) -> list[tuple]:
        return psycopg.Cursor(raw).execute(sql, parameters, prepare=True, binary=True).fetchall()

    return patch.object(revision, "_execute_prepared", execute)


def gzip_each_time() -> Any:
    """A compressed body for each request."""
    return patch.object(CacheEntry, "gzipped", property(lambda entry: gzip.compress(entry.body, 6, mtime=0)))


# --- Measuring ---------------------------------------------------------------------------------


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--turns", type=int, default=100)
    parser.add_argument("--requests", type=int, default=30, help="of a block")
    options = parser.parse_args()
    if connection.vendor != "postgresql":
        sys.exit("Set DATABASE_URL to a database on PostgreSQL.")
    first = call(LIST, {})
    found = json.loads(first[2])
    size = min(100, LARGE * len(found["data"]) // len(first[2]))
    pages = shuffled(path(LIST, page=n) for n in range(1, min(50, found["meta"]["last_page"]) + 1))
    large = shuffled(path(LIST, page=n, size=size) for n in range(1, min(50, found["meta"]["total"] // size)))
    print("| case | app + database, us | alternative | us more | factor |\n|---|--:|---|--:|--:|")
    for title, paths, alternatives, headers in (
        ("warm list", [LIST], (psycopg_cursor,), {}),
        ("warm list, 304", [LIST], (psycopg_cursor,), {"HTTP_IF_NONE_MATCH": first[1]["ETag"]}),
        ("warm list, gzip", [LIST], (gzip_each_time,), {"HTTP_ACCEPT_ENCODING": "gzip"}),
        ("cold list", pages, (psycopg_cursor,), {}),
        (f"cold list, {size} a page", large, (psycopg_cursor,), {}),
    ):
        with override_settings(RESPONSE_CACHE_MB=0) if title.startswith("cold") else nullcontext():
            turns = [
                turn((product, *alternatives), random.choices(paths, k=options.requests), headers)
                for _ in range(options.turns)
            ]
        own = [median(each[0][part] for each in turns) for part in (0, 1)]
        for number, alternative in enumerate(alternatives, start=1):
            more = [median(each[number][part] - each[0][part] for each in turns) for part in (0, 1)]
            factor = median(sum(each[number]) / sum(each[0]) for each in turns)
            print(f"| {title} | {own[0]:.0f} + {own[1]:.0f} | {alternative.__name__} | "
                  f"{more[0]:+.0f} {more[1]:+.0f} | {factor:.2f} |", flush=True)  # fmt: skip


def turn(variants: Sequence[Variant], paths: list[str], headers: dict[str, str]) -> list[tuple[float, float]]:
    """Return the microseconds of CPU of the application and of the database per request, by variant."""
    taken, answers = {}, {}
    for variant in random.sample(variants, len(variants)):
        with variant():
            answers[variant] = call(paths[0], headers)
            before = cpu()
            for each in paths:
                call(each, headers)
            after = cpu()
        app, database = (1e6 * (b - a) / len(paths) for a, b in zip(before, after, strict=True))
        taken[variant] = app, database
    assert all(answer == answers[product] for answer in answers.values())
    return [taken[variant] for variant in variants]


def call(target: str, headers: dict[str, str]) -> tuple[str, dict[str, str], bytes]:
    """Return status, headers and body of a request to the site."""
    return ask(wsgi.application, target, HTTP_X_REQUEST_ID="ablations", **headers)


if __name__ == "__main__":
    main()
