"""An upgrade under traffic: from the code and schema of an old commit to the current ones.

    python -m tests.chaos.upgrade [--commit COMMIT] [--vacancies 2000]

Two nodes behind nginx run the old code. Readers, a recruiter and a program that publishes by SQL
continue while `manage.py migrate` upgrades the schema, and while the nodes then change to the new
code, one by one, by a symbolic link and HUP. Afterwards all lists of both nodes are compared with
the oracle. Prints a table of the steps. Exit code 1: a public read failed, was inconsistent or did
not show a commit, or a save was lost.
"""

import argparse
import contextlib
import json
import os
import random
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psycopg
from psycopg.rows import namedtuple_row

from tests import servers
from tests.chaos import oracle
from tests.chaos.config import ENV, PASSWORD, RECRUITER
from tests.chaos.durability import PATHS, PlainReader
from tests.chaos.program import parser, table
from tests.chaos.recruiter import Recruiter
from tests.servers import ROOT

HEAD = (
    "step",
    "took, s",
    "reads",
    "failed",
    "longest response, ms",
    "saves",
    "saves that failed",
    "SQL writes",
    "SQL writes that failed",
)
PAUSE = 4.0  # seconds after a step


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
                    options = (
                        "vacancies_vacancyoption SET position = position + 1 WHERE vacancy_id = "
                        f"{pk}"
                    )
                    connection.execute(f"UPDATE {options}")
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
        now, columns = datetime.now(UTC), ", ".join(oracle.FIELDS)
        with psycopg.connect(database.url, row_factory=namedtuple_row) as connection:
            rows = connection.execute(
                f"SELECT id AS pk, {columns} FROM vacancies_vacancy"
            ).fetchall()
        expected = oracle.newest_first(row for row in rows if oracle.is_listed(path, row, now))
        if ids != expected or body["meta"]["total"] != len(ids):
            odd = sorted(set(ids) ^ set(expected))
            found.append(
                f"{path}: {len(ids)} of {body['meta']['total']}, not {len(expected)}: {odd[:9]}"
            )
    return found


def manage(tree: Path, env: dict[str, str], *words: str) -> str:
    done = subprocess.run(
        [sys.executable, "manage.py", *words],
        cwd=tree,
        env=os.environ | env,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, f"{words}: {done.stderr[-2000:]}"
    return done.stdout


def migrations(env: dict[str, str]) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Run `manage.py migrate`; yield the name of each migration, and a function that waits for its
    end.
    """
    plan = [
        line.split()[-1]
        for line in manage(ROOT, env, "showmigrations", "--plan").splitlines()
        if line.startswith("[ ]")
    ]
    migrate = subprocess.Popen(
        [sys.executable, "-u", "manage.py", "migrate"],
        cwd=ROOT,
        env=os.environ | env,
        stdout=subprocess.PIPE,
        text=True,
    )
    lines = migrate.stdout or ()
    for name in plan:
        yield name, lambda name=name: any(f" {name}..." in line for line in lines)
    yield "triggers", lambda: [*lines]
    assert migrate.wait() == 0


def oldest() -> str:
    """Return the oldest commit that can be upgraded:
    the last one that edited an initial migration.
    """
    command = ["git", "-C", ROOT, "log", "-1", "--format=%h", "--", "*/migrations/0001_*.py"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def main() -> int:
    made = parser(__doc__, "logs")
    made.add_argument("--commit", help="the last one that edited an initial migration if not given")
    made.add_argument("--vacancies", type=int, default=2000, metavar="N")
    options = made.parse_args()
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(servers.folder_with_logs(options.logs))
        return upgrade(options, folder, stack)


def upgrade(options: argparse.Namespace, folder: Path, stack: contextlib.ExitStack) -> int:
    commit = options.commit or oldest()
    old, current = folder / "old", folder / "current"
    old.mkdir()
    archive = subprocess.run(["git", "-C", ROOT, "archive", commit], capture_output=True)
    if archive.returncode:
        sys.exit(f"This clone has no commit {commit}.")
    subprocess.run(["tar", "x", "-C", old], input=archive.stdout, check=True)

    database = stack.enter_context(servers.Postgres(folder / "database"))
    env = ENV | {"DATABASE_URL": database.url, "STATIC_ROOT": str(folder / "static")}
    manage(old, env, "migrate", "-v0")
    manage(old, env, "collectstatic", "--no-input", "-v0")
    manage(old, env, "generate_vacancies", str(options.vacancies))
    manage(
        old,
        env | {"DJANGO_SUPERUSER_PASSWORD": PASSWORD},
        "createsuperuser",
        "--no-input",
        "--username",
        RECRUITER,
        "--email",
        RECRUITER,
    )
    manage(ROOT, env, "collectstatic", "--no-input", "-v0")
    current.symlink_to(old)
    nodes = [servers.Gunicorn(folder / f"node_{n}", env, "--chdir", str(current)) for n in (1, 2)]
    nodes = [stack.enter_context(node) for node in nodes]
    nginx = stack.enter_context(servers.LoadBalancer(folder / "nginx", nodes))

    step, ended = ["old code, old schema"], threading.Event()
    # The oldest published vacancies: five are saved by a recruiter, the others are published by
    # SQL.
    pks = database.sql(
        "SELECT array_agg(id) FROM (SELECT id FROM vacancies_vacancy WHERE status = 'published' "
        "AND audience <> 'internal' AND publish_from < now() ORDER BY publish_from LIMIT 35) AS "
        "oldest"
    )
    recruiter = Recruiter(nginx.port, pks[:5], ended)
    paths = [*PATHS, f"/v1/vacancies/{pks[0]}"]
    readers = [PlainReader(nginx.port, paths, step, ended) for _ in range(3)]
    publisher = Publisher(database.url, nginx.port, pks[5:], ended)
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
    for name, wait in migrations(env):
        do(name, wait, 0)
    do("old code, new schema", lambda: None)
    do("new code on one node", lambda: (link(), nodes[0].reload()))
    do("new code on both", nodes[1].reload)
    ended.set()
    for thread in threads:
        thread.join()

    found = []
    for row in rows:
        title = row[0]
        took = [seconds for reader in readers for seconds in reader.took[title]]
        failed = [text for reader in readers for text in reader.failed[title]]
        row += [len(took), len(failed), f"{1000 * max(took, default=0):.0f}", *saves[title]]
        found += failed
    found += publisher.stale + [text for node in nodes for text in differences(database, node.port)]
    titles = database.sql("SELECT json_object_agg(id, title) FROM vacancies_vacancy")
    found += recruiter.overwritten
    found += recruiter.lost({pk: titles[str(pk)] for pk in recruiter.titles})
    refused = [f"{n} times: {text}" for text, n in Counter(publisher.refused).items()]
    print(
        *found[:10],
        *(text for _, text in recruiter.failed[:4]),
        *refused,
        sep="\n",
        file=sys.stderr,
    )
    print(f"From {commit}, {options.vacancies} vacancies\n\n{table(HEAD, rows)}")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
