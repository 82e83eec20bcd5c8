"""The stress test: writers that commit and roll back, and readers that check every response of a site.

    python -m tests.chaos.stress [--database sqlite|postgresql|URL] [--minutes 10] [--vacancies 300]

"postgresql" starts a server. Before a writer changes a row, it marks the row as changing in memory that all
processes share. When the commit has returned, it records the new values there. A response must show exactly
these values of each row that did not change during the request. Of a row that changed, it must show nothing
older than the last commit before the request, and nothing that was rolled back (NEVER). A request with the
tag of the same body must get 304. Every few seconds the writers pause, and responses are compared with those
of Django's views, all lists with the oracle, and the tables of the read model with the vacancies.

Meanwhile the read model is maintained with small buckets, which are divided and merged, and is rebuilt now
and then. There are two nodes. The clock of the second one steps by up to 400 seconds, and its responses must
be right for that time.

Prints JSON. Exit code 1: a response was wrong.
"""

import argparse
import itertools
import json
import multiprocessing
import os
import random
import re
import sys
import time
from collections import Counter
from contextlib import ExitStack, suppress
from queue import Empty
from typing import Any

from tests import servers
from tests.chaos.stress.clock import Clock
from tests.chaos.stress.comparison import (
    Views,
    compare_read_model,
    compare_with_oracle,
    compare_with_views,
)
from tests.chaos.stress.reader import Node, read
from tests.chaos.stress.state import READERS, WRITERS, SharedState, fill, set_up
from tests.chaos.stress.writer import write

COMPARE_EVERY = 12.0  # seconds
# Seconds. A clock that is ahead or 300 seconds behind still uses the read model. Requests take less time than
# passes between two steps.
OFFSETS = (-400, 400, -40, 40, -2, 2, 0)
EXAMPLES = 5  # of each kind of error
SERVERS = {"sync": ("-k", "sync", "-w", "2"), "gthread": ()}  # switches of gunicorn


def stress(
    shared: SharedState, url: str, context: Any, arguments: argparse.Namespace, nodes: list[Node]
) -> dict[str, Any]:
    """Run writers and readers; return the results."""
    is_sqlite, views = url.startswith("sqlite"), Views()
    clocks = [Clock(node.clock_path) for node in nodes]
    processes = [context.Process(target=write, args=(shared, n, is_sqlite)) for n in range(len(WRITERS))]
    processes += [
        context.Process(target=read, args=(shared, n, nodes, arguments.pause)) for n in range(READERS)
    ]
    kinds: Counter[str] = Counter()
    failed: Counter[str] = Counter()
    examples: dict[str, list[str]] = {}
    stalest, compared, buckets, chance = 0.0, 0, 0, random.Random(7)
    tags: dict[str, tuple[str, bytes]] = {}
    offsets = itertools.cycle(OFFSETS)

    def collect() -> None:
        nonlocal stalest
        with suppress(Empty):
            while True:
                failed[shared.failed.get(timeout=0.01)] += 1
        try:
            while True:
                kind, detail, staleness = shared.errors.get(timeout=0.05)
                kinds[kind] += 1
                stalest = max(stalest, staleness)
                if kinds[kind] <= EXAMPLES:
                    examples.setdefault(kind, []).append(f"{detail[:400]} ({staleness:.3f} s stale)")
        except Empty:
            pass

    for process in processes:
        process.start()
    try:
        servers.until(lambda: all(shared.idle), within=300)  # the writers have started
        end = time.monotonic() + arguments.minutes * 60
        while time.monotonic() < end:
            shared.going.set()
            for is_second in (False, True):
                if is_second:
                    clocks[1].offset = next(offsets)
                pause = time.monotonic() + COMPARE_EVERY / 2
                while time.monotonic() < pause:
                    collect()
                    time.sleep(0.2)
            shared.going.clear()
            for n in range(len(WRITERS)):
                shared.idle[n] = 0
            while not all(shared.idle) and time.monotonic() < end + 60:
                time.sleep(0.02)
            buckets = max(buckets, compare_read_model(shared))
            for n, is_stepping in ((0, False), (1, False), (1, True)):
                if is_stepping:  # no revision invalidates what is cached
                    clocks[1].offset = next(offsets)
                compared += compare_with_views(shared, views, nodes[n], clocks[n].offset, chance, tags)
                compared += compare_with_oracle(shared, nodes[n], clocks[n].offset)
            collect()
            print(f"{sum(shared.responses)} responses, {compared} compared, {sum(shared.writes)} writes, "
                  f"{sum(kinds.values())} wrong", file=sys.stderr, flush=True)  # fmt: skip
            dead = [process.name for process in processes if not process.is_alive()]
            if dead:
                kinds["process died"] += len(dead)
                break
    finally:
        shared.ended.set()
        shared.going.set()
        deadline = time.monotonic() + 30
        while any(process.is_alive() for process in processes) and time.monotonic() < deadline:
            collect()
        for process in processes:
            if process.is_alive():
                process.terminate()
            process.join()
    return {
        "database": url.partition(":")[0], "server": arguments.server, "minutes": arguments.minutes,
        "responses": sum(shared.responses), "of these 304": sum(shared.unchanged), "compared": compared,
        "buckets": buckets, "writes": sum(shared.writes),
        "failed writes": dict(failed), "wrong": dict(kinds),
        "worst staleness in seconds": round(stalest, 3), "examples": examples,
    }  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(
        "python -m tests.chaos.stress", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument(
        "--database", default="sqlite", help='"sqlite", "postgresql" or a URL of an empty one'
    )
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--vacancies", type=int, default=300)
    parser.add_argument(
        "--server", choices=list(SERVERS), default="sync", help="of each node: 2 workers, or 2 x 4 threads"
    )
    parser.add_argument("--pause", type=float, default=0.03, help="seconds between two requests of a reader")
    arguments = parser.parse_args()
    with ExitStack() as stack:
        folder = stack.enter_context(servers.folder_with_logs())
        url = arguments.database
        if url == "sqlite":
            url = f"sqlite:///{folder / 'stress.sqlite3'}"
        elif url == "postgresql":
            database = servers.Postgres(folder / "pg", shared_buffers="256MB")
            url = stack.enter_context(database).url
        env = {
            "DATABASE_URL": url,
            "SECRET_KEY": "only-for-stress-tests-" * 4,
            "RATE_LIMIT": "off",
            "ALLOWED_HOSTS": "127.0.0.1",
            "PUBLIC_BASE_URL": "http://127.0.0.1",  # both nodes return the same links
            "LOG_FORMAT": "text",
            "LOG_REQUESTS": "off",
        }
        os.environ.update(env)
        os.chdir(servers.ROOT)
        set_up()
        context = multiprocessing.get_context("spawn")
        shared = SharedState(arguments.vacancies, context)
        fill(shared)
        nodes, log = [], ""
        for n in (1, 2):
            clock_path = folder / f"clock_{n}"
            Clock(clock_path).offset = 0
            node_env = env | {"STRESS_CLOCK": str(clock_path)}
            switches = (*SERVERS[arguments.server], "tests.chaos.stress.site")
            nodes.append(servers.Gunicorn(folder / f"node_{n}", node_env, *switches))
            stack.enter_context(nodes[-1])
        ports = [Node(node.port, folder / f"clock_{n}") for n, node in enumerate(nodes, 1)]
        result = stress(shared, url, context, arguments, ports)
        log = "".join(node.log.read_text() for node in nodes)
        errors = re.findall(r"^(?:\w+\.)*\w*(?:Error|Exception)\b.{0,80}", log, re.M)
        print(json.dumps(result | {"errors in the log": Counter(errors)}, indent=2))
        return int(bool(result["wrong"]))


if __name__ == "__main__":
    sys.exit(main())
