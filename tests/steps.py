"""The work of a function, in lines of Python that it runs:
unlike time, the same on every machine.
"""

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any


def steps(function: Callable[..., object], *args: object) -> int:
    """Return the number of lines of Python that `function` runs, with all that it calls."""
    count = 0

    def trace(_frame: FrameType, event: str, _arg: Any) -> Any:
        nonlocal count
        count += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        function(*args)
    finally:
        sys.settrace(before)
    return count
