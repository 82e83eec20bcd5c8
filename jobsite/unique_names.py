"""Free names and numbers, also where two people take one at the same moment."""

from collections.abc import Callable, Collection
from typing import TypeVar

from django.db import IntegrityError, transaction

ATTEMPTS = 20  # of so many who begin together, the last one needs them all
Made = TypeVar("Made")


def numbered_name(name: str, taken: Collection[str]) -> str:
    """Return `name`, numbered if it is `taken`: "Engineers", "Engineers (2)"."""
    numbers = range(1, len(taken) + 2)
    return next(free for n in numbers if (free := name if n == 1 else f"{name} ({n})") not in taken)


def retry_on_conflict(make: Callable[[], Made]) -> Made:
    """Return what `make` writes in a transaction, tried again when somebody else was quicker: it has to
    look afresh for what is free. Raises IntegrityError after the last attempt."""
    for _ in range(ATTEMPTS - 1):
        try:
            with transaction.atomic():
                return make()
        except IntegrityError:
            continue
    with transaction.atomic():
        return make()
