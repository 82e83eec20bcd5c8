"""The counts of the list of vacancies in the admin, on PostgreSQL: exact totals and the place of
every page, without a walk over a million rows (docs/decisions.md #194).
"""

from django.db import connections, transaction
from django.db.models import QuerySet, Sum

from vacancies.models import VacancyCount

_GROUPED = "block, brand_id, status"
_SUMS = f"SELECT {_GROUPED}, sum(count) FROM {{}} GROUP BY 1, 2, 3 HAVING sum(count) <> 0"
_ROWS = (
    f"SELECT id / {VacancyCount.BLOCK}, brand_id, status, count(*) FROM vacancies_vacancy "
    "GROUP BY 1, 2, 3"
)
# One statement, so of one snapshot: what others insert meanwhile is neither deleted nor summed.
_REPLACE = (
    f"WITH gone AS (DELETE FROM vacancies_vacancycount RETURNING {_GROUPED}, count) INSERT INTO "
    f"vacancies_vacancycount ({_GROUPED}, count) "
)


def compact(using: str = "default") -> None:
    """Replace the rows of each block, brand and status by their sum."""
    _replace(using, _SUMS)


def recount(using: str = "default") -> None:
    """Count all vacancies again."""
    _replace(using, _ROWS)


def _replace(using: str, query: str) -> None:
    with transaction.atomic(using=using), connections[using].cursor() as cursor:
        # One process at a time. Writers of vacancies, which insert, do not wait.
        cursor.execute("LOCK TABLE vacancies_vacancycount IN SHARE UPDATE EXCLUSIVE MODE")
        cursor.execute(_REPLACE + query.format("gone"))


def by_block(counts: QuerySet[VacancyCount]) -> list[tuple[int, int]]:
    """Return (block, number of vacancies) of the rows `counts` of `VacancyCount`, the newest block
    first.
    """
    sums = counts.order_by("-block").values_list("block").annotate(total=Sum("count"))
    return [(block, total) for block, total in sums if total]
