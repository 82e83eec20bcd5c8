"""Emails to colleagues who are mentioned in a note."""

from datetime import datetime

from django.urls import reverse
from django.utils import translation
from django.utils.translation import gettext as _

from applications.mail.links import absolute
from applications.mail.outbox import queue
from applications.models import Message, Note
from jobsite.languages import site_language


def queue_mentions(note: Note, *, base_url: str = "", at: datetime) -> list[Message]:
    """Queue an email to each colleague who is mentioned in `note`, except its author.

    It has a link and no personal data of the applicant, which erasures cannot reach in a mailbox. Call it
    once, in the transaction that stores the note and its mentions.
    """
    language = site_language()
    author = note.author
    colleagues = note.mentioned.filter(is_active=True, is_staff=True).exclude(email="").order_by("pk")
    path = reverse("admin:applications_application_change", args=[note.application_id])
    with translation.override(language):
        name = (author.get_full_name() or author.get_username()) if author else _("A colleague")
        title = note.application.vacancy.title
        lines = [
            _("%(name)s mentioned you in a note about an application.") % {"name": name},
            "",
            _("Vacancy: %(vacancy)s") % {"vacancy": title},
            absolute(path, base_url),
        ]
        return [
            queue(
                kind=Message.Kind.MENTION,
                to=user.email,
                language=language,
                subject=_("%(name)s mentioned you: %(vacancy)s") % {"name": name, "vacancy": title},
                body="\n".join(lines),
                application=note.application,
                author=author,
                recipient=user,
                at=at,
            )
            for user in colleagues
            if user != author
        ]
