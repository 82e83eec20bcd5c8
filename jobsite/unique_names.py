"""Unique names and numbers, also under concurrent writes."""

from collections.abc import Callable, Collection
from typing import TypeVar

from django.db import IntegrityError, transaction

ATTEMPTS = 20  # the last of as many concurrent writers needs them all
Result = TypeVar("Result")


def numbered_name(name: str, taken: Collection[str]) -> str:
    """Return `name`, with a number if it is `taken`: "Engineers", "Engineers (2)"."""
    numbers = range(1, len(taken) + 2)
    return next(free for n in numbers if (free := name if n == 1 else f"{name} ({n})") not in taken)


def retry_on_conflict(make: Callable[[], Result]) -> Result:
    """Call `make` in a transaction and return its result. On IntegrityError, try again: `make` must look for
    a free value each time. Raise IntegrityError after the last attempt."""
    for _ in range(ATTEMPTS - 1):
        try:
            with transaction.atomic():
                return make()
        except IntegrityError:
            continue
    with transaction.atomic():
        return make()
