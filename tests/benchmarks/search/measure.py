"""Relevance of a search: nDCG@10, and the queries that find nothing."""

import math
from collections.abc import Callable, Sequence

from tests.benchmarks.search.data import Query

DEPTH = 10
LANGUAGES = ("en", "nl", "fr", "de")


def ndcg(found: Sequence[int], grades: dict[int, int]) -> float:
    """Return the discounted gain of the first ids of `found`, from 0 to 1, the gain of the best
    order.
    """
    best = sorted(grades.values(), reverse=True)
    return _gain([grades.get(pk, 0) for pk in found]) / _gain(best)


def _gain(grades: Sequence[int]) -> float:
    return sum((2**grade - 1) / math.log2(rank + 2) for rank, grade in enumerate(grades[:DEPTH]))


def report(name: str, queries: Sequence[Query], search: Callable[[str], Sequence[int]]) -> str:
    """Return a row of a table: nDCG@10 and the number of queries without a hit, in all and per
    language.

    Each query has a vacancy whose title, or the part that is searched, fits.
    """
    found = [(query, list(search(query.text))) for query in queries]
    cells = [name]
    for language in (None, *LANGUAGES):
        group = [(query, pks) for query, pks in found if language in (None, query.language)]
        mean = sum(ndcg(pks, query.grades) for query, pks in group) / len(group)
        cells.append(f"{mean:.3f}, {sum(not pks for _, pks in group)} of {len(group)}")
    return f"| {' | '.join(cells)} |"


HEADER = (
    f"| nDCG@{DEPTH}, without a hit | all | {' | '.join(LANGUAGES)} |\n|---|---|---|---|---|---|"
)
