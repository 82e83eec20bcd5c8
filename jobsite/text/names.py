"""Names on pages."""

from collections.abc import Collection

from django.contrib.auth.models import User


def person(user: User) -> str:
    """Return the full name of `user`, else the user name."""
    return user.get_full_name() or user.get_username()


def numbered_name(name: str, taken: Collection[str]) -> str:
    """Return `name`, with a number if it is `taken`: "Engineers", "Engineers (2)"."""
    numbers = range(1, len(taken) + 2)
    return next(free for n in numbers if (free := name if n == 1 else f"{name} ({n})") not in taken)
