"""Signed links to vacancies that are not public, valid for one day."""

from datetime import UTC, datetime, timedelta

from django.core import signing

LIFETIME = timedelta(days=1)
_signer = signing.TimestampSigner(salt="vacancies.preview")


def token_for(pk: int) -> str:
    """Return a token that gives its holder access to the vacancy `pk` for LIFETIME."""
    return _signer.sign(str(pk))


def opened_by(token: str) -> int | None:
    """Return the id of the vacancy that `token` opens, or None if it is invalid or expired."""
    try:
        return int(_signer.unsign(token, max_age=LIFETIME))
    except signing.BadSignature:
        return None


def ends_at(token: str) -> datetime:
    """Return the time at which a valid `token` expires."""
    signed = signing.b62_decode(token.split(_signer.sep)[1])
    return datetime.fromtimestamp(signed, UTC) + LIFETIME
