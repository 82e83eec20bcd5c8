"""What became of applications: figures of random histories against a plain count, deletion, and
what names a person.
"""

import csv
import json
from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from io import StringIO
from random import Random
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db.models import Sum

from applications.models import (
    Application,
    CountedApplication,
    DailyHiring,
    Message,
    MonthlyStages,
    Origin,
    Stage,
)
from applications.operations import Move, move, undo_moves
from applications.statistics.hiring import record
from tests.applications.makers import make_application, make_stage, make_submission
from tests.conftest import NOW
from tests.factories import make_brand, make_vacancy
from vacancies.statistics.recording import day_of

pytestmark = pytest.mark.django_db
DAY = timedelta(days=1)
START = NOW - 60 * DAY
RECEIVED, ANSWERED = MonthlyStages.RECEIVED, MonthlyStages.ANSWERED


@pytest.fixture
def stages(db: Any) -> dict[str, Stage]:
    Stage.objects.all().delete()
    kinds = {"Hired": "hired", "Rejected": "rejected", "Withdrawn": "withdrawn"}
    names = ["New", "Screening", "Interview", "Offer", *kinds]
    embargoes = {"Rejected": 2, "Offer": 1}
    for position, name in enumerate(names):
        stage = make_stage(name, embargo_days=embargoes.get(name, 0))
        Stage.objects.filter(pk=stage.pk).update(kind=kinds.get(name, "open"), position=position)
    found = {stage.name: stage for stage in Stage.objects.all()}
    Stage.objects.filter(name="Screening").update(status=found["New"].status)
    return {stage.name: stage for stage in Stage.objects.all()}


@dataclass
class Person:
    """What happened to an application, as the test did it."""

    row: Application
    changes: list[tuple[Stage, datetime]]
    emails: list[datetime] = field(default_factory=list)
    is_deleted: bool = False
    counted: Counter = field(default_factory=Counter)

    def days(self, at: datetime) -> int:
        return (day_of(at) - day_of(self.row.created_at)).days

    def count(self, at: datetime, brand: int) -> Counter:
        """The figures of this application, by the rules of the page, each by its key."""
        found: Counter = Counter()

        def step(stage: int, days: int) -> None:
            found["reached", stage] += 1
            found["days", stage] += days

        step(RECEIVED, 0)
        seen = [
            when + DAY * stage.embargo_days
            for stage, when in self.changes[1:]
            if stage.kind != "withdrawn" and stage.status_id != self.changes[0][0].status_id
        ]
        if answers := [when for when in [*seen, *self.emails] if when <= at]:
            step(ANSWERED, self.days(min(answers)))
            day = day_of(min(answers))
            found["answered", day] += 1
            found["answered_in_3", day] += self.days(min(answers)) <= 3
        if hired := [when for stage, when in self.changes if stage.kind == "hired"]:
            found["hired", day_of(hired[0])] += 1
            found["days_to_hire", day_of(hired[0])] += self.days(hired[0])
        last, when = self.changes[-1]
        for stage in Stage.objects.filter(kind__in=("open", "hired")):
            times = [
                at
                for reached, at in self.changes
                if reached.kind in ("open", "hired") and reached.position >= stage.position
            ]
            if times:
                step(stage.pk, self.days(min(times)))
        if last.kind in ("rejected", "withdrawn"):
            step(last.pk, self.days(when))
        return found


def stored() -> Counter:
    found: Counter = Counter()
    for step, reached, days in MonthlyStages.objects.values_list("step").annotate(
        Sum("reached"), Sum("days")
    ):
        found["reached", step] += reached
        found["days", step] += days
    for row in DailyHiring.objects.all():
        for name in ("answered", "answered_in_3", "hired", "days_to_hire"):
            found[name, row.day] += getattr(row, name)
    return found


def act(random: Random, person: Person, stages: dict[str, Stage], at: datetime) -> None:
    rows = Application.objects.filter(pk=person.row.pk)
    what = random.choice(("move", "move", "undo", "email", "nothing", "delete"))
    if what == "move" and (stage := random.choice([*stages.values()])) != person.changes[-1][0]:
        move(rows, Move(stage=stage, author=None, at=at))
        person.changes.append((stage, at))
    elif what == "undo" and len(person.changes) > 1:
        done, _refused = undo_moves(
            [
                rows.get()
                .changes.filter(
                    is_undo=False, stage=person.changes[-1][0], at=person.changes[-1][1]
                )
                .latest("pk")
                .pk
            ],
            author=None,
            at=at,
        )
        if done:
            person.changes.pop()
    elif what == "email":
        kind = random.choice((Message.Kind.TEMPLATE, Message.Kind.RECEIPT))
        Message.objects.create(
            kind=kind, application=person.row, to="x@example.org", state="sent", finished_at=at
        )
        if kind == Message.Kind.TEMPLATE:
            person.emails.append(at)
    elif what == "delete" and random.random() < 0.3:
        rows.delete()
        person.is_deleted = True


@pytest.mark.slow("216 histories")
@pytest.mark.parametrize("seed", range(6))
def test_figures_of_random_histories_equal_a_plain_count(stages: Any, seed: int) -> None:
    random = Random(seed)
    job = make_vacancy(brand=make_brand("Acme"))
    people: list[Person] = []
    last = None
    for day in range(12):
        for hour in range(3):
            at = START + day * DAY + timedelta(hours=3 * hour)
            for person in people:
                if not person.is_deleted:
                    act(random, person, stages, at)
            row = make_application(vacancy=job, stage=stages["New"], created_at=at)
            make_submission(row, {}, source="site")
            people.append(Person(row, [(stages["New"], at)]))
        at += timedelta(minutes=random.randrange(60))
        record(since=last, at=at)
        last = day_of(at)
        for person in people:
            if not person.is_deleted:
                person.counted = person.count(at, job.brand_id)
    expected = sum((person.counted for person in people), Counter())
    assert stored() - expected == expected - stored() == Counter()
    assert any(person.is_deleted for person in people)


def test_month_whose_applications_are_erased_keeps_sums_and_names_no_rare_source(
    stages: Any,
) -> None:
    job = make_vacancy()
    for source in ["site"] * 5 + ["letter of Jan Peeters", "+email"]:
        row = make_application(vacancy=job, stage=stages["New"], created_at=START)
        make_submission(row, {}, source=source)
    added = make_application(vacancy=job, stage=stages["New"], created_at=START)
    Origin.objects.create(application=added, channel="fair", basis="request")
    make_application(vacancy=job, stage=stages["New"], created_at=START)  # imported
    record(since=None, at=NOW)
    Application.objects.exclude(pk=added.pk).delete()
    record(since=day_of(NOW), at=NOW)

    rows = MonthlyStages.objects.filter(step=RECEIVED).values_list("source", "reached")
    assert dict(rows) == {"site": 5, "*": 2, "+fair": 1, "+import": 1}
    assert CountedApplication.objects.count() == 1
    assert not DailyHiring.objects.exists()


def test_source_gets_its_name_when_it_is_common(stages: Any) -> None:
    job = make_vacancy()
    for _each in range(5):
        row = make_application(vacancy=job, stage=stages["New"], created_at=START)
        make_submission(row, {}, source="site")
        record(since=day_of(START), at=START + DAY)
    rows = MonthlyStages.objects.filter(reached__gt=0, step=RECEIVED)
    assert list(rows.values_list("source", "reached")) == [("site", 5)]


def test_a_run_without_changes_writes_nothing(
    stages: Any, django_assert_max_num_queries: Any
) -> None:
    make_application(stage=stages["New"], created_at=START)
    assert record(since=None, at=NOW) == 1
    with django_assert_max_num_queries(8) as queries:
        assert record(since=day_of(NOW) - DAY, at=NOW) == 0
    assert not any(query["sql"].startswith(("INSERT", "UPDATE")) for query in queries)


def test_export_has_each_figure_as_csv_and_json(stages: Any) -> None:
    def printed(*words: str) -> str:
        output = StringIO()
        call_command("export_statistics", *words, stdout=output)
        return output.getvalue()

    assert printed("--format", "json") == "[]\n"
    row = make_application(vacancy=make_vacancy(), stage=stages["New"], created_at=START)
    record(since=None, at=NOW)

    shown = json.loads(printed("--format", "json"))
    expected = {"table": "stages", "day": "2026-01-01", "vacancy": row.vacancy_id}
    expected |= {
        "brand": row.vacancy.brand_id,
        "stage": 0,
        "reason": 0,
        "source": "+import",
        "figure": "reached",
        "value": 1,
    }
    assert expected in shown
    rows = [*csv.DictReader(StringIO(printed()))]
    assert rows == [{key: str(value or 0) for key, value in row.items()} for row in shown]
    assert printed("--format", "json", "--since", "2026-02-01") == "[]\n"
    with pytest.raises(CommandError, match="--since 3 is not a date such as 2026-01-31"):
        printed("--since", "3")
