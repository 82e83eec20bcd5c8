"""Emails to colleagues who are mentioned in a note."""

from dataclasses import replace
from datetime import datetime

from django.contrib.auth.models import User
from django.urls import reverse
from django.utils import translation
from django.utils.translation import gettext as _

from applications.mail.links import absolute
from applications.mail.outbox import email_to, queue
from applications.mail.preferences import language_of, recipients_of
from applications.models import Message, Note


def queue_mentions(note: Note, *, base_url: str = "", at: datetime) -> list[Message]:
    """Queue an email to each colleague who is mentioned in `note`, except its author.

    It has a link and no personal data of the applicant, which erasures cannot reach in a mailbox.
    Call it once, in the transaction that stores the note and its mentions.
    """
    author = note.author
    mentioned = note.mentioned.values("pk")
    colleagues = recipients_of(Message.Kind.MENTION).filter(pk__in=mentioned).order_by("pk")
    return [
        _queue_mention(note, user, author=author, base_url=base_url, at=at)
        for user in colleagues
        if user != author
    ]


def _queue_mention(
    note: Note, user: User, *, author: User | None, base_url: str, at: datetime
) -> Message:
    path = reverse("admin:applications_application_change", args=[note.application_id])
    with translation.override(language_of(user)):
        name = (author.get_full_name() or author.get_username()) if author else _("A colleague")
        title = note.application.vacancy.title
        lines = [
            _("%(name)s mentioned you in a note about an application.") % {"name": name},
            "",
            _("Vacancy: %(vacancy)s") % {"vacancy": title},
            absolute(path, base_url),
        ]
        subject = _("%(name)s mentioned you: %(vacancy)s") % {"name": name, "vacancy": title}
        email = email_to(user, Message.Kind.MENTION, subject, lines, base_url=base_url)
        application = note.application
        about = replace(
            email, application=application, vacancies=[application.vacancy_id], author=author
        )
        return queue(about, at=at)
