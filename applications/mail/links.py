"""Personal links in emails.

A link to the receipt proves that the mailbox is the applicant's, so nobody else may know it. The stored text
of an email has the link without its secret; the secret is added when the email is sent.
"""

from datetime import UTC, datetime

from django.conf import settings
from django.core import signing
from django.urls import reverse
from django.utils.translation import gettext as _

from applications.models import Application, Invitation, Message
from applications.submissions.links import receipt_path

SECRET = "personal-link"  # stands for the secret in a stored email
_invitations = signing.Signer(salt="applications.invitation")


def absolute(path: str, base_url: str = "") -> str:
    """Return the URL of `path` for an email. Without a base URL, it is that of a development server."""
    return f"{base_url or settings.PUBLIC_BASE_URL or 'http://localhost:8000'}{path}"


def settings_lines(base_url: str = "") -> list[str]:
    """Return the end of an email to a colleague: where to switch such emails off."""
    return ["", _("Choose the emails that you receive:"), absolute(reverse("admin:my_emails"), base_url)]


def applicant_link(application: Application, base_url: str = "") -> str:
    """Return the URL where the applicant finds `application`: in their account, or with a secret that is
    left out."""
    return absolute(reverse("account"), base_url) if application.user_id else personal_link(base_url)


def personal_link(base_url: str = "") -> str:
    """Return the URL of an applicant's receipt, without its secret."""
    return absolute(reverse("application-receipt", args=[SECRET]), base_url)


def with_personal_links(message: Message) -> str:
    """Return the body of `message` with the secret in its links, for the applicant or the invited only."""
    if message.kind == Message.Kind.INVITATION:
        invitation = Invitation.objects.filter(message=message).first()  # none: withdrawn or sent again
        return message.body.replace(invitation_path(), invitation_path(invitation))
    if message.application is None or message.recipient_id is not None:
        return message.body
    without = reverse("application-receipt", args=[SECRET])
    if without not in message.body:
        return message.body
    return message.body.replace(without, receipt_path(message.application))


def invitation_path(invitation: Invitation | None = None) -> str:
    """Return the path of the page that accepts `invitation`, with a signed token; without an invitation,
    without the secret. Sending the invitation again makes earlier tokens invalid."""
    token = _invitations.sign(_content(invitation)) if invitation else SECRET
    return reverse("invitation", args=[token])


def invitation_of(token: str, *, at: datetime) -> Invitation | None:
    """Return the invitation that `token` opens; None if it is invalid, expired, accepted or withdrawn."""
    try:
        pk, _, _ = _invitations.unsign(token).partition("-")
    except signing.BadSignature:
        return None
    found = Invitation.objects.select_related("role", "author").filter(pk=pk).first()
    if found is None or found.is_expired(at=at) or token != _invitations.sign(_content(found)):
        return None
    return found


def _content(invitation: Invitation) -> str:
    return f"{invitation.pk}-{invitation.sent_at.astimezone(UTC):%Y%m%d%H%M%S%f}"
