"""Runs a scenario against a site or a cluster under traffic and compares
the outcome with the goal.
"""

import json
import random
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from tests import servers
from tests.chaos.applicants import Applicants
from tests.chaos.recruiter import Recruiter
from tests.chaos.site import System
from tests.chaos.traffic import READERS, Reader, Writer
from tests.chaos.versions import VersionedOracle

Action = tuple[float, str, Callable[[], Any]]  # at which second, name, action


@dataclass
class Scenario:
    """The faults that are injected under traffic, and the limits that the outcome must keep."""

    title: str
    goal: str
    actions: list[Action]
    seconds: float
    is_single: bool = False  # one node without nginx; half of the readers without keep-alive
    switches: tuple[str, ...] = ()  # of gunicorn
    writes: bool = True
    saves: bool = False  # a recruiter works in the admin, and applicants submit
    clients: int = 1  # applicants at a time
    least: int = 0  # requests; the run lasts until then, three times as long at most
    may_fail: int = 0  # requests whose connection may break
    saves_may_fail: int = 0
    # Which requests may get 503 with Retry-After: "", "private" ones or "all".
    unavailable: str = ""
    slowest: float = 30.0  # seconds for a response; far more than on an idle machine
    recovery: str = ""  # the action after which the site recovers,
    recovers_within: float = 10.0  # in these seconds
    longest_pause: float = 600.0  # seconds between two saves that were acknowledged


@dataclass
class Result:
    scenario: Scenario
    started_at: float
    seconds: float
    readers: list[Reader]
    writer: Writer | None
    recruiter: Recruiter | None
    applicants: Applicants | None
    ended_at: dict[str, float]  # the time at which each action ended
    found: list[str] = field(default_factory=list)  # wrong after the run

    def all(self, name: str) -> list[Any]:
        return [each for reader in self.readers for each in getattr(reader, name)]

    @property
    def wrong(self) -> list[str]:
        return self.all("wrong") + (self.writer.wrong if self.writer else []) + self.found

    @property
    def recovered_after(self) -> float | None:
        """Seconds from the recovery action to the last request that failed or was unavailable."""
        since = self.ended_at.get(self.scenario.recovery)
        if since is None:
            return None
        return max([0.0, *(at - since for at, _ in self.all("unavailable") + self.all("failed"))])

    @property
    def longest_pause(self) -> float:
        """Seconds between two saves in the admin that were acknowledged."""
        saved_at = self.recruiter.saved_at if self.recruiter else ()
        times = [self.started_at, *saved_at, self.started_at + self.seconds]
        return max(after - before for before, after in pairwise(times))

    @property
    def submissions(self) -> str:
        """How many got a 201, how many of these are not stored with their file, and how many got a
        503.
        """
        missing = sum(text.startswith("submission ") for text in self.found)
        if not self.applicants:
            return "-"
        refused = self.applicants.statuses[503]
        return f"{len(self.applicants.references)} ({missing} lost, {refused} refused)"

    def violations(self, is_timed: bool = True) -> list[str]:
        """Where the goal is not met; without the limits on time unless `is_timed`."""
        goal, failed, recruiter = self.scenario, self.all("failed"), self.recruiter
        found = []
        if len(failed) > goal.may_fail or any(": 0 " not in text for _, text in failed):
            found += [f"failed: {text}" for _, text in failed]
        # Without time limits: a replica that gets no CPU for seconds is rightly not used.
        if goal.unavailable != "all" and (is_timed or not goal.unavailable):
            private = "/v1/user/" if goal.unavailable else "nothing"
            found += [
                f"503: {path}"
                for _, path in self.all("unavailable")
                if not path.startswith(private)
            ]
        slowest, recovered = max([0.0, *self.all("took")]), self.recovered_after or 0.0
        if is_timed and slowest > goal.slowest:
            found.append(f"a response took {slowest:.1f} s")
        if is_timed and recovered > goal.recovers_within:
            found.append(f"recovered after {recovered:.1f} s")
        if recruiter:
            if len(recruiter.failed) > goal.saves_may_fail:
                found += [f"save failed: {text}" for _, text in recruiter.failed]
            if recruiter.unavailable and not goal.unavailable:
                found.append(f"save got 503: {recruiter.unavailable[0][1]}")
            if is_timed and self.longest_pause > goal.longest_pause:
                found.append(f"nothing was saved for {self.longest_pause:.1f} s")
            if is_timed and not recruiter.saved:
                found.append("nothing was saved")
        if self.applicants and is_timed and not self.applicants.references:
            found.append("no submission was stored")
        return [*found, *(f"wrong: {each}" for each in self.wrong)]

    HEAD = (
        "fault",
        "requests",
        "failed",
        "503",
        "wrong responses",
        "longest response, ms",
        "recovered after, s",
        "saves",
        "submissions",
        "writes visible",
        "goal",
    )

    def cells(self) -> list[Any]:
        recovered, recruiter, writer = self.recovered_after, self.recruiter, self.writer
        saves = "-"
        if recruiter:
            saves = f"{recruiter.saved} ({len(recruiter.failed + recruiter.unavailable)} failed)"
        took, failed, unavailable = (
            self.all("took"),
            len(self.all("failed")),
            len(self.all("unavailable")),
        )
        return [
            self.scenario.title,
            len(took),
            failed,
            unavailable,
            len(self.wrong),
            f"{1000 * max([0.0, *took]):.0f}",
            "-" if recovered is None else f"{recovered:.1f}",
            saves,
            self.submissions,
            len(writer.visible_after) if writer else "-",
            self.scenario.goal,
        ]


def run(
    scenario: Scenario,
    system: System,
    oracle: VersionedOracle,
    numbers: Iterator[int],
    pace: float = 1,
) -> Result:
    """Run the scenario, repair the system, and compare its responses with those of the views."""
    single = scenario.is_single
    system.configure(*scenario.switches)
    ended, port = threading.Event(), (system.nodes[0] if single else system.nginx).port
    readers = [Reader(oracle, system, port, ended, single and n % 2 == 0) for n in range(READERS)]
    writer = Writer(oracle, port, numbers, system.paused) if scenario.writes else None
    recruiter = Recruiter(port, oracle.saved, ended) if scenario.saves else None
    applicants = None
    if scenario.saves:
        first = next(numbers) * 10**6
        applicants = Applicants(port, 10**6, scenario.clients, system.site, 3600, first, pause=0.3)
        applicants.start()
    threads: list[threading.Thread] = [*readers, *filter(None, (writer, recruiter))]
    start, ended_at = time.monotonic(), dict[str, float]()
    for thread in threads:
        thread.start()
    try:
        for at, name, act in scenario.actions:
            time.sleep(max(0, start + pace * at - time.monotonic()))
            act()
            ended_at[name] = time.monotonic()
        end = start + pace * scenario.seconds
        while time.monotonic() < end or (
            time.monotonic() < end + 2 * pace * scenario.seconds
            and sum(len(reader.took) for reader in readers) < scenario.least
        ):
            time.sleep(0.1)
    finally:
        ended.set()
        if writer:
            writer.ended.set()
    if applicants:
        applicants.stop()
    for thread in threads:
        thread.join(120)
        assert not thread.is_alive(), f"{scenario.title}: {thread} still waits 120 s after the end"
    result = Result(
        scenario, start, time.monotonic() - start, readers, writer, recruiter, applicants, ended_at
    )
    system.repair()
    Writer.disconnect()
    if writer:
        servers.until(writer.resolve)
    result.found = compare_with_views(port, oracle, sorted(set(result.all("paths"))))
    if recruiter:
        from vacancies.models import Vacancy

        saved = Vacancy.objects.filter(pk__in=recruiter.pks)
        result.found += recruiter.overwritten
        result.found += recruiter.lost(dict(saved.values_list("pk", "title")))
    if applicants:
        from tests.chaos.stored_submissions import lost

        result.found += [*applicants.mistakes, *lost(applicants)]
    return result


def compare_with_views(port: int, oracle: VersionedOracle, paths: list[str]) -> list[str]:
    """Wait until all nodes show the newest version, then compare some responses with those of
    Django's views, the reference implementation. Return the differences.
    """
    from django.test import Client

    first, client = oracle.lists[0], Client(headers={"host": "jobs.test"})

    def is_current() -> bool:
        start = time.monotonic()
        status, _, body = servers.get(port, first.address(20, 1))
        return status == 200 and not oracle.check(
            ("page", first, 20, 1), body, start, time.monotonic()
        )

    try:
        servers.until(lambda: all(is_current() for _ in range(12)), within=60)
    except AssertionError as error:
        return [f"{first.path}: not current after the scenario: {error}"]
    found = []
    for path in random.sample(paths, min(len(paths), 12 if len(oracle.singles) < 200_000 else 3)):
        expected = json.loads(client.get(path).content)
        if any(json.loads(servers.get(port, path)[2]) != expected for _ in range(2)):
            found.append(f"{path}: differs from the view")
    return found
