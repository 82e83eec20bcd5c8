"""What the tests cost: the slowest groups of a run, and tests that should be marked slow. Time fails no run.

The option --warn-above SECONDS warns if the run took longer.
"""

import time
from collections import Counter
from typing import Any

import pytest

FAST = 0.4  # seconds: a longer test needs the mark slow, with its reason
STARTED = pytest.StashKey[float]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--warn-above", type=int, default=0, help="warn if the run takes longer, in seconds")


def pytest_configure(config: pytest.Config) -> None:
    config.stash[STARTED] = time.monotonic()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Raise a UsageError if a test is marked slow without a reason."""
    unexplained = {
        item.nodeid.partition("[")[0] for item in items for mark in item.iter_markers("slow") if not mark.args
    }
    if unexplained:
        raise pytest.UsageError("The mark slow needs a reason: slow('starts gunicorn'). It has none in:\n"
                                + "\n".join(sorted(unexplained)))  # fmt: skip


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    reports = [
        report for found in terminalreporter.stats.values() for report in found if hasattr(report, "duration")
    ]
    groups: Counter[str] = Counter()
    for report in reports:
        groups[report.nodeid.partition("::")[0]] += report.duration
    long = [r for r in reports if r.when == "call" and r.duration > FAST and "slow" not in r.keywords]
    long.sort(key=lambda report: -report.duration)
    terminalreporter.section("times")
    for name, seconds in groups.most_common(10):
        terminalreporter.line(f"{seconds:6.1f} s  {name}")
    if long:
        terminalreporter.line(
            f"{len(long)} tests took more than {FAST} s and are not marked slow; the slowest:", yellow=True
        )
    for report in long[:10]:
        terminalreporter.line(f"{report.duration:6.1f} s  {report.nodeid}")
    took, limit = time.monotonic() - config.stash[STARTED], config.getoption("warn_above")
    if limit and took > limit:
        terminalreporter.line(f"Warning: the tests took {took:.0f} s, more than {limit} s.", yellow=True)
