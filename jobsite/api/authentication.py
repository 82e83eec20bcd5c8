"""Credentials of the interface: bearer tokens, beside Django's session."""

from typing import Any

from knox.auth import TokenAuthentication
from rest_framework.exceptions import AuthenticationFailed


class BearerAuthentication(TokenAuthentication):
    """Knox tokens. Bytes that cannot be one are a wrong token: knox would crash on what is not UTF-8, and
    PostgreSQL on a NUL."""

    def authenticate_credentials(self, token: bytes) -> Any:
        if not (token.isascii() and token.isalnum()):
            raise AuthenticationFailed("Invalid token.")
        return super().authenticate_credentials(token)
