"""Undoing stage changes: what the applicant sees before and after, and refusals."""

from datetime import datetime, timedelta
from functools import partial
from typing import Any

import pytest
from django.contrib.auth.models import User

from applications.models import Application, Stage, StageChange
from applications.operations import Move, move, undo_moves
from tests.applications.makers import make_application, make_stage
from tests.conftest import NOW
from tests.parallel import at_once

pytestmark = pytest.mark.django_db
DAY = timedelta(days=1)


@pytest.fixture
def new(db: Any) -> Stage:
    Stage.objects.all().delete()
    return make_stage("New")


@pytest.fixture
def application(new: Stage) -> Application:
    return make_application(stage=new, created_at=NOW - DAY)


def moved(application: Application, stage: Stage, at: datetime = NOW) -> int:
    move(Application.objects.filter(pk=application.pk), Move(stage=stage, author=None, at=at))
    return StageChange.objects.latest("pk").pk


def shown(application: Application, at: datetime) -> str:
    seen = Application.objects.with_visible_status().get(pk=application.pk)
    return str(seen.visible_status(at=at)).removeprefix("Status of ")


def stage_of(application: Application) -> str:
    return (
        Application.objects.with_stage().values_list("stage_name", flat=True).get(pk=application.pk)
    )


def test_undone_change_is_never_shown(application: Application) -> None:
    anna = User.objects.create_user("anna")
    change = moved(application, make_stage("Rejected", embargo_days=2))

    assert undo_moves([change], author=anna, at=NOW + DAY) == ([application.pk], [])

    assert stage_of(application) == "New"
    assert {shown(application, NOW + days * DAY) for days in (0, 1, 2, 3)} == {"New"}
    rows = application.changes.values_list("stage__name", "author__username", "at", "is_undo")
    assert list(rows)[1:] == [("Rejected", None, NOW, False), ("New", "anna", NOW + DAY, True)]
    application.refresh_from_db()
    assert application.updated_at == NOW + DAY


def test_undo_keeps_the_embargo_of_the_previous_stage(application: Application) -> None:
    """Rejected on day 0, moved on by mistake on day 1, and undone:
    shown from day 3, not earlier or never.
    """
    moved(application, make_stage("Rejected", embargo_days=3))
    undo_moves(
        [moved(application, make_stage("Interview", embargo_days=1), NOW + DAY)],
        author=None,
        at=NOW + DAY,
    )

    assert stage_of(application) == "Rejected"
    statuses = [shown(application, NOW + days * DAY) for days in (1, 2, 3, 9)]
    assert statuses == ["New", "New", "Rejected", "Rejected"]


def test_changes_are_undone_one_after_the_other(application: Application) -> None:
    first = moved(application, make_stage("Rejected", embargo_days=3))
    second = moved(application, make_stage("Interview", embargo_days=3))

    assert undo_moves([first], author=None, at=NOW) == ([], [application.pk])  # not the latest one
    assert undo_moves([second], author=None, at=NOW) == ([application.pk], [])
    assert undo_moves([first], author=None, at=NOW) == ([application.pk], [])

    assert stage_of(application) == shown(application, NOW + 9 * DAY) == "New"


def test_move_after_an_undo_counts(application: Application) -> None:
    undo_moves([moved(application, make_stage("Rejected", embargo_days=2))], author=None, at=NOW)
    moved(application, make_stage("Interview"), NOW + DAY)

    assert [shown(application, NOW + days * DAY) for days in (0, 1, 3)] == [
        "New",
        "Interview",
        "Interview",
    ]


def test_change_that_the_applicant_sees_is_not_undone(application: Application) -> None:
    for embargo in (0, 2):
        change = moved(application, make_stage(f"Rejected after {embargo}", embargo_days=embargo))
        assert undo_moves([change], author=None, at=NOW + embargo * DAY) == ([], [application.pk])
        assert stage_of(application) == f"Rejected after {embargo}"


def test_undo_is_not_dated_before_the_change(application: Application) -> None:
    change = moved(application, make_stage("Rejected", embargo_days=2), NOW + timedelta(seconds=5))
    undo_moves([change], author=None, at=NOW)
    assert stage_of(application) == "New"


def test_first_stage_an_undo_and_unknown_changes_are_not_undone(application: Application) -> None:
    first = application.changes.get().pk
    Stage.objects.update(embargo_days=9)
    assert undo_moves([first, 0, first + 999], author=None, at=NOW) == ([], [application.pk])

    undo_moves([moved(application, make_stage("Rejected", embargo_days=2))], author=None, at=NOW)
    undone = application.changes.last()
    assert undone
    assert undone.is_undo
    assert undo_moves([undone.pk], author=None, at=NOW) == ([], [application.pk])
    assert undo_moves([], author=None, at=NOW) == ([], [])
    assert application.changes.count() == 3


def test_query_count_does_not_depend_on_the_rows(
    new: Stage, django_assert_max_num_queries: Any
) -> None:
    rejected = make_stage("Rejected", embargo_days=2)
    counts = set()
    for count in (1, 20):
        changes = [
            moved(make_application(stage=new, created_at=NOW - DAY), rejected) for _ in range(count)
        ]
        with django_assert_max_num_queries(6) as queries:
            undone, kept = undo_moves(changes, author=None, at=NOW)
        assert (len(undone), kept) == (count, [])
        counts.add(len(queries))
    assert len(counts) == 1


@pytest.mark.django_db(transaction=True)
def test_concurrent_undo_and_move_do_not_cross(new: Stage) -> None:
    application = make_application(stage=new, created_at=NOW - DAY)
    rejected, interview = make_stage("Rejected", embargo_days=2), make_stage("Interview")
    change = moved(application, rejected)
    rows = Application.objects.filter(pk=application.pk)
    back = partial(undo_moves, [change], author=None, at=NOW)

    forward = partial(move, rows, Move(stage=interview, author=None, at=NOW))
    *undone, _ = at_once(back, back, back, forward)

    assert sum(len(done) for done, _ in undone) <= 1
    assert stage_of(application) == "Interview"  # after the undo, or instead of it
