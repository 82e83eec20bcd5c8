"""Random changes: a copy equals the list, and does not if a rule of the feed is switched off."""

import pytest

from jobsite.models import CursorGap
from tests.vacancies.feed.simulation import DifferenceError, Simulation, make_rows
from vacancies.feed import reading
from vacancies.feed.reading import _Reader

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.slow("simulates clients of the feed")
@pytest.mark.each_database
@pytest.mark.parametrize("seed", range(3))
def test_copies_equal_the_lists(seed):
    make_rows()
    Simulation(seed).run(120)


def without_flags(monkeypatch):
    """R1: the flags do not stay set."""
    plain = _Reader.change
    monkeypatch.setattr(
        _Reader, "change", lambda self, row: plain(self, (*row[:6], None, None, None))
    )


def without_moves(monkeypatch):
    """R3: a vacancy of another brand is not removed from its earlier one."""
    plain = _Reader.change
    monkeypatch.setattr(_Reader, "change", lambda self, row: plain(self, (*row[:8], False)))


def without_touches(monkeypatch):
    """R4: what many vacancies show changes nothing."""
    monkeypatch.setattr(reading, "_showing", lambda kind, pk: [])


def without_clock(monkeypatch):
    """R5: starts and ends are no changes."""
    monkeypatch.setattr(_Reader, "turns", lambda self, *at: [])


def without_gaps(monkeypatch):
    """R6, R7: deleted changes are forgotten. They are deleted often: else it takes minutes until a
    client misses one.
    """
    monkeypatch.setattr(Simulation, "forgets", 0.15)
    monkeypatch.setattr(CursorGap.objects, "create", lambda **values: None)


@pytest.mark.slow("runs many simulations")
@pytest.mark.each_database
@pytest.mark.parametrize(
    "rule", [without_flags, without_moves, without_touches, without_clock, without_gaps]
)
def test_each_rule_is_needed(monkeypatch, rule):
    rule(monkeypatch)
    make_rows()

    def simulate():
        for seed in range(20):
            Simulation(seed).run(400)

    with pytest.raises(DifferenceError):
        simulate()
