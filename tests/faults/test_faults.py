"""The commands of this folder, as `make test` and `make faults` run them."""

import subprocess
import sys

import pytest

from tests import servers

pytestmark = [
    pytest.mark.slow,
    pytest.mark.once,
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


def test_a_few_faults_for_a_short_time():
    run("tests.faults", "--quick", within=280)


@pytest.mark.faults
def test_every_fault():
    run("tests.faults", within=900)


@pytest.mark.faults
def test_an_upgrade_under_traffic():
    run("tests.faults.upgrade", within=600)
