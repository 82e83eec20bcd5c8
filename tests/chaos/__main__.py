"""Injects faults into a cluster under traffic, one after another, and prints a table of the
results.

    python -m tests.chaos [--only KEY ...] [--vacancies N] [--logs FOLDER]
    python -m tests.chaos single [--quick] [--only KEY ...]    a site on one machine

The cluster is that of deploy/cluster. Exit code 1: a response was wrong or a goal was not met.
"""

import argparse
import os
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from typing import Any

from django.db import connections

from tests import servers
from tests.chaos import database, traffic, versions
from tests.chaos.durability import postgresql, sqlite
from tests.chaos.machines import faults, programs
from tests.chaos.machines.cluster import Cluster
from tests.chaos.program import parser, table
from tests.chaos.run import Result, run
from tests.chaos.scenarios import scenarios
from tests.chaos.site import Site

QUICK = ("postgresql", "worker-killed", "redis-frozen", "primary-lost", "sqlite")
Outcome = tuple[str, list[Any], list[str]]  # key, cells of the row, violations


def single(options: argparse.Namespace, folder: Path, stack: ExitStack) -> Iterator[Outcome]:
    if options.quick:  # runs beside other tests, on slow machines: staleness is not measured there
        versions.max_staleness = 60
        traffic.pause = 0.03
    if options.vacancies > 100_000:
        servers.process.TIMEOUT = 120
    env = {"WEB_CONCURRENCY": "1"} if options.quick else {}  # a node starts in half the time
    has_bucket = not options.quick and servers.SWIFT and find_spec("storages") is not None
    site = Site(folder, stack, options.vacancies, env, has_bucket=has_bucket)
    oracle, numbers = None, count()
    if not (has_bucket or options.quick):
        print("Without an object store: Swift or the package django-storages is not installed.")
    durability = {
        "sqlite": lambda: sqlite(folder, *((1, 2) if options.quick else (10, 20))),
        "postgresql": lambda: postgresql(site, 1 if options.quick else 6),
    }
    for key in options.only or (QUICK if options.quick else [*durability, *scenarios(site)]):
        if key in durability:
            yield key, *durability[key]()
            oracle = None  # its writers changed the content
            connections.close_all()  # and it killed the server
        else:
            oracle = oracle or versions.VersionedOracle(database.pool())
            result = run(
                scenarios(site)[key], site, oracle, numbers, 0.4 if options.quick else options.pace
            )
            yield key, result.cells(), result.violations(is_timed=not options.quick)


def cluster(options: argparse.Namespace, folder: Path, stack: ExitStack) -> Iterator[Outcome]:
    system = Cluster(folder, stack, options.vacancies, options.logs)
    oracle, numbers = versions.VersionedOracle(database.pool()), count()
    found = faults.faults(system)
    run(found["none"](), system, oracle, numbers)  # fills caches
    for key in options.only or found:
        if key in found:
            result = run(found[key](), system, oracle, numbers)
            yield key, faults.cells(result), result.violations()
    if not system.network.can_cut:
        print("No network was cut: this account may not create network namespaces.")


def main() -> int:
    made = parser(__doc__, "only", "logs")
    made.add_argument("system", nargs="?", choices=("cluster", "single"), default="cluster")
    made.add_argument(
        "--quick", action="store_true", help="a few faults of one machine, for a shorter time"
    )
    made.add_argument("--vacancies", type=int, metavar="N", help="100 or more")
    made.add_argument(
        "--pace", type=float, default=1.0, help="duration of the faults of one machine"
    )
    options = made.parse_args()
    is_single = options.system == "single"
    options.vacancies = options.vacancies or (300 if is_single else 1000)
    known = {"nginx": servers.NGINX, "PostgreSQL": servers.POSTGRES, "redis-server": servers.REDIS}
    missing = [name for name, path in known.items() if not path] + (
        [] if is_single else programs.missing()
    )
    if missing:
        packages = "patroni etcd-server haproxy redis-sentinel"
        sys.exit(
            f"Not installed: {', '.join(missing)}. Debian's packages for a cluster: {packages}."
        )
    rows, violations, start = [], 0, time.monotonic()
    with ExitStack() as stack:
        folder = stack.enter_context(servers.folder_with_logs(options.logs))
        for key, cells, found in (single if is_single else cluster)(options, folder, stack):
            rows.append(cells)
            violations += len(found)
            print(
                key,
                *cells[1:],
                *(f"\n  {each[:400]}" for each in found[:6]),
                file=sys.stderr,
                flush=True,
            )
    print(table(Result.HEAD if is_single else faults.HEAD, rows))
    print(
        f"\n{options.vacancies} vacancies, {os.cpu_count()} cores, {time.monotonic() - start:.0f} "
        f"s, {violations} goals not met"
    )
    return int(bool(violations))


if __name__ == "__main__":
    sys.exit(main())
