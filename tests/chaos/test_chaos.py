"""The commands of this folder: short runs for `make test-all`, whole runs for `make faults`."""

import subprocess
import sys

import pytest

from tests import servers
from tests.chaos.machines import programs

pytestmark = pytest.mark.slow("starts a site and kills its servers")
needs_postgres = pytest.mark.skipif(not servers.POSTGRES, reason="there is no PostgreSQL here")
needs_servers = pytest.mark.skipif(
    not (servers.NGINX and servers.REDIS and servers.POSTGRES),
    reason="there is no nginx, Redis or PostgreSQL",
)


def run(*words: str, within: float) -> None:
    command = [sys.executable, "-m", *words]
    done = subprocess.run(command, cwd=servers.ROOT, capture_output=True, text=True, timeout=within)
    print(done.stdout)
    assert done.returncode == 0, f"{done.stderr[-6000:]}\n{done.stdout}"


@pytest.mark.parametrize("database", ["sqlite", pytest.param("postgresql", marks=needs_postgres)])
def test_submissions_while_servers_are_killed_are_stored_once(database):
    few = ("--submissions", "200", "--clients", "10", "--seconds-between-faults", "2")
    run("tests.chaos.submissions", *few, "--database", database, within=280)


@needs_servers
def test_quick_scenarios_meet_their_goals():
    run("tests.chaos", "single", "--quick", within=280)


@pytest.mark.faults
@needs_servers
def test_all_scenarios_meet_their_goals():
    run("tests.chaos", "single", within=900)


@pytest.mark.faults
@needs_servers
@pytest.mark.skipif(bool(programs.missing()), reason="the cluster's programs are not installed")
def test_cluster_fails_over():
    run("tests.chaos", "--only", "primary-killed", "switchover", "--vacancies", "300", within=600)


@pytest.mark.faults
@needs_servers
def test_upgrade_under_traffic_loses_nothing():
    run("tests.chaos.upgrade", within=600)
