"""Transactions that are repeated or rolled back."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from django.db import IntegrityError, transaction

ATTEMPTS = 20  # the last of as many concurrent writers needs them all
Result = TypeVar("Result")


@contextmanager
def dry_run(is_dry_run: bool) -> Iterator[None]:
    """Roll back what the block writes, if `is_dry_run`."""
    if not is_dry_run:
        yield
        return
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


def retry_on_conflict(make: Callable[[], Result]) -> Result:
    """Call `make` in a transaction and return its result. On IntegrityError, try again: `make` must
    look for a free value each time. Raise IntegrityError after the last attempt.
    """
    for _ in range(ATTEMPTS - 1):
        try:
            with transaction.atomic():
                return make()
        except IntegrityError:
            continue
    with transaction.atomic():
        return make()
