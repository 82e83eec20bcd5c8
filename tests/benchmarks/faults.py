#!/usr/bin/env python
"""The scenarios of `make faults` on a large database, with the load that was carried.

    python tests/benchmarks/faults.py --vacancies 1000000 --phases quiet writes primary-lost

Exit code 1: a response was wrong or a goal was not met.
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

from tests import servers  # noqa: E402 - found by the line above
from tests.chaos import database  # noqa: E402
from tests.chaos.run import Result, quantiles, run, table  # noqa: E402
from tests.chaos.scenarios import scenarios  # noqa: E402
from tests.chaos.site import Site  # noqa: E402
from tests.chaos.traffic import READERS  # noqa: E402
from tests.chaos.versions import VersionedOracle  # noqa: E402


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--vacancies", type=int, default=1_000_000, metavar="N")
    parser.add_argument("--primary-data", type=Path, metavar="FOLDER", help="a copy, stopped; it is changed")
    parser.add_argument("--database-dump", metavar="FILE", help="of pg_dump -Fc")
    parser.add_argument("--pace", type=float, default=1.5, help="duration relative to make faults")
    parser.add_argument("--phases", nargs="*", metavar="KEY", help="scenarios; all of them if not given")
    parser.add_argument("--logs", type=Path, metavar="FOLDER", help="keep the logs of the servers here")
    options = parser.parse_args()
    if not (servers.NGINX and servers.REDIS and servers.POSTGRES):
        sys.exit("nginx, redis-server or PostgreSQL is missing.")
    servers.process.TIMEOUT = 120  # a million vacancies make everything slow
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    rows, violations, numbers = [], 0, count()
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(servers.folder_with_logs(options.logs))
        data = options.primary_data
        if options.database_dump:
            data = restored(folder / "restored", options.database_dump)
        site = Site(folder, stack, options.vacancies, data)
        oracle = VersionedOracle(database.pool())
        for key in options.phases or scenarios(site):
            result = run(scenarios(site)[key], site, oracle, numbers, options.pace)
            took, staleness = result.all("took"), result.all("staleness")
            visible = result.writer.visible_after if result.writer else []
            load = [f"{len(took) / result.seconds:.0f}", quantiles(took), quantiles(visible)]
            rows.append([*result.cells(), *load, f"{1000 * max(staleness, default=0):.0f}"])
            found = result.violations()
            violations += len(found)
            print(*rows[-1], *(f"\n  {each[:600]}" for each in found[:6]), file=sys.stderr, flush=True)
    print(f"\n{len(oracle.singles)} public vacancies, {READERS} readers, "
          f"{os.cpu_count()} cores; times in ms, p50 / p99 / max\n")  # fmt: skip
    print(table((*Result.HEAD, "requests/s", "response time", "visible after", "stalest"), rows))
    sys.exit(bool(violations))


def restored(folder: Path, dump: str) -> Path:
    """Restore `dump` with a new server; return the folder with its data."""
    server = servers.Postgres(folder, shared_buffers="256MB", max_wal_size="4GB")
    server.stop_signal = signal.SIGINT  # with a checkpoint
    with server:
        restore = [f"{servers.POSTGRES}/pg_restore", "--no-owner", "-d", server.url]
        subprocess.run([*restore, dump], check=True)
    return folder


if __name__ == "__main__":
    main()
