"""Breaks a site under traffic, one part after another, and prints what came of it.

    python -m tests.faults [--quick] [--only KEY ...] [--logs FOLDER]

Exit code 1 says that an answer was wrong or a goal not met.
"""

import argparse
import contextlib
import os
import signal
import sys
import time
from itertools import count
from pathlib import Path

from tests import lab, servers
from tests.faults.kills import kills
from tests.faults.scenarios import scenarios

QUICK = ("worker-killed", "redis-frozen", "primary-lost", "sqlite")


def main() -> int:
    parser = argparse.ArgumentParser("python -m tests.faults", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="a few of them, for a shorter time")
    parser.add_argument("--only", nargs="*", metavar="KEY", default=[])
    parser.add_argument("--vacancies", type=int, default=300, metavar="N", help="100 or more")
    parser.add_argument("--logs", type=Path, metavar="FOLDER", help="to leave the logs of the servers in")
    options = parser.parse_args()
    if not (servers.NGINX and servers.REDIS and servers.POSTGRES):
        sys.exit("nginx, redis-server or PostgreSQL is missing.")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    if options.quick:  # tests run beside others, on machines that are slow: what is late is not wrong there
        lab.TOO_OLD = 60
    rows, faults, numbers, start = [], 0, count(), time.monotonic()
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(servers.folder_with_logs(options.logs))
        env = {"WEB_CONCURRENCY": "1"} if options.quick else {}  # a node starts in half the time
        site = lab.Site(folder, stack, options.vacancies, env=env)
        truth, pace = None, 0.4 if options.quick else 1.0
        killed = kills(site, folder, options.quick)
        print(f"up after {time.monotonic() - start:.0f} s", file=sys.stderr, flush=True)
        for key in options.only or (QUICK if options.quick else [*killed, *scenarios(site)]):
            if key in killed:
                cells, found = killed[key]()
                truth = None  # others have written
            else:
                truth = truth or lab.Truth()
                result = lab.run(scenarios(site)[key], site, truth, numbers, pace)
                cells, found = result.cells(), result.faults(is_timed=not options.quick)
            rows.append(cells)
            faults += len(found)
            print(key, *cells[1:], *(f"\n  {each[:400]}" for each in found[:6]), file=sys.stderr, flush=True)
    print(lab.table(lab.Result.HEAD, rows))
    print(f"\n{os.cpu_count()} cores, {time.monotonic() - start:.0f} s, {faults} goals not met")
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(main())
