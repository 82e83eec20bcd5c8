"""The checker of the stress test accepts right responses and rejects wrong ones."""

import json
from collections.abc import Callable
from copy import deepcopy
from math import inf
from typing import Any

import pytest

from tests.chaos.stress.checker import Checker, Response
from tests.chaos.stress.state import WIDTH, Related, Row, Snapshot, octal

COUNT = 3
START, END = 1_000.0, 1_001.0


@pytest.fixture
def snapshot() -> Snapshot:
    """Three published vacancies, the first one the newest. The third one has two regions."""
    rows, related, names = [0.0] * COUNT * WIDTH, [0.0] * COUNT * WIDTH, [0.0] * 14 * WIDTH
    for place in range(COUNT):
        columns = {Row.IS_PUBLISHED: 1, Row.PUBLISH_FROM: 900 - place, Row.PUBLISH_UNTIL: inf}
        for column, value in columns.items():
            rows[place * WIDTH + column] = value
    related[2 * WIDTH + Related.REGIONS] = octal([3, 0])
    related[1 * WIDTH + Related.PLACE] = 5
    return Snapshot(rows, related, names)


def item(place: int, regions: list[str]) -> dict[str, Any]:
    return {
        "id": place + 1,
        "title": f"V{place + 1} c0 word{place}",
        "title_internal": "x",
        "is_hot": False,
        "brand": {"name": "Brand0 c0"},
        "head_recruiter": {"name": "Person0 c0"},
        "recruiters": None,
        "regions": regions,
        "pay": None,
        "places": [],
        "url": None,
        "employment_types": [],
    }


def body() -> dict[str, Any]:
    items = [
        item(0, []),
        item(1, []) | {"places": [{"locality": "City c5"}]},
        item(2, ["Region3 c0", "Region0 c0"]),
    ]
    return {"data": items, "meta": {"total": 3}}


def errors(before: Snapshot, content: Any, after: Snapshot | None = None) -> list[str]:
    found: list[str] = []
    checker = Checker(
        before, after or before, START, END, 0, lambda kind, *_: found.append(kind), "/v1/vacancies"
    )
    checker.check_list("/v1/vacancies", {}, Response(200, {}, json.dumps(content).encode()))
    return found


def test_right_list_is_accepted(snapshot: Snapshot) -> None:
    assert errors(snapshot, body()) == []


@pytest.mark.parametrize(
    ("spoil", "kind"),
    [
        (lambda data: data.pop(), "length"),
        (lambda data: data.pop(0), "missing"),
        (lambda data: data.reverse(), "order"),
        (lambda data: data[1].update(data[0]), "duplicate"),
        (lambda data: data[0].update(title="V1 c1 word0"), "title is stale"),
        (lambda data: data[0].update(title="V2 c0 word0"), "title is invalid"),
        (lambda data: data[0].update(title="V1 c0 word0 NEVER"), "rolled back"),
        (lambda data: data[0].update(is_hot=True), "is_hot is stale"),
        (lambda data: data[0].update(brand={"name": "Brand1 c0"}), "another brand"),
        (lambda data: data[0].update(brand={"name": "Brand0 c1"}), "brand name is stale"),
        (lambda data: data[0].update(head_recruiter={"name": "Person1 c0"}), "another recruiter"),
        (lambda data: data[0].update(regions=["Region1 c0"]), "regions are stale"),
        (lambda data: data[2]["regions"].reverse(), "another regions"),
        (lambda data: data[0].update(attachments=[{"name": "A c1"}]), "attachments are stale"),
        (lambda data: data[0].update(pay={"note": "Pay c1"}), "Pay is stale"),
        (lambda data: data[0].update(places=[{"locality": "City c1"}]), "City is stale"),
        (lambda data: data[1].update(places=[]), "City is missing"),
        (lambda data: data[1].update(places=[{"locality": "City c4"}]), "City is stale"),
        (lambda data: data[0].update(url="https://brand0.example/c1/1"), "url is stale"),
        (lambda data: data[0].update(employment_types=["FULL_TIME"]), "employment types are stale"),
    ],
)
def test_wrong_list_is_rejected(
    snapshot: Snapshot, spoil: Callable[[list[dict[str, Any]]], Any], kind: str
) -> None:
    content = body()
    spoil(content["data"])

    assert kind in errors(snapshot, content)


@pytest.mark.parametrize(
    ("column", "value"), [(Row.IS_PUBLISHED, 0), (Row.PUBLISH_UNTIL, START), (Row.AUDIENCE, 1)]
)
def test_hidden_vacancy_is_rejected_unless_it_changed_meanwhile(
    snapshot: Snapshot, column: Row, value: float
) -> None:
    snapshot.rows[column] = value
    after = deepcopy(snapshot)
    after.rows[Row.SEQUENCE] = 2

    assert errors(snapshot, body()) == ["total", "shown"]
    assert errors(snapshot, body(), after) == []


def test_vacancy_may_be_there_or_not_while_time_changes_it(snapshot: Snapshot) -> None:
    snapshot.rows[Row.PUBLISH_UNTIL] = END
    content = body()
    del content["data"][0]
    content["meta"]["total"] = 2

    assert errors(snapshot, body()) == []
    assert errors(snapshot, content) == []
