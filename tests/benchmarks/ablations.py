"""Measures what keeping compressed bodies saves: CPU per request of a warm list, with and without
it.

    export DATABASE_URL=postgres://...
    python -m tests.benchmarks.content fill 1000
    python -m tests.benchmarks.ablations

Requests are WSGI calls in this process, without a server. Short blocks of both ways take turns,
because the speed of a shared machine varies: a factor is the median over the turns. The alternative
is a patch of the product, and its responses have to be the same.
"""

import argparse
import gzip
import os
import random
import sys
from contextlib import nullcontext
from statistics import median
from unittest.mock import patch

from tests.benchmarks.servers import ENV

os.environ |= ENV

from tests.benchmarks.process import connection, cpu

# isort: split

from jobsite import wsgi
from jobsite.serving.response_cache import CacheEntry
from tests.benchmarks.compare import LIST
from tests.wsgi import ask

WAYS = {
    "product": nullcontext,
    "gzip_each_time": lambda: patch.object(
        CacheEntry, "gzipped", property(lambda entry: gzip.compress(entry.body, 6, mtime=0))
    ),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--turns", type=int, default=100)
    parser.add_argument("--requests", type=int, default=30, help="of a block")
    options = parser.parse_args()
    if connection.vendor != "postgresql":
        sys.exit("Set DATABASE_URL to a database on PostgreSQL.")
    turns = [turn(options.requests) for _ in range(options.turns)]
    print("| case | app + database, us | alternative | us more | factor |\n|---|--:|---|--:|--:|")
    own = [median(each["product"][part] for each in turns) for part in (0, 1)]
    other = [median(each["gzip_each_time"][part] for each in turns) for part in (0, 1)]
    factor = median(sum(each["gzip_each_time"]) / sum(each["product"]) for each in turns)
    more = [theirs - ours for theirs, ours in zip(other, own, strict=True)]
    print(
        f"| warm list, gzip | {own[0]:.0f} + {own[1]:.0f} | gzip_each_time | {more[0]:+.0f} "
        f"{more[1]:+.0f} | {factor:.2f} |"
    )


def turn(requests: int) -> dict[str, tuple[float, float]]:
    """Return the microseconds of CPU of the application and of the database per request, by way."""
    taken, answers = {}, []
    for name in random.sample(list(WAYS), len(WAYS)):
        with WAYS[name]():
            answers.append(call())
            before = cpu()
            for _ in range(requests):
                call()
            after = cpu()
        app, database = (1e6 * (b - a) / requests for a, b in zip(before, after, strict=True))
        taken[name] = app, database
    assert answers[0] == answers[1]
    assert answers[0][0] == "200 OK"
    return taken


def call() -> tuple[str, dict[str, str], bytes]:
    """Return status, headers and body of a request to the site."""
    return ask(wsgi.application, LIST, HTTP_X_REQUEST_ID="ablations", HTTP_ACCEPT_ENCODING="gzip")


if __name__ == "__main__":
    main()
