"""Emails that ask for a scorecard after an interview, a job of the dispatcher."""

from dataclasses import replace
from datetime import datetime

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Exists, OuterRef, Q
from django.urls import reverse
from django.utils import translation
from django.utils.translation import gettext as _

from applications.mail.links import absolute
from applications.mail.outbox import email_to, queue
from applications.mail.preferences import language_of, may_receive, recipients_of
from applications.models import Application, Interview, Message, Participant, Scorecard
from jobsite.text.formats import format_datetime
from vacancies.models import Vacancy


class ScorecardEmails:
    """One email per interview and colleague. Implements `jobsite.dispatch.Job`."""

    def __init__(self, base_url: str = "") -> None:
        self.base_url = base_url

    def next_due(self, at: datetime) -> tuple[int, int, datetime] | None:
        """Return the ids of an interview that ended and of a colleague who was
        not asked, and `at`.
        """
        pair = _not_asked(at)
        return (*pair, at) if pair else None

    def run(self, item: tuple[int, int, datetime]) -> str:
        """Queue the email and store that the colleague was asked, in one transaction.
        Return the outcome.
        """
        entry_id, user_id, at = item
        entry = Interview.objects.filter(pk=entry_id).first()
        if entry is None:
            return "scorecard nothing"
        with transaction.atomic():
            rows = Application.objects.select_for_update(of=("self",)).select_related("vacancy")
            application = rows.filter(pk=entry.application_id).first()
            user = User._default_manager.filter(pk=user_id).first()
            if application is None or user is None:
                return "scorecard nothing"
            card = Scorecard.of(user, application, entry)
            if card.sent_at or card.asked_at:
                return "scorecard nothing"
            card.asked_at = at
            card.save()
            is_told = recipients_of(Message.Kind.SCORECARD).filter(pk=user.pk).exists()
            may = is_told and may_receive(user, Message.Kind.SCORECARD)
            if not (
                may and Vacancy.objects.editable_by(user).filter(pk=application.vacancy_id).exists()
            ):
                return "scorecard nothing"
            _queue(application, entry, user, base_url=self.base_url, at=at)
        return "scorecard queued"


def _not_asked(at: datetime) -> tuple[int, int] | None:
    """Return the ids of an interview that ended, and of a colleague who takes part in it and was
    neither asked for a scorecard nor sent one.
    """
    ended = Interview.objects.ended(at=at).order_by().values("pk")
    known = Scorecard.objects.filter(entry=OuterRef("entry"), author=OuterRef("user"))
    known = known.filter(Q(sent_at__isnull=False) | Q(asked_at__isnull=False))
    rows = Participant.objects.filter(~Exists(known), entry__in=ended, user__isnull=False)
    return rows.order_by("pk").values_list("entry", "user").first()


def _queue(
    application: Application, entry: Interview, user: User, *, base_url: str, at: datetime
) -> Message:
    """Queue an email with the vacancy and a link: the name of an interview can have that of the
    applicant, which an erasure does not reach in a mailbox.
    """
    path = reverse("admin:applications_application_scorecard", args=[application.pk])
    with translation.override(language_of(user)):
        values = {"vacancy": application.vacancy.title, "time": format_datetime(entry.planned_at)}
        lines = [
            _("An interview for “%(vacancy)s” on %(time)s is over. What do you think?") % values,
            "",
            absolute(f"{path}?entry={entry.pk}", base_url),
        ]
        subject = _("Your scorecard: %(vacancy)s") % values
        email = email_to(user, Message.Kind.SCORECARD, subject, lines, base_url=base_url)
        email = replace(email, application=application, vacancies=[application.vacancy_id])
        return queue(email, at=at)
