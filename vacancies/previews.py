"""Links to vacancies that are not public yet: signed, and good for a day."""

from datetime import UTC, datetime, timedelta

from django.core import signing

LIFETIME = timedelta(days=1)
_signer = signing.TimestampSigner(salt="vacancies.preview")


def token_for(pk: int) -> str:
    """Return a token that opens the vacancy `pk` as it is stored, to whoever holds it, for a day."""
    return _signer.sign(str(pk))


def opened_by(token: str) -> int | None:
    """Return the id of the vacancy that `token` opens, or None where it is wrong or has expired."""
    try:
        return int(_signer.unsign(token, max_age=LIFETIME))
    except signing.BadSignature:
        return None


def ends_at(token: str) -> datetime:
    """The moment from which a good `token` opens nothing any more."""
    signed = signing.b62_decode(token.split(_signer.sep)[1])
    return datetime.fromtimestamp(signed, UTC) + LIFETIME
