"""A plugin of pytest: records which tests reach a place, runs chosen tests only, lists the failed
ones.
"""

import os
from pathlib import Path
from typing import Any

REACHED, CHOSEN, FAILED = "MUTATION_REACHED", "MUTATION_CHOSEN", "MUTATION_FAILED"
SHARED = "MUTATION_SHARED"  # set if the test database does not depend on the defect
_seen: set[tuple[int, str]] = set()


def pytest_configure() -> None:
    """Share the migrated database that the tests copy:
    each defect would otherwise run `migrate` again.
    """
    if SHARED in os.environ:
        from tests.servers import template  # not where only `hit` is called

        template._key = lambda: "shared"


def hit(number: int) -> None:
    """Record that the running test reaches the place of the defect `number`."""
    test, path = os.environ.get("PYTEST_CURRENT_TEST", ""), os.environ.get(REACHED)
    if path and test and (number, test) not in _seen:
        _seen.add((number, test))
        with open(path, "a") as file:  # one write: several processes append
            file.write(f"{number}\t{test}\n")


def pytest_collection_modifyitems(config: Any, items: list[Any]) -> None:
    if path := os.environ.get(CHOSEN):
        chosen = set(Path(path).read_text().splitlines())
        files = tuple(each for each in chosen if "::" not in each)
        items[:] = [
            each for each in items if each.nodeid in chosen or each.nodeid.startswith(files)
        ]


def pytest_runtest_logreport(report: Any) -> None:
    path = os.environ.get(FAILED)
    if path and report.failed and "PYTEST_XDIST_WORKER" not in os.environ:
        with open(path, "a") as file:
            file.write(f"{report.nodeid}\n")
