"""Counts of vacancies by state and by reason to need attention.

An account with few vacancies gets exact counts. For others, counting reads every vacancy, so they
get the counts that `manage.py update_statistics` stored last.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Count, Max, Sum

from jobsite.db.locks import lock_transaction
from vacancies.choices import State
from vacancies.models import StateCount, Vacancy
from vacancies.quality.warnings import closing_soon, count_warnings
from vacancies.querysets import VacancyQuerySet, in_state

CLOSING = "ending"  # the code of closing soon, as in the URL of the list
STATES = (State.PUBLISHED, State.SCHEDULED, State.DRAFT, State.EXPIRED)
MAX_COUNTED = 1_000  # vacancies, which are counted when a page is opened


@dataclass(frozen=True)
class Counts:
    """The counts by code, at `counted_at`; None: now."""

    numbers: Mapping[str, int]
    counted_at: datetime | None = None


def count_by_brand(vacancies: VacancyQuerySet, *, at: datetime) -> dict[int | None, Counter[str]]:
    """Return the counts of `vacancies` by brand and code. Four queries."""
    found: dict[int | None, Counter[str]] = {}
    conditions = {state.value: in_state(state, at=at) for state in STATES}
    conditions[CLOSING] = closing_soon(at=at)
    columns = {f"in_{code}": Count("pk", filter=each) for code, each in conditions.items()}
    for brand, *numbers in vacancies.order_by().values_list("brand").annotate(**columns):
        found[brand] = Counter(dict(zip(conditions, numbers, strict=True)))
    for brand, numbers in count_warnings(vacancies, at=at).items():
        found.setdefault(brand, Counter()).update(numbers)
    return found


def update_counts(*, at: datetime) -> None:
    """Store the counts of all vacancies at `at`."""
    rows = [
        StateCount(brand_id=brand, code=code, count=count, counted_at=at)
        for brand, numbers in count_by_brand(Vacancy.objects.all(), at=at).items()
        for code, count in numbers.items()
        if count
    ]
    # The time is also known if there is no vacancy.
    rows.append(StateCount(brand=None, code="", count=0, counted_at=at))
    with transaction.atomic():
        lock_transaction("vacancy counts")
        StateCount.objects.all().delete()
        StateCount.objects.bulk_create(rows, batch_size=500)


def counts_for(user: User, *, at: datetime) -> Counts:
    """Return the counts of the vacancies of `user`:
    exact ones, or the stored ones if there are many.
    """
    own = Vacancy.objects.editable_by(user)
    if own.order_by()[: MAX_COUNTED + 1].count() <= MAX_COUNTED:
        numbers: Counter[str] = Counter()
        for of_brand in count_by_brand(own, at=at).values():
            numbers.update(of_brand)
        return Counts(numbers)
    counted_at = StateCount.objects.aggregate(at=Max("counted_at"))["at"]
    if counted_at is None:  # the command has not run yet: the first page counts, once
        update_counts(at=at)
        counted_at = at
    stored = StateCount.objects.visible_to(user).values_list("code").annotate(number=Sum("count"))
    return Counts(dict(stored), counted_at)
