"""An upgrade under traffic: from the code and schema of an old commit to the current ones.

    python -m tests.chaos.upgrade [--commit COMMIT] [--vacancies 2000]

Two nodes behind nginx run the old code. Readers, a recruiter and a program that publishes by SQL continue
while `manage.py migrate` upgrades the schema, and while the nodes then change to the new code, one by one, by
a symbolic link and HUP. Afterwards all lists of both nodes are compared with the oracle. Prints a table of
the steps. Exit code 1: a public read failed, was inconsistent or did not show a commit, or a save was lost.
"""

import argparse
import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psycopg
from psycopg.rows import namedtuple_row

from tests import servers
from tests.chaos import oracle
from tests.chaos.config import ENV, PASSWORD, RECRUITER
from tests.chaos.durability import call, is_consistent
from tests.chaos.program import table
from tests.chaos.recruiter import Recruiter
from tests.servers import ROOT

PATHS = [
    "/v1/vacancies",
    "/v1/vacancies?page[number]=2",
    "/v1/vacancies/hot",
    "/v0.1/vacancies",
    "/v1/filters",
]
PAUSE = 4.0  # seconds after a step


class Reader(threading.Thread):
    """Reads, and records each response under the step in which its request began."""

    def __init__(self, port: int, step: list[str], ended: threading.Event) -> None:
        super().__init__(daemon=True)
        self.port, self.step, self.ended = port, step, ended
        self.took: dict[str, list[float]] = {}
        self.failed: dict[str, list[str]] = {}

    def run(self) -> None:
        pks = [item["id"] for item in json.loads(servers.get(self.port, PATHS[0])[2])["data"]]
        while not self.ended.is_set():
            path = random.choice([*PATHS, f"/v1/vacancies/{random.choice(pks)}"])
            step, start = self.step[0], time.monotonic()
            try:
                status, _, body = servers.get(self.port, path)
                is_right = status == 200 and is_right_body(json.loads(body))
                detail = f"{path}: {status} {body[:150]!r}"
            except Exception as error:  # an unreadable response is wrong too
                is_right, detail = False, f"{path}: {error!r}"
            self.took.setdefault(step, []).append(time.monotonic() - start)
            if not is_right:
                self.failed.setdefault(step, []).append(detail)


class Publisher(threading.Thread):
    """Publishes and unpublishes vacancies by SQL, and then reads whether the public sees it."""

    def __init__(self, url: str, port: int, pks: list[int], ended: threading.Event) -> None:
        super().__init__(daemon=True)
        self.url, self.port, self.pks, self.ended = url, port, pks, ended
        self.committed = 0
        self.refused: list[str] = []
        self.stale: list[str] = []

    def run(self) -> None:
        while not self.ended.wait(0.05):
            pk, is_shown = random.choice(self.pks), random.random() < 0.5
            values = "status = 'published', publish_from = now(), publish_until = NULL"
            values = values if is_shown else "status = 'unpublished'"
            try:
                with psycopg.connect(self.url, connect_timeout=5) as connection:
                    connection.execute(f"UPDATE vacancies_vacancy SET {values} WHERE id = {pk}")
                    connection.execute(
                        f"UPDATE vacancies_vacancyoption SET position = position + 1 WHERE vacancy_id = {pk}"
                    )
                    time.sleep(random.choice([0, 0, 0.5]))
            except psycopg.Error as error:
                self.refused.append(str(error).partition("\n")[0])
                continue
            self.committed += 1
            try:
                _, _, body = servers.get(self.port, f"{PATHS[0]}?page[size]=50&fields=id")
                ids = [item["id"] for item in json.loads(body)["data"]]
                if (pk in ids) != is_shown:
                    self.stale.append(f"{pk} is {'not' if is_shown else 'still'} listed: {ids[:5]}")
            except Exception as error:  # an unreadable response is wrong too
                self.stale.append(repr(error))


def differences(database: servers.Postgres, port: int) -> list[str]:
    """Compare all lists of a node with the oracle."""
    found = []
    for path in oracle.LISTS:
        ids, page, body = list[int](), 0, json.loads("{}")
        while not body or body["links"]["next"]:
            page += 1
            body = json.loads(servers.get(port, f"{path}?page[size]=100&page[number]={page}")[2])
            ids += [item["id"] for item in body["data"]]
        now = datetime.now(UTC)
        with psycopg.connect(database.url, row_factory=namedtuple_row) as connection:
            rows = connection.execute(
                f"SELECT id AS pk, {', '.join(oracle.FIELDS)} FROM vacancies_vacancy"
            ).fetchall()
        expected = oracle.newest_first(row for row in rows if oracle.is_listed(path, row, now))
        if ids != expected or body["meta"]["total"] != len(ids):
            odd = sorted(set(ids) ^ set(expected))
            found.append(f"{path}: {len(ids)} of {body['meta']['total']}, not {len(expected)}: {odd[:9]}")
    return found


def is_right_body(body: Any) -> bool:
    return is_consistent(body if isinstance(body["data"], list) else {"data": [body["data"]]})


def manage(tree: Path, env: dict[str, str], *words: str) -> None:
    done = subprocess.run([sys.executable, "manage.py", *words], cwd=tree, env=os.environ | env,
                          capture_output=True, text=True)  # fmt: skip
    assert done.returncode == 0, f"{words}: {done.stderr[-2000:]}"


def oldest() -> str:
    """Return the oldest commit that can be upgraded: the last one that edited an initial migration."""
    command = ["git", "-C", ROOT, "log", "-1", "--format=%h", "--", "*/migrations/0001_initial.py"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def main() -> int:
    parser = argparse.ArgumentParser(
        "python -m tests.chaos.upgrade", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("--commit", help="the last one that edited an initial migration if not given")
    parser.add_argument("--vacancies", type=int, default=2000, metavar="N")
    parser.add_argument("--logs", type=Path, metavar="FOLDER", help="keep the logs of the servers here")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(servers.folder_with_logs(options.logs))
        return upgrade(options, folder, stack)


def upgrade(options: argparse.Namespace, folder: Path, stack: contextlib.ExitStack) -> int:
    commit = options.commit or oldest()
    old, current = folder / "old", folder / "current"
    old.mkdir()
    archive = subprocess.Popen(["git", "-C", ROOT, "archive", commit], stdout=subprocess.PIPE)
    subprocess.run(["tar", "x", "-C", old], stdin=archive.stdout, check=True)
    if archive.wait():
        sys.exit(f"This clone has no commit {commit}.")

    database = stack.enter_context(servers.Postgres(folder / "database"))
    env = ENV | {"DATABASE_URL": database.url, "STATIC_ROOT": str(folder / "static")}
    manage(old, env, "migrate", "-v0")
    manage(old, env, "collectstatic", "--no-input", "-v0")
    manage(old, env, "generate_vacancies", str(options.vacancies))
    manage(old, env | {"DJANGO_SUPERUSER_PASSWORD": PASSWORD}, "createsuperuser", "--no-input",
           "--username", RECRUITER, "--email", RECRUITER)  # fmt: skip
    manage(ROOT, env, "collectstatic", "--no-input", "-v0")
    current.symlink_to(old)
    nodes = [servers.Gunicorn(folder / f"node_{n}", env, "--chdir", str(current)) for n in (1, 2)]
    for node in nodes:
        stack.enter_context(node)
    nginx = stack.enter_context(servers.LoadBalancer(folder / "nginx", nodes))

    step, ended = ["old code, old schema"], threading.Event()
    readers = [Reader(nginx.port, step, ended) for _ in range(3)]
    pks = database.sql(
        "SELECT string_agg(id::text, ' ') FROM (SELECT id FROM vacancies_vacancy LIMIT 5) AS five"
    )
    recruiter = Recruiter(nginx.port, list(map(int, pks.split())), ended)
    published = database.sql(
        "SELECT string_agg(id::text, ' ') FROM (SELECT id FROM vacancies_vacancy WHERE status = 'published' "
        f"AND audience <> 'internal' AND publish_from < now() AND id NOT IN ({pks.replace(' ', ', ')}) "
        "ORDER BY publish_from LIMIT 30) AS oldest"
    )
    publisher = Publisher(database.url, nginx.port, list(map(int, published.split())), ended)
    threads = (*readers, recruiter, publisher)
    saves: dict[str, tuple[int, ...]] = {}
    rows: list[list[Any]] = []

    def written() -> tuple[int, ...]:
        return recruiter.saved, len(recruiter.failed), publisher.committed, len(publisher.refused)

    def do(title: str, act: Callable[[], Any], pause: float = PAUSE) -> None:
        step[0], before, start = title, written(), time.monotonic()
        act()
        seconds = time.monotonic() - start
        time.sleep(pause)
        saves[title] = tuple(now - then for now, then in zip(written(), before, strict=True))
        rows.append([title, f"{seconds:.1f}"])

    def link() -> None:
        new = folder / "new"
        new.symlink_to(ROOT)
        new.rename(current)

    for thread in threads:
        thread.start()
    do("old code, old schema", lambda: None)
    do("migrate", lambda: manage(ROOT, env, "migrate", "-v0"), 0)
    do("old code, new schema", lambda: None)
    do("new code on one node", lambda: (link(), nodes[0].reload()))
    do("new code on both", nodes[1].reload)
    ended.set()
    for thread in threads:
        thread.join()

    found = []
    for row in rows:
        title = row[0]
        took = [seconds for reader in readers for seconds in reader.took.get(title, [])]
        failed = [text for reader in readers for text in reader.failed.get(title, [])]
        row += [len(took), len(failed), f"{1000 * max(took, default=0):.0f}", *saves[title]]
        found += failed
    found += publisher.stale + [text for node in nodes for text in differences(database, node.port)]
    state = json.loads(call(env, "read"))
    found += [] if state["is_listed"] else ["the list is not what the oracle says"]
    titles = database.sql("SELECT json_object_agg(id, title) FROM vacancies_vacancy")
    found += recruiter.lost({int(pk): title for pk, title in titles.items()})
    refused = [f"{n} times: {text}" for text, n in Counter(publisher.refused).items()]
    print(*found[:10], *(text for _, text in recruiter.failed[:4]), *refused, sep="\n", file=sys.stderr)
    head = (
        "step", "took, s", "reads", "failed", "longest response, ms", "saves", "saves that failed",
        "SQL writes", "SQL writes that failed",
    )  # fmt: skip
    print(f"From {commit}, {options.vacancies} vacancies\n\n{table(head, rows)}")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
