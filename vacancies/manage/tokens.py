"""Tokens of integrations: `jsi_`, 32 random bytes, and a checksum by which scanners for secrets
recognise them without asking.
"""

import base64
import hashlib
import re
import secrets
import zlib
from datetime import datetime, timedelta

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils.translation import gettext as _

from vacancies.models import Integration, IntegrationToken

PREFIX = "jsi_"
_TOKEN = re.compile(r"jsi_[A-Za-z0-9_-]{43}[0-9A-Za-z]{6}", re.ASCII)
_DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
USED_EVERY = timedelta(hours=1)  # that the last use is written


def _checksum(text: str) -> str:
    """Return the CRC-32 of `text` in six digits of base 62."""
    number, found = zlib.crc32(text.encode()), ""
    for _place in range(6):
        number, digit = divmod(number, len(_DIGITS))
        found = _DIGITS[digit] + found
    return found


def digest_of(text: str) -> str | None:
    """Return the digest that is stored of the token `text`, None if it is not a token."""
    if not _TOKEN.fullmatch(text) or text[-6:] != _checksum(text[:-6]):
        return None
    return hashlib.sha256(base64.urlsafe_b64decode(text[4:-6] + "=")).hexdigest()


def create_integration(integration: Integration, *, author: User | None) -> Integration:
    """Save the new `integration` with its technical user, who cannot sign in."""
    with transaction.atomic():
        user = User(username=f"integration-{secrets.token_hex(8)}", is_active=False)
        user.first_name = integration.name
        user.set_unusable_password()
        user.save()
        integration.user, integration.created_by = user, author
        integration.save()
    return integration


def issue_token(
    integration: Integration, *, at: datetime, age: timedelta = IntegrationToken.AGE
) -> tuple[IntegrationToken, str]:
    """Return a new token and its text, which is not stored. Expired ones are deleted. Raises
    ValidationError if there are two already, or for an `age` above two years.
    """
    if not timedelta() < age <= IntegrationToken.MAX_AGE:
        raise ValidationError(_("A token is valid for at most two years."))
    raw = secrets.token_bytes(32)
    text = PREFIX + base64.urlsafe_b64encode(raw).decode().rstrip("=")
    text += _checksum(text)
    with transaction.atomic():
        Integration.objects.select_for_update().get(pk=integration.pk)
        integration.tokens.filter(expires_at__lte=at).delete()
        if integration.tokens.count() >= IntegrationToken.MAX:
            raise ValidationError(_("It has two tokens already. Revoke one of them first."))
        token = integration.tokens.create(
            digest=hashlib.sha256(raw).hexdigest(),
            start=text[:8],
            created_at=at,
            expires_at=at + age,
        )
    return token, text


def find_token(text: str, *, at: datetime) -> IntegrationToken | None:
    """Return the token `text` if it is valid at `at`, and record its use."""
    digest = digest_of(text)
    rows = IntegrationToken.objects.select_related("integration__user")
    token = digest and rows.filter(digest=digest).first()
    if not token or token.expires_at <= at or not token.integration.is_enabled:
        return None
    if token.last_used_at is None or token.last_used_at <= at - USED_EVERY:
        IntegrationToken.objects.filter(pk=token.pk).update(last_used_at=at)
    return token
