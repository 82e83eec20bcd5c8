"""Small runs of `tests.chaos.submissions`; `--submissions 10000 --clients 50` is the whole one."""

import pytest

from tests import servers
from tests.chaos.test_chaos import run

pytestmark = [pytest.mark.slow("starts a site and kills its servers")]
FEW = ("--submissions", "200", "--clients", "10", "--seconds-between-faults", "2")


def test_submissions_while_workers_are_killed_are_stored_once():
    run("tests.chaos.submissions", *FEW, within=280)


@pytest.mark.skipif(not servers.POSTGRES, reason="there is no PostgreSQL here")
def test_submissions_while_the_database_restarts_are_stored_once():
    run("tests.chaos.submissions", *FEW, "--database", "postgresql", within=280)
