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
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from tests import lab, servers
from tests.servers import ROOT


def call(env: dict[str, str], *words: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "tests.faults.writer", *words],
        cwd=ROOT, env=os.environ | env, capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


class Writing(threading.Thread):
    """A writer in a process of its own, and what it says."""

    def __init__(self, env: dict[str, str], first: int, count: int) -> None:
        super().__init__(daemon=True)
        command = [sys.executable, "-m", "tests.faults.writer", "write", str(first), str(count)]
        self.process = subprocess.Popen(
            command, cwd=ROOT, env=os.environ | env, stdout=subprocess.PIPE, text=True, start_new_session=True
        )
        self.pid = 0  # of who writes just now
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
                self.pid = int(rest)
            else:
                self.errors.append(rest)

    def kill(self) -> None:
        """Kill it in the middle of something, once it has saved a few."""
        before, pid = self.saved, self.pid
        servers.until(lambda: self.saved > before + 2, within=60)
        time.sleep(random.random() / 20)
        os.kill(pid, signal.SIGKILL)
        servers.until(lambda: self.pid != pid)

    def end(self) -> None:
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.join()
        assert self.process.stdout
        self.process.stdout.close()


@contextmanager
def writing(env: dict[str, str], writers: int) -> Iterator[list[Writing]]:
    """So many writers, each on vacancies of its own."""
    with ExitStack() as stack:
        made = []
        for number in range(writers):
            made.append(Writing(env, 10 * number, 10))
            stack.callback(made[-1].end)
        servers.until(lambda: all(one.saved for one in made), within=120)
        yield made


def verdict(env: dict[str, str], made: list[Writing]) -> list[str]:
    """What is not as was acknowledged."""
    found = json.loads(call(env, "read"))
    wrong = [] if found["integrity"] == "ok" else [found["integrity"]]
    wrong += [f"{pk} is there by half" for pk in found["half"]]
    wrong += [] if found["is_listed"] else ["what is listed is not what is public"]
    for one in made:
        for pk, number in one.acknowledged.items():
            if not number <= found["numbers"][str(pk)] <= number + 1:
                wrong.append(f"{pk}: saved {number}, found {found['numbers'][str(pk)]}")
    return wrong


def row(title: str, goal: str, made: list[Writing], wrong: list[str], *more: Any) -> list[Any]:
    requests, failed, refused, longest = more or ("-", "-", "-", "-")
    saved = f"{sum(one.saved for one in made)} ({len(wrong)} lost)"
    return [title, requests, failed, refused, len(wrong), longest, "-", saved, "-", goal]


def sqlite_env(folder: Path) -> dict[str, str]:
    """A site on SQLite, filled."""
    env = lab.ENV | {
        "DATABASE_URL": f"sqlite:///{folder / 'kills.sqlite3'}", "STATIC_ROOT": str(folder / "static_files"),
    }  # fmt: skip
    call(env, "set-up")
    return env


def sqlite_kills(env: dict[str, str], times: int) -> tuple[list[Any], list[str]]:
    """One of two writers is killed again and again."""
    with writing(env, 2) as made:
        for _ in range(times):
            random.choice(made).kill()
    wrong = verdict(env, made)
    return row(f"SQLite: a writer killed -9, {times} times", "G18: integrity ok, 0 lost", made, wrong), wrong


def postgresql_kills(site: lab.Site, times: int) -> tuple[list[Any], list[str]]:
    """The database is killed under two writers."""
    env = site.alone | {"DATABASE_URL": site.primary.url}
    with writing(env, 2) as made:
        for _ in range(times):
            before = sum(one.saved for one in made)
            servers.until(lambda before=before: sum(one.saved for one in made) > before + 20, within=120)
            site.primary.crash()
            site.primary.start()
    wrong = verdict(env, made)
    return row(f"PostgreSQL killed -9, {times} times", "G18: integrity ok, 0 lost", made, wrong), wrong


def sqlite_writers(env: dict[str, str], folder: Path, seconds: float) -> tuple[list[Any], list[str]]:
    """Four writers beside a site whose readers and recruiter go on."""
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
        with writing(env, 4) as made:
            recruiter = lab.Recruiter(node.port, list(json.loads(call(env, "read"))["numbers"])[45:50], ended)
            threads = [threading.Thread(target=read) for _ in range(2)] + [recruiter]
            for thread in threads:
                thread.start()
            time.sleep(seconds)
            ended.set()
            for thread in threads:
                thread.join()
    finally:
        node.stop()
    wrong = verdict(env, made) + [error for one in made for error in one.errors] + failed
    wrong += [text for _, text in recruiter.failed] + ["refused: " + path for _, path in recruiter.refused]
    title, goal = "SQLite: 4 writers, 2 readers, a recruiter", "G17: 0 times locked"
    return row(title, goal, made, wrong, len(took), len(failed), 0, f"{1000 * max(took):.0f}"), wrong


def is_consistent(body: Any) -> bool:
    meta, items = body.get("meta"), body["data"]
    if any("slug" in item and not item["slug"].endswith(f"({item['id']})") for item in items):
        return False
    return not meta or not items or meta["to"] - meta["from"] + 1 == len(items) <= meta["total"]


Fault = Callable[[], tuple[list[Any], list[str]]]


def kills(site: lab.Site, folder: Path, is_quick: bool) -> dict[str, Fault]:
    """By key."""
    made: dict[str, dict[str, str]] = {}

    def env() -> dict[str, str]:
        if not made:
            made["env"] = sqlite_env(folder)
        return made["env"]

    return {
        "sqlite-writers": lambda: sqlite_writers(env(), folder, 3 if is_quick else 8),
        "sqlite-kills": lambda: sqlite_kills(env(), 2 if is_quick else 20),
        "postgresql-kills": lambda: postgresql_kills(site, 1 if is_quick else 6),
    }
