"""Bearer tokens. The database stores a hash; the token is returned once."""

from datetime import timedelta

from django.contrib.auth.models import User

from applications.models import Token
from jobsite.api.authentication import password_mark


def issue(*, user: User, lifetime: timedelta) -> tuple[Token, str]:
    """Create a token of `user`. Return its row and the token itself, which is not stored."""
    return Token.objects.create(user, expiry=lifetime, password_mark=password_mark(user))


def revoke(*, user: User) -> int:
    """Delete all tokens of `user`. Return their number."""
    return Token.objects.filter(user=user).delete()[0]
