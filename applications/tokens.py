"""Bearer tokens: issued once in clear, kept as a hash."""

from datetime import timedelta
from typing import Any

from applications.models import Token
from jobsite.api.authentication import password_mark


def issue(*, user: Any, lifetime: timedelta) -> tuple[Token, str]:
    """Create a token of `user`; return its row and its text, which nothing can tell again."""
    return Token.objects.create(user, expiry=lifetime, password_mark=password_mark(user))
