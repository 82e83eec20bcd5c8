"""The email that invites a colleague."""

from datetime import datetime
from urllib.parse import urlsplit

from django.utils import translation
from django.utils.translation import gettext as _

from applications.mail.links import invitation_link, new_marker
from applications.mail.outbox import Email, queue
from applications.models import Invitation, Message
from jobsite.accounts import roles
from jobsite.text.formats import format_datetime
from jobsite.text.names import person

BRANDS_MAX = 100  # characters of their names in a subject


def queue_invitation(invitation: Invitation, *, base_url: str = "", at: datetime) -> Message:
    """Queue the email with the link of `invitation`, instead of one that waits."""
    forget_email(invitation)
    with translation.override(invitation.language):
        link = invitation_link(base_url, marker := new_marker())
        values = {
            "name": person(invitation.author),
            "site": urlsplit(link).netloc,
            "role": roles.label(invitation.role),
        }
        lines = [_("%(name)s invites you to work on %(site)s. Your role: %(role)s.") % values]
        brands = ", ".join(str(brand) for brand in invitation.brands.all())
        values["employer"] = brands if 0 < len(brands) <= BRANDS_MAX else _("the job site")
        if brands:
            lines.append(_("Brands: %(brands)s.") % {"brands": brands})
        if vacancies := ", ".join(map(str, invitation.vacancies.all())):
            lines.append(_("Vacancies: %(vacancies)s.") % {"vacancies": vacancies})
        lines += [
            "",
            _("Accept the invitation here:"),
            link,
            "",
            _("The link works until %(time)s.") % {"time": format_datetime(invitation.expires_at)},
            _("If you do not know %(name)s, you need do nothing.") % values,
        ]
        invitation.message = queue(
            Email(
                kind=Message.Kind.INVITATION,
                to=invitation.email,
                language=invitation.language,
                subject=_("%(name)s invites you to the recruiters’ pages of %(employer)s") % values,
                body="\n".join(lines),
                link_marker=marker,
                author=invitation.author,
            ),
            at=at,
        )
        invitation.save(update_fields=["message"])
        return invitation.message


def forget_email(invitation: Invitation) -> None:
    """Delete the email of `invitation` if it is not sent yet: its link is not valid any more."""
    if invitation.message_id:
        Message.objects.filter(pk=invitation.message_id, state__in=Message.WAITING).delete()
