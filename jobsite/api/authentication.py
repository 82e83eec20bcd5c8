"""Authentication of the API: bearer tokens, in addition to Django's session."""

from django.contrib.auth.models import User
from django.utils.crypto import constant_time_compare, salted_hmac
from knox.auth import TokenAuthentication
from knox.models import AuthToken
from rest_framework.exceptions import AuthenticationFailed


def password_mark(user: User) -> str:
    """Return a hash that changes with the password of `user`."""
    return salted_hmac("jobsite.token", user.password, algorithm="sha256").hexdigest()


class BearerAuthentication(TokenAuthentication):
    """Knox tokens. They end when they expire, are revoked, or the password changes."""

    def authenticate_credentials(self, token: bytes) -> tuple[User, AuthToken]:
        # Knox fails on invalid UTF-8, PostgreSQL on a NUL.
        if not (token.isascii() and token.isalnum()):
            raise AuthenticationFailed("Invalid token.")
        return super().authenticate_credentials(token)

    def validate_user(self, auth_token: AuthToken) -> tuple[User, AuthToken]:
        if not constant_time_compare(auth_token.password_mark, password_mark(auth_token.user)):
            raise AuthenticationFailed("Invalid token.")
        return super().validate_user(auth_token)
