"""Writers that are killed, or whose database is, and several of them on SQLite: what was acknowledged is
there afterwards, nothing is there by half, and nobody is told that the database is locked."""

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests import lab, servers
from tests.servers import ROOT

COMMAND = (sys.executable, "-m", "tests.faults.writer")


def call(env: dict[str, str], word: str) -> str:
    done = subprocess.run(
        [*COMMAND, word], cwd=ROOT, env=os.environ | env, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


class Writing(threading.Thread):
    """Writers in processes of their own, and what they say."""

    def __init__(self, env: dict[str, str], writers: int) -> None:
        super().__init__(daemon=True)
        self.process = subprocess.Popen(
            [*COMMAND, "write", str(writers)], cwd=ROOT, env=os.environ | env, stdout=subprocess.PIPE,
            text=True, start_new_session=True,
        )  # fmt: skip
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
        """Let them save so many more."""
        before = self.saved
        servers.until(lambda: self.saved >= before + count, within=120)

    def kill(self) -> None:
        """Kill one of them in the middle of something."""
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

    def verdict(self, env: dict[str, str]) -> list[str]:
        """What is not as was acknowledged."""
        found = json.loads(call(env, "read"))
        wrong = [] if found["integrity"] == "ok" else [found["integrity"]]
        wrong += [f"{pk} is there by half" for pk in found["half"]]
        wrong += [] if found["is_listed"] else ["what is listed is not what is public"]
        numbers = {int(pk): number for pk, number in found["numbers"].items()}
        return wrong + [
            f"{pk}: saved {number}, found {numbers[pk]}"
            for pk, number in self.acknowledged.items()
            if not number <= numbers[pk] <= number + 1  # nobody was told of the last one
        ]


@contextmanager
def writing(env: dict[str, str], writers: int) -> Iterator[Writing]:
    made = Writing(env, writers)
    try:
        made.wait_for(5 * writers)
        yield made
    finally:
        made.end()


def sqlite(folder: Path, seconds: float, kills: int) -> tuple[list[Any], list[str]]:
    """Four writers, of whom one after the other is killed, beside a site with readers and a recruiter."""
    env = lab.ENV | {"DATABASE_URL": f"sqlite:///{folder / 'site.sqlite3'}", "WEB_CONCURRENCY": "1",
                     "STATIC_ROOT": str(folder / "static")}  # fmt: skip
    pks = json.loads(call(env, "set-up"))
    node = servers.Gunicorn(folder / "sqlite_node", env)
    node.start()
    ended, took, failed = threading.Event(), list[float](), list[str]()

    def read() -> None:
        while not ended.is_set():
            path = random.choice(["/v1/vacancies", "/v1/vacancies/hot", "/v0.1/vacancies", "/v1/filters"])
            start = time.monotonic()
            status, _, body = servers.get(node.port, path)
            took.append(time.monotonic() - start)
            if status != 200:
                failed.append(f"{path}: {status} {body[:200]!r}")
            elif not is_consistent(json.loads(body)):
                failed.append(f"{path} contradicts itself")

    try:
        recruiter = lab.Recruiter(node.port, pks[45:50], ended)  # the first 40 are the writers'
        with writing(env, 4) as made:
            threads = [threading.Thread(target=read) for _ in range(2)] + [recruiter]
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
        node.stop()
    wrong = made.verdict(env)
    locked = made.errors + [text for _, text in recruiter.failed + recruiter.refused]
    saves = f"{made.saved + recruiter.saved} ({len(locked)} not)"
    cells = [
        f"SQLite: 4 writers, killed -9 {kills} times, 2 readers, a recruiter", len(took), len(failed), 0,
        len(wrong), f"{1000 * max([0.0, *took]):.0f}", "-", saves, "-",
        "G17, G18: 0 times locked, integrity ok, 0 lost",
    ]  # fmt: skip
    return cells, wrong + failed + locked


def postgresql(site: lab.Site, kills: int) -> tuple[list[Any], list[str]]:
    """The database is killed under two writers."""
    with writing(site.alone, 2) as made:
        for _ in range(kills):
            made.wait_for(20)
            site.primary.crash()
            site.primary.start()
    wrong = made.verdict(site.alone)
    title, saves = f"PostgreSQL killed -9, {kills} times", f"{made.saved} ({len(made.errors)} not)"
    return [title, "-", "-", "-", len(wrong), "-", "-", saves, "-", "G18: integrity ok, 0 lost"], wrong


def is_consistent(body: Any) -> bool:
    meta, items = body.get("meta"), body["data"]
    if any("slug" in item and not item["slug"].endswith(f"({item['id']})") for item in items):
        return False
    return not meta or not items or meta["to"] - meta["from"] + 1 == len(items) <= meta["total"]


def kills(
    site: lab.Site, folder: Path, is_quick: bool
) -> dict[str, Callable[[], tuple[list[Any], list[str]]]]:
    """By key: gives the cells of a row, and what was wrong."""
    return {
        "sqlite": lambda: sqlite(folder, *((1, 2) if is_quick else (10, 20))),
        "postgresql": lambda: postgresql(site, 1 if is_quick else 6),
    }
