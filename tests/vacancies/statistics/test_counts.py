"""Counts by state and by reason to need attention."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User

from tests.factories import make_brand, make_vacancy
from tests.vacancies.admin.forms import staff
from vacancies.models import StateCount
from vacancies.statistics import counts
from vacancies.statistics.counts import counts_for, update_counts

pytestmark = pytest.mark.django_db

NOW = datetime(2026, 3, 2, 8, 30, tzinfo=UTC)
LATER = NOW + timedelta(minutes=20)


@pytest.fixture
def recruiter() -> User:
    staff("colleague", "view_vacancy", brands=[make_brand("Mine")])
    return User.objects.get()


@pytest.fixture
def many(monkeypatch: Any) -> None:
    """Two vacancies are many."""
    monkeypatch.setattr(counts, "MAX_COUNTED", 1)


def test_few_vacancies_are_counted_at_once(recruiter: User):
    update_counts(at=NOW)
    make_vacancy(brand=make_brand("Mine"), status="draft")
    make_vacancy(brand=make_brand("Other"), status="draft")

    counted = counts_for(recruiter, at=LATER)

    assert (dict(counted.numbers)["draft"], counted.counted_at) == (1, None)


def test_stored_counts_equal_exact_ones(recruiter: User, monkeypatch: Any):
    for name in ("Mine", "Other"):
        for values in (
            {},
            {"description": ""},
            {"title": "NURSES"},
            {"publish_until": NOW + timedelta(3)},
        ):
            make_vacancy(brand=make_brand(name), publish_from=NOW - timedelta(9), **values)
        make_vacancy(brand=make_brand(name), publish_from=NOW - timedelta(9), publish_until=NOW)
        make_vacancy(brand=make_brand(name), publish_from=NOW + timedelta(1))
    update_counts(at=NOW)
    for user in (recruiter, User.objects.create_superuser("root")):
        exact = counts_for(user, at=NOW)
        monkeypatch.setattr(counts, "MAX_COUNTED", 1)
        stored = counts_for(user, at=LATER)
        monkeypatch.undo()
        assert stored.counted_at == NOW
        assert dict(stored.numbers) == {code: n for code, n in exact.numbers.items() if n} | (
            {"": 0} if user.is_superuser else {}
        )
        assert stored.numbers["published"] == (4 if user == recruiter else 8)


def test_many_vacancies_are_counted_once_before_the_first_run(recruiter: User, many: None):
    for name in ("Mine", "Other", "Mine", "Other"):
        make_vacancy(brand=make_brand(name), status="draft")
    for at in (NOW, LATER):
        counted = counts_for(recruiter, at=at)
        assert (counted.numbers, counted.counted_at) == ({"draft": 2}, NOW)


def test_counts_replace_the_earlier_ones():
    vacancy = make_vacancy(status="draft")
    update_counts(at=NOW)
    vacancy.delete()
    update_counts(at=LATER)
    assert list(StateCount.objects.values_list("code", "count", "counted_at")) == [("", 0, LATER)]
