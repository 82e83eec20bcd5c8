"""An upgrade under traffic: from a commit of long ago, with its code and its schema, to what is here.

    python -m tests.faults.upgrade [--commit COMMIT] [--vacancies 2000]

Old code serves from two nodes behind nginx; readers and a recruiter go on while `manage.py migrate` brings
the schema up to date, and while the nodes then change to the new code, one by one, by a link and HUP.
Prints what each step cost. Exit code 1: a public read failed, contradicted itself, or a save was lost.
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
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests import lab, servers
from tests.faults.kills import call, is_consistent
from tests.servers import ROOT

# The first release whose admin recruiters worked in: two migrations of vacancies, none of anything else.
OLDEST = "20d492ea"
PATHS = [
    "/v1/vacancies",
    "/v1/vacancies?page[number]=2",
    "/v1/vacancies/hot",
    "/v0.1/vacancies",
    "/v1/filters",
]
REST = 4.0  # seconds between two steps


class Reader(threading.Thread):
    """Reads, and files what came under the step that it began in."""

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
                said = f"{path}: {status} {body[:150]!r}"
            except Exception as error:  # what cannot be read is as wrong
                is_right, said = False, f"{path}: {error!r}"
            self.took.setdefault(step, []).append(time.monotonic() - start)
            if not is_right:
                self.failed.setdefault(step, []).append(said)


def is_right_body(body: Any) -> bool:
    return is_consistent(body if isinstance(body["data"], list) else {"data": [body["data"]]})


def manage(tree: Path, env: dict[str, str], *words: str) -> None:
    done = subprocess.run([sys.executable, "manage.py", *words], cwd=tree, env=os.environ | env,
                          capture_output=True, text=True)  # fmt: skip
    assert done.returncode == 0, f"{words}: {done.stderr[-2000:]}"


def main() -> int:
    parser = argparse.ArgumentParser(
        "python -m tests.faults.upgrade", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("--commit", default=OLDEST)
    parser.add_argument("--vacancies", type=int, default=2000, metavar="N")
    parser.add_argument("--logs", type=Path, metavar="FOLDER", help="to leave the logs of the servers in")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(servers.folder_with_logs(options.logs))
        return upgrade(options, folder, stack)


def upgrade(options: argparse.Namespace, folder: Path, stack: contextlib.ExitStack) -> int:
    old, current = folder / "old", folder / "current"
    old.mkdir()
    archive = subprocess.Popen(["git", "-C", ROOT, "archive", options.commit], stdout=subprocess.PIPE)
    subprocess.run(["tar", "x", "-C", old], stdin=archive.stdout, check=True)
    if archive.wait():
        sys.exit(f"There is no {options.commit} in the history that is here.")

    def up(server: Any) -> Any:
        stack.callback(server.stop)
        server.start()
        return server

    database = up(servers.Postgres(folder / "database"))
    env = lab.ENV | {"DATABASE_URL": database.url, "STATIC_ROOT": str(folder / "static")}
    manage(old, env, "migrate", "-v0")
    manage(old, env, "collectstatic", "--no-input", "-v0")
    manage(old, env, "generate_vacancies", str(options.vacancies))
    manage(old, env | {"DJANGO_SUPERUSER_PASSWORD": lab.PASSWORD}, "createsuperuser", "--no-input",
           "--username", lab.NAME, "--email", lab.NAME)  # fmt: skip
    manage(ROOT, env, "collectstatic", "--no-input", "-v0")
    current.symlink_to(old)
    nodes = [servers.Gunicorn(folder / f"node_{n}", env, "--chdir", str(current)) for n in (1, 2)]
    nginx = [up(node) for node in nodes] and up(servers.Nginx(folder / "nginx", nodes))

    step, ended = ["old code, old schema"], threading.Event()
    readers = [Reader(nginx.port, step, ended) for _ in range(3)]
    pks = database.sql(
        "SELECT string_agg(id::text, ' ') FROM (SELECT id FROM vacancies_vacancy LIMIT 5) AS five"
    )
    recruiter = lab.Recruiter(nginx.port, list(map(int, pks.split())), ended)
    saves: dict[str, tuple[int, int]] = {}
    rows: list[list[Any]] = []

    def do(title: str, act: Callable[[], Any], rest: float = REST) -> None:
        step[0], before, start = title, (recruiter.saved, len(recruiter.failed)), time.monotonic()
        act()
        seconds = time.monotonic() - start
        time.sleep(rest)
        saves[title] = recruiter.saved - before[0], len(recruiter.failed) - before[1]
        rows.append([title, f"{seconds:.1f}"])

    def link() -> None:
        new = folder / "new"
        new.symlink_to(ROOT)
        new.rename(current)

    for thread in (*readers, recruiter):
        thread.start()
    do("old code, old schema", lambda: None)
    do("migrate", lambda: manage(ROOT, env, "migrate", "-v0"), 0)
    do("old code, new schema", lambda: None)
    do("new code on one node", lambda: (link(), nodes[0].reload()))
    do("new code on both", nodes[1].reload)
    ended.set()
    for thread in (*readers, recruiter):
        thread.join()

    found = []
    for row in rows:
        title = row[0]
        took = [seconds for reader in readers for seconds in reader.took.get(title, [])]
        failed = [text for reader in readers for text in reader.failed.get(title, [])]
        saved, not_saved = saves[title]
        row += [len(took), len(failed), f"{1000 * max(took, default=0):.0f}", saved, not_saved]
        found += failed
    state = json.loads(call(env, "read"))
    found += [] if state["is_listed"] else ["what is listed is not what is public"]
    titles = database.sql("SELECT json_object_agg(id, title) FROM vacancies_vacancy")
    found += [
        f"{pk}: saved {said[0]!r}, found {titles[str(pk)]!r}"
        for pk, said in recruiter.said.items() if said and titles[str(pk)] not in said
    ]  # fmt: skip
    print(*found[:10], *(text for _, text in recruiter.failed[:4]), sep="\n", file=sys.stderr)
    head = ("step", "took, s", "reads", "failed", "longest answer, ms", "saves", "saves that failed")
    print(f"From {options.commit}, {options.vacancies} vacancies\n\n{lab.table(head, rows)}")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
