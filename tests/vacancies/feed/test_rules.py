"""R2, R6 and R7 switched off one by one: a test fails. Simulations do that for the other rules, and
would find these three by chance only (test_simulation.py).
"""

from dataclasses import replace
from importlib import import_module

import pytest

from jobsite.api.cursors import END
from tests.vacancies.feed import test_cursors, test_exactness
from tests.vacancies.feed.test_exactness import clients, on_postgresql, sql  # noqa: F401 - fixture
from vacancies.feed import reading

pytestmark = pytest.mark.django_db(transaction=True)
TRIGGERS = "vacancies.migrations.0010_feed_triggers"
plain = reading._is_in_gap


@on_postgresql
def test_without_r2_a_second_change_in_a_transaction_names_what_nobody_saw(clients):  # noqa: F811
    functions = import_module(TRIGGERS).ENTRIES
    weaker = functions.replace("AND entry.mark <> excluded.mark", "")
    assert weaker != functions
    sql(weaker)
    try:
        pk = test_exactness.published_and_withdrawn()
    finally:
        sql(functions)
    test_exactness.follow(clients[0])
    assert pk in clients[0].named


def without_r6(cursor):
    return plain(replace(cursor, seen=-1))


def without_r7(cursor):
    return plain(replace(cursor, last=END))


@pytest.mark.parametrize(
    ("weaker", "test"),
    [
        (without_r6, test_cursors.test_walk_that_read_lost_content_expires),
        pytest.param(  # on SQLite, each row is a commit
            without_r7,
            test_cursors.test_deleted_changes_expire_older_cursors_only,
            marks=on_postgresql,
        ),
    ],
)
def test_without_a_rule_its_test_fails(client, monkeypatch, weaker, test):
    monkeypatch.setattr(reading, "_is_in_gap", weaker)
    with pytest.raises(AssertionError):
        test(client)
