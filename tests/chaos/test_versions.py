"""The checker of the chaos harness accepts right responses and rejects wrong ones, on any date."""

import json
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from applications.operations import create_application
from tests.applications.makers import MINE, bearer, make_token
from tests.chaos import database, versions
from tests.chaos.config import APPLICANT
from tests.chaos.versions import Version, VersionedOracle
from tests.factories import make_vacancy
from vacancies.models import Vacancy
from vacancies.operations import publication

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("filters")]
DATES = [
    datetime(2026, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC),
    datetime(2027, 3, 28, 0, 59, 59, tzinfo=UTC),
]


@pytest.fixture(params=DATES, ids=str)
def clock(request: Any, time_machine: Any) -> Any:
    time_machine.move_to(request.param, tick=False)
    return time_machine


@pytest.fixture
def checker(clock: Any) -> VersionedOracle:
    """Six vacancies. An applicant applied to the oldest three, of which one is unpublished, as the
    writers of tests/chaos/durability.py may leave it: so it is in the pool.
    """
    applicant = User.objects.create_user(APPLICANT)
    for number in range(6):
        moment = timezone.now() - timedelta(days=6 - number)
        vacancy = make_vacancy(title=f"Nurse {number}", publish_from=moment, updated_at=moment)
        if number < 3:
            create_application(user=applicant, vacancy=vacancy, at=moment)
    publication.unpublish(vacancies=Vacancy.objects.filter(title="Nurse 0"), at=timezone.now())
    return VersionedOracle(database.pool())


@pytest.fixture
def ask(client: Client) -> Callable[[], bytes]:
    headers = bearer(make_token(User.objects.get(username=APPLICANT), timedelta(days=900)))
    return lambda: client.get(MINE, headers=headers).content


def staleness(checker: VersionedOracle, what: tuple, body: bytes) -> float:
    return checker.check(what, body, time.monotonic(), time.monotonic())


def rename(checker: VersionedOracle, vacancy: Vacancy) -> None:
    """Rename a vacancy as the writer of the harness does."""
    last = checker.versions[-1]
    vacancy.title, vacancy.updated_at = f"{vacancy.title.partition(' #')[0]} #7", timezone.now()
    checker.versions.append(
        Version(last.published, last.titles | {vacancy.pk: vacancy.title}, time.monotonic())
    )
    checker.versions[-1].committed = time.monotonic()
    vacancy.save()


def test_applications_cover_vacancies_that_are_renamed_and_published(
    checker: VersionedOracle,
) -> None:
    assert len(checker.applied) == 3
    assert set(checker.applied) <= {*checker.pool, *checker.renamed}
    assert set(checker.applied) & set(checker.pool)
    assert set(checker.applied) & set(checker.renamed)


def test_application_shows_its_vacancy_as_it_is_now(
    checker: VersionedOracle, ask: Callable[[], bytes], client: Client, clock: Any
) -> None:
    assert staleness(checker, ("applications",), ask()) == 0
    clock.shift(timedelta(seconds=2))
    one = Vacancy.objects.get(pk=next(pk for pk in checker.applied if pk in checker.renamed))
    rename(checker, one)
    offline = Vacancy.objects.filter(pk=next(pk for pk in checker.applied if pk in checker.pool))
    publication.publish(vacancies=offline, at=timezone.now())

    body = ask()

    assert one.title in body.decode()
    assert staleness(checker, ("applications",), body) == 0
    assert (
        staleness(checker, ("single", one.pk), client.get(f"/v1/vacancies/{one.pk}").content) == 0
    )


def test_stale_response_is_rejected(checker: VersionedOracle, ask: Callable[[], bytes]) -> None:
    old = ask()
    rename(checker, Vacancy.objects.get(pk=checker.renamed[0]))
    checker.versions[-1].committed = time.monotonic() - versions.max_staleness - 1
    with pytest.raises(AssertionError, match="s stale"):
        staleness(checker, ("applications",), old)


def test_wrong_list_of_applications_is_rejected(
    checker: VersionedOracle, ask: Callable[[], bytes]
) -> None:
    body, accepted = ask(), []
    assert staleness(checker, ("applications",), body) == 0
    spoilers: dict[str, Callable[[list[dict[str, Any]]], Any]] = {
        "one less": lambda items: items.pop(),
        "order": lambda items: items.reverse(),
        "id": lambda items: items[0].update(id=0),
        "title": lambda items: items[0].update(title="Of no version"),
        "slug": lambda items: items[-1].update(slug="nurse-(1)"),
        "text": lambda items: items[0].update(description="<p>Of another one.</p>"),
        "status": lambda items: items[0].update(status="Hired"),
        "spontaneous": lambda items: items[0].update(is_spontaneous=True),
        "history": lambda items: items[0].update(history=[{"name": "Of another one"}]),
    }
    for name, spoil in spoilers.items():
        found = json.loads(body)
        spoil(found["data"])
        with suppress(AssertionError):
            staleness(checker, ("applications",), json.dumps(found).encode())
            accepted.append(name)
    assert accepted == []
