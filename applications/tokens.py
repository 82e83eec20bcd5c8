"""Bearer tokens: issued once in clear, kept as a hash."""

from datetime import timedelta
from typing import Any

from applications.models import Token
from jobsite.api.authentication import password_mark


def issue(*, user: Any, lifetime: timedelta) -> tuple[Token, str]:
    """Create a token of `user`; return its row and its text, which nothing can tell again."""
    return Token.objects.create(user, expiry=lifetime, password_mark=password_mark(user))


def revoke(*, user: Any) -> int:
    """End all tokens of `user` at once; return how many there were."""
    return Token.objects.filter(user=user).delete()[0]
