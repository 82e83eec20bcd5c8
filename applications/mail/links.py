"""Personal links in emails.

A link to the receipt proves that the mailbox is the applicant's, so nobody else may know it. The
stored text of an email has a random marker in place of the secret, which is added when the email is
sent. The marker is made for each email, so what somebody wrote before cannot contain it.
"""

import secrets
from datetime import UTC, datetime

from django.conf import settings
from django.core import signing
from django.urls import reverse
from django.utils.translation import gettext as _

from applications.models import Application, Invitation, JobAlert, Message
from applications.submissions.links import receipt_token

_invitations = signing.Signer(salt="applications.invitation")
_alerts = signing.Signer(salt="applications.alert")


def absolute(path: str, base_url: str = "") -> str:
    """Return the URL of `path` for an email.
    Without a base URL, it is that of a development server.
    """
    return f"{base_url or settings.PUBLIC_BASE_URL or 'http://localhost:8000'}{path}"


def settings_lines(base_url: str = "") -> list[str]:
    """Return the end of an email to a colleague: where to switch such emails off."""
    return [
        "",
        _("Choose the emails that you receive:"),
        absolute(reverse("admin:my_emails"), base_url),
    ]


def new_marker() -> str:
    """Return what stands for the secret of the links of one email."""
    return secrets.token_hex(16)


def applicant_link(
    application: Application, base_url: str = "", marker: str = Message.SECRET
) -> str:
    """Return the URL where the applicant finds `application`:
    in their account, or with `marker`.
    """
    return (
        absolute(reverse("account"), base_url)
        if application.user_id
        else personal_link(base_url, marker)
    )


def personal_link(base_url: str, marker: str) -> str:
    """Return the URL of an applicant's receipt with `marker`."""
    return absolute(reverse("application-receipt", args=[marker]), base_url)


def invitation_link(base_url: str, marker: str) -> str:
    """Return the URL of the page that accepts an invitation with `marker`."""
    return absolute(reverse("invitation", args=[marker]), base_url)


def with_personal_links(message: Message, text: str) -> str:
    """Return `text`, the body or the HTML of `message`, with the secret in its links: for the
    applicant or the invited only.
    """
    return text.replace(message.link_marker, _secret_of(message)) if message.link_marker else text


def _secret_of(message: Message) -> str:
    if message.kind == Message.Kind.INVITATION:
        invitation = Invitation.objects.filter(message=message).first()
        # None: withdrawn or sent again
        return invitation_token(invitation) if invitation else Message.SECRET
    if message.alert:
        return alert_token(message.alert)
    if message.application and message.recipient_id is None:
        return receipt_token(message.application)
    return Message.SECRET


def invitation_token(invitation: Invitation) -> str:
    """Return the signed token that accepts `invitation`.
    Sending it again makes earlier tokens invalid.
    """
    return _invitations.sign(_content(invitation))


def invitation_of(token: str, *, at: datetime) -> Invitation | None:
    """Return the invitation that `token` opens;
    None if it is invalid, expired, accepted or withdrawn.
    """
    try:
        pk, _, _ = _invitations.unsign(token).partition("-")
    except signing.BadSignature:
        return None
    found = Invitation.objects.select_related("role", "author").filter(pk=pk).first()
    if found is None or found.is_expired(at=at) or token != _invitations.sign(_content(found)):
        return None
    return found


def alert_token(alert: JobAlert) -> str:
    """Return the signed token that confirms, shows and ends `alert`. It has no personal data."""
    return _alerts.sign(_named(alert.pk, alert.created_at))


def alert_of(token: str) -> JobAlert | None:
    """Return the alert that `token` opens; None if it has ended. Raise BadSignature."""
    name = _alerts.unsign(token)
    found = JobAlert.objects.select_related("brand").filter(pk=name.partition("-")[0]).first()
    return found if found and name == _named(found.pk, found.created_at) else None


def _content(invitation: Invitation) -> str:
    return _named(invitation.pk, invitation.sent_at)


def _named(pk: int, at: datetime) -> str:
    """Return what names a row. After a restore, another one can have the number, but not also the
    time.
    """
    return f"{pk}-{at.astimezone(UTC):%Y%m%d%H%M%S%f}"
