"""Signed links for applicants who have no account yet.
A POST to one proves that the mailbox is theirs.
"""

from datetime import UTC, timedelta

from django.core import signing
from django.urls import reverse

from applications.models import Application

MAX_AGE = timedelta(days=30)
REFERENCE_MAX = Application._meta.get_field("reference").max_length or 0
_signer = signing.TimestampSigner(salt="applications.receipt")


def receipt_token(application: Application) -> str:
    """Return the signed token of the receipt page of `application`. It has the reference of the
    application, and no personal data: logs of mail servers and browsers contain links.
    """
    return _signer.sign(_name(application))


def receipt_path(application: Application) -> str:
    """Return the path of the receipt page of `application`."""
    return reverse("application-receipt", args=[receipt_token(application)])


def opened_by(token: str, *, max_age: timedelta | None = MAX_AGE) -> Application | None:
    """Return the application that `token` opens; None if it is invalid or older than `max_age`."""
    try:
        name = _signer.unsign(token, max_age=max_age)
    except signing.BadSignature:
        return None
    if len(name) <= REFERENCE_MAX:
        return Application.objects.filter(reference=name).first()
    found = Application.objects.filter(pk=name.partition("-")[0]).first()
    return found if found and _unnamed(found) == name else None


def _name(application: Application) -> str:
    return application.reference or _unnamed(application)


def _unnamed(application: Application) -> str:
    """Return what names an imported application without a reference. It is longer than any
    reference. After a restore, another application can have the number, but not also the time.
    """
    return f"{application.pk}-{application.created_at.astimezone(UTC):%Y%m%d%H%M%S%f}"
