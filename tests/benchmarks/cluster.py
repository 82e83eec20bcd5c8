#!/usr/bin/env python
"""The scenarios of `make faults` on a database of the size that counts.

    python tests/benchmarks/cluster.py --vacancies 1000000 --phases quiet writes primary-lost

What is started, what happens to it and how each body is checked: tests/lab.py, tests/faults/scenarios.py.
Prints the load that was carried meanwhile, too. Exit code 1 says that a body was wrong or a goal not met.
"""

import argparse
import contextlib
import os
import signal
import subprocess
import sys
from itertools import count
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))

from tests import lab, servers  # noqa: E402 - found by the line above
from tests.faults.scenarios import scenarios  # noqa: E402


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--vacancies", type=int, default=1_000_000, metavar="N")
    parser.add_argument("--primary-data", type=Path, metavar="FOLDER", help="a copy, stopped; it is changed")
    parser.add_argument("--database-dump", metavar="FILE", help="of pg_dump -Fc")
    parser.add_argument("--pace", type=float, default=1.5, help="how many times as long as in make faults")
    parser.add_argument("--phases", nargs="*", metavar="KEY", help="all of them if not given")
    parser.add_argument("--logs", type=Path, metavar="FOLDER", help="to leave the logs of the servers in")
    options = parser.parse_args()
    if not (servers.NGINX and servers.REDIS and servers.POSTGRES):
        sys.exit("nginx, redis-server or PostgreSQL is missing.")
    servers.PATIENCE = 120  # for what a million vacancies make slow
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    rows, faults, numbers = [], 0, count()
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(servers.folder_with_logs(options.logs))
        data = options.primary_data
        if options.database_dump:
            data = restored(folder / "restored", options.database_dump)
        site = lab.Site(folder, stack, options.vacancies, data)
        truth = lab.Truth()
        for key in options.phases or scenarios(site):
            result = lab.run(scenarios(site)[key], site, truth, numbers, options.pace)
            took, ages, shown = result.all("took"), result.all("ages"), result.writer and result.writer.shown
            load = [f"{len(took) / result.seconds:.0f}", lab.quantiles(took), lab.quantiles(shown or [])]
            rows.append([*result.cells(), *load, f"{1000 * max(ages, default=0):.0f}"])
            found = result.faults()
            faults += len(found)
            print(*rows[-1], *(f"\n  {each[:600]}" for each in found[:6]), file=sys.stderr, flush=True)
    print(f"\n{len(truth.singles)} public vacancies, {lab.CLIENTS} clients, REPLICA_MAX_LAG={lab.MAX_LAG}, "
          f"{os.cpu_count()} cores; times in ms, p50 / p99 / max\n")  # fmt: skip
    print(lab.table((*lab.Result.HEAD, "a second", "answered in", "shown after", "oldest"), rows))
    sys.exit(bool(faults))


def restored(folder: Path, dump: str) -> Path:
    """The data of a server that holds what `dump` does."""
    server = servers.Postgres(folder, shared_buffers="256MB", max_wal_size="4GB")
    server.end = signal.SIGINT  # in order
    server.start()
    restore = [f"{servers.POSTGRES}/pg_restore", "--no-owner", "-d", server.url]
    subprocess.run([*restore, dump], check=True)
    server.stop()
    return folder


if __name__ == "__main__":
    main()
