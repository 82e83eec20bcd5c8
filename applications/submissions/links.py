"""Signed links for applicants who have no account yet. Opening one proves that the mailbox is theirs."""

from datetime import timedelta

from django.core import signing
from django.urls import reverse

from applications.models import Application

MAX_AGE = timedelta(days=30)
_signer = signing.TimestampSigner(salt="applications.receipt")


def receipt_path(application: Application) -> str:
    """Return the path of the receipt page of `application`, with a signed token. The token has the reference
    of the application, and no personal data: logs of mail servers and browsers contain links."""
    return reverse("application-receipt", args=[_signer.sign(application.reference or "")])


def opened_by(token: str) -> Application | None:
    """Return the application that `token` opens; None if it is invalid or older than MAX_AGE."""
    try:
        reference = _signer.unsign(token, max_age=MAX_AGE)
    except signing.BadSignature:
        return None
    return Application.objects.filter(reference=reference).first()
