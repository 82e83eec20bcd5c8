"""Apply each defect of defects.toml to a copy of the tracked files, and run the tests that can
notice it.

    python -m tests.mutation                  all defects
    python -m tests.mutation --only 3,7       some of them
    python -m tests.mutation --fast           only with the tests of `make test`

It takes a quarter of an hour on two cores and is not part of CI. It shows defects that no test
finds, and tests that repeat each other: many that fail for one defect.

The first run for a state of the code records which fast tests reach each place: it adds a call
there and runs `make test` once. The result is kept in the folder of temporary files. SQL,
templates, scripts and configuration name their tests in defects.toml.

"make test" in the output is the fast tests on SQLite. What they miss is tried "elsewhere": with the
slow tests that the row names and, if DATABASE_URL is set, with all of these tests on it, as
`.ci/run` does.
"""

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from tests.mutation.defects import ROOT, Defect, read, with_recorder
from tests.mutation.plugin import CHOSEN, FAILED, REACHED, SHARED

LINKED = (".venv", "tests/node/node_modules")  # not tracked, and used by tests
WORKERS = 2
SINGLE = 150  # tests that one process runs; more are divided between two
LIMIT = 1800  # seconds for one run of pytest: a defect can make a test wait for ever
MAX_NAMES = 3  # names of failing tests
ON_DATABASE = "not faults and (not slow or each_database)"  # what CI runs on PostgreSQL


@dataclass
class Result:
    defect: Defect
    reached: int
    fast: list[str]
    elsewhere: list[str]


class Copy:
    """A copy of the tracked files in a temporary folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        digest = hashlib.sha256(repr([(each.old, each.reached) for each in read()]).encode())
        listed = subprocess.run(
            ["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True
        )
        for name in sorted(filter(None, listed.stdout.decode().split("\0"))):
            if (ROOT / name).is_file():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, folder / name)
                if not name.startswith("tests/mutation/"):
                    digest.update(name.encode() + (ROOT / name).read_bytes())
        for name in LINKED:
            if (ROOT / name).exists():
                (folder / name).symlink_to((ROOT / name).resolve())
        self.digest = digest.hexdigest()[:16]

    @contextmanager
    def changed(self, path: str, content: str) -> Iterator[None]:
        """Replace the content of the file. Its time is restored too: Python compares it with that
        of the bytecode.
        """
        file = self.folder / path
        before, times = file.read_bytes(), file.stat()
        file.write_text(content)
        try:
            yield
        finally:
            file.write_bytes(before)
            os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))

    def failing(
        self, targets: Iterable[str], *options: str, is_shared: bool = True, **env: str
    ) -> list[str]:
        """Run the tests `targets` (files or ids) with variables `env`;
        return the ids of the failing ones.
        """
        ids = sorted(set(targets))
        if not ids:
            return []
        chosen, failed = self.folder / ".chosen", self.folder / ".failed"
        inherited = {name: value for name, value in os.environ.items() if name != "DATABASE_URL"}
        env = inherited | {FAILED: str(failed)} | ({SHARED: "1"} if is_shared else {}) | env
        if any("::" in each for each in ids):
            chosen.write_text("\n".join(ids))
            env[CHOSEN] = str(chosen)
        files = dict.fromkeys(each.partition("::")[0] for each in ids)
        arguments = [
            "-q",
            "--tb=no",
            "-p",
            "no:cacheprovider",
            "-p",
            "tests.mutation.plugin",
            *options,
        ]
        failed.write_text("")
        paths = [each for each in files if (self.folder / each).exists()]
        command = [sys.executable, "-m", "pytest", *arguments, *paths]
        how: dict[str, Any] = {"timeout": LIMIT, "capture_output": True, "text": True}
        try:
            done = subprocess.run(command, cwd=self.folder, env=env, **how)
        except subprocess.TimeoutExpired:
            return [*dict.fromkeys(failed.read_text().splitlines()), "(a test does not end)"]
        found = list(dict.fromkeys(failed.read_text().splitlines()))
        if done.returncode not in (0, 1, 5) and not found:
            return [
                f"(pytest ends with {done.returncode}: {done.stdout[-300:]}{done.stderr[-300:]})"
            ]
        return found


def record(copy: Copy, defects: list[Defect]) -> tuple[dict[int, list[str]], list[str]]:
    """Return the fast tests that reach each place, and those that fail without a defect."""
    cache = Path(tempfile.gettempdir(), f"jobsite-mutation-{copy.digest}.json")
    if cache.exists():
        found = json.loads(cache.read_text())
        return {int(number): tests for number, tests in found["reached"].items()}, found["failing"]
    print("Recording which tests reach each place: make test runs once.", file=sys.stderr)
    by_file: dict[str, list[Defect]] = defaultdict(list)
    for defect in defects:
        if defect.is_recorded:
            by_file[defect.path].append(defect)
    with tempfile.TemporaryDirectory(prefix="mutation-recorder-") as folder:
        watched = Copy(Path(folder))
        for path, found in by_file.items():
            file = Path(folder, path)
            file.write_text(with_recorder(file.read_text(), found))
        log = Path(folder, ".reached")
        log.write_text("")
        failing = watched.failing(
            ["tests"], "-n", f"{WORKERS}", "--dist", "worksteal", **{REACHED: str(log)}
        )
        reached = _tests_by_place(log.read_text().splitlines())
    cache.write_text(json.dumps({"reached": reached, "failing": failing}))
    return reached, failing


def _tests_by_place(lines: list[str]) -> dict[int, list[str]]:
    """Return the tests by number. If only the first test of a file on each worker reaches a place
    in its setup, a fixture of the module does: then the file stands for all of its tests.
    """
    found: dict[int, set[str]] = defaultdict(set)
    in_setup: dict[tuple[int, str], int] = defaultdict(int)
    for line in lines:
        number, _tab, test = line.partition("\t")
        test_id, _space, phase = test.rpartition(" ")
        found[int(number)].add(test_id)
        in_setup[int(number), test.partition("::")[0]] += phase == "(setup)"
    for (number, file), count in in_setup.items():
        if 0 < count <= WORKERS:
            found[number].add(file)
    return {number: sorted(tests) for number, tests in sorted(found.items())}


def check(
    copy: Copy, defect: Defect, reached: list[str], failing: set[str], *, is_fast: bool
) -> Result:
    """Run the tests that can notice `defect`, in `copy`."""
    file = copy.folder / defect.path
    fast = list(defect.tests) or reached
    workers = ["-n", f"{WORKERS}", "--dist", "worksteal"] if len(fast) > SINGLE else ["-n", "0"]
    elsewhere: list[str] = []
    is_shared = not defect.is_migrated
    with copy.changed(defect.path, defect.apply(file.read_text())):
        found = copy.failing(fast, *workers, is_shared=is_shared)
        if not found and not is_fast:
            slow = ["-n", "0", "-m", "not faults"]
            elsewhere += copy.failing(defect.elsewhere, *slow, is_shared=is_shared)
            if database := os.environ.get("DATABASE_URL", ""):
                targets = [*fast, *defect.elsewhere]
                elsewhere += copy.failing(
                    targets, *workers, "-m", ON_DATABASE, DATABASE_URL=database
                )
    known = {*failing, *found}
    found = [test for test in found if test not in failing]
    return Result(defect, len(fast), found, [test for test in elsewhere if test not in known])


def name(test: str) -> str:
    return test.removeprefix("tests/")


def show(result: Result) -> None:
    defect = result.defect
    place = f"{defect.path}:{defect.line()}"
    names = [name(test) for test in (result.fast or result.elsewhere)[:MAX_NAMES]]
    print(
        f"{defect.number:3} {place:60} {result.reached:5} {len(result.fast):5} "
        f"{len(result.elsewhere):5}  {', '.join(names) or 'NOT FOUND: ' + defect.breaks}",
        flush=True,
    )


def summarise(results: list[Result], *, is_fast: bool) -> None:
    fast = sum(bool(each.fast) for each in results)
    numbers = [len(each.fast) for each in results if each.fast]
    print(f"\nFound by make test: {fast} of {len(results)} ({100 * fast / len(results):.0f} %).")
    if not is_fast:
        all_ = sum(bool(each.fast or each.elsewhere) for each in results)
        print(f"Found by .ci/run: {all_} of {len(results)} ({100 * all_ / len(results):.0f} %).")
    if numbers:
        print(
            f"Failing tests per defect in make test: median {median(numbers):g}, at most "
            f"{max(numbers)}."
        )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--only", metavar="3,7", default="", help="the numbers of some defects")
    parser.add_argument("--fast", action="store_true", help="run the tests of make test only")
    options = parser.parse_args()
    defects = read()
    wanted = {int(number) for number in options.only.split(",") if number}
    if unknown := wanted - {each.number for each in defects}:
        parser.error(f"There is no defect {min(unknown)}.")
    results = []
    with tempfile.TemporaryDirectory(prefix="mutation-") as folder:
        copy = Copy(Path(folder))
        for defect in defects:
            defect.apply((copy.folder / defect.path).read_text())  # before anything runs
        reached, failing = record(copy, defects)
        if failing:
            print(
                "Not counted, because they fail without a defect: "
                f"{', '.join(map(name, failing))}\n"
            )
        print(f"{'no.':>3} {'place':60} reach  fast  else  failing tests")
        for defect in defects:
            if not wanted or defect.number in wanted:
                tests = reached.get(defect.number, [])
                result = check(copy, defect, tests, set(failing), is_fast=options.fast)
                show(result)
                results.append(result)
    summarise(results, is_fast=options.fast)


if __name__ == "__main__":
    main()
