"""Durability tests: writers are killed, or their database is.

Afterwards every acknowledged write is there, no transaction is there in part, and SQLite never
reported "database is locked".
"""

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests import servers
from tests.chaos import traffic
from tests.chaos.config import ENV
from tests.chaos.recruiter import Recruiter
from tests.chaos.site import Site
from tests.servers import ROOT

PATHS = [
    "/v1/vacancies",
    "/v1/vacancies?page[number]=2",
    "/v1/vacancies/hot",
    "/v0.1/vacancies",
    "/v1/filters",
]
COMMAND = (sys.executable, "-m", "tests.chaos.durability_writer")


def call(env: dict[str, str], word: str) -> str:
    command = [*COMMAND, word]
    done = subprocess.run(
        command, cwd=ROOT, env=os.environ | env, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


class Writers(threading.Thread):
    """Writers in processes of their own, and what they acknowledged."""

    def __init__(self, env: dict[str, str], writers: int) -> None:
        super().__init__(daemon=True)
        self.process = subprocess.Popen(
            [*COMMAND, "write", str(writers)],
            cwd=ROOT,
            env=os.environ | env,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        self.pids: dict[int, int] = {}  # by the number of the writer
        self.acknowledged: dict[int, int] = {}
        self.saved = 0
        self.errors: list[str] = []
        self.start()

    def run(self) -> None:
        assert self.process.stdout
        for line in self.process.stdout:
            word, _, rest = line.strip().partition(" ")
            if word == "saved":
                pk, number = map(int, rest.split())
                self.acknowledged[pk] = number
                self.saved += 1
            elif word == "pid":
                number, pid = map(int, rest.split())
                self.pids[number] = pid
            else:
                self.errors.append(rest)

    def wait_for(self, count: int) -> None:
        """Wait for `count` more saves."""
        before = self.saved
        servers.until(lambda: self.saved >= before + count, within=120)

    def kill(self) -> None:
        """Kill one of them at a random time and wait for its replacement."""
        number = random.choice(list(self.pids))
        pid = self.pids[number]
        time.sleep(random.random() / 20)
        os.kill(pid, signal.SIGKILL)
        servers.until(lambda: self.pids[number] != pid)
        self.wait_for(5)

    def end(self) -> None:
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.join()
        assert self.process.stdout
        self.process.stdout.close()

    def violations(self, env: dict[str, str]) -> list[str]:
        """Compare the content with what was acknowledged."""
        found = json.loads(call(env, "read"))
        wrong = [] if found["integrity"] == "ok" else [found["integrity"]]
        wrong += [f"{pk} was committed in part" for pk in found["partial"]]
        wrong += [] if found["is_listed"] else ["the list is not what the oracle says"]
        numbers = {int(pk): number for pk, number in found["numbers"].items()}
        return wrong + [
            f"{pk}: saved {number}, found {numbers[pk]}"
            for pk, number in self.acknowledged.items()
            if not number <= numbers[pk] <= number + 1  # the last one may lack its acknowledgement
        ]


class PlainReader(threading.Thread):
    """Reads `paths`, and records each response under the step in which its request began. A
    response is right if its parts fit together.
    """

    def __init__(
        self, port: int, paths: list[str], step: list[str], ended: threading.Event
    ) -> None:
        super().__init__(daemon=True)
        self.port, self.paths, self.step, self.ended = port, paths, step, ended
        self.took: dict[str, list[float]] = defaultdict(list)
        self.failed: dict[str, list[str]] = defaultdict(list)

    def run(self) -> None:
        while not self.ended.wait(traffic.pause):
            path = random.choice(self.paths)
            step, start = self.step[0], time.monotonic()
            try:
                status, _, body = servers.get(self.port, path)
                is_right = status == 200 and is_consistent(json.loads(body))
                detail = f"{path}: {status} {body[:150]!r}"
            except Exception as error:  # an unreadable response is wrong too
                is_right, detail = False, f"{path}: {error!r}"
            self.took[step].append(time.monotonic() - start)
            if not is_right:
                self.failed[step].append(detail)


def is_consistent(body: Any) -> bool:
    """Whether the parts of a response fit together; its content is not checked."""
    items, meta = body["data"], body.get("meta")
    items = items if isinstance(items, list) else [items]
    if any("slug" in item and not item["slug"].endswith(f"({item['id']})") for item in items):
        return False
    return not meta or not items or meta["to"] - meta["from"] + 1 == len(items) <= meta["total"]


@contextmanager
def writing(env: dict[str, str], writers: int) -> Iterator[Writers]:
    made = Writers(env, writers)
    try:
        made.wait_for(5 * writers)
        yield made
    finally:
        made.end()


def sqlite(folder: Path, seconds: float, kills: int) -> tuple[list[Any], list[str]]:
    """Kill one of four writers after another, beside a site with readers and a recruiter."""
    env = ENV | {
        "DATABASE_URL": f"sqlite:///{folder / 'site.sqlite3'}",
        "WEB_CONCURRENCY": "1",
        "STATIC_ROOT": str(folder / "static"),
    }
    servers.copy_template(folder / "site.sqlite3")
    pks = json.loads(call(env, "set-up"))
    node = servers.Gunicorn(folder / "sqlite_node", env)
    ended, step = threading.Event(), [""]
    with node:
        readers = [PlainReader(node.port, PATHS, step, ended) for _ in range(2)]
        recruiter = Recruiter(node.port, pks[45:50], ended)  # the first 40 are the writers'
        try:
            with writing(env, 4) as made:
                threads = [*readers, recruiter]
                for thread in threads:
                    thread.start()
                end = time.monotonic() + seconds
                for _ in range(kills):
                    made.kill()
                time.sleep(max(0, end - time.monotonic()))
                ended.set()
                for thread in threads:
                    thread.join()
        finally:
            ended.set()
    took = [each for reader in readers for each in reader.took[""]]
    failed = [each for reader in readers for each in reader.failed[""]]
    wrong = made.violations(env)
    locked = made.errors + [text for _, text in recruiter.failed + recruiter.unavailable]
    saves = f"{made.saved + recruiter.saved} ({len(locked)} failed)"
    cells = [
        f"SQLite: 4 writers, killed -9 {kills} times, 2 readers, a recruiter",
        len(took),
        len(failed),
        0,
        len(wrong),
        f"{1000 * max([0.0, *took]):.0f}",
        "-",
        saves,
        "-",
        "G17, G18: 0 times locked, integrity ok, 0 lost",
    ]
    return cells, wrong + failed + locked


def postgresql(site: Site, kills: int) -> tuple[list[Any], list[str]]:
    """Kill the database under two writers."""
    with writing(site.env, 2) as made:
        for _ in range(kills):
            made.wait_for(20)
            site.primary.crash()
            site.primary.start()
    wrong = made.violations(site.env)
    title, saves = (
        f"PostgreSQL killed -9, {kills} times",
        f"{made.saved} ({len(made.errors)} failed)",
    )
    return [
        title,
        "-",
        "-",
        "-",
        len(wrong),
        "-",
        "-",
        saves,
        "-",
        "G18: integrity ok, 0 lost",
    ], wrong
