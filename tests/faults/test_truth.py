"""What the lab takes for a right answer, and for a wrong one, whatever the date."""

import json
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from applications.operations import receive
from tests import lab
from tests.applications.makers import MINE, bearer, make_token
from tests.factories import make_vacancy
from vacancies import operations
from vacancies.models import Vacancy

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("filters")]
DATES = [
    datetime(2026, 11, 22, 8, tzinfo=UTC),
    datetime(2026, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC),
    datetime(2027, 3, 28, 0, 59, 59, tzinfo=UTC),
    datetime(2028, 2, 29, 12, tzinfo=UTC),
]


@pytest.fixture(params=DATES, ids=str)
def clock(request: Any, time_machine: Any) -> Any:
    time_machine.move_to(request.param, tick=False)
    return time_machine


@pytest.fixture
def truth(clock: Any) -> lab.Truth:
    """Six vacancies, of which an applicant applied to the oldest three; one of these is offline, as the
    writers of tests/faults/kills.py may leave it, and so one of those that are published and unpublished."""
    applicant = User.objects.create_user(lab.APPLICANT)
    for number in range(6):
        moment = timezone.now() - timedelta(days=6 - number)
        vacancy = make_vacancy(title=f"Nurse {number}", publish_from=moment, updated_at=moment)
        if number < 3:
            receive(user=applicant, vacancy=vacancy, at=moment)
    operations.unpublish(vacancies=Vacancy.objects.filter(title="Nurse 0"), at=timezone.now())
    return lab.Truth()


@pytest.fixture
def ask(client: Client) -> Callable[[], bytes]:
    headers = bearer(make_token(User.objects.get(username=lab.APPLICANT), timedelta(days=900)))
    return lambda: client.get(MINE, headers=headers).content


def judged(truth: lab.Truth, what: tuple, body: bytes) -> float:
    return truth.judge(what, body, time.monotonic(), time.monotonic())


def rename(truth: lab.Truth, vacancy: Vacancy) -> None:
    """As the writer of the lab does."""
    last = truth.versions[-1]
    vacancy.title, vacancy.updated_at = f"{vacancy.title.partition(' #')[0]} #7", timezone.now()
    truth.versions.append(lab.Version(last.out, last.titles | {vacancy.pk: vacancy.title}, time.monotonic()))
    truth.versions[-1].committed = time.monotonic()
    vacancy.save()


def test_applications_are_of_vacancies_that_the_writer_renames_and_publishes(truth: lab.Truth) -> None:
    assert len(truth.applied) == 3
    assert set(truth.applied) <= {*truth.pool, *truth.renamed}
    assert set(truth.applied) & set(truth.pool)
    assert set(truth.applied) & set(truth.renamed)


def test_application_shows_its_vacancy_as_it_is_now(
    truth: lab.Truth, ask: Callable[[], bytes], client: Client, clock: Any
) -> None:
    assert judged(truth, ("mine",), ask()) == 0
    clock.shift(timedelta(seconds=2))
    one = Vacancy.objects.get(pk=next(pk for pk in truth.applied if pk in truth.renamed))
    rename(truth, one)
    offline = Vacancy.objects.filter(pk=next(pk for pk in truth.applied if pk in truth.pool))
    operations.publish(vacancies=offline, at=timezone.now())

    body = ask()

    assert one.title in body.decode()
    assert judged(truth, ("mine",), body) == 0
    assert judged(truth, ("single", one.pk), client.get(f"/v1/vacancies/{one.pk}").content) == 0


def test_late_body_is_late(truth: lab.Truth, ask: Callable[[], bytes]) -> None:
    old = ask()
    rename(truth, Vacancy.objects.get(pk=truth.renamed[0]))
    truth.versions[-1].committed = time.monotonic() - lab.TOO_OLD - 1
    with pytest.raises(AssertionError, match="s late"):
        judged(truth, ("mine",), old)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda items: items.pop(),
        lambda items: items.reverse(),
        lambda items: items[0].update(id=0),
        lambda items: items[0].update(title="Of no version"),
        lambda items: items[-1].update(slug="nurse-(1)"),
        lambda items: items[0].update(description="<p>Of another one.</p>"),
        lambda items: items[0].update(status="Hired"),
        lambda items: items[0].update(is_spontaneous=True),
        lambda items: items[0].update(history=[{"name": "Of another one"}]),
    ],
)
def test_wrong_list_of_applications_is_found(
    truth: lab.Truth, ask: Callable[[], bytes], spoil: Callable[[list[dict[str, Any]]], Any]
) -> None:
    body = ask()
    assert judged(truth, ("mine",), body) == 0
    found = json.loads(body)
    spoil(found["data"])
    with pytest.raises(AssertionError):
        judged(truth, ("mine",), json.dumps(found).encode())
