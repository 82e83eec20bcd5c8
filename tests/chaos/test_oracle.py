"""The oracle itself, against literal tables of the specification."""

from datetime import datetime, timedelta
from typing import Any, NamedTuple

import pytest

from tests.chaos import oracle

NOW = datetime(2026, 3, 2, 9, 30)
SECOND = timedelta(seconds=1)


class Vacancy(NamedTuple):
    pk: int = 1
    status: str = "published"
    audience: str = "public"
    is_hot: bool = False
    publish_from: Any = NOW - SECOND
    publish_until: Any = None


def test_list_holds_its_audience() -> None:
    one_of_each = {
        f"{audience}{'-hot' if is_hot else ''}": Vacancy(audience=audience, is_hot=is_hot)
        for audience in ("public", "internal", "both")
        for is_hot in (False, True)
    }
    public, internal = {"public", "public-hot"}, {"internal", "internal-hot"}
    both = {"both", "both-hot"}

    assert {
        path: {name for name, each in one_of_each.items() if oracle.is_listed(path, each, NOW)}
        for path in oracle.LISTS
    } == {
        "/v1/vacancies": public | both,
        "/v1/vacancies/hot": {"public-hot", "both-hot"},
        "/v1/vacancies/internal": internal | both,
        "/v1/vacancies/hot/internal": {"internal-hot", "both-hot"},
        "/v0.1/vacancies": public | both,
        "/v0.1/vacancies/internal": internal | both,
    }


@pytest.mark.parametrize(
    ("begins", "ends", "at", "until"),
    [  # whether it is published at NOW, and from NOW to NOW + 2 s
        (NOW - SECOND, None, True, True),
        (NOW, None, True, True),
        (NOW + SECOND, None, False, None),
        (NOW + 2 * SECOND, None, False, None),
        (NOW + 3 * SECOND, None, False, False),
        (NOW - SECOND, NOW, False, False),
        (NOW - SECOND, NOW + SECOND, True, None),
        (NOW - SECOND, NOW + 2 * SECOND, True, None),
        (NOW - SECOND, NOW + 3 * SECOND, True, True),
        (NOW + SECOND, NOW + SECOND, False, None),
        (None, None, False, False),
    ],
)
def test_publication_is_from_its_start_until_before_its_end(
    begins: Any, ends: Any, at: bool, until: bool | None
) -> None:
    vacancy = Vacancy(publish_from=begins, publish_until=ends)

    assert oracle.is_published(vacancy, NOW) is at
    assert oracle.is_published(vacancy, NOW, NOW + 2 * SECOND) is until


def test_links_and_meta_of_pages() -> None:
    def page(number: int, total: int) -> tuple[dict[str, Any], dict[str, Any]]:
        return oracle.links_and_meta(
            "http://a", "/v1/vacancies", {"sort": "title"}, 10, number, total
        )

    def link(number: int) -> str:
        return f"http://a/v1/vacancies?sort=title&page%5Bsize%5D=10&page%5Bnumber%5D={number}"

    assert page(2, 25) == (
        {"first": link(1), "last": link(3), "prev": link(1), "next": link(3)},
        {
            "current_page": 2,
            "from": 11,
            "last_page": 3,
            "path": "http://a/v1/vacancies",
            "per_page": 10,
            "to": 20,
            "total": 25,
        },
    )
    links, meta = page(9, 25)
    assert (links["prev"], links["next"], meta["from"], meta["to"]) == (link(3), None, None, None)
    links, meta = page(1, 0)
    assert (links["prev"], links["next"], links["last"], meta["last_page"]) == (
        None,
        None,
        link(1),
        1,
    )
