"""Signed links for applicants who have no account yet. Opening one proves that the mailbox is theirs."""

from datetime import timedelta

from django.core import signing
from django.urls import reverse

from applications.models import Application

MAX_AGE = timedelta(days=30)
_SALT = "applications.receipt"


def receipt_path(application: Application) -> str:
    """Return the path of the receipt page of `application`, with a signed token."""
    token = signing.dumps([application.pk, application.email_folded], salt=_SALT)
    return reverse("application-receipt", args=[token])


def opened_by(token: str) -> Application | None:
    """Return the application that `token` opens; None if it is invalid or older than MAX_AGE."""
    try:
        pk, address = signing.loads(token, salt=_SALT, max_age=MAX_AGE)
    except (signing.BadSignature, TypeError, ValueError):
        return None
    return Application.objects.filter(pk=pk, email_folded=address).first()
