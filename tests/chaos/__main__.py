"""Injects faults into a cluster under traffic, one after another, and prints a table of the results.

    python -m tests.chaos [--only KEY ...] [--vacancies N] [--logs FOLDER]
    python -m tests.chaos single [--quick] [--only KEY ...]    a site on one machine

The cluster is that of deploy/cluster. Exit code 1: a response was wrong or a goal was not met.
"""

import argparse
import contextlib
import os
import signal
import sys
import time
from itertools import count
from pathlib import Path

from tests import servers
from tests.chaos import database, single
from tests.chaos.machines import programs
from tests.chaos.machines.cluster import Cluster
from tests.chaos.machines.faults import HEAD, cells, faults
from tests.chaos.run import run, table
from tests.chaos.versions import VersionedOracle


def main() -> int:
    if sys.argv[1:2] == ["single"]:
        return single.main(sys.argv[2:])
    parser = argparse.ArgumentParser("python -m tests.chaos", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--only", nargs="*", metavar="KEY", default=[])
    parser.add_argument("--vacancies", type=int, default=1000, metavar="N", help="100 or more")
    parser.add_argument("--logs", type=Path, metavar="FOLDER", help="keep the logs of the servers here")
    options = parser.parse_args()
    if missing := [
        *programs.missing(),
        *([] if servers.NGINX and servers.POSTGRES else ["nginx or PostgreSQL"]),
    ]:
        packages = "patroni etcd-server haproxy redis-sentinel"
        sys.exit(f"Not installed: {', '.join(missing)}. Debian's packages: {packages}.")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    rows, violations, numbers, start = [], 0, count(), time.monotonic()
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(servers.folder_with_logs(options.logs))
        cluster = Cluster(folder, stack, options.vacancies, options.logs)
        print(f"started after {time.monotonic() - start:.0f} s", file=sys.stderr, flush=True)
        oracle = VersionedOracle(database.pool())
        run(faults(cluster)["none"](), cluster, oracle, numbers)  # fills caches
        for key, make in faults(cluster).items():
            if options.only and key not in options.only:
                continue
            scenario = make()
            result = run(scenario, cluster, oracle, numbers)
            rows.append(cells(result))
            found = result.violations()
            violations += len(found)
            print(key, *rows[-1], *(f"\n  {each[:400]}" for each in found[:6]), file=sys.stderr, flush=True)
    print(table(HEAD, rows))
    print(f"\n{options.vacancies} vacancies, {os.cpu_count()} cores, {time.monotonic() - start:.0f} s, "
          f"{violations} goals not met")  # fmt: skip
    if not cluster.network.can_cut:
        print("No network was cut: this account may not create network namespaces.")
    return int(bool(violations))


if __name__ == "__main__":
    sys.exit(main())
