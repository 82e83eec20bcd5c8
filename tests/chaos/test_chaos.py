"""The commands of this folder: a short run for `make test`, whole runs for `make faults`."""

import subprocess
import sys

import pytest

from tests import servers
from tests.chaos.machines import programs

pytestmark = [
    pytest.mark.slow("starts a site and kills its servers"),
    pytest.mark.skipif(
        not (servers.NGINX and servers.REDIS and servers.POSTGRES),
        reason="there is no nginx, Redis or PostgreSQL here",
    ),
]


def run(*words: str, within: float) -> None:
    command = [sys.executable, "-m", *words]
    done = subprocess.run(command, cwd=servers.ROOT, capture_output=True, text=True, timeout=within)
    print(done.stdout)
    assert done.returncode == 0, f"{done.stderr[-6000:]}\n{done.stdout}"


def test_quick_scenarios_meet_their_goals():
    run("tests.chaos", "single", "--quick", within=280)


@pytest.mark.faults
def test_all_scenarios_meet_their_goals():
    run("tests.chaos", "single", within=900)


@pytest.mark.faults
@pytest.mark.skipif(bool(programs.missing()), reason="the cluster's programs are not installed")
def test_cluster_fails_over():
    run("tests.chaos", "--only", "primary-killed", "switchover", "--vacancies", "300", within=600)


@pytest.mark.faults
def test_upgrade_under_traffic_loses_nothing():
    run("tests.chaos.upgrade", within=600)
