"""Injects faults into a site on one machine under traffic, and prints a table of the results.

    python -m tests.chaos single [--quick] [--only KEY ...] [--logs FOLDER]

Exit code 1: a response was wrong or a goal was not met.
"""

import argparse
import contextlib
import os
import signal
import sys
import time
from itertools import count
from pathlib import Path

from django.db import connections

from tests import servers
from tests.chaos import database, versions
from tests.chaos.durability import durability_tests
from tests.chaos.run import Result, run, table
from tests.chaos.scenarios import scenarios
from tests.chaos.site import Site

QUICK = ("postgresql", "worker-killed", "redis-frozen", "primary-lost", "sqlite")


def main(words: list[str]) -> int:
    parser = argparse.ArgumentParser(
        "python -m tests.chaos single", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("--quick", action="store_true", help="a few scenarios, for a shorter time")
    parser.add_argument("--only", nargs="*", metavar="KEY", default=[])
    parser.add_argument("--vacancies", type=int, default=300, metavar="N", help="100 or more")
    parser.add_argument("--logs", type=Path, metavar="FOLDER", help="keep the logs of the servers here")
    options = parser.parse_args(words)
    if not (servers.NGINX and servers.REDIS and servers.POSTGRES):
        sys.exit("nginx, redis-server or PostgreSQL is missing.")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    if options.quick:  # runs beside other tests, on slow machines: staleness is not measured there
        versions.max_staleness = 60
    rows, violations, numbers, start = [], 0, count(), time.monotonic()
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(servers.folder_with_logs(options.logs))
        env = {"WEB_CONCURRENCY": "1"} if options.quick else {}  # a node starts in half the time
        site = Site(folder, stack, options.vacancies, env=env)
        oracle, pace = None, 0.4 if options.quick else 1.0
        durability = durability_tests(site, folder, options.quick)
        print(f"started after {time.monotonic() - start:.0f} s", file=sys.stderr, flush=True)
        for key in options.only or (QUICK if options.quick else [*durability, *scenarios(site)]):
            if key in durability:
                cells, found = durability[key]()
                oracle = None  # its writers changed the content
                connections.close_all()  # and it killed the server
            else:
                oracle = oracle or versions.VersionedOracle(database.pool())
                result = run(scenarios(site)[key], site, oracle, numbers, pace)
                cells, found = result.cells(), result.violations(is_timed=not options.quick)
            rows.append(cells)
            violations += len(found)
            print(key, *cells[1:], *(f"\n  {each[:400]}" for each in found[:6]), file=sys.stderr, flush=True)
    print(table(Result.HEAD, rows))
    print(f"\n{os.cpu_count()} cores, {time.monotonic() - start:.0f} s, {violations} goals not met")
    return int(bool(violations))
