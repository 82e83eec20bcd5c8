"""Unique names and numbers, also when several users request one at the same time."""

from collections.abc import Callable, Collection
from typing import TypeVar

from django.db import IntegrityError, transaction

ATTEMPTS = 20  # as many concurrent writers always succeed
Made = TypeVar("Made")


def numbered(name: str, taken: Collection[str]) -> str:
    """Return `name`, numbered if it is `taken`: "Engineers", "Engineers (2)"."""
    numbers = range(1, len(taken) + 2)
    return next(free for n in numbers if (free := name if n == 1 else f"{name} ({n})") not in taken)


def attempted(make: Callable[[], Made]) -> Made:
    """Return `make()`, run in a transaction, and repeated if a concurrent write took its name.

    `make` has to look up a free name each time. Raises IntegrityError after ATTEMPTS attempts.
    """
    for _ in range(ATTEMPTS - 1):
        try:
            with transaction.atomic():
                return make()
        except IntegrityError:
            continue
    with transaction.atomic():
        return make()
