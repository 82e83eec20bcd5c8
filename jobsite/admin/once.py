"""What the pages of the admin read once per request, because several parts of a page need it."""

from collections.abc import Callable
from functools import wraps
from typing import TypeVar

from jobsite.types import UserRequest

Answer = TypeVar("Answer")


def once_per_request(read: Callable[[UserRequest], Answer]) -> Callable[[UserRequest], Answer]:
    """Decorator: `read` runs once per request. `request.once` keeps what it returned."""

    @wraps(read)
    def kept(request: UserRequest) -> Answer:
        answers = vars(request).setdefault("once", {})
        if read not in answers:
            answers[read] = read(request)
        answer: Answer = answers[read]
        return answer

    return kept
