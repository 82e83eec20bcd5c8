"""The secrets of webhooks, and the signatures of their requests (Standard Webhooks 1.0).

No secret is stored: it is derived from SECRET_KEY, so that no backup contains one.
"""

import hmac
from base64 import b64encode
from datetime import datetime, timedelta

from django.conf import settings
from django.utils.crypto import salted_hmac

from vacancies.models import Webhook

OLD_SECRET = timedelta(days=7)  # for which the one before signs too


def secret_of(webhook: Webhook) -> str:
    """Return the secret as its receiver stores it."""
    key = _key(webhook, webhook.secret_number, settings.SECRET_KEY)
    return f"whsec_{b64encode(key).decode()}"


def signed(webhook: Webhook, message: str, body: bytes, *, at: datetime) -> dict[str, str]:
    """Return the headers of a request with the id `message`. There is a signature for each secret
    that the receiver may have.
    """
    numbers = [webhook.secret_number]
    if webhook.secret_at and at < webhook.secret_at + OLD_SECRET:
        numbers.append(webhook.secret_number - 1)
    timestamp = str(int(at.timestamp()))
    text = f"{message}.{timestamp}.".encode() + body
    signatures = [
        b64encode(hmac.digest(_key(webhook, number, secret_key), text, "sha256")).decode()
        for secret_key in (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)
        for number in numbers
    ]
    return {
        "webhook-id": message,
        "webhook-timestamp": timestamp,
        "webhook-signature": " ".join(f"v1,{signature}" for signature in signatures),
    }


def _key(webhook: Webhook, number: int, secret_key: str) -> bytes:
    value = f"{webhook.pk}:{number}"
    return salted_hmac("webhook", value, secret=secret_key, algorithm="sha256").digest()
