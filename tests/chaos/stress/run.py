"""One run of the stress test. Import this after the variables of the site have been set."""

import argparse
import itertools
import json
import multiprocessing
import random
import re
import sys
import time
from collections import Counter
from contextlib import ExitStack, suppress
from pathlib import Path
from queue import Empty
from typing import Any

from tests import servers
from tests.chaos.stress.clock import Clock
from tests.chaos.stress.comparison import compare_read_model, compare_responses
from tests.chaos.stress.reader import Node, read
from tests.chaos.stress.state import READERS, WRITERS, SharedState, fill
from tests.chaos.stress.writer import write

COMPARE_EVERY = 12.0  # seconds
# Seconds. A clock that is ahead or 300 seconds behind still uses the read model. Requests take less
# time than passes between two steps.
OFFSETS = (-400, 400, -40, 40, -2, 2, 0)
EXAMPLES = 5  # of each kind of error
SERVERS = {"sync": ("-k", "sync", "-w", "2"), "gthread": ()}  # switches of gunicorn


def run(arguments: argparse.Namespace, folder: Path, env: dict[str, str], stack: ExitStack) -> bool:
    """Create the content, start two nodes, and print the results.
    Return whether a response was wrong.
    """
    context = multiprocessing.get_context("spawn")
    shared = SharedState(arguments.vacancies, context)
    fill(shared)
    nodes = []
    for n in (1, 2):
        clock_path = folder / f"clock_{n}"
        Clock(clock_path).offset = 0
        switches = (*SERVERS[arguments.server], "tests.chaos.stress.site")
        node = servers.Gunicorn(
            folder / f"node_{n}", env | {"STRESS_CLOCK": str(clock_path)}, *switches
        )
        nodes.append(Node(stack.enter_context(node).port, clock_path))
    result = stress(shared, context, arguments, nodes)
    log = "".join(path.read_text() for path in folder.glob("node_*.log"))
    errors = re.findall(r"^(?:\w+\.)*\w*(?:Error|Exception)\b.{0,80}", log, re.M)
    print(json.dumps(result | {"errors in the log": Counter(errors)}, indent=2))
    return bool(result["wrong"])


def stress(
    shared: SharedState, context: Any, arguments: argparse.Namespace, nodes: list[Node]
) -> dict[str, Any]:
    """Run writers and readers; return the results."""
    is_sqlite = arguments.database == "sqlite"
    clocks = [Clock(node.clock_path) for node in nodes]
    processes = [
        context.Process(target=write, args=(shared, n, is_sqlite)) for n in range(len(WRITERS))
    ]
    processes += [context.Process(target=read, args=(shared, n, nodes)) for n in range(READERS)]
    kinds, failed = Counter[str](), Counter[str]()
    examples: dict[str, list[str]] = {}
    stalest, compared, buckets, chance = 0.0, 0, 0, random.Random(7)
    tags: dict[str, tuple[str, bytes]] = {}
    offsets = itertools.cycle(OFFSETS)

    def collect() -> None:
        nonlocal stalest
        with suppress(Empty):
            while True:
                failed[shared.failed.get(timeout=0.01)] += 1
        with suppress(Empty):
            while True:
                kind, detail, staleness = shared.errors.get(timeout=0.05)
                kinds[kind] += 1
                stalest = max(stalest, staleness)
                if kinds[kind] <= EXAMPLES:
                    examples.setdefault(kind, []).append(
                        f"{detail[:400]} ({staleness:.3f} s stale)"
                    )

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
                compared += compare_responses(shared, nodes[n], clocks[n].offset, chance, tags)
            collect()
            print(
                f"{sum(shared.responses)} responses, {compared} compared, {sum(shared.writes)} "
                f"writes, {sum(kinds.values())} wrong",
                file=sys.stderr,
                flush=True,
            )
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
        "database": arguments.database,
        "server": arguments.server,
        "minutes": arguments.minutes,
        "responses": sum(shared.responses),
        "of these 304": sum(shared.unchanged),
        "compared": compared,
        "buckets": buckets,
        "writes": sum(shared.writes),
        "failed writes": dict(failed),
        "wrong": dict(kinds),
        "worst staleness in seconds": round(stalest, 3),
        "examples": examples,
    }
