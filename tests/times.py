"""What the tests cost: the dearest groups of a run, and tests that should be marked slow. Time
fails no run.

CPU is measured, of the process and of children that ended: what other processes of the machine do
does not count. The option --warn-above SECONDS warns if the run took longer, on an idle machine.
"""

import os
import time
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

FAST = 0.4  # seconds of CPU: a dearer test needs the mark slow, with its reason
BUSY = 1.5  # processes that wait for each core: with more, the machine is not idle
STARTED = pytest.StashKey[float]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--warn-above", type=int, default=0, help="warn if the run takes longer, in seconds"
    )


def pytest_configure(config: pytest.Config) -> None:
    config.stash[STARTED] = time.monotonic()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Raise a UsageError if a test is marked slow without a reason."""
    unexplained = {
        item.nodeid.partition("[")[0]
        for item in items
        for mark in item.iter_markers("slow")
        if not mark.args
    }
    if unexplained:
        raise pytest.UsageError(
            "The mark slow needs a reason: slow('starts gunicorn'). It has none in:\n"
            + "\n".join(sorted(unexplained))
        )


def cpu() -> float:
    """Return the seconds of CPU of this process and of its children that ended."""
    return sum(os.times()[:4])


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    before = cpu()
    try:
        return (yield)
    finally:
        item.user_properties.append(("cpu", cpu() - before))


def cpu_of(report: Any) -> float:
    return float(dict(report.user_properties).get("cpu", 0))


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    reports = [
        report
        for found in terminalreporter.stats.values()
        for report in found
        if hasattr(report, "duration")
    ]
    groups: Counter[str] = Counter()
    for report in reports:
        groups[report.nodeid.partition("::")[0]] += report.duration
    long = [
        r for r in reports if r.when == "call" and cpu_of(r) > FAST and "slow" not in r.keywords
    ]
    long.sort(key=lambda report: -cpu_of(report))
    terminalreporter.section("times")
    for name, seconds in groups.most_common(10):
        terminalreporter.line(f"{seconds:6.1f} s  {name}")
    if long:
        terminalreporter.line(
            f"{len(long)} tests took more than {FAST} s of CPU and are not marked slow; the "
            "dearest:",
            yellow=True,
        )
    for report in long[:10]:
        terminalreporter.line(f"{cpu_of(report):6.1f} s  {report.nodeid}")
    took, limit = time.monotonic() - config.stash[STARTED], config.getoption("warn_above")
    is_idle = os.getloadavg()[0] < BUSY * (os.cpu_count() or 1)
    if limit and took > limit and is_idle:
        terminalreporter.line(
            f"Warning: the tests took {took:.0f} s, more than {limit} s.", yellow=True
        )
