"""Parameters of tests that `make test` runs in part only."""

from collections.abc import Iterable
from typing import Any

import pytest


def slow_except(fast: Iterable[Any], values: Iterable[Any]) -> list[Any]:
    """`values` as parameters, all marked slow but those in `fast`."""
    fast = set(fast)
    return [value if value in fast else pytest.param(value, marks=pytest.mark.slow) for value in values]
