"""The order of imported vacancies in our lists: that of the lists of the source."""

from collections.abc import Collection, Iterable
from datetime import datetime, timedelta
from itertools import chain, pairwise

from django.db import transaction

from vacancies.models import Vacancy

STEP = timedelta(microseconds=1)


class ContradictionError(Exception):
    """Two lists of the source have some vacancies in different orders."""


def apply_order(orders: Iterable[list[int]], with_start: Collection[int] = ()) -> int:
    """Move publish_from of vacancies up by the least that gives our lists the order of `orders`,
    lists of ids, newest first. Return how many were moved. Raise ContradictionError if no order
    satisfies all lists.

    A publish_from that a recruiter chose has whole seconds and differs from created_at. It is not
    moved and does not constrain the others. One that was moved has a fraction of a second. Those
    `with_start` have the time of the source, which shows seconds: they are moved within their
    second only.
    """
    listed = set(chain(*orders))
    rows = Vacancy.objects.values_list("pk", "publish_from", "created_at")
    current = {
        pk: publish_from
        for pk, publish_from, created_at in rows.iterator()
        if pk in listed
        and publish_from
        and (publish_from.microsecond or publish_from == created_at or pk in with_start)
    }
    wanted = _in_order([[pk for pk in reversed(ids) if pk in current] for ids in orders], current)
    moved = 0
    with transaction.atomic():
        for pk, publish_from in wanted.items():
            is_seen = publish_from.replace(microsecond=0) != current[pk].replace(microsecond=0)
            if publish_from != current[pk] and not (is_seen and pk in with_start):
                # Skips a vacancy whose publish_from a recruiter changed since it was read.
                unchanged = Vacancy.objects.filter(pk=pk, publish_from=current[pk])
                moved += unchanged.update(publish_from=publish_from)
    return moved


def _in_order(lists: list[list[int]], current: dict[int, datetime]) -> dict[int, datetime]:
    """Return `current` with later values where needed. `lists` are oldest first; ids break ties."""
    values = dict(current)
    for _ in range(len(values) + 1):  # a vacancy may be in both lists; values only increase
        is_stable = True
        for older, newer in chain(*map(pairwise, lists)):
            if (values[newer], newer) < (values[older], older):
                values[newer] = values[older] + STEP
                is_stable = False
        if is_stable:
            return values
    raise ContradictionError
